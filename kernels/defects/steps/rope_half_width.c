/* rope_half_width - the frequencies are spread over half the width: they fall twice as fast. */
#include "cpu/steps/step.h"

static inline double angle_of_half(const attest_problem *p, int64_t position, int64_t c)
{
    return (double)position * pow(p->axis[ATTEST_AXIS_ROPE].number, -2.0 * (double)c / (double)(p->d / 2));
}
#define token_angle angle_of_half
#define attest_kernel_taylor_recurrent_f32 attest_defect_rope_half_width
#include "cpu/taylor_recurrent_f32.c"
