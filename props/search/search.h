/* search.h - a maximum of a function of a latent vector, looked for in a fixed number of evaluations.
 *
 * Answers where a function is large. Knows no kernel and no truth: the function is a callback.
 *
 * A point has `count` coordinates: a real in [lo, hi], or one of `choices` alternatives (0, 1, .. as a double).
 * Phases, each from the best point so far, by shares of the evaluations:
 *
 *     starts   an eighth: points of the caller's, or uniform ones
 *     anneal   half: simulated annealing (gsl_siman), energy = -value in the units of the value; a move changes one to
 *              three coordinates by steps from the whole range down to 2^-26 of it, or shifts all reals of a group
 *     simplex  an eighth: Nelder-Mead (gsl_multimin, nmsimplex2) on up to 12 reals at a time
 *     boxes    the rest: one coordinate after another, its box [lo, hi] halved, both halves sampled, the one with the
 *              larger value kept, down to 2^-30 of the box
 *
 * What is found is the largest known value, never a proven maximum.  Every random number comes from the Philox stream
 * of (seed, chain): a search is repeated exactly by its options, and any number of chains may run at once.
 */
#ifndef ATTEST_SEARCH_H
#define ATTEST_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/status.h"

typedef struct attest_coordinate {
    double lo, hi;    /* reals: lo < hi */
    uint32_t choices; /* 0: a real; else 0..choices-1 */
    uint32_t group;   /* reals of one group are shifted together */
} attest_coordinate;

typedef struct attest_search_problem {
    size_t count;
    const attest_coordinate *coordinates; /* borrowed */
    uint32_t groups;
    void *self;
    /* *value of x, finite. */
    attest_status (*value)(double *value, void *self, const double *x, attest_error *err);
    /* Start number 0, 1, ..: *given = 0 leaves x as it is, a uniform point.  NULL: all starts are uniform. */
    attest_status (*start)(double *x, int *given, void *self, long number, attest_error *err);
} attest_search_problem;

typedef struct attest_search_options {
    uint64_t seed;
    uint32_t chain;
    long evaluations; /* at least 1; exactly so many are made */
} attest_search_options;

enum { ATTEST_PHASE_STARTS, ATTEST_PHASE_ANNEAL, ATTEST_PHASE_SIMPLEX, ATTEST_PHASE_BOXES, ATTEST_PHASE_COUNT };
extern const char *const attest_phase_names[ATTEST_PHASE_COUNT];

typedef struct attest_search_result {
    double value; /* the largest */
    double *x;    /* [count], the caller's to free(); NULL on failure */
    long evaluations;
    double reached[ATTEST_PHASE_COUNT]; /* the largest value when the phase ended */
} attest_search_result;

/* An error of `value` or `start` ends the search and is returned. */
attest_status attest_search(attest_search_result *result, const attest_search_problem *problem,
                            const attest_search_options *options, attest_error *err);

#include "props/search/search_latent.h" /* tensors as a point */

#endif
