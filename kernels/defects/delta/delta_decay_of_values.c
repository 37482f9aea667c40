/* delta_decay_of_values - the factors run along the wrong axis of the state. */
#include "cpu/steps/states.h"

static inline void decay_columns(const state *s, const real *a)
{
    for (int64_t n = 0; n < s->rows; n++)
        for (int64_t c = 0; c < s->e; c++)
            s->h[n * s->e + c] *= a[c % s->rows];
}
#define state_decay_rows decay_columns
#define attest_kernel_delta_recurrent_f32 attest_defect_delta_decay_of_values
#include "cpu/delta_recurrent_f32.c"
