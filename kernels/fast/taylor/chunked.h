/* chunked.h - polynomial attention by states between chunks of problem.chunk tokens and pairs inside: what chunked.c
 * (descriptor, workspace, choice of the instruction set) and chunked_kernel.h (the loops) share.
 *
 * Formula    as cpu/taylor_chunk_f32.c without decays: u_i = sum_n c_n <phi(q_i)^(x n), S_n> + sum_(pairs) W(s_ij) v_j,
 *            v_j times gin_j, z_i likewise; s_ij = <scale phi(q_i), phi(k_j)>; S_n holds the chunks before, packed.
 * Algorithm  queries wait in blocks of CHUNKED_UNIT until the block or their chunk is full.  ROWS of them at a time:
 *            scores against panels of keys, W by Horner's rule lane by lane; then, two columns of channels (columns.h)
 *            at a time, the product of the queries' monomials with the states and that of weights with values, one
 *            after the other in the same registers; keys that not all of the rows see, row by row.  A full chunk enters
 *            the states token by token (tiles.h).
 * Errors     a score: q times the scale, gamma_d; W: cpu/steps/poly.h, with rounded reciprocals; u: a multiply-add for
 *            each monomial and key, and an addition a group of monomials; a state: tiles.h.
 */
#ifndef ATTEST_FAST_CHUNKED_H
#define ATTEST_FAST_CHUNKED_H

#include "fast/taylor/columns.h"

/* Queries of a block; so many monomials are summed by themselves: thousands, one by one, would each round the whole
 * sum.  G groups of g of one sign err by about sqrt(g/(3G)) u inside and sqrt(G/3) u where they are joined: even for
 * the 816 of order 3, d = 16, at g = 96.  The same for all vectors, so that the bits do not depend on them. */
enum { CHUNKED_UNIT = 48, CHUNKED_GROUP = 96 };

/* Where things lie in the workspace of a thread, in floats; columns_layout: what all share. */
typedef struct chunked_layout {
    columns_layout all;
    int64_t size, padded;                    /* tokens of a chunk; rounded up to panels */
    int64_t values, queries, counts, scores; /* keys [panels][dim][PANEL] first; [size][channels]; [..][dim][ROWS] */
    int64_t q, k, state, row;                /* q [rows][CHUNKED_UNIT], k [rows][TILES_UNIT]: monomials */
    int64_t each;
} chunked_layout;

static inline chunked_layout chunked_lay_out(const attest_problem *p)
{
    const monomials a = monomials_of(p);
    const int64_t size = step_max(1, step_min(p->chunk, p->m));
    chunked_layout at = { .all = columns_lay_out(p, monomials_states(&a) + size), .size = size };
    at.padded = fast_up(size, 32);
    at.values = at.padded * a.dim;
    at.queries = at.values + size * at.all.channels;
    at.counts = at.queries + CHUNKED_UNIT * a.dim;
    at.scores = at.counts + fast_up(a.rows, 16);
    at.q = at.scores + 16 * at.padded;
    at.k = at.q + a.rows * CHUNKED_UNIT;
    at.state = at.k + a.rows * TILES_UNIT;
    at.row = at.state + monomials_states(&a) * at.all.channels;
    at.each = at.row + fast_up(step_max(a.dim, p->e), 16);
    return at;
}

/* The loops, compiled for each instruction set. */
typedef attest_status chunked_run(const attest_call *call);
chunked_run chunked_run_avx512, chunked_run_avx2, chunked_run_portable, chunked_run_wide;

#endif
