/* causal_align_flip - the offset of the diagonal never is negative: shows for more queries than keys. */
#include "attest.h"

static inline int64_t never_negative(const attest_problem *p, int64_t length, int64_t i)
{
    const int64_t offset = length > p->n ? length - p->n : 0;
    return p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR ? i + offset : i;
}
#define step_position never_negative
#define attest_kernel_softmax_split_f32 attest_defect_causal_align_flip
#include "cpu/softmax_split_f32.c"
