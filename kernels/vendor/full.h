/* full.h - what the vendor kernels share: softmax attention in float as two dense products over all N x M pairs of a
 * head, the mask applied between them.  Limits, sizes, visible keys. */
#ifndef ATTEST_VENDOR_FULL_H
#define ATTEST_VENDOR_FULL_H

#include "attest.h"
#include <stdio.h>

static inline int full_supports(const attest_problem *p, char *why, size_t len)
{
    const int f32 = p->in == ATTEST_F32 && p->acc == ATTEST_F32 && p->p == ATTEST_F32 && p->out == ATTEST_F32;
    const char *reason = f32 ? NULL : "only f32 is served";
    for (int a = 0; a < ATTEST_AXIS_COUNT; a++)
        if (p->axis[a].value != 0 && a != ATTEST_AXIS_MASK)
            reason = "only softmax is served, with any mask and no other axis";
    if (p->m * p->n > INT64_C(1) << 28)
        reason = "more than 2^28 pairs: all scores of a head are in memory at once";
    if (reason)
        snprintf(why, len, "%s", reason);
    return reason == NULL;
}

/* All scores of a head, and a number a row. */
static inline size_t full_workspace(const attest_problem *p) { return (size_t)(p->n * p->m + p->n) * sizeof(float); }

/* Keys visible to query i: those below. */
static inline int64_t full_visible(const attest_problem *p, int64_t i)
{
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const int64_t last = mask == ATTEST_MASK_FULL ? p->m : i + 1 + (mask == ATTEST_MASK_CAUSAL_BR ? p->m - p->n : 0);
    return last < 0 ? 0 : last < p->m ? last : p->m;
}

static inline int full_contiguous(const attest_tensor *t)
{
    return t->stride[3] == 1 && t->stride[2] == t->shape[3] && t->stride[1] == t->shape[2] * t->stride[2] &&
           t->stride[0] == t->shape[1] * t->stride[1];
}

/* The matrices of one query head. */
typedef struct full_head {
    const float *q, *k, *v;
    float *o;
} full_head;

/* Head number `head` of b * hq; 0: a tensor is not in C order. */
static inline int full_head_of(full_head *x, const attest_problem *p, const attest_tensors *t, int64_t head)
{
    const attest_tensor *tq = t->role[ATTEST_Q], *tk = t->role[ATTEST_K], *tv = t->role[ATTEST_V];
    const attest_tensor *to = t->role[ATTEST_O];
    const int64_t g = head / p->hq * p->hkv + head % p->hq * p->hkv / p->hq;
    x->q = (const float *)tq->data + head * p->n * p->d;
    x->k = (const float *)tk->data + g * p->m * p->d;
    x->v = (const float *)tv->data + g * p->m * p->e;
    x->o = (float *)to->data + head * p->n * p->e;
    return full_contiguous(tq) && full_contiguous(tk) && full_contiguous(tv) && full_contiguous(to);
}

/* A kernel library of this one kernel; numerics unknown: the loosest bound. */
#define FULL_LIBRARY(NAME, SOURCE, SUMMARY)                                                                   \
    static const attest_numerics numerics = { .struct_size = sizeof numerics };                               \
    static const attest_kernel kernel = { .struct_size = sizeof kernel,                                       \
                                          .form = ATTEST_PARALLEL,                                            \
                                          .device = ATTEST_CPU,                                               \
                                          .flags = ATTEST_DETERMINISTIC | ATTEST_MASKED_FINITE,               \
                                          .outputs = ATTEST_GIVES_O,                                          \
                                          .name = NAME,                                                       \
                                          .version = "1",                                                     \
                                          .source = SOURCE,                                                   \
                                          .summary = SUMMARY,                                                 \
                                          .variants = "softmax",                                              \
                                          .numerics = &numerics,                                              \
                                          .supports = full_supports,                                          \
                                          .workspace = full_workspace,                                        \
                                          .run = run };                                                       \
    static const attest_kernel *const kernels[] = { &kernel };                                                \
    static const attest_library library = { .struct_size = sizeof library,                                    \
                                            .abi_version = ATTEST_ABI_VERSION,                                \
                                            .name = NAME,                                                     \
                                            .build_flags = ATTEST_BUILD_FLAGS,                                \
                                            .kernels = kernels,                                               \
                                            .kernel_count = 1 };                                              \
    const attest_library *attest_library_v1(const attest_host *host) { return host ? &library : NULL; }

#ifndef ATTEST_BUILD_FLAGS
#define ATTEST_BUILD_FLAGS "-O3 -ffp-contract=off"
#endif

#endif
