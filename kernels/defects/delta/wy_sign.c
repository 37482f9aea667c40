/* wy_sign - (I - A) w = b v is solved instead of (I + A) w = b v. */
#include "cpu/steps/delta.h"

static inline void add_old(real *w, real *buffer, const row *r, const real *k, int64_t t)
{
    const real b = delta_rate(r, k, t), *v = heads_value(buffer, r, t);
    for (int64_t c = 0; c < r->p->e; c++)
        w[c] = b * (v[c] + w[c]);
}
#define delta_write add_old
#define attest_kernel_delta_parallel_f32 attest_defect_wy_sign
#include "cpu/delta_parallel_f32.c"
