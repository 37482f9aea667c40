/* test_independent.c - `attest reference` against the formulas written a second time, in Python with mpmath.
 *
 * tests/independent/check.py draws the problems, runs the command on each and compares o, u, z, lse and the states with
 * tests/independent/formula.py: 20 problems a preset and 12 an axis value and a pair of them where ATTEST_TEST_LONG is
 * set (`make LONG=1 test`, `make check-long`), else 5 and 3.  Here it is run, its table is read, and made to fail:
 * each altered formula of breaks.py, a listed preset without a formula and a command that refuses must be noticed.
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

Suite *suite_independent(void);

enum { SECONDS = 400, MAX_ARGS = 12 };

static const char script[] = ATTEST_TEST_ROOT "/tests/independent/check.py";
static const char attest[] = ATTEST_TEST_BUILD "/attest";
static char folder[] = "/tmp/attest-independent-XXXXXX";
static char printed[1 << 20];

static void setup(void)
{
    strcpy(folder, "/tmp/attest-independent-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The exit code of a child, or -1 where it was killed; past the limit it is killed with its own children. */
static int wait_for(pid_t child, int seconds)
{
    const struct timespec pause = { 0, 20000000 };
    const time_t end = time(NULL) + seconds;
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (time(NULL) > end)
            kill(-child, SIGKILL);
        nanosleep(&pause, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs argv with stdout and stderr in `printed`; the exit code. */
static int run(const char *const *argv)
{
    char path[64];
    snprintf(path, sizeof path, "%s/printed", folder);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        setpgid(0, 0);
        setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
        if (out >= 0 && dup2(out, 1) >= 0 && dup2(out, 2) >= 0)
            execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    const int code = wait_for(child, SECONDS);
    FILE *in = fopen(path, "r");
    const size_t n = in ? fread(printed, 1, sizeof printed - 1, in) : 0;
    printed[n] = '\0';
    if (in)
        fclose(in);
    return code;
}

/* The first Python that has both modules: Debian's, else the one in PATH. */
static const char *python(void)
{
    static const char *const names[] = { "/usr/bin/python3", "python3" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const argv[] = { names[i], "-c", "import numpy, mpmath", NULL };
        if (run(argv) == 0)
            return names[i];
    }
    ck_abort_msg("no python3 with numpy and mpmath (python3-numpy, python3-mpmath: packages of make deps)");
    return NULL;
}

/* Runs check.py with `command` as attest and the given arguments (NULL ends them); the exit code. */
static int check(const char *command, const char *const *arguments)
{
    const char *argv[MAX_ARGS + 5] = { python(), script, "--attest", command };
    int n = 4;
    for (int i = 0; i < MAX_ARGS && arguments[i]; i++)
        argv[n++] = arguments[i];
    argv[n] = NULL;
    return run(argv);
}

/* One row of a table: its name, which may hold blanks, then `count` numbers; false on any other line. */
static bool row(const char *line, size_t name_width, int count, long *numbers)
{
    const char *at = line + name_width;
    if (strcspn(line, "\n") < name_width)
        return false;
    for (int i = 0; i < count; i++) {
        char *end;
        numbers[i] = strtol(at, &end, 10);
        if (end == at)
            return false;
        at = end;
    }
    return true;
}

/* The line of `printed` after `line`, or NULL. */
static const char *next(const char *line)
{
    const char *end = strchr(line, '\n');
    return end && end[1] ? end + 1 : NULL;
}

/* 0 differences, as many problems a preset and a value as were asked for, every row with elements. */
START_TEST(agrees)
{
    const int whole = getenv("ATTEST_TEST_LONG") != NULL, presets = whole ? 20 : 5, values = whole ? 12 : 3;
    const char *const arguments[] = { "--presets", whole ? "20" : "5", "--axes", whole ? "12" : "3", NULL };
    const int code = check(attest, arguments);
    int rows = 0;
    ck_assert_msg(code == 0, "check.py exits %d:\n%s", code, printed);
    for (const char *line = next(printed); line; line = next(line)) {
        long count[5]; /* problems, elements, exact, differences, null */
        const int length = (int)strcspn(line, "\n");
        if (!row(line, 34, 5, count))
            continue;
        const bool value = memchr(line, '=', 34) != NULL;
        ck_assert_msg(count[0] >= (value ? values : presets) && count[1] >= count[0] && count[3] == 0, "%.*s", length,
                      line);
        if (strncmp(line, "total", 5) == 0) {
            ck_assert_msg(count[2] > 10000 && count[4] > (whole ? 1000 : 500), "few exact or null elements: %.*s",
                          length, line);
            printf("independent: %ld problems, %ld elements (%ld with an exact p/q, %ld null): %ld differences\n",
                   count[0], count[1], count[2], count[4], count[3]);
            fflush(stdout);
        }
        rows++;
    }
    ck_assert_msg(rows > 100, "%d rows:\n%s", rows, printed);
}
END_TEST

/* Each altered formula shows as differences. */
START_TEST(notices_each_break)
{
    const char *const arguments[] = { "--break", "all", NULL };
    const int code = check(attest, arguments);
    int rows = 0;
    ck_assert_msg(code == 0, "check.py --break all exits %d:\n%s", code, printed);
    for (const char *line = next(printed); line; line = next(line)) {
        long count[3]; /* problems, elements, differences */
        if (!row(line, 28, 3, count))
            continue;
        ck_assert_msg(count[1] > 0 && count[2] > 0, "not noticed: %.*s", (int)strcspn(line, "\n"), line);
        rows++;
    }
    ck_assert_msg(rows >= 30, "%d breaks:\n%s", rows, printed);
}
END_TEST

START_TEST(one_break_exits_1)
{
    const char *const arguments[] = { "--break", "rope-sign", NULL };
    ck_assert_msg(check(attest, arguments) == 1 && strstr(printed, "rope turns the other way"), "%s", printed);
}
END_TEST

/* Shell text: unless attest is called with this command, its output goes through the filter that follows. */
#define UNLESS(command) "test $1 = " command " || { " ATTEST_TEST_BUILD "/attest \"$@\" | "

/* Writes a command that does what attest does, but for the given shell line before it; its path. */
static const char *wrapped(const char *before)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/wrapped", folder);
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    fprintf(out, "#!/bin/sh\n%s\nexec %s \"$@\"\n", before, attest);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
    return path;
}

/* What attest lists and tables.py lacks is named, exit 2; a refused problem, radii too small (the last printed digit
 * is checked) and radii that say nothing are differences, exit 1. */
START_TEST(skips_nothing)
{
    const char *const all[] = { NULL }, *const softmax[] = { "--only", "softmax", NULL };
    const struct {
        const char *before, *expected;
        const char *const *arguments;
        int code;
    } cases[] = {
        { "test $1 = list && printf 'preset\\nmade-up yes parallel o\\n'", "attest lists made-up, which", all, 2 },
        { UNLESS("reference") "sed 's/^    elu1 .*/&\\n    elu2  a value/'; exit; }",
          "attest lists feature=elu2, which", all, 2 },
        { UNLESS("reference") "grep -v '^    elu1 '; exit; }", "tables.py has feature=elu1, which attest does not list",
          all, 2 },
        { "test $1 = list || exit 2", "exit code 2", softmax, 1 },
        { UNLESS("list") "sed 's/e-[0-9]*\"/e-70\"/g'; exit; }", "outside: off", softmax, 1 },
        { UNLESS("list") "sed 's/e-[0-9]*\"/e-3\"/g'; exit; }", "is too wide", softmax, 1 },
    };
    setenv("TMPDIR", folder, 1); /* the files of expected failures go when the test ends */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int code = check(wrapped(cases[i].before), cases[i].arguments);
        ck_assert_msg(code == cases[i].code && strstr(printed, cases[i].expected),
                      "%s: exit %d, expected %d and '%s':\n%s", cases[i].before, code, cases[i].code, cases[i].expected,
                      printed);
    }
    unsetenv("TMPDIR");
}
END_TEST

Suite *suite_independent(void)
{
    Suite *suite = suite_create("independent");
    TCase *tc = tcase_create("python");
    tcase_set_timeout(tc, SECONDS + 20);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, agrees);
    tcase_add_test(tc, notices_each_break);
    tcase_add_test(tc, one_break_exits_1);
    tcase_add_test(tc, skips_nothing);
    suite_add_tcase(suite, tc);
    return suite;
}
