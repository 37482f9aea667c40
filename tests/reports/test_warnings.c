/* test_warnings.c - what is told beside the verdicts: probable errors exceeded, mean errors that are not 0. */
#include "tests/reports/report_cases.h"

#include <gsl/gsl_cdf.h>

#include "props/draw/draw.h"
#include "verify/gate/gate.h"

Suite *suite_warnings(void);

/* Cases of a test, still in the open. */
typedef struct given {
    attest_result result[160];
    size_t count;
} given;

static attest_result *add(given *g, const char *kernel, const char *class, const char *line)
{
    attest_error err = { "" };
    attest_case c;
    ck_assert_uint_lt(g->count, sizeof g->result / sizeof g->result[0]);
    attest_result *result = &g->result[g->count++];
    attest_result_init(result);
    snprintf(result->kernel, sizeof result->kernel, "%s", kernel);
    snprintf(result->class, sizeof result->class, "%s", class);
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    attest_result_describe(result, &c, line, 0);
    return result;
}

static attest_warnings warnings_of(const given *g)
{
    attest_warnings w = { 0 };
    attest_error err;
    for (size_t i = 0; i < g->count; i++)
        ck_assert_int_eq(attest_warnings_take(&w, &g->result[i], &err), ATTEST_OK);
    ck_assert_int_eq(attest_warnings_end(&w, &err), ATTEST_OK);
    return w;
}

/* ---- beside plain arithmetic ------------------------------------------------------------------------------------ */
static void set_typical(attest_result *result, const char *typical, double factor)
{
    snprintf(result->typical, sizeof result->typical, "%s", typical);
    result->typical_factor = factor;
}

START_TEST(test_typical)
{
    static given rows;
    rows.count = 0;
    set_typical(add(&rows, "a", "", "n=1"), "as-plain", 0.9);
    set_typical(add(&rows, "a", "", "n=2"), "worse-than-plain", 7.5);
    set_typical(add(&rows, "a", "", "n=3"), "not modelled: for this", NAN);
    set_typical(add(&rows, "a", "", "n=4"), "not modelled: for that", NAN);
    set_typical(add(&rows, "b", "", "n=5"), "better-than-plain", 0.1);
    add(&rows, "not-asked", "", "n=6");
    attest_warnings w = warnings_of(&rows);
    const attest_typical_tally *list = w.typical;
    ck_assert_uint_eq(w.typical_count, 2);
    ck_assert(list[0].cases == 4 && list[0].worse == 1 && list[0].better == 0 && list[0].left == 2);
    ck_assert(list[0].largest == 7.5 && strcmp(list[0].problem, "n=2") == 0);
    ck_assert_str_eq(list[0].why, "not modelled: for this");
    ck_assert(list[1].cases == 1 && list[1].better == 1 && list[1].left == 0);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    attest_warnings_tell(out, &w);
    fclose(out);
    ck_assert_str_eq(text,
                     "finding: a: worse-than-plain in 1 of 4 cases, 7.5 times plain arithmetic's error: n=2\n"
                     "typical: a: 2 cases beside plain arithmetic: 1 worse, 0 better, 2 more not modelled: for this\n"
                     "typical: b: 1 case beside plain arithmetic: 0 worse, 1 better, 0 not modelled\n");
    free(text);
    attest_warnings_clear(&w);
}
END_TEST

/* ---- beside predicted bits --------------------------------------------------------------------------------------- */
static void set_predicted(attest_result *result, const char *predicted)
{
    snprintf(result->predicted, sizeof result->predicted, "%s", predicted);
}

START_TEST(test_predicted)
{
    static given rows;
    rows.count = 0;
    set_predicted(add(&rows, "a", "", "n=1"), "equal");
    set_predicted(add(&rows, "a", "", "n=2"), "o[0,1,2,3]: predicted 0x1, got 0x2 (1 of 8 elements differ)");
    set_predicted(add(&rows, "a", "", "n=3"), "lse[0,0,0]: predicted 0x1, got 0x3 (1 of 8 elements differ)");
    set_predicted(add(&rows, "a", "", "n=4"), "not predicted: for this");
    set_predicted(add(&rows, "b", "", "n=5"), "equal");
    add(&rows, "not-asked", "", "n=6");
    attest_warnings w = warnings_of(&rows);
    char *text = NULL;
    size_t size;
    attest_error err;
    ck_assert_uint_eq(w.predicted_count, 2);
    FILE *out = open_memstream(&text, &size);
    attest_warnings_tell(out, &w);
    ck_assert_int_eq(attest_warnings_print(out, &w, 0, &err), ATTEST_OK);
    fclose(out);
    const char *told = "predicted: a: bits of 1 of 4 cases as predicted, of 2 others, 1 not predicted: for this\n"
                       "finding: a: o[0,1,2,3]: predicted 0x1, got 0x2 (1 of 8 elements differ): n=2\n"
                       "predicted: b: bits of 1 of 1 case as predicted, of 0 others, 0 not predicted\n";
    ck_assert_msg(strncmp(text, told, strlen(told)) == 0, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "| `a` | 4 | 1 | 2 | 1 | `o[0,1,2,3]: predicted 0x1, got 0x2"));
    ck_assert_ptr_nonnull(strstr(text, "| `b` | 1 | 1 | 0 | 0 |"));
    free(text);
    attest_warnings_clear(&w);
}
END_TEST

/* ---- probable errors -------------------------------------------------------------------------------------------- */
START_TEST(test_probable)
{
    static given rows;
    rows.count = 0;
    add(&rows, "a", "", "n=1")->probabilistic_ratio = 0.25;
    add(&rows, "b", "", "n=2")->probabilistic_ratio = 1; /* not above it */
    add(&rows, "none", "", "n=3");
    add(&rows, "a", "", "n=4 family=ramp-up")->probabilistic_ratio = 2.5;
    add(&rows, "a", "", "n=5 family=normal:4")->probabilistic_ratio = 1.5;
    add(&rows, "a", "", "n=6 family=cast-edge seed=3")->probabilistic_ratio = 16;
    add(&rows, "a", "", "n=7 family=range:8")->probabilistic_ratio = 0.5;
    attest_warnings w = warnings_of(&rows);
    const attest_probabilistic *list = w.probabilistic;
    ck_assert_uint_eq(w.probabilistic_count, 2);
    ck_assert_str_eq(w.repeating, "cast-edge, range");
    ck_assert_str_eq(list[0].kernel, "a");
    ck_assert(list[0].cases == 3 && list[0].above == 2 && list[0].largest == 2.5);
    ck_assert_str_eq(list[0].problem, "n=4 family=ramp-up");
    ck_assert(list[0].apart == 2 && list[0].apart_above == 1 && list[0].apart_largest == 16);
    ck_assert(list[1].cases == 1 && list[1].above == 0 && list[1].largest == 1 && list[1].apart == 0);
    attest_warnings_clear(&w);
}
END_TEST

/* Every family whose outputs are constant repeats something, and the usual one does not. */
START_TEST(test_families)
{
    for (size_t k = 0; k < attest_family_count; k++)
        ck_assert_msg(attest_families[k].repeats || !attest_families[k].constant, "%s", attest_families[k].name);
    ck_assert(!attest_families[0].repeats);
}
END_TEST

/* ---- bias -------------------------------------------------------------------------------- */
/* `seeds` cases with mean errors mean +- spread by turns. */
static void add_group(given *rows, const char *kernel, const char *family, int seeds, double mean, double spread)
{
    for (int seed = 0; seed < seeds; seed++) {
        char line[128];
        snprintf(line, sizeof line, "n=9 d=4 family=%s%s%.0d", family, seed ? " seed=" : "", seed);
        add(rows, kernel, "exp", line)->outward_bias = mean + (seed % 2 ? spread : -spread);
    }
}

START_TEST(test_bias)
{
    static given rows;
    rows.count = 0;
    add_group(&rows, "b", "ones", 16, -1, 0.25);
    add_group(&rows, "few", "ones", 7, 1, 0);
    add(&rows, "few", "exp", "n=5 d=1 family=ones seed=3")->outward_bias = 1;
    add_group(&rows, "half", "ones", 8, -0.5, 0); /* no more than the change of spacing can do */
    add_group(&rows, "a", "repeat-max", 8, 0.5, 0);
    add_group(&rows, "a", "ones", 8, 0, 0);
    add_group(&rows, "a", "normal", 8, 1, 0); /* values of both signs */
    attest_warnings w = warnings_of(&rows);
    const attest_bias *list = w.bias;
    ck_assert_uint_eq(w.bias_count, 4);
    ck_assert_str_eq(list[0].family, "ones");
    ck_assert(list[0].seeds == 8 && list[0].mean == 0 && list[0].t == 0 && !list[0].biased);
    ck_assert_str_eq(list[1].family, "repeat-max");
    ck_assert(list[1].mean == 0.5 && isinf(list[1].t) && list[1].biased); /* all agree */
    ck_assert_str_eq(list[2].kernel, "b");
    const double deviation = 0.25 * sqrt(16 / 15.0);
    ck_assert(list[2].mean == -1 && fabs(list[2].deviation - deviation) < 1e-12);
    ck_assert_msg(fabs(list[2].t + 0.5 / (deviation / 4)) < 1e-12 && list[2].biased, "%g", list[2].t);
    ck_assert(list[3].mean == -0.5 && list[3].t == 0 && !list[3].biased);
    attest_warnings_clear(&w);
}
END_TEST

/* v = 1, ten weights summed up in o's numerator, down in its divisor: a correct kernel.  Its mean is not 0, beside
 * numbers 2u apart above and u apart below, and it is not called biased. */
START_TEST(test_beside_one)
{
    static given rows;
    rows.count = 0;
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
        add(&rows, "k", "exp", line)->outward_bias = sum / 64;
    }
    attest_warnings w = warnings_of(&rows);
    const attest_bias *list = w.bias;
    ck_assert_uint_eq(w.bias_count, 1);
    ck_assert_msg(list[0].mean > 4 * list[0].deviation / 8, "this kernel's mean is 0: %g", list[0].mean);
    ck_assert(list[0].mean < ATTEST_BIAS_ONES && !list[0].biased);
    attest_warnings_clear(&w);
}
END_TEST

/* Few cases: t = 5 of 8 is no wonder (1 in 600), of 64 it is. */
START_TEST(test_student)
{
    static const struct {
        int seeds;
        double t;
        int biased;
    } cases[] = { { 8, 5, 0 }, { 8, 8.4, 0 }, { 8, 8.6, 1 }, { 8, -8.6, 1 }, { 64, 5, 1 }, { 64, 4, 0 } };
    ck_assert(gsl_cdf_tdist_Q(5, 7) > 10 * gsl_cdf_ugaussian_Q(4));
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        static given rows;
        rows.count = 0;
        const double n = cases[k].seeds; /* +-x by turns: the deviation is x sqrt(n/(n-1)) */
        add_group(&rows, "k", "repeat-max", cases[k].seeds, cases[k].t / sqrt(n - 1), 1);
        attest_warnings w = warnings_of(&rows);
        const attest_bias *list = w.bias;
        ck_assert_uint_eq(w.bias_count, 1);
        ck_assert_msg(list[0].biased == cases[k].biased, "%d: t = %g", (int)k, list[0].t);
        attest_warnings_clear(&w);
    }
}
END_TEST

/* Cases of one seed are one; a scale that is rounded is left out. */
START_TEST(test_what_counts)
{
    static const struct {
        const char *line;
        int counts;
    } cases[] = {
        { "n=9 d=4 family=ones", 1 },           { "n=9 family=ones", 1 }, /* d = 16 */
        { "n=9 d=8 family=ones", 0 },           { "n=9 d=8 scale=0.25 family=ones", 1 },
        { "n=9 d=4 scale=0.3 family=ones", 0 }, { "n=9 d=8 scale=-0.5 family=ones", 1 },
        { "n=9 d=4 family=onehot", 0 },         { "n=9 d=4 acc=f64 family=ones", 0 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        static given rows;
        rows.count = 0;
        add_group(&rows, "k", "ones", 8, 0, 1);
        const double bias = rows.result[0].outward_bias;
        rows.result[0] = *add(&rows, "k", "exp", cases[k].line);
        rows.result[0].outward_bias = bias;
        rows.count--;
        attest_warnings w = warnings_of(&rows);
        ck_assert_msg(w.bias_count == (size_t)cases[k].counts, "%s", cases[k].line);
        attest_warnings_clear(&w);
        rows.result[1].verdict = ATTEST_MEASURED;
        w = warnings_of(&rows);
        ck_assert_uint_eq(w.bias_count, 0);
        attest_warnings_clear(&w);
    }
    static given rows;
    rows.count = 0;
    add_group(&rows, "k", "ones", 8, 1, 0);
    for (int i = 0; i < 5; i++) /* four times the draws of seed 3, and no error */
        add(&rows, "k", "exp", i % 2 ? "n=4 d=1 family=ones seed=3" : "n=5 d=1 family=ones seed=3")->outward_bias = 0;
    attest_warnings w = warnings_of(&rows);
    ck_assert(w.bias_count == 1 && w.bias[0].seeds == 8);
    ck_assert_msg(fabs(w.bias[0].mean - (7 + 1 / 6.0) / 8) < 1e-12, "%g", w.bias[0].mean);
    attest_warnings_clear(&w);
}
END_TEST

/* ---- what is told -------------------------------------------------------------------------------- */
START_TEST(test_told)
{
    static given rows;
    rows.count = 0;
    attest_error err;
    add_group(&rows, "b|<d>", "ones", 16, -1, 0.25);
    add_group(&rows, "good", "ones", 16, 0, 0.25);
    add(&rows, "b|<d>", "", "n=4")->probabilistic_ratio = 2.5;
    add(&rows, "good", "", "n=4")->probabilistic_ratio = 0.5;
    add(&rows, "good", "", "n=4 family=cast-edge")->probabilistic_ratio = 16;
    attest_results list = list_of(rows.result, rows.count);
    attest_warnings w = warnings_of(&rows);
    const attest_warnings none = { 0 };
    FILE *out = fopen(path_of("told"), "w");
    attest_warnings_tell(out, &w);
    fclose(out);
    ck_assert_str_eq(text_of("told"),
                     "warning: b|<d>: 1 of 1 cases err more than is probable (lambda = 4), at most 2.5 times: n=4\n"
                     "warning: b|<d>: biased: mean -1 of (u abs_scale), t = -7.75, 16 seeds of ones, exp\n");
    out = fopen(path_of("console"), "w");
    attest_results_print_console(out, &list, NULL, NULL, 0);
    fclose(out);
    ck_assert_uint_eq(occurrences(text_of("console"), "\nwarning: b|<d>: "), 2);
    for (int html = 0; html < 2; html++) {
        out = fopen(path_of("table"), "w");
        ck_assert_int_eq(attest_warnings_print(out, &w, html, &err), ATTEST_OK);
        fclose(out);
        const char *text = text_of("table");
        ck_assert_ptr_nonnull(strstr(text, html ? "<td><code>b|&lt;d&gt;</code><td class=\"n\">1"
                                                  "<td class=\"n\">1<td class=\"n\">2.5<"
                                                : "| `b\\|<d>` | 1 | 1 | 2.5 | `n=4` | 0 | 0 | 0 |\n"));
        ck_assert_ptr_nonnull(strstr(text, html ? "<td class=\"n\">1<td class=\"n\">0<td class=\"n\">0.5<"
                                                : "| `good` | 1 | 0 | 0.5 | `n=4` | 1 | 1 | 16 |\n"));
        ck_assert_ptr_nonnull(
            strstr(text, html ? "<td class=\"n\">-7.75<td>biased\n"
                              : "| `b\\|<d>` | `exp` | `ones` | 16 | -1 | 0.258 | -7.75 | biased |\n"));
        ck_assert_uint_eq(occurrences(text, "biased |") + occurrences(text, "<td>biased\n"), 1);
        ck_assert_uint_eq(occurrences(text, "change no verdict"), 1);
    }
    ck_assert_int_eq(attest_results_write_summary(&list, NULL, NULL, path_of("summary.md"), &err), ATTEST_OK);
    ck_assert_ptr_nonnull(strstr(text_of("summary.md"), "| -7.75 | biased |\n"));
    ck_assert_int_eq(attest_results_write_jsonl(&list, path_of("results.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_report_write(folder, &err), ATTEST_OK);
    ck_assert_ptr_nonnull(strstr(text_of("index.html"), "<td>biased\n"));
    out = fopen(path_of("nothing"), "w");
    ck_assert_int_eq(attest_warnings_print(out, &none, 0, &err), ATTEST_OK);
    attest_warnings_tell(out, &none);
    ck_assert_int_eq(ftell(out), 0);
    fclose(out);
    attest_warnings_clear(&w);
    attest_results_clear(&list);
}
END_TEST

Suite *suite_warnings(void)
{
    Suite *s = suite_create("warnings");
    TCase *t = tcase_create("warnings");
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_probable);
    tcase_add_test(t, test_typical);
    tcase_add_test(t, test_predicted);
    tcase_add_test(t, test_families);
    tcase_add_test(t, test_bias);
    tcase_add_test(t, test_beside_one);
    tcase_add_test(t, test_student);
    tcase_add_test(t, test_what_counts);
    tcase_add_test(t, test_told);
    suite_add_tcase(s, t);
    return s;
}
