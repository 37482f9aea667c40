/* repeat_checks.h - what a kernel does when it is called often, under load, and with other numbers of threads.
 *
 * Asked of few cases, which pass (gate.h: per kernel one of the first kind and three of the second; `attest replay`:
 * its case):
 *
 *     calls     one call after another, more than 1,000, on a tiny case: a counter that runs over, a cache that
 *               fills, a kernel that is right as long as it is tested
 *     threads   20 calls under load: 5 each where OMP_NUM_THREADS and its like say 1, 2, 3 and 8.  The kernel shares
 *               two processors with 8 processes that are always busy, so that its threads may wait anywhere.  Not asked
 *               of cuda-host: its CUDA threads are fibres of one thread, which no load reorders
 *
 * Outputs hold the same before each call, and have the bits of the first call after each.  Of a kernel that is not
 * ATTEST_DETERMINISTIC those of the last call are judged by its bounds instead.  A finding sets `nondeterministic`
 * (or what the judgement says), makes the verdict fail and says in `why` which call, which number of threads, which
 * element.  A kernel whose supports() refuses here what it served before is not judged by it: a note says so.
 */
#ifndef ATTEST_REPEAT_CHECKS_H
#define ATTEST_REPEAT_CHECKS_H

#include "verify/gate/runner.h"

/* Multiplications of the plain double loop: b hq n m (d + e).  What says which cases are small. */
double attest_case_work(const attest_problem *p);

#define ATTEST_CALLS_WORK 0x1p15   /* at most, of a case that is called 1,000 times */
#define ATTEST_THREADS_WORK 0x1p20 /* at most, of a case that is run under load */

/* A case that has been judged, and its result. */
typedef struct attest_repeated {
    attest_prepared *prepared;
    attest_result *result;
} attest_repeated;

/* Ends with the worker as it was.  An error status is a fault of ours. */
attest_status attest_check_calls(const attest_repeated *repeated, const attest_subject *subject, double timeout_s,
                                 attest_error *err);

/* Of `count` cases, with as few starts of the worker as there are numbers of threads. */
attest_status attest_check_threads(const attest_repeated *repeated, size_t count, const attest_subject *subject,
                                   double timeout_s, attest_error *err);

#endif
