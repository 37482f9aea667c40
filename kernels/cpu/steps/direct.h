/* direct.h - a polynomial weight pair by pair, the formula as it is written: no state is kept.
 *
 * Formula    u_i = sum_j D_ij W(s_ij - c_i) gin_j v_j, z_i = sum_j D_ij W(s_ij - c_i), o_i = gout_i Norm(u_i, z_i),
 *            lse_i = c_i + log z_i where z_i > 0; s_ij and D_ij: pairs.h, W: poly.h, Norm: norms.h; c_i = 0, or the
 *            maximum, minimum or middle of the row's scores; with a filter W = 0 unless s_ij > max_j s_ij - TAU.
 * Errors     score gamma_(d+1) and scale's rounding, then scores.h; s-c one rounding; weight: poly.h; D_ij
 *            gamma_(i-j) with its product; gin one rounding; u gamma_N, z gamma_(N-1) over N keys; then norms.h.
 */
#ifndef ATTEST_CPU_DIRECT_H
#define ATTEST_CPU_DIRECT_H

#include "norms.h"
#include "pairs.h"
#include "poly.h"
#include "serve.h"

#ifndef direct_center
/* c_i of the scores s[keys]: exact but for the middle's one rounding (halving is exact). */
static inline real direct_center(const attest_problem *p, const real *s, int64_t keys)
{
    real low = s[0], high = s[0];
    for (int64_t j = 1; j < keys; j++) {
        low = s[j] < low ? s[j] : low;
        high = s[j] > high ? s[j] : high;
    }
    const real centers[] = { 0, high, low, low / 2 + high / 2 };
    return centers[p->axis[ATTEST_AXIS_CENTER].value];
}
#endif

/* u += sum D W(s-c) gin v and *z += sum D W(s-c) over the keys [first,last) with scores s[last-first), one after the
 * other; `highest` is the row's largest score.  The weight, after dropout, is cast to problem.p before it meets the
 * value. */
static inline void direct_add(real *u, real *z, const real *s, real c, real highest, const pairs *x, int64_t first,
                              int64_t last)
{
    const attest_problem *p = x->r->p;
    for (int64_t j = first; j < last; j++) {
        if (!step_shown(x->r, j))
            continue;
        const int kept = score_kept(p, s[j - first], highest);
        const real w = pairs_decay(x, j, kept ? poly_weight(&p->axis[ATTEST_AXIS_WEIGHT], s[j - first] - c) : 0);
        *z = step_sum(*z, w);
        step_add_value(u, step_round(p->p, dropout_weight(x->r, j, w)), pairs_value(x, j), p->e);
    }
}

#ifndef direct_scores
/* s[keys] = the row's scores; returns their center. */
static inline real direct_scores(real *s, const pairs *x)
{
    pairs_scores(s, x, x->r->first, x->r->last);
    return direct_center(x->r->p, s, x->r->last - x->r->first);
}
#endif

/* All keys at once: 1. scores and their center; 2. weights and sums; 3. the row's end. */
static inline void direct_row(const row *r)
{
    const pairs x = pairs_begin(r);
    const int64_t keys = r->last - r->first;
    real *u = x.rest, *s = u + r->p->e, z = 0;
    const real c = direct_scores(s, &x);
    step_zero(u, r->p->e);
    direct_add(u, &z, s, c, score_highest(s, keys), &x, r->first, r->last);
    norm_finish(r, u, z, c);
}

static inline size_t direct_workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return pairs_workspace(p, p->e + p->m);
}

static inline attest_status direct_run(const attest_call *call)
{
    step_each_row(call, pairs_head, direct_row);
    return ATTEST_OK;
}

#endif
