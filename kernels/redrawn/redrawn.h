/* redrawn.h - plain arithmetic with its roundings drawn again: the built-in kernels, whose steps round up or down at
 * random.
 *
 * Answers what o a plain kernel of declared numerics might have given.  Monte Carlo arithmetic on the kernel's own
 * source (kernels/cpu): one file a kernel, which includes it with the steps of redraw.h in place of its own.  Judges
 * nothing, and is never judged: no suite knows these kernels.
 *
 * Rounding. A result x between two neighbours a < b of the type becomes b with probability (x - a)/(b - a), else a
 * (stochastic rounding): its mean is x, and its variance, over x equally distributed between them, (b - a)^2/6, twice
 * that of rounding to nearest.  An exact result stays.  Draws are independent of each other and of inputs; they come
 * from one stream that starts anew with each run, so that the same seed gives the same bits on any thread.  Seed 0
 * draws nothing: every result is rounded to nearest even, in the same places.
 * Places. Products and sums of scores, weights, values and states; scores minus their maximum; exponentials, which are
 * correctly rounded first and then off by up to what is declared, equally distributed; casts of weights; quotients.
 * Other steps (features, rope, gates, cap, norms but their quotient, decays inside a product, the rounding of o) are
 * those of the built-in kernel, to nearest.
 * Digits. Sums have the digits of the declared acc_unit and value_unit, scores of score_unit, states of state_dtype,
 * weights of problem.p.  Compensated sums (attest_numerics.compensated) are kept in double: no sum is rounded, every
 * product is, to float.  The declared tile (1 where none is) and splits are taken.
 *
 * Not modelled, with the reason: acc or in f64, and acc below f32; sums or casts that are truncated; scores stored in a
 * narrow type, q or k scaled in one; compensated sums elsewhere than in two-pass, online, direct or linear recurrent
 * kernels, or beside features, rope, gates or decays; no declared schedule with a polynomial weight; problems that the
 * built-in kernel of the schedule does not serve.  Of a declared schedule also: div_error above 2^-21; a scale in a
 * narrow type; cap, unless tanh_error is within 2^-21; weights that are divided before they meet the values, or may be
 * where they are cast; decays, unless decay_products; elu1 without exp_error; efla, unless expm1_error is within 2^-21;
 * parts with a log_error, anything with a sigmoid_error above it.
 */
#ifndef ATTEST_KERNELS_REDRAWN_H
#define ATTEST_KERNELS_REDRAWN_H

#include "kernels/tensor/tensor.h"

/* A plain kernel for one problem, ready to be run again and again. */
typedef struct attest_redrawn {
    const attest_kernel *kernel;
    attest_problem problem; /* with the declared splits */
    attest_numerics numerics;
} attest_redrawn;

/* The plain kernel of these numerics.  ATTEST_UNSUPPORTED with the reason where none is modelled. */
attest_status attest_redrawn_find(attest_redrawn *redrawn, const attest_problem *p, const attest_numerics *numerics,
                                  attest_error *err);

/* Writes o of the rows that `wanted` marks, one byte a row (b,h,i) in C order; NULL: all.  `inputs` holds what the
 * problem uses, states full; `o` [B,Hq,N,e], other rows are left alone.  Seed 0: to nearest. */
attest_status attest_redrawn_run(const attest_redrawn *redrawn, const attest_bundle *inputs, attest_tensor *o,
                                 const unsigned char *wanted, uint64_t seed, attest_error *err);

#endif
