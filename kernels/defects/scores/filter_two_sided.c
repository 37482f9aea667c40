/* filter_two_sided - TAU is taken for the full width of a band with the maximum in its middle. */
#include "cpu/steps/step.h"

static inline int in_band(const attest_problem *p, real s, real highest)
{
    return p->axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_NONE ||
           !(s <= highest - (real)p->axis[ATTEST_AXIS_FILTER].number / 2);
}
#define score_kept in_band
#define attest_kernel_softmax_two_pass_f32 attest_defect_filter_two_sided
#include "cpu/softmax_two_pass_f32.c"
