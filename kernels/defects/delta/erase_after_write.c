/* erase_after_write - S := S + k b v, then S := S - k b (k S): the new value is partly erased. */
#include "cpu/steps/delta.h"

static inline void erase_new_too(real *w, real *buffer, const row *r, const real *k, int64_t t)
{
    const real b = delta_rate(r, k, t), *v = heads_value(buffer, r, t), squares = step_dot(k, k, token_dim(r->p));
    for (int64_t c = 0; c < r->p->e; c++)
        w[c] = b * (v[c] - (w[c] + squares * b * v[c]));
}
#define delta_write erase_new_too
#define attest_kernel_delta_recurrent_f32 attest_defect_erase_after_write
#include "cpu/delta_recurrent_f32.c"
