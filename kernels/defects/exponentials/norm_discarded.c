/* norm_discarded - o is the sum itself, its denominator is used nowhere. */
#include "cpu/steps/step.h"

static inline double undivided(const row *r, const real *u, real z, real m)
{
    (void)r;
    (void)u;
    (void)z;
    return exp(-(double)m);
}
#define norm_by_sum undivided
#define attest_kernel_softmax_two_pass_f32 attest_defect_norm_discarded
#include "cpu/softmax_two_pass_f32.c"
