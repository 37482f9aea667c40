/* classify.h - the kernel classifier: a kernel's arithmetic inferred from its answers to designed inputs, beside what
 * it declares (attest_numerics, flags).
 *
 * Inference sees the answers only: neither name nor declaration.  A kernel is asked on the first of a few paths that it
 * serves (softmax; linear attention; taylor:2; the delta rule), in the finest types that it serves.
 *
 *   classify_schedule.c
 *     schedule          which exponentials, or which rounded products, an output is made of
 *     tile, splits      where the running maximum rescales what came before
 *   classify_sums.c
 *     acc_unit, acc_truncates   the least term that survives beside 1, over channels, keys and the denominator
 *     state_dtype       the same over tokens, with chunks of one
 *   classify_division.c
 *     div_error         means of integers, gates of equal heads, against the exact quotient
 *   classify_order.c
 *     serial_sums       bits of sums in which most additions round: of values, keys, scores; of a denominator
 *   classify_cast.c
 *     p_rounding        what is left of two weights in one cell of problem.p (`truncate`: both rounded to one side)
 *     cast_in_sum       the denominator of weights that their cast moves
 *   classify_exp.c
 *     log2_domain       do the errors of e^x follow the rounding of x log2(e)?
 *     exp_error         the largest of them, without that rounding, over 1024 points of (-80, -0.7): a lower end
 *   classify_scale.c
 *     scale_dtype       slope of score over product for two scales that every narrower type misses
 *   classify_rules.c
 *     ftz, lse_base2, lse_with_sink, empty_row, packed_state, masked_finite, causal, causal_br, deterministic,
 *     batch_invariant; rows without a key are those that mask=causal-br, lens or attn_mask leave, whichever is served
 *
 * No kernel fails by one probe.  Where that contradicts the declaration, a second one is asked, by other means:
 *
 *   classify_range.c
 *     schedule, tile, splits    which values outlive a weight that is 0 (range, not bits); which states overflow
 *   classify_pairs.c
 *     acc_unit, state_dtype     errors of sums of two drawn terms (not what survives a cancellation)
 *     acc_truncates     the sign of these errors
 *     div_error         drawn values over other numbers of keys, or of parts
 *   classify_again.c
 *     serial_sums       terms that one accumulator loses or keeps one by one (not bits of rounded sums); drawn integers
 *                       whose mean is one
 *     scale_dtype       is a scale rounded to a type the same, bit for bit? (no slope)
 *     deterministic, batch_invariant    bits for other inputs and sizes; equal entries of a batch
 *   classify_cast.c
 *     p_rounding        single small weights on the grid of p (not what is left of two)
 *     cast_in_sum       weights of the last cell below 1
 *   classify_exp.c
 *     exp_error, log2_domain    other points, among other keys; lse of many weights (not o)
 *   classify_rules_again.c
 *     ftz               a subnormal value that is passed on (not a product that becomes one); weights one by one
 *     lse_base2         the base of the maximum and of the sum apart (not of both together)
 *     lse_with_sink, empty_row, packed_state    other shapes, other numbers
 *     masked_finite     infinities (not NaN)
 *     causal, causal_br which rows depend on a value (not which values a row holds)
 *
 * What no input shows is `not visible` with the reason: p_rounding and cast_in_sum of a kernel that serves p = acc
 * only (the cast is the identity) or casts no weight; state_dtype of a schedule without states; tile of a kernel that
 * rescales nothing; schedule of a kernel that keeps one state of all keys and serves mask=full alone (chunk or
 * recurrent); packed_state without a state of degree 2 (degrees 0 and 1 are the same in both layouts); lse traits
 * without an lse; splits of a kernel without parts; acc_unit, acc_truncates where every term that can be asked for
 * survives; an online schedule and tile declared with 512 keys or more, the longest probe; serial_sums where the kept
 * sums are not all of them.  Built-in kernels declare none of these where it is not visible.
 * A probe also checks what it takes for granted, and says `not visible` where that does not hold: weights do not come
 * back as they went in (schedule: a running mean); what a state loses does not grow with its numbers (schedule); sums
 * leave no multiple of a unit, or depend on far scores (acc_unit: a running mean, keys less their mean); a weight is
 * lost below the normal numbers of f16, or its error follows other scores (exp_error); two scales are met in two ways
 * (scale_dtype: sqrt(scale) on both sides); a mean depends on where its values stand, or is a multiple of a cast weight
 * (div_error: divided before the sum); what is left of a cast is on no grid (p_rounding, cast_in_sum).
 * `block`, which no built-in kernel declares, has no probe.
 */
#ifndef ATTEST_CLASSIFY_H
#define ATTEST_CLASSIFY_H

#include "reports/traits.h"
#include "verify/worker/worker.h"

/* The first run of a probe that did not end well or broke a rule of memory or floating-point state. */
typedef struct attest_classify_fault {
    char line[ATTEST_LINE]; /* its problem; "": there was none */
    attest_run_result run;
} attest_classify_fault;

/* Adds one row for each trait of kernel `index`, `name` standing in them.  Rules (traits.h): numbers are compared as
 * errors, FAIL if inferred > declared (1 + 2^-10), finding if declared > 4 inferred; types as their unit roundoffs;
 * schedules by the number of roundings that they add; answers that are conventions must be equal; a promise
 * (serial_sums, deterministic, batch-invariant) must not be broken.  FAIL needs a second probe that would FAIL too;
 * else the row is a remark, and `why` tells what that probe says.  A kernel that dies in a probe, in run() or in
 * supports(), is not asked again: its other traits are not visible; *fault tells how a run ended.  Nor is one once a
 * signal asks for the end.  An error status is a fault of ours or of the machine (no memory for a probe): then every
 * trait that was not asked has its row all the same, not visible for that reason, unless memory lacks for the rows. */
attest_status attest_classify(attest_traits *traits, attest_classify_fault *fault, attest_worker *worker, size_t index,
                              const char *name, double timeout_s, attest_error *err);

/* What these traits, all of one kernel, show and the kernel does not say, as words of a declaration
 * (kernels/library/declare_text.h).  An error of exp or of a division is twice the power of two above the largest that
 * was seen; figures that only f64 has are left out, and so are promises.  Flags and empty rows, whose absence is a
 * declaration, are proposed where two probes contradict it; with `silent` (the kernel's attest_numerics is empty) where
 * one does.  ATTEST_INTERNAL: they do not fit. */
attest_status attest_classify_propose(char *words, size_t len, const attest_traits *traits, int silent,
                                      attest_error *err);

#endif
