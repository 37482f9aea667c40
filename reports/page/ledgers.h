/* ledgers.h - inside reports/page: what other commands left in a folder of results. */
#ifndef ATTEST_LEDGERS_H
#define ATTEST_LEDGERS_H

#include "reports/report.h"

/* Two parts of the page, each a line of totals and a closed table: the planted defects of DIR/defects.json (`attest
 * defects --out DIR`; survivors first) and the statements of the papers of DIR/claims.json (`attest claims --out DIR`;
 * those with another verdict than the expected one first).  A line that says how to make it stands for a file that is
 * not there.  ATTEST_BAD_INPUT names the file, and its line or row, where something else stands in it. */
attest_status attest_ledgers_print(FILE *out, const char *dir, attest_error *err);

#endif
