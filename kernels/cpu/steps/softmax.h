/* softmax.h - steps of the kernels with weight=exp: sums over a range of keys, two-pass or online, and the row's end.
 *
 *     o = gout Norm(e^m u, e^m l), as in norms.h: gout u/l for norm=sum;   lse = m + log l
 *     l = sum_j D_j e^(s_j - m), u = sum_j D_j e^(s_j - m) keep_j/(1-R) gin_j v_j over the visible keys, with a filter
 *     over those with s_j > max s - TAU;   s_j, D_j: pairs.h;   keep_j/(1-R): dropout.h;   m: the largest score so far
 */
#ifndef ATTEST_CPU_SOFTMAX_H
#define ATTEST_CPU_SOFTMAX_H

#include "norms.h"
#include "pairs.h"

/* Sums over a set of keys: m >= all scores, l = sum D e^(s-m), u = sum D e^(s-m) gin v. */
typedef struct sums {
    real m, l;
    real *u; /* [e] */
} sums;

#ifndef softmax_weight
/* x = s - m <= 0 has one rounding; the exponential at most 2u. */
static inline real softmax_weight(real x) { return real_exp(x); }
#endif

#ifndef softmax_exponent
/* One rounding. */
static inline real softmax_exponent(real s, real m) { return s - m; }
#endif

#ifndef softmax_counted
/* What the denominator adds of a weight: all of it, not what its cast to problem.p keeps. */
static inline real softmax_counted(const attest_problem *p, real w)
{
    (void)p;
    return w;
}
#endif

#ifndef softmax_begin
/* No key yet. */
static inline void softmax_begin(real *l, real *u, int64_t e)
{
    *l = 0;
    step_zero(u, e);
}
#endif

/* l = sum D e^(s-m) and u = sum D e^(s-m) keep/(1-R) gin v over the keys [first,last); `highest` is the row's largest
 * score.  The weight, after dropout, is cast to problem.p before it meets v; l adds the uncast weights.  count-1
 * additions for l, count products and additions for u. */
static inline void softmax_add(real *l, real *u, const real *s, real m, real highest, const pairs *x, int64_t first,
                               int64_t last)
{
    const attest_problem *p = x->r->p;
    softmax_begin(l, u, p->e);
    for (int64_t j = first; j < last; j++) {
        if (!step_shown(x->r, j))
            continue;
        const int kept = score_kept(p, s[j - first], highest);
        const real w = pairs_decay(x, j, kept ? softmax_weight(softmax_exponent(s[j - first], m)) : 0);
        *l = step_sum(*l, softmax_counted(p, w));
        step_add_value(u, step_round(p->p, dropout_weight(x->r, j, w)), pairs_value(x, j), p->e);
    }
}

#ifndef softmax_maximum
/* Of all scores of a row or part. */
static inline real softmax_maximum(const real *s, int64_t count) { return score_highest(s, count); }
#endif

/* Two passes: all scores s[last-first] and their maximum, then the sums. */
static inline void softmax_two_pass(sums *out, real *s, const pairs *x, int64_t first, int64_t last)
{
    pairs_scores(s, x, first, last);
    out->m = softmax_maximum(s, last - first);
    softmax_add(&out->l, out->u, s, out->m, out->m, x, first, last);
}

#ifndef softmax_rescale
/* What brings sums from maximum m to the new maximum; 0 before the first tile, where they are 0. */
static inline real softmax_rescale(real m, real new_m) { return m == -(real)INFINITY ? 0 : real_exp(m - new_m); }
#endif

#ifndef softmax_first_max
/* The running maximum before the first tile. */
static inline real softmax_first_max(void) { return -(real)INFINITY; }
#endif

#ifndef softmax_new_max
/* The running maximum after a tile with largest score `highest`. */
static inline real softmax_new_max(real m, real highest) { return step_larger(m, highest); }
#endif

#ifndef softmax_tile_end
/* Of the tile that starts with key j. */
static inline int64_t softmax_tile_end(int64_t j, int64_t tile, int64_t last) { return step_min(j + tile, last); }
#endif

#ifndef softmax_join_l
/* l of all keys so far and of a tile. */
static inline real softmax_join_l(real l, real alpha, real part) { return l * alpha + part; }
#endif

#ifndef softmax_join_u
/* A channel of u likewise. */
static inline real softmax_join_u(real u, real alpha, real part) { return u * alpha + part; }
#endif

#ifndef softmax_highest
/* The row's largest score, tile by tile: what a filter has to know before the first weight. */
static inline real softmax_highest(real *s, int64_t tile, const pairs *x)
{
    const row *r = x->r;
    real highest = -(real)INFINITY;
    for (int64_t j = r->first; j < r->last; j += tile) {
        const int64_t end = step_min(j + tile, r->last);
        pairs_scores(s, x, j, end);
        highest = step_larger(highest, score_highest(s, end - j));
    }
    return highest;
}
#endif

/* Online: one pass over tiles of `tile` keys from the first visible one, a running maximum; s[tile], part[e].
 * A tile is summed by itself; then l and u are rescaled and added to: 2 roundings a tile each. */
static inline void softmax_online(sums *out, real *s, real *part, int64_t tile, const pairs *x)
{
    const row *r = x->r;
    const int filter = r->p->axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_TAU;
    const real highest = filter ? softmax_highest(s, tile, x) : 0;
    out->m = softmax_first_max();
    softmax_begin(&out->l, out->u, r->p->e);
    for (int64_t j = r->first; j < r->last; j += tile) {
        const int64_t end = softmax_tile_end(j, tile, r->last);
        pairs_scores(s, x, j, end);
        const real m = softmax_new_max(out->m, score_highest(s, end - j)), alpha = softmax_rescale(out->m, m);
        real l;
        softmax_add(&l, part, s, m, highest, x, j, end);
        out->l = softmax_join_l(out->l, alpha, l);
        for (int64_t c = 0; c < r->p->e; c++)
            out->u[c] = softmax_join_u(out->u[c], alpha, part[c]);
        out->m = m;
    }
}

#ifndef softmax_lse
/* lse = m + log l: one rounding, and logf's below 1 ulp. */
static inline real softmax_lse(const sums *a) { return a->m + real_log(a->l); }
#endif

#ifndef softmax_finish
/* o and lse; u is used up. */
static inline void softmax_finish(const row *r, const sums *a)
{
    step_store_row(r, ATTEST_LSE, 0, softmax_lse(a));
    norm_write(r, a->u, a->l, a->m);
}
#endif

#endif
