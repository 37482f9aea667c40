/* pages.h - k and v in pages: where the host puts each key, and the table that says so.
 *
 * With pages=T a kernel gets k as [page,Hkv,T,d], v as [page,Hkv,T,e] and block_table [B,ceil(M/T)] of int64: key j of
 * entry b is token j mod T of page block_table[b,j/T].  What the formula reads is the same as without pages, so that
 * bundles, files and engines hold k and v as [B,Hkv,M,..]; only what a kernel is given is laid out in pages.
 * No page is in the table twice, and two are not in it.
 */
#ifndef ATTEST_PAGES_H
#define ATTEST_PAGES_H

#include "kernels/tensor/view.h"

/* 1 if the problem has pages. */
static inline int attest_pages_are(const attest_problem *p)
{
    return attest_axis_value_of(p, ATTEST_AXIS_PAGES) != ATTEST_PAGES_NONE;
}

/* 1 if the problem has pages and this tensor is laid out in them: k, v. */
int attest_pages_hold(const attest_problem *p, attest_tensor_id id);

/* Shape and type of k, v or block_table as a kernel gets it under pages=T; data NULL, host, C-order strides. */
void attest_pages_describe(attest_tensor *t, const attest_problem *p, attest_tensor_id id);

/* Fills the block_table of the problem: pages in a random order, by the seed.  Another `turn` (0, 1, ..) moves each
 * entry to another page, by so many, modulo their number: the order that they lie in is another one, too. */
void attest_pages_draw(const attest_tensor *table, uint64_t seed, int64_t turn);

/* Copies the keys of `plain` (k or v, [B,Hkv,M,..]) to where the table says; nothing else of `paged` is written.  The
 * channels of a key lie one beside the other in both, whatever the other strides. */
void attest_pages_copy(const attest_tensor *paged, const attest_tensor *plain, const attest_tensor *table);

/* Puts ATTEST_PAGES_PAD into the tokens of pages of the table that are no keys. */
#define ATTEST_PAGES_PAD 1024.0
void attest_pages_pad(const attest_tensor *paged, const attest_tensor *plain, const attest_tensor *table);

/* 1 if each key there has the bits that it has in `plain`. */
int attest_pages_same(const attest_tensor *paged, const attest_tensor *plain, const attest_tensor *table);

/* ---- k, v and the table, with memory of their own: for kernels that are run without a worker -------------------- */
typedef struct attest_pages {
    attest_tensor k, v, table;
} attest_pages;

/* The pages of the k and v of a bundle; other tokens than those of keys hold NaN.  Without pages=T nothing is made.
 * Cleared with attest_pages_clear(), also after an error.  ATTEST_NO_MEMORY. */
attest_status attest_pages_make(attest_pages *pages, const attest_problem *p, const attest_bundle *bundle,
                                uint64_t seed, attest_error *err);
void attest_pages_clear(attest_pages *pages);

/* Puts them into a view in place of the plain ones; nothing where nothing was made. */
void attest_pages_view(const attest_pages *pages, attest_view *view);

#endif
