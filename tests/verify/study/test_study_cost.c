/* test_study_cost.c - study cost: every point has a time and errors that belong together; the front; the test times
 * nothing. */
#include "tests/verify/study/study_cases.h"

Suite *suite_study_cost(void);

#define SMALL "--variant softmax,taylor:1,taylor:3 --lengths 64,128 --dims 8 "

START_TEST(points_of_a_small_grid)
{
    attest_results r = study_of("cost", SMALL);
    int front = 0, softmax = 0;
    ck_assert_uint_eq(r.count, 2 * (3 + 2 * 6));
    for (size_t i = 0; i < r.count; i++) {
        const attest_result one = result_at(&r, i);
        ck_assert_msg(one.verdict == ATTEST_MEASURED, "%s: %s", one.series, one.why);
        ck_assert(one.abscissa == (i % 2 ? 128 : 64) && one.n == (i % 2 ? 128 : 64) && one.d == 8);
        ck_assert_msg(one.ordinate > 0 && one.ordinate_least <= one.ordinate && one.ordinate <= one.ordinate_most,
                      "%s: time %g", one.series, one.ordinate);
        ck_assert(one.total_lo <= one.total_hi && one.total_hi < 1);
        if (strcmp(one.variant, "softmax") == 0) { /* its total error is its rounding */
            ck_assert(one.truncation != one.truncation && one.total_hi == one.rounding && one.total_hi < 1e-6);
            softmax++;
        } else {
            ck_assert_msg(fabs(one.total_hi - one.truncation) <= one.rounding * (1 + 1e-9) && one.rounding < 1e-5,
                          "%s: %g is not %g +- %g", one.series, one.total_hi, one.truncation, one.rounding);
        }
        front += strcmp(one.why, "front") == 0;
    }
    ck_assert_int_eq(softmax, 6);
    ck_assert_int_ge(front, 2); /* at least the fastest of each length */
    attest_results_clear(&r);
    ck_assert_ptr_nonnull(strstr(study_text_of("study-cost.md"), "| recurrence pays"));
}
END_TEST

/* The truncation of a variant is its own, whatever computes it. */
START_TEST(truncation_is_of_the_variant)
{
    attest_results r = study_of("cost", SMALL "--kernel 'taylor-[dp]*'");
    double truncation[2][2] = { { 0 } };
    for (size_t i = 0; i < r.count; i++) {
        const attest_result one = result_at(&r, i);
        double *known = &truncation[strcmp(one.variant, "taylor:3") == 0][i % 2];
        ck_assert_msg(*known == 0 || *known == one.truncation, "%s: %g, %g", one.series, *known, one.truncation);
        *known = one.truncation;
    }
    ck_assert(truncation[1][0] < truncation[0][0] && truncation[1][1] < truncation[0][1]);
    attest_results_clear(&r);
}
END_TEST

START_TEST(refusals)
{
    ck_assert_int_eq(study_command("cost --kernel taylor-recurrent-f32 --variant taylor:6 --dims 16 --lengths 4096"),
                     77);
    ck_assert_msg(strstr(study_text_of("err"), "taylor-recurrent-f32: "), "%s", study_text_of("err"));
    ck_assert_int_eq(study_command("cost --kernel taylor-direct-f32 --variant taylor:1 --lengths 65536"), 77);
    ck_assert_msg(strstr(study_text_of("err"), "a run would take about "), "%s", study_text_of("err"));
    ck_assert_int_eq(study_command("cost --seeds 0,1"), 2);
    ck_assert_int_eq(study_command("cost --kernel " ATTEST_TEST_BUILD "/kernels/x.so:y"), 2);
}
END_TEST

Suite *suite_study_cost(void)
{
    Suite *s = suite_create("study_cost");
    TCase *t = tcase_create("cost");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, study_setup, study_teardown);
    tcase_add_test(t, points_of_a_small_grid);
    tcase_add_test(t, truncation_is_of_the_variant);
    tcase_add_test(t, refusals);
    suite_add_tcase(s, t);
    return s;
}
