/* exact_cases.h - small random cases for the tests of the exact engine and the tie lemma, and their value in plain
 * rationals straight from the formula: own masks, head map, weights.  For including in a test file only. */
#ifndef ATTEST_TESTS_EXACT_CASES_H
#define ATTEST_TESTS_EXACT_CASES_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/hash.h"
#include "reference/engine/engine.h"

/* ---- draws ----------------------------------------------------------------------------------------------------- */
typedef struct cases_rng {
    uint64_t state;
} cases_rng;

static inline uint64_t cases_draw(cases_rng *rng) { return attest_next64(&rng->state); }

static inline long cases_between(cases_rng *rng, long lo, long hi)
{
    return lo + (long)(cases_draw(rng) % (uint64_t)(hi - lo + 1));
}

/* ---- a case ------------------------------------------------------------------------------------------------------ */
typedef struct cases_case {
    char line[ATTEST_LINE];
    attest_case parsed;
    attest_bundle *bundle;
    ref_inputs in;
} cases_case;

/* How values are drawn: mantissas up to 2^bits, exponents from 0 (8 - bits, beyond 8 bits) down to -spread. */
typedef struct cases_values {
    int bits, spread, nonnegative;
} cases_values;

static const cases_values cases_plain = { .bits = 7, .spread = 9, .nonnegative = 0 };
static const cases_values cases_positive = { .bits = 7, .spread = 9, .nonnegative = 1 };
static const cases_values cases_wide = { .bits = 20, .spread = 60, .nonnegative = 0 };

static inline void cases_fill(cases_case *c, attest_tensor_id id, const cases_values *how, cases_rng *rng)
{
    attest_error err;
    attest_tensor *t;
    ck_assert_msg(attest_bundle_add(c->bundle, &c->parsed.problem, id, 0, &t, &err) == ATTEST_OK, "%s", err.text);
    for (int64_t k = 0; k < attest_tensor_count(t); k++) {
        const long top = 1l << how->bits;
        const long m = cases_between(rng, how->nonnegative ? 0 : -top, top);
        const int e = (int)-cases_between(rng, how->bits > 8 ? how->bits - 8 : 0, how->spread);
        const uint64_t bits = t->dtype == ATTEST_I64    ? (uint64_t)cases_between(rng, 0, c->parsed.problem.m)
                              : t->dtype == ATTEST_BOOL ? cases_draw(rng) % 2
                                                        : attest_round_scaled(t->dtype, m < 0, (uint64_t)labs(m), e, 0);
        attest_store_bits(t, k, bits);
    }
}

static inline void cases_open(cases_case *c, const char *line, const cases_values *how, cases_rng *rng)
{
    attest_error err;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    snprintf(c->line, sizeof c->line, "%s", line);
    ck_assert_msg(attest_case_parse(&c->parsed, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    ck_assert(attest_bundle_new(&c->bundle, &err) == ATTEST_OK);
    const size_t count = attest_problem_inputs(&c->parsed.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t k = 0; k < count; k++)
        cases_fill(c, ids[k], how, rng);
    ck_assert(ref_inputs_set(&c->in, &c->parsed.problem, c->bundle, &err) == ATTEST_OK);
}

static inline void cases_close(cases_case *c)
{
    ref_inputs_clear(&c->in);
    attest_bundle_free(c->bundle);
}

static inline void cases_set(cases_case *c, attest_role role, int64_t index, double x)
{
    attest_tensor *t = attest_bundle_role(c->bundle, role);
    attest_store_bits(t, index, attest_from_f64(t->dtype, x));
}

/* A random case of order n that has a recurrence; `square`: n = m. */
static inline void cases_open_recurrent(cases_case *c, int n, const char *mask, int square, cases_rng *rng)
{
    static const char *const weights[] = { "taylor", "term", "power" };
    static const char *const norms[] = { "sum", "none" };
    static const char *const features[] = { "identity", "relu", "elu1" };
    char line[ATTEST_LINE];
    const long feature = cases_between(rng, 0, 2), keys = cases_between(rng, 1, 12);
    const int given = cases_draw(rng) % 3 == 0;
    snprintf(line, sizeof line,
             "variant=linear weight=%s:%d norm=%s feature=%s mask=%s in=%s hq=2 hkv=%ld n=%ld m=%ld "
             "d=%ld e=%ld scale=%g%s",
             weights[cases_between(rng, 0, 2)], n, norms[cases_between(rng, 0, 1)], features[feature], mask,
             cases_draw(rng) % 2 ? "f32" : "bf16", cases_between(rng, 1, 2), square ? keys : cases_between(rng, 1, 12),
             keys, cases_between(rng, 1, 4), cases_between(rng, 1, 3), (double)cases_between(rng, 1, 30) / 16,
             given ? " state=draw" : "");
    cases_open(c, line, feature == 2 ? &cases_positive : cases_draw(rng) % 4 ? &cases_plain : &cases_wide, rng);
}

/* ---- the formula in rationals ---------------------------------------------------------------------------------- */
typedef struct cases_truth {
    int64_t e;
    int rational, empty, defined;
    mpq_t *u, *o, z, c;
} cases_truth;

static inline mpq_t *cases_rationals(int64_t count)
{
    mpq_t *a = malloc((size_t)(count > 0 ? count : 1) * sizeof *a);
    ck_assert_ptr_nonnull(a);
    for (int64_t k = 0; k < count; k++)
        mpq_init(a[k]);
    return a;
}

static inline void cases_rationals_free(mpq_t *a, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        mpq_clear(a[k]);
    free(a);
}

/* Axis values of tensors of pairs. */
#define BIASES " bias=full", " bias=head", " bias=batch", " bias=shared"
#define MASKS " attn_mask=full", " attn_mask=head", " attn_mask=batch bias=full", " attn_mask=shared lens=draw"

/* j visible to i, word for word from the table of axes. */
static inline int cases_sees(const cases_case *c, int64_t b, int64_t i, int64_t j)
{
    const attest_problem *p = &c->parsed.problem;
    const attest_tensor *lens = c->in.role[ATTEST_KV_LENS];
    const int64_t len = lens ? attest_load_int(lens, b) : p->m;
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const int64_t off = mask == ATTEST_MASK_CAUSAL_BR ? len - p->n : 0;
    const int64_t window = p->axis[ATTEST_AXIS_WINDOW].value ? (int64_t)p->axis[ATTEST_AXIS_WINDOW].order : 1 << 30;
    if (j >= len)
        return 0;
    if (mask == ATTEST_MASK_FULL)
        return llabs(i - j) < window;
    return j <= i + off && i + off - j < window;
}

/* The same with attn_mask. */
static inline int cases_shows(const cases_case *c, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const attest_problem *p = &c->parsed.problem;
    const attest_tensor *t = c->in.role[ATTEST_MASK];
    if (!t)
        return cases_sees(c, b, i, j);
    const int64_t heads = t->shape[1], at = (b % t->shape[0] * heads + h % heads) * p->n + i;
    return cases_sees(c, b, i, j) && ((const unsigned char *)t->data)[at * p->m + j];
}

static inline int cases_feature(mpq_t out, double x, uint32_t feature)
{
    mpq_set_d(out, x);
    if (feature == ATTEST_FEATURE_RELU && x < 0)
        mpq_set_ui(out, 0, 1);
    if (feature != ATTEST_FEATURE_ELU1)
        return 1;
    mpq_t one;
    mpq_init(one);
    mpq_set_ui(one, 1, 1);
    mpq_add(out, out, one);
    mpq_clear(one);
    return x >= 0;
}

static inline void cases_power(mpq_t out, const mpq_t x, int n, int divide)
{
    mpq_t one;
    mpq_init(one);
    mpq_set_ui(out, 1, 1);
    for (int k = 1; k <= n; k++) {
        mpq_mul(out, out, x);
        mpq_set_ui(one, 1, divide ? (unsigned long)k : 1);
        mpq_mul(out, out, one);
    }
    mpq_clear(one);
}

static inline void cases_weight(mpq_t out, const mpq_t x, const attest_setting *w)
{
    mpq_t term;
    mpq_init(term);
    mpq_set_ui(out, 0, 1);
    for (int n = w->value == ATTEST_WEIGHT_TAYLOR ? 0 : (int)w->order; n <= (int)w->order; n++) {
        cases_power(term, x, n, w->value != ATTEST_WEIGHT_POWER);
        mpq_add(out, out, term);
    }
    mpq_clear(term);
}

/* out *= the product of decays over t = from..to, of key dimension `channel` with decay=vector. */
static inline void cases_decay(mpq_t out, const cases_case *c, int64_t b, int64_t h, int64_t from, int64_t to,
                               int64_t channel)
{
    const attest_problem *p = &c->parsed.problem;
    const int64_t g = h / (p->hq / p->hkv);
    const uint32_t decay = p->axis[ATTEST_AXIS_DECAY].value;
    mpq_t x;
    mpq_init(x);
    for (int64_t t = from; decay && t <= to; t++) {
        const int64_t at = (b * p->hkv + g) * p->m + t;
        if (decay == ATTEST_DECAY_RETNET)
            mpq_set_d(x, attest_load(c->in.role[ATTEST_GAMMA], g));
        else
            mpq_set_d(x,
                      attest_load(c->in.role[ATTEST_DECAY], decay == ATTEST_DECAY_VECTOR ? at * p->d + channel : at));
        mpq_mul(out, out, x);
    }
    mpq_clear(x);
}

static inline double cases_gin(const cases_case *c, int64_t b, int64_t h, int64_t j)
{
    const attest_problem *p = &c->parsed.problem;
    const uint32_t gates = p->axis[ATTEST_AXIS_GATES].value;
    const int64_t g = h / (p->hq / p->hkv);
    if (gates != ATTEST_GATES_IN && gates != ATTEST_GATES_INOUT)
        return 1.0;
    return attest_load(c->in.role[ATTEST_GIN], (b * p->hkv + g) * p->m + j);
}

/* s -= slope |i+off-j|, or s += bias_ij, s = min(clamp, s) */
static inline void cases_steps(mpq_t s, const cases_case *c, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const attest_problem *p = &c->parsed.problem;
    const attest_tensor *lens = c->in.role[ATTEST_KV_LENS];
    const int64_t len = lens ? attest_load_int(lens, b) : p->m;
    const int64_t off = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR ? len - p->n : 0;
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    if (p->axis[ATTEST_AXIS_ALIBI].value) {
        static const int tops[5][4] = { { 8 }, { 8 }, { 4, 8 }, { 4, 8, 2 }, { 2, 4, 6, 8 } }; /* 2^-, of 1..4 heads */
        if (p->axis[ATTEST_AXIS_ALIBI].value == ATTEST_ALIBI_USUAL)
            mpq_set_ui(x, 1, 1ul << tops[p->hq][h]);
        else
            mpq_set_d(x, attest_load(c->in.role[ATTEST_SLOPE], h));
        mpq_set_si(y, llabs(i + off - j), 1);
        mpq_mul(x, x, y);
        mpq_sub(s, s, x);
    }
    if (p->axis[ATTEST_AXIS_BIAS].value) {
        const attest_tensor *t = c->in.role[ATTEST_BIAS];
        const int64_t heads = t->shape[1], at = (b % t->shape[0] * heads + h % heads) * p->n + i;
        mpq_set_d(x, attest_load(t, at * p->m + j));
        mpq_add(s, s, x);
    }
    mpq_set_d(x, p->axis[ATTEST_AXIS_CLAMP].number);
    if (p->axis[ATTEST_AXIS_CLAMP].value && mpq_cmp(s, x) > 0)
        mpq_set(s, x);
    mpq_clears(x, y, NULL);
}

/* s = scale * <phi(q_i), D_ij phi(k_j)> and its steps; 0 if a feature is not rational there. */
static inline int cases_score(mpq_t s, const cases_case *c, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const attest_problem *p = &c->parsed.problem;
    const uint32_t feature = p->axis[ATTEST_AXIS_FEATURE].value;
    const attest_tensor *q = c->in.role[ATTEST_Q], *k = c->in.role[ATTEST_K];
    const int64_t g = h / (p->hq / p->hkv);
    int rational = 1;
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    mpq_set_ui(s, 0, 1);
    for (int64_t a = 0; a < p->d; a++) {
        rational &= cases_feature(x, attest_load(q, ((b * p->hq + h) * p->n + i) * p->d + a), feature);
        rational &= cases_feature(y, attest_load(k, ((b * p->hkv + g) * p->m + j) * p->d + a), feature);
        mpq_mul(x, x, y);
        if (p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR)
            cases_decay(x, c, b, h, j + 1, i, a);
        mpq_add(s, s, x);
    }
    mpq_set_d(x, p->scale);
    mpq_mul(s, s, x);
    mpq_clears(x, y, NULL);
    cases_steps(s, c, b, h, i, j);
    return rational;
}

static inline double cases_v(const cases_case *c, int64_t b, int64_t h, int64_t j, int64_t channel)
{
    const attest_problem *p = &c->parsed.problem;
    const int64_t g = h / (p->hq / p->hkv);
    return attest_load(c->in.role[ATTEST_V], ((b * p->hkv + g) * p->m + j) * p->e + channel);
}

/* u, z += sum over all index tuples of scale^n/n! (scale^n) * product of phi(q) * h0, z0. */
static inline int cases_given(cases_truth *t, const cases_case *c, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = &c->parsed.problem;
    const attest_setting *w = &p->axis[ATTEST_AXIS_WEIGHT];
    const int64_t g = h / (p->hq / p->hkv);
    int rational = 1;
    mpq_t x, y, scale;
    mpq_inits(x, y, scale, NULL);
    mpq_set_d(scale, p->scale);
    for (int64_t a = 0; a < p->d; a++) /* degree 0 reads no feature, but asks for rational ones */
        rational &= cases_feature(y, attest_load(c->in.role[ATTEST_Q], ((b * p->hq + h) * p->n + i) * p->d + a),
                                  p->axis[ATTEST_AXIS_FEATURE].value);
    for (int n = w->value == ATTEST_WEIGHT_TAYLOR ? 0 : (int)w->order; n <= (int)w->order; n++) {
        int64_t rows = 1;
        for (int k = 0; k < n; k++)
            rows *= p->d;
        for (int64_t r = 0; r < rows; r++) {
            cases_power(x, scale, n, w->value != ATTEST_WEIGHT_POWER);
            for (int64_t k = 0, rest = r; k < n; k++, rest /= p->d) {
                const double q = attest_load(c->in.role[ATTEST_Q], ((b * p->hq + h) * p->n + i) * p->d + rest % p->d);
                cases_feature(y, q, p->axis[ATTEST_AXIS_FEATURE].value);
                mpq_mul(x, x, y);
            }
            cases_decay(x, c, b, h, 0, i, r); /* decay=vector: n = 1, row r is channel r */
            for (int64_t e = 0; e <= p->e; e++) {
                const int64_t row = (b * p->hkv + g) * rows + r;
                mpq_set_d(y, e < p->e ? attest_load(c->in.h0[n], row * p->e + e) : attest_load(c->in.z0[n], row));
                mpq_mul(y, y, x);
                mpq_ptr sum = e < p->e ? t->u[e] : t->z;
                mpq_add(sum, sum, y);
            }
        }
    }
    mpq_clears(x, y, scale, NULL);
    return rational;
}

static inline void cases_center(mpq_t c, uint32_t center, const mpq_t least, const mpq_t greatest)
{
    mpq_set_ui(c, 0, 1);
    if (center == ATTEST_CENTER_MAX)
        mpq_set(c, greatest);
    if (center == ATTEST_CENTER_MIN)
        mpq_set(c, least);
    if (center == ATTEST_CENTER_MID) {
        mpq_add(c, least, greatest);
        mpq_div_2exp(c, c, 1);
    }
}

/* update=delta, token by token. */
static inline void cases_delta(cases_truth *t, const cases_case *c, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = &c->parsed.problem;
    const int64_t g = h / (p->hq / p->hkv), head = b * p->hkv + g, d = p->d;
    const uint32_t feature = p->axis[ATTEST_AXIS_FEATURE].value;
    mpq_t *s = cases_rationals(d), x, y;
    mpq_inits(x, y, NULL);
    for (int64_t e = 0; e < p->e; e++) {
        for (int64_t a = 0; a < d; a++)
            mpq_set_d(s[a], c->in.h0[1] ? attest_load(c->in.h0[1], (head * d + a) * p->e + e) : 0.0);
        for (int64_t j = 0; j < p->m && cases_sees(c, b, i, j); j++) {
            mpq_t k, read;
            mpq_inits(k, read, NULL);
            for (int64_t a = 0; a < d; a++) {
                cases_decay(s[a], c, b, h, j, j, a);
                t->rational &= cases_feature(k, attest_load(c->in.role[ATTEST_K], (head * p->m + j) * d + a), feature);
                mpq_mul(x, k, s[a]);
                mpq_add(read, read, x);
            }
            mpq_set_d(x, cases_gin(c, b, h, j));
            mpq_set_d(y, cases_v(c, b, h, j, e));
            mpq_mul(x, x, y);
            mpq_sub(x, x, read);
            mpq_set_d(y, attest_load(c->in.role[ATTEST_BETA], head * p->m + j));
            mpq_mul(read, x, y);
            for (int64_t a = 0; a < d; a++) {
                cases_feature(k, attest_load(c->in.role[ATTEST_K], (head * p->m + j) * d + a), feature);
                mpq_mul(k, k, read);
                mpq_add(s[a], s[a], k);
            }
            t->empty = 0;
            mpq_clears(k, read, NULL);
        }
        for (int64_t a = 0; a < d; a++) {
            const double q = attest_load(c->in.role[ATTEST_Q], ((b * p->hq + h) * p->n + i) * d + a);
            t->rational &= cases_feature(x, q, feature);
            mpq_mul(x, x, s[a]);
            mpq_set_d(y, p->scale);
            mpq_mul(x, x, y);
            mpq_add(t->u[e], t->u[e], x);
        }
    }
    mpq_clears(x, y, NULL);
    cases_rationals_free(s, d);
}

/* u, z += D w (gin v, 1) of key j; nothing if the filter drops it. */
static inline void cases_key(cases_truth *t, const cases_case *c, int64_t b, int64_t h, int64_t i, int64_t j,
                             const mpq_t greatest)
{
    const attest_problem *p = &c->parsed.problem;
    mpq_t s, w, v;
    mpq_inits(s, w, v, NULL);
    cases_score(s, c, b, h, i, j);
    mpq_set_d(v, p->axis[ATTEST_AXIS_FILTER].number);
    mpq_sub(v, greatest, v);
    if (!p->axis[ATTEST_AXIS_FILTER].value || mpq_cmp(s, v) > 0) {
        mpq_sub(s, s, t->c);
        cases_weight(w, s, &p->axis[ATTEST_AXIS_WEIGHT]);
        if (p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_VECTOR)
            cases_decay(w, c, b, h, j + 1, i, 0);
        mpq_add(t->z, t->z, w);
        for (int64_t e = 0; e < p->e; e++) {
            mpq_set_d(v, cases_v(c, b, h, j, e));
            mpq_mul(v, v, w);
            mpq_set_d(s, cases_gin(c, b, h, j));
            mpq_mul(v, v, s);
            mpq_add(t->u[e], t->u[e], v);
        }
    }
    mpq_clears(s, w, v, NULL);
}

/* o = gout u/Z */
static inline void cases_output(cases_truth *t, const cases_case *c, int64_t b, int64_t h, int64_t i, int64_t visible)
{
    const attest_problem *p = &c->parsed.problem;
    const attest_setting *norm = &p->axis[ATTEST_AXIS_NORM];
    const uint32_t gates = p->axis[ATTEST_AXIS_GATES].value;
    mpq_t v;
    mpq_init(v);
    mpq_set_d(v, p->axis[ATTEST_AXIS_EPS].number);
    mpq_add(v, v, t->z);
    if (norm->value == ATTEST_NORM_NONE)
        mpq_set_ui(v, 1, 1);
    if (norm->value == ATTEST_NORM_LENGTH)
        mpq_set_ui(v, (unsigned long)visible, 1);
    if (norm->value == ATTEST_NORM_FLOOR) {
        mpq_set_d(v, norm->number);
        if (mpq_cmp(t->z, v) > 0)
            mpq_set(v, t->z);
    }
    t->defined = t->empty || mpq_sgn(v) != 0;
    for (int64_t e = 0; e < p->e && t->defined && !t->empty; e++)
        mpq_div(t->o[e], t->u[e], v);
    mpq_set_ui(v, 1, 1);
    if (gates > ATTEST_GATES_IN && !t->empty)
        mpq_set_d(v, attest_load(c->in.role[ATTEST_GOUT], (b * p->hq + h) * p->n + i));
    for (int64_t e = 0; e < p->e; e++)
        mpq_mul(t->o[e], t->o[e], v);
    mpq_clear(v);
}

static inline void cases_truth_open(cases_truth *t, const cases_case *c, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = &c->parsed.problem;
    const int add = p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_ADD;
    int64_t visible = 0;
    mpq_t s, least, greatest;
    mpq_inits(s, least, greatest, t->z, t->c, NULL);
    t->e = p->e;
    t->u = cases_rationals(p->e);
    t->o = cases_rationals(p->e);
    t->rational = t->empty = 1;
    for (int64_t j = 0; j < p->m && add; j++) {
        if (!cases_shows(c, b, h, i, j))
            continue;
        t->rational &= cases_score(s, c, b, h, i, j);
        if (t->empty || mpq_cmp(s, least) < 0)
            mpq_set(least, s);
        if (t->empty || mpq_cmp(s, greatest) > 0)
            mpq_set(greatest, s);
        t->empty = 0;
        visible++;
    }
    cases_center(t->c, p->axis[ATTEST_AXIS_CENTER].value, least, greatest);
    for (int64_t j = 0; j < p->m && add; j++)
        if (cases_shows(c, b, h, i, j))
            cases_key(t, c, b, h, i, j, greatest);
    if (!add)
        cases_delta(t, c, b, h, i);
    if (p->axis[ATTEST_AXIS_STATE].value) {
        t->rational &= !add || cases_given(t, c, b, h, i);
        t->empty = 0;
    }
    if (t->empty)
        t->rational = 1; /* nothing is read */
    cases_output(t, c, b, h, i, visible);
    mpq_clears(s, least, greatest, NULL);
}

static inline void cases_truth_close(cases_truth *t)
{
    cases_rationals_free(t->u, t->e);
    cases_rationals_free(t->o, t->e);
    mpq_clears(t->z, t->c, NULL);
}

#endif
