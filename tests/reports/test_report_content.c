/* test_report_content.c - what stands in the files and on the terminal: numbers in the right place, nothing lost. */
#include <fcntl.h>
#include <sys/stat.h>

#include "reports/charts/charts.h"
#include "reports/ci/ci.h"
#include "tests/reports/report_cases.h"

Suite *suite_report_content(void);

START_TEST(test_init_and_clear)
{
    attest_result row;
    memset(&row, 1, sizeof row);
    attest_result_init(&row);
    for (size_t i = 0; i < attest_result_field_count; i++) {
        const attest_field *f = &attest_result_fields[i];
        char text[1600];
        attest_field_text(text, sizeof text, &row, f);
        const char *want = strcmp(f->name, "schema") == 0    ? "2"
                           : strcmp(f->name, "tool") == 0    ? ATTEST_VERSION
                           : f->type == ATTEST_FIELD_INT     ? "0"
                           : f->type == ATTEST_FIELD_REAL    ? "nan"
                           : f->type == ATTEST_FIELD_VERDICT ? "pass"
                                                             : "";
        ck_assert_msg(strcmp(text[0] == '-' ? text + 1 : text, want) == 0, "%s starts as %s", f->name, text);
    }
    attest_results rows = samples(70);
    ck_assert(rows.count == 70 && rows.capacity >= 70);
    attest_results_clear(&rows);
    ck_assert(rows.files == NULL && rows.count == 0 && rows.capacity == 0);
}
END_TEST

/* Each reason alone: five are faults of the program, the others of its numbers. */
START_TEST(test_exit_of_each_reason)
{
    const int64_t program = ATTEST_REASON_WROTE_OUTSIDE | ATTEST_REASON_READ_OUTSIDE | ATTEST_REASON_WROTE_INPUT |
                            ATTEST_REASON_FP_STATE | ATTEST_REASON_EXIT;
    char text[64];
    attest_result row;
    attest_result_init(&row);
    row.verdict = ATTEST_FAIL;
    for (int i = 0; i < ATTEST_REASON_COUNT; i++) {
        row.reasons = (int64_t)1 << i;
        ck_assert_int_eq(attest_result_exit(&row, 1), program >> i & 1 ? 3 : 1);
        attest_reasons_text(text, sizeof text, row.reasons);
        ck_assert_str_eq(text, attest_reason_names[i]);
    }
    row.reasons = 0;
    row.verdict = ATTEST_MEASURED;
    ck_assert_int_eq(attest_result_exit(&row, 1), 0);
}
END_TEST

/* ---- JSON lines -------------------------------------------------------------------------------------------------- */
START_TEST(test_json_numbers)
{
    attest_results rows = samples(2), back = { 0 };
    attest_error err;
    attest_result first = result_at(&rows, 0), second = result_at(&rows, 1);
    first.ratio_lo = -INFINITY;
    first.ratio_hi = INFINITY;
    first.bound = NAN;
    first.abs_lo = 1.5;
    second.abs_hi = 0x1.123456789abcdp-3;
    second.ratio_lo = 0.25;
    second.ratio_hi = NAN;
    put(&rows, 0, &first);
    put(&rows, 1, &second);
    ck_assert_int_eq(attest_results_write_jsonl(&rows, path_of("numbers.jsonl"), &err), ATTEST_OK);
    const char *text = text_of("numbers.jsonl");
    ck_assert_uint_eq(occurrences(text, "\n"), 2);
    ck_assert_ptr_nonnull(strstr(text, "\"ratio_lo\":{\"hex\":\"-inf\",\"dec\":\"-inf\"},\"ratio_hi\":{\"hex\":\"inf\","
                                       "\"dec\":\"inf\"},\"ratio\":[\"-inf\",\"inf\"],\"bound\":null"));
    ck_assert_ptr_nonnull(strstr(text, "\"ratio_hi\":null,\"ratio\":[0.25,null],"));
    ck_assert_ptr_nonnull(strstr(text, "\"abs_lo\":{\"hex\":\"0x1.8p+0\",\"dec\":1.5}"));
    ck_assert_int_eq(attest_results_open(&back, path_of("numbers.jsonl"), &err), ATTEST_OK);
    ck_assert(result_at(&back, 1).abs_hi == 0x1.123456789abcdp-3);
    attest_results_clear(&rows);
    attest_results_clear(&back);
}
END_TEST

/* A good line, then a spoilt one: the message names the second. */
static void refuse_second(const char *first, const char *second, const char *words)
{
    attest_results rows = { 0 };
    attest_error err = { "" };
    FILE *out = fopen(path_of("second.jsonl"), "w");
    fprintf(out, "%s\n%s\n", first, second);
    fclose(out);
    attest_overview o;
    ck_assert_int_eq(attest_results_open(&rows, path_of("second.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_overview_of(&o, &rows, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "second.jsonl:2: ") && strstr(err.text, words), "%s", err.text);
    ck_assert_uint_eq(o.count, 1);
    attest_overview_clear(&o);
    attest_results_clear(&rows);
}

START_TEST(test_json_refusals)
{
    static char good[65536], bad[65536];
    attest_results rows = samples(1);
    attest_error err;
    ck_assert_int_eq(attest_results_write_jsonl(&rows, path_of("one.jsonl"), &err), ATTEST_OK);
    snprintf(good, sizeof good, "%.60000s", text_of("one.jsonl"));
    good[strcspn(good, "\n")] = '\0';
    ck_assert(strncmp(good, "{\"schema\":2,", 12) == 0);
    snprintf(bad, sizeof bad, "{\"schema\":1,%.60000s", good + 12);
    refuse_second(good, bad, "schema 1, this version reads 2: make them again (`attest gate --out DIR`");
    snprintf(bad, sizeof bad, "{\"schema\":0,%.60000s", good + 12);
    refuse_second(good, bad, "schema 0");
    snprintf(bad, sizeof bad, "{\"schema\":2,%.60000s", good + 1);
    refuse_second(good, bad, "duplicate");
    attest_results_clear(&rows);
}
END_TEST

/* The file that is there stays whole until the new one is. */
START_TEST(test_old_file_survives)
{
    attest_results rows = samples(3), more = samples(5), back = { 0 };
    attest_error err;
    ck_assert_int_eq(attest_results_write_jsonl(&rows, path_of("kept.jsonl"), &err), ATTEST_OK);
    more.line[4].length += 100; /* a line that cannot be read: the new one ends in the middle */
    ck_assert_int_eq(attest_results_write_jsonl(&more, path_of("kept.jsonl"), &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_results_open(&back, path_of("kept.jsonl"), &err), ATTEST_OK);
    ck_assert_uint_eq(back.count, 3);
    attest_results_clear(&rows);
    attest_results_clear(&more);
    attest_results_clear(&back);
}
END_TEST

/* ---- CSV --------------------------------------------------------------------------------------------------------- */
/* Takes one cell, without its quotes, and the mark behind it. */
static const char *take_cell(char *cell, const char *at)
{
    const int quoted = *at == '"';
    for (at += quoted; *at && (quoted || (*at != ',' && *at != '\n')); at++) {
        if (quoted && *at == '"' && *++at != '"')
            break;
        *cell++ = *at;
    }
    *cell = '\0';
    ck_assert_msg(*at == ',' || *at == '\n', "a cell ends with %c", *at);
    return at + 1;
}

START_TEST(test_csv_cells)
{
    attest_results rows = samples(4);
    attest_error err;
    char cell[2048], text[2048];
    for (size_t i = 1; i < 3; i++) {
        attest_result changed = result_at(&rows, i);
        changed.bound = i == 1 ? 0x1.123456789abcdp-3 : NAN;
        put(&rows, i, &changed);
    }
    ck_assert_int_eq(attest_results_write_csv(&rows, path_of("cells.csv"), &err), ATTEST_OK);
    const char *at = text_of("cells.csv");
    for (int line = -1; line < 4; line++) { /* the heading, then the results */
        const attest_result given = result_at(&rows, line < 0 ? 0 : (size_t)line);
        for (size_t i = 0; i < attest_result_field_count; i++) {
            const attest_field *f = &attest_result_fields[i];
            at = take_cell(cell, at);
            if (line < 0) {
                ck_assert_str_eq(cell, f->name);
                snprintf(text, sizeof text, "%s_hex", f->name);
            } else if (f->type != ATTEST_FIELD_REAL) {
                attest_field_text(text, sizeof text, &given, f);
                ck_assert_str_eq(cell, text);
            } else {
                const double x = attest_field_real(&given, f);
                ck_assert_msg(x == x ? strtod(cell, NULL) == x : cell[0] == '\0', "%s: %a is %s", f->name, x, cell);
                snprintf(text, sizeof text, "%a", x);
                text[0] = x == x ? text[0] : '\0';
            }
            if (f->type == ATTEST_FIELD_REAL) {
                at = take_cell(cell, at);
                ck_assert_str_eq(cell, text);
            }
        }
    }
    ck_assert(*at == '\0');
    attest_results_clear(&rows);
}
END_TEST

/* ---- JUnit, Markdown --------------------------------------------------------------------------------------------- */
/* Sum of the numbers that follow `name` in the text. */
static size_t sum_of(const char *text, const char *name)
{
    size_t sum = 0;
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        sum += strtoul(at + strlen(name), NULL, 10);
    return sum;
}

START_TEST(test_junit_counts)
{
    attest_results rows = samples(90);
    attest_error err;
    ck_assert_int_eq(attest_ci_write_junit(&rows, path_of("counts.xml"), &err), ATTEST_OK);
    const char *text = text_of("counts.xml");
    ck_assert_uint_eq(sum_of(text, " tests=\""), 2 * 90); /* of all, and by kernel */
    ck_assert_uint_eq(sum_of(text, " errors=\""), occurrences(text, "<error "));
    ck_assert_uint_eq(sum_of(text, " failures=\""), occurrences(text, "<failure "));
    ck_assert_uint_eq(sum_of(text, " skipped=\""), occurrences(text, "<skipped "));
    ck_assert_uint_eq(occurrences(text, "| &amp; 'reproduction'&gt;</system-out>"), 63); /* 7 of 10 verdicts */
    attest_results_clear(&rows);
}
END_TEST

START_TEST(test_summary_cells)
{
    attest_results rows = samples(90);
    attest_error err;
    ck_assert_int_eq(attest_results_write_summary(&rows, NULL, NULL, path_of("cells.md"), &err), ATTEST_OK);
    for (const char *line = text_of("cells.md"); *line; line += *line == '\n') {
        int bars = 0;
        const char *start = line;
        for (; *line && *line != '\n'; line++)
            bars += *line == '|' && (line == start || line[-1] != '\\');
        ck_assert_msg(bars == 0 || bars == 6 || bars == 8 || bars == 9 || bars == 13, "%d bars in %.*s", bars,
                      (int)(line - start), start);
    }
    attest_results_clear(&rows);
}
END_TEST

/* ---- classes ----------------------------------------------------------------------------------------------------- */
static void add_classed(attest_results *rows, const char *class, int64_t verdict, double ratio, double middle,
                        double sums)
{
    attest_error err;
    attest_result row;
    attest_result_init(&row);
    snprintf(row.class, sizeof row.class, "%s", class);
    row.verdict = verdict;
    row.ratio_hi = ratio;
    row.ratio_median = middle;
    row.term_score = row.term_exp = row.term_cast = row.term_division = (1 - sums) / 4;
    row.term_accumulation = sums;
    ck_assert_int_eq(attest_results_add(rows, &row, &err), ATTEST_OK);
}

START_TEST(test_classes)
{
    attest_results rows = { 0 };
    attest_error err;
    for (int i = 200; i >= 1; i--) /* ratios 1/256 .. 200/256 and 1/512 .., not in order */
        add_classed(&rows, "exp b", i % 2 ? ATTEST_PASS : ATTEST_FAIL, i / 256.0, i / 512.0, i == 7 ? NAN : 0.5);
    add_classed(&rows, "exp a", ATTEST_PASS, 0.25, 0, 0.75);
    add_classed(&rows, "exp a", ATTEST_PASS, 0, NAN, 0);
    add_classed(&rows, "exp a", ATTEST_PASS, 0.5, 0.125, 0.25);
    add_classed(&rows, "exp a", ATTEST_ILLPOSED, NAN, NAN, 1);
    add_classed(&rows, "exp c", ATTEST_SKIP, NAN, NAN, 1);
    add_classed(&rows, "exp d", ATTEST_MEASURED, 0.5, NAN, 1);
    add_classed(&rows, "", ATTEST_PASS, 0.5, NAN, 1);
    add_classed(&rows, "d|<e>", ATTEST_PASS, 0.5, NAN, NAN);
    attest_overview o = overview_of(&rows), none = { 0 };
    const attest_class_figures *classes = o.classes.figures;
    ck_assert_uint_eq(o.classes.count, 3);
    const attest_class_figures *a = &classes[1], *b = &classes[2];
    ck_assert_str_eq(a->name, "exp a");
    ck_assert(a->cases == 3 && a->median == 0.25 && a->p99 == 0.5 && a->largest == 0.5 && a->slack == 4);
    ck_assert(isinf(a->slack_element));
    ck_assert_msg(fabs(a->share[3] - 1 / 3.0) < 1e-12 && fabs(a->share[0] - 1 / 6.0) < 1e-12, "%g", a->share[3]);
    ck_assert(b->cases == 200 && b->median == 100 / 256.0 && b->p99 == 198 / 256.0 && b->largest == 200 / 256.0);
    ck_assert(b->slack == 2.56 && b->slack_element == 5.12 && fabs(b->share[3] - 0.5) < 1e-12);
    FILE *out = fopen(path_of("classes"), "w");
    ck_assert_int_eq(attest_classes_print(out, &o.classes, 0, &err), ATTEST_OK);
    ck_assert_int_eq(attest_classes_print(out, &o.classes, 1, &err), ATTEST_OK);
    const long end = ftell(out);
    ck_assert_int_eq(attest_classes_print(out, &none.classes, 1, &err), ATTEST_OK);
    ck_assert_int_eq(ftell(out), end);
    fclose(out);
    const char *text = text_of("classes");
    ck_assert_ptr_nonnull(strstr(text, "| exp a | 3 | 0.25 | 0.5 | 0.5 | 4 | no error | sums 33% |\n"));
    ck_assert_ptr_nonnull(strstr(text, "| exp b | 200 | 0.391 | 0.773 | 0.781 | 2.56 | 5.12 | sums 50% |\n"));
    ck_assert_ptr_nonnull(strstr(text, "<tr><td>exp b<td class=\"n\">200<td class=\"n\">0.391<"));
    ck_assert_ptr_nonnull(strstr(text, "<td>d|&lt;e&gt;<td"));
    ck_assert_ptr_nonnull(strstr(text, "| d\\|<e> | 1 | 0.5 | 0.5 | 0.5 | 2 | - | - |\n"));
    attest_overview_clear(&o);
    attest_results_clear(&rows);
}
END_TEST

/* ---- terminal ---------------------------------------------------------------------------------------------------- */
static attest_result judged(int64_t verdict, double ratio, double ulp)
{
    attest_result row;
    attest_result_init(&row);
    row.verdict = verdict;
    row.ratio_hi = ratio;
    row.ulp_hi = ulp;
    snprintf(row.kernel, sizeof row.kernel, "k");
    snprintf(row.problem, sizeof row.problem, "n=%d", (int)verdict);
    return row;
}

START_TEST(test_console_numbers)
{
    const attest_result given[] = { judged(ATTEST_PASS, 0.5, 1.25), judged(ATTEST_PASS, 0.125, 4),
                                    judged(ATTEST_PASS, 0.25, 2), judged(ATTEST_FAIL, 2.5, 3),
                                    judged(ATTEST_SKIP, NAN, NAN) };
    attest_results rows = list_of(given, sizeof given / sizeof given[0]);
    FILE *out = fopen(path_of("numbers"), "w");
    attest_results_print_console(out, &rows, NULL, NULL, 0);
    fclose(out);
    const char *text = text_of("numbers");
    ck_assert_ptr_nonnull(
        strstr(text, "kernel       results      pass      fail undecided   partial  illposed no-evidence     "
                     "crash   timeout      skip worst ratio  worst ulp\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "k                  5         3         1         .         .         .           .         "
                     ".         .         1         2.5          4\n"));
    out = fopen(path_of("lines"), "w");
    attest_result_print_line(out, &given[0], 0);
    attest_result_print_line(out, &given[4], 0);
    attest_result_print_line(out, &given[0], 1);
    fclose(out);
    text = text_of("lines");
    const char *want = "pass        k                        n=0  ratio 0.5  ulp 1.25\n"
                       "skip        k                        n=3\n\033[32mpass       \033[0m k";
    ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
    attest_results_clear(&rows);
}
END_TEST

START_TEST(test_colour_of_a_terminal)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return; /* a machine without pseudo-terminals */
    FILE *terminal = fopen(ptsname(master), "r+"), *file = fopen(path_of("plain"), "w");
    ck_assert(terminal && file);
    unsetenv("NO_COLOR");
    ck_assert_int_eq(attest_want_colour(terminal), 1);
    ck_assert_int_eq(attest_want_colour(file), 0);
    setenv("NO_COLOR", "1", 1);
    ck_assert_int_eq(attest_want_colour(terminal), 0);
    fclose(terminal);
    fclose(file);
    close(master);
}
END_TEST

/* ---- fit, charts, page ------------------------------------------------------------------------------------------- */
/* log2: (0,0), (1,2), (2,2): y = 1/3 + x, squares (1 + 4 + 1)/9 over 3 points. */
START_TEST(test_fit_residual)
{
    static const double x[] = { 1, 2, 4 }, y[] = { 1, 4, 4 };
    attest_fit fit;
    attest_error err;
    ck_assert_int_eq(attest_fit_loglog(&fit, x, y, 3, &err), ATTEST_OK);
    ck_assert_msg(fabs(fit.slope - 1) < 1e-12 && fabs(fit.intercept - 1 / 3.0) < 1e-12 &&
                      fabs(fit.residual - sqrt(2) / 3) < 1e-12,
                  "%g %g %g", fit.slope, fit.intercept, fit.residual);
    ck_assert_int_eq(attest_fit_loglog(&fit, x, y, 2, &err), ATTEST_OK);
    ck_assert(fit.points == 2 && fabs(fit.slope - 2) < 1e-12);
}
END_TEST

/* Two points a line, each center with a law of its own. */
static attest_results small_study(int range)
{
    static const char *const centers[] = { "zero", "max", "min", "mid" };
    attest_results rows = { 0 };
    attest_error err;
    for (int c = 0; c < 4; c++)
        for (int line = 1; line <= 6; line++)
            for (int i = 1; i <= 2; i++) {
                attest_result row;
                attest_result_init(&row);
                row.verdict = ATTEST_MEASURED;
                snprintf(row.series, sizeof row.series, range ? "%s p=%d" : "%s R=%d", centers[c], line);
                row.range = line;
                row.abscissa = i;
                row.truncation = row.ordinate = pow(i * (c + 1), line) / 64;
                row.rounding = 1e-7;
                ck_assert_int_eq(attest_results_add(&rows, &row, &err), ATTEST_OK);
            }
    return rows;
}

/* 1 if the chart of the study is another one when *field of its row is. */
static int chart_reads(int range, size_t index, size_t offset)
{
    static char before[1 << 20];
    attest_error err = { "" };
    attest_results rows = small_study(range);
    for (int changed = 0; changed < 2; changed++) {
        attest_result one = result_at(&rows, index);
        double *value = (double *)(void *)((char *)&one + offset);
        *value *= changed ? 3 : 1;
        put(&rows, index, &one);
        const attest_status status = range ? attest_chart_range(&rows, path_of("c.svg"), &err)
                                           : attest_chart_order(&rows, path_of("c.svg"), &err);
        ck_assert_msg(status == ATTEST_OK, "%s", err.text);
        if (!changed)
            snprintf(before, sizeof before, "%s", text_of("c.svg"));
    }
    attest_results_clear(&rows);
    return strcmp(before, text_of("c.svg")) != 0;
}

START_TEST(test_what_charts_show)
{
    static const struct {
        int range;
        size_t index, offset;
        int shown;
    } rows[] = {
        { 0, 1, offsetof(attest_result, truncation), 1 }, { 0, 1, offsetof(attest_result, rounding), 1 },
        { 0, 1, offsetof(attest_result, ordinate), 0 },   { 1, 1, offsetof(attest_result, ordinate), 1 },
        { 1, 1, offsetof(attest_result, truncation), 0 }, { 1, 24, offsetof(attest_result, ordinate), 1 }, /* min */
        { 1, 47, offsetof(attest_result, abscissa), 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(chart_reads(rows[i].range, rows[i].index, rows[i].offset) == rows[i].shown, "row %zu", i);
}
END_TEST

START_TEST(test_page_content)
{
    attest_results order = small_study(0), range = small_study(1), rows = samples(30);
    attest_error err = { "" };
    static const char *const sections[] = { "failed, crashed or not decided (%zu)", "ill-posed or skipped (%zu)",
                                            "passed, largest error/bound first (%zu)" };
    size_t in_section[3] = { 0 };
    for (size_t i = 0; i < rows.count; i++) {
        const attest_result one = result_at(&rows, i);
        const int rank = attest_result_rank(&one);
        in_section[rank < ATTEST_RANKS_BAD ? 0 : rank - ATTEST_RANKS_BAD + 1]++;
    }
    ck_assert_int_eq(attest_results_write_jsonl(&order, path_of("study-order.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_results_write_jsonl(&range, path_of("study-range.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_results_write_jsonl(&rows, path_of("results.jsonl"), &err), ATTEST_OK);
    ck_assert_msg(attest_report_write(folder, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_int_eq(access(path_of("summary.md"), F_OK), 0);
    const char *page = text_of("index.html");
    ck_assert_uint_eq(occurrences(page, "<code>min R=3</code>"), 2);
    ck_assert_uint_eq(occurrences(page, "<code>min p=3</code>"), 2);
    for (int k = 0; k < 3; k++) {
        char title[80];
        snprintf(title, sizeof title, sections[k], in_section[k]);
        ck_assert_msg(strstr(page, title) != NULL, "no section '%s'", title);
    }
    attest_results_clear(&order);
    attest_results_clear(&range);
    attest_results_clear(&rows);
}
END_TEST

Suite *suite_report_content(void)
{
    Suite *s = suite_create("report_content");
    TCase *t = tcase_create("content");
    tcase_set_timeout(t, 60);
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_init_and_clear);
    tcase_add_test(t, test_exit_of_each_reason);
    tcase_add_test(t, test_json_numbers);
    tcase_add_test(t, test_json_refusals);
    tcase_add_test(t, test_old_file_survives);
    tcase_add_test(t, test_csv_cells);
    tcase_add_test(t, test_junit_counts);
    tcase_add_test(t, test_summary_cells);
    tcase_add_test(t, test_classes);
    tcase_add_test(t, test_console_numbers);
    tcase_add_test(t, test_colour_of_a_terminal);
    tcase_add_test(t, test_fit_residual);
    tcase_add_test(t, test_what_charts_show);
    tcase_add_test(t, test_page_content);
    suite_add_tcase(s, t);
    return s;
}
