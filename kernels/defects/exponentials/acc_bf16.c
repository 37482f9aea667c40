/* acc_bf16 - every addition rounds to 8 digits: small weights are lost beside the sum so far. */
#include "cpu/steps/step.h"

static inline void short_sums(real *u, real w, const real *v, int64_t e)
{
    for (int64_t c = 0; c < e; c++)
        u[c] = step_round(ATTEST_BF16, u[c] + w * v[c]);
}
#define step_add_value short_sums
#define attest_kernel_softmax_online_bf16 attest_defect_acc_bf16
#include "cpu/softmax_online_bf16.c"
