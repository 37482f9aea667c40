/* eps_always - against a division by 0 that cannot be: l is 1 at least. */
#include "cpu/steps/step.h"

static inline double with_eps(const row *r, const real *u, real z, real m)
{
    const double eps = r->p->axis[ATTEST_AXIS_EPS].number;
    (void)u;
    return (double)z + (eps > 0 ? eps * exp(-(double)m) : 1e-6);
}
#define norm_by_sum with_eps
#define attest_kernel_softmax_two_pass_f32 attest_defect_eps_always
#include "cpu/softmax_two_pass_f32.c"
