/* filter_ge - >= for >: shows only where a score is max - TAU to the last bit. */
#include "cpu/steps/step.h"

static inline int at_least(const attest_problem *p, real s, real highest)
{
    return p->axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_NONE ||
           !(s < highest - (real)p->axis[ATTEST_AXIS_FILTER].number);
}
#define score_kept at_least
#define attest_kernel_softmax_two_pass_f32 attest_defect_filter_ge
#include "cpu/softmax_two_pass_f32.c"
