/* erase_missing - w = b v: the same for the first token, and for orthogonal keys. */
#include "cpu/steps/delta.h"

static inline void only_write(real *w, real *buffer, const row *r, const real *k, int64_t t)
{
    const real b = delta_rate(r, k, t), *v = heads_value(buffer, r, t);
    for (int64_t c = 0; c < r->p->e; c++)
        w[c] = b * v[c];
}
#define delta_write only_write
#define attest_kernel_delta_recurrent_f32 attest_defect_erase_missing
#include "cpu/delta_recurrent_f32.c"
