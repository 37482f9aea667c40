/* weight_bf16 - the weight passes through a bf16 register, as before a tensor core, though problem.p says float. */
#include "cpu/steps/poly.h"

static inline real bf16_weight(const attest_setting *weight, real x)
{
    return step_round(ATTEST_BF16, poly_weight(weight, x));
}
#define poly_weight bf16_weight
#define attest_kernel_taylor_direct_f32 attest_defect_weight_bf16
#include "cpu/taylor_direct_f32.c"
