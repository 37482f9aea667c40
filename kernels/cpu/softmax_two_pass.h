/* softmax_two_pass.h - two-pass softmax attention in `real`, for float and for double.
 *
 * Formula    o_i = sum_j e^(s_ij) v_j / (sum_j e^(s_ij) [+ e^sink]),  s_ij = scale <q_i, k_j>;  lse without sink.
 * Algorithm  1. all scores of the row and their maximum m (with norm=sink the sink counts as one more score);
 *            2. l = sum e^(s-m), u = sum e^(s-m) v, key by key;  3. o = u / (l + e^(sink-m)).
 */
#ifndef ATTEST_CPU_SOFTMAX_TWO_PASS_H
#define ATTEST_CPU_SOFTMAX_TWO_PASS_H

#include "serve.h"
#include "softmax.h"

/* lse of the keys alone where the sink is the maximum: l could have lost them all. */
static inline real two_pass_lse_below_sink(const real *s, int64_t count)
{
    sums keys = { .m = -(real)INFINITY, .l = 0, .u = NULL };
    for (int64_t j = 0; j < count; j++)
        keys.m = softmax_max(keys.m, s[j]);
    for (int64_t j = 0; j < count; j++)
        keys.l += softmax_weight(s[j] - keys.m);
    return softmax_lse(&keys);
}

static void two_pass_row(const row *r)
{
    const int sink = r->p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_SINK;
    real *s = softmax_buffers(r).rest;
    sums all = { .m = 0, .l = 0, .u = s + r->p->m };
    if (!sink) {
        softmax_two_pass(&all, s, r, r->first, r->last, -(real)INFINITY);
        softmax_finish(r, all.u, all.l, softmax_lse(&all));
        return;
    }
    const attest_tensor *sinks = r->t->role[ATTEST_SINK];
    const real x = step_load(sinks, r->h * sinks->stride[0]);
    softmax_two_pass(&all, s, r, r->first, r->last, x);
    const real lse = all.m > x ? softmax_lse(&all) : two_pass_lse_below_sink(s, r->last - r->first);
    softmax_finish(r, all.u, all.l + softmax_weight(x - all.m), lse);
}

static size_t two_pass_workspace(const attest_problem *p) { return softmax_workspace(p, p->m + p->e); }

static attest_status two_pass_run(const attest_problem *p, const attest_tensors *t, void *workspace, void *stream)
{
    (void)stream;
    step_each_row(p, t, workspace, two_pass_row);
    return ATTEST_OK;
}

#endif
