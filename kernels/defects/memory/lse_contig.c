/* lse_contig - o goes by its strides, lse does not. */
#include "cpu/steps/step.h"

static inline void store_contiguous_lse(const row *r, attest_role role, int64_t c, real x)
{
    const attest_tensor *t = r->t->role[role];
    if (t && role == ATTEST_LSE)
        step_store(t, (r->b * t->shape[1] + r->h) * t->shape[2] + r->i, x);
    else
        step_store_row(r, role, c, x);
}
#define step_store_row store_contiguous_lse
#define attest_kernel_softmax_online_bf16 attest_defect_lse_contig
#include "cpu/softmax_online_bf16.c"
