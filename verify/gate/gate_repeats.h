/* gate_repeats.h - after a suite: picks the few cases of each kernel that repeat_checks.h is asked of.
 *
 * One for many calls, the smallest that has more than one query and key; and three for threads, the largest below
 * ATTEST_THREADS_WORK, of different variants where there are.  Only cases that passed, are partial, or ill-posed by
 * leave.
 */
#ifndef ATTEST_GATE_REPEATS_H
#define ATTEST_GATE_REPEATS_H

#include "verify/gate/gate_private.h"

/* Results that are found wrong are replaced; they are in the order of their cases. */
attest_status attest_gate_repeats(attest_gate_state *g, attest_error *err);

#endif
