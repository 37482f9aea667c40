/* window_from_end - what is right for decode, one query at a time, is used for a prefill. */
#include "cpu/steps/step.h"

static inline void newest(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_WINDOW].value == ATTEST_WINDOW_W)
        *first = step_max(0, length - (int64_t)p->axis[ATTEST_AXIS_WINDOW].order);
}
#define step_visible newest
#define attest_kernel_softmax_split_f32 attest_defect_window_from_end
#include "cpu/softmax_split_f32.c"
