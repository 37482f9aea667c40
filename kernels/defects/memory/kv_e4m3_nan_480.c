/* kv_e4m3_nan_480 - e4m3's NaN is read by the rule of its neighbours, as 480. */
#include "attest_float.h"

static inline float load_all_finite(const attest_tensor *t, int64_t at)
{
    const uint8_t bits = t->bits == 8 ? ((const uint8_t *)t->data)[at] : 0;
    switch (t->dtype) {
    case ATTEST_F32: return ((const float *)t->data)[at];
    case ATTEST_F8_E4M3: return (bits & 0x7f) != 0x7f ? attest_f8_to_f32(t->dtype, bits) : bits == 0x7f ? 480 : -480;
    case ATTEST_F8_E5M2: return attest_f8_to_f32(t->dtype, bits);
    case ATTEST_F16: return attest_f16_to_f32(((const uint16_t *)t->data)[at]);
    default: return attest_bf16_to_f32(((const uint16_t *)t->data)[at]);
    }
}
#define step_load load_all_finite
#define attest_kernel_softmax_two_pass_f32 attest_defect_kv_e4m3_nan_480
#include "cpu/softmax_two_pass_f32.c"
