/* test_gpu_day.c - what is done on a day with a GPU, without one: day/test_day.py has the cases. */
#include <check.h>
#include <stdlib.h>

Suite *suite_gpu_day(void);

START_TEST(test_day_py)
{
    ck_assert_int_eq(system("python3 " ATTEST_TEST_ROOT "/tests/kernels/cuda/day/test_day.py " ATTEST_TEST_BUILD), 0);
}
END_TEST

Suite *suite_gpu_day(void)
{
    Suite *s = suite_create("gpu_day");
    TCase *t = tcase_create("day");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, test_day_py);
    suite_add_tcase(s, t);
    return s;
}
