/* layernorm_unbiased - A library's std is the unbiased one: sqrt(sum (u-mean)^2/(e-1)). */
#include "cpu/steps/step.h"

static inline double unbiased_root(const row *r, const real *u, real m, double count)
{
    const uint32_t norm = r->p->axis[ATTEST_AXIS_NORM].value;
    const int centered = norm == ATTEST_NORM_LAYERNORM || norm == ATTEST_NORM_LENGTH_LAYERNORM;
    double squares = 0;
    (void)m;
    for (int64_t c = 0; c < r->p->e; c++)
        squares += (double)u[c] * (double)u[c];
    return sqrt(squares / (count - centered) + r->p->axis[ATTEST_AXIS_EPS].number);
}
#define norm_by_root unbiased_root
#define attest_kernel_linear_recurrent_f32 attest_defect_layernorm_unbiased
#include "cpu/linear_recurrent_f32.c"
