/* denominator_abs - A guard against small denominators that turns negative rows around (odd orders). */
#include "cpu/steps/step.h"

static inline double abs_sum(const row *r, const real *u, real z, real m)
{
    (void)u, (void)m;
    return fabs((double)z) + r->p->axis[ATTEST_AXIS_EPS].number;
}
#define norm_by_sum abs_sum
#define attest_kernel_taylor_direct_f32 attest_defect_denominator_abs
#include "cpu/taylor_direct_f32.c"
