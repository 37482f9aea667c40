/* lens_zeroed_keys - invisible keys are made zero instead of left out; T_P(0) = 1 of each stays in the denominator. */
#include "cpu/steps/norms.h"
#include "cpu/steps/poly.h"

static inline void finish_zeroed(const row *r, real *u, real z, real c)
{
    const int64_t zeroed = r->p->m - step_length(r->p, r->t, r->b);
    norm_finish(r, u, z + (real)zeroed * poly_weight(&r->p->axis[ATTEST_AXIS_WEIGHT], 0 - c), c);
}
#define norm_finish finish_zeroed
#define attest_kernel_taylor_split_f32 attest_defect_lens_zeroed_keys
#include "cpu/taylor_split_f32.c"
