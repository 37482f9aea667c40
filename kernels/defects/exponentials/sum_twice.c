/* sum_twice - l starts with the maximum's own 1, and its turn in the loop adds it again. */
#include "cpu/steps/step.h"

static inline void with_one(real *l, real *u, int64_t e)
{
    *l = 1;
    step_zero(u, e);
}
#define softmax_begin with_one
#define attest_kernel_softmax_two_pass_f32 attest_defect_sum_twice
#include "cpu/softmax_two_pass_f32.c"
