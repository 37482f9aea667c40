/* softmax_online.h - softmax attention in one pass over tiles of keys with a running maximum.
 *
 * Formula    o_i = sum_j e^(s_ij) v_j / sum_j e^(s_ij),  s_ij = scale <q_i, k_j>,  lse_i = log sum_j e^(s_ij).
 * Algorithm  per tile: scores, m' = max(m, scores), a = e^(m-m'), l = a l + sum e^(s-m'),
 *            u = a u + sum cast(e^(s-m')) v, m = m'; at the end o = u/l, lse = m + log l.
 * Errors     with B tiles of b keys: sums gamma_(b+2B), every rescaling one more exponential and the rounding
 *            of m-m'; the cast of a weight to problem.p before it meets v (l adds it uncast); the rest as two-pass.
 */
#ifndef ATTEST_CPU_SOFTMAX_ONLINE_H
#define ATTEST_CPU_SOFTMAX_ONLINE_H

#include "serve.h"
#include "softmax.h"

#define ONLINE_TILE 32

static void online_row(const row *r)
{
    real *s = softmax_buffers(r).rest, *part = s + ONLINE_TILE;
    sums all = { .m = 0, .l = 0, .u = part + r->p->e };
    softmax_online(&all, s, part, ONLINE_TILE, r);
    softmax_finish(r, all.u, all.l, softmax_lse(&all));
}

static size_t online_workspace(const attest_problem *p) { return softmax_workspace(p, ONLINE_TILE + 2 * p->e); }

static attest_status online_run(const attest_problem *p, const attest_tensors *t, void *workspace, void *stream)
{
    (void)stream;
    step_each_row(p, t, workspace, online_row);
    return ATTEST_OK;
}

#endif
