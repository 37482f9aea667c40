/* merge_lse_f16 - weights of parts err by 2^-11 abs(lse), and lse above 65504 is infinite. */
#include "cpu/steps/softmax.h"

static real half_lse(const row *r, const sums *part)
{
    (void)r;
    return step_round(ATTEST_F16, softmax_lse(part));
}
#define split_lse half_lse
#define attest_kernel_softmax_split_f32 attest_defect_merge_lse_f16
#include "cpu/softmax_split_f32.c"
