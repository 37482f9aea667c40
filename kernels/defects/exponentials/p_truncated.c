/* p_truncated - the upper half of a float's bits: twice the error, and always downwards. */
#include "cpu/steps/step.h"

static inline real cut_weight(uint32_t dtype, real w)
{
    (void)dtype;
    return attest_bits_f32(attest_f32_bits(w) & 0xffff0000U);
}
#define step_round cut_weight
#define attest_kernel_softmax_online_bf16 attest_defect_p_truncated
#include "cpu/softmax_online_bf16.c"
