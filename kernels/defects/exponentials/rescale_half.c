/* rescale_half - alpha shares a register type with P: every rescaling errs by up to 2^-12. */
#include "cpu/steps/step.h"

static inline real half_factor(real m, real new_m)
{
    return m == -(real)INFINITY ? 0 : step_round(ATTEST_F16, real_exp(m - new_m));
}
#define softmax_rescale half_factor
#define attest_kernel_softmax_online_f32 attest_defect_rescale_half
#include "cpu/softmax_online_f32.c"
