/* state_f16 - the state lives in f16 between tokens, with 11 bits and nothing above 65504. */
#include "cpu/steps/states.h"

static inline void add_rounded(const state *s, const real *monomial, const real *v)
{
    state_add(s, monomial, v);
    for (int64_t at = 0; at < s->rows * s->e; at++)
        s->h[at] = step_round(ATTEST_F16, s->h[at]);
    for (int64_t at = 0; s->z && at < s->rows; at++)
        s->z[at] = step_round(ATTEST_F16, s->z[at]);
}
#define state_add add_rounded
#define attest_kernel_linear_recurrent_f32 attest_defect_state_f16
#include "cpu/linear_recurrent_f32.c"
