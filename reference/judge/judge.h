/* judge.h - one element of an output against its truth and its bound; judge.c has the public functions of
 * reference.h.
 *
 * Answers error, ulp, bound and ratio as outward-rounded doubles. Decides no verdict: verify/compare does.
 */
#ifndef ATTEST_JUDGE_H
#define ATTEST_JUDGE_H

#include "reference/bound/bound.h"

/* Fills everything but class EMPTY, ABSENT, NO_TRUTH, ILLPOSED: error, ulp, bound, ratio, terms (R-JUDGE).
 * `truth` is finite. */
void judge_element(attest_element *element, const arb_t truth, const ref_bound *bound, const mag_t abs_scale,
                   uint64_t got, uint32_t dtype, int ftz);
/* An element without a finite truth of its own: the class, NaN ends, no error. */
void judge_without_truth(attest_element *element, uint32_t class, uint64_t got);
/* An element of a row that reads a non-finite input: ratio 0 or infinite where a NaN must stand (R-NAN), else NaN. */
void judge_nan_pattern(attest_element *element, int must_be_nan, uint64_t got, uint32_t dtype);
/* 1 if every evaluation of the formula gives a NaN in channel `channel` of output id (o, u; 0 for z, lse) of the row,
 * because a NaN is read: in q or a visible k under feature=identity and a weight that depends on the score, or in the
 * channel's visible v.  0: nothing is known (infinities, features). */
int judge_must_be_nan(const ref_inputs *in, attest_tensor_id id, attest_row at, int64_t channel);
/* A row that is compared exactly (R-EMPTY): ratio 0 or infinite. */
void judge_exactly(attest_element *element, double want, uint64_t got, uint32_t dtype, int nan_allowed);

#endif
