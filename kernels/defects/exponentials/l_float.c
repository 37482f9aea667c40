/* l_float - sums of weights go through a float variable, those of values do not. */
#define ATTEST_STEP_F64
#include "cpu/steps/step.h"

static inline real through_float(const attest_problem *p, real w)
{
    (void)p;
    return (real)(float)w;
}
#define softmax_counted through_float
#define attest_kernel_softmax_two_pass_f64 attest_defect_l_float
#include "cpu/softmax_two_pass_f64.c"
