/* usual_from_0 - powers h in place of h+1: the first head has the slope 1. */
#include "cpu/steps/step.h"

static inline real from_0(int64_t h, int64_t heads)
{
    int64_t powers = 1;
    while (2 * powers <= heads)
        powers *= 2;
    return exp2f(h < powers ? -8 * (real)h / (real)powers : -8 * (real)(h - powers) / (real)powers);
}
#define score_usual from_0
#define attest_kernel_softmax_two_pass_f32 attest_defect_usual_from_0
#include "cpu/softmax_two_pass_f32.c"
