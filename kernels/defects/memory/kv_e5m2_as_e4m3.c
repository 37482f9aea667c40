/* kv_e5m2_as_e4m3 - keys and values of e5m2 are read as e4m3. */
#include "attest_float.h"

static inline float load_as_e4m3(const attest_tensor *t, int64_t at)
{
    switch (t->dtype) {
    case ATTEST_F32: return ((const float *)t->data)[at];
    case ATTEST_F8_E4M3:
    case ATTEST_F8_E5M2: return attest_f8_to_f32(ATTEST_F8_E4M3, ((const uint8_t *)t->data)[at]);
    case ATTEST_F16: return attest_f16_to_f32(((const uint16_t *)t->data)[at]);
    default: return attest_bf16_to_f32(((const uint16_t *)t->data)[at]);
    }
}
#define step_load load_as_e4m3
#define attest_kernel_softmax_split_f32 attest_defect_kv_e5m2_as_e4m3
#include "cpu/softmax_split_f32.c"
