/* planted.c - suites for the runner to run: one is sound; tests of others fail or are killed; whole suites are lost;
 * two talk at the same time, in pieces of lines; two have the names of the longest suite and of one that is timed; one
 * looks at what it was started with. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUITE(name) Suite *name(void);
#include "tests/runner/test_suites.h"
#undef SUITE

static Suite *suite_of(const char *name, const TTest *test, int times, SFun before)
{
    Suite *suite = suite_create(name);
    TCase *all = tcase_create("all");
    if (before)
        tcase_add_unchecked_fixture(all, before, NULL); /* runs in the suite's process, not in a test's */
    tcase_add_loop_test(all, test, 0, times);
    suite_add_tcase(suite, all);
    return suite;
}

START_TEST(holds) { printf("holds %d\n", _i); }
END_TEST

START_TEST(fails_once) { ck_assert_msg(_i != 1, "planted\nin two lines"); }
END_TEST

START_TEST(is_killed) { raise(SIGSEGV); }
END_TEST

static void die(void) { raise(SIGKILL); }
static void leave(void) { _exit(0); }

static void talk(const char *half)
{
    const struct timespec pause = { 0, 2000000 };
    for (int line = 0; line < 20; line++) {
        printf("%s-", half);
        fflush(stdout);
        nanosleep(&pause, NULL);
        printf("%s\n", half);
        fflush(stdout);
    }
}

START_TEST(talks) { talk("one"); }
END_TEST

START_TEST(talks_too) { talk("two"); }
END_TEST

START_TEST(starts_afresh)
{
    struct sigaction pipes;
    sigset_t blocked;
    ck_assert_int_eq(sigaction(SIGPIPE, NULL, &pipes), 0);
    ck_assert(pipes.sa_handler == SIG_DFL);
    ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &blocked), 0);
    ck_assert(!sigismember(&blocked, SIGUSR1));
    ck_assert_int_eq(umask(0), 022);
    for (int fd = 0; fd < 3; fd++)
        ck_assert_int_ne(fcntl(fd, F_GETFD), -1);
    ck_assert_int_eq(fcntl(40, F_GETFD), -1);
}
END_TEST

Suite *suite_sound(void) { return suite_of("sound", holds, 3, NULL); }
Suite *suite_failing(void) { return suite_of("failing", fails_once, 4, NULL); }
Suite *suite_killed(void) { return suite_of("killed", is_killed, 1, NULL); }
Suite *suite_lost(void) { return suite_of("lost", holds, 1, die); }
Suite *suite_leaving(void) { return suite_of("leaving", holds, 1, leave); }
Suite *suite_talking(void) { return suite_of("talking", talks, 1, NULL); }
Suite *suite_talking_too(void) { return suite_of("talking_too", talks_too, 1, NULL); }
Suite *suite_cmd_gate(void) { return suite_of("cmd_gate", fails_once, 1, NULL); }
Suite *suite_yardstick(void) { return suite_of("yardstick", fails_once, 1, NULL); }
Suite *suite_afresh(void) { return suite_of("afresh", starts_afresh, 1, NULL); }
