/* test_batch.c - exported suites and outputs made elsewhere: tests/verify/exchange/batch.py has the cases. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

Suite *suite_batch(void);

START_TEST(test_batch_py)
{
    const char *python = system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0 ? "/usr/bin/python3 "
                                                                                       : "python3 ";
    char command[1024] = "";
    ck_assert(snprintf(command, sizeof command,
                       "%s " ATTEST_TEST_ROOT "/tests/verify/exchange/batch.py " ATTEST_TEST_BUILD,
                       python) < (int)sizeof command);
    ck_assert_msg(system(command) == 0, "%s failed", command);
}
END_TEST

Suite *suite_batch(void)
{
    Suite *s = suite_create("batch");
    TCase *t = tcase_create("batch");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, test_batch_py);
    suite_add_tcase(s, t);
    return s;
}
