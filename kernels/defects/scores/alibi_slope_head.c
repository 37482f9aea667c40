/* alibi_slope_head - grouped query heads share one slope: shows where there are fewer KV heads. */
#include "cpu/steps/step.h"

static inline real shared_slope(const row *r)
{
    const attest_tensor *slopes = r->t->role[ATTEST_SLOPE];
    const int alibi = r->p->axis[ATTEST_AXIS_ALIBI].value == ATTEST_ALIBI_DRAW;
    return alibi ? step_load(slopes, r->g * slopes->stride[0]) : 0;
}
#define score_slope shared_slope
#define attest_kernel_softmax_online_f32 attest_defect_alibi_slope_head
#include "cpu/softmax_online_f32.c"
