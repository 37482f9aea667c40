/* test_defects.c - the table of planted defects: a file each that includes its base kernel's source, not a copy; and
 * what the files of list_pairs.h say of themselves: on which lines they are wrong, and on which they are not. */
#include <check.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library/registry.h"
#include "verify/defects/defects.h"

Suite *suite_defects(void);

enum { LONGEST = 60 }; /* lines of a defect's file: a step, not a kernel */

static const attest_kernel *base_of(const attest_defect *d)
{
    const attest_library *library = attest_builtin_library();
    for (size_t k = 0; k < library->kernel_count; k++)
        if (strcmp(library->kernels[k]->name, d->base) == 0)
            return library->kernels[k];
    return NULL;
}

/* `-`, or words that each name a bug: B and two digits first, or arXiv. */
static int cites(const char *bugs)
{
    if (strcmp(bugs, "-") == 0)
        return 1;
    return (bugs[0] == 'B' && isdigit((unsigned char)bugs[1]) && isdigit((unsigned char)bugs[2])) ||
           strncmp(bugs, "arXiv:", 6) == 0;
}

START_TEST(rows)
{
    char name[128], other[128];
    ck_assert_uint_ge(attest_defect_count, 350);
    for (size_t k = 0; k < attest_defect_count; k++) {
        const attest_defect *d = &attest_defects[k];
        ck_assert_msg(base_of(d) != NULL, "%s: no kernel %s", d->id, d->base);
        ck_assert_msg(cites(d->bugs), "%s: '%s'", d->id, d->bugs);
        ck_assert_msg(strlen(d->what) > 10 && !strpbrk(d->what, "\"\\|\n") && !strpbrk(d->bugs, "\"\\|\n"), "%s: words",
                      d->id);
        for (size_t l = 0; l < k; l++) {
            attest_defect_name(name, d);
            ck_assert_str_ne(name, attest_defect_name(other, &attest_defects[l]));
            ck_assert_msg(strcmp(d->what, attest_defects[l].what) != 0, "%s and %s are the same", name, other);
        }
    }
}
END_TEST

static FILE *open_file(char path[512], const attest_defect *d)
{
    glob_t found;
    snprintf(path, 512, "%s/kernels/defects/*/%s.c", ATTEST_TEST_ROOT, d->id);
    ck_assert_msg(glob(path, 0, NULL, &found) == 0 && found.gl_pathc == 1, "%s: not one file", path);
    snprintf(path, 512, "%s", found.gl_pathv[0]);
    globfree(&found);
    FILE *in = fopen(path, "r");
    ck_assert_msg(in != NULL, "%s: no such file", path);
    return in;
}

/* The file names its base's source, and is short. */
START_TEST(files)
{
    for (size_t k = 0; k < attest_defect_count; k++) {
        const attest_defect *d = &attest_defects[k];
        const char *source = base_of(d)->source + strlen("kernels/");
        char path[512], line[512], want[256];
        int lines = 0, includes = 0;
        FILE *in = open_file(path, d);
        snprintf(want, sizeof want, "#include \"%s\"", source);
        while (fgets(line, sizeof line, in)) {
            lines++;
            includes += strncmp(line, want, strlen(want)) == 0;
        }
        fclose(in);
        ck_assert_msg(includes == 1 && lines <= LONGEST, "%s: %d lines, includes %s %d times", path, lines, source,
                      includes);
    }
}
END_TEST

/* ---- conditions -------------------------------------------------------------------------------------------- */

/* Appends the problem lines that the file's first comment gives after ` * WORD `. */
static void read_lines(attest_suite *suite, const char *word, const attest_defect *d)
{
    char path[512], line[512], start[16];
    attest_error err = { "" };
    attest_case c;
    FILE *in = open_file(path, d);
    const size_t length = (size_t)snprintf(start, sizeof start, " * %-6s ", word);
    while (fgets(line, sizeof line, in) && strcmp(line, " */\n") != 0) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, start, length) != 0)
            continue;
        ck_assert_msg(attest_case_parse(&c, line + length, NULL, NULL, &err) == ATTEST_OK, "%s: %s", path, err.text);
        ck_assert_int_eq(attest_suite_add(suite, &c, &err), ATTEST_OK);
    }
    fclose(in);
}

/* Whatever a run gave is good: what is left is whether its bits are those of the base kernel. */
static attest_status any_bits(void *context, attest_result *result, attest_prepared *prepared,
                              const attest_bundle *outputs, attest_error *err)
{
    (void)context, (void)prepared, (void)outputs, (void)err;
    result->verdict = ATTEST_PASS;
    return ATTEST_OK;
}
static const attest_judge bits = { .judge = any_bits, .outputs = ~0u };

/* What becomes of the lines of one kind; the base kernel is right on all of them. */
static attest_defect_result run_lines(const char *word, size_t k)
{
    static attest_defect_result results[512];
    char name[128];
    attest_suite suite = { .name = "lines" };
    attest_error err = { "" };
    const attest_options options = { .program = "attest",
                                     .kernel = attest_defect_name(name, &attest_defects[k]),
                                     .timeout = 100,
                                     .max_time = -1,
                                     .jobs = 1,
                                     .seed = -1,
                                     .quiet = 1 };
    ck_assert_uint_le(attest_defect_count, sizeof results / sizeof results[0]);
    read_lines(&suite, word, &attest_defects[k]);
    memset(&results[k], 0, sizeof results[k]);
    if (suite.case_count)
        ck_assert_msg(attest_defects_run(results, &options, &suite, ATTEST_TEST_BUILD "/defects/defects.so",
                                         strcmp(word, "hides") == 0 ? &bits : NULL, 1, &err) == ATTEST_OK,
                      "%s: %s", name, err.text);
    ck_assert_msg(results[k].run == (int64_t)suite.case_count, "%s: %d of %zu lines that are %s", name,
                  (int)results[k].run, suite.case_count, word);
    attest_suite_clear(&suite);
    return results[k];
}

/* Of a file that has such lines: numbers outside the bound on all that show it, bits of the base kernel on all that
 * hide it (in the run of the case itself: among more batch entries and heads it may show), and numbers inside on those
 * that are said to pass. */
START_TEST(conditions)
{
    const char *id = attest_defects[_i].id;
    const attest_defect_result shows = run_lines("shows", (size_t)_i), hides = run_lines("hides", (size_t)_i),
                               passes = run_lines("passes", (size_t)_i);
    if (!shows.run && !hides.run && !passes.run)
        return;
    ck_assert_msg(shows.run >= 1 && hides.run + passes.run >= 2 && hides.run >= 1, "%s: %d lines show it, %d hide it",
                  id, (int)shows.run, (int)(hides.run + passes.run));
    ck_assert_msg(shows.killed == shows.run, "%s: %d of %d lines show it", id, (int)shows.killed, (int)shows.run);
    ck_assert_msg(shows.margin > 4, "%s: %g times the bound is no more than a rounding", id, shows.margin);
    ck_assert_msg(hides.differs == 0, "%s: %d of %d lines do not hide it", id, (int)hides.differs, (int)hides.run);
    ck_assert_msg(passes.killed == 0, "%s: %d of %d lines do not pass", id, (int)passes.killed, (int)passes.run);
}
END_TEST

/* At least 60 files have such lines: all that are in sections of pairs. */
START_TEST(pairs)
{
    size_t count = 0;
    for (size_t k = 0; k < attest_defect_count; k++) {
        char path[512];
        attest_suite suite = { .case_count = 0 };
        fclose(open_file(path, &attest_defects[k]));
        read_lines(&suite, "shows", &attest_defects[k]);
        ck_assert_msg((strstr(path, "/pairs_") != NULL) == (suite.case_count > 0), "%s: lines that show it", path);
        count += suite.case_count > 0;
        attest_suite_clear(&suite);
    }
    ck_assert_uint_ge(count, 60);
}
END_TEST

Suite *suite_defects(void)
{
    Suite *suite = suite_create("defects");
    TCase *c = tcase_create("defects"), *pair = tcase_create("pairs");
    tcase_add_test(c, rows);
    tcase_add_test(c, files);
    suite_add_tcase(suite, c);
    tcase_set_timeout(pair, 300);
    tcase_add_test(pair, pairs);
    tcase_add_loop_test(pair, conditions, 0, (int)attest_defect_count);
    suite_add_tcase(suite, pair);
    return suite;
}
