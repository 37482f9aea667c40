/* center_max_for_zero - the shift of softmax, which changes nothing there, is applied to T_P, which it changes. */
#include "cpu/steps/step.h"

static inline real always_maximum(const attest_problem *p, const real *s, int64_t keys)
{
    real high = s[0];
    (void)p;
    for (int64_t j = 1; j < keys; j++)
        high = step_larger(high, s[j]);
    return high;
}
#define direct_center always_maximum
#define attest_kernel_taylor_direct_f32 attest_defect_center_max_for_zero
#include "cpu/taylor_direct_f32.c"
