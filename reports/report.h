/* report.h - how it is told: writers and readers of rows, the console table, the HTML page.
 *
 * Reads rows only; runs nothing.  Every file is written to NAME.tmp and renamed when it is whole.  Numbers
 * in JSON and CSV: {"hex": "0x1.8p+1", "dec": 3.0} / two columns NAME and NAME_hex.
 */
#ifndef ATTEST_REPORT_H
#define ATTEST_REPORT_H

#include <stdio.h>
#include "reports/row.h"
#include "reports/trust.h"

typedef struct attest_rows {
    attest_row *row;
    size_t count, capacity;
} attest_rows;

attest_status attest_rows_add(attest_rows *rows, const attest_row *row, attest_error *err);
void attest_rows_clear(attest_rows *rows);

/* JSON lines: one row an object, field order of the table. */
attest_status attest_rows_write_jsonl(const attest_rows *rows, const char *path, attest_error *err);
attest_status attest_row_print_json(FILE *out, const attest_row *row);
/* Reads rows back (appending); a bad line is ATTEST_BAD_INPUT naming file and line. */
attest_status attest_rows_read_jsonl(attest_rows *rows, const char *path, attest_error *err);
attest_status attest_rows_write_csv(const attest_rows *rows, const char *path, attest_error *err);
/* JUnit: a testsuite per kernel, a testcase per problem line; skips as <skipped>, the rest of the
 * non-passing as <failure> or <error> with the reproduction in system-out. */
attest_status attest_rows_write_junit(const attest_rows *rows, const char *path, attest_error *err);
/* Markdown: totals, kernels, classes, what the verdicts rest on (`facts`, or NULL), then at most 60 rows, failures
 * first. */
attest_status attest_rows_write_summary(const attest_rows *rows, const attest_facts *facts, const char *path,
                                        attest_error *err);

/* Console: a table with a line per kernel (cases, pass, fail, ..., worst ratio, worst ulp), then each failing
 * row with its reproduction, kernels that were skipped, what was not tried on rows that pass, and warnings (write.h).
 * colour: 0 or 1. */
void attest_rows_print_console(FILE *out, const attest_rows *rows, int colour);
/* One aligned line for a row as it is judged. */
void attest_row_print_line(FILE *out, const attest_row *row, int colour);

/* 1 if `stream` is a terminal and NO_COLOR is not set. */
int attest_want_colour(FILE *stream);

/* error vs order: series = range (text), abscissa = order, with truncation, rounding and floor.
 * error vs range: series = center and order; fitted slope (GSL least squares on log2) beside p+1.
 * Charts by gnuplot into SVG; ATTEST_IO "gnuplot not found" if absent. */
typedef struct attest_fit {
    double slope, intercept, residual;
    size_t points;
} attest_fit;
/* Least squares y = intercept + slope x over the finite points with y > 0, on (log2 x, log2 y). */
attest_status attest_fit_loglog(attest_fit *fit, const double *x, const double *y, size_t count, attest_error *err);
attest_status attest_chart_order(const attest_rows *rows, const char *svg_path, attest_error *err);
attest_status attest_chart_range(const attest_rows *rows, const char *svg_path, attest_error *err);

/* Writes DIR/index.html (self-contained: inline CSS, the two SVGs inlined, no external reference) and
 * DIR/summary.md from DIR/rows.jsonl and, where present, DIR/trust.json, DIR/traits.jsonl, DIR/study-order.jsonl and
 * DIR/study-range.jsonl. */
attest_status attest_report_write(const char *dir, attest_error *err);

#endif
