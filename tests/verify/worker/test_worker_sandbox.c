/* test_worker_sandbox.c - modes, what is reached, and that a worker on the built-in kernels is held back by it.
 * What kernels try against it: tests/faults. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/worker/worker.h"

Suite *suite_worker_sandbox(void);

static attest_status ask(const char *mode, char *text, attest_error *err)
{
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 0);
    setenv("ATTEST_SANDBOX", mode, 1);
    return attest_worker_sandbox(text, 200, err);
}

START_TEST(modes)
{
    attest_error err = { "" };
    char text[200] = "";
    ck_assert_int_eq(ask("maybe", text, &err), ATTEST_BAD_INPUT);
    ck_assert_str_eq(err.text, "--sandbox=maybe: auto, off or require");
    ck_assert_int_eq(ask("off", text, &err), ATTEST_OK);
    ck_assert_str_eq(text, "off: kernels are a process like any other of this user");
    ck_assert_int_eq(ask("", text, &err), ATTEST_OK);
    ck_assert_msg(strncmp(text, "auto:", 5) == 0, "%s", text);
}
END_TEST

/* `require` is refused exactly where `auto` reaches less. */
START_TEST(require)
{
    attest_error err = { "" };
    char text[200] = "", needed[200] = "";
    ck_assert_int_eq(ask("auto", text, &err), ATTEST_OK);
    const int all = strstr(text, "Landlock") != NULL && strstr(text, "seccomp") != NULL;
    const attest_status status = ask("require", needed, &err);
    ck_assert_int_eq(status, all ? ATTEST_OK : ATTEST_BAD_INPUT);
    if (all)
        ck_assert_str_eq(needed + strlen("require"), text + strlen("auto"));
    else
        ck_assert_msg(strstr(err.text, "--sandbox=require: this system has no ") != NULL, "%s", err.text);
}
END_TEST

Suite *suite_worker_sandbox(void)
{
    Suite *s = suite_create("worker_sandbox");
    TCase *t = tcase_create("worker_sandbox");
    tcase_add_test(t, modes);
    tcase_add_test(t, require);
    suite_add_tcase(s, t);
    return s;
}
