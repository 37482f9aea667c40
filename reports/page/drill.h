/* drill.h - inside reports/page: what one kernel's results look like from near. */
#ifndef ATTEST_DRILL_H
#define ATTEST_DRILL_H

#include "reports/report.h"

/* A closed part of the page for each kernel that was asked for a case and has an error/bound, or none because it
 * failed, crashed, was late or could not be judged, in order of first appearance: how many of each; its smallest
 * noticed error; its cases by family, by length and by the place of the worst element among the queries; its worst
 * cases with their commands, infinite errors first.  An error that may be 0 (ratio_lo is) is in no geometric mean: its
 * upper end tells how finely the truth was computed.  Nothing of a list that holds some of a run's results only. */
attest_status attest_drill_print(FILE *out, const attest_results *results, attest_error *err);

#endif
