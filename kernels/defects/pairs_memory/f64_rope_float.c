/* f64_rope_float - one table of rotations for both types.
 *
 * shows  variant=softmax rope=10000 n=5 m=9 d=6 in=f64
 * hides  variant=softmax n=5 m=9 d=6 in=f64
 * hides  variant=softmax rope=10000 n=1 m=1 d=2 in=f64
 */
#define ATTEST_STEP_F64
#include "cpu/steps/step.h"

static inline double float_angle(const attest_problem *p, int64_t position, int64_t c)
{
    return (double)((float)position * powf((float)p->axis[ATTEST_AXIS_ROPE].number, -2 * (float)c / (float)p->d));
}
#define token_angle float_angle
#define attest_kernel_softmax_two_pass_f64 attest_defect_f64_rope_float
#include "cpu/softmax_two_pass_f64.c"
