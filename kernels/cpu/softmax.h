/* softmax.h - steps of the softmax kernels: sums over a range of keys, two-pass or online, and the row's end.
 *
 *     o = sum_j e^(s_j - m) v_j / sum_j e^(s_j - m),   lse = m + log sum_j e^(s_j - m),   s_j = scale <q, k_j>
 */
#ifndef ATTEST_CPU_SOFTMAX_H
#define ATTEST_CPU_SOFTMAX_H

#include "step.h"

/* Sums over a set of keys: m >= all scores, l = sum e^(s-m), u = sum e^(s-m) v. */
typedef struct sums {
    real m, l;
    real *u; /* [e] */
} sums;

/* Buffers of one row, cut from its scratch: q k [d], v [e], and what the kernel wants. */
typedef struct buffers {
    real *q, *k, *v, *rest;
} buffers;

static inline buffers softmax_buffers(const row *r)
{
    buffers a;
    a.q = r->scratch;
    a.k = a.q + r->p->d;
    a.v = a.k + r->p->d;
    a.rest = a.v + r->p->e;
    return a;
}

/* Bytes of the above with `rest` more numbers. */
static inline size_t softmax_workspace(const attest_problem *p, int64_t rest)
{
    return (size_t)(2 * p->d + p->e + rest) * sizeof(real);
}

#ifndef softmax_max
/* A NaN score never is the maximum; it comes back through its own weight. */
static inline real softmax_max(real a, real b) { return b > a ? b : a; }
#endif

#ifndef softmax_weight
/* x = s - m <= 0 has one rounding; the exponential at most 2u. */
static inline real softmax_weight(real x) { return real_exp(x); }
#endif

/* s[0..last-first) = scores of the keys [first,last); returns the larger of `least` and their maximum. */
static inline real softmax_scores(real *s, const row *r, int64_t first, int64_t last, real least)
{
    const buffers a = softmax_buffers(r);
    const real *q = step_row(a.q, r->t->role[ATTEST_Q], r->b, r->h, r->i, r->p->d);
    real m = least;
    for (int64_t j = first; j < last; j++) {
        const real *k = step_row(a.k, r->t->role[ATTEST_K], r->b, r->g, j, r->p->d);
        s[j - first] = step_score(r->scale, q, k, r->p->d);
        m = softmax_max(m, s[j - first]);
    }
    return m;
}

/* l = sum e^(s-m) and u = sum e^(s-m) v over the keys [first,last).  The weight is cast to problem.p before
 * it meets v; l adds the uncast weights.  count-1 additions for l, count products and additions for u. */
static inline void softmax_add(real *l, real *u, const real *s, real m, const row *r, int64_t first, int64_t last)
{
    const buffers a = softmax_buffers(r);
    *l = 0;
    step_zero(u, r->p->e);
    for (int64_t j = first; j < last; j++) {
        const real w = softmax_weight(s[j - first] - m);
        const real *v = step_row(a.v, r->t->role[ATTEST_V], r->b, r->g, j, r->p->e);
        *l += w;
        step_add_value(u, step_round(r->p->p, w), v, r->p->e);
    }
}

/* Two passes: all scores s[last-first] and their maximum (at least `least`), then the sums. */
static inline void softmax_two_pass(sums *out, real *s, const row *r, int64_t first, int64_t last, real least)
{
    out->m = softmax_scores(s, r, first, last, least);
    softmax_add(&out->l, out->u, s, out->m, r, first, last);
}

#ifndef softmax_rescale
/* What brings sums from maximum m to the new maximum; 0 before the first tile, where they are 0. */
static inline real softmax_rescale(real m, real new_m) { return m == -(real)INFINITY ? 0 : real_exp(m - new_m); }
#endif

/* Online: one pass over tiles of `tile` keys from the first visible one, a running maximum; s[tile], part[e].
 * A tile is summed by itself; then l and u are rescaled and added to: 2 roundings a tile each. */
static inline void softmax_online(sums *out, real *s, real *part, int64_t tile, const row *r)
{
    out->m = -(real)INFINITY;
    out->l = 0;
    step_zero(out->u, r->p->e);
    for (int64_t j = r->first; j < r->last; j += tile) {
        const int64_t end = step_min(j + tile, r->last);
        const real m = softmax_scores(s, r, j, end, out->m);
        const real alpha = softmax_rescale(out->m, m);
        real l;
        softmax_add(&l, part, s, m, r, j, end);
        out->l = out->l * alpha + l;
        for (int64_t c = 0; c < r->p->e; c++)
            out->u[c] = out->u[c] * alpha + part[c];
        out->m = m;
    }
}

/* lse = m + log l: one rounding, and logf's below 1 ulp. */
static inline real softmax_lse(const sums *a) { return a->m + real_log(a->l); }

/* o = u / divisor: one division a channel. */
static inline void softmax_finish(const row *r, const real *u, real divisor, real lse)
{
    for (int64_t c = 0; c < r->p->e; c++)
        step_store_row(r, ATTEST_O, c, u[c] / divisor);
    step_store_row(r, ATTEST_LSE, 0, lse);
}

#endif
