/* test_reports.c - the result and everything that reads it: round trips, exit codes, tables, page, charts. */
#include <sys/stat.h>

#include "reports/charts/charts.h"
#include "reports/ci/ci.h"
#include "tests/reports/report_cases.h"

Suite *suite_reports(void);

START_TEST(test_fields_cover_the_result)
{
    /* Every byte of the result belongs to exactly one field (padding aside). */
    size_t covered = 0;
    for (size_t i = 0; i < attest_result_field_count; i++) {
        covered += attest_result_fields[i].size;
        for (size_t j = 0; j < i; j++) {
            const attest_field *a = &attest_result_fields[i], *b = &attest_result_fields[j];
            ck_assert_msg(a->offset >= b->offset + b->size || b->offset >= a->offset + a->size, "%s and %s overlap",
                          a->name, b->name);
        }
        ck_assert_msg(!attest_result_fields[i].timing || i + 2 >= attest_result_field_count, "timings come last");
    }
    ck_assert_msg(sizeof(attest_result) - covered < 64, "%zu bytes of the result are in no field",
                  sizeof(attest_result) - covered);
}
END_TEST

START_TEST(test_jsonl_round_trip)
{
    attest_results rows = samples(40), back = { 0 };
    attest_error err;
    static const double edges[] = { INFINITY, -INFINITY, NAN, 0x1p-1074 };
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        attest_result edge = result_at(&rows, i);
        edge.ratio_hi = edges[i];
        put(&rows, i, &edge);
    }
    ck_assert_int_eq(attest_results_write_jsonl(&rows, path_of("results.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_results_open(&back, path_of("results.jsonl"), &err), ATTEST_OK);
    ck_assert_uint_eq(back.count, rows.count);
    for (size_t i = rows.count; i-- > 0;) { /* in any order */
        const attest_result one = result_at(&rows, i), other = result_at(&back, i);
        for (size_t f = 0; f < attest_result_field_count; f++) {
            const attest_field *field = &attest_result_fields[f];
            const char *a = (const char *)&one + field->offset, *b = (const char *)&other + field->offset;
            const int both_nan = field->type == ATTEST_FIELD_REAL && isnan(attest_field_real(&one, field)) &&
                                 isnan(attest_field_real(&other, field));
            const int same = field->type == ATTEST_FIELD_TEXT ? strcmp(a, b) == 0 : memcmp(a, b, field->size) == 0;
            ck_assert_msg(same || both_nan, "result %zu, field %s changed", i, field->name);
        }
    }
    attest_results_clear(&rows);
    attest_results_clear(&back);
}
END_TEST

START_TEST(test_jsonl_bad_lines)
{
    static const char *const bad[] = { "{\"schema\":", "[1]", "{\"schema\":1}", "{\"schema\":\"x\"}" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        attest_results rows = { 0 };
        attest_result result;
        attest_error err;
        FILE *out = fopen(path_of("bad.jsonl"), "w");
        fprintf(out, "%s\n", bad[i]);
        fclose(out);
        ck_assert_int_eq(attest_results_open(&rows, path_of("bad.jsonl"), &err), ATTEST_OK);
        ck_assert_int_eq(attest_results_get(&result, &rows, 0, &err), ATTEST_BAD_INPUT);
        ck_assert_msg(strstr(err.text, "bad.jsonl:1"), "the message names file and line: %s", err.text);
        attest_results_clear(&rows);
    }
    attest_results none = { 0 };
    attest_error err;
    ck_assert_int_eq(attest_results_open(&none, path_of("nothing.jsonl"), &err), ATTEST_BAD_INPUT);
}
END_TEST

/* In another order, with one replaced; the file of the list keeps them as they came. */
START_TEST(test_order)
{
    attest_results results = { 0 }, back = { 0 };
    attest_error err;
    size_t order[40];
    ck_assert_int_eq(attest_results_create(&results, path_of("order.jsonl"), &err), ATTEST_OK);
    for (int i = 0; i < 40; i++) {
        const attest_result one = sample(i);
        ck_assert_int_eq(attest_results_add(&results, &one, &err), ATTEST_OK);
        order[i % 4 * 10 + i / 4] = (size_t)i;
    }
    attest_result other = sample(77);
    put(&results, 9, &other);
    ck_assert_int_eq(attest_results_order(&results, order, &err), ATTEST_OK);
    for (size_t i = 0; i < 40; i++) {
        const attest_result got = result_at(&results, i), want = sample(order[i] == 9 ? 77 : (int)order[i]);
        ck_assert(got.bits == want.bits && strcmp(got.problem, want.problem) == 0);
    }
    const attest_result last = sample(5);
    ck_assert_int_eq(attest_results_add(&results, &last, &err), ATTEST_OK);
    ck_assert(results.count == 41 && result_at(&results, 40).bits == last.bits);
    ck_assert_int_eq(attest_results_open(&back, path_of("order.jsonl"), &err), ATTEST_OK);
    ck_assert(back.count == 41 && result_at(&back, 9).bits == sample(9).bits && result_at(&back, 40).bits == last.bits);
    attest_results_clear(&results);
    attest_results_clear(&back);
    ck_assert(results.files == NULL && results.line == NULL && results.count == 0);
}
END_TEST

/* A run that was ended leaves whole lines, and perhaps a part of one. */
START_TEST(test_part)
{
    attest_results rows = samples(3), back = { 0 };
    attest_error err;
    ck_assert_int_eq(attest_results_write_jsonl(&rows, path_of("part.jsonl"), &err), ATTEST_OK);
    FILE *out = fopen(path_of("part.jsonl"), "a");
    fputs("{\"schema\":2,\"tool\"", out);
    fclose(out);
    ck_assert_int_eq(attest_results_open_part(&back, path_of("part.jsonl"), &err), ATTEST_OK);
    ck_assert(back.count == 3 && result_at(&back, 2).bits == result_at(&rows, 2).bits);
    attest_results_clear(&back);
    ck_assert_int_eq(attest_results_open(&back, path_of("part.jsonl"), &err), ATTEST_OK);
    ck_assert_uint_eq(back.count, 4);
    attest_results_clear(&back);
    ck_assert_int_eq(attest_results_open(&back, folder, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "a directory"), "%s", err.text);
    ck_assert_int_eq(mkfifo(path_of("fifo"), 0600), 0);
    ck_assert_int_eq(attest_results_open(&back, path_of("fifo"), &err), ATTEST_BAD_INPUT);
    attest_results_clear(&rows);
}
END_TEST

START_TEST(test_csv)
{
    attest_results rows = samples(5);
    attest_error err;
    ck_assert_int_eq(attest_results_write_csv(&rows, path_of("results.csv"), &err), ATTEST_OK);
    const char *text = text_of("results.csv");
    size_t columns = 1, cells = 1;
    const char *at = text;
    for (; *at != '\n'; at++)
        columns += *at == ',';
    int quoted = 0;
    for (at++; *at && (quoted || *at != '\n'); at++) {
        quoted ^= *at == '"';
        cells += !quoted && *at == ',';
    }
    ck_assert_uint_eq(columns, cells);
    ck_assert_ptr_nonnull(strstr(text, "ratio_hi,ratio_hi_hex"));
    ck_assert_ptr_nonnull(strstr(text, "0x1."));
    attest_results_clear(&rows);
}
END_TEST

START_TEST(test_junit_and_summary)
{
    attest_results rows = samples(200);
    attest_error err;
    ck_assert_int_eq(attest_ci_write_junit(&rows, path_of("junit.xml"), &err), ATTEST_OK);
    const char *text = text_of("junit.xml");
    ck_assert_uint_eq(occurrences(text, "<testcase "), 200);
    ck_assert_uint_eq(occurrences(text, "<testsuite "), 3);
    size_t by_verdict[ATTEST_VERDICT_COUNT] = { 0 };
    for (size_t i = 0; i < rows.count; i++)
        by_verdict[result_at(&rows, i).verdict]++;
    ck_assert_uint_eq(occurrences(text, "<skipped "), by_verdict[ATTEST_SKIP]);
    ck_assert_uint_eq(occurrences(text, "<error "), by_verdict[ATTEST_CRASH] + by_verdict[ATTEST_TIMEOUT]);
    ck_assert_uint_eq(occurrences(text, "<failure "), by_verdict[ATTEST_FAIL] + by_verdict[ATTEST_UNDECIDED] +
                                                          by_verdict[ATTEST_PARTIAL] + by_verdict[ATTEST_NO_EVIDENCE]);
    ck_assert_msg(!strstr(text, "<1") && !strstr(text, "& '"), "texts are escaped");
    for (size_t i = 0; i < rows.count; i++) {
        attest_result plain = result_at(&rows, i);
        plain.rows_negative_weight = plain.rows_negative_sum = plain.rows_vanishing = 0;
        plain.class[0] = '\0'; /* no table of classes either, nor of power, nor warnings */
        plain.telling = NAN;
        plain.probabilistic_ratio = NAN;
        plain.typical[0] = plain.predicted[0] = '\0';
        put(&rows, i, &plain);
    }
    ck_assert_int_eq(attest_results_write_summary(&rows, NULL, NULL, path_of("summary.md"), &err), ATTEST_OK);
    text = text_of("summary.md");
    ck_assert_uint_eq(occurrences(text, "\n| "), 60 + 3 + 2); /* results, tallies, two headings: none without a row */
    ck_assert_msg(!strstr(text, "\n| pass |"), "those that need attention come first");
    ck_assert_ptr_nonnull(strstr(text, "and 140 more results"));
    attest_results_clear(&rows);
}
END_TEST

/* Variants with negative weights or denominators are told together; the others are not in that table. */
START_TEST(test_signs)
{
    static const struct {
        const char *variant;
        int64_t verdict, judged, weight, sum, vanishing;
    } cases[] = {
        { "taylor:3", ATTEST_PASS, 9, 4, 0, 0 },     { "softmax", ATTEST_PASS, 7, 0, 0, 0 },
        { "taylor:3", ATTEST_ILLPOSED, 5, 3, 2, 1 }, { "linear", ATTEST_FAIL, 2, 0, 1, 0 },
        { "taylor:1", ATTEST_SKIP, 0, 0, 0, 0 },
    };
    attest_results rows = { 0 };
    attest_error err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_result row;
        attest_result_init(&row);
        snprintf(row.variant, sizeof row.variant, "%s", cases[i].variant);
        row.verdict = cases[i].verdict;
        row.rows_judged = cases[i].judged;
        row.rows_negative_weight = cases[i].weight;
        row.rows_negative_sum = cases[i].sum;
        row.rows_vanishing = cases[i].vanishing;
        ck_assert_int_eq(attest_results_add(&rows, &row, &err), ATTEST_OK);
    }
    attest_overview o = overview_of(&rows);
    const attest_sign *signs = o.signs.sign;
    ck_assert_uint_eq(o.signs.count, 2);
    ck_assert_str_eq(signs[0].variant, "taylor:3");
    ck_assert(signs[0].cases == 2 && signs[0].illposed == 1 && signs[0].rows == 14);
    ck_assert(signs[0].negative_weight == 7 && signs[0].negative_sum == 2 && signs[0].vanishing == 1);
    ck_assert_str_eq(signs[1].variant, "linear");
    ck_assert_int_eq(attest_results_write_summary(&rows, NULL, NULL, path_of("summary.md"), &err), ATTEST_OK);
    ck_assert_ptr_nonnull(strstr(text_of("summary.md"), "| taylor:3 | 2 | 1 | 14 | 7 | 2 | 1 |\n"));
    char html[4096] = "";
    FILE *out = fmemopen(html, sizeof html, "w");
    ck_assert_int_eq(attest_signs_print(out, &o.signs, 1, &err), ATTEST_OK);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(html, "<code>linear</code>"));
    ck_assert_msg(occurrences(html, "<tr>") == 3, "%s", html);
    attest_overview_clear(&o);
    attest_results_clear(&rows);
}
END_TEST

/* A row a kernel, and one for each weak variant; what failed or judged no o is left out. */
START_TEST(test_powers)
{
    static const struct {
        const char *kernel, *variant;
        int64_t verdict;
        double telling, keys;
    } cases[] = {
        { "a", "softmax", ATTEST_PASS, 1, 1 },    { "a", "linear", ATTEST_PASS, 0.5, NAN },
        { "b", "softmax", ATTEST_PASS, 1, 0.25 }, { "a", "linear", ATTEST_NO_EVIDENCE, 0, NAN },
        { "a", "softmax", ATTEST_FAIL, 0, 0 },    { "a", "softmax", ATTEST_PASS, NAN, NAN },
    };
    attest_results rows = { 0 };
    attest_error err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_result row;
        attest_result_init(&row);
        snprintf(row.kernel, sizeof row.kernel, "%s", cases[i].kernel);
        snprintf(row.variant, sizeof row.variant, "%s", cases[i].variant);
        row.verdict = cases[i].verdict;
        row.telling = cases[i].telling;
        row.keys_seen = cases[i].keys;
        ck_assert_int_eq(attest_results_add(&rows, &row, &err), ATTEST_OK);
    }
    ck_assert_int_eq(attest_results_write_summary(&rows, NULL, NULL, path_of("summary.md"), &err), ATTEST_OK);
    ck_assert_ptr_nonnull(strstr(text_of("summary.md"), "| a | all | 3 | 50.0% | 100.0% |\n"
                                                        "| a | linear | 2 | 25.0% | - |\n"
                                                        "| b | all | 1 | 100.0% | 25.0% |\n"
                                                        "| b | softmax | 1 | 100.0% | 25.0% |\n"));
    attest_results_clear(&rows);
}
END_TEST

/* What is told first, and what needs attention. */
START_TEST(test_ranks)
{
    static const int rank[ATTEST_VERDICT_COUNT] = { 4, 1, 2, 3, 0, 0, 3, 2, 4, 2 };
    for (int v = 0; v < ATTEST_VERDICT_COUNT; v++) {
        attest_result row;
        attest_result_init(&row);
        row.verdict = v;
        ck_assert_msg(attest_result_rank(&row) == rank[v], "%s", attest_verdict_names[v]);
        ck_assert_msg(attest_result_bad(&row) == (rank[v] < 3), "%s", attest_verdict_names[v]);
    }
}
END_TEST

START_TEST(test_exit_codes)
{
    static const struct {
        int64_t verdict, reasons;
        int code;
    } rows[] = { { ATTEST_PASS, 0, 0 },
                 { ATTEST_FAIL, ATTEST_REASON_BOUND, 1 },
                 { ATTEST_CRASH, 0, 3 },
                 { ATTEST_TIMEOUT, 0, 3 },
                 { ATTEST_FAIL, ATTEST_REASON_FP_STATE, 3 },
                 { ATTEST_FAIL, ATTEST_REASON_WROTE_OUTSIDE | ATTEST_REASON_BOUND, 3 },
                 { ATTEST_UNDECIDED, 0, 4 },
                 { ATTEST_NO_EVIDENCE, 0, 4 },
                 { ATTEST_PARTIAL, 0, 4 },
                 { ATTEST_ILLPOSED, 0, 0 },
                 { ATTEST_SKIP, 0, 77 } };
    static const struct {
        int codes[4];
        int combined;
    } sets[] = { { { 77, 77, 77, 77 }, 77 }, { { 0, 77, 0, 0 }, 0 }, { { 0, 4, 0, 77 }, 4 },  { { 4, 1, 0, 0 }, 1 },
                 { { 1, 3, 4, 0 }, 3 },      { { 3, 2, 1, 0 }, 2 },  { { 2, 70, 3, 1 }, 70 }, { { 0, 0, 0, 55 }, 70 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        attest_result row;
        attest_result_init(&row);
        row.verdict = rows[i].verdict;
        row.reasons = rows[i].reasons;
        ck_assert_int_eq(attest_result_exit(&row, 1), rows[i].code);
    }
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        attest_exit x = { 0 };
        for (int k = 0; k < 4; k++)
            attest_exit_add(&x, sets[i].codes[k]);
        ck_assert_int_eq(attest_exit_code(&x), sets[i].combined);
    }
    const attest_exit nothing = { 0 };
    ck_assert_int_eq(attest_exit_code(&nothing), 77);
}
END_TEST

START_TEST(test_reasons_text)
{
    char text[64];
    attest_reasons_text(text, sizeof text, ATTEST_REASON_BOUND | ATTEST_REASON_LSE | ATTEST_REASON_PROPERTY);
    ck_assert_str_eq(text, "bound,lse,property");
    attest_reasons_text(text, sizeof text, 0);
    ck_assert_str_eq(text, "");
    attest_reasons_text(text, 8, ATTEST_REASON_COUNT - 1);
    ck_assert_uint_lt(strlen(text), 8);
}
END_TEST

START_TEST(test_console)
{
    attest_results rows = samples(40);
    FILE *out = fopen(path_of("console"), "w");
    attest_results_print_console(out, &rows, NULL, NULL, 0);
    fclose(out);
    const char *text = text_of("console");
    size_t bad = 0;
    for (size_t i = 0; i < rows.count; i++)
        bad += (size_t)attest_result_bad(&(attest_result){ .verdict = result_at(&rows, i).verdict });
    ck_assert_ptr_nonnull(strstr(text, "worst ratio"));
    ck_assert_msg(!strchr(text, '\033'), "no colour was asked for");
    char more[64];
    snprintf(more, sizeof more, "and %zu more", bad - 10);
    ck_assert_ptr_nonnull(strstr(text, more));
    out = fopen(path_of("line"), "w");
    const attest_result failed = result_at(&rows, 1);
    attest_result_print_line(out, &failed, 1);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text_of("line"), "\033[31mfail"));
    setenv("NO_COLOR", "1", 1);
    ck_assert_int_eq(attest_want_colour(stdout), 0);
    attest_results_clear(&rows);
}
END_TEST

START_TEST(test_fit)
{
    double x[20], y[20];
    attest_fit fit;
    attest_error err;
    for (int i = 0; i < 20; i++) {
        x[i] = ldexp(1, -i);
        y[i] = 3 * pow(x[i], 4);
    }
    y[3] = 0; /* left out: no logarithm */
    y[5] = NAN;
    ck_assert_int_eq(attest_fit_loglog(&fit, x, y, 20, &err), ATTEST_OK);
    ck_assert_uint_eq(fit.points, 18);
    ck_assert_msg(fabs(fit.slope - 4) < 1e-12 && fabs(fit.intercept - log2(3)) < 1e-11 && fit.residual < 1e-11,
                  "slope %g intercept %g", fit.slope, fit.intercept);
    ck_assert_int_eq(attest_fit_loglog(&fit, x, y, 1, &err), ATTEST_OK);
    ck_assert(isnan(fit.slope));
}
END_TEST

/* Study rows as `attest study` writes them, with a known law. */
static attest_results study_rows(int range)
{
    static const char *const centers[] = { "zero", "max", "min", "mid" };
    attest_results rows = { 0 };
    attest_error err;
    for (int c = 0; c < 4; c++)
        for (int line = 1; line <= 6; line++)
            for (int i = 0; i <= 12; i++) {
                attest_result row;
                attest_result_init(&row);
                row.verdict = ATTEST_MEASURED;
                snprintf(row.series, sizeof row.series, range ? "%s p=%d" : "%s R=%d", centers[c], line);
                row.range = line;
                row.abscissa = range ? ldexp(1, i - 12) : i;
                row.truncation = row.ordinate = range ? pow(row.abscissa, line + 1) : pow(line, i) / tgamma(i + 2);
                row.rounding = 1e-7;
                ck_assert_int_eq(attest_results_add(&rows, &row, &err), ATTEST_OK);
            }
    return rows;
}

START_TEST(test_charts_and_page)
{
    attest_results order = study_rows(0), range = study_rows(1), rows = samples(30);
    attest_error err = { "" };
    ck_assert_msg(attest_chart_order(&order, path_of("study-order.svg"), &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_chart_range(&range, path_of("study-range.svg"), &err) == ATTEST_OK, "%s", err.text);
    ck_assert_int_eq(attest_results_write_jsonl(&order, path_of("study-order.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_results_write_jsonl(&range, path_of("study-range.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_results_write_jsonl(&rows, path_of("results.jsonl"), &err), ATTEST_OK);
    ck_assert_ptr_nonnull(strstr(text_of("study-range.svg"), "P=3: 4.000 (4)"));
    ck_assert_ptr_nonnull(strstr(text_of("study-order.svg"), "center = mid"));
    ck_assert_ptr_nonnull(strstr(text_of("study-order-narrow.svg"), "center = mid"));
    ck_assert_ptr_nonnull(strstr(text_of("study-order-narrow.svg"), "width=\"380\""));
    ck_assert_msg(attest_report_write(folder, &err) == ATTEST_OK, "%s", err.text);
    const char *page = text_of("index.html");
    ck_assert_uint_eq(occurrences(page, "<svg"), 4); /* each wide and narrow */
    ck_assert_uint_eq(occurrences(page, "</svg>"), 4);
    ck_assert_msg(!strstr(page, "src=") && !strstr(page, "@import") && !strstr(page, "<script") &&
                      !strstr(page, "<link"),
                  "the page refers to nothing outside itself");
    ck_assert_ptr_nonnull(strstr(page, "kernel-2"));
    ck_assert_int_eq(access(path_of("summary.md"), F_OK), 0);
    attest_results_clear(&order);
    attest_results_clear(&range);
    attest_results_clear(&rows);
}
END_TEST

START_TEST(test_unwritable)
{
    attest_results rows = samples(1);
    attest_error err;
    ck_assert_int_eq(attest_results_write_csv(&rows, "/proc/nowhere/results.csv", &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "/proc/nowhere/results.csv"));
    ck_assert_int_eq(attest_report_write("/proc/nowhere", &err), ATTEST_BAD_INPUT);
    mkdir(path_of("old"), 0700);
    fclose(fopen(path_of("old/rows.jsonl"), "w"));
    ck_assert_int_eq(attest_report_write(path_of("old"), &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "old/rows.jsonl: ") && strstr(err.text, "`attest gate --out "), "%s", err.text);
    attest_results_clear(&rows);
}
END_TEST

Suite *suite_reports(void)
{
    Suite *s = suite_create("reports");
    TCase *t = tcase_create("rows");
    tcase_set_timeout(t, 60);
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_fields_cover_the_result);
    tcase_add_test(t, test_jsonl_round_trip);
    tcase_add_test(t, test_jsonl_bad_lines);
    tcase_add_test(t, test_order);
    tcase_add_test(t, test_part);
    tcase_add_test(t, test_csv);
    tcase_add_test(t, test_junit_and_summary);
    tcase_add_test(t, test_ranks);
    tcase_add_test(t, test_signs);
    tcase_add_test(t, test_powers);
    tcase_add_test(t, test_exit_codes);
    tcase_add_test(t, test_reasons_text);
    tcase_add_test(t, test_console);
    tcase_add_test(t, test_fit);
    tcase_add_test(t, test_charts_and_page);
    tcase_add_test(t, test_unwritable);
    suite_add_tcase(s, t);
    return s;
}
