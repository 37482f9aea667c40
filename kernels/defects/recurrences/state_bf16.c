/* state_bf16 - the states live in bf16 between tokens: 1 + 1/256 is 1, and a long sum stops growing. */
#include "cpu/steps/states.h"

static inline void add_rounded(const state *s, const real *monomial, const real *v)
{
    state_add(s, monomial, v);
    for (int64_t at = 0; at < s->rows * s->e; at++)
        s->h[at] = step_round(ATTEST_BF16, s->h[at]);
    for (int64_t at = 0; s->z && at < s->rows; at++)
        s->z[at] = step_round(ATTEST_BF16, s->z[at]);
}
#define state_add add_rounded
#define attest_kernel_taylor_recurrent_f32 attest_defect_state_bf16
#include "cpu/taylor_recurrent_f32.c"
