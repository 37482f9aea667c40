/* efla_as_delta - the argument is accepted and ignored. */
#include "cpu/steps/heads.h"

static inline real plain_rate(const row *r, const real *k, int64_t t)
{
    const attest_tensor *rates = r->t->role[ATTEST_BETA];
    (void)k;
    return step_load(rates, r->b * rates->stride[0] + r->g * rates->stride[1] + t * rates->stride[2]);
}
#define delta_rate plain_rate
#define attest_kernel_delta_chunk_f32 attest_defect_efla_as_delta
#include "cpu/delta_chunk_f32.c"
