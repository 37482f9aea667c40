/* worker_layout.h - where the tensors of one run of a kernel lie in the memfd, and what is around them.
 *
 * A tensor has a segment of whole pages.  Its elements are copies of the bundle's (inputs) or a NaN pattern of their
 * own (outputs); every other byte is canary: 0xff beside inputs (a NaN in every format, so that what is read there
 * spoils the result), 0xa5 beside the rest.  The first run in C order may hold ordinary numbers in place of the NaN,
 * and be shifted (worker_disguise.h).  With pages=T k and v hold their keys in pages (pages.h), by a block_table that
 * is another one in each run; tokens that are no keys are canary or, for kernels with ATTEST_MASKED_FINITE, in pages
 * of the table ATTEST_PAGES_PAD, which is also the one token of packed sequences that are all empty.  With packed=on
 * sequences lie one after another (packed.h), where cu_seqlens_q and cu_seqlens_k say.
 *
 * Three ways to lay a tensor out.  C order: [B,H,S,D], nothing between.  Spread: [B,S,H,D], a gap after each row that
 * keeps the alignment that rows have in C order (64 bytes at most); tensors without channels [B,S,H] or less, with a
 * gap after each element.  The first tensor's gap is one such unit, the second's two, up to eight, then one again: k
 * and v, q and o, h0 and ht have other strides where they have the same shape.  Far: the same, with more than 2^32
 * elements between the first and the last batch entry (of one entry: of its first and last head, [H,S,D]), where there
 * are 2 to 16 of them (k and v in pages: to 64; packed: tokens, if there are 2 to 16).  Only pages that hold elements
 * are in the memfd, an island per entry; the worker maps them that far apart with nothing between.
 */
#ifndef ATTEST_WORKER_LAYOUT_H
#define ATTEST_WORKER_LAYOUT_H

#include "verify/worker/worker_disguise.h"
#include "verify/worker/worker_private.h"

#define ATTEST_WORKER_RUNS 2
#define ATTEST_WORKER_FILLED ((uint64_t)32 << 20)

typedef enum attest_spread { ATTEST_SPREAD_NONE = 0, ATTEST_SPREAD_NEAR = 1, ATTEST_SPREAD_FAR = 2 } attest_spread;

typedef struct attest_layout {
    const attest_tensor *tensor[ATTEST_MAX_TENSORS]; /* of the bundle, by segment, or `blocks`; NULL: the workspace */
    attest_tensor blocks;                            /* with pages: block_table, its own memory; else data NULL */
    attest_tensor begins[2];                         /* packed: cu_seqlens_q and _k, their own memory; else data NULL */
    const attest_problem *p;                         /* it and its tensors outlive the layout */
    const attest_bundle *bundle;
    uint64_t order;           /* of the pages: a seed */
    int finite;               /* the tokens of its pages that are no keys are finite */
    attest_table table;       /* the memfd starts with a copy, which is never read */
    int far;                  /* a tensor has islands */
    int memory;               /* the memfd: nobody can change its size; -1: none */
    uint64_t bytes;           /* of the memfd */
    unsigned char *base;      /* the whole memfd, mapped */
    attest_disguise disguise; /* of run 0; nothing until it is set */
    uint32_t alignment;       /* of the kernel; a shift keeps it */
} attest_layout;

/* NaN patterns of untouched output elements, per run and dtype: quiet, with a payload no kernel makes. */
extern const uint64_t attest_poison[ATTEST_WORKER_RUNS][ATTEST_DTYPE_COUNT];

/* Byte beside the data of a segment of this use. */
static inline unsigned char attest_canary(uint32_t use) { return use == ATTEST_SEGMENT_INPUT ? 0xff : 0xa5; }

/* Lists the inputs that the problem uses, the outputs that the bundle holds and the workspace, and maps them in pages
 * of `page` bytes.  Each tensor has `room` bytes more than it needs, whole pages: another room moves them all.  Cleared
 * with attest_layout_clear(), also after an error.  ATTEST_NO_MEMORY: there is less. */
attest_status attest_layout_make(attest_layout *l, size_t page, const attest_problem *p, const attest_bundle *bundle,
                                 uint64_t workspace, uint64_t room, attest_spread how, attest_error *err);
void attest_layout_clear(attest_layout *l);

/* Fills all segments for run 0 or 1; of a workspace of more than 2 ATTEST_WORKER_FILLED bytes the first and the last so
 * many, the others are 0 and take no memory.  In run 0 data ends as near to the end of its pages as alignment allows,
 * shifted and with numbers as the disguise says; in run 1 it starts where they start. */
void attest_layout_fill(attest_layout *l, int run);

/* The tensor of a segment in our own mapping. */
attest_tensor attest_layout_view(const attest_layout *l, const attest_segment *s);

/* Copies all elements; the shapes are the same. */
void attest_layout_copy(const attest_tensor *to, const attest_tensor *from);

/* All indices of a tensor in C order. */
typedef struct attest_walker {
    int64_t index[4];
} attest_walker;

/* Copies the outputs into the bundle; rows that are absent become those of an empty row. */
void attest_layout_keep(const attest_layout *l);

/* Where the element of a segment's output at w lies in the bundle's tensor; -1: it is of no row, or of one that is
 * absent. */
int64_t attest_layout_element(const attest_layout *l, uint32_t number, const attest_walker *w);

/* 1 if all elements have the same bits; the shapes are the same. */
int attest_layout_same(const attest_tensor *a, const attest_tensor *b);

/* 1 if the input of this segment holds what it was filled with: of k and v in pages the keys. */
int attest_layout_input_same(const attest_layout *l, uint32_t number);

/* Makes every element canary again, so that whatever is none was written beside the elements. */
void attest_layout_blank(const attest_tensor *t, uint32_t use);

/* The next index over the first `axes` axes; 0 at the end. */
int attest_walk(attest_walker *w, const attest_tensor *t, int axes);

static inline int64_t attest_walker_offset(const attest_walker *w, const attest_tensor *t)
{
    return attest_offset(t, w->index[0], w->index[1], w->index[2], w->index[3]);
}

#endif
