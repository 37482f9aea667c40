/* power.h - private to verify/compare: could this case have told a wrong kernel from a right one?
 *
 * An element of o tells if its bound is below half its size and below its distance from each answer of a simple wrong
 * kernel (attest_judge_wrong) that is not the right answer there.  A row is blind if it has values other than 0 and the
 * bound of each is at least half its size: a kernel of zeros would pass.
 */
#ifndef ATTEST_POWER_H
#define ATTEST_POWER_H

#include "reference/reference.h"
#include "reports/result.h"

typedef struct power_tally {
    int64_t e, m, hkv, kv_group;    /* query heads to a KV head */
    double *distance, *bound;       /* [ATTEST_WRONG_COUNT*e], [e] */
    unsigned char *keys, *own_keys; /* [b*hkv*m] as attest_judge_wrong() leaves them; own_keys: NULL if borrowed */
    int64_t key_count;
    double *relative; /* bound/|o| of the elements that have both */
    int64_t relative_count, elements, telling, rows, rows_blind;
} power_tally;

/* Room for `rows` rows of the case.  `keys`: borrowed, with what it says already; NULL: the tally's own. */
attest_status power_init(power_tally *t, const attest_problem *p, int64_t rows, unsigned char *keys, attest_error *err);
void power_clear(power_tally *t);
/* A row of o that was judged: elements[e]. */
attest_status power_add(power_tally *t, attest_truth *truth, const attest_element *elements, int64_t b, int64_t h,
                        int64_t i, attest_error *err);
/* Fills rows_blind, telling, keys_seen, noticed, noticed_median. */
void power_finish(attest_result *result, power_tally *t);

#endif
