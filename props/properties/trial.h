/* trial.h - what properties do to a trial: run the kernel again, compare two runs. */
#ifndef ATTEST_TRIAL_H
#define ATTEST_TRIAL_H

#include "props/property.h"

/* Runs the case once, all outputs; borrows host and inputs.  `violated`: planted into this and every later run. */
attest_status attest_trial_init(attest_trial *trial, const attest_prop_host *host, const attest_prop_kernel *kernel,
                                const attest_case *c, uint32_t number, const attest_bundle *inputs,
                                const attest_property *violated, attest_error *err);
void attest_trial_clear(attest_trial *trial);

/* The kernel on another case (asked for `wanted` outputs); *outputs owned by the caller.  *usable = 1: it ended well.
 * Otherwise *outputs is NULL; a crash, a hang, an error or a fault of the harness is written to `found`, a refusal is
 * not. */
attest_status attest_trial_run(attest_bundle **outputs, int *usable, attest_finding *found, const attest_trial *trial,
                               const attest_case *c, const attest_bundle *inputs, uint32_t wanted, int strided,
                               attest_error *err);

/* Bounds of the first run's output `role` (o u z lse), borrowed; NULL where the host has none. */
attest_status attest_trial_bounds(const double **bound, attest_trial *trial, attest_role role, attest_error *err);

/* A choice that the case fixes: 32 random bits addressed by (seed, case number, property, index). */
uint32_t attest_trial_word(const attest_trial *trial, const attest_property *property, uint64_t index);

/* ---- comparing one element ------------------------------------------------------------------------------------ */
/* Adds one comparison: `got` should be `want`, both exact doubles of stored elements.  tolerance < 0: bits (equal
 * values; zeros of both signs agree; two NaNs agree); NaN or infinite: no bound, not counted; else a NaN is wrong, in
 * both too, as a bound is of a finite truth.  Keeps the largest ratio and says where: element `at` of output `id`. */
void attest_finding_add(attest_finding *found, attest_tensor_id id, const int64_t at[4], double got, double want,
                        double tolerance);

/* 1 if x, known to within `tolerance`, may be an infinity in `dtype`. */
int attest_may_overflow(uint32_t dtype, double x, double tolerance);

/* The role's violation most properties use: o (u, z and lse where they are there) of row i of every head is off by the
 * fraction (i+1)/8 of itself, and by 1/8. */
void attest_violate_by_row(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs);

#endif
