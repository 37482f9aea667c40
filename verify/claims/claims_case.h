/* claims_case.h - for the checks of claims: a problem line with its inputs and its truth. */
#ifndef ATTEST_CLAIMS_CASE_H
#define ATTEST_CLAIMS_CASE_H

#include "verify/claims/claims.h"

typedef struct claim_case {
    attest_case c;
    attest_bundle *bundle;
    attest_truth *truth;
} claim_case;

/* Parses a line (printf-like); no tensors yet. */
attest_status claim_case_parse(claim_case *x, attest_error *err, const char *line, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets a whole tensor, in C order; every value must be one that its dtype holds. */
attest_status claim_case_put(claim_case *x, attest_role role, const double *values, attest_error *err);
/* Draws what was not put and prepares the truth. */
attest_status claim_case_ready(claim_case *x, attest_error *err);
/* All three: a line whose inputs are all drawn. */
attest_status claim_case_open(claim_case *x, attest_error *err, const char *line, ...)
    __attribute__((format(printf, 3, 4)));
/* One query of width 1 and value 1, scale 1: the keys are the scores, v is 1x1 or the unit matrix (then o = weights).
 */
attest_status claim_case_scores(claim_case *x, const double *scores, int64_t count, int unit, attest_error *err,
                                const char *variant, ...) __attribute__((format(printf, 6, 7)));
void claim_case_close(claim_case *x);

#endif
