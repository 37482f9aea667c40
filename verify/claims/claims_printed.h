/* claims_printed.h - checks of the numbers that a paper prints of its training runs: arithmetic on the prints alone. */
#ifndef ATTEST_CLAIMS_PRINTED_H
#define ATTEST_CLAIMS_PRINTED_H

#include "verify/claims/claims.h"

/* Models with and without a mechanism, a row of cells each, as printed. */
typedef struct claim_models {
    const char *const *names; /* of the models; `count` of them */
    const double *without, *with;
    int count, cells;
    int less; /* 1: less is better */
} claim_models;

/* holds: no cell is worse with the mechanism than without.  Figures: cells, and how many of each model are worse. */
attest_status claim_check_better(attest_claim_finding *finding, const attest_statement *claim, attest_error *err);

extern const claim_models claim_sla_retrieval; /* table 3 */

#endif
