/* my_kernel.c - a complete kernel library to copy: softmax attention in float, mask=full or causal.
 *
 * Build  cc -O2 -shared -fPIC -Ikernels kernels/template/my_kernel.c -o my_kernel.so -lm
 * Audit  build/attest audit ./my_kernel.so
 */
#include "attest.h"
#include <math.h>

static const float *row_of(const attest_tensor *t, int64_t b, int64_t h, int64_t i)
{
    return (const float *)t->data + b * t->stride[0] + h * t->stride[1] + i * t->stride[2];
}

/* What the kernel computes; everything else is refused with a reason. */
static int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const int axis = attest_axis_unserved(p, ATTEST_BIT(ATTEST_AXIS_MASK)); /* softmax, any mask */
    if (axis >= 0)
        return attest_refuse_axis(call, axis);
    if (p->axis[ATTEST_AXIS_MASK].value > ATTEST_MASK_CAUSAL)
        return attest_refuse_axis(call, ATTEST_AXIS_MASK);
    if (p->in != ATTEST_F32 || p->acc != ATTEST_F32 || p->p != ATTEST_F32 || p->out != ATTEST_F32)
        return attest_refuse(call, "only f32");
    return 1;
}

static size_t workspace(const attest_call *c) { return (size_t)(c->problem->m + c->problem->e) * sizeof(float); }

/* One query: all scores and their maximum, then weights and sums, then o = u / l. */
static void one_row(const attest_problem *p, const attest_tensors *t, float *s, int64_t b, int64_t h, int64_t i)
{
    const attest_tensor *tq = t->role[ATTEST_Q], *tk = t->role[ATTEST_K], *tv = t->role[ATTEST_V];
    const attest_tensor *to = t->role[ATTEST_O];
    const int causal = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL;
    const int64_t g = h * p->hkv / p->hq, keys = causal && i + 1 < p->m ? i + 1 : p->m;
    const float scale = (float)p->scale, *q = row_of(tq, b, h, i);
    float *u = s + p->m, *o = (float *)to->data + b * to->stride[0] + h * to->stride[1] + i * to->stride[2];
    float m = -INFINITY, l = 0;
    for (int64_t j = 0; j < keys; j++) {
        const float *k = row_of(tk, b, g, j);
        float dot = 0;
        for (int64_t c = 0; c < p->d; c++)
            dot += q[c * tq->stride[3]] * k[c * tk->stride[3]];
        s[j] = scale * dot;
        m = fmaxf(m, s[j]);
    }
    for (int64_t c = 0; c < p->e; c++)
        u[c] = 0;
    for (int64_t j = 0; j < keys; j++) {
        const float w = expf(s[j] - m), *v = row_of(tv, b, g, j);
        l += w;
        for (int64_t c = 0; c < p->e; c++)
            u[c] += w * v[c * tv->stride[3]];
    }
    for (int64_t c = 0; c < p->e; c++)
        o[c * to->stride[3]] = u[c] / l;
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++)
        one_row(p, t, (float *)call->workspace, row / p->n / p->hq, row / p->n % p->hq, row % p->n);
    return ATTEST_OK;
}

/* What you know of your arithmetic; 0 = unknown, and then the bound is the loosest of its class. */
static const attest_numerics numerics = { .struct_size = sizeof numerics, .schedule = ATTEST_SCHEDULE_TWO_PASS };
static const attest_kernel kernel = { .struct_size = sizeof kernel,
                                      .form = ATTEST_PARALLEL,
                                      .device = ATTEST_CPU,
                                      .flags = ATTEST_DETERMINISTIC,
                                      .outputs = ATTEST_GIVES_O,
                                      .name = "my-kernel",
                                      .version = "1",
                                      .source = "my_kernel.c",
                                      .summary = "softmax attention, two passes, float",
                                      .variants = "softmax",
                                      .numerics = &numerics,
                                      .supports = supports,
                                      .workspace = workspace,
                                      .run = run };
static const attest_kernel *const kernels[] = { &kernel };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "my library",
                                        .kernels = kernels,
                                        .kernel_count = 1 };

const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
