/* scale_once - the scale multiplies the readout of a degree once, not n times: right at degree 1 and at scale 1. */
#include "cpu/steps/step.h"

static inline double scale_to_the_first(const attest_problem *p, double scale, uint32_t n)
{
    double c = n > 0 ? scale : 1;
    for (uint32_t i = 1; p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_POWER && i <= n; i++)
        c /= i;
    return c;
}
#define degrees_coefficient scale_to_the_first
#define attest_kernel_taylor_recurrent_f32 attest_defect_scale_once
#include "cpu/taylor_recurrent_f32.c"
