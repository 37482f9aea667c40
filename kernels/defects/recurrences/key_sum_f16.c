/* key_sum_f16 - only the denominator's state is short: its numerator is right. */
#include "cpu/steps/states.h"

static inline void add_short_keys(const state *s, const real *monomial, const real *v)
{
    state_add(s, monomial, v);
    for (int64_t at = 0; s->z && at < s->rows; at++)
        s->z[at] = step_round(ATTEST_F16, s->z[at]);
}
#define state_add add_short_keys
#define attest_kernel_linear_recurrent_f32 attest_defect_key_sum_f16
#include "cpu/linear_recurrent_f32.c"
