/* wy_fourth_block - the inverse of the triangle by blocks of 16: the corner block is forgotten.
 *
 * shows  variant=deltanet feature=unit n=60 d=4 chunk=64 m=64 mask=causal-br
 * hides  variant=deltanet feature=unit n=60 d=4 chunk=32 m=64 mask=causal-br
 * hides  variant=deltanet feature=unit n=48 d=4 chunk=64
 * hides  variant=gdn feature=unit n=64 d=4 chunk=64
 */
#include "cpu/steps/chunk.h"

static inline real no_corner(chunk *a, real *u, real *x, real f, const row *r, double scale)
{
    const int64_t dim = token_dim(r->p);
    const real z = chunk_read(a, u, x, f, r, scale);
    if (u == a->u || a->size < 64 || a->count < 48 || r->p->axis[ATTEST_AXIS_DECAY].value)
        return z;
    for (int64_t j = 0; j < 16; j++)
        step_add_value(u, -step_dot(x, a->k + j * dim, dim), a->v + j * r->p->e, r->p->e);
    return z;
}
#define chunk_read no_corner
#define attest_kernel_delta_chunk_f32 attest_defect_wy_fourth_block
#include "cpu/delta_chunk_f32.c"
