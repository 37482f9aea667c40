/* causal_align - the diagonal of every causal mask ends at the last key, which a top-left mask does not say. */
#include "attest.h"

static inline int64_t bottom_right(const attest_problem *p, int64_t length, int64_t i)
{
    return p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_FULL ? i : i + length - p->n;
}
#define step_position bottom_right
#define attest_kernel_softmax_online_f32 attest_defect_causal_align
#include "cpu/softmax_online_f32.c"
