/* ftz_f16_inputs - the conversion of halves below 2^-14 is left to a path that is not there. */
#include "attest.h"
#include "attest_float.h"
#include <math.h>

static inline float normals_only(const attest_tensor *t, int64_t at)
{
    if (t->dtype == ATTEST_F32)
        return ((const float *)t->data)[at];
    const float x = (float)attest_to_f64(t->dtype, ((const uint16_t *)t->data)[at]);
    return t->dtype == ATTEST_F16 && fabsf(x) < 0x1p-14F ? 0 : x;
}
#define step_load normals_only
#define attest_kernel_softmax_online_f32 attest_defect_ftz_f16_inputs
#include "cpu/softmax_online_f32.c"
