/* props_host.h - what properties ask of the world (props/property.h): a kernel in a worker, bounds from the truth. */
#ifndef ATTEST_PROPS_HOST_H
#define ATTEST_PROPS_HOST_H

#include "props/generate/generate.h"
#include "verify/gate/gate.h"

typedef struct attest_props_world {
    attest_subject subject; /* its worker is the caller's */
    double timeout_s;
    int reference; /* 0: no bounds are given (properties that need none) */
    long runs;     /* of the kernel, so far */
    /* The first problem that supports() gave no answer to, after which it is asked nothing: 0, or ATTEST_PROP_CRASH or
     * ATTEST_PROP_TIMEOUT with why. */
    uint32_t unanswered;
    attest_problem problem;
    char why[256];
} attest_props_world;

/* The callbacks on `world`, borrowed. */
attest_prop_host attest_props_host(attest_props_world *world);

/* 1 if there was a question without an answer: its case, and the finding that it is, "the kernel's run ends well". */
int attest_props_unanswered(attest_case *c, attest_finding *found, const attest_props_world *world, uint64_t seed);

/* The kernel's declarations. */
attest_prop_kernel attest_props_kernel(const attest_subject *subject);

/* What the truth says of the case (labels.h); every row. */
attest_status attest_props_facts(attest_case_facts *facts, const attest_case *c, const attest_bundle *inputs,
                                 attest_error *err);

#endif
