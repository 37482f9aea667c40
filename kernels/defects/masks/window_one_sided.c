/* window_one_sided - mask=full: j - i < W is forgotten beside i - j < W. */
#include "cpu/steps/step.h"

static inline void past_only(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_FULL)
        *last = length;
}
#define step_visible past_only
#define attest_kernel_softmax_split_f32 attest_defect_window_one_sided
#include "cpu/softmax_split_f32.c"
