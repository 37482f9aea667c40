/* inexact: correct kernels of which a property once asked for bits, though a function or a factor of theirs is rounded.
 *
 *   logs   power:1 pair by pair, the last first; decays are e^(sum of logs), ln 0 is -87.5, e^x 4 unit roundoffs too
 *          large
 *   power  power:P pair by pair; its pow is 2 unit roundoffs too large
 *   roots  power:2 by packed monomials, mixed ones times sqrt(2) in the features of q and of k; declared as recurrent,
 *          as such features are in use, though it keeps no state and adds pair by pair
 * f32, mask=causal with n = m, norm=sum or none; but for the schedule of roots nothing is declared.
 */
#include "attest.h"
#include <math.h>
#include <string.h>

typedef enum style { LOGS, POWER, ROOTS } style;

static float load(const attest_tensor *t, int64_t b, int64_t h, int64_t i, int64_t c)
{
    return ((const float *)t->data)[b * t->stride[0] + h * t->stride[1] + i * t->stride[2] + c * t->stride[3]];
}

static void store(const attest_tensor *t, int64_t b, int64_t h, int64_t i, int64_t c, float x)
{
    if (t)
        ((float *)t->data)[b * t->stride[0] + h * t->stride[1] + i * t->stride[2] + c * t->stride[3]] = x;
}

/* ln of the decay of token t; 0: there is none. */
static float log_decay(const attest_tensor *decay, int64_t b, int64_t g, int64_t t)
{
    if (!decay)
        return 0;
    const float a = ((const float *)decay->data)[b * decay->stride[0] + g * decay->stride[1] + t * decay->stride[2]];
    return a > 1e-38f ? logf(a) : -87.5f;
}

/* <phi(q), phi(k)>: q_a^2 k_a^2, and sqrt(2) q_a q_c sqrt(2) k_a k_c. */
static float of_monomials(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t h, int64_t i, int64_t g,
                          int64_t j)
{
    const attest_tensor *q = t->role[ATTEST_Q], *k = t->role[ATTEST_K];
    const float root = sqrtf(2);
    float sum = 0;
    for (int64_t a = 0; a < p->d; a++)
        for (int64_t c = a; c < p->d; c++) {
            const float x = load(q, b, h, i, a) * load(q, b, h, i, c), y = load(k, b, g, j, a) * load(k, b, g, j, c);
            sum += a == c ? x * y : (root * x) * (root * y);
        }
    return sum * (float)(p->scale * p->scale);
}

/* Of key j for query i; `log`: the sum of the logs of the decays of tokens j+1..i. */
static float weight(style s, const attest_problem *p, const attest_tensors *t, int64_t b, int64_t h, int64_t i,
                    int64_t g, int64_t j, float log)
{
    float dot = 0;
    if (s == ROOTS)
        return of_monomials(p, t, b, h, i, g, j);
    for (int64_t c = 0; c < p->d; c++)
        dot += load(t->role[ATTEST_Q], b, h, i, c) * load(t->role[ATTEST_K], b, g, j, c);
    dot *= (float)p->scale;
    if (s == POWER)
        return powf(dot, (float)p->axis[ATTEST_AXIS_WEIGHT].order) * (1 + 0x1p-23f);
    return log == 0 ? dot : dot * (expf(log) * (1 + 0x1p-22f));
}

static void row(style s, const attest_call *call, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    const int64_t g = h * p->hkv / p->hq;
    float *u = call->workspace, z = 0, log = 0;
    memset(u, 0, (size_t)p->e * sizeof *u);
    for (int64_t j = i; j >= 0; j--) {
        const float w = weight(s, p, t, b, h, i, g, j, log);
        log += log_decay(t->role[ATTEST_DECAY], b, g, j);
        z += w;
        for (int64_t c = 0; c < p->e; c++)
            u[c] += w * load(t->role[ATTEST_V], b, g, j, c);
    }
    store(t->role[ATTEST_Z], b, h, i, 0, z);
    for (int64_t c = 0; c < p->e; c++) {
        store(t->role[ATTEST_U], b, h, i, c, u[c]);
        store(t->role[ATTEST_O], b, h, i, c, p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE ? u[c] : u[c] / z);
    }
}

static attest_status run(style s, const attest_call *call)
{
    for (int64_t b = 0; b < call->problem->b; b++)
        for (int64_t h = 0; h < call->problem->hq; h++)
            for (int64_t i = 0; i < call->problem->n; i++)
                row(s, call, b, h, i);
    return ATTEST_OK;
}

static int supports(style s, const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT], *norm = &p->axis[ATTEST_AXIS_NORM];
    const uint64_t axes = ATTEST_BIT(ATTEST_AXIS_WEIGHT) | ATTEST_BIT(ATTEST_AXIS_NORM) | ATTEST_BIT(ATTEST_AXIS_MASK) |
                          (s == LOGS ? ATTEST_BIT(ATTEST_AXIS_DECAY) : 0);
    const int axis = attest_axis_unserved(p, axes);
    if (axis >= 0)
        return attest_refuse_axis(call, (attest_axis)axis);
    if (weight->value != ATTEST_WEIGHT_POWER || (s == LOGS ? weight->order != 1 : weight->order < 2) ||
        (s == ROOTS && weight->order != 2))
        return attest_refuse_axis(call, ATTEST_AXIS_WEIGHT);
    if (norm->value != 0 && norm->value != ATTEST_NORM_NONE)
        return attest_refuse_axis(call, ATTEST_AXIS_NORM);
    if (s == LOGS && p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_SCALAR)
        return attest_refuse_axis(call, ATTEST_AXIS_DECAY);
    if (p->in != ATTEST_F32 || p->acc != ATTEST_F32 || p->p != ATTEST_F32 || p->out != ATTEST_F32 || p->n != p->m ||
        p->axis[ATTEST_AXIS_MASK].value != ATTEST_MASK_CAUSAL)
        return attest_refuse(call, "f32, mask=causal, n = m");
    return 1;
}

static size_t workspace(const attest_call *call) { return (size_t)call->problem->e * sizeof(float); }

#define STYLE(NAME, S)                                                                                                 \
    static attest_status run_##NAME(const attest_call *call) { return run(S, call); }                                  \
    static int supports_##NAME(const attest_call *call) { return supports(S, call); }                                  \
    static const attest_numerics numerics_##NAME = { .struct_size = sizeof numerics_##NAME,                            \
                                                     .schedule = S == ROOTS ? ATTEST_SCHEDULE_RECURRENT : 0 };         \
    static const attest_kernel kernel_##NAME = { .struct_size = sizeof kernel_##NAME,                                  \
                                                 .form = S == ROOTS ? ATTEST_RECURRENT : ATTEST_PARALLEL,              \
                                                 .device = ATTEST_CPU,                                                 \
                                                 .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,               \
                                                 .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z,          \
                                                 .name = #NAME,                                                        \
                                                 .version = "1",                                                       \
                                                 .source = "tests/plugins/classify/inexact.c",                         \
                                                 .summary = "a function or a factor is rounded: " #NAME,               \
                                                 .variants = "linear simple-gla quadratic",                            \
                                                 .numerics = &numerics_##NAME,                                         \
                                                 .supports = supports_##NAME,                                          \
                                                 .workspace = workspace,                                               \
                                                 .run = run_##NAME };

STYLE(logs, LOGS)
STYLE(power, POWER)
STYLE(roots, ROOTS)

static const attest_kernel *const kernels[] = { &kernel_logs, &kernel_power, &kernel_roots };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "inexact",
                                        .kernels = kernels,
                                        .kernel_count = 3 };
const attest_library *attest_library_v2(const attest_host *host);
const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
