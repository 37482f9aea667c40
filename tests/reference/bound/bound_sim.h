/* bound_sim.h - small kernels in float for test_bound.c and test_judge.c: honest ones and broken ones. */
#ifndef BOUND_SIM_H
#define BOUND_SIM_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/tensor/tensor.h"
#include "props/draw/draw.h"
#include "reference/reference.h"

typedef struct sim {
    attest_case c;
    attest_bundle *bundle;
    attest_truth *truth;
    attest_tensor *o, *lse;
    float *q, *k, *v; /* of head 0 */
    int64_t n, m, d, e;
} sim;

typedef float (*sim_exp)(float x);

typedef struct sim_options {
    int64_t tile, splits; /* tile 0: one tile */
    int cast, cast_in_sum;
    sim_exp exp;
    float scale_factor;  /* 0 = 1; a wrong scale otherwise */
    int64_t dropped_key; /* key index + 1; 0 = none */
    int64_t order;       /* Taylor */
    int max_center;
} sim_options;

static inline float *sim_floats(const attest_bundle *bundle, attest_role role)
{
    const attest_tensor *t = attest_bundle_role(bundle, role);
    const int64_t count = attest_tensor_count(t);
    float *x = malloc((size_t)count * sizeof *x);
    for (int64_t j = 0; j < count; j++)
        x[j] = (float)attest_to_f64(t->dtype, attest_load_bits(t, j));
    return x;
}

/* Parses and draws; then the caller may change inputs before sim_ready(). */
static inline void sim_open(sim *s, const char *line)
{
    attest_error err;
    memset(s, 0, sizeof *s);
    ck_assert_msg(attest_case_parse(&s->c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    ck_assert_msg(attest_bundle_new(&s->bundle, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_draw_missing(s->bundle, &s->c, 0, 0, &err) == ATTEST_OK, "%s: %s", line, err.text);
    s->n = s->c.problem.n;
    s->m = s->c.problem.m;
    s->d = s->c.problem.d;
    s->e = s->c.problem.e;
}

static inline void sim_ready(sim *s)
{
    attest_error err;
    const attest_tensor_id o = { ATTEST_KIND_ROLE, ATTEST_O }, lse = { ATTEST_KIND_ROLE, ATTEST_LSE };
    ck_assert_msg(attest_bundle_add(s->bundle, &s->c.problem, o, 0, &s->o, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_bundle_add(s->bundle, &s->c.problem, lse, 0, &s->lse, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_truth_new(&s->truth, &s->c.problem, s->bundle, ATTEST_ENGINE_AUTO, &err) == ATTEST_OK, "%s",
                  err.text);
    s->q = sim_floats(s->bundle, ATTEST_Q);
    s->k = sim_floats(s->bundle, ATTEST_K);
    s->v = sim_floats(s->bundle, ATTEST_V);
}

static inline void sim_close(sim *s)
{
    attest_truth_free(s->truth);
    attest_bundle_free(s->bundle);
    free(s->q);
    free(s->k);
    free(s->v);
}

static inline void sim_put(const attest_tensor *t, int64_t index, double x)
{
    attest_store_bits(t, index, attest_from_f64(t->dtype, x));
}

/* Sets element (token, channel) of an input of head 0. */
static inline void sim_set(const sim *s, attest_role role, int64_t token, int64_t channel, double x)
{
    const attest_tensor *t = attest_bundle_role(s->bundle, role);
    sim_put(t, attest_offset(t, 0, 0, token, channel), x);
}

static inline float sim_score(const sim *s, int64_t i, int64_t j, const sim_options *x)
{
    float dot = 0;
    for (int64_t c = 0; c < s->d; c++)
        dot += s->q[i * s->d + c] * s->k[j * s->d + c];
    return dot * (float)s->c.problem.scale * (x->scale_factor != 0 ? x->scale_factor : 1);
}

static inline float sim_cast(float w) { return attest_bf16_to_f32(attest_bf16_from_f32(w)); }

/* Keys [first,last) online; unnormalised numerator in o. */
static inline void sim_online(float *o, float *peak, float *sum, const sim *s, int64_t i, int64_t first, int64_t last,
                              const sim_options *x)
{
    const int64_t tile = x->tile ? x->tile : s->m;
    float *w = malloc((size_t)tile * sizeof *w);
    *peak = -INFINITY;
    *sum = 0;
    for (int64_t c = 0; c < s->e; c++)
        o[c] = 0;
    for (int64_t t = first; t < last; t += tile) {
        const int64_t end = t + tile < last ? t + tile : last;
        float high = *peak;
        for (int64_t j = t; j < end; j++) {
            w[j - t] = sim_score(s, i, j, x);
            high = w[j - t] > high ? w[j - t] : high;
        }
        const float shrink = t == first ? 0 : x->exp(*peak - high);
        *sum *= shrink;
        for (int64_t c = 0; c < s->e; c++)
            o[c] *= shrink;
        for (int64_t j = t; j < end; j++) {
            const float p = j + 1 == x->dropped_key ? 0 : x->exp(w[j - t] - high);
            const float cast = x->cast ? sim_cast(p) : p;
            *sum += x->cast_in_sum ? cast : p;
            for (int64_t c = 0; c < s->e; c++)
                o[c] += cast * s->v[j * s->e + c];
        }
        *peak = high;
    }
    free(w);
}

static inline int64_t sim_keys(const sim *s, int64_t i)
{
    int64_t first, last;
    attest_visible(&s->c.problem, (attest_lengths){ s->m, s->c.problem.n }, i, &first, &last);
    return last;
}

/* Softmax by parts of online tiles, merged by their lse. */
static inline void sim_softmax(const sim *s, int64_t i, const sim_options *x)
{
    const int64_t keys = sim_keys(s, i), splits = x->splits ? x->splits : 1, part = (keys + splits - 1) / splits;
    float *o = malloc((size_t)(splits * s->e) * sizeof *o);
    float lse[64], high = -INFINITY, total = 0;
    int64_t used = 0;
    for (int64_t p = 0; p * part < keys; p++, used++) {
        float peak, sum;
        const int64_t last = (p + 1) * part < keys ? (p + 1) * part : keys;
        sim_online(o + p * s->e, &peak, &sum, s, i, p * part, last, x);
        for (int64_t c = 0; c < s->e; c++)
            o[p * s->e + c] /= sum;
        lse[p] = peak + logf(sum);
        high = lse[p] > high ? lse[p] : high;
    }
    if (used == 1) {
        sim_put(s->lse, i, (double)lse[0]);
        for (int64_t c = 0; c < s->e; c++)
            sim_put(s->o, i * s->e + c, (double)o[c]);
    } else {
        for (int64_t p = 0; p < used; p++)
            total += x->exp(lse[p] - high);
        sim_put(s->lse, i, (double)(high + logf(total)));
        for (int64_t c = 0; c < s->e; c++) {
            float y = 0;
            for (int64_t p = 0; p < used; p++)
                y += x->exp(lse[p] - high) * o[p * s->e + c];
            sim_put(s->o, i * s->e + c, (double)(y / total));
        }
    }
    free(o);
}

/* Taylor weights per pair, Horner. */
static inline void sim_taylor(const sim *s, int64_t i, const sim_options *x)
{
    const int64_t keys = sim_keys(s, i);
    float *w = malloc((size_t)keys * sizeof *w), center = -INFINITY, z = 0;
    for (int64_t j = 0; j < keys; j++) {
        w[j] = sim_score(s, i, j, x);
        center = w[j] > center ? w[j] : center;
    }
    for (int64_t j = 0; j < keys; j++) {
        const float y = x->max_center ? w[j] - center : w[j];
        float t = 1;
        for (int64_t n = x->order; n > 0; n--)
            t = 1 + t * y / (float)n;
        w[j] = t;
        z += t;
    }
    sim_put(s->lse, i, (double)((x->max_center ? center : 0) + logf(z)));
    for (int64_t c = 0; c < s->e; c++) {
        float y = 0;
        for (int64_t j = 0; j < keys; j++)
            y += w[j] * s->v[j * s->e + c];
        sim_put(s->o, i * s->e + c, (double)(y / z));
    }
    free(w);
}

/* Adds one degree's readout of states kept in h [rows,e+1] (the last column counts keys); updates it first. */
static inline void sim_degree(float *y, float *h, const sim *s, int64_t i, int n)
{
    const int64_t rows = attest_state_rows(s->d, n, 0), width = s->e + 1;
    float coef = 1;
    for (int k = 1; k <= n; k++)
        coef = coef * (float)s->c.problem.scale / (float)k;
    for (int64_t r = 0; r < rows; r++) {
        float key = 1, query = coef;
        int64_t rest = r;
        for (int k = 0; k < n; k++, rest /= s->d) {
            key *= s->k[i * s->d + rest % s->d];
            query *= s->q[i * s->d + rest % s->d];
        }
        for (int64_t c = 0; c < width; c++) {
            h[r * width + c] += c < s->e ? key * s->v[i * s->e + c] : key;
            y[c] += query * h[r * width + c];
        }
    }
}

/* All rows of a causal Taylor problem by its recurrence. */
static inline void sim_recurrent(const sim *s, int order)
{
    float *h[8], *y = malloc((size_t)(s->e + 1) * sizeof *y);
    for (int n = 0; n <= order; n++)
        h[n] = calloc((size_t)(attest_state_rows(s->d, n, 0) * (s->e + 1)), sizeof **h);
    for (int64_t i = 0; i < s->n; i++) {
        memset(y, 0, (size_t)(s->e + 1) * sizeof *y);
        for (int n = 0; n <= order; n++)
            sim_degree(y, h[n], s, i, n);
        for (int64_t c = 0; c < s->e; c++)
            sim_put(s->o, i * s->e + c, (double)(y[c] / y[s->e]));
        sim_put(s->lse, i, (double)logf(y[s->e]));
    }
    for (int n = 0; n <= order; n++)
        free(h[n]);
    free(y);
}

/* Judges row i of o or lse; ratios collected over all elements. */
typedef struct sim_tally {
    int64_t elements, above, undecided, unbounded;
    double worst;   /* ratio_hi */
    double least;   /* ratio_lo of the worst element */
    double sum_log; /* of bound/error where the error is not 0 */
    int64_t logs;
} sim_tally;

static inline void sim_judge(sim_tally *tally, const sim *s, const attest_numerics *numerics, uint32_t flags,
                             attest_role role, int64_t i)
{
    attest_error err;
    const attest_tensor_id id = { ATTEST_KIND_ROLE, (uint32_t)role };
    const int64_t count = role == ATTEST_O ? s->e : 1;
    attest_element *x = malloc((size_t)count * sizeof *x);
    const attest_status status = attest_judge_row(x, NULL, s->truth, numerics, flags, id,
                                                  role == ATTEST_O ? s->o : s->lse, (attest_row){ 0, 0, i }, &err);
    ck_assert_msg(status == ATTEST_OK, "judge: %s", err.text);
    for (int64_t c = 0; c < count; c++) {
        double terms = 0;
        for (int t = 0; t < ATTEST_TERM_COUNT; t++)
            terms += x[c].term[t];
        tally->elements++;
        tally->undecided += !x[c].decided;
        tally->unbounded += x[c].class == ATTEST_CLASS_UNBOUNDED;
        tally->above += !(x[c].ratio_hi <= 1);
        ck_assert_msg(terms <= x[c].bound * (1 + 1e-6), "terms %g above the bound %g", terms, x[c].bound);
        ck_assert_msg(x[c].error_lo <= x[c].error_hi && x[c].ratio_lo <= x[c].ratio_hi, "intervals turned round");
        if (!(x[c].ratio_hi <= tally->worst)) {
            tally->worst = x[c].ratio_hi;
            tally->least = x[c].ratio_lo;
        }
        if (x[c].ratio_hi > 0 && isfinite(x[c].ratio_hi)) {
            tally->sum_log -= log2(x[c].ratio_hi);
            tally->logs++;
        }
    }
    free(x);
}

#endif
