/* test_runner.c - tests/main.c with the suites of tests/runner: each runs once, what fails or is lost is counted and
 * told, and one process or several say the same. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

Suite *suite_runner(void);

#define PLANTED ATTEST_TEST_BUILD "/runner/planted"

static char text[1 << 16], other[1 << 16];

/* The exit code; what is printed goes into out[sizeof text]. */
static int run(char *out, const char *environment)
{
    char command[1200];
    snprintf(command, sizeof command,
             "env -u CK_FORK -u CK_VERBOSITY -u CK_RUN_SUITE -u CK_RUN_CASE -u CK_INCLUDE_TAGS -u CK_EXCLUDE_TAGS "
             "-u CK_LOG_FILE_NAME -u CK_XML_LOG_FILE_NAME -u CK_TAP_LOG_FILE_NAME -u ATTEST_TEST_PART %s %s 2>&1",
             environment, PLANTED);
    FILE *in = popen(command, "r");
    ck_assert_ptr_nonnull(in);
    out[fread(out, 1, sizeof text - 1, in)] = '\0';
    const int status = pclose(in);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int count(const char *words)
{
    int times = 0;
    for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
        times++;
    return times;
}

START_TEST(what_fails_is_told)
{
    static const char *const once[] = {
        "Running suite(s):\n cmd_gate\n",
        "Checks:",
        " sound\n",
        "holds 0\n",
        "holds 1\n",
        "holds 2\n",
        "\n yardstick\n69%: Checks: 13, Failures: 1, Errors: 3\n",
        ":F:all:fails_once:1: planted\nin two lines\n",
        ":E:all:is_killed:0: ",
        ":E:suite_lost:process:0: the process of the suite was ended by signal 9\n",
        ":E:suite_leaving:process:0: the process of the suite ended early or uncleanly, with exit code 0\n",
    };
    for (int jobs = 2; jobs <= 7; jobs += 5) {
        char environment[64];
        snprintf(environment, sizeof environment, "ATTEST_TEST_JOBS=%d", jobs);
        ck_assert_int_eq(run(text, environment), EXIT_FAILURE);
        for (size_t n = 0; n < sizeof once / sizeof once[0]; n++)
            ck_assert_msg(count(once[n]) == 1, "%d times '%s':\n%s", count(once[n]), once[n], text);
        ck_assert_msg(count("one-one\n") == 20 && count("two-two\n") == 20, "%s", text);
    }
}
END_TEST

/* The lines from the summary on. */
static const char *told(const char *from)
{
    const char *summary = strstr(from, "%: Checks: ");
    ck_assert_msg(summary != NULL, "%s", from);
    return summary;
}

START_TEST(several_say_what_one_says)
{
    ck_assert_int_eq(run(text, "ATTEST_TEST_JOBS=1 CK_RUN_SUITE=failing"), EXIT_FAILURE);
    ck_assert_int_eq(run(other, "ATTEST_TEST_JOBS=4 CK_RUN_SUITE=failing"), EXIT_FAILURE);
    ck_assert_str_eq(told(text), told(other));
    ck_assert(strstr(text, "75%: Checks: 4, Failures: 1, Errors: 0\n") && strstr(other, "\n75%: "));
    ck_assert_int_eq(run(text, "ATTEST_TEST_JOBS=1 CK_RUN_SUITE=sound"), EXIT_SUCCESS);
    ck_assert_int_eq(run(other, "ATTEST_TEST_JOBS=4 CK_RUN_SUITE=sound"), EXIT_SUCCESS);
    ck_assert_str_eq(told(text), told(other));
    ck_assert(strstr(other, "\n100%: Checks: 3, Failures: 0, Errors: 0\n"));
}
END_TEST

START_TEST(no_test_is_a_failure)
{
    ck_assert_int_eq(run(text, "ATTEST_TEST_JOBS=1 CK_RUN_SUITE=nothing"), EXIT_FAILURE);
    ck_assert_int_eq(run(text, "ATTEST_TEST_JOBS=4 CK_RUN_SUITE=nothing"), EXIT_FAILURE);
    ck_assert_int_eq(count("100%: Checks: 0, Failures: 0, Errors: 0\n"), 1);
}
END_TEST

/* The two parts together are all: cmd_gate alone of the planted suites is slow. */
START_TEST(a_part_leaves_out_the_other)
{
    for (int jobs = 1; jobs <= 2; jobs++) {
        char environment[64];
        snprintf(environment, sizeof environment, "ATTEST_TEST_JOBS=%d ATTEST_TEST_PART=slow", jobs);
        ck_assert_int_eq(run(text, environment), EXIT_SUCCESS);
        ck_assert_msg(count("cmd_gate\n") == 1 && count("sound\n") == 0 && count("100%: Checks: 1,") == 1, "%s", text);
        snprintf(environment, sizeof environment, "ATTEST_TEST_JOBS=%d ATTEST_TEST_PART=slwo", jobs);
        ck_assert_int_eq(run(text, environment), EXIT_FAILURE);
        ck_assert_msg(count("ATTEST_TEST_PART=slwo: quick, slow or unset\n") == 1 && count("Checks:") == 0, "%s", text);
    }
    ck_assert_int_eq(run(text, "ATTEST_TEST_JOBS=2 ATTEST_TEST_PART=quick"), EXIT_FAILURE);
    ck_assert_msg(count("cmd_gate\n") == 0 && count("Checks: 12, Failures: 1, Errors: 3\n") == 1, "%s", text);
}
END_TEST

/* Whoever starts the runner may hold other files open or closed, ignore or block signals, and forbid modes. */
START_TEST(all_start_alike)
{
    static const char *const hard = "python3 -c 'import os, signal, sys\n"
                                    "signal.signal(signal.SIGPIPE, signal.SIG_IGN)\n"
                                    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
                                    "os.umask(0o77)\n"
                                    "os.dup2(1, 40)\n"
                                    "os.close(0)\n"
                                    "os.execv(sys.argv[1], sys.argv[1:])'";
    char environment[512];
    for (int jobs = 1; jobs <= 2; jobs++) {
        snprintf(environment, sizeof environment, "ATTEST_TEST_JOBS=%d CK_RUN_SUITE=afresh %s", jobs, hard);
        ck_assert_msg(run(text, environment) == EXIT_SUCCESS && count("100%: Checks: 1,") == 1, "%s", text);
    }
}
END_TEST

/* Check would write the log of each process over that of the one before. */
START_TEST(a_log_is_of_one_process)
{
    ck_assert_int_eq(run(text, "ATTEST_TEST_JOBS=4 CK_LOG_FILE_NAME=- CK_RUN_SUITE=sound"), EXIT_SUCCESS);
    ck_assert_msg(count(":P:all:holds:") == 3 && count("Running suite(s): ") == 1, "%s", text);
}
END_TEST

Suite *suite_runner(void)
{
    Suite *suite = suite_create("runner");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, what_fails_is_told);
    tcase_add_test(all, several_say_what_one_says);
    tcase_add_test(all, no_test_is_a_failure);
    tcase_add_test(all, a_part_leaves_out_the_other);
    tcase_add_test(all, all_start_alike);
    tcase_add_test(all, a_log_is_of_one_process);
    suite_add_tcase(suite, all);
    return suite;
}
