/* test_study_kernels.c - the studies of kernels against size, type, place and denominator: their points, and what
 * must hold among them. */
#include "tests/verify/study/study_cases.h"

Suite *suite_study_kernels(void);

/* Series by series, each with `each` points. */
static void check_shape(const attest_results *r, size_t series, size_t each)
{
    ck_assert_uint_eq(r->count, series * each);
    for (size_t i = 0; i < r->count; i++) {
        const attest_result one = result_at(r, i), first = result_at(r, i / each * each);
        ck_assert_str_eq(one.series, first.series);
        ck_assert_msg(one.verdict == ATTEST_MEASURED, "%s x=%g: %s %s", one.series, one.abscissa,
                      attest_verdict_names[one.verdict], one.why);
        ck_assert_msg(i % each == 0 || one.abscissa > result_at(r, i - 1).abscissa, "%s x=%g", one.series,
                      one.abscissa);
        ck_assert(one.ordinate >= 0 && one.ordinate_least <= one.ordinate && one.ordinate <= one.ordinate_most);
    }
}

START_TEST(length)
{
    attest_results r = study_of("length", "--lengths 64..512 --kernel '*-online-f32|*-recurrent-f32' --variant "
                                          "softmax,linear-elu,retnet");
    check_shape(&r, 5, 4);
    for (size_t i = 0; i < r.count; i++) {
        const attest_result one = result_at(&r, i);
        const int causal = strcmp(one.variant, "retnet") == 0;
        ck_assert_int_eq(one.m, (int64_t)one.abscissa);
        ck_assert_int_eq(one.n, causal ? one.m : 4);
        ck_assert(one.ordinate == one.abs_scale_ratio && one.ordinate < 50 && one.seeds == 3);
    }
    attest_results_clear(&r);
    ck_assert_ptr_nonnull(strstr(study_text_of("study-length.md"), "grows as x^"));
}
END_TEST

START_TEST(dim)
{
    attest_results r = study_of("dim", "--dims 4..32 --kernel 'softmax-two*'");
    check_shape(&r, 1, 4);
    for (size_t i = 0; i < r.count; i++)
        ck_assert_int_eq(result_at(&r, i).d, (int64_t)result_at(&r, i).abscissa);
    attest_results_clear(&r);
}
END_TEST

/* Errors follow the roundoff of the type. */
START_TEST(precision)
{
    attest_results r = study_of("precision",
                                "--in f32,f16,bf16 --variant softmax,taylor:2 --kernel '*-two-pass-f32|*-direct-f32'");
    static const double u[] = { 0x1p-24, 0x1p-11, 0x1p-8 };
    check_shape(&r, 2, 3);
    for (size_t i = 0; i < r.count; i++) {
        const attest_result one = result_at(&r, i);
        ck_assert(one.abscissa == u[i % 3]);
        ck_assert_msg(one.ordinate > 0.1 * one.abscissa && one.ordinate < 20 * one.abscissa, "%s u=%g: %g", one.series,
                      one.abscissa, one.ordinate);
    }
    attest_results_clear(&r);
}
END_TEST

/* The row at position 1 sees one key: o is its v, to the last bit. */
START_TEST(position)
{
    attest_results r = study_of("position",
                                "--lengths 1,2,17,64 --variant softmax,taylor:2 --kernel '*-online-f32|*-direct-f32'");
    check_shape(&r, 2, 4);
    for (size_t i = 0; i < r.count; i++) {
        const attest_result one = result_at(&r, i);
        ck_assert_int_eq(one.n, 64);
        ck_assert_int_eq(one.rows_judged, 1);
        ck_assert_msg(i % 4 != 0 || one.range == 0, "position 1 has a range of %g", one.range);
        ck_assert_msg(i % 4 == 0 || one.range > 0, "position %g has no range", one.abscissa);
        ck_assert(strcmp(one.variant, "softmax") != 0 || i % 4 != 0 || one.rounding < 1e-30);
    }
    attest_results_clear(&r);
}
END_TEST

START_TEST(denominator)
{
    attest_results r = study_of("denominator", "--ranges 1,8 --seeds 0,1");
    check_shape(&r, 6, 2);
    static const char *const norms[] = { "sum", "length", "l2", "rms", "layernorm", "none" };
    for (size_t i = 0; i < r.count; i++) {
        ck_assert_str_eq(result_at(&r, i).norm, norms[i / 2]);
        ck_assert(result_at(&r, i).ordinate == result_at(&r, i).norm_error && result_at(&r, i).ordinate < 1e-5);
    }
    attest_results_clear(&r);
}
END_TEST

/* A filter that keeps every key changes nothing; one that drops some is told against softmax over all of them. */
START_TEST(filter)
{
    attest_results r = study_of("filter", "--variant filtered:0.5,filtered:5,shifted:1 --ranges 0.25,4 --seeds 0");
    ck_assert_uint_eq(r.count, 6);
    double y[6];
    for (size_t i = 0; i < 6; i++) {
        const attest_result one = result_at(&r, i);
        y[i] = one.ordinate;
        ck_assert(one.ordinate == one.truncation && one.ordinate > 0);
    }
    attest_results_clear(&r);
    ck_assert_msg(y[0] == y[2] && y[2] == y[4], "range 0.25: %g %g %g", y[0], y[2], y[4]);
    ck_assert_msg(y[3] == y[5] && y[1] != y[5], "range 4: %g %g %g", y[1], y[3], y[5]);
    ck_assert_msg(y[1] > 0.05, "what the filter drops is not seen: %g", y[1]);
}
END_TEST

/* Sums of positive numbers: 8 bits are full long before 11, 24 are not. */
START_TEST(state)
{
    attest_results r = study_of("state", "--families positive --lengths 16..8192");
    check_shape(&r, 3, 10);
    for (size_t i = 0; i < r.count; i++) {
        const attest_result one = result_at(&r, i);
        ck_assert(one.ordinate <= 1 && one.rounding >= 0 && one.rounding < 1);
    }
    ck_assert(result_at(&r, 9).ordinate < 0.01 && result_at(&r, 9).rounding > 0.7); /* bf16 */
    ck_assert(result_at(&r, 19).ordinate > 0.05 && result_at(&r, 19).ordinate < 0.4);
    ck_assert(result_at(&r, 29).ordinate > 0.99 && result_at(&r, 29).rounding < 1e-5);
    attest_results_clear(&r);
    ck_assert_ptr_nonnull(strstr(study_text_of("study-state.md"), "| positive bf16 | N=512"));
}
END_TEST

Suite *suite_study_kernels(void)
{
    Suite *s = suite_create("study_kernels");
    TCase *t = tcase_create("studies");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, study_setup, study_teardown);
    tcase_add_test(t, length);
    tcase_add_test(t, dim);
    tcase_add_test(t, precision);
    tcase_add_test(t, position);
    tcase_add_test(t, denominator);
    tcase_add_test(t, filter);
    tcase_add_test(t, state);
    suite_add_tcase(s, t);
    return s;
}
