/* f64_cap_float - the wrong overload, in one step of a score.
 *
 * shows  variant=softmax cap=2 n=5 m=9 d=4 in=f64
 * hides  variant=softmax n=5 m=9 d=4 in=f64
 * hides  variant=softmax clamp=1 n=5 m=9 d=4 in=f64
 */
#define ATTEST_STEP_F64
#include "cpu/steps/step.h"

static inline real float_cap(real s, real cap) { return cap * (real)tanhf((float)(s / cap)); }
#define score_cap float_cap
#define attest_kernel_softmax_two_pass_f64 attest_defect_f64_cap_float
#include "cpu/softmax_two_pass_f64.c"
