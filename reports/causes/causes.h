/* causes.h - what the results of a kernel that failed have in common, and those that passed have not.
 *
 * Answers: which condition of the problem line separates the failures of a kernel from its passes (`all 12 failures
 * have m > 16, and none of 300 passes has`), and which failing case of those is the smallest.  A condition is a
 * token of the line, a size above a power of two, a size that one does not divide, a relation of two sizes, or two
 * of these at once (conditions.c is their table).  It is what the cases of this run show and no proof of a cause.
 * Reads results; knows no kernel, tensor or truth.
 */
#ifndef ATTEST_CAUSES_H
#define ATTEST_CAUSES_H

#include "reports/report.h"

enum { ATTEST_CAUSES_MOST = 4 }; /* groups told of one kernel */
enum { ATTEST_CAUSE_MEMBERS = 24 };

typedef struct attest_cause {
    char text[96];    /* `m > 16`, `mask=causal and n % 8 != 0` */
    size_t of_failed; /* failures that have it and are in no group before */
    size_t of_passed; /* passes that have it */
    size_t smallest;  /* index of the result with the fewest products (b hq n m (d + e)) among them */
    size_t member[ATTEST_CAUSE_MEMBERS]; /* some of the failures, in this order: the smaller half, then evenly spread */
    size_t members;
} attest_cause;

typedef struct attest_causes {
    char kernel[512];
    size_t failed, passed; /* results of this kernel: fail, crash, timeout; pass */
    size_t count, left;    /* groups; failures in none of them */
    attest_cause cause[ATTEST_CAUSES_MOST];
    attest_cause rest; /* those that are left: text "" */
} attest_causes;

/* One entry a kernel that failed, in the order of the results; `*list` is malloc'd, the caller's.  A group's
 * condition is the one that is wrong least often (failures without it, passes with it), or two at once where that
 * halves what is wrong.  It is a group if it holds 2 failures, and half of those that are left, and of the cases
 * that have it two thirds failed.  Without such a one: a condition that all failures have and the fewest passes, at
 * most half of them.  No group: no pass to tell them from, or no such condition.  Reads each result once.
 * ATTEST_NO_MEMORY, and what reading a result may say. */
attest_status attest_causes_find(attest_causes **list, size_t *count, const attest_results *results, attest_error *err);

/* One line a group, with the command that runs its smallest case again, of every kernel that failed; nothing if none
 * has a group.  Each line begins with `common: ` and the kernel. */
attest_status attest_causes_print(FILE *out, const attest_results *results, attest_error *err);

#endif
