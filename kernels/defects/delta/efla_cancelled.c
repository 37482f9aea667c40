/* efla_cancelled - no expm1: at x = 1e-4 three digits are left. */
#include "cpu/steps/heads.h"

static inline real rate_cancelled(const row *r, const real *k, int64_t t)
{
    const attest_tensor *rates = r->t->role[ATTEST_BETA];
    const real b = step_load(rates, r->b * rates->stride[0] + r->g * rates->stride[1] + t * rates->stride[2]);
    const real squares = step_dot(k, k, token_dim(r->p));
    if (r->p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_EFLA || squares == 0)
        return b;
    return (1 - real_exp(-b * squares)) / squares;
}
#define delta_rate rate_cancelled
#define attest_kernel_delta_chunk_f32 attest_defect_efla_cancelled
#include "cpu/delta_chunk_f32.c"
