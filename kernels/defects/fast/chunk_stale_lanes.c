/* chunk_stale_lanes - a value row keeps the lanes of the token that stood there before, beside the 1 of z. */
#include "fast/rows.h"

static inline void value_by_fours(float *v, float *buffer, const row *r, int64_t t)
{
    const float *value = fast_value(buffer, r->p, r->t, r->b, r->g, t);
    memcpy(v, value, sizeof *v * (size_t)(r->p->e < LANES ? r->p->e : r->p->e / LANES * LANES));
    for (int64_t c = r->p->e / LANES * LANES; c < r->p->e; c++)
        v[c] = v[r->p->e] == 1 ? v[c] : value[c];
    v[r->p->e] = 1;
}

#define columns_value value_by_fours
#define FAST_PLANTED attest_defect_chunk_stale_lanes_run
#define attest_kernel_taylor_chunk_fast_f32 attest_defect_chunk_stale_lanes
#include "fast/taylor/chunked.c"
