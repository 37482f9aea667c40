/* evidence_private.h - inside reference/: what the evidence_*.c files share. */
#ifndef ATTEST_EVIDENCE_PRIVATE_H
#define ATTEST_EVIDENCE_PRIVATE_H

#include "reference/engine/engine.h"
#include "reference/evidence/evidence.h"

/* Outward doubles; NaN where the ball is not finite. */
attest_span ref_span_of(const arb_t x);

/* t = T_p(x) = sum_{n<=p} x^n/n!, by Horner; t may be x. */
void ref_taylor_sum(arb_t t, ulong p, const arb_t x, slong prec);

/* One more comparison: |difference| is enclosed by `difference` (0 where two rationals are equal). */
void ref_match_add(attest_match *match, const arb_t difference, int different, int rational);

/* One more comparison of two enclosures: different where they do not touch, or leave no finite difference. */
void ref_match_balls(attest_match *match, const arb_t x, const arb_t y);

#endif
