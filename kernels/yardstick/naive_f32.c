/* naive_f32.c - the plain loop float kernel that fast code is compared with; a yardstick, not a built-in kernel.
 *
 * Formula    o_i = sum_j W(s_ij) v_j / sum_j W(s_ij), s_ij = scale <q_i, k_j> over the visible keys;
 *            W(s) = e^(s - max s), or T_P(s) by Horner's rule.
 * Algorithm  per row: all scores, their maximum, weights and their sum, then the values.  Plain loops in unit stride,
 *            -O3 without fast-math: sums stay in order, so that only the loop over channels of v is vectorised.
 * Errors     float throughout: score gamma_(d+1) and the scale's rounding, s - m one rounding, expf below 1 ulp, sums
 *            gamma_N, one division.
 */
#include "yardstick/heads.h"
#include <math.h>
#include <stdio.h>

static int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const int f32 = p->in == ATTEST_F32 && p->acc == ATTEST_F32 && p->p == ATTEST_F32 && p->out == ATTEST_F32;
    const char *reason = f32 ? NULL : "only f32 is served";
    if (attest_axis_unserved(p, ATTEST_BIT(ATTEST_AXIS_MASK) | ATTEST_BIT(ATTEST_AXIS_WEIGHT)) >= 0 ||
        p->axis[ATTEST_AXIS_WEIGHT].value > ATTEST_WEIGHT_TAYLOR ||
        p->axis[ATTEST_AXIS_MASK].value > ATTEST_MASK_CAUSAL_BR)
        reason = "only softmax and taylor:P are served, with any mask and no other axis";
    return reason ? attest_refuse(call, reason) : 1;
}

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (size_t)p->m * sizeof(float);
}

/* s_j = e^(s_j - m); returns their sum. */
static float exponentials(float *restrict s, float m, int64_t keys)
{
    float l = 0;
    for (int64_t j = 0; j < keys; j++) {
        s[j] = expf(s[j] - m);
        l += s[j];
    }
    return l;
}

/* s_j = T_P(s_j) by Horner's rule with 1/n! from a table; returns their sum. */
static float series(float *restrict s, int64_t keys, int order)
{
    float c[ATTEST_MAX_ORDER + 1] = { 1 }, l = 0;
    for (int n = 1; n <= order; n++)
        c[n] = c[n - 1] / (float)n;
    for (int64_t j = 0; j < keys; j++) {
        float w = c[order];
        for (int n = order - 1; n >= 0; n--)
            w = w * s[j] + c[n];
        s[j] = w;
        l += w;
    }
    return l;
}

/* All rows of one head, each tensor a matrix in C order; s [m].  Not inlined: gcc forgets `restrict` there, and with it
 * to vectorise the loop over channels, which makes the whole 1.6 times slower. */
__attribute__((noinline)) static void one_head(const attest_problem *p, float *restrict o, const float *restrict q,
                                               const float *restrict k, const float *restrict v, float *restrict s)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const float scale = (float)p->scale;
    const int64_t d = p->d, e = p->e;
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t keys = yard_visible(p, i);
        float m = -INFINITY;
        for (int64_t j = 0; j < keys; j++) {
            float dot = 0;
            for (int64_t c = 0; c < d; c++)
                dot += q[i * d + c] * k[j * d + c];
            s[j] = scale * dot;
            if (s[j] > m)
                m = s[j];
        }
        const float l = weight->value == ATTEST_WEIGHT_EXP ? exponentials(s, m, keys)
                                                           : series(s, keys, (int)weight->order);
        for (int64_t c = 0; c < e; c++)
            o[i * e + c] = 0;
        for (int64_t j = 0; j < keys; j++)
            for (int64_t c = 0; c < e; c++)
                o[i * e + c] += s[j] * v[j * e + c];
        for (int64_t c = 0; c < e && keys > 0; c++)
            o[i * e + c] /= l;
    }
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    for (int64_t head = 0; head < p->b * p->hq; head++) {
        yard_head x;
        if (!yard_head_of(&x, p, t, head))
            return ATTEST_UNSUPPORTED;
        one_head(p, x.o, x.q, x.k, x.v, call->workspace);
    }
    return ATTEST_OK;
}

static const attest_numerics numerics = { .struct_size = sizeof numerics };

const attest_kernel attest_kernel_naive_f32 = {
    .struct_size = sizeof attest_kernel_naive_f32,
    .form = ATTEST_PARALLEL,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O,
    .name = "naive-f32",
    .version = "1",
    .source = "kernels/yardstick/naive_f32.c",
    .summary = "scores, maximum, expf, sum, values: plain loops in float",
    .variants = "softmax taylor:P",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
