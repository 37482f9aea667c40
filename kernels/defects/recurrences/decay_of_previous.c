/* decay_of_previous - decays lag one token behind: no difference with one gamma. */
#include "cpu/steps/heads.h"

static inline void decay_late(const state *s, real *x, const row *r, int64_t t)
{
    if (heads_before(r, t))
        heads_decay(s, x, r, step_max(t - 1, heads_given(r->p) ? 0 : 1));
}
#define heads_decay decay_late
#define attest_kernel_linear_recurrent_f32 attest_defect_decay_of_previous
#include "cpu/linear_recurrent_f32.c"
