/* dd.h - the fast certified engine (dd): all elements of an output as hi + lo +- bound, in double-double.
 *
 * Answers what o and lse are, quickly, with an a-priori bound. Touches no big number but its table, made at build
 * time.
 *
 * The inputs are scanned (exponents, norms, what is not finite), every row takes the cheapest tier whose condition the
 * scan proves, and the bound of each element is an a-priori one, evaluated upward (derivations.md, section 8).
 * A row that the lemmas do not cover (a non-finite input, scores past the range of exp, a divisor that may vanish) has
 * bound = INFINITY: ask the other engines (reference.h).  Bounds depend on the path; the truth does not.
 *
 * Memory: O((N+M)(d+e)) and, per thread, 4 rows of M weights (2 doubles each).  No N x M array.
 */
#ifndef ATTEST_ENCLOSE_H
#define ATTEST_ENCLOSE_H

#include "kernels/tensor/tensor.h"

/* Elements of one output, row-major as its tensor. */
typedef struct attest_enclosures {
    int64_t count;
    double *hi, *lo; /* |lo| <= ulp(hi), or lo = 0 */
    double *bound;   /* |truth - (hi + lo)| <= bound, units of the output; INFINITY: not known here */
} attest_enclosures;

/* Which conditions for the cheap tiers are believed. */
typedef enum attest_tiers {
    ATTEST_TIERS_PROVED = 0, /* f32: slices where a path has them (bounds near 2^-59); bf16, f16: plain exact sums for a
                                row whose scan proves them exact, R-DD-EXP-SHORT for every row (near 2^-59) */
    ATTEST_TIERS_NONE = 1,   /* double-double throughout (bounds near 2^-83) */
    ATTEST_TIERS_FORCED = 2  /* always, unproved: WRONG bounds.  A negative control for tests */
} attest_tiers;

typedef struct attest_enclose_options {
    const char *path; /* one that attest_enclose_path() names; NULL: the first that this machine runs */
    int threads;      /* <= 0: as many as OpenMP gives */
    uint32_t tiers;   /* attest_tiers */
} attest_enclose_options;

/* "avx512", "avx2", "portable": number n, fastest first, or NULL behind the last one that this machine runs. */
const char *attest_enclose_path(int n);

/* Does the engine serve this variant and these dtypes?  Else 0 and why. */
int attest_enclose_serves(const attest_problem *p, char *why, size_t len);

/* Encloses o (and lse, unless NULL) of all rows.  `in` holds what attest_problem_uses() names.  Buffers of *o and *lse
 * are made, or used again if they hold `count` elements already (start with a zeroed struct); free them with
 * attest_enclosures_free.  Floating-point control (rounding mode, FTZ, DAZ) is set for the call and restored.
 * ATTEST_UNSUPPORTED: not served; ATTEST_BAD_INPUT: a tensor or the path is missing; ATTEST_INTERNAL: the error-free
 * transforms fail their self-test (a miscompiled engine), nothing is computed. */
attest_status attest_enclose(attest_enclosures *o, attest_enclosures *lse, const attest_problem *p,
                             const attest_bundle *in, const attest_enclose_options *options, attest_error *err);
void attest_enclosures_free(attest_enclosures *e);

/* *bits = the one nearest value of format `dtype` for every real of element n, to nearest even; 0 if a boundary
 * between two values is inside, or the bound is INFINITY. */
int attest_enclosure_round(uint64_t *bits, const attest_enclosures *e, int64_t n, uint32_t dtype);

#endif
