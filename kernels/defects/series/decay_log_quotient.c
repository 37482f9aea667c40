/* decay_log_quotient - e^(sum of logarithms up to i) times e^-(sum up to j): 0 times infinity once sums are large. */
#include "cpu/steps/decay.h"

static inline real sum_up_to(const row *r, int64_t last)
{
    const attest_tensor *a = r->t->role[ATTEST_DECAY];
    real sum = 0;
    for (int64_t t = 0; t <= last; t++)
        sum += step_load(a, r->b * a->stride[0] + r->g * a->stride[1] + t * a->stride[2]);
    return sum;
}

static inline void quotient_of_sums(real *D, const row *r)
{
    if (!r->p->axis[ATTEST_AXIS_DECAY_INPUT].value) {
        decay_row(D, r);
        return;
    }
    const real end = real_exp(sum_up_to(r, r->i));
    for (int64_t j = r->first; j < r->last; j++)
        D[j - r->first] = end * real_exp(-sum_up_to(r, j));
}
#define decay_row quotient_of_sums
#define attest_kernel_taylor_direct_f32 attest_defect_decay_log_quotient
#include "cpu/taylor_direct_f32.c"
