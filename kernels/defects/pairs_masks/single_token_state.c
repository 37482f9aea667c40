/* single_token_state - one key has all the weight: true only if nothing came before it.
 *
 * shows  variant=taylor:2 state=draw n=1 m=1 d=3
 * hides  variant=taylor:2 state=draw n=2 m=2 d=3
 * passes variant=taylor:2 n=1 m=1 d=3
 */
#include "cpu/steps/norms.h"

static inline void value_itself(const row *r, real *u, real z, real c)
{
    const attest_tensor *v = r->t->role[ATTEST_V];
    norm_finish(r, u, z, c);
    if (r->p->n == 1 && r->last - r->first == 1 && r->p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_SUM)
        for (int64_t n = 0; n < r->p->e; n++)
            step_store_row(r, ATTEST_O, n, step_load(v, step_offset(v, r->b, r->g, 0) + n * v->stride[3]));
}
#define norm_finish value_itself
#define attest_kernel_taylor_recurrent_f32 attest_defect_single_token_state
#include "cpu/taylor_recurrent_f32.c"
