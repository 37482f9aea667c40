/* conventions.h - which other convention would the outputs of failing cases fit?
 *
 * Answers, of a kernel that failed: would its outputs have passed if another function had been asked for (`mask=full`,
 * `scale=1`, `window W+1`, KV heads taken in turn), other tensors had been given (k and v swapped), the outputs were
 * laid out another way (o as [B,N,Hq,e]), or the kernel had declared other arithmetic or another flag (`--declare
 * flags=masked-finite`)?  Each convention is a row of convention_table.c.
 *
 * Nothing is guessed: the kernel is run again on failing cases, and what it wrote is judged by the truth and the bound
 * of the changed problem, on the same inputs (a declaration: the whole case runs again, as the gate would judge it).
 * A case that failed and passes so tells the two apart by itself.  A convention is told only if no case that was asked
 * fails under it, and at least two pass.  That is what these cases show, and no proof of a cause: two conventions may
 * be one on them.
 */
#ifndef ATTEST_CONVENTIONS_H
#define ATTEST_CONVENTIONS_H

#include "verify/gate/gate.h"

/* Cases asked of a group, the most products (b hq n m (d + e)) of one, and the kernels of a run. */
enum { ATTEST_FIT_CASES = 24, ATTEST_FIT_WORK = 1 << 22, ATTEST_FIT_KERNELS = 8 };

typedef struct attest_fit {
    char kernel[512];
    char group[96];       /* what its failures have in common (reports/causes); "": all that are in no group */
    char convention[128]; /* `mask=full`; words of a declaration */
    int declared;         /* 1: of --declare */
    size_t failures, all; /* of the group; of the kernel */
    size_t passed, open;  /* cases asked that pass; that have no verdict under it (undecided, no evidence) */
} attest_fit;

/* One entry for each convention that fits a group of failures; *list is malloc'd, the caller's.  Kernels beyond the
 * first ATTEST_FIT_KERNELS that failed, and cases larger than ATTEST_FIT_WORK, are not asked.  A kernel that ends badly
 * while it is asked has none.  An error status is a fault of ours. */
attest_status attest_conventions_find(attest_fit **list, size_t *count, const attest_results *results,
                                      const attest_gate *gate, attest_error *err);

/* The same of one case of one kernel, which failed: what passes it. */
attest_status attest_conventions_of_case(attest_fit **list, size_t *count, const attest_result *result,
                                         const attest_case *c, const attest_bundle *inputs,
                                         const attest_subject *subject, double timeout_s, attest_error *err);

/* All of them as a run keeps them (run->would_pass, reports/files/run.h); those beyond it are counted. */
void attest_conventions_keep(attest_run_info *run, const attest_fit *list, size_t count);

/* A line an entry: `would pass: KERNEL with mask=full: ...`, or (json) an object. */
attest_status attest_conventions_print(FILE *out, const attest_fit *list, size_t count, int json, attest_error *err);

#endif
