/* cases.h - the command line as data: the .case files of tests/cli and others, run in one test of a suite each.
 *
 * A case is a block of lines `name: when: run: exit: stdout: stderr:` ended by a blank line.  `when: long` leaves it to
 * `make LONG=1 test`: for what takes ten seconds of a processor, and what reads its files.  run goes to sh with $A =
 * attest, $B = the build folder, $S = the source tree, $D = a scratch folder that make_data.py filled; stdout:/stderr:
 * must occur in what was printed ($D and $S are replaced).  Exit code 2 must come with exactly one line on stderr,
 * nothing on stdout, and nothing left half-written.
 */
#ifndef ATTEST_TESTS_CASES_H
#define ATTEST_TESTS_CASES_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/attest-cli-XXXXXX";

enum { SAYS = 12 }; /* lines of a stream that a case names at most */

typedef struct cli_case {
    char name[256], run[2048];
    char out[SAYS][256], err[SAYS][256];
    int out_count, err_count, exit_code, is_long;
} cli_case;

static void setup(void)
{
    char command[1024];
    strcpy(folder, "/tmp/attest-cli-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("A", ATTEST_TEST_BUILD "/attest", 1);
    setenv("B", ATTEST_TEST_BUILD, 1);
    setenv("S", ATTEST_TEST_ROOT, 1);
    setenv("D", folder, 1);
    setenv("WIDE", getenv("ATTEST_TEST_LONG") ? "ci" : ATTEST_TEST_ROOT "/tests/cli/tiny.suite", 1);
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    /* Debian's python3 has numpy; another python3 first in PATH may not. */
    snprintf(command, sizeof command,
             "$(test -x /usr/bin/python3 && echo /usr/bin/python3 || echo python3) %s/tests/cli/make_data.py %s",
             ATTEST_TEST_ROOT, folder);
    ck_assert_msg(system(command) == 0, "make_data.py failed (python3-numpy is among the packages of make deps)");
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Runs the command; fills the two texts; returns the exit code. */
static int run(const cli_case *c, char *out, char *err, size_t size)
{
    char command[4096], path[2][64];
    char *const text[2] = { out, err };
    snprintf(path[0], sizeof path[0], "%s/stdout", folder);
    snprintf(path[1], sizeof path[1], "%s/stderr", folder);
    snprintf(command, sizeof command, "{ %s ; } >%s 2>%s </dev/null", c->run, path[0], path[1]);
    const int code = system(command);
    for (int i = 0; i < 2; i++) {
        FILE *in = fopen(path[i], "r");
        const size_t n = in ? fread(text[i], 1, size - 1, in) : 0;
        text[i][n] = '\0';
        if (in)
            fclose(in);
    }
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

/* $D in an expectation stands for the folder. */
static void expand(char *text, size_t len, const char *pattern)
{
    const char *at = strstr(pattern, "$D");
    if (at)
        snprintf(text, len, "%.*s%s%s", (int)(at - pattern), pattern, folder, at + 2);
    else
        snprintf(text, len, "%s", pattern);
}

static int line_count(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void check_case(const cli_case *c)
{
    static char out[1 << 20], err[1 << 16];
    char expected[512];
    const int code = run(c, out, err, sizeof err);
    ck_assert_msg(code == c->exit_code, "%s: exit code %d, expected %d\n  %s\n%.1500s%.1500s", c->name, code,
                  c->exit_code, c->run, out, err);
    for (int i = 0; i < c->out_count; i++) {
        expand(expected, sizeof expected, c->out[i]);
        ck_assert_msg(strstr(out, expected) != NULL, "%s: stdout lacks '%s':\n%.1500s%.1500s", c->name, expected, out,
                      err);
    }
    for (int i = 0; i < c->err_count; i++) {
        expand(expected, sizeof expected, c->err[i]);
        ck_assert_msg(strstr(err, expected) != NULL, "%s: stderr lacks '%s':\n%.1500s", c->name, expected, err);
    }
    if (code == 2) {
        ck_assert_msg(line_count(err) == 1, "%s: a usage error is one line:\n%.1500s", c->name, err);
        ck_assert_msg(out[0] == '\0', "%s: a usage error prints no data:\n%.1500s", c->name, out);
    }
}

/* The value of `key: value`, or NULL. */
static inline const char *value_of(const char *line, const char *key)
{
    const size_t len = strlen(key);
    return strncmp(line, key, len) == 0 && line[len] == ':' && line[len + 1] == ' ' ? line + len + 2 : NULL;
}

static void keep(char *to, size_t room, const char *text)
{
    const size_t len = strlen(text);
    ck_assert_msg(len < room, "a line of more than %zu characters: %.80s...", room - 1, text);
    memcpy(to, text, len + 1);
}

static void take_line(cli_case *c, const char *line, const char *file)
{
    const char *v;
    if ((v = value_of(line, "name")))
        keep(c->name, sizeof c->name, v);
    else if ((v = value_of(line, "when")) && strcmp(v, "long") == 0)
        c->is_long = 1;
    else if ((v = value_of(line, "run")))
        keep(c->run, sizeof c->run, v);
    else if ((v = value_of(line, "exit")))
        c->exit_code = atoi(v);
    else if ((v = value_of(line, "stdout")) && c->out_count < SAYS)
        keep(c->out[c->out_count++], sizeof c->out[0], v);
    else if ((v = value_of(line, "stderr")) && c->err_count < SAYS)
        keep(c->err[c->err_count++], sizeof c->err[0], v);
    else
        ck_assert_msg(line[0] == '#', "%s: '%s' is no line of a case", file, line);
}

static void check_file(const char *name)
{
    char path[512], line[2200];
    int cases = 0, left = 0;
    cli_case c = { .run = "" };
    snprintf(path, sizeof path, "%s/tests/cli/%s", ATTEST_TEST_ROOT, name);
    FILE *in = fopen(path, "r");
    ck_assert_msg(in != NULL, "%s is missing", path);
    for (int more = 1; more;) {
        more = fgets(line, sizeof line, in) != NULL;
        line[more ? strcspn(line, "\n") : 0] = '\0';
        if (line[0] != '\0') {
            take_line(&c, line, name);
            continue;
        }
        if (c.is_long && !getenv("ATTEST_TEST_LONG")) {
            left++;
        } else if (c.run[0] != '\0') {
            check_case(&c);
            cases++;
        }
        c = (cli_case){ .run = "" };
    }
    fclose(in);
    ck_assert_msg(cases > 0, "%s has no case", name);
    if (left)
        printf("%s: %d cases are left to `make LONG=1 test`\n", name, left);
}

/* The suite of one file. */
static inline Suite *suite_of_cases(const char *name, const TTest *test)
{
    Suite *s = suite_create(name);
    TCase *t = tcase_create("cases");
    tcase_set_timeout(t, 300);
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test);
    suite_add_tcase(s, t);
    return s;
}

#endif
