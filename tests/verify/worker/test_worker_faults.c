/* test_worker_faults.c - hostile kernels under `attest gate`: the quick rows of tests/faults/table.py. */
#include <check.h>
#include <stdlib.h>

Suite *suite_worker_faults(void);

START_TEST(quick_rows)
{
    ck_assert_int_eq(system("python3 " ATTEST_TEST_ROOT "/tests/faults/table.py " ATTEST_TEST_BUILD " --quick"), 0);
}
END_TEST

Suite *suite_worker_faults(void)
{
    Suite *s = suite_create("worker_faults");
    TCase *t = tcase_create("worker_faults");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, quick_rows);
    suite_add_tcase(s, t);
    return s;
}
