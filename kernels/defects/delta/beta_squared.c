/* beta_squared - the rate enters with k and again with the written value. */
#include "cpu/steps/delta.h"

static inline void write_twice_rated(real *w, real *buffer, const row *r, const real *k, int64_t t)
{
    delta_write(w, buffer, r, k, t);
    for (int64_t c = 0; c < r->p->e; c++)
        w[c] *= delta_rate(r, k, t);
}
#define delta_write write_twice_rated
#define attest_kernel_delta_chunk_f32 attest_defect_beta_squared
#include "cpu/delta_chunk_f32.c"
