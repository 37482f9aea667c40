/* out_through_f16 - the buffer in which grouped rows are gathered has the type of the inputs.
 *
 * shows  variant=softmax hq=2 hkv=1 n=3 m=5 d=4 in=f16 out=f32
 * hides  variant=softmax hq=2 hkv=2 n=3 m=5 d=4 in=f16 out=f32
 * hides  variant=softmax hq=2 hkv=1 n=3 m=5 d=4 in=f16
 * hides  variant=softmax hq=2 hkv=1 n=3 m=5 d=4
 */
#include "cpu/steps/step.h"

static inline void gathered(const row *r, attest_role role, int64_t c, real x)
{
    const attest_problem *p = r->p;
    const int half = role == ATTEST_O && p->in == ATTEST_F16 && p->out == ATTEST_F32 && p->hq > p->hkv;
    step_store_row(r, role, c, half ? step_round(ATTEST_F16, x) : x);
}
#define step_store_row gathered
#define attest_kernel_softmax_online_f32 attest_defect_out_through_f16
#include "cpu/softmax_online_f32.c"
