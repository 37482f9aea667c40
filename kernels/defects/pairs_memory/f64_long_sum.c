/* f64_long_sum - long rows are added up by another routine.
 *
 * shows  variant=softmax n=2 m=260 d=4 in=f64
 * hides  variant=softmax n=2 m=256 d=4 in=f64
 * hides  variant=softmax n=2 m=9 d=4 in=f64
 */
#define ATTEST_STEP_F64
#include "cpu/steps/step.h"

static inline real float_if_long(const attest_problem *p, real w) { return p->m > 256 ? (real)(float)w : w; }
#define softmax_counted float_if_long
#define attest_kernel_softmax_two_pass_f64 attest_defect_f64_long_sum
#include "cpu/softmax_two_pass_f64.c"
