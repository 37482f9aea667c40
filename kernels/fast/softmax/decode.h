/* decode.h - softmax of few queries over many keys: what decode.c (descriptor, workspace, choice of the instruction
 * set) and decode_kernel.h (the loops) share.
 *
 * Formula    as flash.h, without filter and decay.
 * Algorithm  The keys of a batch entry are cut into problem.splits parts at multiples of FLASH_KEYS, fewer where there
 *            are fewer tiles.  A task is a part and a group of ROWS rows that share a KV head: the heads of query 0,
 *            then those of query 1, and so on.  It goes through the part's tiles once; keys and values of f32, bf16 and
 *            f16 are read where they lie, and copied only where their rows are no whole vectors, or phi and gates
 *            change them.  Weights and sums of a tile are those of flash_steps.h.  Then each row's
 *            parts are joined: m the largest m_s, l = sum e^(m_s-m) l_s, u likewise, in the order of the parts.
 * Errors     s: SUM_LANES lanes of products, then a tree; q times the scale first.  w, and the sums of a part: as
 *            flash.h.  A part joins by the difference m_s - m, exp.h, and one multiply-add.  o: one division.
 * Masked     A key that a row does not see never meets v there.
 */
#ifndef ATTEST_FAST_DECODE_H
#define ATTEST_FAST_DECODE_H

#include "fast/softmax/flash.h"

enum { DECODE_QUERIES = 256, DECODE_ROWS_MOST = 12 }; /* more queries are flash.h's; the most that ROWS is */

/* Where things lie in the workspace, in floats: what all threads share, then `each` floats for every thread. */
typedef struct decode_layout {
    int64_t dim;                             /* entries of phi */
    int64_t width;                           /* of a row of keys, and of a query: dim, rounded up to SUM_LANES */
    int64_t channels;                        /* e, rounded up to whole panels */
    int64_t sums;                            /* of a row and part: m, l, u[channels], rounded up */
    int64_t parts;                           /* [b][hq][n][splits][sums] */
    int64_t scratch;                         /* where the first thread's begins */
    int64_t q, u, s, lanes, most, k, v, row; /* of a thread, from its beginning on */
    int64_t each;
} decode_layout;

enum { DECODE_U = 16 }; /* of the sums of a row and part: m, l, and from here on u */

/* Parts of the keys: problem.splits, but no more than there are tiles. */
static inline int64_t decode_parts(const attest_problem *p)
{
    return step_min(p->splits, fast_up(p->m, FLASH_KEYS) / FLASH_KEYS);
}

/* For panels of so many floats.  Every part begins at a multiple of 16 floats. */
static inline decode_layout decode_lay_out(const attest_problem *p, int64_t panel)
{
    decode_layout at = { .dim = token_dim(p), .channels = fast_up(p->e, panel) };
    at.width = fast_up(at.dim, 16);
    at.sums = DECODE_U + fast_up(at.channels, 16);
    at.scratch = p->b * p->hq * p->n * decode_parts(p) * at.sums;
    at.u = at.q + DECODE_ROWS_MOST * at.width;
    at.s = at.u + DECODE_ROWS_MOST * at.channels;
    at.lanes = at.s + DECODE_ROWS_MOST * FLASH_KEYS;
    at.most = at.lanes + DECODE_ROWS_MOST * 16;
    at.k = at.most + 16;
    at.v = at.k + FLASH_KEYS * at.width;
    at.row = at.v + FLASH_KEYS * at.channels;
    at.each = at.row + at.width + fast_up(p->e, 16);
    return at;
}

/* Rows that share a KV head, and threads for all tasks with groups of so many rows. */
static inline int64_t decode_rows(const attest_problem *p) { return p->hq / p->hkv * p->n; }

static inline int64_t decode_tasks(const attest_problem *p, int64_t rows)
{
    return p->b * p->hkv * decode_parts(p) * (fast_up(decode_rows(p), rows) / rows);
}

static inline int64_t decode_threads(const attest_problem *p, int64_t rows)
{
    const double work = (double)(p->b * p->hq * p->n) * (double)p->m * (double)(token_dim(p) + p->e);
    return fast_threads(work, decode_tasks(p, rows));
}

/* The loops, compiled for each instruction set. */
typedef attest_status decode_run(const attest_call *call);
decode_run decode_run_avx512, decode_run_avx2, decode_run_portable, decode_run_wide;

#endif
