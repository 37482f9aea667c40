/* search_run.h - one search: a kernel, a problem, a strategy, so many evaluations; and the tensors that it found.
 *
 * The evaluations are shared out to ATTEST_SEARCH_CHAINS searches of their own (props/search/search.h), which any number of
 * threads work through: the numbers depend on seed and evaluations, not on threads.  Strategy `random` is what a search
 * must beat: every evaluation a fresh draw of all inputs by the line's family.
 */
#ifndef ATTEST_SEARCH_RUN_H
#define ATTEST_SEARCH_RUN_H

#include "props/search/search.h"
#include "verify/search/search_eval.h"

#define ATTEST_SEARCH_CHAINS 4

typedef enum attest_strategy {
    ATTEST_STRATEGY_ANNEAL = 0,
    ATTEST_STRATEGY_RANDOM = 1,
    ATTEST_STRATEGY_COUNT = 2
} attest_strategy;

extern const char *const attest_strategy_names[ATTEST_STRATEGY_COUNT];

typedef struct attest_search_request {
    attest_case c;
    const char *library;   /* NULL: the built-in kernels */
    const char *kernel;    /* its name in the library */
    const char *program;
    uint32_t objective, strategy;
    uint64_t seed;
    long evaluations;
    long jobs; /* threads; 0: all cores */
    double timeout_s;
} attest_search_request;

typedef struct attest_search_found {
    uint32_t chain;        /* that found the largest figure */
    long evaluations, refuted;
    char why[256];         /* of the first refuted candidate of the first chain that had one */
    double reached[ATTEST_PHASE_COUNT]; /* anneal: figure of the best chain at the end of each phase */
    attest_bundle *inputs; /* owned; NULL on failure */
} attest_search_found;

/* ATTEST_BAD_INPUT: no such kernel, or it does not serve the problem. */
attest_status attest_search_find(attest_search_found *found, const attest_search_request *request, attest_error *err);
void attest_search_found_clear(attest_search_found *found);

#endif
