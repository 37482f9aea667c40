/* beta_only_written - the old value is erased in full. */
#include "cpu/steps/delta.h"

static inline void erase_in_full(real *w, real *buffer, const row *r, const real *k, int64_t t)
{
    const real b = delta_rate(r, k, t), *v = heads_value(buffer, r, t);
    for (int64_t c = 0; c < r->p->e; c++)
        w[c] = b * v[c] - w[c];
}
#define delta_write erase_in_full
#define attest_kernel_delta_recurrent_f32 attest_defect_beta_only_written
#include "cpu/delta_recurrent_f32.c"
