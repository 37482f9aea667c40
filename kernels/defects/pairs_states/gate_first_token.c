/* gate_first_token - the first token after a resume is written by a path without gates.
 *
 * shows  variant=linear gates=in state=draw mask=causal n=5 d=4
 * hides  variant=linear gates=in mask=causal n=5 d=4
 * hides  variant=linear state=draw mask=causal n=5 d=4
 */
#include "cpu/steps/heads.h"

static inline const real *after_resume(real *buffer, const row *r, int64_t t)
{
    const uint32_t gates = r->p->axis[ATTEST_AXIS_GATES].value;
    if (t == 0 && heads_given(r->p) && (gates == ATTEST_GATES_IN || gates == ATTEST_GATES_INOUT))
        return step_row(buffer, r->t->role[ATTEST_V], r->b, r->g, t, r->p->e);
    return heads_value(buffer, r, t);
}
#define heads_value after_resume
#define attest_kernel_linear_recurrent_f32 attest_defect_gate_first_token
#include "cpu/linear_recurrent_f32.c"
