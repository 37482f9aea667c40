/* tail_dropped - four keys at a time, and the loop for the rest is missing. */
#include "cpu/steps/step.h"

static inline void fours(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (*last - *first >= 4)
        *last = *first + (*last - *first) / 4 * 4;
}
#define step_visible fours
#define attest_kernel_softmax_two_pass_f32 attest_defect_tail_dropped
#include "cpu/softmax_two_pass_f32.c"
