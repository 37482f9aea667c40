/* padded: correct softmax kernels in f32 that declare nothing; keys are hidden by something else than mask=causal-br.
 *
 *   padded       lens alone: a row without keys is 0/0, weights below the normal numbers are 0
 *   padded-mean  lens and mask=causal: a row without keys holds the mean of all values
 *   hidden       attn_mask alone: a row without keys is 0
 *
 * And `delta-causal`: the delta rule as a recurrence, under mask=causal alone, where no row is without keys.
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

/* S += beta k (v - S^T k)^T, o = scale S^T q. */
static attest_status run_delta(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    float *state = call->workspace;
    for (int64_t n = 0; n < p->b * p->hq * p->n; n++) {
        const int64_t b = n / p->n / p->hq, h = n / p->n % p->hq, i = n % p->n;
        const float *q = row_of(t->role[ATTEST_Q], b, h, i), *k = row_of(t->role[ATTEST_K], b, h, i);
        const float beta = *row_of(t->role[ATTEST_BETA], b, h, i);
        for (int64_t e = 0; e < p->e; e++) {
            float held = 0, o = 0;
            for (int64_t c = 0; c < p->d; c++) {
                float *s = &state[c * p->e + e];
                *s = i == 0 ? 0 : *s;
                held += *s * k[c];
            }
            const float more = beta * (row_of(t->role[ATTEST_V], b, h, i)[e] - held);
            for (int64_t c = 0; c < p->d; c++) {
                state[c * p->e + e] += k[c] * more;
                o += state[c * p->e + e] * q[c];
            }
            row_of(t->role[ATTEST_O], b, h, i)[e] = (float)p->scale * o;
        }
    }
    return ATTEST_OK;
}

static int supports_delta(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const uint64_t axes = ATTEST_BIT(ATTEST_AXIS_WEIGHT) | ATTEST_BIT(ATTEST_AXIS_NORM) |
                          ATTEST_BIT(ATTEST_AXIS_UPDATE) | ATTEST_BIT(ATTEST_AXIS_MASK);
    const int axis = attest_axis_unserved(p, axes);
    if (axis >= 0)
        return attest_refuse_axis(call, axis);
    return (p->in == ATTEST_F32 && p->acc == ATTEST_F32 && p->p == ATTEST_F32 && p->out == ATTEST_F32 &&
            p->hq == p->hkv && p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_POWER &&
            p->axis[ATTEST_AXIS_WEIGHT].order == 1 && p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE &&
            p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_DELTA &&
            p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL) ||
           attest_refuse(call, "only the delta rule in f32, mask=causal");
}

static size_t workspace_delta(const attest_call *call)
{
    return (size_t)(call->problem->d * call->problem->e) * sizeof(float);
}

static const attest_numerics nothing = { .struct_size = sizeof nothing };

#define STYLED(id, title, ...)                                                                                         \
    static const style style_##id = { __VA_ARGS__ };                                                                   \
    static int supports_##id(const attest_call *call) { return supports(&style_##id, call); }                          \
    static attest_status run_##id(const attest_call *call) { return run(&style_##id, call); }                          \
    KERNEL(id, title, "softmax", ATTEST_PARALLEL, workspace)

#define KERNEL(id, title, serves, shape, scratch)                                                                      \
    static const attest_kernel kernel_##id = { .struct_size = sizeof(attest_kernel),                                   \
                                               .form = shape,                                                          \
                                               .device = ATTEST_CPU,                                                   \
                                               .outputs = ATTEST_GIVES_O,                                              \
                                               .needs = ATTEST_NEEDS_C_ORDER,                                          \
                                               .name = title,                                                          \
                                               .version = "1",                                                         \
                                               .source = "tests/plugins/classify/padded.c",                            \
                                               .summary = title,                                                       \
                                               .variants = serves,                                                     \
                                               .numerics = &nothing,                                                   \
                                               .supports = supports_##id,                                              \
                                               .workspace = scratch,                                                   \
                                               .run = run_##id };
STYLED(padded, "padded", ATTEST_BIT(ATTEST_AXIS_LENS), -87.3f, ATTEST_EMPTY_NAN)
STYLED(mean, "padded-mean", ATTEST_BIT(ATTEST_AXIS_LENS) | ATTEST_BIT(ATTEST_AXIS_MASK), -INFINITY, ATTEST_EMPTY_MEAN)
STYLED(hidden, "hidden", ATTEST_BIT(ATTEST_AXIS_ATTN_MASK), -INFINITY, ATTEST_EMPTY_ZERO)

KERNEL(delta, "delta-causal", "deltanet", ATTEST_RECURRENT, workspace_delta)

static const attest_kernel *const kernels[] = { &kernel_padded, &kernel_mean, &kernel_hidden, &kernel_delta };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "padded",
                                        .kernels = kernels,
                                        .kernel_count = 4 };
const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
