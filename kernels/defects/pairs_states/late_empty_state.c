/* late_empty_state - a batch entry of length 0: nothing was taken in, so nothing is walked back.
 *
 * shows  variant=retnet state=draw lens=draw b=8 n=3 d=4 seed=3
 * hides  variant=retnet state=draw b=8 n=3 d=4 seed=3
 * hides  variant=linear mask=causal state=draw lens=draw b=8 n=3 d=4 seed=3
 * hides  variant=retnet lens=draw b=8 n=3 d=4 seed=3
 */
#include "cpu/steps/heads.h"

static inline void nothing_taken(real *f, real *x, const row *r)
{
    attest_problem p = *r->p;
    row at = *r;
    if (r->last == 0 && heads_given(r->p))
        p.axis[ATTEST_AXIS_DECAY].value = ATTEST_DECAY_NONE;
    at.p = &p;
    heads_query(f, x, &at);
}
#define heads_query nothing_taken
#define attest_kernel_taylor_recurrent_f32 attest_defect_late_empty_state
#include "cpu/taylor_recurrent_f32.c"
