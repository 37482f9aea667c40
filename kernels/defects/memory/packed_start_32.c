/* packed_start_32 - a sequence's start wraps around after 2^31 elements: shows where tokens lie far apart. */
#include "attest.h"

static inline void wrapping(attest_tensor *t, int64_t elements)
{
    t->data = (char *)t->data + (int64_t)(int32_t)elements * (t->bits / 8);
}
#define entries_move wrapping
#define attest_kernel_softmax_split_f32 attest_defect_packed_start_32
#include "cpu/softmax_split_f32.c"
