/* test_stop.c - the first SIGINT, SIGTERM or SIGHUP is noted; another one ends the process, unless it is a SIGHUP or
 * comes at once; SIGHUP stays ignored where it is. */
#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/base/stop.h"

Suite *suite_stop(void);

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

/* Exit code 10: noted once, and the process went on.  `apart`: seconds between two signals. */
static void child(int number, int times, double apart)
{
    signal(number, SIG_DFL); /* who started the tests may ignore it, as nohup does */
    attest_stop_watch();
    if (attest_stop_signal() != 0)
        _exit(1);
    for (int k = 0; k < times; k++) {
        raise(number);
        if (attest_stop_signal() != number)
            _exit(2);
        usleep((useconds_t)(1e6 * apart));
    }
    _exit(10);
}

static int status_of(int number, int times, double apart)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0)
        child(number, times, apart);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

START_TEST(the_first_is_noted)
{
    const int status = status_of(signals[_i], 1, 0);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 10, "status %d", status);
}
END_TEST

START_TEST(the_second_ends)
{
    const int status = status_of(signals[_i], 2, 0.6);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == signals[_i], "status %d", status);
}
END_TEST

START_TEST(at_once_they_are_one)
{
    const int status = status_of(signals[_i], 3, 0.01);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 10, "status %d", status);
}
END_TEST

/* A terminal is closed, its user is logged out a second later: the first of each. */
START_TEST(another_signal_is_a_first_one)
{
    const pid_t pid = fork();
    int status;
    if (pid == 0) {
        signal(SIGHUP, SIG_DFL);
        attest_stop_watch();
        raise(SIGHUP);
        usleep(600000);
        raise(SIGTERM);
        _exit(attest_stop_signal() == SIGTERM ? 10 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 10, "status %d", status);
}
END_TEST

START_TEST(hangups_are_one)
{
    const int status = status_of(SIGHUP, 3, 0.6);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 10, "status %d", status);
}
END_TEST

START_TEST(an_ignored_hangup)
{
    signal(SIGHUP, SIG_IGN);
    attest_stop_watch();
    raise(SIGHUP);
    ck_assert_int_eq(attest_stop_signal(), 0);
    ck_assert_ptr_null(attest_stop_name());
}
END_TEST

START_TEST(names_and_codes)
{
    attest_stop_watch();
    raise(SIGTERM);
    ck_assert_str_eq(attest_stop_name(), "SIGTERM");
    ck_assert_int_eq(attest_stop_exit("SIGINT"), 130);
    ck_assert_int_eq(attest_stop_exit("SIGTERM"), 143);
    ck_assert_int_eq(attest_stop_exit("SIGHUP"), 129);
    ck_assert_int_eq(attest_stop_exit("--max-time"), 0);
    ck_assert_int_eq(attest_stop_exit(""), 0);
}
END_TEST

Suite *suite_stop(void)
{
    Suite *suite = suite_create("stop");
    TCase *c = tcase_create("stop");
    tcase_add_loop_test(c, the_first_is_noted, 0, 3);
    tcase_add_loop_test(c, the_second_ends, 0, 2);
    tcase_add_loop_test(c, at_once_they_are_one, 0, 2);
    tcase_add_test(c, another_signal_is_a_first_one);
    tcase_add_test(c, hangups_are_one);
    tcase_add_test(c, an_ignored_hangup);
    tcase_add_test(c, names_and_codes);
    suite_add_tcase(suite, c);
    return suite;
}
