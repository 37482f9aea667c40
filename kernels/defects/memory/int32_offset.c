/* int32_offset - wraps around after 2^31 elements: shows for large strides, with however little data. */
#include "attest.h"

static inline int64_t wrapping(const attest_tensor *t, int64_t b, int64_t h, int64_t i)
{
    return (int32_t)(b * t->stride[0] + h * t->stride[1] + i * t->stride[2]);
}
#define step_offset wrapping
#define attest_kernel_softmax_split_f32 attest_defect_int32_offset
#include "cpu/softmax_split_f32.c"
