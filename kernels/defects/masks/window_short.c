/* window_short - i - j < W-1 for i - j < W: the oldest key of the window is lost. */
#include "cpu/steps/step.h"

static inline void shorter(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_WINDOW].value == ATTEST_WINDOW_W)
        *first = step_max(0, step_position(p, length, i) - (int64_t)p->axis[ATTEST_AXIS_WINDOW].order + 2);
}
#define step_visible shorter
#define attest_kernel_softmax_split_f32 attest_defect_window_short
#include "cpu/softmax_split_f32.c"
