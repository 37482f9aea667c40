/* bf16_scale_narrow - the scale is rounded to bf16 before it multiplies the scores. */
#include "fast/dot.h"

#include "attest_float.h"

static inline vec scale_narrow(vec s, float scale)
{
    return s * vec_of(attest_bits_f32((uint32_t)fast_bf16(scale) << 16));
}

#define flash_scale scale_narrow
#define FAST_PLANTED attest_defect_bf16_scale_narrow_run
#define attest_kernel_softmax_flash_bf16 attest_defect_bf16_scale_narrow
#include "fast/softmax/flash_bf16.c"
