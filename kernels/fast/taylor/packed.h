/* packed.h - polynomial attention as a recurrence over tokens: what packed.c (descriptor, workspace, choice of the
 * instruction set) and packed_kernel.h (the loops) share.
 *
 * Formula    as cpu/steps/taylor_recurrent.h: S_n(t) = a_t S_n(t-1) + phi(k_t)^(x n) (x) gin_t v_t, Z_n likewise;
 *            u_i = sum_n c_n <phi(q_i)^(x n), S_n(i)>, z_i of Z_n; o_i = gout_i Norm(u_i, z_i); packed states.
 * Algorithm  tokens and queries are taken in blocks of PACKED_UNIT, their monomials made side by side (monomials.h).
 *            Then ROWS monomials and two columns of channels (columns.h) are kept in registers while the block's tokens
 *            and queries go by in their order: each token enters the state before the next, and a query reads it where
 *            it stands.  A state moves between memory and registers once a block.  A task is a KV head, or some of its
 *            columns where there are fewer heads than threads: columns share nothing but the monomials.
 * Errors     with t keys: an entry of a state gamma_(n-1 + 2 + 2t) with decays, gamma_(n+1+t) without, less where
 *            multiply-adds are fused; readout: monomials.h, one multiply-add a row, row after row of all degrees.
 */
#ifndef ATTEST_FAST_PACKED_H
#define ATTEST_FAST_PACKED_H

#include "fast/threads.h"

#include "fast/taylor/columns.h"

enum { PACKED_UNIT = 32 }; /* tokens, and queries, of a block */

/* Where things lie in the workspace, in floats: what all threads share, then `each` floats for every thread. */
typedef struct packed_layout {
    int64_t channels;                           /* e and z, rounded up to COLUMN_CHANNELS */
    int64_t threads, parts;                     /* parts of a head: ranges of columns */
    int64_t scratch;                            /* after u [b][hq][n][channels] */
    int64_t q, counts, f, decay, v, state, row; /* of a thread, k first; k and q [rows][PACKED_UNIT] */
    int64_t each;
} packed_layout;

/* Has each monomial a decay of its own?  Then they are those of degree 1. */
static inline int packed_decays_apart(const attest_problem *p)
{
    return p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR;
}

/* Decays of a token. */
static inline int64_t packed_decays(const attest_problem *p)
{
    return packed_decays_apart(p) ? token_dim(p) : p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_NONE;
}

static inline packed_layout packed_lay_out(const attest_problem *p)
{
    const monomials a = monomials_of(p);
    const int64_t heads = p->b * p->hkv, rows = monomials_states(&a), units = columns_channels(p) / COLUMN_CHANNELS;
    const double work = (double)(p->b * p->hq * p->n + heads * p->m) * (double)rows * (double)p->e;
    packed_layout at = { .channels = columns_channels(p), .threads = fast_threads(work, heads * units) };
    at.parts = step_min(units, (at.threads + heads - 1) / heads);
    at.scratch = p->b * p->hq * p->n * at.channels;
    at.q = a.rows * PACKED_UNIT;
    at.counts = at.q + a.rows * PACKED_UNIT;
    at.f = at.counts + fast_up(a.rows, 16);
    at.decay = at.f + PACKED_UNIT;
    at.v = at.decay + packed_decays(p) * PACKED_UNIT;
    at.state = at.v + PACKED_UNIT * at.channels;
    at.row = at.state + rows * at.channels;
    at.each = at.row + fast_up(step_max(a.dim, p->e), 16);
    return at;
}

/* The loops, compiled for each instruction set. */
typedef attest_status packed_run(const attest_call *call);
packed_run packed_run_avx512, packed_run_avx2, packed_run_portable, packed_run_wide;

#endif
