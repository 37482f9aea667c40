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
} attest_props_world;

/* The callbacks on `world`, borrowed. */
attest_prop_host attest_props_host(attest_props_world *world);

/* The kernel's declarations. */
attest_prop_kernel attest_props_kernel(const attest_subject *subject);

/* What the truth says of the case (labels.h); every row. */
attest_status attest_props_facts(attest_case_facts *facts, const attest_case *c, const attest_bundle *inputs,
                                 attest_error *err);

#endif
