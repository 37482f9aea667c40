/* exp_bits - 2^f taken as 1 + f, centred: 3 % error, and what is below 2^-126 is 0. */
#include "cpu/steps/step.h"

static inline real line(real x)
{
    const real bits = 12102203.0F * x + 1064866805.0F;
    return bits <= 0 ? 0 : attest_bits_f32((uint32_t)bits);
}
#define softmax_weight line
#define attest_kernel_softmax_online_bf16 attest_defect_exp_bits
#include "cpu/softmax_online_bf16.c"
