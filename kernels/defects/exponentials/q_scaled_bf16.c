/* q_scaled_bf16 - exact where scale is a power of two, an extra 2^-9 in every product elsewhere. */
#include "cpu/steps/step.h"

static inline real scaled_query(real scale, const real *q, const real *k, int64_t d)
{
    real sum = 0;
    for (int64_t c = 0; c < d; c++)
        sum += step_round(ATTEST_BF16, scale * q[c]) * k[c];
    return sum;
}
#define step_score scaled_query
#define attest_kernel_softmax_online_bf16 attest_defect_q_scaled_bf16
#include "cpu/softmax_online_bf16.c"
