/* test_reports.c - the row type and everything that reads it: round trips, exit codes, tables, page, charts. */
#include "tests/reports/report_cases.h"

Suite *suite_reports(void);

START_TEST(test_fields_cover_the_row)
{
    /* Every byte of the row belongs to exactly one field (padding aside). */
    size_t covered = 0;
    for (size_t i = 0; i < attest_row_field_count; i++) {
        covered += attest_row_fields[i].size;
        for (size_t j = 0; j < i; j++) {
            const attest_field *a = &attest_row_fields[i], *b = &attest_row_fields[j];
            ck_assert_msg(a->offset >= b->offset + b->size || b->offset >= a->offset + a->size, "%s and %s overlap",
                          a->name, b->name);
        }
        ck_assert_msg(!attest_row_fields[i].timing || i + 2 >= attest_row_field_count, "timings come last");
    }
    ck_assert_msg(sizeof(attest_row) - covered < 64, "%zu bytes of the row are in no field",
                  sizeof(attest_row) - covered);
}
END_TEST

START_TEST(test_jsonl_round_trip)
{
    attest_rows rows = samples(40), back = { 0 };
    attest_error err;
    rows.row[1].ratio_hi = INFINITY;
    rows.row[2].ratio_hi = -INFINITY;
    rows.row[3].ratio_hi = NAN;
    rows.row[4].abs_lo = 0x1p-1074;
    ck_assert_int_eq(attest_rows_write_jsonl(&rows, path_of("rows.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_rows_read_jsonl(&back, path_of("rows.jsonl"), &err), ATTEST_OK);
    ck_assert_uint_eq(back.count, rows.count);
    for (size_t i = 0; i < rows.count; i++)
        for (size_t f = 0; f < attest_row_field_count; f++) {
            const attest_field *field = &attest_row_fields[f];
            const char *a = (const char *)&rows.row[i] + field->offset, *b = (const char *)&back.row[i] + field->offset;
            const int both_nan = field->type == ATTEST_FIELD_REAL && isnan(attest_field_real(&rows.row[i], field)) &&
                                 isnan(attest_field_real(&back.row[i], field));
            const int same = field->type == ATTEST_FIELD_TEXT ? strcmp(a, b) == 0 : memcmp(a, b, field->size) == 0;
            ck_assert_msg(same || both_nan, "row %zu, field %s changed", i, field->name);
        }
    ck_assert_msg(access(path_of("rows.jsonl.tmp"), F_OK) != 0, "the temporary file is still there");
    attest_rows_clear(&rows);
    attest_rows_clear(&back);
}
END_TEST

START_TEST(test_jsonl_bad_lines)
{
    static const char *const bad[] = { "{\"schema\":", "[1]", "{\"schema\":1}", "{\"schema\":\"x\"}" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        attest_rows rows = { 0 };
        attest_error err;
        FILE *out = fopen(path_of("bad.jsonl"), "w");
        fprintf(out, "%s\n", bad[i]);
        fclose(out);
        ck_assert_int_eq(attest_rows_read_jsonl(&rows, path_of("bad.jsonl"), &err), ATTEST_BAD_INPUT);
        ck_assert_msg(strstr(err.text, "bad.jsonl:1"), "the message names file and line: %s", err.text);
        attest_rows_clear(&rows);
    }
    attest_rows none = { 0 };
    attest_error err;
    ck_assert_int_eq(attest_rows_read_jsonl(&none, path_of("nothing.jsonl"), &err), ATTEST_BAD_INPUT);
}
END_TEST

START_TEST(test_csv)
{
    attest_rows rows = samples(5);
    attest_error err;
    ck_assert_int_eq(attest_rows_write_csv(&rows, path_of("rows.csv"), &err), ATTEST_OK);
    const char *text = text_of("rows.csv");
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
    attest_rows_clear(&rows);
}
END_TEST

START_TEST(test_junit_and_summary)
{
    attest_rows rows = samples(200);
    attest_error err;
    ck_assert_int_eq(attest_rows_write_junit(&rows, path_of("junit.xml"), &err), ATTEST_OK);
    const char *text = text_of("junit.xml");
    ck_assert_uint_eq(occurrences(text, "<testcase "), 200);
    ck_assert_uint_eq(occurrences(text, "<testsuite "), 3);
    size_t by_verdict[ATTEST_VERDICT_COUNT] = { 0 };
    for (size_t i = 0; i < rows.count; i++)
        by_verdict[rows.row[i].verdict]++;
    ck_assert_uint_eq(occurrences(text, "<skipped "), by_verdict[ATTEST_SKIP]);
    ck_assert_uint_eq(occurrences(text, "<error "), by_verdict[ATTEST_CRASH] + by_verdict[ATTEST_TIMEOUT]);
    ck_assert_uint_eq(occurrences(text, "<failure "),
                      by_verdict[ATTEST_FAIL] + by_verdict[ATTEST_UNDECIDED] + by_verdict[ATTEST_MISTRUSTED]);
    ck_assert_msg(!strstr(text, "<1") && !strstr(text, "& '"), "texts are escaped");
    for (size_t i = 0; i < rows.count; i++) {
        rows.row[i].rows_negative_weight = rows.row[i].rows_negative_sum = rows.row[i].rows_vanishing = 0;
        rows.row[i].class[0] = '\0'; /* no table of classes either, nor warnings */
        rows.row[i].probable_ratio = NAN;
    }
    ck_assert_int_eq(attest_rows_write_summary(&rows, NULL, path_of("summary.md"), &err), ATTEST_OK);
    text = text_of("summary.md");
    ck_assert_uint_eq(occurrences(text, "\n| "), 60 + 3 + 2); /* rows, tallies, two headings */
    ck_assert_msg(!strstr(text, "\n| pass |"), "those that need attention come first");
    ck_assert_ptr_nonnull(strstr(text, "and 140 more rows"));
    attest_rows_clear(&rows);
}
END_TEST

/* Variants with negative weights or denominators are told together; the others are not in that table. */
START_TEST(test_signs)
{
    static const struct { const char *line; int64_t verdict, judged, weight, sum, vanishing; } cases[] = {
        { "variant=taylor:3 mask=causal n=9", ATTEST_PASS, 9, 4, 0, 0 },
        { "variant=softmax n=7", ATTEST_PASS, 7, 0, 0, 0 },
        { "variant=taylor:3 n=5", ATTEST_ILLPOSED, 5, 3, 2, 1 },
        { "variant=linear norm=sum", ATTEST_FAIL, 2, 0, 1, 0 },
        { "variant=taylor:1", ATTEST_SKIP, 0, 0, 0, 0 },
    };
    attest_rows rows = { 0 };
    attest_error err;
    attest_signs *signs;
    size_t count;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_row row;
        attest_row_init(&row);
        snprintf(row.line, sizeof row.line, "%s", cases[i].line);
        row.verdict = cases[i].verdict;
        row.rows_judged = cases[i].judged;
        row.rows_negative_weight = cases[i].weight;
        row.rows_negative_sum = cases[i].sum;
        row.rows_vanishing = cases[i].vanishing;
        ck_assert_int_eq(attest_rows_add(&rows, &row, &err), ATTEST_OK);
    }
    ck_assert_int_eq(attest_signs_rows(&signs, &count, &rows, &err), ATTEST_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(signs[0].variant, "variant=taylor:3");
    ck_assert(signs[0].cases == 2 && signs[0].illposed == 1 && signs[0].rows == 14);
    ck_assert(signs[0].negative_weight == 7 && signs[0].negative_sum == 2 && signs[0].vanishing == 1);
    ck_assert_str_eq(signs[1].variant, "variant=linear");
    ck_assert_int_eq(attest_rows_write_summary(&rows, NULL, path_of("summary.md"), &err), ATTEST_OK);
    ck_assert_ptr_nonnull(strstr(text_of("summary.md"), "| variant=taylor:3 | 2 | 1 | 14 | 7 | 2 | 1 |\n"));
    char html[4096] = "";
    FILE *out = fmemopen(html, sizeof html, "w");
    ck_assert_int_eq(attest_signs_print(out, &rows, 1, &err), ATTEST_OK);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(html, "<code>variant=linear</code>"));
    ck_assert_msg(occurrences(html, "<tr>") == 3, "%s", html);
    free(signs);
    attest_rows_clear(&rows);
}
END_TEST

/* What is told first, and what needs attention. */
START_TEST(test_ranks)
{
    static const int rank[ATTEST_VERDICT_COUNT] = { 4, 1, 2, 3, 0, 0, 3, 2, 4 };
    for (int v = 0; v < ATTEST_VERDICT_COUNT; v++) {
        attest_row row;
        attest_row_init(&row);
        row.verdict = v;
        ck_assert_msg(attest_row_rank(&row) == rank[v], "%s", attest_verdict_names[v]);
        ck_assert_msg(attest_row_bad(&row) == (rank[v] < 3), "%s", attest_verdict_names[v]);
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
                 { ATTEST_MISTRUSTED, 0, 4 },
                 { ATTEST_ILLPOSED, 0, 0 },
                 { ATTEST_SKIP, 0, 77 } };
    static const struct {
        int codes[4];
        int combined;
    } sets[] = { { { 77, 77, 77, 77 }, 77 }, { { 0, 77, 0, 0 }, 0 }, { { 0, 4, 0, 77 }, 4 },  { { 4, 1, 0, 0 }, 1 },
                 { { 1, 3, 4, 0 }, 3 },      { { 3, 2, 1, 0 }, 2 },  { { 2, 70, 3, 1 }, 70 }, { { 0, 0, 0, 55 }, 70 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        attest_row row;
        attest_row_init(&row);
        row.verdict = rows[i].verdict;
        row.reasons = rows[i].reasons;
        ck_assert_int_eq(attest_row_exit(&row), rows[i].code);
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
    attest_rows rows = samples(40);
    FILE *out = fopen(path_of("console"), "w");
    attest_rows_print_console(out, &rows, 0);
    fclose(out);
    const char *text = text_of("console");
    size_t bad = 0;
    for (size_t i = 0; i < rows.count; i++)
        bad += (size_t)attest_row_bad(&rows.row[i]);
    ck_assert_ptr_nonnull(strstr(text, "worst ratio"));
    ck_assert_msg(!strchr(text, '\033'), "no colour was asked for");
    char more[64];
    snprintf(more, sizeof more, "and %zu more", bad - 10);
    ck_assert_ptr_nonnull(strstr(text, more));
    out = fopen(path_of("line"), "w");
    attest_row_print_line(out, &rows.row[1], 1);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text_of("line"), "\033[31mfail"));
    setenv("NO_COLOR", "1", 1);
    ck_assert_int_eq(attest_want_colour(stdout), 0);
    attest_rows_clear(&rows);
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
static attest_rows study_rows(int range)
{
    static const char *const centers[] = { "zero", "max", "min", "mid" };
    attest_rows rows = { 0 };
    attest_error err;
    for (int c = 0; c < 4; c++)
        for (int line = 1; line <= 6; line++)
            for (int i = 0; i <= 12; i++) {
                attest_row row;
                attest_row_init(&row);
                row.verdict = ATTEST_MEASURED;
                snprintf(row.series, sizeof row.series, range ? "%s p=%d" : "%s R=%d", centers[c], line);
                row.range = line;
                row.abscissa = range ? ldexp(1, i - 12) : i;
                row.truncation = row.ordinate = range ? pow(row.abscissa, line + 1) : pow(line, i) / tgamma(i + 2);
                row.rounding = 1e-7;
                ck_assert_int_eq(attest_rows_add(&rows, &row, &err), ATTEST_OK);
            }
    return rows;
}

START_TEST(test_charts_and_page)
{
    attest_rows order = study_rows(0), range = study_rows(1), rows = samples(30);
    attest_error err = { "" };
    ck_assert_msg(attest_chart_order(&order, path_of("study-order.svg"), &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_chart_range(&range, path_of("study-range.svg"), &err) == ATTEST_OK, "%s", err.text);
    ck_assert_int_eq(attest_rows_write_jsonl(&order, path_of("study-order.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_rows_write_jsonl(&range, path_of("study-range.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_rows_write_jsonl(&rows, path_of("rows.jsonl"), &err), ATTEST_OK);
    ck_assert_ptr_nonnull(strstr(text_of("study-range.svg"), "P=3: 4.000 (4)"));
    ck_assert_ptr_nonnull(strstr(text_of("study-order.svg"), "center = mid"));
    ck_assert_msg(attest_report_write(folder, &err) == ATTEST_OK, "%s", err.text);
    const char *page = text_of("index.html");
    ck_assert_uint_eq(occurrences(page, "<svg"), 2);
    ck_assert_uint_eq(occurrences(page, "</svg>"), 2);
    ck_assert_msg(!strstr(page, "src=") && !strstr(page, "@import") && !strstr(page, "<script") &&
                      !strstr(page, "<link"),
                  "the page refers to nothing outside itself");
    ck_assert_ptr_nonnull(strstr(page, "kernel-2"));
    ck_assert_int_eq(access(path_of("summary.md"), F_OK), 0);
    attest_rows_clear(&order);
    attest_rows_clear(&range);
    attest_rows_clear(&rows);
}
END_TEST

START_TEST(test_unwritable)
{
    attest_rows rows = samples(1);
    attest_error err;
    ck_assert_int_eq(attest_rows_write_csv(&rows, "/proc/nowhere/rows.csv", &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "/proc/nowhere/rows.csv"));
    ck_assert_int_eq(attest_report_write("/proc/nowhere", &err), ATTEST_BAD_INPUT);
    attest_rows_clear(&rows);
}
END_TEST

Suite *suite_reports(void)
{
    Suite *s = suite_create("reports");
    TCase *t = tcase_create("rows");
    tcase_set_timeout(t, 60);
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_fields_cover_the_row);
    tcase_add_test(t, test_jsonl_round_trip);
    tcase_add_test(t, test_jsonl_bad_lines);
    tcase_add_test(t, test_csv);
    tcase_add_test(t, test_junit_and_summary);
    tcase_add_test(t, test_ranks);
    tcase_add_test(t, test_signs);
    tcase_add_test(t, test_exit_codes);
    tcase_add_test(t, test_reasons_text);
    tcase_add_test(t, test_console);
    tcase_add_test(t, test_fit);
    tcase_add_test(t, test_charts_and_page);
    tcase_add_test(t, test_unwritable);
    suite_add_tcase(s, t);
    return s;
}
