/* poly.h - steps of the polynomial kernels (Taylor, linear): features, weights, the row's end.
 *
 *     u = sum_j W(s_j - c) v_j,  z = sum_j W(s_j - c),  o = u/z (norm=sum) or u (norm=none),  lse = c + log z
 */
#ifndef ATTEST_CPU_POLY_H
#define ATTEST_CPU_POLY_H

#include "step.h"

/* ---- features ------------------------------------------------------------------------------------------ */

#ifndef poly_elu1
/* x+1 for x >= 0 (one rounding), else e^x (at most 2u relative).  A NaN stays one. */
static inline real poly_elu1(real x) { return x >= 0 ? x + 1 : real_exp(x); }
#endif

#ifndef poly_relu
/* Exact.  A NaN stays one. */
static inline real poly_relu(real x) { return x < 0 ? 0 : x; }
#endif

/* phi of the channels of row (b,h,i) of q or k: in place for the identity of stored reals, else in buffer. */
static inline const real *poly_feature_row(real *buffer, const attest_problem *p, const attest_tensor *t, int64_t b,
                                           int64_t h, int64_t i)
{
    const uint32_t feature = p->axis[ATTEST_AXIS_FEATURE].value;
    const real *x = step_row(buffer, t, b, h, i, p->d);
    if (feature == ATTEST_FEATURE_IDENTITY)
        return x;
    for (int64_t c = 0; c < p->d; c++)
        buffer[c] = feature == ATTEST_FEATURE_ELU1 ? poly_elu1(x[c]) : poly_relu(x[c]);
    return buffer;
}

/* ---- weights ------------------------------------------------------------------------------------------- */

#ifndef poly_taylor
/* T_P(x) = 1 + x/1 (1 + x/2 (1 + .. )) by Horner: three roundings a degree, gamma_(3P) T_P(abs x). */
static inline real poly_taylor(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = order; n > 0; n--)
        t = 1 + t * (x / (real)n);
    return t;
}
#endif

#ifndef poly_term
/* x^P/P!: two roundings a degree, gamma_(2P). */
static inline real poly_term(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = 1; n <= order; n++)
        t *= x / (real)n;
    return t;
}
#endif

#ifndef poly_power
/* x^P: gamma_(P-1). */
static inline real poly_power(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = 0; n < order; n++)
        t *= x;
    return t;
}
#endif

static inline real poly_weight(const attest_setting *weight, real x)
{
    if (weight->value == ATTEST_WEIGHT_TAYLOR)
        return poly_taylor(x, weight->order);
    return weight->value == ATTEST_WEIGHT_TERM ? poly_term(x, weight->order) : poly_power(x, weight->order);
}

/* ---- the row's end -------------------------------------------------------------------------------------- */

#ifndef poly_normalise
/* One division a channel; z = 0 gives what IEEE 754 gives. */
static inline real poly_normalise(real u, real z) { return u / z; }
#endif

/* Writes what is asked for of u, z, o, lse; c is the center.  lse is NaN where z <= 0: no such value. */
static inline void poly_finish(const row *r, const real *u, real z, real c)
{
    const int none = r->p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE;
    for (int64_t n = 0; n < r->p->e; n++) {
        step_store_row(r, ATTEST_U, n, u[n]);
        step_store_row(r, ATTEST_O, n, none ? u[n] : poly_normalise(u[n], z));
    }
    step_store_row(r, ATTEST_Z, 0, z);
    step_store_row(r, ATTEST_LSE, 0, z > 0 ? c + real_log(z) : (real)NAN);
}

/* ---- a row by pairs ---------------------------------------------------------------------------------------- */

/* s[last-first) = scale <phi(q_i), phi(k_j)> of the keys [first,last); k[d] is a buffer. */
static inline void poly_scores(real *s, real *k, const real *q, const row *r, int64_t first, int64_t last)
{
    for (int64_t j = first; j < last; j++) {
        const real *x = poly_feature_row(k, r->p, r->t->role[ATTEST_K], r->b, r->g, j);
        s[j - first] = step_score(r->scale, q, x, r->p->d);
    }
}

/* u += sum W(s-c) v, *z += sum W(s-c) over the keys [first,last), one after the other; v[e] is a buffer. */
static inline void poly_add_pairs(real *u, real *z, const real *s, real c, real *v, const row *r, int64_t first,
                                  int64_t last)
{
    const attest_setting *weight = &r->p->axis[ATTEST_AXIS_WEIGHT];
    for (int64_t j = first; j < last; j++) {
        const real w = poly_weight(weight, s[j - first] - c);
        const real *x = step_row(v, r->t->role[ATTEST_V], r->b, r->g, j, r->p->e);
        *z += w;
        step_add_value(u, step_round(r->p->p, w), x, r->p->e);
    }
}

#endif
