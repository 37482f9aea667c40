/* rms_without_mean - the mean is forgotten: rms becomes l2. */
#include "cpu/steps/step.h"

static inline double root_of_sum(const row *r, const real *u, real m, double count)
{
    (void)m, (void)count;
    double squares = 0;
    for (int64_t c = 0; c < r->p->e; c++)
        squares += (double)u[c] * (double)u[c];
    return sqrt(squares + r->p->axis[ATTEST_AXIS_EPS].number);
}
#define norm_by_root root_of_sum
#define attest_kernel_taylor_split_f32 attest_defect_rms_without_mean
#include "cpu/taylor_split_f32.c"
