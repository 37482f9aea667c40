/* test_python.c - the package `attest`, from the sources: checks.py has the cases, kernels.py the kernels. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

Suite *suite_python(void);

START_TEST(test_checks_py)
{
    const char *python = system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0 ? "/usr/bin/python3" : "python3";
    char command[1024];
    ck_assert(snprintf(command, sizeof command,
                       "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" ATTEST_TEST_ROOT "/verify/python %s " ATTEST_TEST_ROOT
                       "/tests/verify/python/checks.py " ATTEST_TEST_BUILD,
                       python) < (int)sizeof command);
    ck_assert_msg(system(command) == 0, "%s failed", command);
}
END_TEST

Suite *suite_python(void)
{
    Suite *s = suite_create("python");
    TCase *t = tcase_create("python");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, test_checks_py);
    suite_add_tcase(s, t);
    return s;
}
