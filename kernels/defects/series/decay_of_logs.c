/* decay_of_logs - differences of a growing sum lose digits as it grows; a decay of 0 makes both infinite, their
 * difference a NaN. */
#include "cpu/steps/decay.h"

static inline real sum_of_logs(const row *r, int64_t last)
{
    real sum = 0;
    for (int64_t t = 0; t <= last; t++)
        sum += real_log(decay_token(r->p, r->t, r->b, r->g, t));
    return sum;
}

static inline void decay_logs(real *D, const row *r)
{
    const real end = sum_of_logs(r, r->i);
    for (int64_t j = r->first; j < r->last; j++)
        D[j - r->first] = real_exp(end - sum_of_logs(r, j));
}
#define decay_row decay_logs
#define attest_kernel_taylor_direct_f32 attest_defect_decay_of_logs
#include "cpu/taylor_direct_f32.c"
