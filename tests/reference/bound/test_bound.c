/* Bounds hold for honest kernels, come close where theory says so, and catch broken kernels. */
#include <stdio.h>

#include "tests/reference/bound/bound_sim.h"

Suite *suite_bound(void);

static float exp_good(float x) { return expf(x); }
static float exp_defect(float x) { return expf(x) * (1 + 0x1p-16f * ((int)(x * 1000) % 2 ? 1.f : -1.f)); }
static float exp_two(float x) { return exp2f(x); }
static float exp_declared(float x) { return expf(x) * (1 + 0x1p-10f * (x < -0.5f ? 0.99f : -0.99f)); }
static float exp_log2(float x) { return exp2f(x * 1.44269504f); }

typedef enum sim_form { FORM_SOFTMAX, FORM_TAYLOR, FORM_RECURRENT } sim_form;

typedef struct honest {
    const char *name, *line;
    sim_form form;
    sim_options options;
    attest_numerics numerics;
} honest;

#define NUMERICS(...)                                                                                                  \
    {                                                                                                                  \
        .struct_size = sizeof(attest_numerics), __VA_ARGS__                                                            \
    }
#define PRECISE(e, q)                                                                                                  \
    .exp_error = (e), .div_error = (q), .log2_domain = ATTEST_NO, .scale_dtype = 1 + ATTEST_F32,                       \
    .p_rounding = ATTEST_ROUNDING_NEAREST
#define LIBM PRECISE(0x1p-23, 0x1p-24)
#define TWO_PASS NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_TWO_PASS)
#define ONLINE(b) NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = (b))

static const honest honest_table[] = {
    { "two-pass", "n=64 d=16", FORM_SOFTMAX, { .exp = exp_good }, TWO_PASS },
    { "two-pass causal", "mask=causal n=48 d=16", FORM_SOFTMAX, { .exp = exp_good }, TWO_PASS },
    { "two-pass wide", "n=32 m=256 d=64 e=8 family=normal:3", FORM_SOFTMAX, { .exp = exp_good }, TWO_PASS },
    { "two-pass huge", "n=32 m=128 d=8 family=huge", FORM_SOFTMAX, { .exp = exp_good }, TWO_PASS },
    { "two-pass negative", "n=32 m=128 d=8 family=negative", FORM_SOFTMAX, { .exp = exp_good }, TWO_PASS },
    { "two-pass unknown", "n=64 d=16", FORM_SOFTMAX, { .exp = exp_good }, NUMERICS(.schedule = 0) },
    { "two-pass flat", "n=64 d=16 family=flat", FORM_SOFTMAX, { .exp = exp_good }, TWO_PASS },
    { "two-pass log2",
      "n=64 d=16 family=normal:4",
      FORM_SOFTMAX,
      { .exp = exp_log2 },
      NUMERICS(.schedule = ATTEST_SCHEDULE_TWO_PASS, .exp_error = 0x1p-22) },
    { "online", "n=64 d=16 family=ramp-up", FORM_SOFTMAX, { .exp = exp_good, .tile = 8 }, ONLINE(8) },
    { "online 1", "n=64 d=16", FORM_SOFTMAX, { .exp = exp_good, .tile = 1 }, ONLINE(0) },
    { "online unknown",
      "n=64 d=16 family=ramp-up",
      FORM_SOFTMAX,
      { .exp = exp_good, .tile = 4 },
      NUMERICS(.schedule = 0) },
    { "split",
      "n=16 m=200 d=16 splits=5",
      FORM_SOFTMAX,
      { .exp = exp_good, .tile = 16, .splits = 5 },
      NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_SPLIT, .tile = 16, .splits = 5) },
    { "split unknown",
      "n=16 m=200 d=16 splits=5",
      FORM_SOFTMAX,
      { .exp = exp_good, .tile = 16, .splits = 5 },
      NUMERICS(.schedule = 0) },
    { "cast, uncast sum",
      "n=32 m=96 d=16 in=bf16 p=bf16 out=bf16",
      FORM_SOFTMAX,
      { .exp = exp_good, .cast = 1 },
      NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_TWO_PASS, .cast_in_sum = ATTEST_NO) },
    { "cast, cast sum",
      "n=32 m=96 d=16 in=bf16 p=bf16 out=f32",
      FORM_SOFTMAX,
      { .exp = exp_good, .cast = 1, .cast_in_sum = 1 },
      NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_TWO_PASS, .cast_in_sum = ATTEST_YES) },
    { "cast, unknown",
      "n=32 m=96 d=16 in=bf16 p=bf16 out=f32",
      FORM_SOFTMAX,
      { .exp = exp_good, .tile = 16, .cast = 1 },
      NUMERICS(.schedule = 0) },
    { "taylor 2",
      "variant=taylor:2 n=64 d=16",
      FORM_TAYLOR,
      { .order = 2 },
      NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_DIRECT) },
    { "taylor 5",
      "variant=taylor:5 n=32 d=8",
      FORM_TAYLOR,
      { .order = 5 },
      NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_DIRECT) },
    { "taylor 4 max",
      "variant=taylor:4 center=max n=32 d=16",
      FORM_TAYLOR,
      { .order = 4, .max_center = 1 },
      NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_DIRECT) },
    { "taylor 2 unknown", "variant=taylor:2 n=48 d=8", FORM_TAYLOR, { .order = 2 }, NUMERICS(.schedule = 0) },
    { "recurrent 2",
      "variant=taylor:2 mask=causal n=48 d=8 e=6",
      FORM_RECURRENT,
      { .order = 2 },
      NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_RECURRENT) },
    { "recurrent 3",
      "variant=taylor:3 mask=causal n=24 d=6 e=6",
      FORM_RECURRENT,
      { .order = 3 },
      NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_RECURRENT) },
    { "recurrent unknown",
      "variant=taylor:2 mask=causal n=48 d=8 e=6",
      FORM_RECURRENT,
      { .order = 2 },
      NUMERICS(.schedule = 0) },
};

static void run_rows(sim_tally *o, sim_tally *lse, const sim *s, sim_form form, const sim_options *options,
                     const attest_numerics *numerics, int64_t step)
{
    if (form == FORM_RECURRENT)
        sim_recurrent(s, (int)options->order);
    for (int64_t i = 0; i < s->n; i += step) {
        if (form == FORM_SOFTMAX)
            sim_softmax(s, i, options);
        else if (form == FORM_TAYLOR)
            sim_taylor(s, i, options);
        sim_judge(o, s, numerics, 0, ATTEST_O, i);
        sim_judge(lse, s, numerics, 0, ATTEST_LSE, i);
    }
}

START_TEST(honest_kernels_pass)
{
    for (size_t k = 0; k < sizeof honest_table / sizeof honest_table[0]; k++) {
        const honest *h = &honest_table[k];
        sim_tally o = { 0 }, lse = { 0 };
        for (int seed = 0; seed < 3; seed++) {
            char line[256];
            sim s;
            snprintf(line, sizeof line, "%s seed=%d", h->line, seed);
            sim_open(&s, line);
            sim_ready(&s);
            run_rows(&o, &lse, &s, h->form, &h->options, &h->numerics, 7);
            sim_close(&s);
        }
        printf("%-18s o: %5lld elements, worst %.3g, mean slack 2^%.1f; lse: worst %.3g, slack 2^%.1f\n", h->name,
               (long long)o.elements, o.worst, o.sum_log / (double)(o.logs ? o.logs : 1), lse.worst,
               lse.sum_log / (double)(lse.logs ? lse.logs : 1));
        ck_assert_msg(o.above == 0 && lse.above == 0, "%s: %lld elements of o, %lld of lse above their bound (%g, %g)",
                      h->name, (long long)o.above, (long long)lse.above, o.worst, lse.worst);
        ck_assert_msg(o.undecided + lse.undecided == 0, "%s: undecided elements", h->name);
        ck_assert_msg(o.unbounded == 0, "%s: no bound", h->name);
    }
}
END_TEST

typedef struct broken {
    const char *name, *line;
    sim_options options;
    attest_numerics numerics;
    double least; /* some ratio must be above it */
} broken;

static const broken broken_table[] = {
    { "exp off by 2^-16", "n=64 d=16", { .exp = exp_defect }, TWO_PASS, 1 },
    { "exp off by 2^-16, causal", "mask=causal n=64 d=16", { .exp = exp_defect }, TWO_PASS, 1 },
    { "2^s", "n=64 d=16", { .exp = exp_two }, TWO_PASS, 100 },
    { "2^s, unknown", "n=64 d=16", { .exp = exp_two }, NUMERICS(.schedule = 0), 100 },
    { "key dropped", "n=64 d=16", { .exp = exp_good, .dropped_key = 11 }, TWO_PASS, 100 },
    { "key dropped, unknown", "n=64 d=16", { .exp = exp_good, .dropped_key = 11 }, NUMERICS(.schedule = 0), 100 },
    { "no scale", "n=64 d=16", { .exp = exp_good, .scale_factor = 4 }, TWO_PASS, 100 },
    { "no scale, unknown", "n=64 d=16", { .exp = exp_good, .scale_factor = 4 }, NUMERICS(.schedule = 0), 100 },
    { "undeclared cast", "n=64 d=16", { .exp = exp_good, .cast = 1 }, TWO_PASS, 2 },
};

START_TEST(broken_kernels_fail)
{
    for (size_t k = 0; k < sizeof broken_table / sizeof broken_table[0]; k++) {
        const broken *h = &broken_table[k];
        sim_tally o = { 0 }, lse = { 0 };
        sim s;
        sim_open(&s, h->line);
        sim_ready(&s);
        run_rows(&o, &lse, &s, FORM_SOFTMAX, &h->options, &h->numerics, 1);
        sim_close(&s);
        printf("%-24s worst ratio %.3g, %lld of %lld above 1\n", h->name, o.worst, (long long)o.above,
               (long long)o.elements);
        ck_assert_msg(o.least > h->least, "%s: worst ratio only %g", h->name, o.least);
    }
}
END_TEST

/* One key at the maximum, all others just above a bf16 midpoint, v = 1, uncast denominator. */
START_TEST(cast_row_attains_its_bound)
{
    const attest_numerics numerics = NUMERICS(PRECISE(0x1p-52, 0x1p-53), .schedule = ATTEST_SCHEDULE_TWO_PASS,
                                              .cast_in_sum = ATTEST_NO);
    sim s;
    sim_tally tally = { 0 };
    double n = 1, z = 1;
    sim_open(&s, "n=1 m=4096 d=1 scale=1 acc=f64 p=bf16 out=f64");
    sim_set(&s, ATTEST_Q, 0, 0, 1);
    for (int64_t j = 0; j < s.m; j++) {
        const double score = (double)(float)(j ? log(0.5 * (1 + 0x1p-8 + 0x1p-20)) : 0), w = exp(score);
        sim_set(&s, ATTEST_K, j, 0, score);
        sim_set(&s, ATTEST_V, j, 0, 1);
        n += j ? attest_to_f64(ATTEST_BF16, attest_from_f64(ATTEST_BF16, w)) : 0;
        z += j ? w : 0;
    }
    sim_ready(&s);
    sim_put(s.o, 0, n / z);
    sim_judge(&tally, &s, &numerics, 0, ATTEST_O, 0);
    printf("cast row: ratio %.4f\n", tally.worst);
    ck_assert_msg(tally.worst <= 1 && tally.least >= 0.9, "ratio [%g,%g]", tally.least, tally.worst);
    sim_close(&s);
}
END_TEST

/* Rows made so that one term of the bound carries the error: the bound must hold, and not be slack without end.
 * A lemma that loses its term makes the ratio rise above 1 here. */
START_TEST(score_term_is_needed)
{
    const attest_numerics numerics = TWO_PASS;
    const sim_options options = { .exp = exp_good };
    sim_tally tally = { 0 };
    for (int seed = 0; seed < 4; seed++) {
        char line[128];
        sim s;
        snprintf(line, sizeof line, "n=1 m=8 d=32 scale=1 seed=%d", seed);
        sim_open(&s, line);
        for (int64_t c = 0; c < 16; c++) { /* 16 large products, then the same with the other sign: mass >> |s| */
            const attest_tensor *k = attest_bundle_role(s.bundle, ATTEST_K);
            sim_set(&s, ATTEST_Q, 0, c, 33.3);
            sim_set(&s, ATTEST_Q, 0, c + 16, -33.3);
            for (int64_t j = 0; j < 8; j++) {
                const double x = attest_load(k, attest_offset(k, 0, 0, j, c));
                sim_set(&s, ATTEST_K, j, c, x < 0 ? -x : x);
                sim_set(&s, ATTEST_K, j, c + 16, x < 0 ? -x : x);
            }
        }
        sim_ready(&s);
        sim_softmax(&s, 0, &options);
        sim_judge(&tally, &s, &numerics, 0, ATTEST_O, 0);
        sim_close(&s);
    }
    printf("score row: ratio %.4f\n", tally.worst);
    ck_assert_msg(tally.worst <= 1 && tally.worst > 0.02, "ratio %g", tally.worst);
}
END_TEST

START_TEST(exp_term_is_needed)
{
    const attest_numerics numerics = NUMERICS(PRECISE(0x1p-10, 0x1p-24), .schedule = ATTEST_SCHEDULE_TWO_PASS);
    const sim_options options = { .exp = exp_declared };
    sim_tally tally = { 0 }, lse = { 0 };
    sim s;
    sim_open(&s, "n=16 m=16 d=4");
    sim_ready(&s);
    run_rows(&tally, &lse, &s, FORM_SOFTMAX, &options, &numerics, 1);
    sim_close(&s);
    printf("exp row: ratio %.4f\n", tally.worst);
    ck_assert_msg(tally.worst <= 1 && tally.worst > 0.6, "ratio %g", tally.worst);
}
END_TEST

/* Equal scores and v whose running sum always rounds the same way. */
START_TEST(sum_term_is_needed)
{
    const attest_numerics numerics = TWO_PASS;
    const sim_options options = { .exp = exp_good };
    sim_tally tally = { 0 };
    sim s;
    sim_open(&s, "n=1 m=1024 d=1 e=4 family=flat");
    for (int64_t j = 0; j < s.m; j++)
        for (int64_t c = 0; c < 4; c++)
            sim_set(&s, ATTEST_V, j, c, j < 512 ? 1 : 1 + (double)(c + 5) * 0x1p-17);
    sim_ready(&s);
    sim_softmax(&s, 0, &options);
    sim_judge(&tally, &s, &numerics, 0, ATTEST_O, 0);
    sim_close(&s);
    printf("sum row: ratio %.4f\n", tally.worst);
    ck_assert_msg(tally.worst <= 1 && tally.worst > 0.02, "ratio %g", tally.worst);
}
END_TEST

/* Two equal weights, o half way between two bf16 numbers. */
START_TEST(output_rounding_is_needed)
{
    const attest_numerics numerics = TWO_PASS;
    const sim_options options = { .exp = exp_good };
    sim_tally tally = { 0 };
    sim s;
    sim_open(&s, "n=1 m=2 d=1 e=1 family=flat in=bf16");
    sim_set(&s, ATTEST_V, 0, 0, 1);
    sim_set(&s, ATTEST_V, 1, 0, 1 + 0x1p-7);
    sim_ready(&s);
    sim_softmax(&s, 0, &options);
    sim_judge(&tally, &s, &numerics, 0, ATTEST_O, 0);
    sim_close(&s);
    printf("output row: ratio %.4f\n", tally.worst);
    ck_assert_msg(tally.worst <= 1 && tally.least > 0.9, "ratio [%g,%g]", tally.least, tally.worst);
}
END_TEST

/* Two keys with scores 1/2 and -1/4, v = 1 and -2, scale 1: each term against its closed form, first order. */
typedef struct two_keys {
    double w[2], o, z;
} two_keys;

static attest_element two_keys_judged(two_keys *t, const char *line, const attest_numerics *numerics)
{
    static const double s[2] = { 0.5, -0.25 }, v[2] = { 1, -2 };
    attest_error err;
    attest_element y;
    const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_O };
    sim x;
    sim_open(&x, line);
    sim_set(&x, ATTEST_Q, 0, 0, 1);
    for (int j = 0; j < 2; j++) {
        sim_set(&x, ATTEST_K, j, 0, s[j]);
        sim_set(&x, ATTEST_V, j, 0, v[j]);
        t->w[j] = numerics->schedule == ATTEST_SCHEDULE_TWO_PASS ? exp(s[j])
                                                                 : 1 + s[j] + s[j] * s[j] / 2 + s[j] * s[j] * s[j] / 6;
    }
    t->z = t->w[0] + t->w[1];
    t->o = (t->w[0] * v[0] + t->w[1] * v[1]) / t->z;
    sim_ready(&x);
    ck_assert_msg(attest_judge_row(&y, NULL, x.truth, numerics, 0, id, x.o, (attest_row){ 0, 0, 0 }, &err) == ATTEST_OK,
                  "%s", err.text);
    sim_close(&x);
    return y;
}

static void near(const char *what, double got, double want)
{
    ck_assert_msg(got > 0.999 * want && got < 1.001 * want, "%s: term %.6g, closed form %.6g", what, got, want);
}

START_TEST(terms_have_their_closed_forms)
{
    const double u = 0x1p-24, t2[2] = { 1.625, 1.28125 };               /* T_2(|s|) */
    const double t3[2] = { 1.625 + 0.125 / 6, 1.28125 + 0.015625 / 6 }; /* T_3(|s|) */
    two_keys t;
    attest_numerics n = NUMERICS(PRECISE(0x1p-60, 0x1p-24), .schedule = ATTEST_SCHEDULE_TWO_PASS);
    attest_element y = two_keys_judged(&t, "n=1 m=2 d=1 e=1 scale=1", &n);
    const double far0 = fabs(1 - t.o) * t.w[0] / t.z, far1 = fabs(-2 - t.o) * t.w[1] / t.z;
    near("softmax score", y.term[ATTEST_TERM_SCORE], u * (0.5 * far0 + 0.25 * far1));
    near("softmax exp", y.term[ATTEST_TERM_EXP], u * 0.75 * far1);
    near("softmax sums", y.term[ATTEST_TERM_ACCUMULATION], 4 * u * (t.w[0] / t.z + 2 * t.w[1] / t.z + fabs(t.o)));
    near("softmax division", y.term[ATTEST_TERM_DIVISION], u * fabs(t.o));
    n.log2_domain = ATTEST_YES;
    y = two_keys_judged(&t, "n=1 m=2 d=1 e=1 scale=1", &n);
    near("softmax exp, base 2", y.term[ATTEST_TERM_EXP], u * (3 * 0.75 * far1 + 0.5 * (far0 + far1)));
    n.log2_domain = ATTEST_NO;
    n.schedule = ATTEST_SCHEDULE_DIRECT;
    y = two_keys_judged(&t, "variant=taylor:3 n=1 m=2 d=1 e=1 scale=1", &n);
    const double d0 = fabs(1 - t.o) / t.z, d1 = fabs(-2 - t.o) / t.z;
    near("taylor score", y.term[ATTEST_TERM_SCORE], u * (0.5 * t2[0] * d0 + 0.25 * t2[1] * d1));
    near("taylor weights", y.term[ATTEST_TERM_EXP], 12 * u * (t3[0] * d0 + t3[1] * d1));
    n.schedule = ATTEST_SCHEDULE_RECURRENT;
    y = two_keys_judged(&t, "variant=taylor:3 n=1 m=2 d=1 e=1 scale=1", &n);
    near("states", y.term[ATTEST_TERM_ACCUMULATION],
         (2 + 4 + 5 * 3 + 7 + 1) * u * (t3[0] + 2 * t3[1] + fabs(t.o) * (t3[0] + t3[1])) / t.z);
    ck_assert_msg(y.term[ATTEST_TERM_SCORE] < 1e-30 && y.term[ATTEST_TERM_CAST] < 1e-30, "no weight per pair: %g, %g",
                  y.term[ATTEST_TERM_SCORE], y.term[ATTEST_TERM_CAST]);
}
END_TEST

START_TEST(declarations_move_their_terms)
{
    static const char line[] = "n=1 m=2 d=1 e=1 scale=1", half[] = "n=1 m=2 d=1 e=1 scale=1 p=f16";
    const attest_numerics base = NUMERICS(PRECISE(0x1p-60, 0x1p-24), .schedule = ATTEST_SCHEDULE_TWO_PASS,
                                          .cast_in_sum = ATTEST_NO);
    const double u = 0x1p-24;
    two_keys t;
    attest_numerics n = base;
    const attest_element y = two_keys_judged(&t, line, &n);
    const double values = (t.w[0] + 2 * t.w[1]) / t.z;
    n.acc_truncates = ATTEST_YES;
    attest_element x = two_keys_judged(&t, line, &n);
    near("truncation, score", x.term[ATTEST_TERM_SCORE], 6 * y.term[ATTEST_TERM_SCORE]);
    near("truncation, exponent", x.term[ATTEST_TERM_EXP], 2 * y.term[ATTEST_TERM_EXP]);
    n = base;
    n.acc_unit = 0x1p-20;
    x = two_keys_judged(&t, line, &n);
    near("accumulator, score", x.term[ATTEST_TERM_SCORE], 16 * y.term[ATTEST_TERM_SCORE]);
    near("accumulator, exponent", x.term[ATTEST_TERM_EXP], y.term[ATTEST_TERM_EXP]);
    n = base;
    x = two_keys_judged(&t, half, &n); /* cast to f16: relative 2^-11, absolute 2^-25 of the largest weight */
    near("cast", x.term[ATTEST_TERM_CAST], 0x1p-11 * values + 0x1p-25 * 3 * t.w[0] / t.z);
    n.p_rounding = ATTEST_ROUNDING_UNKNOWN;
    near("truncating cast", two_keys_judged(&t, half, &n).term[ATTEST_TERM_CAST], 2 * x.term[ATTEST_TERM_CAST]);
    n = base;
    n.cast_in_sum = ATTEST_YES; /* then it only moves weights against each other */
    near("cast in the sum", two_keys_judged(&t, half, &n).term[ATTEST_TERM_CAST],
         (fabs(1 - t.o) * (0x1p-11 * t.w[0] + 0x1p-25 * t.w[0]) +
          fabs(-2 - t.o) * (0x1p-11 * t.w[1] + 0x1p-25 * t.w[0])) /
             t.z);
    n = base;
    n.div_error = 0;
    near("unknown division", two_keys_judged(&t, line, &n).term[ATTEST_TERM_DIVISION], 5 * u * fabs(t.o));
    n = base;
    n.exp_error = 0; /* 9u beside the exponent's own rounding */
    near("unknown exp", two_keys_judged(&t, line, &n).term[ATTEST_TERM_EXP],
         u * (9 * fabs(1 - t.o) * t.w[0] + 9.75 * fabs(-2 - t.o) * t.w[1]) / t.z);
    n = base;
    n.scale_dtype = 1 + ATTEST_BF16; /* 0.30078125: d products, the scale's product, its rounding */
    x = two_keys_judged(&t, "n=1 m=2 d=1 e=1 scale=0.3", &n);
    n.scale_dtype = 1 + ATTEST_F64;
    const attest_element exact = two_keys_judged(&t, "n=1 m=2 d=1 e=1 scale=0.3", &n);
    near("scale", x.term[ATTEST_TERM_SCORE], (1 + 0.00078125 / 0.3 / (2 * u)) * exact.term[ATTEST_TERM_SCORE]);
}
END_TEST

/* Equal scores of two keys: the sum is exactly 2, so all error of lse is the logarithm's and the roundings after it. */
START_TEST(lse_roundings_are_counted)
{
    attest_error err;
    attest_element y[3];
    const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_LSE };
    const attest_numerics n = NUMERICS(PRECISE(0x1p-60, 0x1p-60), .schedule = ATTEST_SCHEDULE_TWO_PASS);
    const attest_numerics base = NUMERICS(.exp_error = 0x1p-60, .div_error = 0x1p-60, .log2_domain = ATTEST_YES,
                                          .schedule = ATTEST_SCHEDULE_TWO_PASS);
    sim s;
    sim_open(&s, "n=1 m=2 d=1 e=1 family=flat");
    sim_ready(&s);
    sim_put(s.lse, 0, 0.69314718055994531 + 8 * 0x1p-24);
    ck_assert(attest_judge_row(&y[0], NULL, s.truth, &n, 0, id, s.lse, (attest_row){ 0, 0, 0 }, &err) == ATTEST_OK);
    ck_assert_msg(y[0].ratio_hi <= 1 && y[0].ratio_lo > 0.2, "a logarithm of 8u: ratio %g", y[0].ratio_hi);
    ck_assert(attest_judge_row(&y[1], NULL, s.truth, &base, 0, id, s.lse, (attest_row){ 0, 0, 0 }, &err) == ATTEST_OK);
    ck_assert(attest_judge_row(&y[2], NULL, s.truth, &base, ATTEST_LSE_BASE2, id, s.lse, (attest_row){ 0, 0, 0 },
                               &err) == ATTEST_OK);
    ck_assert_msg(y[2].bound > 1.44 * y[1].bound, "base 2: bound %g, base e: %g", y[2].bound, y[1].bound);
    sim_close(&s);
    const attest_numerics split = NUMERICS(PRECISE(0x1p-60, 0x1p-60), .schedule = ATTEST_SCHEDULE_SPLIT, .splits = 2);
    sim_open(&s, "n=1 m=2 d=1 e=1 scale=1"); /* scores of 100: a merge is worth about 6u 100, in the weights and here */
    sim_set(&s, ATTEST_Q, 0, 0, 1);
    for (int64_t j = 0; j < 2; j++)
        sim_set(&s, ATTEST_K, j, 0, 100);
    sim_ready(&s);
    ck_assert(attest_judge_row(&y[0], NULL, s.truth, &split, ATTEST_SERIAL_SUMS, id, s.lse, (attest_row){ 0, 0, 0 },
                               &err) == ATTEST_OK);
    ck_assert_msg(y[0].bound > 1200 * 0x1p-24 && y[0].bound < 2000 * 0x1p-24, "merged lse: %g u", y[0].bound * 0x1p24);
    sim_close(&s);
}
END_TEST

/* elu1 of a double rounded to float: e^x moves by u |x|, far above the exponential's own error. */
START_TEST(narrowed_feature_is_counted)
{
    attest_error err;
    attest_element y;
    attest_tensor *z;
    const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_Z };
    const attest_numerics numerics = NUMERICS(LIBM, .schedule = ATTEST_SCHEDULE_DIRECT);
    sim s;
    sim_open(&s, "variant=linear-elu n=1 m=1 d=1 e=1 scale=1 in=f64 acc=f32 p=f32 out=f32");
    sim_set(&s, ATTEST_Q, 0, 0, -50 - 0x1.fp-20);
    sim_set(&s, ATTEST_K, 0, 0, 1);
    sim_ready(&s);
    ck_assert(attest_bundle_add(s.bundle, &s.c.problem, id, 0, &z, &err) == ATTEST_OK);
    sim_put(z, 0, 2 * exp(-50.0));
    ck_assert(attest_judge_row(&y, NULL, s.truth, &numerics, 0, id, z, (attest_row){ 0, 0, 0 }, &err) == ATTEST_OK);
    ck_assert_msg(y.ratio_hi <= 1, "ratio %g", y.ratio_hi);
    sim_close(&s);
}
END_TEST

Suite *suite_bound(void)
{
    Suite *suite = suite_create("bound");
    TCase *c = tcase_create("bound");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, honest_kernels_pass);
    tcase_add_test(c, broken_kernels_fail);
    tcase_add_test(c, cast_row_attains_its_bound);
    tcase_add_test(c, score_term_is_needed);
    tcase_add_test(c, exp_term_is_needed);
    tcase_add_test(c, sum_term_is_needed);
    tcase_add_test(c, output_rounding_is_needed);
    tcase_add_test(c, terms_have_their_closed_forms);
    tcase_add_test(c, declarations_move_their_terms);
    tcase_add_test(c, lse_roundings_are_counted);
    tcase_add_test(c, narrowed_feature_is_counted);
    suite_add_tcase(suite, c);
    return suite;
}
