/* test_bound_probabilistic.c - what errors probably are (R-PROBABILISTIC): formulas, conditions, casts that are
 * independent or not. */
#include "tests/verify/compare/compare_scene.h" /* its U, an output, is not used here */

#include "reference/bound/bound_row.h"
#include "tests/reference/bound/bound_row.h"

Suite *suite_bound_probabilistic(void);

#define KNOWN                                                                                                          \
    .struct_size = sizeof(attest_numerics), .exp_error = 2 * U, .log2_domain = ATTEST_NO, .cast_in_sum = ATTEST_NO,    \
    .p_rounding = ATTEST_ROUNDING_NEAREST, .acc_truncates = ATTEST_NO, .acc_unit = U, .div_error = U,                  \
    .scale_dtype = 1 + ATTEST_F32

/* ---- formulas -------------------------------------------------------------------------------------------------- */
/* 4 sqrt(n) u (1 + gamma_n) from n = 17 on, gamma_n below. */
START_TEST(test_gamma)
{
    mag_t u, g;
    mag_init(u);
    mag_init(g);
    mag_set_ui_2exp_si(u, 1, -20);
    bound_probabilistic_gamma(g, 9, u);
    is("n = 9", "gamma", g, gamma_of(9, 0x1p-20));
    bound_probabilistic_gamma(g, 100, u);
    is("n = 100", "gamma", g, 40 * 0x1p-20 * (1 + gamma_of(100, 0x1p-20)));
    bound_probabilistic_gamma(g, 1 << 18, u); /* where gamma_n counts */
    is("n = 2^18", "gamma", g, 2048 * 0x1p-20 * (1 + gamma_of(1 << 18, 0x1p-20)));
    bound_probabilistic_gamma(g, 1 << 20, u);
    ck_assert_msg(mag_is_inf(g), "n u = 1 has no bound");
    mag_clear(g);
    mag_clear(u);
}
END_TEST

/* 32 weights of 1: partial sums 1..32. */
START_TEST(test_serial_sum)
{
    double weight[32], error[32] = { 0 }, v[32];
    const double squares = 32.0 * 33 * 65 / 6; /* sum of k^2 */
    const double two_tiles = 2 * (16.0 * 17 * 33 / 6 - 1) + 16 * 16 + 32 * 32;
    bound_run run = { .keys = 32, .tile = 32, .likely = 1, .root = 6, .weight = weight, .error = error };
    bound_model m;
    bound_weights w;
    attest_error err;
    mag_t y, probable, moved;
    for (int j = 0; j < 32; j++)
        weight[j] = v[j] = 1;
    bound_model_init(&m);
    mag_set_d(m.u, U);
    mag_set_d(m.u_sum, U);
    ck_assert(bound_weights_init(&w, 32, &err) == ATTEST_OK);
    mag_init(y);
    mag_init(probable);
    mag_init(moved);
    mag_inf(y);
    mag_inf(probable);
    bound_run_sum(y, probable, &run, &m, &w, v, moved);
    is("32 products", "hard", y, U * (528 - 1 + 32));
    is("32 products", "probable", probable, 4 * U * sqrt(squares - 1 + 32));
    mag_inf(probable);
    bound_run_sum(y, probable, &run, &m, &w, NULL, moved);
    is("32 weights", "probable", probable, 4 * U * sqrt(squares - 1));
    run.tile = 16;
    mag_inf(y);
    mag_inf(probable);
    bound_run_sum(y, probable, &run, &m, &w, NULL, moved);
    is("tiles", "probable", probable, fmin(4 * U * sqrt(two_tiles), value_of(y)));
    run.tile = 32;
    run.extra = 1;
    mag_inf(y);
    mag_inf(probable);
    bound_run_sum(y, probable, &run, &m, &w, NULL, moved);
    is("and one more", "probable", probable, 4 * U * sqrt(squares - 1 + 32 * 32));
    run.extra = 0;
    mag_set_d(moved, 0.25); /* each partial sum may be off by that, all products together */
    mag_inf(y);
    mag_inf(probable);
    bound_run_sum(y, probable, &run, &m, &w, v, moved);
    is("moved", "probable", probable, 4 * U * (sqrt(squares - 1 + 32) + 6 * 0.25 + 0.25));
    run.likely = 0;
    mag_inf(probable);
    bound_run_sum(y, probable, &run, &m, &w, v, moved);
    ck_assert_msg(value_of(probable) == value_of(y), "not asked for");
    mag_clear(moved);
    mag_clear(probable);
    mag_clear(y);
    bound_weights_clear(&w);
    bound_model_clear(&m);
}
END_TEST

/* Coefficients 3 and 4 of equal values: 5 times them. */
START_TEST(test_root)
{
    double coef[2] = { 0.75, 1 }, value[2] = { 8, 8 };
    bound_sums sums = { .keys = 2, .value = value };
    mag_t y;
    mag_init(y);
    sums.coef[BOUND_CAST] = coef;
    fmpz_init_set_si(sums.shift, 2);
    bound_sums_root(y, &sums, BOUND_CAST);
    is("3, 4", "root", y, 40);
    value[0] = value[1] = 0x1p-600; /* squares underflow */
    bound_sums_root(y, &sums, BOUND_CAST);
    ck_assert(value_of(y) >= 5 * 0x1p-600);
    fmpz_clear(sums.shift);
    mag_clear(y);
}
END_TEST

/* ---- elements --------------------------------------------------------------------------------------------------- */
/* Judges row 0 of o as the scene holds it. */
static void judge_row(attest_element *elements, const scene *s, const attest_numerics *n, uint32_t flags)
{
    attest_error err = { "" };
    ok(attest_judge_row(elements, NULL, s->truth, n, flags, O, attest_bundle_get(s->outputs, O),
                        (attest_row){ 0, 0, 0 }, &err),
       &err);
}

static attest_element first(const char *line, const attest_numerics *n, uint32_t flags)
{
    attest_element elements[8];
    scene s;
    open_scene(&s, line, NULL);
    give(&s, O);
    judge_row(elements, &s, n, flags);
    close_scene(&s);
    return elements[0];
}

/* Where its conditions are given there is a number, elsewhere none. */
START_TEST(test_conditions)
{
    static const attest_numerics good = { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS };
    static const struct {
        const char *line;
        attest_numerics n;
        int there;
    } cases[] = {
        { "n=2 m=40 d=4 e=2", { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS }, 1 },
        { "n=2 m=40 d=4 e=2", { KNOWN, .schedule = ATTEST_SCHEDULE_UNKNOWN }, 0 },
        { "n=2 m=40 d=4 e=2", { .struct_size = sizeof good, .schedule = ATTEST_SCHEDULE_TWO_PASS }, 0 },
        { "n=2 m=40 d=4 e=2",
          { .struct_size = sizeof good,
            .schedule = ATTEST_SCHEDULE_TWO_PASS,
            .acc_truncates = ATTEST_NO,
            .acc_unit = 0x1p-8 },
          0 },
        { "variant=softmax norm=none n=2 m=40 d=4 e=2", { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS }, 1 },
        { "variant=softmax norm=length n=2 m=40 d=4 e=2", { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS }, 1 },
        { "variant=softmax norm=floor:1000 n=2 m=40 d=4 e=2", { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS }, 1 },
        { "variant=softmax norm=rms n=2 m=40 d=4 e=2", { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS }, 0 },
        { "variant=deltanet n=2 d=4 e=2", { KNOWN, .schedule = ATTEST_SCHEDULE_RECURRENT }, 0 },
        { "variant=linear mask=causal n=40 d=4 e=2", { KNOWN, .schedule = ATTEST_SCHEDULE_RECURRENT }, 1 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const attest_element x = first(cases[k].line, &cases[k].n, 0);
        ck_assert_msg(cases[k].there ? x.probable > 0 && x.probable <= x.bound : isnan(x.probable),
                      "%s, row %d: %g of %g", cases[k].line, (int)k, x.probable, x.bound);
    }
    attest_error err = { "" };
    for (int other = 0; other < 2; other++) {
        const attest_tensor_id id = { ATTEST_KIND_ROLE, other ? ATTEST_U : ATTEST_LSE };
        attest_element x[2];
        scene s;
        open_scene(&s, "n=2 m=40 d=4 e=2", NULL);
        give(&s, id);
        ok(attest_judge_row(x, NULL, s.truth, &good, 0, id, attest_bundle_get(s.outputs, id), (attest_row){ 0, 0, 0 },
                            &err),
           &err);
        ck_assert_msg(x[0].bound > 0 && isnan(x[0].probable), "not o");
        close_scene(&s);
    }
}
END_TEST

/* The parts that it takes down: sums of any order, of states, scores of many products; of 400 keys about a fifth.
 * taylor:8: 48 of 959 factors stay, (4 sqrt(911) + 48)/959 = 0.176. */
START_TEST(test_parts)
{
    static const struct {
        const char *line;
        uint32_t schedule;
        uint32_t flags;
        double least, most;
    } cases[] = {
        { "norm=none variant=linear n=1 m=400 d=2 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, 0, 0.15, 0.25 },
        { "norm=none variant=linear n=1 m=400 d=2 e=1 scale=1 state=draw", ATTEST_SCHEDULE_RECURRENT, 0, 0.15, 0.25 },
        { "norm=none variant=taylor:8 n=1 m=400 d=2 e=1 scale=1 state=draw", ATTEST_SCHEDULE_RECURRENT, 0, 0.17, 0.18 },
        { "norm=sum variant=linear-relu n=1 m=400 d=2 e=1 scale=1 family=ones", ATTEST_SCHEDULE_DIRECT, 0, 0.17, 0.25 },
        { "norm=length variant=linear n=1 m=400 d=2 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, 0, 0.15, 0.25 },
        { "norm=floor:1e9 variant=linear n=1 m=400 d=2 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, 0, 0.15, 0.25 },
        { "norm=none gates=out variant=linear n=1 m=400 d=2 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, 0, 0.15, 0.25 },
        { "norm=none variant=linear n=1 m=3 d=400 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, 0, 0.19, 0.25 },
        { "norm=none variant=linear n=1 m=3 d=400 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, ATTEST_SERIAL_SUMS, 0.15, 0.5 },
        { "norm=none variant=linear n=1 m=3 d=400 e=1 scale=1 clamp=5", ATTEST_SCHEDULE_DIRECT, 0, 0.99, 1 },
        { "norm=none variant=linear n=1 m=3 d=4 e=1 scale=1", ATTEST_SCHEDULE_DIRECT, 0, 0.999, 1 },
        { "n=1 m=3 d=4 e=1 family=range:8", ATTEST_SCHEDULE_TWO_PASS, 0, 0.999, 1 }, /* exp and division are in it */
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const attest_numerics n = { KNOWN, .schedule = cases[k].schedule };
        const attest_element x = first(cases[k].line, &n, cases[k].flags);
        ck_assert_msg(x.probable >= cases[k].least * x.bound && x.probable <= cases[k].most * x.bound, "%s, %d: %g",
                      cases[k].line, (int)k, x.probable / x.bound);
    }
}
END_TEST

/* 64 equal weights, |v| = 1 + j/64: casts err by u_p sum |v|/64 at most, probably by 4 u_p sqrt(sum v^2)/64. */
START_TEST(test_casts)
{
    static const struct {
        uint32_t in_sum, rounding;
        int hoeffding;
    } cases[] = {
        { ATTEST_NO, ATTEST_ROUNDING_NEAREST, 1 },
        { ATTEST_NO, 0, 0 },
        { ATTEST_YES, ATTEST_ROUNDING_NEAREST, 2 },
        { ATTEST_UNKNOWN, ATTEST_ROUNDING_NEAREST, 1 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        attest_element x;
        attest_error err = { "" };
        attest_numerics n = { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS };
        double sum = 0, squares = 0, around = 0, apart = 0;
        scene s;
        attest_bundle *inputs;
        attest_case c;
        ok(attest_case_parse(&c, "n=1 m=64 d=1 e=1 in=bf16 p=bf16 out=f32", NULL, NULL, &err), &err);
        ok(attest_bundle_new(&inputs, &err), &err);
        ok(attest_draw_missing(inputs, &c, 0, 0, &err), &err);
        put(attest_bundle_role(inputs, ATTEST_Q), 0, 0);
        for (int j = 0; j < 64; j++) {
            const double v = j % 2 ? 1 + j / 64.0 : -1 - j / 64.0;
            put(attest_bundle_role(inputs, ATTEST_V), j, v);
            sum += fabs(v) / 64;
            squares += v * v / 64 / 64;
            around += (v - 0.5 / 64) * (v - 0.5 / 64) / 64 / 64;
            apart += fabs(v - 0.5 / 64) / 64;
        }
        n.cast_in_sum = cases[k].in_sum;
        n.p_rounding = cases[k].rounding;
        open_scene(&s, "n=1 m=64 d=1 e=1 in=bf16 p=bf16 out=f32", inputs);
        give(&s, O);
        judge_row(&x, &s, &n, 0);
        const double hard = (cases[k].hoeffding == 2 ? apart : sum) * (cases[k].rounding ? 1 : 2);
        const double root = 4 * sqrt(cases[k].hoeffding == 2 ? around : squares);
        const double want = 0x1p-8 * (cases[k].hoeffding == 0 ? hard : root);
        ck_assert_msg(fabs(x.term[ATTEST_TERM_CAST] - 0x1p-8 * hard) < 0.02 * 0x1p-8 * hard, "hard");
        ck_assert_msg(fabs(x.probable - want) < 0.02 * want, "%d: %g, not %g", (int)k, x.probable, want);
        close_scene(&s);
    }
}
END_TEST

/* 63 weights e^-16.25 in f16, whose least number is e^-16.6: what they lose by underflow stays whole. */
START_TEST(test_cast_underflow)
{
    static const char line[] = "n=1 m=64 d=1 e=1 scale=1 in=f16 p=f16 out=f32";
    const attest_numerics n = { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS }; /* nearest, not in the sum */
    attest_element x;
    attest_error err = { "" };
    attest_bundle *inputs;
    attest_case c;
    scene s;
    ok(attest_case_parse(&c, line, NULL, NULL, &err), &err);
    ok(attest_bundle_new(&inputs, &err), &err);
    ok(attest_draw_missing(inputs, &c, 0, 0, &err), &err);
    put(attest_bundle_role(inputs, ATTEST_Q), 0, 1);
    for (int j = 0; j < 64; j++) {
        put(attest_bundle_role(inputs, ATTEST_K), j, j ? -16.25 : 0);
        put(attest_bundle_role(inputs, ATTEST_V), j, j ? 1 : 0);
    }
    open_scene(&s, line, inputs);
    give(&s, O);
    judge_row(&x, &s, &n, 0);
    const double underflow = 63 * 0x1p-25;
    ck_assert_msg(x.term[ATTEST_TERM_CAST] > underflow && x.bound < 1.01 * x.term[ATTEST_TERM_CAST], "%g", x.bound);
    ck_assert_msg(x.probable > underflow, "%g of %g", x.probable, underflow);
    close_scene(&s);
}
END_TEST

/* ---- kernels ---------------------------------------------------------------------------------------------------- */
/* Softmax in two passes with weights cast to bf16, in float. */
static void run_kernel(const scene *s)
{
    const attest_problem *p = &s->c.problem;
    const attest_tensor *q = attest_bundle_role(s->inputs, ATTEST_Q), *k = attest_bundle_role(s->inputs, ATTEST_K);
    const attest_tensor *v = attest_bundle_role(s->inputs, ATTEST_V);
    attest_tensor *o = attest_bundle_role(s->outputs, ATTEST_O);
    static float w[4096];
    for (int64_t i = 0; i < p->n; i++) {
        float top = -INFINITY, l = 0;
        for (int64_t j = 0; j < p->m; j++) {
            float sum = 0;
            for (int64_t c = 0; c < p->d; c++)
                sum += (float)attest_load(q, i * p->d + c) * (float)attest_load(k, j * p->d + c);
            w[j] = (float)p->scale * sum;
            top = w[j] > top ? w[j] : top;
        }
        for (int64_t j = 0; j < p->m; j++) {
            w[j] = expf(w[j] - top);
            l += w[j];
        }
        for (int64_t c = 0; c < p->e; c++) {
            float u = 0;
            for (int64_t j = 0; j < p->m; j++)
                u += attest_bf16_to_f32(attest_bf16_from_f32(w[j])) * (float)attest_load(v, j * p->e + c);
            put(o, i * p->e + c, (double)(u / l));
        }
    }
}

static void judge_kernel(scene *s, const char *line)
{
    attest_error err = { "" };
    const attest_numerics n = { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS };
    open_scene(s, line, NULL);
    give(s, O);
    run_kernel(s);
    attest_result_init(&s->result);
    ok(attest_compare(&s->result, s->truth, NULL, &s->c, s->outputs, &n, 0, 0, &err), &err);
}

/* Independent casts stay inside (of mean square u^2/3, so a deviation is 0.14); casts that all err alike do not, and
 * pass all the same. */
START_TEST(test_verdicts)
{
    double largest = 0;
    for (int seed = 1; seed <= 6; seed++) {
        char line[128];
        scene s;
        snprintf(line, sizeof line, "n=16 m=400 d=4 e=4 in=bf16 p=bf16 out=f32 seed=%d", seed);
        judge_kernel(&s, line);
        expect(&s, line, ATTEST_PASS, 0);
        ck_assert_msg(s.result.probabilistic_ratio < 1 && s.result.probabilistic_ratio > 2 * s.result.ratio_hi,
                      "%s: %g, hard %g", line, s.result.probabilistic_ratio, s.result.ratio_hi);
        largest = fmax(largest, s.result.probabilistic_ratio);
        close_scene(&s);
    }
    ck_assert_msg(largest > 0.2, "%g", largest);
    scene s;
    judge_kernel(&s, "n=2 m=400 d=4 e=1 in=bf16 p=bf16 out=f32 family=cast-edge");
    expect(&s, "cast-edge", ATTEST_PASS, 0);
    ck_assert_msg(s.result.probabilistic_ratio > 3 && s.result.ratio_hi <= 1, "%g, hard %g",
                  s.result.probabilistic_ratio, s.result.ratio_hi);
    close_scene(&s);
}
END_TEST

Suite *suite_bound_probabilistic(void)
{
    Suite *s = suite_create("bound_probabilistic");
    TCase *t = tcase_create("bound_probabilistic");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, test_gamma);
    tcase_add_test(t, test_serial_sum);
    tcase_add_test(t, test_root);
    tcase_add_test(t, test_conditions);
    tcase_add_test(t, test_parts);
    tcase_add_test(t, test_casts);
    tcase_add_test(t, test_cast_underflow);
    tcase_add_test(t, test_verdicts);
    suite_add_tcase(s, t);
    return s;
}
