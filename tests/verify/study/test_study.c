/* test_study.c - `attest study`: slopes against p+1, and the grid of the order study. */
#include "tests/verify/study/study_cases.h"

Suite *suite_study(void);

START_TEST(slopes_are_p_plus_1)
{
    attest_results rows = study_of("range", "");
    attest_error err;
    int series = 0;
    for (size_t start = 0, end; start < rows.count; start = end) {
        double x[64], y[64];
        attest_fit fit;
        const attest_result first = result_at(&rows, start);
        const char *name = first.series;
        for (end = start; end < rows.count; end++) {
            const attest_result r = result_at(&rows, end);
            if (strcmp(r.series, name) != 0)
                break;
            x[end - start] = r.abscissa;
            y[end - start] = r.ordinate;
            ck_assert_msg(x[end - start] == (name[0] == 'z' ? r.abs_score : r.range) && y[end - start] == r.abs_hi,
                          "%s: the point is not size and error of its result", name);
            ck_assert_msg(fabs(r.range * ldexp(1, 12 - (int)(end - start)) - 1) < 1e-6, "%s: range %g", name, r.range);
            ck_assert_msg(r.abs_hi - r.abs_lo <= 1e-6 * r.abs_hi, "%s: the enclosure is wide", name);
        }
        ck_assert_int_eq(attest_fit_loglog(&fit, x, y, end - start, &err), ATTEST_OK);
        const int order = atoi(strchr(name, '=') + 1);
        ck_assert_uint_eq(fit.points, 7); /* 2^-12 .. 2^-6 */
        ck_assert_msg(fabs(fit.slope - (order + 1)) <= 0.02, "%s: slope %.5f, expected %d", name, fit.slope, order + 1);
        series++;
    }
    ck_assert_int_eq(series, 4 * 6);
    attest_results_clear(&rows);
}
END_TEST

START_TEST(order_grid)
{
    attest_results rows = study_of("order", "");
    ck_assert_uint_eq(rows.count, 4 * 6 * 13);
    int differ = 0;
    for (size_t i = 0; i < rows.count; i++) {
        const attest_result one = result_at(&rows, i), *r = &one;
        ck_assert_msg(r->verdict == ATTEST_MEASURED || r->verdict == ATTEST_ILLPOSED, "%s: %s", r->problem, r->why);
        ck_assert_msg(r->verdict == ATTEST_ILLPOSED || (r->truncation > 0 && r->rounding > 0 && r->range > 0), "%s",
                      r->problem);
        /* Truncation falls with the order once P is far above the range: R = 0.5, 1, 2 at the last order. */
        if (r->abscissa == 12 && r->range < 1.5)
            ck_assert_msg(r->truncation < 1e-9, "%s: truncation %g at order 12", r->problem, r->truncation);
        /* Centers are different functions: zero (first) against mid (last) of the same range and order. */
        if (i >= 3 * 78)
            differ += r->truncation != result_at(&rows, i - 3 * 78).truncation;
    }
    ck_assert_msg(differ > 60, "centers zero and mid differ at only %d points", differ);
    attest_results_clear(&rows);
}
END_TEST

Suite *suite_study(void)
{
    Suite *s = suite_create("study");
    TCase *t = tcase_create("studies");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, study_setup, study_teardown);
    tcase_add_test(t, slopes_are_p_plus_1);
    tcase_add_test(t, order_grid);
    suite_add_tcase(s, t);
    return s;
}
