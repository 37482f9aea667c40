/* kv_e5m2_top_finite - e5m2's infinity is read by the rule of its neighbours, as 65536; a NaN stays one. */
#include "attest_float.h"

static inline float load_finite(const attest_tensor *t, int64_t at)
{
    const uint8_t bits = t->bits == 8 ? ((const uint8_t *)t->data)[at] : 0;
    switch (t->dtype) {
    case ATTEST_F32: return ((const float *)t->data)[at];
    case ATTEST_F8_E4M3: return attest_f8_to_f32(t->dtype, bits);
    case ATTEST_F8_E5M2:
        return (bits & 0x7f) != 0x7c ? attest_f8_to_f32(t->dtype, bits) : bits == 0x7c ? 65536 : -65536;
    case ATTEST_F16: return attest_f16_to_f32(((const uint16_t *)t->data)[at]);
    default: return attest_bf16_to_f32(((const uint16_t *)t->data)[at]);
    }
}
#define step_load load_finite
#define attest_kernel_softmax_split_f32 attest_defect_kv_e5m2_top_finite
#include "cpu/softmax_split_f32.c"
