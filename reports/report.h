/* report.h - rendering: what becomes of results.  The public header of reports/: it gives the others; page,
 * summary and console are made in reports/page.
 *
 *     result.h, results.h  the result, many of them, their files
 *     traits.h, trust.h    what an audit infers, what verdicts rest on
 *     table.h              the one writer of tables
 *     files/json.h         the one writer of JSON
 *     files/output.h       files that are whole or not there
 *     files/run.h          what a run was to do, and how far it came
 *
 * Reads results only, one after another; runs nothing.  Numbers in JSON and CSV: {"hex": "0x1.8p+1", "dec": 3.0} / two
 * columns NAME and NAME_hex.
 */
#ifndef ATTEST_REPORT_H
#define ATTEST_REPORT_H

#include "reports/files/json.h"
#include "reports/files/output.h"
#include "reports/files/run.h"
#include "reports/results.h"
#include "reports/table.h"
#include "reports/traits.h"
#include "reports/trust.h"

/* Markdown: totals, results that need attention, kernels, classes, what the verdicts rest on (`facts`, or NULL), then
 * other results; of both at most 60.  `run`: NULL, or said first if it is unfinished. */
attest_status attest_results_write_summary(const attest_results *results, const attest_facts *facts,
                                           const attest_run_info *run, const char *path, attest_error *err);
attest_status attest_results_print_summary(FILE *out, const attest_results *results, const attest_facts *facts,
                                           const attest_run_info *run, attest_error *err);

/* Console: a table with a line per kernel (results, pass, fail, ..., worst ratio, worst ulp), then each failing
 * result with its reproduction, kernels that were skipped, what was not tried on results that pass, warnings, `common`
 * (what failures have in common, reports/causes; NULL: nothing), what they would pass under, and last one line: PASS,
 * FAIL or PARTIAL, in numbers.  `run`: NULL, or the run, which may not have finished; colour: 0 or 1. */
void attest_results_print_console(FILE *out, const attest_results *results, const attest_run_info *run,
                                  const char *common, int colour);
/* One aligned line for a result as it is judged. */
void attest_result_print_line(FILE *out, const attest_result *result, int colour);

/* 1 if `stream` is a terminal and NO_COLOR is not set. */
int attest_want_colour(FILE *stream);

#endif
