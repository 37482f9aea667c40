/* attn_mask_first_batch - a mask of its own for each batch entry is read as if all shared the first one's. */
#include "cpu/steps/step.h"

static inline void of_first(row *r)
{
    row other = *r;
    other.b = 0;
    step_narrow(&other);
    other.b = r->b;
    *r = other;
}
#define step_narrow of_first
#define attest_kernel_taylor_direct_f32 attest_defect_attn_mask_first_batch
#include "cpu/taylor_direct_f32.c"
