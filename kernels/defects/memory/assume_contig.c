/* assume_contig - offsets are made of the shape: shows for any other layout. */
#include "attest.h"

static inline int64_t contiguous(const attest_tensor *t, int64_t b, int64_t h, int64_t i)
{
    return ((b * t->shape[1] + h) * t->shape[2] + i) * t->shape[3];
}
#define step_offset contiguous
#define attest_kernel_softmax_two_pass_f32 attest_defect_assume_contig
#include "cpu/softmax_two_pass_f32.c"
