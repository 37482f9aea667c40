/* h0_not_decayed - decays start with the second token: right from zero, wrong from a given state. */
#include "cpu/steps/heads.h"

static inline void decay_from_second(const state *s, real *x, const row *r, int64_t t)
{
    if (t > 0)
        heads_decay(s, x, r, t);
}
#define heads_decay decay_from_second
#define attest_kernel_taylor_packed_f32 attest_defect_h0_not_decayed
#include "cpu/taylor_packed_f32.c"
