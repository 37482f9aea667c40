/* window_long - i - j <= W for i - j < W: one key too many on the left. */
#include "cpu/steps/step.h"

static inline void longer(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (*first > 0)
        *first -= 1;
}
#define step_visible longer
#define attest_kernel_softmax_online_f32 attest_defect_window_long
#include "cpu/softmax_online_f32.c"
