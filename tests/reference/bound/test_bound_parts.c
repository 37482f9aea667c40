/* test_bound_parts.c - the parts of a bound one by one: the constants of a declared model, a row's quantities, against
 * the formulas of derivations.md in plain doubles. */
#include "tests/reference/bound/bound_row.h"

Suite *suite_bound_parts(void);

/* ---- a declared model ---------------------------------------------------------------------------------------------
 */
START_TEST(tools)
{
    mag_t x, y, z;
    mag_init(x);
    mag_init(y);
    mag_init(z);
    mag_set_ui_2exp_si(x, 1, -10);
    bound_gamma(z, 100, x);
    is("u = 2^-10", "gamma_100", z, gamma_of(100, 0x1p-10));
    bound_gamma(z, 1024, x);
    ck_assert_msg(mag_is_inf(z), "n u = 1 has no bound");
    mag_set_d(x, 0.5);
    mag_set_d(y, 0.25);
    bound_compose(z, x, y);
    is("1.5 * 1.25 - 1", "composed", z, 0.875);
    bound_tiny(z, ATTEST_F32, 0);
    is("f32", "half the least subnormal", z, ETA);
    bound_tiny(z, ATTEST_F16, ATTEST_FTZ);
    is("f16, flushed", "least normal", z, 0x1p-14);
    mag_clear(x);
    mag_clear(y);
    mag_clear(z);
}
END_TEST

/* Fields that a line and declarations lead to; 0 in the table: not looked at. */
typedef struct model_row {
    const char *line;
    attest_numerics numerics;
    uint32_t flags;
    double u_exp, u_log, u_div, u_cast, tiny_cast, score, feature, feature_tiny, room;
    int64_t rows;
} model_row;

static const model_row models[] = {
    { "d=8", { 0 }, 0, 9 * U, 9 * U, 5 * U, 0, 0, 0, 0, 0, 2.8284271247461903, 0 },
    { "d=8 scale=1", { .exp_error = 3 * U, .div_error = U }, 0, 3 * U, 9 * U, U, 0, 0, 8 * U, 0, 0, 1, 0 },
    { "d=8 scale=0.1", { 0 }, 0, 0, 0, 0, 0, 0, 14 * U, 0, 0, 10, 0 }, /* a root and a division */
    { "d=8 scale=0.1", { .scale_dtype = 1 + ATTEST_F32 }, 0, 0, 0, 0, 0, 0, 9.24995 * U, 0, 0, 10, 0 }, /* 0.1f */
    { "d=8 scale=0.5",
      { .scale_dtype = 1 + ATTEST_BF16, .log2_domain = ATTEST_NO },
      0,
      0,
      0,
      0,
      0,
      0,
      9 * U,
      0,
      0,
      2,
      0 },
    { "d=8 scale=0.5",
      { .scale_dtype = 1 + ATTEST_BF16 },
      0,
      0,
      0,
      0,
      0,
      0,
      0x1p-8 + 9 * U,
      0,
      0,
      2,
      0 }, /* log2(e)/2 */
    { "d=8 scale=1", { .acc_truncates = ATTEST_YES }, 0, 18 * U, 18 * U, 10 * U, 0, 0, 48 * U, 0, 0, 0, 0 },
    { "d=8 scale=1", { .acc_unit = U / 1024 }, 0, 0, 0, 0, 0, 0, U + 8 * U / 1024, 0, 0, 0, 0 },
    { "d=8 p=bf16", { .p_rounding = ATTEST_ROUNDING_NEAREST }, 0, 0, 0, 0, 0x1p-8, 0x1p-134, 0, 0, 0, 0, 0 },
    { "d=8 p=f16", { 0 }, 0, 0, 0, 0, 0x1p-10, 0x1p-24, 0, 0, 0, 0, 0 },
    { "variant=linear-elu d=8 scale=1", { 0 }, 0, 0, 0, 0, 0, 0, 8 * U, 10 * U, 12 * U, 0, 9 - 1 },
    { "variant=linear-elu d=8 scale=1",
      { .schedule = ATTEST_SCHEDULE_DIRECT, .exp_error = U, .log2_domain = ATTEST_NO },
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      2 * U,
      LEAST,
      0,
      0 },
    { "variant=linear-elu d=8 scale=1",
      { .schedule = ATTEST_SCHEDULE_DIRECT, .exp_error = U },
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      2 * U,
      2 * U,
      0,
      0 },
    /* an undeclared kernel may add 1 to its expm1 */
    { "variant=linear-elu d=8 scale=1", { .exp_error = U }, 0, 0, 0, 0, 0, 0, 0, 2 * U, 12 * U, 0, 0 },
    { "d=8", { 0 }, ATTEST_FTZ, 0, 0, 0, 0, 0, 0, 0, LEAST, 0, 0 },
    { "d=8 in=f64 acc=f32 p=f32 out=f32", { 0 }, 0, 0, 0, 0, 0, 0, 0, U, ETA, 0, 0 },
    { "variant=taylor:2 d=3", { 0 }, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 + 3 + 9 },
    { "variant=taylor:2 d=3", { 0 }, ATTEST_PACKED_STATE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 + 3 + 6 },
};

START_TEST(declared_models)
{
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        const model_row *r = &models[k];
        ball_case x;
        bound_model m;
        ball_case_start(&x, r->line, 0);
        bound_model_init(&m);
        ck_assert(bound_model_set(&m, &x.in, &r->numerics, r->flags));
        const struct {
            const char *name;
            mag_srcptr got;
            double want;
        } fields[] = { { "u_exp", m.u_exp, r->u_exp },
                       { "u_log", m.u_log, r->u_log },
                       { "u_div", m.u_div, r->u_div },
                       { "u_cast", m.u_cast, r->u_cast },
                       { "tiny_cast", m.tiny_cast, r->tiny_cast },
                       { "score", m.score, r->score },
                       { "feature", m.feature, r->feature },
                       { "feature_tiny", m.feature_tiny, r->feature_tiny },
                       { "room", m.room, r->room } };
        for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
            const double x_got = value_of(fields[f].got); /* first order: (1+u)^2 - 1 is 2u to 1e-5 */
            ck_assert_msg(fields[f].want <= 0 || (x_got >= fields[f].want && x_got <= fields[f].want * (1 + 1e-5)),
                          "%s: %s is %.9g, not %.9g", r->line, fields[f].name, x_got, fields[f].want);
        }
        ck_assert_msg(r->rows == 0 || m.rows == r->rows, "%s: %lld rows", r->line, (long long)m.rows);
        bound_model_clear(&m);
        ball_case_stop(&x);
    }
}
END_TEST

/* ---- a row ------------------------------------------------------------------------------------------------------ */
static double most(const double *x) { return fmax(x[0], fmax(x[1], x[2])); }

#define AFTER_TWO_PASSES .schedule = ATTEST_SCHEDULE_TWO_PASS, .log2_domain = ATTEST_NO, .scale_dtype = 1

START_TEST(weights_of_exp)
{
    static const struct {
        attest_numerics n;
        double kappa, fixed_u, scale, sums; /* fixed_u: u max|s| counted; errors of the scale; roundings of sums */
    } table[] = {
        { { .schedule = ATTEST_SCHEDULE_TWO_PASS, .log2_domain = ATTEST_NO, .scale_dtype = 1 }, 1, 0, U, 4 },
        { { .schedule = ATTEST_SCHEDULE_TWO_PASS, .log2_domain = ATTEST_YES, .scale_dtype = 1 }, 3, 1, U, 4 },
        { { .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 1, .log2_domain = ATTEST_YES }, 3, 2, 6 * U, 4 + 3 },
        { { .schedule = ATTEST_SCHEDULE_TWO_PASS, .log2_domain = ATTEST_NO, .block = 1 }, 1, 0, 6 * U, 4 },
        { { .schedule = ATTEST_SCHEDULE_TWO_PASS, .log2_domain = ATTEST_NO, .div_error = U }, 1, 0, 5 * U, 4 },
        { { .division = ATTEST_DIVISION_AFTER_SUM, AFTER_TWO_PASSES }, 1, 0, U, 4 },
        { { .division = ATTEST_DIVISION_THEN_CAST, AFTER_TWO_PASSES }, 1, 0, U, 4 },
        { { .division = ATTEST_DIVISION_AFTER_CAST, AFTER_TWO_PASSES }, 1, 0, U, 4 },
        { { .division = ATTEST_DIVISION_RUNNING, AFTER_TWO_PASSES }, 1, 0, U, 3 * 3 + 1 },
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        const double rescales = table[t].n.schedule == ATTEST_SCHEDULE_ONLINE ? 3 : 0;
        double delta[3], all[3];
        row_case r;
        row_start(&r, "n=1 m=3 d=2 e=1 scale=0.5", &table[t].n, 0, 1);
        const int first = table[t].n.division != ATTEST_DIVISION_AFTER_SUM;
        const double s = both(gamma_of(2, U), table[t].scale), division = table[t].n.div_error > 0 ? U : 5 * U;
        for (int j = 0; j < 3; j++) {
            delta[j] = s * mass[j];
            is("exp", "delta", r.w.delta + j, delta[j]);
            all[j] = fabs(score[j]) + delta[j];
        }
        const double dmax = most(delta), z = exp(score[0]) + exp(score[1]) + exp(score[2]);
        const double growth = gamma_of(1 + rescales, 9 * U), unit = exp(0.5 + dmax);
        is("exp", "score_max", r.w.score_max, most(all));
        is("exp", "unit", r.w.unit, unit);
        is("exp", "inverse", r.w.inverse, exp(-0.5 + dmax));
        const double g = both(gamma_of(table[t].sums, U), division);
        is("exp", "gamma_sum", r.w.gamma_sum, g);
        is("exp", "lost", r.w.lost, 4 * ETA * (unit + first * z) * (3 + rescales + 2));
        for (int j = 0; j < 3; j++) {
            const double w = exp(score[j]), x = 0.5 - score[j] + delta[j] + dmax;
            const double rest = both(expm1(gamma_of(table[t].kappa, U) * x + table[t].fixed_u * U * most(all)), growth);
            const double a = w * expm1(delta[j]), b = (w + a) * rest;
            is("exp", "score part", r.w.set[BOUND_SCORE] + j, a);
            is("exp", "exp part", r.w.set[BOUND_EXP] + j, b);
            is("exp", "coefficient of the sum", r.w.set[BOUND_SUM] + j, g * (w + a + b) + first * ETA * z);
        }
        row_stop(&r);
    }
}
END_TEST

/* What an undeclared kernel may do besides: merges, an output without a common shift, sinks, eps, casts. */
START_TEST(additions_to_exp)
{
    const attest_numerics split = {
        .schedule = ATTEST_SCHEDULE_SPLIT, .splits = 2, .tile = 3, .log2_domain = ATTEST_NO, .scale_dtype = 1
    };
    const attest_numerics any = { .scale_dtype = 1 }, plain = { AFTER_TWO_PASSES },
                          after = { .division = ATTEST_DIVISION_AFTER_SUM, AFTER_TWO_PASSES };
    const double s = gamma_of(3, U), top = 3.25 + s * 3.25, log4 = log(4),
                 z = exp(score[0]) + exp(score[1]) + exp(score[2]);
    row_case r;
    row_start(&r, "n=1 m=3 d=2 e=1 scale=0.5", &split, 0, 1);
    const double merge = 6 * U * (top + log4) + 9 * U * (1 + log4);
    is("split", "merge", r.w.merge, 2 * merge); /* an lse of lse's */
    ck_assert(r.w.merges == 2 && r.w.logs == 2 && r.w.rescales == 3);
    is("split", "gamma_sum", r.w.gamma_sum, both(gamma_of(4 + 3 + 2 * 2 + 2, U), gamma_of(2, 5 * U)));
    row_stop(&r);
    row_start(&r, "n=1 m=3 d=2 e=1 scale=0.5", &split, ATTEST_SERIAL_SUMS, 1);
    is("split in order", "merge", r.w.merge, merge);
    row_stop(&r);
    row_start(&r, "n=1 m=3 d=2 e=1 scale=0.5 splits=3", &any, 0, 1);
    is("unknown", "merge", r.w.merge, 3 * (12 * U * (top + log4) + 9 * U * (1 + log4)));
    row_stop(&r);
    row_start(&r, "n=1 m=3 d=2 e=1 scale=0.5", &plain, 0, 0);
    const double x = 0.5 - score[1] + s * 3.25 + s * 3.25, w = exp(score[1]) * exp(s * 3.25);
    is("plain", "exp part", r.w.set[BOUND_EXP] + 1,
       w * both(both(expm1(gamma_of(1, U) * x + gamma_of(2, U) * top), gamma_of(2, 9 * U)), U));
    row_stop(&r);
    row_start(&r, "variant=softmax1 n=1 m=3 d=2 e=1 scale=0.5", &plain, 0, 1); /* sink 0, below the top */
    within("sink", "extra", r.w.extra_error,
           both(expm1(gamma_of(1, U) * (0.5 + log4 + s * 3.25) + merge), gamma_of(1, 9 * U)), 1e-5);
    row_stop(&r);
    row_start(&r, "n=1 m=3 d=2 e=1 scale=0.5 eps=3", &plain, 0, 1);
    is("eps", "extra", r.w.extra_error,
       3 * both(both(expm1(gamma_of(1, U) * top), gamma_of(1, 9 * U)), gamma_of(2, U)));
    row_stop(&r);
    row_start(&r, "n=1 m=3 d=2 e=1 scale=0.5 p=f16", &after, 0, 1); /* not said to round to nearest: twice */
    const double size = value_of(r.w.size + 1) + value_of(r.w.set[BOUND_SCORE] + 1) + value_of(r.w.set[BOUND_EXP] + 1);
    is("cast", "cast part", r.w.set[BOUND_CAST] + 1, 0x1p-10 * size + 0x1p-24 * exp(0.5 + s * 3.25));
    row_stop(&r);
    row_start(&r, "n=1 m=3 d=2 e=1 scale=0.5 p=f16", &plain, 0, 1); /* may divide first */
    is("cast", "cast part, divided first", r.w.set[BOUND_CAST] + 1,
       0x1p-10 * size + 0x1p-24 * (exp(0.5 + s * 3.25) + z));
    row_stop(&r);
    row_start(&r, "n=1 m=3 d=2 e=1 scale=0.5 p=f16", &any, 0, 1); /* and exponentials in between */
    const double also = value_of(r.w.size + 1) + value_of(r.w.set[BOUND_SCORE] + 1) + value_of(r.w.set[BOUND_EXP] + 1);
    is("cast", "cast part, unknown", r.w.set[BOUND_CAST] + 1,
       0x1p-10 * also + 0x1p-24 * (exp(0.5 + s * 3.25) + z) * (1 + gamma_of(3 + 1, 9 * U)));
    row_stop(&r);
}
END_TEST

/* Sizes of tokens: flushed features, and the features' own errors in the scores. */
START_TEST(features_in_scores)
{
    const attest_numerics direct = { .schedule = ATTEST_SCHEDULE_DIRECT, .scale_dtype = 1, .exp_error = 8 * U };
    const double q1[2] = { 4, exp(-1) }, f = both(8 * U, U), t = 2 * U + LEAST;
    const double s = both(gamma_of(2, U), gamma_of(1, U));
    row_case r;
    row_start(&r, "variant=linear-elu n=1 m=3 d=2 e=1 scale=0.5", &direct, 0, 1);
    for (int j = 0; j < 3; j++) {
        double m = 0, sum = q1[0] + q1[1];
        for (int c = 0; c < 2; c++) {
            const double k1 = key[j][c] < 0 ? exp(key[j][c]) : key[j][c] + 1;
            m += 0.5 * q1[c] * k1;
            sum += k1;
        }
        const double fj = both(f, f) * m + 0.5 * t * ((1 + f) * sum + 2 * t);
        is("elu1", "feature part", r.w.feature + j, fj);
        is("elu1", "delta", r.w.delta + j, fj + s * (m + fj));
    }
    row_stop(&r);
    const attest_numerics states = { .schedule = ATTEST_SCHEDULE_RECURRENT, .scale_dtype = 1, .exp_error = 8 * U };
    row_start(&r, "variant=linear-elu n=1 m=3 d=2 e=1 scale=0.5", &states, 0, 1); /* W = x, W' = 1 */
    const double g = gamma_of(3 + 2 + 5 + 7, U), m0 = 0.5 * (q1[0] * 2 + q1[1] * 3), f0 = value_of(r.w.feature);
    is("elu1", "coefficient of the states", r.w.set[BOUND_SUM], g * (m0 + f0) + f0);
    is("elu1", "gamma of the states", r.w.gamma_state, g);
    row_stop(&r);
    row_start(&r, "n=1 m=3 d=2 e=1 scale=0.5 in=f16", &direct, ATTEST_FTZ, 1); /* flushed inputs: t = 2^emin */
    for (int j = 0; j < 3; j++)
        is("flushed", "feature part", r.w.feature + j, 0.5 * LEAST * (4 + k_sum[j] + 2 * LEAST));
    row_stop(&r);
}
END_TEST

/* |phi(x)| upward; divisors with the sink of their own head. */
START_TEST(sizes_of_inputs)
{
    static const struct {
        uint32_t feature;
        double x, want;
    } table[] = { { ATTEST_FEATURE_IDENTITY, -2, 2 }, { ATTEST_FEATURE_RELU, 3, 3 },
                  { ATTEST_FEATURE_RELU, -3, 0 },     { ATTEST_FEATURE_ELU1, 2, 3 },
                  { ATTEST_FEATURE_ELU1, 0, 1 },      { ATTEST_FEATURE_ELU1, -1, 0.36787944117144233 } };
    ball_case x;
    arb_t divisor;
    mag_t y;
    arb_init(divisor);
    mag_init(y);
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        mag_set_d(y, axis_feature_row(table[k].feature)->size(table[k].x));
        is("feature", "size", y, table[k].want);
    }
    ck_assert_msg(!axis_feature_row(ATTEST_FEATURE_COSFORMER)->size, "cosformer does not act on single numbers");
    ball_case_start(&x, "variant=softmax1 hq=2 n=1 m=1 d=1 e=1", 0);
    for (int h = 0; h < 2; h++)
        ball_case_put(&x, ATTEST_SINK, h, 0, 0, 0, h + 1);
    for (int h = 0; h < 2; h++) {
        ball_case_row(&x, 0, h, 0, 128);
        ck_assert(axis_divisor(divisor, &x.row, &x.in, h));
        arb_get_mag(y, divisor);
        is("sink", "divisor", y, 1 + exp(h + 1));
    }
    ball_case_stop(&x);
    arb_clear(divisor);
    mag_clear(y);
}
END_TEST

/* Roundings of a sum in tiles, in blocks, in any order; 40 keys. */
START_TEST(roundings_of_sums)
{
    static const struct {
        attest_numerics n;
        double roundings;
    } table[] = {
        { { .schedule = ATTEST_SCHEDULE_TWO_PASS }, 41 },
        { { .schedule = ATTEST_SCHEDULE_TWO_PASS, .block = 8 }, 8 + 5 + 2 },
        { { .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 4 }, 41 + 12 },
        { { .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 4, .block = 4 }, 4 + 10 + 2 + 12 },
        { { .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 4, .block = 4, .acc_truncates = ATTEST_YES }, 41 + 12 },
        { { .schedule = ATTEST_SCHEDULE_ONLINE }, 41 + 40 },
        { { .schedule = ATTEST_SCHEDULE_SPLIT, .splits = 3, .tile = 10 }, 41 + 6 + 2 * 3 + 2 },
        { { .schedule = ATTEST_SCHEDULE_UNKNOWN, .splits = 1 }, 3 * 40 + 1 + 2 + 2 }, /* or a running mean */
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        row_case r;
        row_open(&r, "n=1 m=40 d=2 e=1", 0, 0);
        row_ready(&r, &table[t].n, 0, 1);
        const int cut = table[t].n.acc_truncates == ATTEST_YES;
        const double merges = (double)table[t].n.splits; /* with a quotient each */
        const double unit = cut ? 6 * U : U, division = cut ? 10 * U : 5 * U;
        is("sums", "gamma_sum", r.w.gamma_sum,
           both(gamma_of(table[t].roundings, unit), merges > 1 ? gamma_of(merges, division) : division));
        row_stop(&r);
    }
}
END_TEST

/* What underflow may lose: tiny products, weights far below the largest. */
START_TEST(underflow_counts)
{
    const attest_numerics numerics = { .schedule = ATTEST_SCHEDULE_TWO_PASS,
                                       .log2_domain = ATTEST_NO,
                                       .scale_dtype = 1 };
    const double s = both(gamma_of(2, U), gamma_of(1, U));
    row_case r;
    row_open(&r, "n=1 m=3 d=2 e=1 scale=0.5", 0x1p-126, 7); /* scale q underflows: |k| counts */
    row_ready(&r, &numerics, 0, 1);
    is("tiny query", "delta", r.w.delta + 0, s * 3.5 * 0x1p-126 + 2 * ETA * (2 * 2 * 1.5 + 2 + 0x1p-126 + 7));
    row_stop(&r);
    row_open(&r, "n=1 m=3 d=2 e=1 scale=0.5", 4, -100); /* s = -200, 0, 0 */
    row_ready(&r, &numerics, 0, 1);
    is("small weight", "exp part", r.w.set[BOUND_EXP] + 0, 2 * LEAST * exp(s * 200));
    row_stop(&r);
    for (int ftz = 0; ftz < 2; ftz++) { /* a declared exp loses a subnormal, unless it flushes */
        const attest_numerics known = {
            .schedule = ATTEST_SCHEDULE_TWO_PASS, .log2_domain = ATTEST_NO, .scale_dtype = 1, .exp_error = 8 * U
        };
        row_open(&r, "n=1 m=3 d=2 e=1 scale=0.5", 4, -100);
        row_ready(&r, &known, ftz ? ATTEST_FTZ : 0, 1);
        is("declared exp", "exp part", r.w.set[BOUND_EXP] + 0, 2 * (ftz ? LEAST : 2 * ETA) * mag_get_d(r.w.unit));
        row_stop(&r);
    }
    for (int eps = 1; eps <= 8; eps += 7) {
        row_open(&r, eps == 1 ? "eps=1 n=1 m=3 d=2 e=1 scale=0.5" : "eps=8 n=1 m=3 d=2 e=1 scale=0.5", 4, 300);
        row_ready(&r, &numerics, 0, 1); /* s = 600: e^-600 is lost, times eps */
        ck_assert_double_ge(mag_get_d(r.w.extra_error), 2 * eps * LEAST * mag_get_d(r.w.unit));
        row_stop(&r);
    }
}
END_TEST

/* Polynomials, their centers, states; R-POLY, R-CENTER, R-STATE. */
START_TEST(weights_of_polynomials)
{
    const attest_numerics direct = { .schedule = ATTEST_SCHEDULE_DIRECT, .scale_dtype = 1 };
    const attest_numerics states = { .schedule = ATTEST_SCHEDULE_RECURRENT,
                                     .scale_dtype = 1,
                                     .state_dtype = 1 + ATTEST_BF16 };
    const double s = both(gamma_of(2, U), gamma_of(1, U));
    static const struct {
        const char *line;
        double c, roundings, divisions, center_s;
    } table[] = {
        { "variant=taylor:2 n=1 m=3 d=2 e=1 scale=0.5", 0, 6, 2, -1 },
        { "variant=taylor:2 center=max n=1 m=3 d=2 e=1 scale=0.5", 0.5, 6, 2, 0 },
        { "variant=taylor:2 center=mid n=1 m=3 d=2 e=1 scale=0.5", -1.375, 6, 2, 2 },
        { "variant=term:2 n=1 m=3 d=2 e=1 scale=0.5", 0, 6, 2, -1 },
        { "variant=quadratic n=1 m=3 d=2 e=1 scale=0.5", 0, 4, 0, -1 },
    };
    row_case r;
    for (int t = 0; t < 5; t++) {
        row_start(&r, table[t].line, &direct, 0, 1);
        const double top = 3.25 + s * 3.25;
        const double center = table[t].center_s < 0 ? 0 : s * 3.25 + gamma_of(table[t].center_s, U) * top;
        is(table[t].line, "center", r.w.center, center);
        for (int j = 0; j < 3; j++) {
            const double d = s * mass[j], near = fabs(score[j] - table[t].c) + d + center;
            const double rest = center + (center > 0 ? U * near : 0), y = near * (center > 0 ? 1 + U : 1);
            const double slope = t == 3 ? y : t == 4 ? 2 * y : 1 + y;
            const double weight = t == 3 ? y * y / 2 : t == 4 ? y * y : 1 + y + y * y / 2;
            is(table[t].line, "score part", r.w.set[BOUND_SCORE] + j, d * slope);
            is(table[t].line, "weight part", r.w.set[BOUND_EXP] + j,
               rest * slope + both(gamma_of(table[t].roundings, U), gamma_of(table[t].divisions, 5 * U)) * weight);
        }
        row_stop(&r);
    }
    row_start(&r, "variant=taylor:2 n=1 m=3 d=2 e=1 scale=0.5", &states, 0, 1); /* 7 rows */
    const double g = both(both(gamma_of(3 + 7 + 5 * 2 + 7, U), 5 * U), gamma_of(3 + 1, 0x1p-8));
    is("states", "gamma_state", r.w.gamma_state, g);
    for (int j = 0; j < 3; j++)
        is("states", "coefficient of the sum", r.w.set[BOUND_SUM] + j, g * (1 + mass[j] + mass[j] * mass[j] / 2));
    is("states", "lost", r.w.lost_state, /* Q = 3, K = 4 */
       4 * 7 * (4 + 7 + 16 + 8) * ETA * 12 * 12 + 2 * (4 * 7 * 3 * 3 + 7 + 2) * 0x1p-134);
    row_stop(&r);
}
END_TEST

/* ---- overflow -----------------------------------------------------------------------------------------------------
 */
START_TEST(overflow_has_no_bound)
{
    static const struct {
        const char *line;
        double q, k;
        int overflow;
    } table[] = {
        { "n=1 m=3 d=2 e=1 scale=1", 0x1p60, 0x1p60, 0 },
        { "n=1 m=3 d=2 e=1 scale=1", 0x1p64, 0x1p64, 1 },     /* a product */
        { "n=1 m=3 d=2 e=1 scale=2^-64", 0x1p64, 0x1p64, 1 }, /* before the scale */
        { "n=1 m=3 d=2 e=1 scale=16", 0x1p125, 0x1p-125, 1 }, /* a pre-scaled query */
        { "n=1 m=3 d=2 e=1 scale=16", 0x1p-125, 0x1p125, 1 },
    };
    const attest_numerics numerics = { .schedule = ATTEST_SCHEDULE_TWO_PASS };
    for (int t = 0; t < 5; t++) {
        row_case r;
        char line[128];
        snprintf(line, sizeof line, "%s", table[t].line);
        char *power = strstr(line, "2^-64");
        if (power)
            snprintf(power, 24, "%.17g", 0x1p-64);
        row_open(&r, line, table[t].q, table[t].k);
        row_ready(&r, &numerics, 0, 1);
        ck_assert_msg(r.w.overflow == table[t].overflow, "%s q %a k %a: overflow %d", line, table[t].q, table[t].k,
                      r.w.overflow);
        row_stop(&r);
    }
}
END_TEST

Suite *suite_bound_parts(void)
{
    Suite *s = suite_create("bound_parts");
    TCase *t = tcase_create("bound_parts");
    tcase_add_test(t, tools);
    tcase_add_test(t, declared_models);
    tcase_add_test(t, weights_of_exp);
    tcase_add_test(t, additions_to_exp);
    tcase_add_test(t, sizes_of_inputs);
    tcase_add_test(t, roundings_of_sums);
    tcase_add_test(t, underflow_counts);
    tcase_add_test(t, features_in_scores);
    tcase_add_test(t, weights_of_polynomials);
    tcase_add_test(t, overflow_has_no_bound);
    suite_add_tcase(s, t);
    return s;
}
