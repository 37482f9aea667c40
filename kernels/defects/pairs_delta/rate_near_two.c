/* rate_near_two - rates are taken to stay where the update contracts; the path for the tail checks it.
 *
 * shows  variant=deltanet feature=unit hq=8 n=7 d=4 chunk=4
 * hides  variant=deltanet feature=unit hq=8 n=8 d=4 chunk=4
 * hides  variant=deltanet feature=silu hq=8 n=7 d=4 chunk=4
 */
#include "cpu/steps/heads.h"

static inline real cut_in_tail(const row *r, int64_t t)
{
    const attest_tensor *rates = r->t->role[ATTEST_BETA];
    const real b = step_load(rates, r->b * rates->stride[0] + r->g * rates->stride[1] + t * rates->stride[2]);
    const uint32_t feature = r->p->axis[ATTEST_AXIS_FEATURE].value;
    const int unit = feature == ATTEST_FEATURE_UNIT || feature == ATTEST_FEATURE_SILU_UNIT;
    return unit && t >= r->p->m / r->p->chunk * r->p->chunk && b > (real)1.75 ? (real)1.75 : b;
}
#define delta_given cut_in_tail
#define attest_kernel_delta_chunk_f32 attest_defect_rate_near_two
#include "cpu/delta_chunk_f32.c"
