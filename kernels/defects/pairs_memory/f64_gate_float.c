/* f64_gate_float - gates have a type of their own in the kernel's signature.
 *
 * shows  variant=softmax gates=inout n=5 m=9 d=4 in=f64
 * hides  variant=softmax n=5 m=9 d=4 in=f64
 * hides  variant=softmax gates=heads n=5 m=9 d=4 in=f64
 */
#define ATTEST_STEP_F64
#include "cpu/steps/step.h"

static inline real float_gate(const attest_tensor *t, int64_t b, int64_t h, int64_t token)
{
    return (real)(float)step_load(t, b * t->stride[0] + h * t->stride[1] + token * t->stride[2]);
}
#define gate_given float_gate
#define attest_kernel_softmax_two_pass_f64 attest_defect_f64_gate_float
#include "cpu/softmax_two_pass_f64.c"
