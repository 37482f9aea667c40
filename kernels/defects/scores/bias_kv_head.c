/* bias_kv_head - grouped query heads read the bias of their KV head: shows where there are fewer KV heads. */
#include "cpu/steps/step.h"

static inline real grouped_bias(const row *r, int64_t j)
{
    const attest_tensor *t = r->t->role[ATTEST_BIAS];
    const int64_t b = t->shape[0] > 1 ? r->b : 0, h = t->shape[1] > 1 ? r->g : 0;
    return step_load(t, step_offset(t, b, h, r->i) + j * t->stride[3]);
}
#define score_bias grouped_bias
#define attest_kernel_softmax_online_f32 attest_defect_bias_kv_head
#include "cpu/softmax_online_f32.c"
