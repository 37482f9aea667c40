/* drill.h - inside reports/page: what one kernel's results look like from near. */
#ifndef ATTEST_DRILL_H
#define ATTEST_DRILL_H

#include "reports/report.h"

/* A closed part of the page for each kernel that has judged cases with an error/bound, in order of first appearance:
 * its smallest noticed error, its cases by family, by length and by the place of the worst element among the queries,
 * and its worst cases with their commands.  Nothing of a list that holds some of a run's results only. */
attest_status attest_drill_print(FILE *out, const attest_results *results, attest_error *err);

#endif
