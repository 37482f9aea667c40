/* good.h - a small correct softmax kernel (f32, mask=full or causal) for the misbehaving sample plugins.
 *
 * A plugin includes this, defines its own run() on top of good_run(), and ends with PLUGIN(NAME, run).
 */
#ifndef ATTEST_TEST_GOOD_H
#define ATTEST_TEST_GOOD_H

#include "attest.h"
#include <math.h>
#include <stdio.h>

/* Address of channel 0 of row (b,h,i). */
static inline float *good_row(const attest_tensor *t, int64_t b, int64_t h, int64_t i)
{
    return (float *)t->data + b * t->stride[0] + h * t->stride[1] + i * t->stride[2];
}

static inline int good_supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    int ok = p->in == ATTEST_F32 && p->acc == ATTEST_F32 && p->p == ATTEST_F32 && p->out == ATTEST_F32;
    ok = ok && attest_axis_unserved(p, ATTEST_BIT(ATTEST_AXIS_MASK)) < 0 &&
         p->axis[ATTEST_AXIS_MASK].value <= ATTEST_MASK_CAUSAL;
    return ok || attest_refuse(call, "only softmax f32, mask=full or causal");
}

static inline size_t good_workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (size_t)p->m * sizeof(float);
}

/* o of row (b,h,i), two passes; s[m] is scratch. */
static inline void good_softmax_row(const attest_problem *p, const attest_tensors *t, float *s, int64_t b, int64_t h,
                                    int64_t i)
{
    const attest_tensor *tq = t->role[ATTEST_Q], *tk = t->role[ATTEST_K], *tv = t->role[ATTEST_V];
    const int64_t g = h * p->hkv / p->hq;
    const int causal = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL;
    const int64_t keys = causal && i + 1 < p->m ? i + 1 : p->m;
    const float *q = good_row(tq, b, h, i);
    float m = -INFINITY, l = 0;
    for (int64_t j = 0; j < keys; j++) {
        const float *k = good_row(tk, b, g, j);
        float dot = 0;
        for (int64_t c = 0; c < p->d; c++)
            dot += q[c * tq->stride[3]] * k[c * tk->stride[3]];
        s[j] = (float)p->scale * dot;
        m = fmaxf(m, s[j]);
    }
    for (int64_t j = 0; j < keys; j++)
        l += s[j] = expf(s[j] - m);
    for (int64_t c = 0; c < p->e; c++) {
        float u = 0;
        for (int64_t j = 0; j < keys; j++)
            u += s[j] * good_row(tv, b, g, j)[c * tv->stride[3]];
        good_row(t->role[ATTEST_O], b, h, i)[c * t->role[ATTEST_O]->stride[3]] = u / l;
    }
}

/* The first `rows` rows of every head. */
static inline attest_status good_run(const attest_problem *p, const attest_tensors *t, void *scratch, int64_t rows)
{
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t h = 0; h < p->hq; h++)
            for (int64_t i = 0; i < rows; i++)
                good_softmax_row(p, t, (float *)scratch, b, h, i);
    return ATTEST_OK;
}

#ifndef PLUGIN_SUPPORTS
#define PLUGIN_SUPPORTS good_supports
#endif
#ifndef PLUGIN_WORKSPACE
#define PLUGIN_WORKSPACE good_workspace
#endif
/* PLUGIN_SMALL: at most so many queries and keys.  Of a kernel that a test audits, properties and all, small problems
 * show the same at a fraction of the time. */
#ifdef PLUGIN_SMALL
static const attest_limits good_small = { .struct_size = sizeof good_small,
                                          .hq.most = 6,
                                          .n.most = PLUGIN_SMALL,
                                          .m.most = PLUGIN_SMALL,
                                          .d.most = 8,
                                          .e.most = 8 };
#define PLUGIN_LIMITS &good_small
#else
#define PLUGIN_LIMITS NULL
#endif
#ifndef PLUGIN_FLAGS
#define PLUGIN_FLAGS ATTEST_DETERMINISTIC
#endif

#define PLUGIN(NAME, RUN)                                                                                              \
    static const attest_numerics numerics = { .struct_size = sizeof numerics, .schedule = ATTEST_SCHEDULE_TWO_PASS };  \
    static const attest_kernel kernel = { .struct_size = sizeof kernel,                                                \
                                          .form = ATTEST_PARALLEL,                                                     \
                                          .device = ATTEST_CPU,                                                        \
                                          .flags = PLUGIN_FLAGS,                                                       \
                                          .outputs = ATTEST_GIVES_O,                                                   \
                                          .name = NAME,                                                                \
                                          .version = "1",                                                              \
                                          .source = "tests/plugins/" NAME ".c",                                        \
                                          .summary = "softmax that misbehaves: " NAME,                                 \
                                          .variants = "softmax",                                                       \
                                          .numerics = &numerics,                                                       \
                                          .limits = PLUGIN_LIMITS,                                                     \
                                          .supports = PLUGIN_SUPPORTS,                                                 \
                                          .workspace = PLUGIN_WORKSPACE,                                               \
                                          .run = RUN };                                                                \
    static const attest_kernel *const kernels[] = { &kernel };                                                         \
    static const attest_library library = { .struct_size = sizeof library,                                             \
                                            .abi_version = ATTEST_ABI_VERSION,                                         \
                                            .name = NAME,                                                              \
                                            .kernels = kernels,                                                        \
                                            .kernel_count = 1 };                                                       \
    const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }

#endif
