/* score_bf16 - the unfused order, product to memory first: e^s errs by 2^-9 abs(s). */
#include "cpu/steps/step.h"

static inline real short_score(real scale, const real *q, const real *k, int64_t d)
{
    return step_round(ATTEST_BF16, step_score(scale, q, k, d));
}
#define step_score short_score
#define attest_kernel_softmax_online_bf16 attest_defect_score_bf16
#include "cpu/softmax_online_bf16.c"
