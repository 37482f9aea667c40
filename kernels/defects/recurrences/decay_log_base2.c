/* decay_log_base2 - a stored logarithm of a decay is taken for one of base 2. */
#include "cpu/steps/step.h"

static inline real of_base_two(const attest_problem *p, real stored)
{
    return p->axis[ATTEST_AXIS_DECAY_INPUT].value ? exp2f(stored) : stored;
}
#define decay_factor of_base_two
#define attest_kernel_linear_recurrent_f32 attest_defect_decay_log_base2
#include "cpu/linear_recurrent_f32.c"
