/* softmax_two_pass.h - attention with weight=exp in two passes over a row's keys, in `real`: for float and for double.
 *
 * Formula    u_i = sum_j D_ij e^(s_ij) gin_j v_j, z_i = sum_j D_ij e^(s_ij), o_i = gout_i Norm(u_i, z_i): u/z for
 *            softmax; lse_i = log z_i; s_ij and D_ij: pairs.h, Norm: norms.h; with a filter only keys with
 *            s_ij > max s - TAU.
 * Algorithm  1. all scores of the row and their maximum m;  2. l = sum D e^(s-m), u = sum D e^(s-m) gin v, key by key;
 *            3. Norm of (e^m u, e^m l) without forming e^m: o = u/l, u/(l + e^(sink-m)), u/sqrt(sum u^2), ..
 */
#ifndef ATTEST_CPU_SOFTMAX_TWO_PASS_H
#define ATTEST_CPU_SOFTMAX_TWO_PASS_H

#include "serve.h"
#include "softmax.h"

static void two_pass_row(const row *r)
{
    const pairs x = pairs_begin(r);
    real *s = x.rest;
    sums all = { .m = 0, .l = 0, .u = s + r->p->m };
    softmax_two_pass(&all, s, &x, r->first, r->last);
    softmax_finish(r, &all);
}

static size_t two_pass_workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return pairs_workspace(p, p->m + p->e);
}

static attest_status two_pass_run(const attest_call *call)
{
    step_each_row(call, pairs_head, two_pass_row);
    return ATTEST_OK;
}

#endif
