/* decay_time_first - the axes of heads and tokens are swapped: right with one head. */
#include "cpu/steps/decay.h"

static inline real swapped_axes(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t g, int64_t token)
{
    const attest_tensor *a = t->role[ATTEST_DECAY];
    if (p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_SCALAR)
        return decay_token(p, t, b, g, token);
    return step_load(a, b * a->stride[0] + (token * p->hkv + g) * a->stride[2]);
}
#define decay_token swapped_axes
#define attest_kernel_linear_recurrent_f32 attest_defect_decay_time_first
#include "cpu/linear_recurrent_f32.c"
