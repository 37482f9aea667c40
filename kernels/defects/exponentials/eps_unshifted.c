/* eps_unshifted - the maximum is subtracted from the scores but not from eps. */
#include "cpu/steps/step.h"

static inline double plain_eps(const row *r, const real *u, real z, real m)
{
    (void)u;
    (void)m;
    return (double)z + r->p->axis[ATTEST_AXIS_EPS].number;
}
#define norm_by_sum plain_eps
#define attest_kernel_softmax_split_f32 attest_defect_eps_unshifted
#include "cpu/softmax_split_f32.c"
