/* page.h - the page: a folder of results told as one HTML file.
 *
 * Answers how a run, its studies and the table of orders look together; beside it the summary and the console's table
 * (report.h).  Runs nothing.
 */
#ifndef ATTEST_PAGE_H
#define ATTEST_PAGE_H

#include "reports/report.h"

/* Writes DIR/index.html (self-contained: inline CSS, the SVGs of studies inlined, no external reference) and
 * DIR/summary.md from DIR/results.jsonl and, where present, DIR/run.json, DIR/trust.json, DIR/traits.jsonl,
 * DIR/order.json (reports/order), DIR/study-order.jsonl and DIR/study-range.jsonl (studies.h), DIR/defects.json and
 * DIR/claims.json (ledgers.h).  A run or a study that did not finish is told as such, with the results that it has.
 * ATTEST_BAD_INPUT says how results of an older version are made again. */
attest_status attest_report_write(const char *dir, attest_error *err);

#endif
