/* alibi_slope_head - grouped query heads share one slope: shows where there are fewer KV heads. */
#include "cpu/steps/step.h"

static inline real score_usual(int64_t h, int64_t heads);

static inline real shared_slope(const row *r)
{
    const attest_tensor *slopes = r->t->role[ATTEST_SLOPE];
    const uint32_t alibi = r->p->axis[ATTEST_AXIS_ALIBI].value;
    if (alibi == ATTEST_ALIBI_USUAL)
        return score_usual(r->h, r->p->hq);
    return alibi ? step_load(slopes, r->g * slopes->stride[0]) : 0;
}
#define score_slope shared_slope
#define attest_kernel_softmax_online_f32 attest_defect_alibi_slope_head
#include "cpu/softmax_online_f32.c"
