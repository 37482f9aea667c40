/* yardstick.h - what the fast engine is timed against, inside reference/: arbitrary precision as one writes it by hand.
 *
 * Answers what the same outputs cost when they are written plainly. No verdict and no truth rests on it.
 *
 * For `attest bench` and its tests only; no truth comes from here.  Each function computes o of all rows, from the
 * tensors to doubles (row-major, one rounding an element, ill-posed and empty rows as each says), and includes its own
 * set-up: conversion of the inputs, allocation, clean-up.  MPFR and Arb serve weight exp and taylor:P with norm sum,
 * center zero, every mask, window and lens, any hq/hkv, everything else at its default.
 */
#ifndef ATTEST_YARDSTICK_H
#define ATTEST_YARDSTICK_H

#include "kernels/tensor/tensor.h"

/* Do MPFR and Arb serve the problem?  Else 0 and the first setting that they do not. */
int attest_yard_serves(const attest_problem *p, char *why, size_t len);

/* Weight exp: does no |s| pass 7e8, so that e^s and sums of it stay inside MPFR's exponents (below 2^(2^30))?  By the
 * largest norms of q and k, so that a pair that no mask shows counts too; a vector with an element that is not finite
 * does not (its weights are exact infinities, zeros or NaN).  Else 0 and why.  Other weights: 1. */
int attest_yard_in_range(const attest_problem *p, const attest_bundle *in, char *why, size_t len);

/* ---- plain MPFR: variables initialised once, inputs converted once, one mpfr call per scalar operation ----------- */
typedef enum attest_yard_call {
    ATTEST_YARD_MUL = 0,
    ATTEST_YARD_ADD = 1,
    ATTEST_YARD_FMA = 2,
    ATTEST_YARD_EXP = 3,
    ATTEST_YARD_DIV = 4,
    ATTEST_YARD_CALLS = 5
} attest_yard_call;

const char *attest_yard_call_name(int call); /* mpfr_mul, ... */

/* How a product is added to a sum. */
typedef enum attest_yard_product {
    ATTEST_YARD_MUL_ADD = 0, /* mpfr_mul, then mpfr_add */
    ATTEST_YARD_FUSED = 1    /* mpfr_fma */
} attest_yard_product;

/* All variables have `bits` bits.  A row with L visible keys makes, with mul and add: (d+e+1) L mul, d L - 1 + e (L-1)
 * add, L exp, e div; with fma L + L + e mul, (d-1) L + e (L-1) fma, L-1 add; taylor:P has P L mul and P L add (or P L
 * fma) in place of L exp.  calls[ATTEST_YARD_CALLS] (or NULL) gets what was made, counted beside the loops.  The row
 * maximum is not taken off, which would be one more call a pair: right where attest_yard_in_range(), else a weight may
 * overflow.  An empty row gives 0. */
attest_status attest_yard_mpfr(double *o, const attest_problem *p, const attest_bundle *in, long bits,
                               attest_yard_product product, int64_t *calls, attest_error *err);

/* Seconds of this thread's processor time for one call of each kind, on operands of this problem in a run's order: mul:
 * the products of about 2^16/(d+e) pairs alone; add: the same with their sums, less that; fma: the same fused; exp,
 * div: 512 scores and weights.  Each loop's time is its least of 16 rounds; a round runs them all. */
attest_status attest_yard_mpfr_costs(double seconds[ATTEST_YARD_CALLS], const attest_problem *p,
                                     const attest_bundle *in, long bits, attest_error *err);

/* ---- Arb: S = Q K^T and U = P V by arb_mat_mul over all rows of a head at once, arb_exp (or Horner) per visible pair;
 * the scale is multiplied into Q, K and V are converted once a KV head.  An empty row gives 0. */
attest_status attest_yard_arb(double *o, const attest_problem *p, const attest_bundle *in, long bits,
                              attest_error *err);

/* ---- the exact engine (engine.h) on every row: its rows, rounded once ------------------------------------------- */
/* 1 if every row is rational and affordable. */
int attest_yard_exact_serves(const attest_problem *p, const attest_bundle *in);
/* A row whose divisor is 0 gives NaN. */
attest_status attest_yard_exact(double *o, const attest_problem *p, const attest_bundle *in, attest_error *err);

#endif
