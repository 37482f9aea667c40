/* gate_in_denominator - gin k for k: the same numerator, and a denominator that must not know the gate. */
#include "cpu/steps/heads.h"

static inline const real *gated_key(real *buffer, const row *r, int64_t t)
{
    const real gin = gate_value(r->p, r->t, r->b, r->g, t), *k = heads_key(buffer, r, t);
    for (int64_t c = 0; c < token_dim(r->p); c++)
        buffer[c] = gin * k[c];
    return buffer;
}
static inline const real *bare_value(real *buffer, const row *r, int64_t t)
{
    return step_row(buffer, r->t->role[ATTEST_V], r->b, r->g, t, r->p->e);
}
#define heads_key gated_key
#define heads_value bare_value
#define attest_kernel_linear_recurrent_f32 attest_defect_gate_in_denominator
#include "cpu/linear_recurrent_f32.c"
