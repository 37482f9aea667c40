/* lse_layout - o has its heads in the right place, lse not. */
#include "cpu/steps/step.h"

static inline void lse_by_token(const row *r, attest_role role, int64_t c, real x)
{
    const attest_tensor *t = r->t->role[role];
    if (t && role == ATTEST_LSE)
        step_store(t, r->b * t->stride[0] + r->i * t->shape[1] + r->h, x);
    else
        step_store_row(r, role, c, x);
}
#define step_store_row lse_by_token
#define attest_kernel_softmax_online_f32 attest_defect_lse_layout
#include "cpu/softmax_online_f32.c"
