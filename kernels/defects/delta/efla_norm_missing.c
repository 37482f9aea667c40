/* efla_norm_missing - right for keys of length 1. */
#include "cpu/steps/heads.h"

static inline real rate_without_norm(const row *r, const real *k, int64_t t)
{
    const attest_tensor *rates = r->t->role[ATTEST_BETA];
    const real b = step_load(rates, r->b * rates->stride[0] + r->g * rates->stride[1] + t * rates->stride[2]);
    const real squares = step_dot(k, k, token_dim(r->p));
    if (r->p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_EFLA || squares == 0)
        return b;
    return -expm1f(-b) / squares;
}
#define delta_rate rate_without_norm
#define attest_kernel_delta_recurrent_f32 attest_defect_efla_norm_missing
#include "cpu/delta_recurrent_f32.c"
