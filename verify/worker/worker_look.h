/* worker_look.h - what a run did to the memory that it was given: whatever is wrong becomes a reason of its result.
 *
 * All of it lies in the parent's own mapping of the layout; nothing here is of what the worker says.
 */
#ifndef ATTEST_WORKER_LOOK_H
#define ATTEST_WORKER_LOOK_H

#include "verify/worker/worker_layout.h"

/* "o", "k_2", "the workspace" .. of a segment, in name[len]; returns name. */
const char *attest_segment_name(char *name, size_t len, const attest_segment *s);

/* Adds an ATTEST_REASON_*; the first one also says why. */
void attest_run_blame(attest_run_result *result, unsigned reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Bytes around every tensor and the workspace; inputs beside what they were; bytes between the elements of outputs,
 * whose values are lost by that; outputs of the second run beside the first's, which attest_layout_keep() has kept:
 * elements that neither wrote, other bits of a deterministic kernel; `how`: words about the second run, or "". */
void attest_look_canaries(attest_run_result *result, const attest_layout *l);
void attest_look_inputs(attest_run_result *result, const attest_layout *l);
void attest_look_gaps(attest_run_result *result, const attest_layout *l);
void attest_look_outputs(attest_run_result *result, const attest_layout *l, int deterministic, const char *how);

/* 1 if an element is NaN in the run that is there and a number in the one that was kept; where: its name, "o[0,1]". */
int attest_look_early(char *where, size_t len, const attest_layout *l);

#endif
