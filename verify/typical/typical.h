/* typical.h - is the error of an output what plain arithmetic of the declared kind gives?  The second yardstick.
 *
 * Answers how far the rms error of o is from that of plain kernels.  A derived bound is a worst case: a kernel may lose
 * three digits of every state and stay inside it.  Plain arithmetic of the declared schedule and types, its roundings
 * drawn again (kernels/redrawn), says what errors are usual on these very inputs.
 *
 *     unit      of a row: sqrt(mean ((x - truth)/abs_scale)^2) over its elements of o in R = ATTEST_TYPICAL_REDRAWS
 *               redraws x, or ATTEST_TYPICAL_FLOOR times the same of all rows where that is more; abs_scale: natural
 *               scale of an element (derivations.md, section 0).  So each row counts alike, however many keys it sees
 *     rms       sqrt(mean ((got - truth)/(abs_scale unit))^2) over the elements of o that have a truth and a bound, of
 *               the rows that compare.h judges
 *     r_k       the same of redraw k = 1..R; r_0 of the plain kernel that rounds to nearest
 *     quantile  max(r_0, exp(mean log r_k + t s sqrt(1 + 1/R))/sqrt(2)), s the deviation of log r_k, t Student's 99%
 *               point with R - 1 degrees of freedom: the next redraw is below it, times sqrt(2), with that probability.
 *               The variance of a rounding at random is twice that of one to nearest (redrawn.h): hence the root
 *     factor    rms/quantile.  Worse: above ATTEST_TYPICAL_FACTOR; better: below 1/that of r_0 and the lower quantile
 *
 * What it supposes, and where it is not asked for that reason:
 *  - that a correct kernel's roundings are as good as independent draws, or as the plain kernel's to nearest.  Equal
 *    numbers are rounded alike: families that are constant or repeat scores, weights or values are left out;
 *  - that log r_k has a normal law, which sums of many errors come near: ATTEST_TYPICAL_ELEMENTS elements at least.
 *    What the elements of a row share (an error of the divisor) is in the spread of r_k already;
 *  - that the plain kernel errs at all: small integers and the like, where some r_k is 0, are left out;
 *  - that roundings are relative: cases with an element whose natural scale is below 2^(emin+p) of acc are left out:
 *    there a kernel may flush (ATTEST_FTZ), and a narrower type has fewer digits;
 *  - that the truth is known to a part of the error: its radius is at most 2^-4 rms, else the case is left out.
 * It is no proof either way.  An error that few elements have, or that the rounding of o hides, moves no rms.
 */
#ifndef ATTEST_TYPICAL_H
#define ATTEST_TYPICAL_H

#include "props/draw/draw.h"
#include "reference/reference.h"

#define ATTEST_TYPICAL_REDRAWS 8
#define ATTEST_TYPICAL_FACTOR 4.0
#define ATTEST_TYPICAL_FLOOR 0.25
#define ATTEST_TYPICAL_ELEMENTS 32

typedef enum attest_typical_state {
    ATTEST_TYPICAL_NOT_MODELLED = 0, /* why says for what reason; the figures are NAN */
    ATTEST_TYPICAL_AS_PLAIN = 1,
    ATTEST_TYPICAL_WORSE = 2,
    ATTEST_TYPICAL_BETTER = 3
} attest_typical_state;

typedef struct attest_typical {
    uint32_t state;
    double rms, quantile, factor;
    char why[160];
} attest_typical;

/* Measures `o` [B,Hq,N,e], any strides, on the case's `inputs` (states full) beside its `truth`.  The same numbers on
 * any thread. */
attest_status attest_typical_measure(attest_typical *typical, attest_truth *truth, const attest_case *c,
                                     const attest_bundle *inputs, const attest_tensor *o,
                                     const attest_numerics *numerics, uint32_t flags, attest_error *err);

#endif
