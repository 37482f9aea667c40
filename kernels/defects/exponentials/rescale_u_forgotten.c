/* rescale_u_forgotten - shows in every row with two tiles and a larger score in the second. */
#include "cpu/steps/step.h"

static inline real not_rescaled(real u, real alpha, real part)
{
    (void)alpha;
    return u + part;
}
#define softmax_join_u not_rescaled
#define attest_kernel_softmax_online_f32 attest_defect_rescale_u_forgotten
#include "cpu/softmax_online_f32.c"
