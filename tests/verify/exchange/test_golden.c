/* test_golden.c - golden packs and .safetensors files in exchanges: golden.py and tensors.py beside this file. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

Suite *suite_golden(void);

static const char *const scripts[] = { "golden.py", "tensors.py" };

START_TEST(test_script)
{
    const char *python = system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0 ? "/usr/bin/python3 "
                                                                                       : "python3 ";
    char command[1024] = "";
    ck_assert(snprintf(command, sizeof command, "%s " ATTEST_TEST_ROOT "/tests/verify/exchange/%s " ATTEST_TEST_BUILD,
                       python, scripts[_i]) < (int)sizeof command);
    ck_assert_msg(system(command) == 0, "%s failed", command);
}
END_TEST

Suite *suite_golden(void)
{
    Suite *s = suite_create("golden");
    TCase *t = tcase_create("golden");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, test_script, 0, sizeof scripts / sizeof scripts[0]);
    suite_add_tcase(s, t);
    return s;
}
