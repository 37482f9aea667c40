/* page.c - DIR/index.html: one self-contained page (inline CSS, inline SVG, no script, no external reference). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/traits.h"
#include "reports/write.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>attest report</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n"
    ":root{color-scheme:light dark;--line:#8884;--bad:#c62828;--good:#2e7d32;--warn:#b26a00}\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1500px;margin:2rem auto;padding:0 1rem}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}\n"
    "th,td{border-bottom:1px solid var(--line);padding:.25rem .6rem;text-align:left;vertical-align:top}\n"
    "td.n,th.n{text-align:right}td.zero{opacity:.35}.wrap{overflow-x:auto}\n"
    "code{font:12px ui-monospace,monospace;overflow-wrap:anywhere}td.k{min-width:12rem}td.c{min-width:17rem}\n"
    ".pass{color:var(--good)}.fail,.crash,.timeout{color:var(--bad);font-weight:600}\n"
    ".undecided,.mistrusted,.illposed{color:var(--warn)}figure{margin:1rem 0}figure "
    "svg{max-width:100%;height:auto;background:#fff}\n"
    "summary{cursor:pointer}\n</style></head><body>\n";

static void print_verdict(FILE *out, int64_t verdict)
{
    fprintf(out, "<td class=\"%s\">%s</td>", attest_verdict_names[verdict], attest_verdict_names[verdict]);
}

static void print_number(FILE *out, double x)
{
    if (x == x && x >= 0)
        fprintf(out, "<td class=\"n\">%.3g</td>", x);
    else if (x == x && x != -1)
        fprintf(out, "<td class=\"n\">%.3g</td>", x);
    else
        fprintf(out, "<td class=\"n\">-</td>");
}

static void print_code(FILE *out, const char *text)
{
    fprintf(out, "<td class=\"c\"><code>");
    attest_print_xml(out, text);
    fprintf(out, "</code></td>");
}

static void print_kernel(FILE *out, const char *name)
{
    fprintf(out, "<td class=\"k\"><code>");
    attest_print_xml(out, name);
    fprintf(out, "</code></td>");
}

static void print_tallies(FILE *out, const attest_tally *tallies, size_t count)
{
    static const int columns[] = { ATTEST_PASS,       ATTEST_FAIL,  ATTEST_UNDECIDED, ATTEST_ILLPOSED,
                                   ATTEST_MISTRUSTED, ATTEST_CRASH, ATTEST_TIMEOUT,   ATTEST_SKIP };
    fprintf(out, "<h2>Kernels</h2><div class=\"wrap\"><table><tr><th>kernel<th class=\"n\">cases");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        fprintf(out, "<th class=\"n\">%s", attest_verdict_names[columns[i]]);
    fprintf(out, "<th class=\"n\">worst error/bound<th class=\"n\">worst ulp<th>case of the worst ratio</tr>\n");
    for (size_t k = 0; k < count; k++) {
        const attest_tally *t = &tallies[k];
        fprintf(out, "<tr>");
        print_kernel(out, t->kernel);
        fprintf(out, "<td class=\"n\">%zu</td>", t->cases);
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
            const size_t n = t->by_verdict[columns[i]];
            fprintf(out, "<td class=\"n %s\">%zu</td>", n ? attest_verdict_names[columns[i]] : "zero", n);
        }
        print_number(out, t->worst_ratio);
        print_number(out, t->worst_ulp);
        print_code(out, t->worst_line);
        fprintf(out, "</tr>\n");
    }
    fprintf(out,
            "</table></div>\n<p>error/bound at most 1 passes: the bound is derived for the arithmetic that the kernel "
            "declares, for these inputs; a ratio is the upper end of a proven interval. ulp is of the output's "
            "type; beside 0 an ulp is tiny, so a large number of them says little: read the ratio.</p>\n");
}

static void print_row(FILE *out, const attest_row *row)
{
    char reasons[256];
    attest_reasons_text(reasons, sizeof reasons, row->reasons);
    fprintf(out, "<tr>");
    print_verdict(out, row->verdict);
    print_kernel(out, row->kernel);
    print_code(out, row->line);
    print_number(out, row->ratio_hi);
    print_number(out, row->ulp_hi);
    print_number(out, row->range);
    fprintf(out, "<td>");
    attest_print_xml(out, reasons);
    fprintf(out, "%s", reasons[0] && row->why[0] ? ": " : "");
    attest_print_xml(out, row->why);
    fprintf(out, "</td>");
    print_code(out, attest_row_bad(row) ? row->reproduction : row->worst);
    fprintf(out, "</tr>\n");
}

/* Larger ratios first; equal ones (and missing ones, last) in the order of the rows. */
static int by_ratio(const void *a, const void *b)
{
    const attest_row *x = *(const attest_row *const *)a, *y = *(const attest_row *const *)b;
    const double rx = x->ratio_hi == x->ratio_hi ? x->ratio_hi : -1, ry = y->ratio_hi == y->ratio_hi ? y->ratio_hi : -1;
    return rx != ry ? (rx < ry ? 1 : -1) : (x > y) - (x < y);
}

/* The rows of ranks [from, to), worst first; `empty` is said when there are none. */
static attest_status print_rows(FILE *out, const attest_rows *rows, int from, int to, const char *title,
                                const char *empty, attest_error *err)
{
    size_t count = 0;
    const attest_row **list = calloc(rows->count + 1, sizeof *list);
    if (!list)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu rows", rows->count);
    for (int rank = from; rank < to; rank++) {
        const size_t start = count;
        for (size_t i = 0; i < rows->count; i++)
            if (attest_row_rank(&rows->row[i]) == rank)
                list[count++] = &rows->row[i];
        qsort(list + start, count - start, sizeof *list, by_ratio);
    }
    if (count == 0) {
        fprintf(out, "<p class=\"pass\">%s</p>\n", empty);
    } else {
        const int open = to <= ATTEST_RANKS_BAD;
        fprintf(out,
                "<details%s><summary>%s (%zu)</summary><div class=\"wrap\"><table><tr><th>verdict<th>kernel"
                "<th>problem<th class=\"n\">error/bound<th class=\"n\">ulp<th class=\"n\">score range<th>why<th>%s"
                "</tr>\n",
                open ? " open" : "", title, count, open ? "reproduce" : "worst element");
        for (size_t i = 0; i < count; i++)
            print_row(out, list[i]);
        fprintf(out, "</table></div></details>\n");
    }
    free(list);
    return ATTEST_OK;
}

/* Copies DIR/NAME.svg from its <svg element on; 0 if there is none. */
static int print_svg(FILE *out, const char *dir, const char *name, const char *caption)
{
    char path[4096], *text = NULL;
    size_t size = 0;
    int found = 0;
    snprintf(path, sizeof path, "%.4000s/%s.svg", dir, name);
    FILE *in = fopen(path, "r");
    if (!in)
        return 0;
    fprintf(out, "<figure>");
    while (getline(&text, &size, in) > 0) {
        const char *start = strstr(text, "<svg");
        if (found || start) {
            fputs(found ? text : start, out);
            found = 1;
        }
    }
    fprintf(out, "<figcaption>%s</figcaption></figure>\n", caption);
    free(text);
    fclose(in);
    return found;
}

static void print_study_table(FILE *out, const attest_rows *rows, const char *title)
{
    fprintf(out,
            "<details><summary>%s: the numbers (%zu points)</summary><div class=\"wrap\"><table><tr><th>series"
            "<th class=\"n\">x<th class=\"n\">y<th class=\"n\">truncation<th class=\"n\">rounding<th>problem</tr>\n",
            title, rows->count);
    for (size_t i = 0; i < rows->count; i++) {
        const attest_row *row = &rows->row[i];
        fprintf(out, "<tr>");
        print_code(out, row->series);
        print_number(out, row->abscissa);
        print_number(out, row->ordinate);
        print_number(out, row->truncation);
        print_number(out, row->rounding);
        print_code(out, row->line);
        fprintf(out, "</tr>\n");
    }
    fprintf(out, "</table></div></details>\n");
}

/* Reads DIR/NAME if it exists; rows stays empty otherwise. */
static attest_status read_optional(attest_rows *rows, const char *dir, const char *name, attest_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%.4000s/%s", dir, name);
    return access(path, F_OK) == 0 ? attest_rows_read_jsonl(rows, path, err) : ATTEST_OK;
}

static attest_status read_facts(attest_facts *facts, const char *dir, attest_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%.4000s/trust.json", dir);
    return access(path, F_OK) == 0 ? attest_facts_read(facts, path, err) : ATTEST_OK;
}

static attest_status print_gate(FILE *out, const attest_rows *rows, const attest_tally *tallies, size_t count,
                                const attest_facts *facts, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_row *first = &rows->row[0];
    if (rows->count == 0)
        return ATTEST_OK;
    fprintf(out,
            "<p>attest %s, suite %s (%s), run %s, %zu rows. Beside this page: rows.jsonl, rows.csv, junit.xml, "
            "summary.md.</p>\n",
            first->tool, first->suite, first->suite_hash, first->run, rows->count);
    print_tallies(out, tallies, count);
    fprintf(out, "<h2>What needs attention</h2>\n");
    ATTEST_TRY(
        print_rows(out, rows, 0, ATTEST_RANKS_BAD, "failed, crashed or not decided", "Nothing needs attention.", err));
    fprintf(out, "<h2>What was not fully judged</h2>\n");
    ATTEST_TRY(print_rows(out, rows, ATTEST_RANKS_BAD, ATTEST_RANKS_BAD + 1, "ill-posed or skipped",
                          "Nothing was skipped.", err));
    ATTEST_TRY(attest_signs_print(out, rows, 1, err));
    ATTEST_TRY(attest_classes_print(out, rows, 1, err));
    ATTEST_TRY(attest_warnings_print(out, rows, 1, err));
    attest_facts_print(out, facts, rows, 1);
    fprintf(out, "<h2>What passed</h2>\n");
    ATTEST_TRY(print_rows(out, rows, ATTEST_RANKS_BAD + 1, ATTEST_RANKS, "passed, largest error/bound first",
                          "Nothing passed.", err));
out:
    return status;
}

static void print_studies(FILE *out, const char *dir, const attest_rows *order, const attest_rows *range)
{
    if (order->count > 0) {
        fprintf(out, "<h2>Error against Taylor order</h2>\n");
        print_svg(out, dir, "study-order",
                  "Solid: truncation, the exact Taylor result against exact softmax. Dashed: rounding, the f32 kernel "
                  "against the exact Taylor result. Black: unit roundoffs of f32 (dotted) and bf16 (dash-dotted). R: "
                  "realised score range. Gaps: ill-posed points (the denominator of an odd order meets 0).");
        print_study_table(out, order, "error against order");
    }
    if (range->count > 0) {
        fprintf(out, "<h2>Error against score range</h2>\n");
        print_svg(out, dir, "study-range",
                  "Largest relative error of a normalised weight, all scores of one row scaled together; the fitted "
                  "slope stands beside P+1.");
        print_study_table(out, range, "error against range");
    }
}

static attest_status read_traits(attest_traits *traits, const char *dir, attest_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%.4000s/traits.jsonl", dir);
    return access(path, F_OK) == 0 ? attest_traits_read_jsonl(traits, path, err) : ATTEST_OK;
}

attest_status attest_report_write(const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_traits traits = { 0 };
    attest_rows rows = { 0 }, order = { 0 }, range = { 0 };
    attest_facts facts = { 0 };
    attest_tally *tallies = NULL;
    attest_output out = { .file = NULL };
    size_t count = 0;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/rows.jsonl", dir) >= (int)sizeof path - 16)
        return attest_fail(err, ATTEST_BAD_INPUT, "%.100s...: the path is too long", dir);
    ATTEST_TRY(read_optional(&rows, dir, "rows.jsonl", err));
    ATTEST_TRY(read_optional(&order, dir, "study-order.jsonl", err));
    ATTEST_TRY(read_optional(&range, dir, "study-range.jsonl", err));
    ATTEST_TRY(read_traits(&traits, dir, err));
    if (rows.count + order.count + range.count == 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT,
                               "%s: no rows.jsonl, study-order.jsonl or study-range.jsonl in it "
                               "(`attest gate --out %s` writes them)",
                               dir, dir));
    ATTEST_TRY(read_facts(&facts, dir, err));
    ATTEST_TRY(attest_tally_rows(&tallies, &count, &rows, err));
    if (rows.count > 0) {
        snprintf(path, sizeof path, "%.4000s/summary.md", dir);
        ATTEST_TRY(attest_rows_write_summary(&rows, &facts, path, err));
    }
    snprintf(path, sizeof path, "%.4000s/index.html", dir);
    ATTEST_TRY(attest_output_open(&out, path, err));
    fputs(head, out.file);
    fprintf(out.file, "<h1>attest report</h1>\n");
    ATTEST_TRY(print_gate(out.file, &rows, tallies, count, &facts, err));
    attest_traits_print_html(out.file, &traits);
    print_studies(out.file, dir, &order, &range);
    fprintf(out.file, "</body></html>\n");
out:
    status = attest_output_close(&out, status, err);
    free(tallies);
    attest_facts_clear(&facts);
    attest_rows_clear(&rows);
    attest_rows_clear(&order);
    attest_rows_clear(&range);
    attest_traits_clear(&traits);
    return status;
}
