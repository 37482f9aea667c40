/* padding_weight_one - A padding key of zeros has score 0, and T_P(0) is 1, not 0: the denominator counts it. */
#include "cpu/steps/norms.h"
#include "cpu/steps/poly.h"

static inline void finish_padded(const row *r, real *u, real z, real c)
{
    const int64_t padding = (4 - (r->last - r->first) % 4) % 4;
    norm_finish(r, u, z + (real)padding * poly_weight(&r->p->axis[ATTEST_AXIS_WEIGHT], 0 - c), c);
}
#define norm_finish finish_padded
#define attest_kernel_taylor_direct_f32 attest_defect_padding_weight_one
#include "cpu/taylor_direct_f32.c"
