/* steps.h - one row of a case, step by step: scores, weights, sums and outputs of the truth beside the kernel's.
 *
 * Answers what s, w, z, u and o of a query are, each with its radius, and what the kernel wrote of them.  A kernel of
 * this ABI offers no scores and no weights, most no u and z: there the truth stands alone, and the text says so.
 */
#ifndef ATTEST_STEPS_H
#define ATTEST_STEPS_H

#include "verify/gate/gate.h"

/* `I`, or `B,H,I`, of a case; NULL: the row of `worst` (`o[b,h,i,c]`, as results have it; "": row 0,0,0).
 * ATTEST_BAD_INPUT: no such row. */
attest_status attest_steps_row(attest_row *row, const char *text, const char *worst, const attest_problem *p,
                               attest_error *err);

/* Runs the kernel once more and prints the row.  A kernel that ends badly: the truth alone. */
attest_status attest_steps_print(FILE *out, attest_prepared *prepared, const attest_subject *subject, attest_row at,
                                 double timeout_s, attest_error *err);

#endif
