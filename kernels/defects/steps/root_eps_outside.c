/* root_eps_outside - sqrt(mean u^2) + eps: larger than sqrt(mean u^2 + eps) only where u is small. */
#include "cpu/steps/step.h"

static inline double root_then_eps(const row *r, const real *u, real m, double count)
{
    (void)m;
    double squares = 0;
    for (int64_t c = 0; c < r->p->e; c++)
        squares += (double)u[c] * (double)u[c];
    return sqrt(squares / count) + r->p->axis[ATTEST_AXIS_EPS].number;
}
#define norm_by_root root_then_eps
#define attest_kernel_taylor_split_f32 attest_defect_root_eps_outside
#include "cpu/taylor_split_f32.c"
