/* head_stride_assumed - rows may be padded, but heads are taken to follow each other. */
#include "attest.h"

static inline int64_t heads_in_order(const attest_tensor *t, int64_t b, int64_t h, int64_t i)
{
    return b * t->stride[0] + h * t->shape[2] * t->stride[2] + i * t->stride[2];
}
#define step_offset heads_in_order
#define attest_kernel_taylor_direct_f32 attest_defect_head_stride_assumed
#include "cpu/taylor_direct_f32.c"
