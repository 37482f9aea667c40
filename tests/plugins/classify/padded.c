/* padded: correct softmax kernels in f32 that declare nothing; keys are hidden by something else than mask=causal-br.
 *
 *   padded       lens alone: a row without keys is 0/0, weights below the normal numbers are 0
 *   padded-mean  lens and mask=causal: a row without keys holds the mean of all values
 *   hidden       attn_mask alone: a row without keys is 0
 */
#include "attest.h"
#include <math.h>

typedef struct style {
    uint64_t axes; /* that it serves */
    float least;   /* of a weight's logarithm: 0 below it */
    uint32_t empty;
} style;

static float *row_of(const attest_tensor *t, int64_t b, int64_t h, int64_t i)
{
    return (float *)t->data + b * t->stride[0] + h * t->stride[1] + i * t->stride[2];
}

/* 1: query (b,h,i) sees key j. */
static int sees(const attest_call *call, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const attest_tensor *len = call->tensors->role[ATTEST_KV_LENS], *mask = call->tensors->role[ATTEST_MASK];
    if (call->problem->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL && j > i)
        return 0;
    if (len && j >= ((const int64_t *)len->data)[b * len->stride[0]])
        return 0;
    return !mask ||
           ((const uint8_t *)
                mask->data)[(mask->shape[0] > 1 ? b * mask->stride[0] : 0) +
                            (mask->shape[1] > 1 ? h * mask->stride[1] : 0) + i * mask->stride[2] + j * mask->stride[3]];
}

static void one_row(const style *k, const attest_call *call, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    const int64_t g = h / (p->hq / p->hkv);
    float *w = call->workspace, *o = row_of(t->role[ATTEST_O], b, h, i), top = -INFINITY, l = 0;
    for (int64_t j = 0; j < p->m; j++) {
        w[j] = 0;
        for (int64_t c = 0; c < p->d; c++)
            w[j] += row_of(t->role[ATTEST_Q], b, h, i)[c] * row_of(t->role[ATTEST_K], b, g, j)[c];
        w[j] = sees(call, b, h, i, j) ? w[j] * (float)p->scale : -INFINITY;
        top = fmaxf(top, w[j]);
    }
    for (int64_t j = 0; j < p->m; j++) {
        w[j] = top == -INFINITY ? k->empty == ATTEST_EMPTY_MEAN : w[j] - top < k->least ? 0 : expf(w[j] - top);
        l += w[j];
    }
    for (int64_t c = 0; c < p->e; c++) {
        float u = 0;
        for (int64_t j = 0; j < p->m; j++)
            u += w[j] == 0 ? 0 : w[j] * row_of(t->role[ATTEST_V], b, g, j)[c];
        o[c] = l == 0 && k->empty == ATTEST_EMPTY_ZERO ? 0 : u / l;
    }
}

static int supports(const style *k, const attest_call *call)
{
    const attest_problem *p = call->problem;
    const int axis = attest_axis_unserved(p, k->axes);
    if (axis >= 0)
        return attest_refuse_axis(call, axis);
    return (p->in == ATTEST_F32 && p->acc == ATTEST_F32 && p->p == ATTEST_F32 && p->out == ATTEST_F32 &&
            p->axis[ATTEST_AXIS_MASK].value <= ATTEST_MASK_CAUSAL) ||
           attest_refuse(call, "only f32, mask=full or causal");
}

static size_t workspace(const attest_call *call) { return (size_t)call->problem->m * sizeof(float); }

static attest_status run(const style *k, const attest_call *call)
{
    const attest_problem *p = call->problem;
    for (int64_t n = 0; n < p->b * p->hq * p->n; n++)
        one_row(k, call, n / p->n / p->hq, n / p->n % p->hq, n % p->n);
    return ATTEST_OK;
}

static const attest_numerics nothing = { .struct_size = sizeof nothing };

#define KERNEL(id, title, ...)                                                                                         \
    static const style style_##id = { __VA_ARGS__ };                                                                   \
    static int supports_##id(const attest_call *call) { return supports(&style_##id, call); }                          \
    static attest_status run_##id(const attest_call *call) { return run(&style_##id, call); }                          \
    static const attest_kernel kernel_##id = { .struct_size = sizeof(attest_kernel),                                   \
                                               .form = ATTEST_PARALLEL,                                                \
                                               .device = ATTEST_CPU,                                                   \
                                               .outputs = ATTEST_GIVES_O,                                              \
                                               .needs = ATTEST_NEEDS_C_ORDER,                                          \
                                               .name = title,                                                          \
                                               .version = "1",                                                         \
                                               .source = "tests/plugins/classify/padded.c",                            \
                                               .summary = title,                                                       \
                                               .variants = "softmax",                                                  \
                                               .numerics = &nothing,                                                   \
                                               .supports = supports_##id,                                              \
                                               .workspace = workspace,                                                 \
                                               .run = run_##id };
KERNEL(padded, "padded", ATTEST_BIT(ATTEST_AXIS_LENS), -87.3f, ATTEST_EMPTY_NAN)
KERNEL(mean, "padded-mean", ATTEST_BIT(ATTEST_AXIS_LENS) | ATTEST_BIT(ATTEST_AXIS_MASK), -INFINITY, ATTEST_EMPTY_MEAN)
KERNEL(hidden, "hidden", ATTEST_BIT(ATTEST_AXIS_ATTN_MASK), -INFINITY, ATTEST_EMPTY_ZERO)

static const attest_kernel *const kernels[] = { &kernel_padded, &kernel_mean, &kernel_hidden };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "padded",
                                        .kernels = kernels,
                                        .kernel_count = 3 };
const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
