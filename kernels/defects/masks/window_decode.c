/* window_decode - fewer queries than keys: the window of the first query lies at the start of the cache. */
#include "cpu/steps/step.h"

static inline void from_start(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_WINDOW].value == ATTEST_WINDOW_W)
        *first = step_max(0, i - (int64_t)p->axis[ATTEST_AXIS_WINDOW].order + 1);
}
#define step_visible from_start
#define attest_kernel_softmax_two_pass_f32 attest_defect_window_decode
#include "cpu/softmax_two_pass_f32.c"
