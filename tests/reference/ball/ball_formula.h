/* ball_formula.h - rows and states computed again, straight from the formulas and term by term, in Arb at a precision
 * far above the engine's: products of decays as written, angles by exp and log, cosformer by its cosine of the
 * distance, softmaxes over heads undivided, the delta rule as matrices.  For the tests of the ball engine. */
#ifndef ATTEST_TESTS_BALL_FORMULA_H
#define ATTEST_TESTS_BALL_FORMULA_H

#include "tests/reference/ball/ball_case.h"

enum { FORMULA_BITS = 1024, FORMULA_MAX = 64 }; /* no more dimensions, keys or values than FORMULA_MAX */

typedef struct formula {
    const ball_case *x;
    const attest_problem *p;
    int64_t b, g, h, i, first, last, dim;
    arb_t s[FORMULA_MAX], d[FORMULA_MAX]; /* scores and D_ij of key j - first */
} formula;

static inline uint32_t axis_of(const formula *f, attest_axis axis) { return f->p->axis[axis].value; }

static inline void formula_load(arb_t y, const formula *f, attest_role role, int64_t i0, int64_t i1, int64_t i2,
                                int64_t i3)
{
    arb_set_d(y, ball_case_get(f->x, role, i0, i1, i2, i3));
}

/* Entry c of the stored vector, behind rope. */
static inline void formula_turned(arb_t y, const formula *f, attest_role role, int64_t head, int64_t token, int64_t pos,
                                  int64_t c)
{
    const int64_t half = f->p->d / 2, pair = c % (half ? half : 1);
    arb_t angle, other, x;
    formula_load(y, f, role, f->b, head, token, c);
    if (axis_of(f, ATTEST_AXIS_ROPE) == ATTEST_ROPE_NONE)
        return;
    arb_init(angle);
    arb_init(other);
    arb_init(x);
    arb_set_d(angle, f->p->axis[ATTEST_AXIS_ROPE].number);
    arb_log(angle, angle, FORMULA_BITS);
    arb_mul_si(angle, angle, -2 * pair, FORMULA_BITS);
    arb_div_si(angle, angle, f->p->d, FORMULA_BITS);
    arb_exp(angle, angle, FORMULA_BITS);
    arb_mul_si(angle, angle, pos, FORMULA_BITS);
    formula_load(other, f, role, f->b, head, token, c < half ? c + half : c - half);
    arb_sin(x, angle, FORMULA_BITS);
    arb_mul(other, other, x, FORMULA_BITS);
    arb_cos(x, angle, FORMULA_BITS);
    arb_mul(y, y, x, FORMULA_BITS);
    if (c < half)
        arb_sub(y, y, other, FORMULA_BITS);
    else
        arb_add(y, y, other, FORMULA_BITS);
    arb_clear(x);
    arb_clear(other);
    arb_clear(angle);
}

/* phi entry c: identity, relu, and the 2d images of cosformer. */
static inline void formula_phi(arb_t y, const formula *f, attest_role role, int64_t head, int64_t token, int64_t pos,
                               int64_t c)
{
    const uint32_t feature = axis_of(f, ATTEST_AXIS_FEATURE);
    arb_t angle;
    formula_turned(y, f, role, head, token, pos, c % f->p->d);
    if (feature != ATTEST_FEATURE_IDENTITY && !arb_is_positive(y))
        arb_zero(y);
    if (feature != ATTEST_FEATURE_COSFORMER)
        return;
    arb_init(angle);
    arb_const_pi(angle, FORMULA_BITS);
    arb_mul_si(angle, angle, pos, FORMULA_BITS);
    arb_div_si(angle, angle, 2 * (f->p->n > f->p->m ? f->p->n : f->p->m), FORMULA_BITS);
    if (c < f->p->d)
        arb_cos(angle, angle, FORMULA_BITS);
    else
        arb_sin(angle, angle, FORMULA_BITS);
    arb_mul(y, y, angle, FORMULA_BITS);
    arb_clear(angle);
}

/* Product of the factors of tokens from..to, for key dimension c. */
static inline void formula_decay(arb_t y, const formula *f, int64_t from, int64_t to, int64_t c)
{
    const uint32_t decay = axis_of(f, ATTEST_AXIS_DECAY);
    arb_t a;
    arb_init(a);
    arb_one(y);
    for (int64_t t = from; t <= to && decay != ATTEST_DECAY_NONE; t++) {
        if (decay == ATTEST_DECAY_RETNET)
            formula_load(a, f, ATTEST_GAMMA, f->g, 0, 0, 0);
        else
            formula_load(a, f, ATTEST_DECAY, f->b, f->g, t, decay == ATTEST_DECAY_VECTOR ? c : 0);
        arb_mul(y, y, a, FORMULA_BITS);
    }
    arb_clear(a);
}

static inline int formula_vector(const formula *f) { return axis_of(f, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR; }

/* s_ij: cosformer by the cosine of the distance, not by its features. */
static inline void formula_score(arb_t s, const formula *f, int64_t position, int64_t j)
{
    const int cosine = axis_of(f, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_COSFORMER;
    arb_t q, k, a;
    arb_init(q);
    arb_init(k);
    arb_init(a);
    arb_zero(s);
    for (int64_t c = 0; c < f->p->d; c++) {
        if (cosine) {
            formula_turned(q, f, ATTEST_Q, f->h, f->i, position, c);
            formula_turned(k, f, ATTEST_K, f->g, j, j, c);
            if (!arb_is_positive(q) || !arb_is_positive(k))
                continue;
        } else {
            formula_phi(q, f, ATTEST_Q, f->h, f->i, position, c);
            formula_phi(k, f, ATTEST_K, f->g, j, j, c);
        }
        arb_mul(q, q, k, FORMULA_BITS);
        formula_decay(a, f, j + 1, f->i, c);
        if (formula_vector(f))
            arb_mul(q, q, a, FORMULA_BITS);
        arb_add(s, s, q, FORMULA_BITS);
    }
    if (cosine) {
        arb_const_pi(a, FORMULA_BITS);
        arb_mul_si(a, a, position - j, FORMULA_BITS);
        arb_div_si(a, a, 2 * (f->p->n > f->p->m ? f->p->n : f->p->m), FORMULA_BITS);
        arb_cos(a, a, FORMULA_BITS);
        arb_mul(s, s, a, FORMULA_BITS);
    }
    arb_set_d(a, f->p->scale);
    arb_mul(s, s, a, FORMULA_BITS);
    arb_clear(a);
    arb_clear(k);
    arb_clear(q);
}

/* A gate: stored, or e^x / sum e^x over the heads. */
static inline void formula_gate(arb_t y, const formula *f, attest_role plain, attest_role heads, int64_t head,
                                int64_t token)
{
    const attest_tensor *t = attest_bundle_role(f->x->bundle, heads);
    arb_t x, sum;
    arb_one(y);
    if (attest_bundle_role(f->x->bundle, plain))
        formula_load(y, f, plain, f->b, head, token, 0);
    if (!t)
        return;
    arb_init(x);
    arb_init(sum);
    for (int64_t n = 0; n < t->shape[1]; n++) {
        formula_load(x, f, heads, f->b, n, token, 0);
        arb_exp(x, x, FORMULA_BITS);
        arb_add(sum, sum, x, FORMULA_BITS);
        if (n == head)
            arb_set(y, x);
    }
    arb_div(y, y, sum, FORMULA_BITS);
    arb_clear(sum);
    arb_clear(x);
}

/* W(x): exp, or the sum of the degrees that the weight has. */
static inline void formula_degree(arb_t y, const formula *f, int n)
{
    arb_one(y);
    if (axis_of(f, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_POWER)
        return;
    arb_fac_ui(y, (ulong)n, FORMULA_BITS);
    arb_inv(y, y, FORMULA_BITS);
}

static inline void formula_weight(arb_t w, const formula *f, const arb_t x)
{
    const uint32_t weight = axis_of(f, ATTEST_AXIS_WEIGHT);
    const int order = (int)f->p->axis[ATTEST_AXIS_WEIGHT].order;
    arb_t y, z;
    if (weight == ATTEST_WEIGHT_EXP) {
        arb_exp(w, x, FORMULA_BITS);
        return;
    }
    arb_init(y);
    arb_init(z);
    arb_zero(w);
    for (int n = weight == ATTEST_WEIGHT_TAYLOR ? 0 : order; n <= order; n++) {
        formula_degree(y, f, n);
        arb_pow_ui(z, x, (ulong)n, FORMULA_BITS);
        arb_addmul(w, y, z, FORMULA_BITS);
    }
    arb_clear(z);
    arb_clear(y);
}

/* Entry r of phi^(x n), the digits of r in base dim. */
static inline void formula_monomial(arb_t y, const formula *f, attest_role role, int64_t head, int64_t token,
                                    int64_t pos, int n, int64_t r)
{
    arb_t x;
    arb_init(x);
    arb_one(y);
    for (; n > 0; n--, r /= f->dim) {
        formula_phi(x, f, role, head, token, pos, r % f->dim);
        arb_mul(y, y, x, FORMULA_BITS);
    }
    arb_clear(x);
}

static inline void formula_init(formula *f, const ball_case *x, int64_t b, int64_t g, int64_t h, int64_t i)
{
    *f = (formula){ .x = x, .p = &x->c.problem, .b = b, .g = g, .h = h, .i = i };
    f->dim = axis_of(f, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_COSFORMER ? 2 * f->p->d : f->p->d;
    ref_visible(&x->in, b, i, &f->first, &f->last);
    f->last = f->last > f->first ? f->last : f->first;
    ck_assert(f->last - f->first <= FORMULA_MAX);
    for (int j = 0; j < FORMULA_MAX; j++) {
        arb_init(f->s[j]);
        arb_init(f->d[j]);
    }
}

static inline void formula_clear(formula *f)
{
    for (int j = 0; j < FORMULA_MAX; j++) {
        arb_clear(f->s[j]);
        arb_clear(f->d[j]);
    }
}

/* Adds what a given state of degree n gives u[c] (c < e) or z (c = e). */
static inline void formula_given(arb_t sum, const formula *f, int64_t position, int n, int64_t c)
{
    const int z = c == f->p->e;
    const attest_tensor *t = attest_bundle_get(f->x->bundle,
                                               (attest_tensor_id){ z ? ATTEST_KIND_Z0 : ATTEST_KIND_H0, (uint32_t)n });
    int64_t rows = 1;
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    for (int k = 0; k < n; k++)
        rows *= f->dim;
    for (int64_t r = 0; t && r < rows; r++) {
        formula_monomial(x, f, ATTEST_Q, f->h, f->i, position, n, r);
        formula_decay(y, f, 0, f->i, formula_vector(f) ? r : 0);
        arb_mul(x, x, y, FORMULA_BITS);
        arb_set_d(y, attest_load(t, attest_offset(t, f->b, f->g, r, z ? 0 : c)));
        arb_mul(x, x, y, FORMULA_BITS);
        arb_set_d(y, f->p->scale);
        arb_pow_ui(y, y, (ulong)n, FORMULA_BITS);
        arb_mul(x, x, y, FORMULA_BITS);
        formula_degree(y, f, n);
        arb_addmul(sum, x, y, FORMULA_BITS);
    }
    arb_clear(y);
    arb_clear(x);
}

/* w_ij of key j, its D_ij inside, 0 where the filter drops it; x = W without the filter. */
static inline void formula_key(arb_t w, arb_t x, const formula *f, const arb_t top, int64_t j)
{
    const attest_setting *filter = &f->p->axis[ATTEST_AXIS_FILTER];
    arb_t tau;
    arb_init(tau);
    arb_set(x, f->s[j]);
    if (axis_of(f, ATTEST_AXIS_CENTER) == ATTEST_CENTER_MAX)
        arb_sub(x, x, top, FORMULA_BITS);
    formula_weight(w, f, x);
    arb_mul(w, w, f->d[j], FORMULA_BITS);
    arb_set(x, w);
    arb_set_d(tau, filter->number);
    arb_sub(tau, top, tau, FORMULA_BITS);
    if (filter->value == ATTEST_FILTER_TAU && !arb_gt(f->s[j], tau))
        arb_zero(w);
    arb_clear(tau);
}

/* u[e] and z of a row of update=add; centers zero and max. */
static inline void formula_row(arb_ptr u, arb_t z, formula *f)
{
    const attest_problem *p = f->p;
    const int64_t position = ref_position(&f->x->in, f->b, f->i);
    arb_t top, w, x;
    arb_init(top);
    arb_init(w);
    arb_init(x);
    arb_zero(z);
    for (int64_t c = 0; c < p->e; c++)
        arb_zero(u + c);
    for (int64_t j = 0; j < f->last - f->first; j++) {
        formula_score(f->s[j], f, position, f->first + j);
        arb_one(f->d[j]);
        if (!formula_vector(f))
            formula_decay(f->d[j], f, f->first + j + 1, f->i, 0);
        arb_max(top, j ? top : f->s[0], f->s[j], FORMULA_BITS);
    }
    for (int64_t j = 0; j < f->last - f->first; j++) {
        formula_key(w, x, f, top, j);
        arb_add(z, z, w, FORMULA_BITS);
        formula_gate(x, f, ATTEST_GIN, ATTEST_K_HEAD_LOGITS, f->g, f->first + j);
        arb_mul(w, w, x, FORMULA_BITS);
        for (int64_t c = 0; c < p->e; c++) {
            formula_load(x, f, ATTEST_V, f->b, f->g, f->first + j, c);
            arb_addmul(u + c, w, x, FORMULA_BITS);
        }
    }
    for (int n = f->x->in.lowest; n <= f->x->in.highest; n++)
        for (int64_t c = 0; c <= p->e; c++)
            formula_given(c < p->e ? u + c : z, f, position, n, c);
    arb_clear(x);
    arb_clear(w);
    arb_clear(top);
}

/* Entry (r, c) of the state of degree n after the last key that query n-1 sees; c = e: of the z-state. */
static inline void formula_state(arb_t y, formula *f, int n, int64_t r, int64_t c)
{
    const int z = c == f->p->e;
    const attest_tensor *t = attest_bundle_get(f->x->bundle,
                                               (attest_tensor_id){ z ? ATTEST_KIND_Z0 : ATTEST_KIND_H0, (uint32_t)n });
    const int64_t dimension = formula_vector(f) ? r : 0;
    arb_t x, m;
    arb_init(x);
    arb_init(m);
    arb_zero(y);
    if (t) {
        arb_set_d(y, attest_load(t, attest_offset(t, f->b, f->g, r, z ? 0 : c)));
        formula_decay(x, f, 0, f->last - 1, dimension);
        if (f->last > f->first)
            arb_mul(y, y, x, FORMULA_BITS);
    }
    for (int64_t j = f->first; j < f->last; j++) {
        formula_monomial(m, f, ATTEST_K, f->g, j, j, n, r);
        formula_decay(x, f, j + 1, f->last - 1, dimension);
        arb_mul(m, m, x, FORMULA_BITS);
        if (!z) {
            formula_gate(x, f, ATTEST_GIN, ATTEST_K_HEAD_LOGITS, f->g, j);
            arb_mul(m, m, x, FORMULA_BITS);
            formula_load(x, f, ATTEST_V, f->b, f->g, j, c);
            arb_mul(m, m, x, FORMULA_BITS);
        }
        arb_add(y, y, m, FORMULA_BITS);
    }
    arb_clear(m);
    arb_clear(x);
}

/* 1 if the ball meets the value and its radius is at most 2^-bits of the abs_scale. */
static inline int formula_meets(const arb_t ball, const arb_t value, const mag_t abs_scale, slong bits)
{
    mag_t limit;
    int yes;
    mag_init(limit);
    mag_mul_2exp_si(limit, abs_scale, -bits);
    yes = arb_is_finite(ball) && arb_overlaps(ball, value) && mag_cmp(arb_radref(ball), limit) <= 0;
    mag_clear(limit);
    return yes;
}

#endif
