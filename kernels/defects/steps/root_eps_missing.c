/* root_eps_missing - sqrt(mean u^2) alone: a row of zeros is 0/0. */
#include "cpu/steps/step.h"

static inline double bare_root(const row *r, const real *u, real m, double count)
{
    (void)m;
    double squares = 0;
    for (int64_t c = 0; c < r->p->e; c++)
        squares += (double)u[c] * (double)u[c];
    return sqrt(squares / count);
}
#define norm_by_root bare_root
#define attest_kernel_linear_recurrent_f32 attest_defect_root_eps_missing
#include "cpu/linear_recurrent_f32.c"
