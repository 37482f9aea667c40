/* acc_f16 - every addition rounds to 11 digits, and overflows at 65504. */
#include "cpu/steps/step.h"

static inline void half_sums(real *u, real w, const real *v, int64_t e)
{
    for (int64_t c = 0; c < e; c++)
        u[c] = step_round(ATTEST_F16, u[c] + w * v[c]);
}
#define step_add_value half_sums
#define attest_kernel_softmax_online_f32 attest_defect_acc_f16
#include "cpu/softmax_online_f32.c"
