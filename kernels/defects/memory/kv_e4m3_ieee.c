/* kv_e4m3_ieee - e4m3 is read as IEEE types are: exponent 15 is infinity or NaN. */
#include "attest_float.h"

static inline float load_as_ieee(const attest_tensor *t, int64_t at)
{
    const uint8_t bits = t->dtype == ATTEST_F8_E4M3 ? ((const uint8_t *)t->data)[at] : 0;
    switch (t->dtype) {
    case ATTEST_F32: return ((const float *)t->data)[at];
    case ATTEST_F8_E4M3:
        return (bits & 0x78) == 0x78 ? attest_bits_f32((bits >> 7 ? 0xff800000u : 0x7f800000u) | (bits & 7u) << 20)
                                     : attest_f8_to_f32(t->dtype, bits);
    case ATTEST_F8_E5M2: return attest_f8_to_f32(t->dtype, ((const uint8_t *)t->data)[at]);
    case ATTEST_F16: return attest_f16_to_f32(((const uint16_t *)t->data)[at]);
    default: return attest_bf16_to_f32(((const uint16_t *)t->data)[at]);
    }
}
#define step_load load_as_ieee
#define attest_kernel_softmax_online_f32 attest_defect_kv_e4m3_ieee
#include "cpu/softmax_online_f32.c"
