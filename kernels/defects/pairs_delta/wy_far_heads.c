/* wy_far_heads - the offset of a head and of a block share a register.
 *
 * shows  variant=deltanet feature=unit hq=2 n=70 d=16
 * hides  variant=deltanet feature=unit hq=2 n=65 d=16
 * hides  variant=deltanet feature=unit hq=2 hkv=1 n=70 d=16
 */
#include "cpu/steps/chunk.h"

static inline real near_tokens(chunk *a, real *u, real *x, real f, const row *r, double scale)
{
    const int64_t dim = token_dim(r->p);
    const real z = chunk_read(a, u, x, f, r, scale);
    for (int64_t j = 0; u != a->u && r->g > 0 && !r->p->axis[ATTEST_AXIS_DECAY].value && j < a->count - 64; j++)
        step_add_value(u, -step_dot(x, a->k + j * dim, dim), a->v + j * r->p->e, r->p->e);
    return z;
}
#define chunk_read near_tokens
#define attest_kernel_delta_parallel_f32 attest_defect_wy_far_heads
#include "cpu/delta_parallel_f32.c"
