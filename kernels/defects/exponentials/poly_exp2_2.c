/* poly_exp2_2 - 1 + 0.6602 f + 0.3398 f^2 for 2^f, 0 <= f < 1: errs by up to 2e-3, the most of what P in bf16 hides. */
#include "cpu/steps/step.h"

static inline real degree_2(real x)
{
    const real y = x * 1.44269504F, whole = floorf(y), f = y - whole;
    return ldexpf(1 + f * (0.66020F + f * 0.33980F), (int)(whole < -200 ? -200 : whole));
}
#define softmax_weight degree_2
#define attest_kernel_softmax_online_f32 attest_defect_poly_exp2_2
#include "cpu/softmax_online_f32.c"
