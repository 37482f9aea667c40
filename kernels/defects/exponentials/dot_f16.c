/* dot_f16 - the matrix unit's half accumulator: every addition rounds to 11 digits. */
#include "cpu/steps/step.h"

static inline real half_sum(real scale, const real *q, const real *k, int64_t d)
{
    real sum = 0;
    for (int64_t c = 0; c < d; c++)
        sum = step_round(ATTEST_F16, sum + q[c] * k[c]);
    return scale * sum;
}
#define step_score half_sum
#define attest_kernel_softmax_online_f32 attest_defect_dot_f16
#include "cpu/softmax_online_f32.c"
