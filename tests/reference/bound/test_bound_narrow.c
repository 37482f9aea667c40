/* test_bound_narrow.c - types narrower than acc on the way (accumulators, stored and scaled scores, states), and
 * numbers that count as 0 (ATTEST_FTZ), against the formulas of derivations.md in plain doubles. */
#include "reference/bound/bound_row.h"
#include "tests/reference/bound/bound_row.h"

Suite *suite_bound_narrow(void);

#define F16 (1 + ATTEST_F16)
#define BF16 (1 + ATTEST_BF16)
#define ROW_0 ((attest_row){ 0, 0, 0 })
#define KNOWN .schedule = ATTEST_SCHEDULE_TWO_PASS, .log2_domain = ATTEST_NO, .scale_dtype = 1
#define SCALE " n=1 m=3 d=2 e=1 scale="
#define HALF SCALE "0.5"

/* ---- constants -------------------------------------------------------------------------------------------- */
typedef struct narrow_row {
    const char *line;
    attest_numerics n;
    double tiny_score, tiny_sum, store, scaled; /* 0 in the last two: none */
    int score, sum, state, stored, input;       /* limits are 2^this */
} narrow_row;

static const narrow_row models[] = {
    { HALF, { KNOWN }, ETA, ETA, 0, 0, 126, 126, 126, 126, 126 },
    { HALF, { KNOWN, .score_acc = F16 }, 0x1p-25, ETA, 0, 0, 14, 126, 126, 126, 126 },
    { HALF, { KNOWN, .acc_truncates = ATTEST_YES }, 2 * ETA, 2 * ETA, 0, 0, 126, 126, 126, 126, 126 },
    { HALF, { KNOWN, .score_acc = F16, .acc_truncates = ATTEST_YES }, 0x1p-24, 2 * ETA, 0, 0, 14, 126, 126, 126, 126 },
    { HALF, { KNOWN, .value_acc = F16 }, ETA, 0x1p-25, 0, 0, 126, 14, 14, 126, 126 },
    { HALF, { KNOWN, .value_acc = BF16 }, ETA, 0x1p-134, 0, 0, 126, 126, 126, 126, 126 },
    { HALF, { KNOWN, .acc_unit = 0x1p-12 }, 0x1p-138, 0x1p-138, 0, 0, 126, 126, 126, 126, 126 },
    { HALF, { KNOWN, .acc_unit = 0x1p-11 }, 0x1p-25, 0x1p-25, 0, 0, 14, 14, 14, 126, 126 }, /* f16's, or wider */
    { HALF, { KNOWN, .acc_unit = 0x1p-8 }, 0x1p-25, 0x1p-25, 0, 0, 14, 14, 14, 126, 126 },
    { HALF, { KNOWN, .acc_unit = 0x1p-8, .value_acc = BF16 }, 0x1p-25, 0x1p-134, 0, 0, 14, 126, 126, 126, 126 },
    { HALF, { KNOWN, .state_dtype = F16 }, ETA, ETA, 0, 0, 126, 126, 14, 126, 126 },
    { HALF, { KNOWN, .score_dtype = F16 }, ETA, ETA, 0x1p-11, 0, 126, 126, 126, 14, 126 },
    { HALF, { KNOWN, .scaled_dtype = F16 }, ETA, ETA, 0, 0x1p-11, 126, 126, 126, 126, 14 },
    { "in=f16" HALF, { KNOWN, .scaled_dtype = F16 }, ETA, ETA, 0, -1, 126, 126, 126, 126, 14 }, /* an exponent */
    { "in=f16 rope=16" HALF, { KNOWN, .scaled_dtype = F16 }, ETA, ETA, 0, 0x1p-11, 126, 126, 126, 126, 14 },
    { "in=f16" SCALE "0.3", { KNOWN, .scaled_dtype = F16 }, ETA, ETA, 0, 0x1p-11, 126, 126, 126, 126, 14 },
    { "in=f16" HALF, { 0 }, ETA, ETA, 0, 0x1p-11, 126, 126, 126, 126, 14 }, /* a root of 1/2 on both sides */
    { "in=f16" SCALE "0.25", { .log2_domain = ATTEST_NO }, ETA, ETA, 0, -1, 126, 126, 126, 126, 14 },
    { "in=f16" SCALE "0.25", { 0 }, ETA, ETA, 0, 0x1p-11, 126, 126, 126, 126, 14 }, /* log2(e)/4 */
    { "in=f16 cap=50" HALF, { KNOWN, .scaled_dtype = F16 }, ETA, ETA, 0, 0x1p-11, 126, 126, 126, 126, 14 }, /* 1/100 */
    { "in=f16 cap=16" SCALE "0.25", { .log2_domain = ATTEST_NO }, ETA, ETA, 0, -1, 126, 126, 126, 126, 14 },
    { "in=f16" SCALE "1", { .log2_domain = ATTEST_NO }, ETA, ETA, 0, 0, 126, 126, 126, 126, 126 },
    { "in=f16" SCALE "1", { 0 }, ETA, ETA, 0, 0x1p-11, 126, 126, 126, 126, 14 }, /* log2(e) */
    { "in=f16" HALF, { KNOWN }, ETA, ETA, 0, 0, 126, 126, 126, 126, 126 },
};

START_TEST(types_of_a_model)
{
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        const narrow_row *t = &models[k];
        ball_case x;
        bound_model m;
        ball_case_start(&x, t->line, 0);
        bound_model_init(&m);
        ck_assert(bound_model_set(&m, &x.in, &t->n, 0));
        is(t->line, "tiny_score", m.tiny_score, t->tiny_score);
        is(t->line, "tiny_sum", m.tiny_sum, t->tiny_sum);
        is(t->line, "store", m.store, t->store);
        is(t->line, "scaled", m.scaled, fmax(t->scaled, 0));
        is(t->line, "scaled_tiny", m.scaled_tiny, t->scaled == 0 ? 0 : 0x1p-25);
        const struct {
            mag_srcptr got;
            int want;
        } limits[] = { { m.score_limit, t->score },
                       { m.sum_limit, t->sum },
                       { m.state_limit, t->state },
                       { m.store_limit, t->stored },
                       { m.scaled_limit, t->input } };
        for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++)
            ck_assert_msg(!mag_cmp_2exp_si(limits[l].got, limits[l].want), "row %zu, limit %zu", k, l);
        bound_model_clear(&m);
        ball_case_stop(&x);
    }
}
END_TEST

/* ---- scores ----------------------------------------------------------------------------------------------- */
/* delta by R-SCORE; `unit` of the accumulator, `scaled` twice, `stores` roundings of unit `store`. */
START_TEST(narrow_scores)
{
    static const struct {
        const char *line;
        attest_numerics n;
        double unit, tiny, scaled, scaled_tiny, store, store_tiny;
        int stores;
    } table[] = {
        { HALF, { KNOWN, .score_acc = F16, .acc_unit = 0x1p-11 }, 0x1p-11, 0x1p-25, 0, 0, 0, 0, 0 },
        { HALF, { KNOWN, .acc_unit = 0x1p-8 }, 0x1p-8, 0x1p-25, 0, 0, 0, 0, 0 },
        { HALF, { KNOWN, .scaled_dtype = BF16 }, U, ETA, 0x1p-8, 0x1p-134, 0, 0, 0 },
        { "in=f16" HALF, { KNOWN, .scaled_dtype = F16 }, U, ETA, 0, 0x1p-25, 0, 0, 0 },
        { HALF, { KNOWN, .score_dtype = F16 }, U, ETA, 0, 0, 0x1p-11, 0x1p-25, 2 },
        { "clamp=9" HALF, { KNOWN, .score_dtype = F16 }, U, ETA, 0, 0, 0x1p-11, 0x1p-25, 3 },
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        row_case r;
        row_start(&r, table[k].line, &table[k].n, 0, 1);
        const double after = both(both(U, table[k].scaled), table[k].scaled);
        const double s = both(gamma_of(2, table[k].unit), after);
        for (int j = 0; j < 3; j++) {
            double d = s * mass[j] + 2 * table[k].tiny * (2 * 2 * 1.5 + 2 + 4 + k_sum[j]) +
                       2 * table[k].scaled_tiny * 1.5 * (4 + k_sum[j]);
            const double size = table[k].stores > 2 ? mass[j] : fabs(score[j]);
            d += gamma_of(table[k].stores, table[k].store) * (size + d) + table[k].store_tiny * (table[k].stores + 0.5);
            is(table[k].line, "delta", r.w.delta + j, d);
        }
        row_stop(&r);
    }
}
END_TEST

/* q and k of one channel; what may overflow has no bound. */
START_TEST(narrow_ranges)
{
    static const struct {
        const char *line;
        attest_numerics n;
        double q, k;
        int overflow;
    } table[] = {
        { HALF, { KNOWN, .score_acc = F16 }, 0x1p7, 0x1.fp6, 0 }, /* 2^14 before the scale */
        { HALF, { KNOWN, .score_acc = F16 }, 0x1p7, 0x1.1p7, 1 },
        { HALF, { KNOWN, .score_dtype = F16 }, 0x1p7, 0x1.fp6, 0 },
        { HALF, { KNOWN, .score_dtype = F16 }, 0x1p7, 0x1.1p7, 1 },
        { "alibi=draw" HALF, { KNOWN, .score_dtype = F16 }, 1, 1, 1 }, /* slope 2^15, distances 1 and 2 */
        { "alibi=draw" HALF, { KNOWN }, 1, 1, 0 },
        { HALF, { KNOWN, .scaled_dtype = F16 }, 0x1.fp14, 0x1p-20, 0 }, /* 2^14 */
        { HALF, { KNOWN, .scaled_dtype = F16 }, 0x1.1p15, 0x1p-20, 1 },
        { HALF, { KNOWN, .scaled_dtype = F16 }, 0x1p-20, 0x1.1p15, 1 },
        { "in=f16" HALF, { 0 }, 0x1.7p14, 0x1p-10, 1 }, /* times a root of 1/2 */
        { "in=f16 n=1 m=3 d=2 e=1 scale=0.25", { 0 }, 0x1.ep14, 0x1.ep14, 0 },
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        row_case r;
        row_open(&r, table[k].line, table[k].q, table[k].k);
        if (r.x.in.role[ATTEST_SLOPE])
            ball_case_put(&r.x, ATTEST_SLOPE, 0, 0, 0, 0, 0x1p15);
        row_ready(&r, &table[k].n, 0, 1);
        ck_assert_msg(r.w.overflow == table[k].overflow, "row %zu: overflow %d", k, r.w.overflow);
        row_stop(&r);
    }
}
END_TEST

/* R-FILTER-EXACT: a score on the threshold is dropped only where no type on the way rounds it. */
START_TEST(filter_of_narrow_scores)
{
    static const struct {
        const char *line;
        attest_numerics n;
        int choice;
    } table[] = {
        { "", { KNOWN }, BOUND_DROPPED },
        { "", { KNOWN, .score_dtype = BF16 }, BOUND_OPEN },
        { "", { KNOWN, .score_acc = F16, .acc_unit = 0x1p-11 }, BOUND_OPEN },
        { "", { KNOWN, .scaled_dtype = BF16 }, BOUND_OPEN },
        { "in=bf16", { KNOWN, .scaled_dtype = BF16 }, BOUND_DROPPED },
        { "in=f16", { KNOWN, .scaled_dtype = F16 }, BOUND_DROPPED },
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        attest_numerics n = table[k].n;
        char line[128];
        row_case r;
        snprintf(line, sizeof line, "variant=filtered:2.125 %s" HALF, table[k].line);
        n.schedule = ATTEST_SCHEDULE_DIRECT;
        row_start(&r, line, &n, 0, 1);
        ck_assert_msg(r.w.choice[2] == table[k].choice, "row %zu: %d", k, r.w.choice[2]);
        row_stop(&r);
    }
}
END_TEST

/* ---- a running mean --------------------------------------------------------------------------------------- */
/* R-RUNNING: s = 0 and ln 10, v = 1 and 0, the quotients w/l cast to bf16: the second errs against v - o = -1. */
START_TEST(casts_of_a_running_mean)
{
    static const uint32_t divisions[] = { ATTEST_DIVISION_RUNNING, ATTEST_DIVISION_UNKNOWN };
    const double s = (double)logf(10.0f), w = expf((float)-s), o = exp(-s) / (1 + exp(-s));
    const float quotient = attest_bf16_to_f32(attest_bf16_from_f32((float)(1 / (1 + w))));
    for (int k = 0; k < 2; k++) {
        const attest_numerics n = { .schedule = k ? ATTEST_SCHEDULE_UNKNOWN : ATTEST_SCHEDULE_TWO_PASS,
                                    .division = divisions[k],
                                    .p_rounding = ATTEST_ROUNDING_NEAREST,
                                    .exp_error = 2 * U };
        ref_bound bound;
        row_case r;
        row_open(&r, "p=bf16 n=1 m=2 d=1 e=1 scale=1", 1, 0);
        ball_case_put(&r.x, ATTEST_K, 0, 0, 1, 0, s);
        ball_case_put(&r.x, ATTEST_V, 0, 0, 0, 0, 1);
        row_ready(&r, &n, 0, 1);
        ref_bound_init(&bound);
        MUST(ref_bound_row(&bound, &r.x.row, &r.x.in, &n, 0, ROLE(ATTEST_O), ATTEST_F32, ROW_0, &r.x.err), &r.x);
        const double error = fabs(1 - (double)quotient - o), total = value_of(bound.total);
        ck_assert_msg(error > 0x1p-11 && total > error && total < 8 * error, "%d: %g, bound %g", k, error, total);
        ref_bound_clear(&bound);
        row_stop(&r);
    }
}
END_TEST

/* ---- states ----------------------------------------------------------------------------------------------- */
/* R-STATE: state_dtype, value_acc and scaled inputs in the coefficients of the sums and in what underflows. */
START_TEST(narrow_states)
{
    static const struct {
        attest_numerics n;
        double stored, tiny, scaled, scaled_tiny;
    } table[] = {
        { { .state_dtype = F16 }, 0x1p-11, 0x1p-25, 0, 0 },
        { { .state_dtype = BF16, .value_acc = F16 }, 0x1p-8, 0x1p-25, 0, 0 },
        { { .scaled_dtype = F16 }, 0, 0, 0x1p-11, 0x1p-25 },
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        attest_numerics n = table[k].n;
        row_case r;
        n.schedule = ATTEST_SCHEDULE_RECURRENT;
        n.scale_dtype = 1;
        row_start(&r, "variant=taylor:2" HALF, &n, 0, 1); /* 7 rows, Q = 3, K = 4 */
        const double c = both(both(gamma_of(3 + 7 + 5 * 2 + 7, U), 5 * U), gamma_of(3 + 1, table[k].stored));
        const double g = both(c, gamma_of(4, table[k].scaled));
        is("states", "gamma", r.w.gamma_state, g);
        is("states", "lost", r.w.lost_state,
           4 * 7 * (4 + 7 + 16 + 8) * ETA * 12 * 12 + 2 * (4 * 7 * 3 * 3 + 7 + 2) * table[k].tiny);
        for (int j = 0; j < 3; j++) {
            const double f = 2 * table[k].scaled_tiny * 1.5 * (4 + k_sum[j]), m = mass[j] + f;
            is("states", "coefficient", r.w.set[BOUND_SUM] + j, g * (1 + m + m * m / 2) + f * (1 + m));
        }
        row_stop(&r);
    }
}
END_TEST

/* A given state is stored too; what is read from it goes to acc: 2 q 3 (N + 1) is above f16's range, no entry is. */
START_TEST(ranges_of_states)
{
    static const struct {
        double h0, k;
        attest_numerics n;
        int unbounded;
    } table[] = {
        { 0x1.fp13, 1, { .state_dtype = F16 }, 0 }, { 0x1.1p14, 1, { .state_dtype = F16 }, 1 },
        { 0x1.1p14, 1, { .state_dtype = 0 }, 0 },   { 1, 0x1.fp12, { .state_dtype = F16 }, 0 },
        { 1, 0x1.1p13, { .state_dtype = F16 }, 1 }, { 1, 0x1p13, { .value_acc = F16 }, 1 },
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        attest_numerics n = table[t].n;
        ref_bound bound;
        row_case r;
        n.schedule = ATTEST_SCHEDULE_RECURRENT;
        n.scale_dtype = 1;
        row_open(&r, "variant=linear norm=none mask=causal-br state=draw n=1 m=1 d=1 e=1 scale=1", 2, table[t].k);
        ball_case_put_id(&r.x, (attest_tensor_id){ ATTEST_KIND_H0, 1 }, 0, 0, 0, 0, table[t].h0);
        ball_case_put(&r.x, ATTEST_V, 0, 0, 0, 0, 1);
        row_ready(&r, &n, 0, 0);
        ref_bound_init(&bound);
        MUST(ref_bound_row(&bound, &r.x.row, &r.x.in, &n, 0, ROLE(ATTEST_O), ATTEST_F32, ROW_0, &r.x.err), &r.x);
        ck_assert_msg(bound.unbounded == table[t].unbounded, "row %zu: %d", t, bound.unbounded);
        ref_bound_clear(&bound);
        row_stop(&r);
    }
}
END_TEST

/* ---- vectors of length 1 near underflow (R-UNIT) ---------------------------------------------------------- */
START_TEST(short_vectors)
{
    static const struct {
        const char *line;
        uint32_t flags;
        double x, sigma; /* below 0: no bound */
    } table[] = {
        { "variant=cos-taylor:1 n=1 m=1 d=2 e=1", 0, 0x1p-40, 0 },
        { "variant=cos-taylor:1 n=1 m=1 d=2 e=1", 0, 0x1p-70, 0x1p-7 }, /* twice 4 eta/2^-140 */
        { "variant=cos-taylor:1 n=1 m=1 d=2 e=1", 0, 0x1p-72, 0x1p-3 },
        { "variant=cos-taylor:1 n=1 m=1 d=2 e=1", 0, 0x1p-74, -1 },
        { "variant=cos-taylor:1 n=1 m=1 d=2 e=1", ATTEST_FTZ, 0x1p-60, 0x1p-3 + 2 * M_SQRT2 * 0x1p-66 },
        { "variant=cos-taylor:1 n=1 m=1 d=2 e=1", ATTEST_FTZ, 0x1p-62, -1 },
        { "variant=cos-taylor:1 rope=16 n=1 m=1 d=2 e=1", 0, 0x1p-70, -1 },
    };
    const attest_numerics n = { .schedule = ATTEST_SCHEDULE_RECURRENT, .log2_domain = ATTEST_NO, .scale_dtype = 1 };
    mag_t sigma, entry;
    mag_init(sigma);
    mag_init(entry);
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        row_case r;
        row_open(&r, table[t].line, table[t].x, 1);
        row_ready(&r, &n, table[t].flags, 1);
        const int good = bound_unit(sigma, &r.m, &r.x.in, ATTEST_Q, 0, 0, 0, 0);
        ck_assert_msg(good == (table[t].sigma >= 0), "row %zu: %d", t, good);
        bound_entry_error(entry, &r.m, &r.x.in, ATTEST_Q, 0, 0, 0, 0);
        ck_assert_msg(mag_is_inf(entry) == !good, "row %zu: an entry of a state", t);
        if (good)
            is(table[t].line, "sigma", sigma, table[t].sigma);
        row_stop(&r);
    }
    mag_clear(entry);
    mag_clear(sigma);
}
END_TEST

/* ---- flushed inputs --------------------------------------------------------------------------------------- */
static double total_of_o(const char *line, const attest_numerics *n, uint32_t flags, attest_role role, double x,
                         double v)
{
    ref_bound bound;
    row_case r;
    row_open(&r, line, 1, 1);
    for (int a = 0; a < 2; a++) {
        static const attest_role ones[] = { ATTEST_BETA, ATTEST_DECAY };
        if (r.x.in.role[ones[a]] && ones[a] != role)
            ball_case_put(&r.x, ones[a], 0, 0, 0, 0, 1);
    }
    if (role == ATTEST_DECAY)
        ball_case_put_id(&r.x, (attest_tensor_id){ ATTEST_KIND_H0, 1 }, 0, 0, 0, 0, v);
    else
        ball_case_put(&r.x, ATTEST_V, 0, 0, 0, 0, v);
    ball_case_put(&r.x, role, 0, 0, 0, 0, x);
    row_ready(&r, n, flags, 0);
    ref_bound_init(&bound);
    MUST(ref_bound_row(&bound, &r.x.row, &r.x.in, n, flags, ROLE(ATTEST_O), ATTEST_F32, ROW_0, &r.x.err), &r.x);
    ck_assert_msg(!bound.unbounded, "%s", line);
    const double total = value_of(bound.total);
    ref_bound_clear(&bound);
    row_stop(&r);
    return total;
}

/* A gate, decay or beta of 2^-127 counts as 0 under ATTEST_FTZ: 2^-27 is lost, that times 2^100; without, roundings. */
START_TEST(flushed_factors)
{
    static const struct {
        const char *line;
        uint32_t schedule;
        attest_role role;
    } table[] = {
        { "variant=linear norm=none gates=in n=1 m=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, ATTEST_GIN },
        { "variant=linear norm=none gates=out n=1 m=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, ATTEST_GOUT },
        { "variant=deltanet gates=in n=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_RECURRENT, ATTEST_GIN },
        { "variant=deltanet gates=in n=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_CHUNK, ATTEST_GIN },
        { "variant=deltanet gates=out n=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_RECURRENT, ATTEST_GOUT },
        { "variant=deltanet n=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_RECURRENT, ATTEST_BETA },
        { "variant=gdn state=draw n=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_RECURRENT, ATTEST_DECAY },
        { "variant=gdn state=draw n=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_CHUNK, ATTEST_DECAY },
        { "variant=simple-gla state=draw n=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_RECURRENT, ATTEST_DECAY },
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        for (int flush = 0; flush < 2; flush++) {
            const attest_numerics n = { .schedule = table[k].schedule,
                                        .log2_domain = ATTEST_NO,
                                        .scale_dtype = 1,
                                        .div_error = U,
                                        .decay_products = ATTEST_YES };
            const double got = total_of_o(table[k].line, &n, flush ? ATTEST_FTZ : 0, table[k].role, 0x1p-127, 0x1p100);
            ck_assert_msg(flush ? got >= 0x1p-27 && got < 0x1p-18 : got < 0x1p-40, "%s: %a", table[k].line, got);
        }
}
END_TEST

/* y = gain x/|x| of one channel: gain counts as 0, and may be all of y; before the norm a gate may. */
START_TEST(flushed_gain)
{
    const attest_numerics n = { .schedule = ATTEST_SCHEDULE_DIRECT, .log2_domain = ATTEST_NO, .scale_dtype = 1 };
    const double got = total_of_o("variant=linear norm=rms affine=draw n=1 m=1 d=1 e=1 scale=1", &n, ATTEST_FTZ,
                                  ATTEST_GAIN, 0x1p-127, 1);
    ck_assert_msg(got >= 3 * LEAST && got < 6 * LEAST, "%a", got); /* (2 + |y|) 2^emin; the output's own two */
    const double plain = total_of_o("variant=linear norm=rms affine=draw n=1 m=1 d=1 e=1 scale=1", &n, 0, ATTEST_GAIN,
                                    0x1p-127, 1);
    ck_assert_msg(plain < LEAST, "%a", plain);
}
END_TEST

/* ---- efla: 1 - e^-x (R-DELTA) ----------------------------------------------------------------------------- */
/* k = v = b = 1, one token, to first order in u: w = 1 - 1/e, theta = 15u (of x and r) + expm1 + u + division,
 *     E = w (4u + 4u + theta) + 2u w + u w + db,   db = 2 (u_exp + 4u) where expm1 is not declared. */
START_TEST(rate_of_efla)
{
    static const struct {
        attest_numerics n;
        double theta, absolute;
    } table[] = {
        { { .expm1_error = 5 * U, .div_error = U }, 15 + 5 + 1 + 1, 0 },
        { { .expm1_error = 0x1p-20, .div_error = U }, 15 + 16 + 1 + 1, 0 },
        { { .exp_error = 2 * U, .div_error = U }, 15 + 9 + 1 + 1, 2 * (2 + 4) },
        { { .div_error = 0 }, 15 + 9 + 1 + 5, 2 * (9 + 4) },
    };
    mag_t error;
    mag_init(error);
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        attest_numerics n = table[k].n;
        row_case r;
        n.schedule = ATTEST_SCHEDULE_RECURRENT;
        n.scale_dtype = 1;
        row_open(&r, "variant=efla n=1 d=1 e=1 scale=1", 1, 1);
        ball_case_put(&r.x, ATTEST_V, 0, 0, 0, 0, 1);
        ball_case_put(&r.x, ATTEST_BETA, 0, 0, 0, 0, 1);
        ball_case_row(&r.x, 0, 0, 0, 128);
        bound_model_init(&r.m);
        ck_assert(bound_model_set(&r.m, &r.x.in, &n, 0));
        MUST(bound_weights_init(&r.w, r.x.row.keys, &r.x.err), &r.x);
        ck_assert(bound_delta_state(error, &r.m, &r.x.row, &r.x.in, 0, 0));
        within("efla", "state", error, U * (-expm1(-1) * (11 + table[k].theta) + table[k].absolute), 1e-5);
        mag_zero(error);
        row_stop(&r);
    }
    mag_clear(error);
}
END_TEST

/* ---- Horner's rule (R-POLY) ------------------------------------------------------------------------------- */
/* x = 1 (d = 1, scale 1): divisions and roundings a weight, L and the coefficients 1/n! that are subnormal. */
START_TEST(weights_by_horner)
{
    static const struct {
        const char *line;
        uint32_t schedule;
        double roundings, divisions, size, lost, small; /* lost: L; small: sum of y^n with 1/n! below 2^-126 */
    } table[] = {
        { "variant=taylor:3 n=1 m=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, 9, 3, 8.0 / 3, 8.0 / 3, 0 },
        { "variant=term:3 n=1 m=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, 8, 3, 1.0 / 6, 1 + 1. / 3 + 1. / 6 + 1. / 6,
          0 },
        { "weight=power:3 n=1 m=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, 6, 0, 1, 4, 0 },
        { "variant=taylor:36 n=1 m=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, 108, 36, M_E, M_E, 0 },
        { "variant=taylor:36 n=1 m=1 d=1 e=1 scale=1", ATTEST_SCHEDULE_TWO_PASS, 108, 36, M_E, M_E, 3 },
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        const int order = (int)strtol(strchr(table[k].line, ':') + 1, NULL, 10);
        for (int flush = 0; flush < 2; flush++) {
            const attest_numerics n = { .schedule = table[k].schedule,
                                        .log2_domain = ATTEST_NO,
                                        .scale_dtype = 1,
                                        .acc_unit = 0x1p-100,
                                        .div_error = 0x1p-10 };
            row_case r;
            row_open(&r, table[k].line, 1, 1);
            row_ready(&r, &n, flush ? ATTEST_FTZ : 0, 0);
            const double tiny = flush ? LEAST : ETA;
            const double want = both(gamma_of(table[k].roundings, U), gamma_of(table[k].divisions, 0x1p-10)) *
                                    table[k].size +
                                tiny * (4 * (order + 2) * table[k].lost + table[k].small);
            within(table[k].line, "weight", r.w.set[BOUND_EXP] + 0, want, 1e-4);
            row_stop(&r);
        }
    }
    static const struct {
        double k;
        uint32_t schedule;
        int overflow;
    } far[] = { { 4, ATTEST_SCHEDULE_DIRECT, 0 },
                { 4, ATTEST_SCHEDULE_TWO_PASS, 0 },
                { 16, ATTEST_SCHEDULE_TWO_PASS, 1 } };
    for (size_t k = 0; k < sizeof far / sizeof far[0]; k++) { /* y^36: 2^72, 2^144 */
        const attest_numerics n = { .schedule = far[k].schedule, .log2_domain = ATTEST_NO, .scale_dtype = 1 };
        row_case r;
        row_open(&r, "variant=taylor:36 n=1 m=1 d=1 e=1 scale=1", 1, far[k].k);
        row_ready(&r, &n, 0, 0);
        ck_assert_msg(r.w.overflow == far[k].overflow, "y = %g: %d", far[k].k, r.w.overflow);
        row_stop(&r);
    }
}
END_TEST

Suite *suite_bound_narrow(void)
{
    Suite *s = suite_create("bound_narrow");
    TCase *t = tcase_create("bound_narrow");
    tcase_add_test(t, types_of_a_model);
    tcase_add_test(t, narrow_scores);
    tcase_add_test(t, narrow_ranges);
    tcase_add_test(t, filter_of_narrow_scores);
    tcase_add_test(t, casts_of_a_running_mean);
    tcase_add_test(t, narrow_states);
    tcase_add_test(t, ranges_of_states);
    tcase_add_test(t, short_vectors);
    tcase_add_test(t, flushed_factors);
    tcase_add_test(t, flushed_gain);
    tcase_add_test(t, rate_of_efla);
    tcase_add_test(t, weights_by_horner);
    suite_add_tcase(s, t);
    return s;
}
