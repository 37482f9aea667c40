/* test_compare_class.c - what tables of tightness are made of: a case's median error/bound, and its class; and what is
 * said of ill-posed elements. */
#include "tests/verify/compare/compare_scene.h"

START_TEST(test_illposed)
{
    scene s;
    open_scene(&s, "variant=linear norm=sum n=5 d=4 family=flat", NULL); /* q = 0, so z = 0 */
    give(&s, O);
    judge(&s, NULL, 0, 0);
    expect(&s, "only o", ATTEST_UNDECIDED, 0);
    ck_assert_msg(strstr(s.result.why, "nothing could be judged: 20 elements ill-posed") != NULL, "%s", s.result.why);
    attest_tensor *u = give(&s, U);
    give(&s, Z);
    judge(&s, NULL, 0, 0);
    expect(&s, "u and z are 0, and zeros pass", ATTEST_NO_EVIDENCE, 0);
    ck_assert_msg(strstr(s.result.why, "20 elements ill-posed") != NULL, "%s", s.result.why);
    ck_assert(s.result.elements_judged == 25 && s.result.elements_illposed == 20 && s.result.elements_unbounded == 0);
    ck_assert_uint_eq(attest_result_left(&s.result), ATTEST_LEFT_ILLPOSED | ATTEST_LEFT_BLIND);
    attest_result_allow(&s.result, "q = 0");
    expect(&s, "allowed, and no pass", ATTEST_SKIP, 0);
    ck_assert_msg(strstr(s.result.why, "ill-posed (the divisor vanishes); allowed: q = 0") != NULL, "%s", s.result.why);
    put(u, 3, 1);
    judge(&s, NULL, 0, 0);
    expect(&s, "u is wrong", ATTEST_FAIL, ATTEST_REASON_BOUND);
    ck_assert_str_eq(s.result.worst, "u[0,0,0,3]");
    close_scene(&s);
}
END_TEST

static void set(const attest_bundle *inputs, attest_role role, int64_t at, double x)
{
    attest_store_bits(attest_bundle_role(inputs, role), at, attest_from_f64(ATTEST_F32, x));
}

/* |z| is at most u of what its terms come to: o is ill-posed for every kernel, whatever it declares. */
START_TEST(test_vanishing)
{
    static const struct {
        double last;
        int illposed;
    } cases[] = { { -1, 1 }, { -1 + 0x1p-24, 1 }, { -1 + 0x1p-22, 0 } };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        static const char line[] = "variant=linear norm=sum scale=1 n=1 m=2 d=1 e=1";
        scene s;
        attest_case c;
        attest_bundle *inputs = NULL;
        attest_error err = { "" };
        ok(attest_case_parse(&c, line, NULL, NULL, &err), &err);
        ok(attest_bundle_new(&inputs, &err), &err);
        ok(attest_draw_missing(inputs, &c, 0, 0, &err), &err);
        set(inputs, ATTEST_Q, 0, 1);
        set(inputs, ATTEST_K, 0, 1);
        set(inputs, ATTEST_K, 1, cases[n].last);
        open_scene(&s, line, inputs);
        give(&s, O);
        give(&s, Z);
        judge(&s, NULL, 0, 0);
        ck_assert_msg(s.result.elements_illposed == cases[n].illposed, "%zu: %s", n, s.result.why);
        if (cases[n].illposed) {
            give(&s, U);
            judge(&s, NULL, 0, 0);
            expect(&s, "u tells", ATTEST_PARTIAL, 0);
            attest_result_allow(&s.result, "z vanishes");
            expect(&s, "allowed", ATTEST_ILLPOSED, 0);
        }
        close_scene(&s);
    }
}
END_TEST

Suite *suite_compare_class(void);

/* The median over the elements of o whose bound is not 0: an element without an error counts as 0. */
START_TEST(test_ratio_median)
{
    scene s;
    open_scene(&s, "variant=softmax mask=causal-br n=9 m=5 d=4 e=1", NULL);
    attest_tensor *o = give(&s, O);
    int64_t elements = 0;
    for (int64_t i = 0; i < 9; i++) { /* one element at a time far off: its bound is told */
        const uint64_t kept = attest_load_bits(o, i);
        const double before = attest_load(o, i);
        put(o, i, before + 1);
        judge(&s, NULL, 0, 0);
        attest_store_bits(o, i, kept);
        if (s.result.bound > 0) { /* a row without keys has no bound: it is compared exactly */
            put(o, i, before + (double)(elements + 1) / 64 * s.result.bound);
            elements++;
        }
    }
    ck_assert_msg(elements == 5, "%d elements", (int)elements); /* four rows see no key */
    judge(&s, NULL, 0, 0);
    expect(&s, "ratios k/64", ATTEST_PASS, 0);
    const double middle = (double)((elements + 1) / 2) / 64;
    ck_assert_msg(fabs(s.result.ratio_median - middle) < 0.5 / 64 && s.result.ratio_hi > s.result.ratio_median,
                  "%g, not %g of %d", s.result.ratio_median, middle, (int)elements);
    for (int64_t i = 0; i < 9; i++)
        put(o, i, 0);
    judge(&s, NULL, 0, 0);
    ck_assert(s.result.ratio_median > 1);
    close_scene(&s);
    open_scene(&s, "variant=softmax n=2 m=2 d=2 e=3 family=ones", NULL);
    give(&s, O);
    judge(&s, NULL, 0, 0);
    ck_assert_msg(s.result.ratio_median == 0, "exact: %g", s.result.ratio_median);
    close_scene(&s);
    open_scene(&s, "variant=softmax n=2 m=2 d=2 e=3", NULL);
    give(&s, LSE);
    judge(&s, NULL, 0, 0);
    ck_assert_msg(isnan(s.result.ratio_median), "without o");
    close_scene(&s);
}
END_TEST

/* What rows are told together by: weights, declared schedule, types other than the usual ones. */
START_TEST(test_class)
{
    static const struct {
        const char *line;
        uint32_t schedule;
        const char *class;
    } cases[] = {
        { "variant=softmax n=2 d=2", ATTEST_SCHEDULE_TWO_PASS, "exp two-pass f32" },
        { "variant=softmax n=2 d=2 in=bf16 p=bf16", ATTEST_SCHEDULE_ONLINE, "exp online bf16 p=bf16" },
        { "variant=softmax n=2 d=2 in=bf16 out=f32", ATTEST_SCHEDULE_SPLIT, "exp split bf16 out=f32" },
        { "variant=softmax n=2 d=2 in=f64", ATTEST_SCHEDULE_UNKNOWN, "exp undeclared f64" },
        { "variant=softmax n=2 d=2 in=f32 acc=f64 out=f32 p=f32", 0, "exp undeclared f32 acc=f64 p=f32" },
        { "variant=taylor:2 n=2 d=2", ATTEST_SCHEDULE_DIRECT, "taylor direct f32" },
        { "variant=linear n=2 d=2", ATTEST_SCHEDULE_RECURRENT, "power recurrent f32" },
        { "variant=deltanet n=2 d=2", ATTEST_SCHEDULE_CHUNK, "delta chunk f32" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene s;
        attest_error err = { "" };
        const attest_numerics numerics = { .struct_size = sizeof numerics, .schedule = cases[i].schedule };
        open_scene(&s, cases[i].line, NULL);
        give(&s, O);
        attest_result_init(&s.result);
        ok(attest_compare(&s.result, s.truth, NULL, &s.c, s.outputs, &numerics, 0, 0, &err), &err);
        ck_assert_str_eq(s.result.class, cases[i].class);
        close_scene(&s);
    }
}
END_TEST

Suite *suite_compare_class(void)
{
    Suite *s = suite_create("compare_class");
    TCase *t = tcase_create("compare_class");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, test_ratio_median);
    tcase_add_test(t, test_illposed);
    tcase_add_test(t, test_vanishing);
    tcase_add_test(t, test_class);
    suite_add_tcase(s, t);
    return s;
}
