/* gamma_assumed - 1 - 2^(-5-h), as in the paper, whatever the tensor of decays says. */
#include "cpu/steps/decay.h"

static inline real usual_gamma(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t g, int64_t token)
{
    const int retnet = p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_RETNET;
    return retnet ? 1 - exp2f(-5 - (real)g) : decay_token(p, t, b, g, token);
}
#define decay_token usual_gamma
#define attest_kernel_delta_recurrent_f32 attest_defect_gamma_assumed
#include "cpu/delta_recurrent_f32.c"
