/* full.h - what the vendor kernels share: softmax attention in float as two dense products over all N x M pairs of a
 * head, the mask applied between them.  Limits and sizes. */
#ifndef ATTEST_VENDOR_FULL_H
#define ATTEST_VENDOR_FULL_H

#include "yardstick/heads.h"
#include <stdio.h>

static inline int full_supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const int f32 = p->in == ATTEST_F32 && p->acc == ATTEST_F32 && p->p == ATTEST_F32 && p->out == ATTEST_F32;
    const char *reason = f32 ? NULL : "only f32 is served";
    if (attest_axis_unserved(p, ATTEST_BIT(ATTEST_AXIS_MASK)) >= 0 ||
        p->axis[ATTEST_AXIS_MASK].value > ATTEST_MASK_CAUSAL_BR)
        reason = "only softmax is served, with any mask and no other axis";
    if (p->m * p->n > INT64_C(1) << 28)
        reason = "more than 2^28 pairs: all scores of a head are in memory at once";
    return reason ? attest_refuse(call, reason) : 1;
}

/* All scores of a head, and a number a row. */
static inline size_t full_workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (size_t)(p->n * p->m + p->n) * sizeof(float);
}

/* A kernel library of this one kernel; numerics unknown: the loosest bound.  FLAGS beyond those of both, or 0. */
#define FULL_LIBRARY(NAME, SOURCE, SUMMARY, FLAGS)                                                                     \
    static const attest_numerics numerics = { .struct_size = sizeof numerics };                                        \
    static const attest_kernel kernel = { .struct_size = sizeof kernel,                                                \
                                          .form = ATTEST_PARALLEL,                                                     \
                                          .device = ATTEST_CPU,                                                        \
                                          .flags = ATTEST_DETERMINISTIC | ATTEST_MASKED_FINITE | (FLAGS),              \
                                          .outputs = ATTEST_GIVES_O,                                                   \
                                          .name = NAME,                                                                \
                                          .version = "1",                                                              \
                                          .source = SOURCE,                                                            \
                                          .summary = SUMMARY,                                                          \
                                          .variants = "softmax",                                                       \
                                          .numerics = &numerics,                                                       \
                                          .supports = full_supports,                                                   \
                                          .workspace = full_workspace,                                                 \
                                          .run = run };                                                                \
    static const attest_kernel *const kernels[] = { &kernel };                                                         \
    static const attest_library library = { .struct_size = sizeof library,                                             \
                                            .abi_version = ATTEST_ABI_VERSION,                                         \
                                            .name = NAME,                                                              \
                                            .build_flags = ATTEST_BUILD_FLAGS,                                         \
                                            .kernels = kernels,                                                        \
                                            .kernel_count = 1 };                                                       \
    const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }

#ifndef ATTEST_BUILD_FLAGS
#define ATTEST_BUILD_FLAGS "-O3 -ffp-contract=off"
#endif

#endif
