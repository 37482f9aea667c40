/* flash.h - softmax in tiles of keys: what flash.c (descriptor, workspace, choice of the instruction set) and
 * flash_kernel.h (the loops) share.
 *
 * Formula    as cpu/steps/softmax_online.h: o_i = gout_i sum_j D_ij e^(s_ij) gin_j v_j / (sum_j D_ij e^(s_ij) [+ eps,
 *            e^sink]), lse_i = log sum_j D_ij e^(s_ij), s_ij and D_ij as cpu/steps/pairs.h.
 * Algorithm  keys phi(k_j) and values gin_j v_j are packed once for each KV head, in tiles of FLASH_KEYS keys from key
 *            0 on, padded with zeros.  A task is a block of FLASH_QUERIES queries of one head.  It goes through the
 *            tiles; in each, ROWS queries at a time: scores of the panels that some query sees, the row's new maximum,
 *            weights, then l = a l + sum w and u = a u + sum w v, a = e^(m-m') where the maximum rose and 1 (no
 *            exponential, no rounding) where it did not.  Tiles that no query sees are skipped.
 * Errors     s: gamma_d of the sum (one rounding a term where multiply-adds are fused), q times the scale first.  w:
 *            the difference s - m' and exp.h.  u: FLASH_KEYS keys by themselves, then added up: `block`.  l: SUM_LANES
 *            lanes of every tile, added up tile by tile, then among each other.  o: one division.
 * Masked     A key that a row does not see never meets v there, unless v is finite: tiles that hold another number are
 *            marked when they are packed, and summed row by row where a row sees a part of them.
 */
#ifndef ATTEST_FAST_FLASH_H
#define ATTEST_FAST_FLASH_H

#include "fast/rows.h"
#include "fast/threads.h"

#include "cpu/steps/pairs.h"
#include "cpu/steps/serve.h"

enum { FLASH_KEYS = 64, FLASH_QUERIES = 48, FLASH_PANEL_MOST = 32 };

/* Where things lie in the workspace, in floats: what all threads share, then `each` floats for every thread. */
typedef struct flash_layout {
    int64_t tiles;                           /* of one KV head */
    int64_t dim;                             /* entries of phi, rounded up to whole units */
    int64_t channels;                        /* e, rounded up to whole panels */
    int64_t keys;                            /* [b][hkv][tiles][FLASH_KEYS / PANEL][dim][PANEL] */
    int64_t values;                          /* [b][hkv][tiles][channels / PANEL][FLASH_KEYS][PANEL] */
    int64_t rough;                           /* bytes [b][hkv][tiles]: v holds Inf or NaN */
    int64_t scratch;                         /* where the first thread's begins */
    int64_t q, o, s, raw, sum, most, row, D; /* of a thread, from its beginning on: flash_kernel.h */
    int64_t each;
} flash_layout;

/* For panels of so many floats, and channels of q and k that are taken `unit` at a time.  Every part begins at a
 * multiple of 16 floats. */
static inline flash_layout flash_lay_out(const attest_problem *p, int64_t panel, int64_t unit)
{
    flash_layout at = { .tiles = fast_up(p->m, FLASH_KEYS) / FLASH_KEYS, .dim = fast_up(token_dim(p), unit) };
    const int64_t heads = p->b * p->hkv, D = decay_keys(p) ? fast_up(p->m, 16) : 0;
    at.channels = fast_up(p->e, panel);
    at.values = at.keys + heads * at.tiles * FLASH_KEYS * at.dim;
    at.rough = at.values + heads * at.tiles * FLASH_KEYS * at.channels;
    at.scratch = at.rough + fast_up((heads * at.tiles + 3) / 4, 16);
    at.o = at.q + fast_up(FLASH_QUERIES * at.dim, 16);
    at.s = at.o + FLASH_QUERIES * at.channels;
    at.raw = at.s + 16 * FLASH_KEYS;
    at.sum = at.raw + 16 * at.channels;
    at.most = at.sum + FLASH_QUERIES * 16;
    at.row = at.most + 2 * FLASH_QUERIES;
    at.D = at.row + fast_up(at.dim, 16) + fast_up(p->e, 16);
    at.each = at.D + FLASH_QUERIES * D;
    return at;
}

/* Tasks, and threads for them. */
static inline int64_t flash_blocks(const attest_problem *p) { return fast_up(p->n, FLASH_QUERIES) / FLASH_QUERIES; }

static inline int64_t flash_threads(const attest_problem *p)
{
    const double work = (double)(p->b * p->hq * p->n) * (double)p->m * (double)(token_dim(p) + p->e);
    return fast_threads(work, p->b * p->hq * flash_blocks(p));
}

/* The loops, compiled for each instruction set. */
typedef attest_status flash_run(const attest_call *call);
flash_run flash_run_avx512, flash_run_avx2, flash_run_portable, flash_run_wide;
flash_run flash_bf16_run_avx512bf16, flash_bf16_run_avx512, flash_bf16_run_avx2, flash_bf16_run_portable,
    flash_bf16_run_wide;
flash_run flash_tiles_run_amx, flash_tiles_run_avx512, flash_tiles_run_avx2, flash_tiles_run_portable,
    flash_tiles_run_wide;

#endif
