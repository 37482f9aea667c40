/* attn_mask_kv_head - grouped query heads read the mask of their KV head: shows where there are fewer KV heads. */
#include "cpu/steps/step.h"

static inline void by_group(row *r)
{
    row other = *r;
    other.h = r->g;
    step_narrow(&other);
    other.h = r->h;
    *r = other;
}
#define step_narrow by_group
#define attest_kernel_softmax_online_f32 attest_defect_attn_mask_kv_head
#include "cpu/softmax_online_f32.c"
