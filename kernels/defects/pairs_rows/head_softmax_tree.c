/* head_softmax_tree - a reduction in pairs: right for 1, 2, 4 and 8 heads.
 *
 * shows  variant=sla hq=3 hkv=1 n=5 d=4
 * hides  variant=sla hq=4 hkv=2 n=5 d=4
 * hides  variant=linear mask=causal hq=3 hkv=1 n=5 d=4
 */
#include "cpu/steps/step.h"

static inline real in_pairs(const attest_tensor *t, int64_t b, int64_t heads, int64_t h, int64_t token)
{
    const int64_t at = b * t->stride[0] + token * t->stride[2];
    int64_t power = 1;
    real m = -(real)INFINITY, sum = 0;
    while (2 * power <= heads)
        power *= 2;
    for (int64_t x = 0; x < power; x++)
        m = step_larger(m, step_load(t, at + x * t->stride[1]));
    for (int64_t x = 0; x < power; x++)
        sum += real_exp(step_load(t, at + x * t->stride[1]) - m);
    return real_exp(step_load(t, at + h * t->stride[1]) - m) / sum;
}
#define gate_heads in_pairs
#define attest_kernel_linear_recurrent_f32 attest_defect_head_softmax_tree
#include "cpu/linear_recurrent_f32.c"
