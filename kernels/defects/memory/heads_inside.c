/* heads_inside - rows and heads change places: the same where there is one head. */
#include "attest.h"

static inline int64_t token_major(const attest_tensor *t, int64_t b, int64_t h, int64_t i)
{
    return ((b * t->shape[2] + i) * t->shape[1] + h) * t->shape[3];
}
#define step_offset token_major
#define attest_kernel_softmax_split_f32 attest_defect_heads_inside
#include "cpu/softmax_split_f32.c"
