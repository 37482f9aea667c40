/* rate_near_one - rate 1 and unit keys make an exact projection, which has a path of its own that is taken too often.
 *
 * shows  variant=deltanet feature=unit hq=4 n=33 d=4
 * hides  variant=deltanet feature=silu hq=4 n=33 d=4
 * hides  variant=deltanet feature=unit n=3 d=4
 */
#include "cpu/steps/heads.h"

static inline real projection(const row *r, int64_t t)
{
    const attest_tensor *rates = r->t->role[ATTEST_BETA];
    const real b = step_load(rates, r->b * rates->stride[0] + r->g * rates->stride[1] + t * rates->stride[2]);
    const uint32_t feature = r->p->axis[ATTEST_AXIS_FEATURE].value;
    const int unit = feature == ATTEST_FEATURE_UNIT || feature == ATTEST_FEATURE_SILU_UNIT;
    return unit && fabsf(b - 1) < (real)0x1p-5 ? 1 : b;
}
#define delta_given projection
#define attest_kernel_delta_recurrent_f32 attest_defect_rate_near_one
#include "cpu/delta_recurrent_f32.c"
