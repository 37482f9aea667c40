/* dot_float - a double kernel that calls the float dot product. */
#define ATTEST_STEP_F64
#include "cpu/steps/step.h"

static inline real float_sum(real scale, const real *q, const real *k, int64_t d)
{
    float sum = 0;
    for (int64_t c = 0; c < d; c++)
        sum += (float)(q[c] * k[c]);
    return scale * (real)sum;
}
#define step_score float_sum
#define attest_kernel_softmax_two_pass_f64 attest_defect_dot_float
#include "cpu/softmax_two_pass_f64.c"
