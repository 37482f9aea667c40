/* test_suite.c - suites: lists multiply out in order, errors name file and line, skip rules match by value. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/report.h"
#include "verify/suite/suite.h"

Suite *suite_suite(void);

static char path[512];

/* Writes `text` to a fresh file and reads it as a suite. */
static attest_status read_text(attest_suite *suite, const char *text, attest_error *err)
{
    strcpy(path, ATTEST_TEST_BUILD "/suite-XXXXXX");
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    FILE *out = fdopen(fd, "w");
    ck_assert(out && fputs(text, out) >= 0 && fclose(out) == 0);
    const attest_status status = attest_suite_read(suite, path, err);
    unlink(path);
    return status;
}

static void check_lines(const char *text, const char *const *lines, size_t count)
{
    attest_suite suite;
    attest_error err = { "" };
    ck_assert_msg(read_text(&suite, text, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(suite.case_count == count, "%s: %zu cases, not %zu", text, suite.case_count, count);
    for (size_t i = 0; i < count; i++) {
        attest_case want;
        char want_line[ATTEST_LINE];
        const char *got_line = attest_suite_line(&suite, i);
        ck_assert_msg(attest_case_parse(&want, lines[i], NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_int_eq(attest_case_print(want_line, sizeof want_line, &want, &err), ATTEST_OK);
        ck_assert_msg(strcmp(got_line, want_line) == 0, "case %zu is `%s`, not `%s`", i, got_line, want_line);
    }
    attest_suite_clear(&suite);
    ck_assert(suite.text == NULL && suite.case_count == 0);
}

START_TEST(test_expansion)
{
    static const char *const product[] = { "variant=softmax mask=full n=3",   "variant=softmax mask=full n=5",
                                           "variant=softmax mask=causal n=3", "variant=softmax mask=causal n=5",
                                           "variant=linear mask=full n=3",    "variant=linear mask=full n=5",
                                           "variant=linear mask=causal n=3",  "variant=linear mask=causal n=5" };
    static const char *const inside[] = { "variant=taylor:2 n=7", "variant=taylor:12 n=7" };
    static const char *const words[] = { "n=1 d=2", "n=3 m=4 d=5", "" };
    static const char *const floors[] = { "variant=softmax norm=l2 n=8", "variant=softmax norm=l2 n=9",
                                          "variant=softmax norm=l2 n=8 chunk=3" };
    static const char *const once[] = { "n=8", "n=8 chunk=4", "n=8 splits=2", "n=9" };
    check_lines("variant={softmax,linear} mask={full,causal} n={3,5}\n", product, 8);
    check_lines("# comment\n\n  variant=taylor:{,1}2 n=7 # another\r\n", inside, 2);
    check_lines("{n=1 d=2,n=3 m=4 d=5,}", words, 3); /* no newline at the end; an empty alternative */
    check_lines("!floor 1 variant=l2norm in=f32\nvariant=softmax norm=l2 n={8,9} # n\n!floor 2 n=8 norm=l2\n!floor 1 "
                "n={8,9} norm=l2\n"
                "!floor 1 n=9\nn=8 variant=softmax norm=l2 chunk=3\n",
                floors, 3);
    check_lines("n=8\nn=8 chunk={64,4}\nn=8 m=8 splits={1,2}\nn={8,9}\n", once, 4); /* a case twice runs once */
}
END_TEST

START_TEST(test_errors)
{
    static const struct {
        const char *text;
        int line;
        const char *says;
    } cases[] = {
        { "n=4\nn=x\n", 2, "n" },
        { "n=4\n\n# c\nvariant=nonsense n=4", 4, "nonsense" },
        { "n={4,0}\n", 1, "n=0" },
        { "n={4,5\n", 1, "brace" },
        { "n=4}\n", 1, "brace" },
        { "n={4,{5,6}}\n", 1, "brace" },
        { "n=4 family=unheard\n", 1, "unheard" },
        { "n=4 colour=red\n", 1, "colour" },
        { "n=4\n!skip\n", 2, "!skip" },
        { "n=4\n!drop x n=4 : y\n", 2, "!drop" },
        { "n=4\n!floor n=4\n", 2, "COUNT" },
        { "n=4\n!floor 0 n=4\n", 2, "COUNT" },
        { "n=4\n!floor 1\n", 2, "COUNT" },
        { "n=4\n!floor 1 mask=sideways\n", 2, "sideways" },
        { "!floor 2 mask=causal\nn={4,5} mask=causal\n!floor 3 mask=causal\n", 3, "2 cases with mask=causal" },
        { "n={4,5}\n!floor 1 n={4,6}\n", 2, "0 cases with n=6" },
        { "variant=softmax norm=l2 n=4\n!floor 1 variant=l2norm in=bf16\n", 2, "in=bf16" },
        { "seed={0,1}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}"
          "{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}\n",
          1, "more than 1000000 lines" },
        { "n=4\n!floor 1 seed=1{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}\n"
          "!floor 1 n=4\n",
          3, "more than 10000 rules `!floor`" },
        { "n=4\n!allow partial * seed=1{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}"
          "{0,1,2,3,4,5,6,7,8,9} : y\n!allow partial * n=4 : y\n",
          3, "more than 10000 rules `!allow" },
        { "n=4\n!skip x n=4\n", 2, "reason" },
        { "n=4\n!allow partial * n=4\n", 2, "!allow partial" },
        { "n=4\n!allow partial absent : y\n", 2, "!allow partial" },
        { "n=4\n!allow all * n=4 : y\n", 2, "!allow" },
        { "n=4\n!allow partial absent * n=0 : y\n", 2, "n" },
        { "n=4\n!allow partial blund * : y\n", 2, "`blund` was read as the kernel" },
        { "n=4\n!skip x n=4 : \n", 2, "reason" },
        { "n=4\n!skip x n=0 : y\n", 2, "n" },
        { "n=4\n!skip x colour=red : y\n", 2, "colour" },
        { "n=4\n!skip x mask=sideways : y\n", 2, "sideways" },
        { "n=4\n!skip x variant=nonsense : y\n", 2, "nonsense" },
        { "n=4\n!skip x causal : y\n", 2, "key=value" },
        { "n=4\n!include pairs\nn=64 d=32\n", 3, "behind `!include pairs`" },
    };
    char where[600];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_suite suite;
        attest_error err = { "" };
        const attest_status status = read_text(&suite, cases[i].text, &err);
        ck_assert_msg(status == ATTEST_BAD_INPUT, "%s: status %d", cases[i].text, (int)status);
        snprintf(where, sizeof where, "%s:%d: ", path, cases[i].line);
        ck_assert_msg(strncmp(err.text, where, strlen(where)) == 0, "`%s` does not start with `%s`", err.text, where);
        ck_assert_msg(strstr(err.text + strlen(where), cases[i].says) != NULL, "`%s` does not say `%s`", err.text,
                      cases[i].says);
        ck_assert(suite.text == NULL && suite.skips == NULL);
    }
}
END_TEST

START_TEST(test_bad_files)
{
    static const char *const names[] = { "/nowhere/at-all.suite", ATTEST_TEST_BUILD, "unknown" };
    attest_suite suite;
    attest_error err = { "" };
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(attest_suite_read(&suite, names[i], &err), ATTEST_BAD_INPUT);
        ck_assert_msg(strstr(err.text, names[i]) != NULL, "%s", err.text);
    }
    ck_assert_int_eq(read_text(&suite, "# nothing\n", &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "no case") != NULL, "%s", err.text);
    char *line = malloc(3000);
    memset(line, 'n', 2999);
    line[2999] = '\0';
    ck_assert_int_eq(read_text(&suite, line, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "longer") != NULL, "%s", err.text);
    free(line);
}
END_TEST

START_TEST(test_skip_rules)
{
    static const char text[] = "n=4\n"
                               "!skip soft*-f32 variant=softmax mask=causal : not causal\n"
                               "!skip exact n=32 m=40 : that shape\n"
                               "!skip any weight=taylor:2 : second order\n"
                               "!skip wide hkv=2 in=bf16 : grouped : really\n"
                               "!skip never : always\n";
    static const struct {
        const char *kernel, *line, *reason;
    } cases[] = {
        { "softmax-f32", "variant=softmax mask=causal n=9", "not causal" },
        { "softmax-f32", "variant=softmax n=9", NULL },
        { "softmax-f64", "variant=softmax mask=causal", NULL },
        { "softmax-f32", "variant=taylor:2 mask=causal", NULL },
        { "exact", "n=32 m=40", "that shape" },
        { "exact", "n=32", NULL },
        { "exact", "n=40 m=32", NULL },
        { "any", "variant=taylor:2 n=4", "second order" },
        { "any", "variant=based n=4", "second order" }, /* the same axis by another name */
        { "any", "variant=taylor:3 n=4", NULL },
        { "any", "variant=softmax n=4", NULL },
        { "wide", "hq=4 hkv=2 in=bf16", "grouped : really" },
        { "wide", "hq=2 in=bf16", "grouped : really" }, /* hkv=hq is the default */
        { "wide", "hq=4 hkv=2", NULL },
        { "wide", "in=bf16", NULL },
        { "never", "variant=softmax n=5 d=6", "always" },
    };
    attest_suite suite;
    attest_error err = { "" };
    ck_assert_msg(read_text(&suite, text, &err) == ATTEST_OK, "%s", err.text);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_case c;
        ck_assert_msg(attest_case_parse(&c, cases[i].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        const char *got = attest_suite_skip(&suite, cases[i].kernel, &c);
        ck_assert_msg(got && cases[i].reason ? strcmp(got, cases[i].reason) == 0 : got == cases[i].reason,
                      "%s on `%s`: %s, not %s", cases[i].kernel, cases[i].line, got ? got : "run",
                      cases[i].reason ? cases[i].reason : "run");
    }
    attest_suite_clear(&suite);
}
END_TEST

/* A rule allows the classes that it names, or all; several together allow what each of them does. */
START_TEST(test_allow_rules)
{
    enum { U = ATTEST_LEFT_UNBOUNDED, I = ATTEST_LEFT_ILLPOSED, A = ATTEST_LEFT_ABSENT, T = ATTEST_LEFT_WITHOUT_TRUTH };
    static const char text[] = "n=4\n"
                               "!allow partial soft* variant=softmax mask={causal,full} n=5 : all of it\n"
                               "!allow partial absent * variant=linear : no lse\n"
                               "!allow partial illposed,unbounded two variant=linear : vanishes\n";
    static const struct {
        const char *kernel, *line;
        unsigned left;
        const char *reason;
    } cases[] = {
        { "soft", "variant=softmax mask=causal n=5", U | I | A | T, "all of it" },
        { "soft", "variant=softmax n=5", T, "all of it" },
        { "soft", "variant=softmax mask=causal-br n=5", U, NULL },
        { "hard", "variant=softmax n=5", U, NULL },
        { "one", "variant=linear", A, "no lse" },
        { "one", "variant=linear", A | I, NULL },
        { "two", "variant=linear", A | I, "vanishes" },
        { "two", "variant=linear", U, "vanishes" },
        { "two", "variant=linear", A | T, NULL },
    };
    attest_suite suite;
    attest_error err = { "" };
    ck_assert_msg(read_text(&suite, text, &err) == ATTEST_OK, "%s", err.text);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_case c;
        ck_assert_msg(attest_case_parse(&c, cases[i].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        const char *got = attest_suite_allow(&suite, cases[i].kernel, &c, cases[i].left);
        ck_assert_msg(got && cases[i].reason ? strcmp(got, cases[i].reason) == 0 : got == cases[i].reason,
                      "%s on `%s`: %s", cases[i].kernel, cases[i].line, got ? got : "not allowed");
    }
    attest_suite_clear(&suite);
}
END_TEST

/* The preset itself, or another name of the same axes (based is taylor:2). */
static int is_preset(const char *text, const attest_preset *preset)
{
    attest_setting axes[ATTEST_AXIS_COUNT], own[ATTEST_AXIS_COUNT];
    attest_error err;
    const size_t length = strlen(preset->name);
    if (strncmp(text, preset->name, length) == 0 && strchr(":", text[length]))
        return 1;
    if (preset->argument != ATTEST_ARG_NONE || attest_variant_from_preset(axes, text, &err) != ATTEST_OK ||
        attest_variant_from_preset(own, preset->name, &err) != ATTEST_OK)
        return 0;
    for (uint32_t a = 0; a < ATTEST_AXIS_COUNT; a++)
        if (!attest_setting_equal(&axes[a], &own[a]))
            return 0;
    return 1;
}

/* A preset that is in no case of ci would never be gated. */
START_TEST(test_presets_in_ci)
{
    attest_suite suite;
    attest_error err = { "" };
    ck_assert_msg(attest_suite_read(&suite, "ci", &err) == ATTEST_OK, "%s", err.text);
    for (size_t p = 0; p < attest_preset_count; p++) {
        size_t cases[ATTEST_DTYPE_COUNT] = { 0 };
        for (size_t i = 0; i < suite.case_count; i++) {
            attest_case c;
            attest_suite_case(&c, &suite, i);
            if (is_preset(c.preset, &attest_presets[p]))
                cases[c.problem.in]++;
        }
        ck_assert_msg(cases[ATTEST_F32] && cases[ATTEST_BF16], "%s: %zu cases in f32, %zu in bf16",
                      attest_presets[p].name, cases[ATTEST_F32], cases[ATTEST_BF16]);
    }
    attest_suite_clear(&suite);
}
END_TEST

/* The cases of pairs count as drawn, alone and behind those that were written. */
START_TEST(test_drawn)
{
    attest_suite pairs, with, ci;
    attest_error err = { "" };
    ck_assert_int_eq(attest_suite_read(&pairs, "pairs", &err), ATTEST_OK);
    ck_assert_uint_eq(pairs.drawn, pairs.case_count);
    ck_assert_int_eq(attest_suite_draws(&pairs, attest_suite_line(&pairs, 7)), 1);
    ck_assert_int_eq(read_text(&with, "n=4\nn=5\n!include pairs\n", &err), ATTEST_OK);
    ck_assert_uint_eq(with.case_count, pairs.case_count + 2);
    ck_assert_uint_eq(with.drawn, pairs.case_count);
    ck_assert_int_eq(attest_suite_draws(&with, attest_suite_line(&with, 1)), 0);
    ck_assert_int_eq(attest_suite_draws(&with, attest_suite_line(&with, 2)), 1);
    ck_assert_int_eq(attest_suite_read(&ci, "ci", &err), ATTEST_OK);
    ck_assert(ci.drawn > 3000 && ci.drawn <= pairs.case_count && ci.drawn < ci.case_count);
    attest_suite_clear(&pairs);
    attest_suite_clear(&with);
    attest_suite_clear(&ci);
}
END_TEST

START_TEST(test_builtin)
{
    static const struct {
        const char *name;
        size_t least;
    } suites[] = { { "smoke", 50 }, { "ci", 300 }, { "full", 1000 },   { "flash_attn", 40 }, { "pytorch", 40 },
                   { "ggml", 40 },  { "fla", 30 }, { "benchdnn", 40 }, { "killers", 100 } };
    attest_suite suite, file;
    attest_error err = { "" };
    char text[512];
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        ck_assert_msg(attest_suite_read(&suite, suites[i].name, &err) == ATTEST_OK, "%s", err.text);
        snprintf(text, sizeof text, "%s/verify/suites/%s.suite", ATTEST_TEST_ROOT, suites[i].name);
        ck_assert_msg(attest_suite_read(&file, text, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_msg(suite.case_count >= suites[i].least, "%s: %zu cases", suites[i].name, suite.case_count);
        ck_assert_uint_eq(suite.hash, file.hash); /* the copy compiled in is the file */
        ck_assert_uint_eq(suite.case_count, file.case_count);
        ck_assert_str_eq(suite.name, suites[i].name);
        ck_assert_str_eq(file.name, suites[i].name);
        attest_suite_clear(&suite);
        attest_suite_clear(&file);
    }
    ck_assert_int_eq(read_text(&suite, "n=4\n", &err), ATTEST_OK);
    ck_assert_int_eq(read_text(&file, "n=4\n\n", &err), ATTEST_OK);
    ck_assert_uint_ne(suite.hash, file.hash);
    attest_suite_clear(&suite);
    attest_suite_clear(&file);
}
END_TEST

Suite *suite_suite(void)
{
    Suite *s = suite_create("suite");
    TCase *t = tcase_create("suite");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_expansion);
    tcase_add_test(t, test_errors);
    tcase_add_test(t, test_bad_files);
    tcase_add_test(t, test_skip_rules);
    tcase_add_test(t, test_allow_rules);
    tcase_add_test(t, test_builtin);
    tcase_add_test(t, test_drawn);
    tcase_add_test(t, test_presets_in_ci);
    suite_add_tcase(s, t);
    return s;
}
