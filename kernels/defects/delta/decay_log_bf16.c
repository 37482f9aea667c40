/* decay_log_bf16 - a stored logarithm of a decay is rounded to bf16 before its exponential. */
#include "cpu/steps/step.h"

static inline real of_rounded(const attest_problem *p, real stored)
{
    return p->axis[ATTEST_AXIS_DECAY_INPUT].value ? real_exp(step_round(ATTEST_BF16, stored)) : stored;
}
#define decay_factor of_rounded
#define attest_kernel_delta_recurrent_f32 attest_defect_decay_log_bf16
#include "cpu/delta_recurrent_f32.c"
