/* cubic_f16 - powers are formed in the type of the inputs: two degrees have a path of their own.
 *
 * shows  variant=taylor:4 n=5 m=9 d=4 in=f16 out=f32
 * hides  variant=taylor:2 n=5 m=9 d=4 in=f16 out=f32
 * hides  variant=taylor:4 n=5 m=9 d=4
 */
#include "cpu/steps/poly.h"

static inline real half_powers(const attest_problem *p, const attest_setting *weight, real x)
{
    return poly_weight(weight, p->in == ATTEST_F16 && weight->order >= 3 ? step_round(ATTEST_F16, x) : x);
}
#define poly_weight(weight, x) half_powers(p, weight, x) /* p: the problem, where weights are summed */
#define attest_kernel_taylor_direct_f32 attest_defect_cubic_f16
#include "cpu/taylor_direct_f32.c"
