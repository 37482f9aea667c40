/* ftz_weights - seen only where such a weight is not lost beside 1 anyway. */
#include "cpu/steps/step.h"

static inline real flushed(real x)
{
    const real w = real_exp(x);
    return w < 0x1p-126F ? 0 : w;
}
#define softmax_weight flushed
#define attest_kernel_softmax_two_pass_f32 attest_defect_ftz_weights
#include "cpu/softmax_two_pass_f32.c"
