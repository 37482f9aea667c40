/* props_run.h - many cases, every property that applies, on any number of threads: what `attest props` does.
 *
 * Case k is asked of kernel k mod (kernels); its number in the draws is k.  Phases of a run, in this order: explicit
 * and reuse (repros, props_store.h), then here
 *     edge      each kernel on the smallest problems of its kind (one query, one key, one channel, ties)
 *     generate  `cases` problems, drawn (props/generate/generate.h)
 *     target    of each property the case that came nearest to its tolerance, drawn again
 *               up to sixteen times (once for each 125 of `cases`)
 * and after them shrink and explain (props_files.h).  Then the engine turns on itself: each property is asked of cases
 * that it held for, with its own violation planted into the kernel's outputs; one that does not see it is vacuous.
 *
 * Numbers do not depend on the number of threads, but under a limit of `seconds` how many cases are asked does.
 */
#ifndef ATTEST_PROPS_RUN_H
#define ATTEST_PROPS_RUN_H

#include "verify/gate/gate.h"
#include "verify/properties/props_host.h"

typedef struct attest_props_request {
    const char *library;                    /* NULL: the built-in kernels */
    const attest_plan *plan;                /* NULL, or one whose only library it is, as declared there */
    const char *kernel_glob;                /* NULL: all; CPU kernels only */
    const char *property_glob;              /* NULL: all */
    const attest_property *const *property; /* [property_count]; NULL: attest_properties */
    size_t property_count;
    const char *program;        /* argv[0] */
    const attest_case *problem; /* NULL, or what all cases are, with other inputs each; no edges then */
    uint64_t seed;
    long cases, jobs; /* jobs 0: all cores */
    double timeout_s;
    int reference;  /* 0: only what can be said without a reference: no bounds, no labels */
    int floors;     /* 1: ask for the floors of labels (labels.h) */
    int stop;       /* 1: no further case once something is broken */
    double seconds; /* after which no further case is begun; a failure is shrunk for a third of it; 0: no limit */
    void (*progress)(void *context, long done, long total); /* or NULL; one call at a time */
    void *context;
} attest_props_request;

/* A worker on the library of the request, whose kernels declare what its plan says. */
attest_status attest_props_start(attest_worker **worker, const attest_props_request *request, attest_error *err);

enum { ATTEST_PLANTED_NOT_TRIED = 0, ATTEST_PLANTED_SEEN = 1, ATTEST_PLANTED_MISSED = 2 };

/* One property over all cases. */
typedef struct attest_props_count {
    int selected;
    int64_t asked;    /* cases that it applies to */
    int64_t compared; /* of them, with something to compare */
    int64_t broken;
    double ratio; /* largest difference/tolerance among those that hold; 0: bits only */
    int planted;  /* ATTEST_PLANTED_*: of its own violation; _MISSED: the property is vacuous */
} attest_props_count;

/* Something broken: the first case of each (kernel, property). */
typedef struct attest_props_failure {
    const attest_property *property; /* NULL: a run died or hung, or the case's own run did not end well */
    const attest_property *asked; /* property; or that whose later run died, which replays it; NULL: the case's own */
    char kernel[512];             /* NAME or LIBRARY:NAME */
    attest_case c;
    uint32_t number;
    attest_finding found;
    int64_t cases;   /* how many cases of this kernel broke it */
    size_t order;    /* of the case in the run */
    char kept[4096]; /* the folder that attest_props_failure_tell() wrote; "" before */
} attest_props_failure;

typedef struct attest_props_result {
    const attest_property *const *property; /* [property_count], borrowed: those of the request */
    size_t property_count;
    attest_props_count *count; /* [property_count] */
    int64_t *label;            /* [attest_label_count]: cases with it */
    int64_t *floor;            /* [attest_label_count]: that many are wanted; 0: none, or the kernels cannot meet it */
    attest_props_failure *failure;
    size_t failure_count;
    int64_t kernels, cases, starved, refused, runs; /* starved: no problem found; refused: by run() */
    int64_t edges, redraws;                         /* of the cases; the others were drawn */
    int64_t left_out; /* cases, edges among them, that request->seconds left no time for */
    int64_t elements; /* comparisons */
} attest_props_result;

/* ATTEST_BAD_INPUT: nothing matches the globs, no such library, no kernel serves the problem. */
attest_status attest_props_check(const attest_props_request *request, attest_error *err);

/* Broken properties are no error.  ATTEST_BAD_INPUT as attest_props_check(). */
attest_status attest_props_run(attest_props_result *result, const attest_props_request *request, attest_error *err);
void attest_props_result_clear(attest_props_result *result);

/* One property of one example, as a failure is tried again (shrinking, replay): *found as the property says; property
 * NULL: broken if the example's own run does not end well. */
attest_status attest_props_try(attest_finding *found, attest_props_world *world, const attest_property *property,
                               const attest_case *c, uint32_t number, const attest_bundle *inputs, attest_error *err);

#endif
