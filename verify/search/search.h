/* search.h - the worst case of a kernel, looked for.
 *
 * What `attest search` maximises: one candidate, that is the tensors of a case, run through a kernel
 * and judged, as one number.
 *
 *     ratio   largest error/bound over the elements of o (upper ends)
 *     ulp     largest error of o in units of the last place of its type
 *     kappa   largest abs_scale/|o|: how far the sums of a row cancel (abs_scale: reference.h)
 *     state   largest |entry of ht.n| / (max|v| max(1, max|k|)^n): how far a state outgrows what was written
 *
 * Only o (and ht for `state`) is judged, and none of case_checks.h is asked: a search asks 10^5 times.  What it finds
 * is run again by attest_run_case().
 */
#ifndef ATTEST_VERIFY_SEARCH_H
#define ATTEST_VERIFY_SEARCH_H

#include "props/search/search.h"
#include "verify/gate/gate.h"

typedef enum attest_objective {
    ATTEST_OBJECTIVE_RATIO = 0,
    ATTEST_OBJECTIVE_ULP = 1,
    ATTEST_OBJECTIVE_KAPPA = 2,
    ATTEST_OBJECTIVE_STATE = 3,
    ATTEST_OBJECTIVE_COUNT = 4
} attest_objective;

extern const char *const attest_objective_names[ATTEST_OBJECTIVE_COUNT];

typedef struct attest_evaluator {
    const attest_subject *subject;
    uint32_t objective; /* attest_objective */
    double timeout_s;
    attest_prepared prepared; /* its inputs are the candidate's tensors: written before each attest_evaluate() */
    attest_element *elements; /* [e], or of the largest state */
    attest_declared declared;
    long evaluations;
    long refuted;  /* candidates whose error is proved above the bound, or on which the kernel reports one */
    long crashed;  /* that the kernel did not survive, or not in time: they say nothing of numbers */
    char why[256]; /* of the first of all of them */
} attest_evaluator;

/* The inputs of `given` (taken over, freed on failure too; NULL: none), the rest drawn as the line says.
 * ATTEST_BAD_INPUT: the kernel does not serve the case; `state`: it gives no ht here. */
attest_status attest_evaluator_init(attest_evaluator *ev, const attest_case *c, attest_bundle *given,
                                    const attest_subject *subject, uint32_t objective, double timeout_s,
                                    attest_error *err);
void attest_evaluator_clear(attest_evaluator *ev);

/* *figure >= 0 of the inputs as they stand; 0: no element has one (ill-posed, without a bound); never a NaN.  A
 * kernel's error, a NaN where a number must stand: infinity, and refuted grows; a crash: infinity, and crashed grows.
 * An error status is a fault of ours. */
attest_status attest_evaluate(double *figure, attest_evaluator *ev, attest_error *err);

/* ---- one search: a kernel, a problem, a strategy, so many evaluations; and the tensors that it found.
 *
 * The evaluations are shared out to ATTEST_SEARCH_CHAINS searches of their own (props/search/search.h), which any
 * number of threads work through: the numbers depend on seed and evaluations, not on threads.  Strategy `random` is
 * what a search must beat: every evaluation a fresh draw of all inputs by the line's family.
 */
#define ATTEST_SEARCH_CHAINS 4

typedef enum attest_strategy {
    ATTEST_STRATEGY_ANNEAL = 0,
    ATTEST_STRATEGY_RANDOM = 1,
    ATTEST_STRATEGY_COUNT = 2
} attest_strategy;

extern const char *const attest_strategy_names[ATTEST_STRATEGY_COUNT];

typedef struct attest_search_request {
    attest_case c;
    const char *library; /* NULL: the built-in kernels */
    const char *kernel;  /* its name in the library */
    const char *program;
    uint32_t objective, strategy;
    uint64_t seed;
    long evaluations;
    long jobs; /* threads; 0: all cores */
    double timeout_s;
} attest_search_request;

typedef struct attest_search_found {
    uint32_t chain; /* that found the largest figure */
    long evaluations, refuted, crashed;
    char why[256];                      /* of the first such candidate of the first chain that had one */
    double reached[ATTEST_PHASE_COUNT]; /* anneal: figure of the best chain at the end of each phase */
    attest_bundle *inputs;              /* owned; NULL on failure */
} attest_search_found;

/* ATTEST_BAD_INPUT: no such kernel, or it does not serve the problem. */
attest_status attest_search_find(attest_search_found *found, const attest_search_request *request, attest_error *err);
void attest_search_found_clear(attest_search_found *found);

#endif
