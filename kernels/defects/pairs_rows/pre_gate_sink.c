/* pre_gate_sink - u and its sum are one row of an accumulator with a column more; without a sink the gate would
 * cancel.
 *
 * shows  variant=softmax1 gates=pre-out n=3 m=9 d=4
 * hides  variant=softmax1 gates=out n=3 m=9 d=4
 * hides  variant=softmax gates=pre-out n=3 m=9 d=4
 */
#include "cpu/steps/gates.h"

static inline double gated_sum(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    (void)u;
    if (r->p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_PRE_OUT)
        z *= gate_row(r->p, r->t, r->b, r->h, r->i);
    return (double)z + exp((double)step_load(sink, r->h * sink->stride[0]) - (double)m);
}
#define norm_by_sink gated_sum
#define attest_kernel_softmax_two_pass_f32 attest_defect_pre_gate_sink
#include "cpu/softmax_two_pass_f32.c"
