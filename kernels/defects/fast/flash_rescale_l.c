/* flash_rescale_l - the sum of weights is not rescaled, those of values are. */
#include "fast/simd.h"

static inline vec join_unscaled(vec l, float alpha, vec part)
{
    (void)alpha;
    return l + part;
}

#define flash_join join_unscaled
#define FAST_PLANTED attest_defect_flash_rescale_l_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_rescale_l
#include "fast/softmax/flash.c"
