/* rescale_l_forgotten - shows in every row with two tiles and a larger score in the second. */
#include "cpu/steps/step.h"

static inline real not_rescaled(real l, real alpha, real part)
{
    (void)alpha;
    return l + part;
}
#define softmax_join_l not_rescaled
#define attest_kernel_softmax_online_bf16 attest_defect_rescale_l_forgotten
#include "cpu/softmax_online_bf16.c"
