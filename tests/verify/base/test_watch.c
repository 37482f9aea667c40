/* test_watch.c - the end of a command's time: in a process of its own, which must end by the watch alone. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/base/base.h"

Suite *suite_watch(void);

static int64_t seven(const void *context) { return *(const int *)context; }

/* What the child said, and how it ended. */
static int run(char *said, size_t len, void (*child)(void))
{
    int ends[2], status;
    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        child();
        exit(0);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    said[fread(said, 1, len - 1, in)] = '\0';
    fclose(in);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

static void too_long(void)
{
    attest_watch *watch;
    attest_error err;
    const int count = 7;
    setvbuf(stdout, NULL, _IOFBF, 4096);
    printf("half a result"); /* it must not be seen */
    if (attest_watch_start(&watch, &(attest_watch_options){ "test", "--max-time", 0.25, 0 }, &err) != ATTEST_OK)
        exit(1);
    attest_watch_count(watch, seven, &count, "rows");
    for (;;)
        pause();
}

START_TEST(who_is_late_is_ended)
{
    char said[256];
    const int status = run(said, sizeof said, too_long);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 4, "status %d", status);
    ck_assert_str_eq(said, "attest test: --max-time=0.25 is over: 7 rows in 0 s, and nothing is told\n");
}
END_TEST

static void in_time(void)
{
    attest_watch *watch;
    attest_error err;
    for (int round = 0; round < 100; round++) {
        if (attest_watch_start(&watch, &(attest_watch_options){ "test", "--max-time", 1000, round % 2 }, &err) !=
                ATTEST_OK ||
            !watch)
            exit(1);
        attest_watch_end(watch);
    }
    attest_watch_end(NULL);
    attest_watch_count(NULL, seven, NULL, "rows");
    if (attest_watch_start(&watch, &(attest_watch_options){ "test", "--max-time", -1, 0 }, &err) != ATTEST_OK || watch)
        exit(1); /* nothing to watch: no thread */
    printf("done");
}

START_TEST(who_is_in_time_goes_on)
{
    char said[256];
    ck_assert_int_eq(run(said, sizeof said, in_time), 0);
    ck_assert_str_eq(said, "done");
}
END_TEST

Suite *suite_watch(void)
{
    Suite *suite = suite_create("watch");
    TCase *c = tcase_create("watch");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, who_is_late_is_ended);
    tcase_add_test(c, who_is_in_time_goes_on);
    suite_add_tcase(suite, c);
    return suite;
}
