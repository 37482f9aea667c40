/* order_seven_centered - the shifted series has a table of eight coefficients.
 *
 * shows  variant=taylor:10 center=mid n=5 m=9 d=4 family=range:6
 * hides  variant=taylor:7 center=mid n=5 m=9 d=4 family=range:6
 * hides  variant=taylor:10 n=5 m=9 d=4 family=range:6
 */
#include "cpu/steps/poly.h"

static inline real eight_terms(const attest_problem *p, const attest_setting *weight, real x)
{
    attest_setting w = *weight;
    if (p->axis[ATTEST_AXIS_CENTER].value && w.order > 7)
        w.order = 7;
    return poly_weight(&w, x);
}
#define poly_weight(weight, x) eight_terms(p, weight, x) /* p: the problem, where weights are summed */
#define attest_kernel_taylor_direct_f32 attest_defect_order_seven_centered
#include "cpu/taylor_direct_f32.c"
