/* taylor_gate_in_z - the input gate of a token multiplies the 1 of its denominator too. */
#include "fast/rows.h"

static inline void gated_value(float *v, float *buffer, const row *r, int64_t t)
{
    const float *value = fast_value(buffer, r->p, r->t, r->b, r->g, t);
    memcpy(v, value, sizeof *v * (size_t)r->p->e);
    v[r->p->e] = gate_value(r->p, r->t, r->b, r->g, t);
}

#define columns_value gated_value
#define FAST_PLANTED attest_defect_taylor_gate_in_z_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_gate_in_z
#include "fast/taylor/packed.c"
