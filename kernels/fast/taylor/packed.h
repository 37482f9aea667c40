/* packed.h - polynomial attention as a recurrence over tokens: what packed.c (descriptor, workspace, choice of the
 * instruction set) and packed_kernel.h (the loops) share.
 *
 * Formula    as cpu/steps/taylor_recurrent.h: S_n(t) = a_t S_n(t-1) + phi(k_t)^(x n) (x) gin_t v_t, Z_n likewise;
 *            u_i = sum_n c_n <phi(q_i)^(x n), S_n(i)>, z_i of Z_n; o_i = gout_i Norm(u_i, z_i); packed states.
 * Algorithm  tokens and queries are taken in blocks of TILES_UNIT, their monomials made side by side (monomials.h); the
 *            block goes by the states in their order (tiles.h): each token enters before the next, and a query reads
 *            where it stands.  A task is a KV head, or some of its columns: they share nothing but the monomials.
 * Errors     with t keys: an entry of a state gamma_(n-1 + 2 + 2t) with decays, gamma_(n+1+t) without, less where
 *            multiply-adds are fused; readout: monomials.h, one multiply-add a row, row after row of all degrees.
 */
#ifndef ATTEST_FAST_PACKED_H
#define ATTEST_FAST_PACKED_H

#include "fast/taylor/columns.h"

/* Where things lie in the workspace of a thread, in floats; columns_layout: what all share. */
typedef struct packed_layout {
    columns_layout all;
    int64_t q, counts, f, decay, v, state, row; /* k first; k and q [rows][TILES_UNIT] */
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
    const int64_t rows = monomials_states(&a);
    packed_layout at = { .all = columns_lay_out(p, rows) };
    at.q = a.rows * TILES_UNIT;
    at.counts = at.q + a.rows * TILES_UNIT;
    at.f = at.counts + fast_up(a.rows, 16);
    at.decay = at.f + TILES_UNIT;
    at.v = at.decay + packed_decays(p) * TILES_UNIT;
    at.state = at.v + TILES_UNIT * at.all.channels;
    at.row = at.state + rows * at.all.channels;
    at.each = at.row + fast_up(step_max(a.dim, p->e), 16);
    return at;
}

/* The loops, compiled for each instruction set. */
typedef attest_status packed_run(const attest_call *call);
packed_run packed_run_avx512, packed_run_avx2, packed_run_portable, packed_run_wide;

#endif
