/* study_cost.h - study `cost`: how it is measured, and what its points say together. */
#ifndef ATTEST_STUDY_COST_H
#define ATTEST_STUDY_COST_H

#include "verify/study/study_private.h"

/* Times every kernel on every variant of each group side by side.  Refuses what would take longer than a quarter of a
 * second a run. */
attest_status study_measure_cost(study_run *run, attest_error *err);

/* study_front.c */
/* front[i] = 1 where no other point of the same group is as fast and more accurate, or faster with at most 1.1 times
 * its error.  A group: one (length, panel).  Points without an error are on none. */
attest_status study_front(unsigned char *front, const attest_results *results, attest_error *err);

/* Writes `front` into result->why of those. */
attest_status study_mark_front(attest_results *results, attest_error *err);

/* Below the table: from which length on each order's recurrence is faster than softmax, and its error there. */
attest_status study_cost_below(FILE *out, attest_table_format format, const attest_results *results, attest_error *err);

/* Time against error, a panel a group, with the front. */
attest_status study_cost_chart(const attest_results *results, const char *path, attest_error *err);

#endif
