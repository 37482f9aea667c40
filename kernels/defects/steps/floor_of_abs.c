/* floor_of_abs - A negative z below -F should be lifted to F. */
#include "cpu/steps/step.h"

static inline double abs_floor(const row *r, const real *u, real z, real m)
{
    (void)u, (void)m;
    return fmax(fabs((double)z), r->p->axis[ATTEST_AXIS_NORM].number);
}
#define norm_by_floor abs_floor
#define attest_kernel_linear_recurrent_f32 attest_defect_floor_of_abs
#include "cpu/linear_recurrent_f32.c"
