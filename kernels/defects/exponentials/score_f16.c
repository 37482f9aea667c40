/* score_f16 - 11 digits of a score are an error of e^s of 2^-11 abs(s); above 65504 infinite. */
#include "cpu/steps/step.h"

static inline real half_score(real scale, const real *q, const real *k, int64_t d)
{
    return step_round(ATTEST_F16, step_score(scale, q, k, d));
}
#define step_score half_score
#define attest_kernel_softmax_two_pass_f32 attest_defect_score_f16
#include "cpu/softmax_two_pass_f32.c"
