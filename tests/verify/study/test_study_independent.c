/* test_study_independent.c - points of studies beside formulas written again (tests/independent/points.py). */
#include "tests/verify/study/study_cases.h"

Suite *suite_study_independent(void);

/* Runs points.py with Debian's Python, which has numpy and mpmath, else the one in PATH; its exit code. */
static int points(const char *arguments)
{
    char command[1024];
    const char *python = system("/usr/bin/python3 -c 'import numpy, mpmath' 2>/dev/null") == 0 ? "/usr/bin/python3"
                                                                                               : "python3";
    snprintf(command, sizeof command,
             "PYTHONDONTWRITEBYTECODE=1 %s " ATTEST_TEST_ROOT "/tests/independent/points.py " ATTEST_TEST_BUILD
             "/attest %s/points %s >%s/out 2>%s/err",
             python, folder, arguments, folder, folder);
    const int code = system(command);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

START_TEST(points_are_the_formulas)
{
    const int code = points("7");
    ck_assert_msg(code == 0, "exit code %d: %s%s", code, study_text_of("out"), study_text_of("err"));
    ck_assert_ptr_nonnull(strstr(study_text_of("out"), "order: 48 points, 0 differences\n"
                                                       "range: 16 points, 0 differences\n"
                                                       "length: 12 points, 0 differences\n"
                                                       "state: 3 points, 0 differences\n"));
}
END_TEST

/* 79 points a seed, 237 with those above. */
START_TEST(and_of_other_draws)
{
    static const char *const seeds[] = { "8", "9" };
    const int code = points(seeds[_i]);
    ck_assert_msg(code == 0, "exit code %d: %s%s", code, study_text_of("out"), study_text_of("err"));
    ck_assert_ptr_nonnull(strstr(study_text_of("out"), "order: 48 points, 0 differences\n"));
}
END_TEST

/* The comparison can fail: a scale off by 2^-20, a state of one bit less. */
START_TEST(other_formulas_are_noticed)
{
    ck_assert_int_eq(points("7 wrong"), 1);
    ck_assert_msg(strstr(study_text_of("out"), "order: 48 points, 4") && /* order 0 does not depend on the scale much */
                      strstr(study_text_of("out"), "range: 16 points, 16 differences") &&
                      strstr(study_text_of("out"), "length: 12 points, 12 differences") &&
                      strstr(study_text_of("out"), "state: 3 points, 3 differences"),
                  "%s", study_text_of("out"));
}
END_TEST

Suite *suite_study_independent(void)
{
    Suite *s = suite_create("study_independent");
    TCase *t = tcase_create("points");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, study_setup, study_teardown);
    tcase_add_test(t, points_are_the_formulas);
    tcase_add_loop_test(t, and_of_other_draws, 0, 2);
    tcase_add_test(t, other_formulas_are_noticed);
    suite_add_tcase(s, t);
    return s;
}
