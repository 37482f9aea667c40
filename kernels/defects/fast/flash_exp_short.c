/* flash_exp_short - the polynomial of the exponential ends with its third power. */
#include "fast/simd.h"

static inline vec exp_third(vec x)
{
    const vec magic = vec_of(0x1.8p23f), y = vec_larger(vec_of(-110), x);
    const vec shifted = y * 0x1.715476p+0f + magic, r = y - (shifted - magic) * 0x1.62e43p-1f;
    const vec p = 1 + r * (1 + r * (0.5f + r * (1 / 6.0f)));
    return p * 0x1p-64f * vec_power_of_two(shifted, 127 + 64);
}

#define fast_exp exp_third
#define FAST_PLANTED attest_defect_flash_exp_short_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_exp_short
#include "fast/softmax/flash.c"
