/* state_cast_read - the states are kept in float but enter the product as f16: 11 bits, infinite above 65504. */
#include "cpu/steps/states.h"

static inline real read_cast(real *u, const state *s, const real *x)
{
    real z = 0;
    step_zero(u, s->e);
    for (int64_t n = 0; n < s->rows; n++) {
        z += s->z ? x[n] * step_round(ATTEST_F16, s->z[n]) : 0;
        for (int64_t c = 0; c < s->e; c++)
            u[c] += x[n] * step_round(ATTEST_F16, s->h[n * s->e + c]);
    }
    return z;
}
#define state_read read_cast
#define attest_kernel_taylor_chunk_f32 attest_defect_state_cast_read
#include "cpu/taylor_chunk_f32.c"
