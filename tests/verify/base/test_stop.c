/* test_stop.c - the first SIGINT or SIGTERM is noted, the next one ends the process. */
#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/base/stop.h"

Suite *suite_stop(void);

static const int signals[] = { SIGINT, SIGTERM };

/* Exit code 10: noted once, and the process went on. */
static void child(int number, int times)
{
    attest_stop_watch();
    if (attest_stop_signal() != 0)
        _exit(1);
    for (int k = 0; k < times; k++) {
        raise(number);
        if (attest_stop_signal() != number)
            _exit(2);
    }
    _exit(10);
}

static int status_of(int number, int times)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0)
        child(number, times);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

START_TEST(the_first_is_noted)
{
    const int status = status_of(signals[_i], 1);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 10, "status %d", status);
}
END_TEST

START_TEST(the_second_ends)
{
    const int status = status_of(signals[_i], 2);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == signals[_i], "status %d", status);
}
END_TEST

Suite *suite_stop(void)
{
    Suite *suite = suite_create("stop");
    TCase *c = tcase_create("stop");
    tcase_add_loop_test(c, the_first_is_noted, 0, 2);
    tcase_add_loop_test(c, the_second_ends, 0, 2);
    suite_add_tcase(suite, c);
    return suite;
}
