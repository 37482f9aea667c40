/* softmax_online.h - softmax attention in one pass over tiles of keys with a running maximum.
 *
 * Formula    o_i = gout_i sum_j D_ij e^(s_ij) gin_j v_j / (sum_j D_ij e^(s_ij) [+ eps, e^sink]), s_ij and D_ij:
 *            pairs.h; lse_i = log sum_j D_ij e^(s_ij), without the sink.
 * Algorithm  per tile: scores, m' = max(m, scores), a = e^(m-m'), l = a l + sum D e^(s-m'),
 *            u = a u + sum cast(D e^(s-m')) gin v, m = m'; at the end o = u/(l [+ eps e^-m, e^(sink-m)]),
 *            lse = m + log l.  A filter needs the row's maximum, from a first pass over the tiles' scores.
 * Errors     with B tiles of b keys: sums gamma_(b+2B), every rescaling one more exponential and the rounding
 *            of m-m'; the cast of a weight to problem.p before it meets v (l adds it uncast); the rest as two-pass.
 */
#ifndef ATTEST_CPU_SOFTMAX_ONLINE_H
#define ATTEST_CPU_SOFTMAX_ONLINE_H

#include "serve.h"
#include "softmax.h"

#ifndef ONLINE_TILE
#define ONLINE_TILE 32
#endif

#ifndef online_tile
/* Keys a tile. */
static inline int64_t online_tile(const attest_problem *p)
{
    (void)p;
    return ONLINE_TILE;
}
#endif

static void online_row(const row *r)
{
    const pairs x = pairs_begin(r);
    real *s = x.rest, *part = s + ONLINE_TILE;
    sums all = { .m = 0, .l = 0, .u = part + r->p->e };
    softmax_online(&all, s, part, online_tile(r->p), &x);
    softmax_finish(r, &all);
}

static size_t online_workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return pairs_workspace(p, ONLINE_TILE + 2 * p->e);
}

static attest_status online_run(const attest_call *call)
{
    step_each_row(call, pairs_head, online_row);
    return ATTEST_OK;
}

#endif
