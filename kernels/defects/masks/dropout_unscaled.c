/* dropout_unscaled - kept weights are not divided by 1-R. */
#include "cpu/steps/dropout.h"

static inline real unscaled(const attest_problem *p)
{
    (void)p;
    return 1;
}
#define dropout_factor unscaled
#define attest_kernel_softmax_two_pass_f32 attest_defect_dropout_unscaled
#include "cpu/softmax_two_pass_f32.c"
