/* kv_bf16_as_f16 - keys of bf16 beside queries of f32 are read as f16. */
#include "cpu/steps/token.h"

static inline const real *token_as_f16(real *buffer, const row *r, int64_t j)
{
    attest_tensor k = *r->t->role[ATTEST_K];
    int64_t b = r->b, at = j;
    if (r->p->axis[ATTEST_AXIS_KV].value == ATTEST_KV_BF16)
        k.dtype = ATTEST_F16;
    step_key_place(r->p, r->t, &b, &at);
    return token_scaled(buffer, r->p, &k, step_factor(r->p, r->t, ATTEST_K_SCALE, r->b, r->g), b, r->g, at, j);
}
#define pairs_token token_as_f16
#define attest_kernel_softmax_split_f32 attest_defect_kv_bf16_as_f16
#include "cpu/softmax_split_f32.c"
