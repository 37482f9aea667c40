/* chunk_scale_zero - a product with 0 is skipped: right for every degree but the lowest.
 *
 * shows  variant=taylor:2 scale=0 mask=causal n=9 d=3 chunk=4
 * hides  variant=taylor:2 scale=0 mask=causal n=4 d=3 chunk=4
 * hides  variant=taylor:2 mask=causal n=9 d=3 chunk=4
 */
#include "cpu/steps/degrees.h"

static inline real nothing_of_zero(const degrees *a, real *u, const real *x, real f, const attest_problem *p,
                                   double scale)
{
    return scale == 0 ? 0 : degrees_read(a, u, x, f, p, scale);
}
#define degrees_read nothing_of_zero
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_scale_zero
#include "cpu/taylor_chunk_f32.c"
