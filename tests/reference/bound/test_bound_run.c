/* test_bound_run.c - sums declared to be serial, casts that are known (R-RUN, R-CAST-KNOWN): formulas, kernels that do
 * what they declare, kernels that do not. */
#include "tests/verify/compare/compare_scene.h" /* its U, an output, is not used here */

#include "reference/bound/bound_row.h"
#include "tests/reference/bound/bound_row.h"

Suite *suite_bound_run(void);

#define SERIAL ATTEST_SERIAL_SUMS
#define KNOWN                                                                                                          \
    .struct_size = sizeof(attest_numerics), .exp_error = 2 * U, .log2_domain = ATTEST_NO, .cast_in_sum = ATTEST_NO,    \
    .p_rounding = ATTEST_ROUNDING_NEAREST, .acc_truncates = ATTEST_NO, .acc_unit = U, .div_error = U,                  \
    .scale_dtype = 1 + ATTEST_F32

#define TRUNCATES .struct_size = sizeof(attest_numerics), .acc_truncates = ATTEST_YES

/* ---- formulas ------------------------------------------------------------------------------------------------ */
/* Weights 0.5, -3.25, -1.625, values 1, -2, 1: terms 0.5, 6.5, -1.625, partial sums 0.5, 7, 5.375. */
START_TEST(test_partial_sums)
{
    static const struct {
        attest_numerics n;
        int with_v;
        double partial, mass;
        int roundings;
    } cases[] = {
        { { KNOWN, .schedule = ATTEST_SCHEDULE_DIRECT }, 1, 7 + 5.375, 8.625, 3 },
        { { KNOWN, .schedule = ATTEST_SCHEDULE_DIRECT }, 0, 2.75 + 4.375, 5.375, 3 },
        { { KNOWN, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 2 }, 1, 7 + 7 + 5.375, 8.625, 5 },
        { { KNOWN, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 1 }, 1, 0.5 + 7 + 7 + 5.375, 8.625, 7 },
        { { KNOWN, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 5 }, 1, 7 + 5.375, 8.625, 3 },
    };
    static const double v[3] = { 1, -2, 1 };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        row_case r;
        bound_run run = { 0 };
        mag_t y, probable, moved;
        mag_init(y);
        mag_init(probable);
        mag_init(moved);
        row_start(&r, "variant=linear n=1 m=3 d=2 e=1 scale=0.5", &cases[k].n, SERIAL, 1);
        MUST(bound_run_init(&run, &r.m, &r.x.row, &r.x.err), &r.x);
        ck_assert_int_eq(bound_run_roundings(&run), cases[k].roundings);
        for (int kind = 0; kind < 2; kind++) { /* without and with errors of the weights */
            mag_inf(y);
            mag_set_d(moved, kind ? 0.25 : 0);
            bound_run_sum(y, probable, &run, &r.m, &r.w, cases[k].with_v ? v : NULL, moved);
            const double mass_all = cases[k].mass + (kind ? 0.25 : 0),
                         each = (kind ? 0.25 : 0) + value_of(r.w.gamma_sum) * mass_all;
            is("serial", "sum", y,
               U * (cases[k].partial + cases[k].roundings * each) + (cases[k].with_v ? U * mass_all : 0));
        }
        mag_set_d(y, 1e-30); /* never worse than what is known already */
        bound_run_sum(y, probable, &run, &r.m, &r.w, v, moved);
        ck_assert(value_of(y) <= 1.0001e-30);
        bound_run_clear(&run);
        row_stop(&r);
        mag_clear(moved);
        mag_clear(probable);
        mag_clear(y);
    }
}
END_TEST

/* The lemma is about the accumulator of acc: a coarser one rounds the first term, before a finer one products round. */
START_TEST(test_other_accumulators)
{
    static const struct {
        double unit;
        uint32_t truncates;
        int serial;
    } cases[] = {
        { U, ATTEST_NO, 1 },       { 0, ATTEST_NO, 1 },  { 0x1p-8, ATTEST_NO, 0 },
        { 0x1p-53, ATTEST_NO, 0 }, { U, ATTEST_YES, 0 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const attest_numerics n = { .struct_size = sizeof n,
                                    .schedule = ATTEST_SCHEDULE_TWO_PASS,
                                    .acc_unit = cases[k].unit,
                                    .acc_truncates = cases[k].truncates };
        row_case r;
        row_start(&r, "n=1 m=3 d=2 e=1", &n, SERIAL, 1);
        ck_assert_int_eq(r.m.serial, cases[k].serial);
        row_stop(&r);
    }
}
END_TEST

/* A sink or eps is added to the denominator once more. */
START_TEST(test_extra_addition)
{
    const attest_numerics n = { KNOWN, .schedule = ATTEST_SCHEDULE_DIRECT };
    mag_t y[2], none, probable;
    mag_init(none);
    mag_init(probable);
    for (int k = 0; k < 2; k++) {
        row_case r;
        bound_run run = { 0 };
        mag_init(y[k]);
        mag_inf(y[k]);
        row_start(&r,
                  k ? "variant=linear norm=sum eps=1 n=1 m=3 d=2 e=1 scale=0.5"
                    : "variant=linear norm=sum n=1 m=3 d=2 e=1 scale=0.5",
                  &n, SERIAL, 1);
        MUST(bound_run_init(&run, &r.m, &r.x.row, &r.x.err), &r.x);
        bound_run_sum(y[k], probable, &run, &r.m, &r.w, NULL, none);
        bound_run_clear(&run);
        row_stop(&r);
    }
    const double more = value_of(y[1]) - value_of(y[0]);
    ck_assert_msg(fabs(more - 4.375 * U) < 1e-3 * U, "%g", more / U);
    mag_clear(y[0]);
    mag_clear(y[1]);
    mag_clear(probable);
    mag_clear(none);
}
END_TEST

/* Products 3, -2; -6, -0.5; 0.75, -4: partial sums 1; -6.5; -3.25.  scale=0.5 multiplies the finished sum. */
START_TEST(test_scores)
{
    static const double partial[3] = { 1, 6.5, 3.25 }, terms[3] = { 5, 6.5, 4.75 };
    static const struct {
        const char *line;
        uint32_t flags;
        attest_numerics n;
        int products, serial;
    } cases[] = {
        { "variant=linear n=1 m=3 d=2 e=1 scale=0.5", SERIAL, { KNOWN, .schedule = ATTEST_SCHEDULE_DIRECT }, 1, 1 },
        { "variant=linear n=1 m=3 d=2 e=1 scale=0.5 in=bf16",
          SERIAL,
          { KNOWN, .schedule = ATTEST_SCHEDULE_DIRECT },
          0,
          1 },
        { "variant=linear n=1 m=3 d=2 e=1 scale=0.5", 0, { KNOWN, .schedule = ATTEST_SCHEDULE_DIRECT }, 1, 0 },
        { "variant=linear n=1 m=3 d=2 e=1 scale=0.5", SERIAL, { KNOWN, .schedule = ATTEST_SCHEDULE_SPLIT }, 1, 0 },
        { "variant=linear n=1 m=3 d=2 e=1 scale=0.5", SERIAL, { KNOWN, .schedule = ATTEST_SCHEDULE_ONLINE }, 1, 0 },
        { "variant=linear-relu n=1 m=3 d=2 e=1 scale=0.5 rope=10000",
          SERIAL,
          { KNOWN, .schedule = ATTEST_SCHEDULE_DIRECT },
          1,
          -1 },
        { "variant=linear n=1 m=3 d=2 e=1", SERIAL, { TRUNCATES, .schedule = ATTEST_SCHEDULE_DIRECT }, 1, -2 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        row_case r;
        row_start(&r, cases[k].line, &cases[k].n, cases[k].flags, 1);
        ck_assert_msg(cases[k].serial != -1 || !r.m.plain, "%s", cases[k].line);
        ck_assert_msg(cases[k].serial != -2 || !r.m.serial, "truncation is no serial sum");
        for (int j = 0; j < 3 && cases[k].serial >= 0; j++) {
            const double serial = 0.5 * U * (partial[j] + (cases[k].products ? terms[j] : 0)) + 0.5 * U * partial[j];
            const double any = 3 * U * mass[j];
            within(cases[k].line, "score", r.w.delta + j, cases[k].serial ? serial : any, 1e-5);
        }
        row_stop(&r);
    }
}
END_TEST

/* ---- kernels ---------------------------------------------------------------------------------------------------- */
typedef struct way {
    int by_halves; /* keys 0, 2, 4, ..., then 1, 3, 5, ... */
    float (*cast)(float);
} way;

static float uncast(float w) { return w; }
static float nearest(float w) { return attest_bf16_to_f32(attest_bf16_from_f32(w)); }
static float truncated(float w) { return attest_bits_f32(attest_f32_bits(w) & 0xffff0000u); }

static float score_of(const scene *s, int64_t i, int64_t j)
{
    const attest_problem *p = &s->c.problem;
    const attest_tensor *q = attest_bundle_role(s->inputs, ATTEST_Q), *k = attest_bundle_role(s->inputs, ATTEST_K);
    float sum = 0;
    for (int64_t c = 0; c < p->d; c++)
        sum += (float)attest_load(q, i * p->d + c) * (float)attest_load(k, j * p->d + c);
    return (float)p->scale * sum;
}

/* Softmax in two passes over all keys, in float. */
static void run(const scene *s, const way *x)
{
    const attest_problem *p = &s->c.problem;
    const attest_tensor *v = attest_bundle_role(s->inputs, ATTEST_V);
    attest_tensor *o = attest_bundle_role(s->outputs, ATTEST_O);
    float w[256];
    for (int64_t i = 0; i < p->n; i++) {
        float top = -INFINITY;
        for (int64_t j = 0; j < p->m; j++) {
            w[j] = score_of(s, i, j);
            top = w[j] > top ? w[j] : top;
        }
        for (int64_t c = 0; c < p->e; c++) {
            float u = 0, l = 0;
            for (int64_t a = 0; a < p->m; a++) {
                const int64_t half = (p->m + 1) / 2, j = !x->by_halves ? a : a < half ? 2 * a : 2 * (a - half) + 1;
                const float weight = expf(w[j] - top);
                l += weight;
                u += x->cast(weight) * (float)attest_load(v, j * p->e + c);
            }
            put(o, i * p->e + c, (double)(u / l));
        }
    }
}

static void judge_as(scene *s, uint32_t flags)
{
    attest_error err = { "" };
    const attest_numerics numerics = { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS };
    attest_result_init(&s->result);
    ok(attest_compare(&s->result, s->truth, NULL, &s->c, s->outputs, &numerics, flags, 0, &err), &err);
}

/* What sums in the declared order passes, and comes nearer to its bound. */
START_TEST(test_honest)
{
    static const char *const lines[] = { "variant=softmax n=9 m=33 d=8 e=4", "variant=softmax n=5 m=200 d=5 e=3 seed=2",
                                         "variant=softmax n=9 m=33 d=8 e=4 family=huge",
                                         "variant=softmax n=9 m=17 d=64 e=2 family=normal:4" };
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        const way x = { 0, uncast };
        scene s;
        open_scene(&s, lines[k], NULL);
        give(&s, O);
        run(&s, &x);
        judge_as(&s, 0);
        expect(&s, lines[k], ATTEST_PASS, 0);
        const double before = s.result.ratio_median;
        judge_as(&s, SERIAL);
        expect(&s, lines[k], ATTEST_PASS, 0);
        ck_assert_msg(s.result.ratio_median > 1.2 * before, "%s: %g, any order %g", lines[k], s.result.ratio_median,
                      before);
        close_scene(&s);
    }
}
END_TEST

/* v = 1 + 2^-18, -1, ...: in order no addition rounds; by halves the small parts are lost beside a large sum. */
START_TEST(test_another_order)
{
    for (int by_halves = 0; by_halves < 2; by_halves++) {
        const way x = { by_halves, uncast };
        attest_error err = { "" };
        attest_bundle *inputs;
        attest_case c;
        attest_tensor *v;
        scene s;
        const char *line = "variant=softmax n=1 m=256 d=1 e=1";
        ok(attest_case_parse(&c, line, NULL, NULL, &err), &err);
        ok(attest_bundle_new(&inputs, &err), &err);
        ok(attest_draw_missing(inputs, &c, 0, 0, &err), &err);
        put(attest_bundle_role(inputs, ATTEST_Q), 0, 0);
        v = attest_bundle_role(inputs, ATTEST_V);
        for (int64_t j = 0; j < 256; j++)
            put(v, j, j % 2 ? -1 : 1 + 0x1p-18);
        open_scene(&s, line, inputs);
        give(&s, O);
        run(&s, &x);
        judge_as(&s, 0);
        ck_assert_msg(attest_result_judged_good(&s.result), "any order: %s", s.result.why);
        judge_as(&s, SERIAL);
        expect(&s, by_halves ? "by halves" : "in order", by_halves ? ATTEST_FAIL : ATTEST_PASS,
               by_halves ? ATTEST_REASON_BOUND : 0);
        close_scene(&s);
    }
}
END_TEST

/* The cast of a weight is known: nearest is at its bound, truncation beyond it, no cast at all inside. */
START_TEST(test_known_casts)
{
    static const struct {
        float (*cast)(float);
        int64_t verdict;
    } kinds[] = { { nearest, ATTEST_PASS }, { uncast, ATTEST_PASS }, { truncated, ATTEST_FAIL } };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const way x = { 0, kinds[k].cast };
        scene s;
        open_scene(&s, "variant=softmax n=7 m=33 d=8 e=4 in=bf16 p=bf16 out=f32", NULL);
        give(&s, O);
        run(&s, &x);
        judge_as(&s, 0);
        const double before = s.result.ratio_median;
        judge_as(&s, SERIAL);
        expect(&s, "cast", kinds[k].verdict, kinds[k].verdict == ATTEST_FAIL ? ATTEST_REASON_BOUND : 0);
        if (k == 0)
            ck_assert_msg(s.result.ratio_median > 0.8 && before < 0.4, "%g, unknown %g", s.result.ratio_median, before);
        if (k == 0) { /* a denominator that may add the cast weights: that case is not known */
            attest_error err = { "" };
            const attest_numerics n = { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS };
            attest_numerics unknown = n;
            unknown.cast_in_sum = ATTEST_UNKNOWN;
            attest_result_init(&s.result);
            ok(attest_compare(&s.result, s.truth, NULL, &s.c, s.outputs, &unknown, SERIAL, 0, &err), &err);
            ck_assert_msg(s.result.ratio_median < 0.4, "%g", s.result.ratio_median);
        }
        close_scene(&s);
    }
}
END_TEST

Suite *suite_bound_run(void)
{
    Suite *s = suite_create("bound_run");
    TCase *t = tcase_create("bound_run");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_partial_sums);
    tcase_add_test(t, test_other_accumulators);
    tcase_add_test(t, test_extra_addition);
    tcase_add_test(t, test_scores);
    tcase_add_test(t, test_honest);
    tcase_add_test(t, test_another_order);
    tcase_add_test(t, test_known_casts);
    suite_add_tcase(s, t);
    return s;
}
