/* beta_only_erased - the new value is written in full. */
#include "cpu/steps/delta.h"

static inline void write_in_full(real *w, real *buffer, const row *r, const real *k, int64_t t)
{
    const real b = delta_rate(r, k, t), *v = heads_value(buffer, r, t);
    for (int64_t c = 0; c < r->p->e; c++)
        w[c] = v[c] - b * w[c];
}
#define delta_write write_in_full
#define attest_kernel_delta_parallel_f32 attest_defect_beta_only_erased
#include "cpu/delta_parallel_f32.c"
