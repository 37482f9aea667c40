/* delta_state_bf16 - the matrix lives in bf16 between tokens. */
#include "cpu/steps/states.h"

static inline void add_bf16(const state *s, const real *monomial, const real *v)
{
    state_add(s, monomial, v);
    for (int64_t at = 0; at < s->rows * s->e; at++)
        s->h[at] = step_round(ATTEST_BF16, s->h[at]);
}
#define state_add add_bf16
#define attest_kernel_delta_recurrent_f32 attest_defect_delta_state_bf16
#include "cpu/delta_recurrent_f32.c"
