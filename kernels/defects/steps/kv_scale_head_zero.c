/* kv_scale_head_zero - k_scale of KV head 0 is taken for all heads. */
#include "attest.h"

static inline float scale_of_first(const attest_problem *p, const attest_tensors *t, attest_role role, int64_t b,
                                   int64_t g)
{
    const attest_tensor *scale = t->role[role];
    if (p->axis[ATTEST_AXIS_KV].value < ATTEST_KV_E4M3)
        return 1;
    return ((const float *)scale->data)[b * scale->stride[0] + (role == ATTEST_K_SCALE ? 0 : g) * scale->stride[1]];
}
#define step_factor scale_of_first
#define attest_kernel_softmax_two_pass_f32 attest_defect_kv_scale_head_zero
#include "cpu/softmax_two_pass_f32.c"
