/* kv_scale_near_one - a v_scale that is within a quarter of 1 is left out. */
#include "attest.h"

static inline float scale_or_one(const attest_problem *p, const attest_tensors *t, attest_role role, int64_t b,
                                 int64_t g)
{
    const attest_tensor *scale = t->role[role];
    if (p->axis[ATTEST_AXIS_KV].value < ATTEST_KV_E4M3)
        return 1;
    const float x = ((const float *)scale->data)[b * scale->stride[0] + g * scale->stride[1]];
    return role == ATTEST_V_SCALE && x > 0.75f && x < 1.25f ? 1 : x;
}
#define step_factor scale_or_one
#define attest_kernel_softmax_online_f32 attest_defect_kv_scale_near_one
#include "cpu/softmax_online_f32.c"
