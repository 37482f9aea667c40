/* h0_decayed_twice - the given state is decayed when it is read, and again with the first token. */
#include "cpu/steps/heads.h"

static inline void decay_first_twice(const state *s, real *x, const row *r, int64_t t)
{
    heads_decay(s, x, r, t);
    if (t == 0)
        heads_decay(s, x, r, t);
}
#define heads_decay decay_first_twice
#define attest_kernel_linear_recurrent_f32 attest_defect_h0_decayed_twice
#include "cpu/linear_recurrent_f32.c"
