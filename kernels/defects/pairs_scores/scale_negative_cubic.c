/* scale_negative_cubic - c_n by pow(abs(scale), n): odd degrees lose the sign.
 *
 * shows  variant=taylor:4 scale=-0.3 mask=causal n=9 d=3
 * hides  variant=taylor:4 scale=0.3 mask=causal n=9 d=3
 * hides  variant=taylor:2 scale=-0.3 mask=causal n=9 d=3
 */
#include "cpu/steps/heads.h"

static inline double without_sign(const attest_problem *p, double scale, uint32_t n)
{
    const double x = n >= 3 ? fabs(scale) : scale;
    double c = 1;
    for (uint32_t i = 1; i <= n; i++)
        c *= p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_POWER ? x : x / i;
    return c;
}
#define degrees_coefficient without_sign
#define attest_kernel_taylor_packed_f32 attest_defect_scale_negative_cubic
#include "cpu/taylor_packed_f32.c"
