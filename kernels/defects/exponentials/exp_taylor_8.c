/* exp_taylor_8 - good to float for x > -2, wrong by percents from -16 on: a range that a short test never reaches. */
#include "cpu/steps/step.h"

static inline real eight_terms(real x)
{
    const real y = x < -80 ? -20 : x / 4;
    real t = 1;
    for (int n = 8; n > 0; n--)
        t = 1 + y / (real)n * t;
    return x < -24 ? 0 : t * t * t * t;
}
#define softmax_weight eight_terms
#define attest_kernel_softmax_two_pass_f32 attest_defect_exp_taylor_8
#include "cpu/softmax_two_pass_f32.c"
