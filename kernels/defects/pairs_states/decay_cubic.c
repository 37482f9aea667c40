/* decay_cubic - the update is written out for degrees 0, 1 and 2, and the loop for the others forgets the decay.
 *
 * shows  variant=taylor:3 decay=retnet mask=causal n=9 d=3
 * hides  variant=taylor:2 decay=retnet mask=causal n=9 d=3
 * hides  variant=taylor:3 mask=causal n=9 d=3
 */
#include "cpu/steps/heads.h"

static inline void low_degrees(const state *s, real *x, const row *r, int64_t t)
{
    const int64_t dim = token_dim(r->p);
    if (s->rows <= dim * dim)
        heads_decay(s, x, r, t);
}
#define heads_decay low_degrees
#define attest_kernel_taylor_recurrent_f32 attest_defect_decay_cubic
#include "cpu/taylor_recurrent_f32.c"
