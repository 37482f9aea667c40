/* head_softmax_over_time - the axis next to it is taken: the gate of a token needs all later tokens. */
#include "cpu/steps/step.h"

static inline real softmax_over_time(const attest_tensor *t, int64_t b, int64_t heads, int64_t h, int64_t token)
{
    const int64_t at = b * t->stride[0] + h * t->stride[1];
    real m = -(real)INFINITY, sum = 0;
    (void)heads;
    for (int64_t x = 0; x < t->shape[2]; x++)
        m = step_larger(m, step_load(t, at + x * t->stride[2]));
    for (int64_t x = 0; x < t->shape[2]; x++)
        sum += real_exp(step_load(t, at + x * t->stride[2]) - m);
    return real_exp(step_load(t, at + token * t->stride[2]) - m) / sum;
}
#define gate_heads softmax_over_time
#define attest_kernel_taylor_split_f32 attest_defect_head_softmax_over_time
#include "cpu/taylor_split_f32.c"
