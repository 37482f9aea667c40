/* causal_leak - the end of the visible keys, exclusive already, gets one added once more. */
#include "cpu/steps/step.h"

static inline void leaking(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_MASK].value != ATTEST_MASK_FULL)
        *last = step_min(length, *last + 1);
}
#define step_visible leaking
#define attest_kernel_softmax_two_pass_f32 attest_defect_causal_leak
#include "cpu/softmax_two_pass_f32.c"
