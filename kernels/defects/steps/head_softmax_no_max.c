/* head_softmax_no_max - logits of heads above 88 overflow. */
#include "cpu/steps/step.h"

static inline real unshifted_softmax(const attest_tensor *t, int64_t b, int64_t heads, int64_t h, int64_t token)
{
    const int64_t at = b * t->stride[0] + token * t->stride[2];
    real sum = 0;
    for (int64_t x = 0; x < heads; x++)
        sum += real_exp(step_load(t, at + x * t->stride[1]));
    return real_exp(step_load(t, at + h * t->stride[1])) / sum;
}
#define gate_heads unshifted_softmax
#define attest_kernel_linear_recurrent_f32 attest_defect_head_softmax_no_max
#include "cpu/linear_recurrent_f32.c"
