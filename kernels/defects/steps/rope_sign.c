/* rope_sign - the rotation of the other hand: cosines of the distance are right, sines are not. */
#include "cpu/steps/step.h"

static inline double negative_angle(const attest_problem *p, int64_t position, int64_t c)
{
    return -(double)position * pow(p->axis[ATTEST_AXIS_ROPE].number, -2.0 * (double)c / (double)p->d);
}
#define token_angle negative_angle
#define attest_kernel_delta_recurrent_f32 attest_defect_rope_sign
#include "cpu/delta_recurrent_f32.c"
