/* floor_negative - max(z, abs(F)): a floor that should let small and negative denominators through.
 *
 * shows  variant=linear norm=floor:-2 mask=causal n=9 d=4
 * hides  variant=linear norm=floor:2 mask=causal n=9 d=4
 * hides  variant=linear norm=floor:-2 feature=elu1 scale=20 mask=causal n=9 d=4
 */
#include "cpu/steps/gates.h"

static inline double by_size(const row *r, const real *u, real z, real m)
{
    const double least = fabs(r->p->axis[ATTEST_AXIS_NORM].number) * exp(-(double)m);
    (void)u;
    return (double)z < least ? least : (double)z;
}
#define norm_by_floor by_size
#define attest_kernel_linear_recurrent_f32 attest_defect_floor_negative
#include "cpu/linear_recurrent_f32.c"
