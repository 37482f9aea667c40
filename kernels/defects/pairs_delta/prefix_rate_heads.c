/* prefix_rate_heads - the prefix is written by another launch, which loses the head.
 *
 * shows  variant=deltanet mask=causal-br hq=2 n=5 m=9 d=4
 * hides  variant=deltanet mask=causal-br hq=1 n=5 m=9 d=4
 * hides  variant=deltanet mask=causal-br hq=2 n=9 m=9 d=4
 * hides  variant=deltanet mask=causal hq=2 n=5 m=9 d=4
 */
#include "cpu/steps/heads.h"

static inline real of_head_zero(const row *r, int64_t t)
{
    const attest_tensor *rates = r->t->role[ATTEST_BETA];
    const int prefix = r->p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR && t < r->p->m - r->p->n;
    return step_load(rates, r->b * rates->stride[0] + (prefix ? 0 : r->g) * rates->stride[1] + t * rates->stride[2]);
}
#define delta_given of_head_zero
#define attest_kernel_delta_parallel_f32 attest_defect_prefix_rate_heads
#include "cpu/delta_parallel_f32.c"
