/* p_bf16 - the cast of the bf16 kernel is left in the float one. */
#include "cpu/steps/step.h"

static inline real short_weight(uint32_t dtype, real w)
{
    (void)dtype;
    return step_round(ATTEST_BF16, w);
}
#define step_round short_weight
#define attest_kernel_softmax_online_f32 attest_defect_p_bf16
#include "cpu/softmax_online_f32.c"
