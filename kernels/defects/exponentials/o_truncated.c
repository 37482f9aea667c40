/* o_truncated - the last step of all, to zero instead of to nearest. */
#include "attest.h"
#include "attest_float.h"

static inline void store_cut(const attest_tensor *t, int64_t at, float x)
{
    if (t->dtype == ATTEST_F32)
        ((float *)t->data)[at] = x;
    else
        ((uint16_t *)t->data)[at] = (uint16_t)(attest_f32_bits(x) >> 16);
}
#define step_store store_cut
#define attest_kernel_softmax_online_bf16 attest_defect_o_truncated
#include "cpu/softmax_online_bf16.c"
