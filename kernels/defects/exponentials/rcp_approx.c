/* rcp_approx - the fast reciprocal without its Newton step. */
#include "cpu/steps/step.h"

static inline void by_reciprocal(real *u, double divisor, int64_t e)
{
    const real reciprocal = attest_bits_f32(attest_f32_bits((real)(1 / divisor)) & 0xfffff000U);
    for (int64_t c = 0; c < e; c++)
        u[c] *= reciprocal;
}
#define norm_divide by_reciprocal
#define attest_kernel_softmax_split_f32 attest_defect_rcp_approx
#include "cpu/softmax_split_f32.c"
