/* test_made_up.c - what a new preset costs: one row of kernels/problem/variant_presets.c; and a new axis value: rows
 * and functions in six files.  The Makefile links attest with tests/made_up/preset.row added to the table of presets,
 * and builds a copy of the sources to which tests/made_up/axis.py added feature=square. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

Suite *suite_made_up(void);

#define PROGRAM "ATTEST_WORKER=" ATTEST_TEST_BUILD "/made-up/attest-worker " ATTEST_TEST_BUILD "/made-up/attest "
#define SUITE_FILE ATTEST_TEST_ROOT "/tests/made_up/made_up.suite"

/* Runs a shell command; returns its exit code and the start of what it printed. */
static int run(char *text, size_t len, const char *command)
{
    FILE *in = popen(command, "r");
    ck_assert_ptr_nonnull(in);
    const size_t got = fread(text, 1, len - 1, in);
    text[got] = '\0';
    while (fgetc(in) != EOF)
        continue;
    const int status = pclose(in);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define AXIS_FOLDER ATTEST_TEST_BUILD "/made-up/axis"
#define AXIS_PROGRAM "ATTEST_WORKER=" AXIS_FOLDER "/build/attest-worker " AXIS_FOLDER "/build/attest "

static char text[1 << 20];

START_TEST(test_unknown_without_the_row)
{
    ck_assert_int_eq(run(text, sizeof text, ATTEST_TEST_BUILD "/attest reference --problem variant=made-up 2>&1"), 2);
    ck_assert_msg(strstr(text, "made-up") != NULL, "%s", text);
}
END_TEST

START_TEST(test_listed_and_served)
{
    ck_assert_int_eq(run(text, sizeof text, PROGRAM "list variants"), 0);
    const char *cells = strstr(text, "kernels serving");
    ck_assert_ptr_nonnull(cells);
    const char *line = strstr(cells, "\nmade-up ");
    ck_assert_msg(line != NULL, "%s", cells);
    int count[10], used = 0;
    ck_assert_msg(sscanf(line, "\nmade-up %d %d - - %d %d %d %d %d %d%n", &count[0], &count[1], &count[2], &count[3],
                         &count[4], &count[5], &count[6], &count[7], &used) == 8,
                  "%.120s", line);
    for (int i = 0; i < 8; i++)
        ck_assert_msg(count[i] >= 1, "cell %d: %.120s", i, line);
}
END_TEST

/* Its truth is that of the same axes written out. */
START_TEST(test_truth)
{
    static char other[1 << 20];
    ck_assert_int_eq(run(text, sizeof text,
                         PROGRAM
                         "reference --problem 'variant=made-up n=5 d=3 seed=4' --want o,u,z,lse,ht --format json "
                         "| sed 's/.*\"precision_bits\"//'"),
                     0);
    ck_assert_int_eq(run(other, sizeof other,
                         ATTEST_TEST_BUILD "/attest reference --problem 'variant=linear-relu decay=scalar gates=inout "
                                           "mask=causal n=5 d=3 seed=4' --want o,u,z,lse,ht --format json "
                                           "| sed 's/.*\"precision_bits\"//'"),
                     0);
    ck_assert_msg(strlen(text) > 500 && strstr(text, "\"exact\":[\"") != NULL, "%s", text);
    ck_assert_str_eq(text, other);
}
END_TEST

START_TEST(test_gate)
{
    ck_assert_msg(run(text, sizeof text,
                      PROGRAM "gate --quiet --out " ATTEST_TEST_BUILD "/made-up/report1 --suite " SUITE_FILE
                              " 2>&1") == 0,
                  "%.1500s", text);
    ck_assert_int_eq(run(text, sizeof text,
                         "grep '\"verdict\":\"pass\"' " ATTEST_TEST_BUILD "/made-up/report1/results.jsonl "
                         "| grep -o '\"kernel\":\"[a-z0-9-]*' | sort -u"),
                     0);
    static const char *const forms[] = { "direct-f32", "split-f32", "recurrent-f32", "chunk-f32" };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        ck_assert_msg(strstr(text, forms[i]) != NULL, "no *%s in\n%s", forms[i], text);
}
END_TEST

/* What a value may cost before its tests. */
enum { FILES_MOST = 6, LINES_MOST = 8 };

/* Every piece is short, in these files only. */
START_TEST(test_axis_cost)
{
    static const char *const files[] = { "kernels/attest.h",          "kernels/problem/variant_axes.c",
                                         "kernels/cpu/steps/token.h", "reference/axis/feature.c",
                                         "reference/derivations.md",  "reference/witness/witness_feature.c" };
    ck_assert_int_eq(run(text, sizeof text,
                         "cd " ATTEST_TEST_ROOT "; for f in $(cd " AXIS_FOLDER
                         "; find kernels reference props reports verify "
                         "-name '*.[ch]' -o -name '*.md'); do cmp -s $f " AXIS_FOLDER "/$f || echo $f; done"),
                     0);
    int changed = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), changed++) {
        int known = 0;
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
            known |= strcmp(line, files[i]) == 0;
        ck_assert_msg(known, "%s was changed", line);
    }
    ck_assert_int_eq(changed, (int)(sizeof files / sizeof files[0]));
    ck_assert_int_le(changed, FILES_MOST);
    char command[256];
    snprintf(command, sizeof command, "awk '$3 == \"lines\" && $2 > %d' " ATTEST_TEST_BUILD "/made-up/axis.txt",
             (int)LINES_MOST);
    ck_assert_int_eq(run(text, sizeof text, command), 0);
    ck_assert_msg(text[0] == '\0', "longer than %d lines:\n%s", (int)LINES_MOST, text);
}
END_TEST

START_TEST(test_axis_gate)
{
    ck_assert_int_eq(run(text, sizeof text, AXIS_PROGRAM "list variants | grep square"), 0);
    ck_assert_ptr_nonnull(strstr(text, "phi(x) = x^2"));
    ck_assert_msg(run(text, sizeof text,
                      AXIS_PROGRAM "gate --quiet --out " ATTEST_TEST_BUILD "/made-up/report --suite " ATTEST_TEST_ROOT
                                   "/tests/made_up/axis.suite 2>&1") == 0,
                  "%.1500s", text);
    ck_assert_int_eq(
        run(text, sizeof text, "grep -c '\"verdict\":\"pass\"' " ATTEST_TEST_BUILD "/made-up/report/results.jsonl"), 0);
    ck_assert_msg(atoi(text) >= 30, "%s results pass", text);
}
END_TEST

/* The properties know nothing of the value: they must leave out what they cannot claim.  Those of powers of two read
 * a table of features (props/properties/range.c). */
START_TEST(test_axis_props)
{
    ck_assert_msg(run(text, sizeof text,
                      AXIS_PROGRAM "props --cases 200 --seed 1 --property '*scaling*' --out " AXIS_FOLDER
                                   "/kept 2>&1") == 0,
                  "%.1500s", text);
}
END_TEST

/* Scores that grow as x^4: a property that takes |phi(x)| to be at most 1 + |x| blames a correct kernel here. */
START_TEST(test_axis_large)
{
    static const char *const tokens[] = {
        "av1:wide-clamp:taylor-direct-f32:7:variant=linear,feature=square,norm=sum,n=1,m=2,d=1:q=4c64e1c0:"
        "k=4c64e1c0.4caba950:v=3f800000.40000000:379ccaa3",
        "av1:wide-filter:taylor-direct-f32:7:variant=linear,feature=square,norm=sum,n=1,m=2,d=1:q=4c64e1c0:"
        "k=4c64e1c0.4caba950:v=3f800000.40000000:a427eff6",
    };
    char command[1024];
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        snprintf(command, sizeof command, AXIS_PROGRAM "replay %s", tokens[i]);
        const int code = run(text, sizeof text, command);
        ck_assert_msg(code == 77 || code == 0, "code %d: %.1500s", code, text);
    }
}
END_TEST

/* Each of them has functions of its own for it. */
START_TEST(test_axis_engines)
{
    static char other[1 << 20];
    const char *const rest = " | tr ',' '\\n' | grep -o '[0-9]*[.][0-9]\\{15\\}'";
    char command[2048];
    const char *const engines[] = { "ball", "witness", "exact" };
    for (int i = 0; i < 3; i++) {
        snprintf(command, sizeof command,
                 AXIS_PROGRAM "reference --engine %s --digits 40 --format json --want o,u,z --problem "
                              "'variant=elu-taylor:2 feature=square n=3 d=3 mask=causal'%s",
                 engines[i], rest);
        ck_assert_int_eq(run(i ? other : text, sizeof text, command), 0);
        if (i)
            ck_assert_str_eq(text, other);
    }
    ck_assert_msg(strlen(text) > 300, "%s", text);
}
END_TEST

Suite *suite_made_up(void)
{
    Suite *s = suite_create("made_up");
    TCase *t = tcase_create("preset");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_unknown_without_the_row);
    tcase_add_test(t, test_listed_and_served);
    tcase_add_test(t, test_truth);
    tcase_add_test(t, test_gate);
    suite_add_tcase(s, t);
    t = tcase_create("axis");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_axis_cost);
    tcase_add_test(t, test_axis_gate);
    tcase_add_test(t, test_axis_props);
    tcase_add_test(t, test_axis_large);
    tcase_add_test(t, test_axis_engines);
    suite_add_tcase(s, t);
    return s;
}
