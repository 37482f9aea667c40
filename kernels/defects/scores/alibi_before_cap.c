/* alibi_before_cap - score steps in another order: shows where both are set. */
#include "cpu/steps/step.h"

static inline real capped_bias(const row *r, real x, real slope, int64_t distance, int64_t j)
{
    const real cap = (real)r->p->axis[ATTEST_AXIS_CAP].number, clamp = (real)r->p->axis[ATTEST_AXIS_CLAMP].number;
    (void)j;
    x -= slope * (real)(distance < 0 ? -distance : distance);
    x = cap > 0 ? cap * real_tanh(x / cap) : x;
    return r->p->axis[ATTEST_AXIS_CLAMP].value == ATTEST_CLAMP_SET && x > clamp ? clamp : x;
}
#define score_chain capped_bias
#define attest_kernel_softmax_online_f32 attest_defect_alibi_before_cap
#include "cpu/softmax_online_f32.c"
