/* softmax.h - steps of the kernels with weight=exp: sums over a range of keys, two-pass or online, and the row's end.
 *
 *     o = gout Norm(e^m u, e^m l), as in norms.h: gout u/l for norm=sum;   lse = m + log l
 *     l = sum_j D_j e^(s_j - m), u = sum_j D_j e^(s_j - m) gin_j v_j over the visible keys, with a filter over those
 *     with s_j > max s - TAU;   s_j, D_j: pairs.h;   m: the largest score so far
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

/* l = sum D e^(s-m) and u = sum D e^(s-m) gin v over the keys [first,last); `highest` is the row's largest score.  The
 * weight is cast to problem.p before it meets v; l adds the uncast weights.  count-1 additions for l, count products
 * and additions for u. */
static inline void softmax_add(real *l, real *u, const real *s, real m, real highest, const pairs *x, int64_t first,
                               int64_t last)
{
    const attest_problem *p = x->r->p;
    *l = 0;
    step_zero(u, p->e);
    for (int64_t j = first; j < last; j++) {
        const int kept = score_kept(p, s[j - first], highest);
        const real w = pairs_decay(x, j, kept ? softmax_weight(s[j - first] - m) : 0);
        *l += w;
        step_add_value(u, step_round(p->p, w), pairs_value(x, j), p->e);
    }
}

/* Two passes: all scores s[last-first] and their maximum, then the sums. */
static inline void softmax_two_pass(sums *out, real *s, const pairs *x, int64_t first, int64_t last)
{
    pairs_scores(s, x, first, last);
    out->m = score_highest(s, last - first);
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

/* Online: one pass over tiles of `tile` keys from the first visible one, a running maximum; s[tile], part[e].
 * A tile is summed by itself; then l and u are rescaled and added to: 2 roundings a tile each. */
static inline void softmax_online(sums *out, real *s, real *part, int64_t tile, const pairs *x)
{
    const row *r = x->r;
    const int filter = r->p->axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_TAU;
    const real highest = filter ? softmax_highest(s, tile, x) : 0;
    out->m = softmax_first_max();
    out->l = 0;
    step_zero(out->u, r->p->e);
    for (int64_t j = r->first; j < r->last; j += tile) {
        const int64_t end = step_min(j + tile, r->last);
        pairs_scores(s, x, j, end);
        const real m = step_larger(out->m, score_highest(s, end - j)), alpha = softmax_rescale(out->m, m);
        real l;
        softmax_add(&l, part, s, m, highest, x, j, end);
        out->l = out->l * alpha + l;
        for (int64_t c = 0; c < r->p->e; c++)
            out->u[c] = out->u[c] * alpha + part[c];
        out->m = m;
    }
}

/* lse = m + log l: one rounding, and logf's below 1 ulp. */
static inline real softmax_lse(const sums *a) { return a->m + real_log(a->l); }

/* o and lse; u is used up. */
static inline void softmax_finish(const row *r, const sums *a)
{
    step_store_row(r, ATTEST_LSE, 0, softmax_lse(a));
    norm_write(r, a->u, a->l, a->m);
}

#endif
