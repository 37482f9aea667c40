/* mean_over_d - the width of the keys stands for that of the values: right where they are equal. */
#include "cpu/steps/step.h"

static inline double root_over_d(const row *r, const real *u, real m, double count)
{
    (void)m;
    double squares = 0;
    for (int64_t c = 0; c < r->p->e; c++)
        squares += (double)u[c] * (double)u[c];
    return sqrt(squares / (count > 1 ? (double)r->p->d : 1) + r->p->axis[ATTEST_AXIS_EPS].number);
}
#define norm_by_root root_over_d
#define attest_kernel_taylor_recurrent_f32 attest_defect_mean_over_d
#include "cpu/taylor_recurrent_f32.c"
