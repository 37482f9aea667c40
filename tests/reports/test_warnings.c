/* test_warnings.c - what is told beside the verdicts: probable errors exceeded, mean errors that are not 0. */
#include "tests/reports/report_cases.h"

#include <gsl/gsl_cdf.h>

#include "props/draw/draw.h"

Suite *suite_warnings(void);

static attest_row *add(attest_rows *rows, const char *kernel, const char *class, const char *line)
{
    attest_error err;
    attest_row row;
    attest_row_init(&row);
    snprintf(row.kernel, sizeof row.kernel, "%s", kernel);
    snprintf(row.class, sizeof row.class, "%s", class);
    snprintf(row.line, sizeof row.line, "%s", line);
    ck_assert_int_eq(attest_rows_add(rows, &row, &err), ATTEST_OK);
    return &rows->row[rows->count - 1];
}

/* ---- probable errors -------------------------------------------------------------------------------------------- */
START_TEST(test_probable)
{
    attest_rows rows = { 0 };
    attest_error err;
    attest_probable *list = NULL;
    size_t count = 0;
    add(&rows, "a", "", "n=1")->probable_ratio = 0.25;
    add(&rows, "b", "", "n=2")->probable_ratio = 1; /* not above it */
    add(&rows, "none", "", "n=3");
    add(&rows, "a", "", "n=4 family=ramp-up")->probable_ratio = 2.5;
    add(&rows, "a", "", "n=5 family=normal:4")->probable_ratio = 1.5;
    add(&rows, "a", "", "n=6 family=cast-edge seed=3")->probable_ratio = 16;
    add(&rows, "a", "", "n=7 family=range:8")->probable_ratio = 0.5;
    ck_assert_int_eq(attest_probable_rows(&list, &count, &rows, &err), ATTEST_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(list[0].kernel, "a");
    ck_assert(list[0].cases == 3 && list[0].above == 2 && list[0].largest == 2.5);
    ck_assert_str_eq(list[0].line, "n=4 family=ramp-up");
    ck_assert(list[0].apart == 2 && list[0].apart_above == 1 && list[0].apart_largest == 16);
    ck_assert(list[1].cases == 1 && list[1].above == 0 && list[1].largest == 1 && list[1].apart == 0);
    free(list);
    attest_rows_clear(&rows);
}
END_TEST

/* The families told apart are families, and every one whose outputs are constant is among them. */
START_TEST(test_families)
{
    static const char *const names[] = { ATTEST_REPEATING_FAMILIES };
    size_t known = 0;
    for (size_t k = 0; k < attest_family_count; k++) {
        int listed = 0;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            listed |= strcmp(names[i], attest_families[k].name) == 0;
        known += (size_t)listed;
        ck_assert_msg(listed || !attest_families[k].constant, "%s", attest_families[k].name);
    }
    ck_assert_uint_eq(known, sizeof names / sizeof names[0]);
}
END_TEST

/* ---- bias -------------------------------------------------------------------------------- */
/* `seeds` cases with mean errors mean +- spread by turns. */
static void add_group(attest_rows *rows, const char *kernel, const char *family, int seeds, double mean, double spread)
{
    for (int seed = 0; seed < seeds; seed++) {
        char line[128];
        snprintf(line, sizeof line, "n=9 d=4 family=%s%s%.0d", family, seed ? " seed=" : "", seed);
        add(rows, kernel, "exp", line)->drift = mean + (seed % 2 ? spread : -spread);
    }
}

START_TEST(test_bias)
{
    attest_rows rows = { 0 };
    attest_error err;
    attest_bias *list = NULL;
    size_t count = 0;
    add_group(&rows, "b", "ones", 16, -1, 0.25);
    add_group(&rows, "few", "ones", 7, 1, 0);
    add(&rows, "few", "exp", "n=5 d=1 family=ones seed=3")->drift = 1;
    add_group(&rows, "half", "ones", 8, -0.5, 0); /* no more than the change of spacing can do */
    add_group(&rows, "a", "repeat-max", 8, 0.5, 0);
    add_group(&rows, "a", "ones", 8, 0, 0);
    add_group(&rows, "a", "normal", 8, 1, 0); /* values of both signs */
    ck_assert_int_eq(attest_bias_rows(&list, &count, &rows, &err), ATTEST_OK);
    ck_assert_uint_eq(count, 4);
    ck_assert_str_eq(list[0].family, "ones");
    ck_assert(list[0].seeds == 8 && list[0].mean == 0 && list[0].t == 0 && !list[0].biased);
    ck_assert_str_eq(list[1].family, "repeat-max");
    ck_assert(list[1].mean == 0.5 && isinf(list[1].t) && list[1].biased); /* all agree */
    ck_assert_str_eq(list[2].kernel, "b");
    const double deviation = 0.25 * sqrt(16 / 15.0);
    ck_assert(list[2].mean == -1 && fabs(list[2].deviation - deviation) < 1e-12);
    ck_assert_msg(fabs(list[2].t + 0.5 / (deviation / 4)) < 1e-12 && list[2].biased, "%g", list[2].t);
    ck_assert(list[3].mean == -0.5 && list[3].t == 0 && !list[3].biased);
    free(list);
    attest_rows_clear(&rows);
}
END_TEST

/* v = 1, ten weights summed up in o's numerator, down in its divisor: a correct kernel.  Its mean is not 0, beside
 * numbers 2u apart above and u apart below, and it is not called biased. */
START_TEST(test_beside_one)
{
    attest_rows rows = { 0 };
    attest_error err;
    attest_bias *list = NULL;
    size_t count = 0;
    uint32_t word = 1;
    for (int seed = 0; seed < 64; seed++) {
        double sum = 0;
        for (int i = 0; i < 64; i++) {
            volatile float w[10], up = 0, down = 0, o;
            for (int j = 0; j < 10; j++) {
                word = 1664525 * word + 1013904223;
                w[j] = (float)(word >> 8);
                up += w[j];
            }
            for (int j = 9; j >= 0; j--)
                down += w[j];
            o = up / down;
            sum += ((double)o - 1) * 0x1p24;
        }
        char line[64];
        snprintf(line, sizeof line, "family=ones seed=%d", seed);
        add(&rows, "k", "exp", line)->drift = sum / 64;
    }
    ck_assert_int_eq(attest_bias_rows(&list, &count, &rows, &err), ATTEST_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_msg(list[0].mean > 4 * list[0].deviation / 8, "this kernel's mean is 0: %g", list[0].mean);
    ck_assert(list[0].mean < ATTEST_BIAS_ONES && !list[0].biased);
    free(list);
    attest_rows_clear(&rows);
}
END_TEST

/* Few cases: t = 5 of 8 is no wonder (1 in 600), of 64 it is. */
START_TEST(test_student)
{
    static const struct { int seeds; double t; int biased; } cases[] = {
        { 8, 5, 0 }, { 8, 8.4, 0 }, { 8, 8.6, 1 }, { 8, -8.6, 1 }, { 64, 5, 1 }, { 64, 4, 0 }
    };
    ck_assert(gsl_cdf_tdist_Q(5, 7) > 10 * gsl_cdf_ugaussian_Q(4));
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        attest_rows rows = { 0 };
        attest_error err;
        attest_bias *list = NULL;
        size_t count = 0;
        const double n = cases[k].seeds; /* +-x by turns: the deviation is x sqrt(n/(n-1)) */
        add_group(&rows, "k", "repeat-max", cases[k].seeds, cases[k].t / sqrt(n - 1), 1);
        ck_assert_int_eq(attest_bias_rows(&list, &count, &rows, &err), ATTEST_OK);
        ck_assert_uint_eq(count, 1);
        ck_assert_msg(list[0].biased == cases[k].biased, "%d: t = %g", (int)k, list[0].t);
        free(list);
        attest_rows_clear(&rows);
    }
}
END_TEST

/* Cases of one seed are one; a scale that is rounded is left out. */
START_TEST(test_what_counts)
{
    static const struct { const char *line; int counts; } cases[] = {
        { "n=9 d=4 family=ones", 1 },           { "n=9 family=ones", 1 }, /* d = 16 */
        { "n=9 d=8 family=ones", 0 },           { "n=9 d=8 scale=0.25 family=ones", 1 },
        { "n=9 d=4 scale=0.3 family=ones", 0 }, { "n=9 d=8 scale=-0.5 family=ones", 1 },
        { "n=9 d=4 family=onehot", 0 },         { "n=9 d=4 acc=f32 family=ones", 0 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        attest_rows rows = { 0 };
        attest_error err;
        attest_bias *list = NULL;
        size_t count = 0;
        add_group(&rows, "k", "ones", 8, 0, 1);
        snprintf(rows.row[0].line, sizeof rows.row[0].line, "%s", cases[k].line);
        ck_assert_int_eq(attest_bias_rows(&list, &count, &rows, &err), ATTEST_OK);
        ck_assert_msg(count == (size_t)cases[k].counts, "%s", cases[k].line);
        free(list);
        rows.row[1].verdict = ATTEST_MEASURED;
        ck_assert_int_eq(attest_bias_rows(&list, &count, &rows, &err), ATTEST_OK);
        ck_assert_uint_eq(count, 0);
        free(list);
        attest_rows_clear(&rows);
    }
    attest_rows rows = { 0 };
    attest_error err;
    attest_bias *list = NULL;
    size_t count = 0;
    add_group(&rows, "k", "ones", 8, 1, 0);
    for (int i = 0; i < 5; i++) /* four times the draws of seed 3, and no error */
        add(&rows, "k", "exp", i % 2 ? "n=4 d=1 family=ones seed=3" : "n=5 d=1 family=ones seed=3")->drift = 0;
    ck_assert_int_eq(attest_bias_rows(&list, &count, &rows, &err), ATTEST_OK);
    ck_assert(count == 1 && list[0].seeds == 8);
    ck_assert_msg(fabs(list[0].mean - (7 + 1 / 6.0) / 8) < 1e-12, "%g", list[0].mean);
    free(list);
    attest_rows_clear(&rows);
}
END_TEST

/* ---- what is told -------------------------------------------------------------------------------- */
START_TEST(test_told)
{
    attest_rows rows = { 0 };
    attest_error err;
    add_group(&rows, "b|<d>", "ones", 16, -1, 0.25);
    add_group(&rows, "good", "ones", 16, 0, 0.25);
    add(&rows, "b|<d>", "", "n=4")->probable_ratio = 2.5;
    add(&rows, "good", "", "n=4")->probable_ratio = 0.5;
    add(&rows, "good", "", "n=4 family=cast-edge")->probable_ratio = 16;
    FILE *out = fopen(path_of("told"), "w");
    ck_assert_int_eq(attest_warnings_tell(out, &rows, &err), ATTEST_OK);
    fclose(out);
    ck_assert_str_eq(text_of("told"),
                     "warning: b|<d>: 1 of 1 cases err more than is probable (lambda = 4), at most 2.5 times: n=4\n"
                     "warning: b|<d>: biased: mean -1 of (u gauge), t = -7.75, 16 seeds of ones, exp\n");
    out = fopen(path_of("console"), "w");
    attest_rows_print_console(out, &rows, 0);
    fclose(out);
    ck_assert_uint_eq(occurrences(text_of("console"), "\nwarning: b|<d>: "), 2);
    for (int html = 0; html < 2; html++) {
        out = fopen(path_of("table"), "w");
        ck_assert_int_eq(attest_warnings_print(out, &rows, html, &err), ATTEST_OK);
        fclose(out);
        const char *text = text_of("table");
        ck_assert_ptr_nonnull(strstr(text, html ? "<td><code>b|&lt;d&gt;</code></td><td class=\"n\">1</td>"
                                                  "<td class=\"n\">1</td><td class=\"n\">2.5</td>"
                                                : "| b\\|<d> | 1 | 1 | 2.5 | n=4 | 0 | 0 | 0 |\n"));
        ck_assert_ptr_nonnull(strstr(text, html ? "<td class=\"n\">1</td><td class=\"n\">0</td><td class=\"n\">0.5</td>"
                                                : "| good | 1 | 0 | 0.5 | n=4 | 1 | 1 | 16 |\n"));
        ck_assert_ptr_nonnull(strstr(text, html ? "<td class=\"n\">-7.75</td><td><code>biased</code></td></tr>"
                                                : "| b\\|<d> | exp | ones | 16 | -1 | 0.258 | -7.75 | biased |\n"));
        ck_assert_uint_eq(occurrences(text, "biased |") + occurrences(text, "<code>biased<"), 1);
        ck_assert_uint_eq(occurrences(text, "change no verdict"), 1);
    }
    ck_assert_int_eq(attest_rows_write_summary(&rows, NULL, path_of("summary.md"), &err), ATTEST_OK);
    ck_assert_ptr_nonnull(strstr(text_of("summary.md"), "| -7.75 | biased |\n"));
    ck_assert_int_eq(attest_rows_write_jsonl(&rows, path_of("rows.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_report_write(folder, &err), ATTEST_OK);
    ck_assert_ptr_nonnull(strstr(text_of("index.html"), "<code>biased</code>"));
    rows.count = 0;
    out = fopen(path_of("nothing"), "w");
    ck_assert_int_eq(attest_warnings_print(out, &rows, 0, &err), ATTEST_OK);
    ck_assert_int_eq(attest_warnings_tell(out, &rows, &err), ATTEST_OK);
    ck_assert_int_eq(ftell(out), 0);
    fclose(out);
    attest_rows_clear(&rows);
}
END_TEST

Suite *suite_warnings(void)
{
    Suite *s = suite_create("warnings");
    TCase *t = tcase_create("warnings");
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_probable);
    tcase_add_test(t, test_families);
    tcase_add_test(t, test_bias);
    tcase_add_test(t, test_beside_one);
    tcase_add_test(t, test_student);
    tcase_add_test(t, test_what_counts);
    tcase_add_test(t, test_told);
    suite_add_tcase(s, t);
    return s;
}
