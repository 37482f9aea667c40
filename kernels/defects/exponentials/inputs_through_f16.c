/* inputs_through_f16 - more digits, less range: above 65504 infinite, below 2^-24 gone. */
#include "attest.h"
#include "attest_float.h"

static inline float by_way_of_half(const attest_tensor *t, int64_t at)
{
    if (t->dtype == ATTEST_F32)
        return ((const float *)t->data)[at];
    const double x = attest_to_f64(t->dtype, ((const uint16_t *)t->data)[at]);
    return (float)attest_to_f64(ATTEST_F16, attest_from_f64(ATTEST_F16, x));
}
#define step_load by_way_of_half
#define attest_kernel_softmax_online_bf16 attest_defect_inputs_through_f16
#include "cpu/softmax_online_bf16.c"
