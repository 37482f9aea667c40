/* state_before_first_key - rows without key are skipped as in softmax; a given state speaks in them too.
 *
 * shows  variant=linear state=draw mask=causal-br n=9 m=5 d=4
 * hides  variant=linear state=draw mask=causal-br n=5 m=9 d=4
 * hides  variant=linear mask=causal-br n=9 m=5 d=4
 */
#include "cpu/steps/heads.h"

static inline void nothing_yet(real *f, real *x, const row *r)
{
    heads_query(f, x, r);
    if (r->last == 0)
        *f = 0;
}
#define heads_query nothing_yet
#define attest_kernel_linear_recurrent_f32 attest_defect_state_before_first_key
#include "cpu/linear_recurrent_f32.c"
