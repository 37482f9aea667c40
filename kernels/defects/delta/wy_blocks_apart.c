/* wy_blocks_apart - what earlier blocks wrote is not erased: right up to four tokens. */
#include "cpu/steps/chunk.h"
#include "cpu/steps/delta.h"

static inline real own_block(chunk *a, real *u, real *x, real f, const row *r, double scale)
{
    const int64_t dim = token_dim(r->p), e = r->p->e;
    if (u == a->u)
        return chunk_read(a, u, x, f, r, scale);
    step_zero(u, e);
    for (int64_t j = a->count - 1; j >= a->count / 4 * 4; j--) {
        step_add_value(u, f * step_dot(x, a->k + j * dim, dim), a->v + j * e, e);
        if (heads_before(r, j))
            heads_back(&f, x, r, j);
    }
    return 0;
}
#define chunk_read own_block
#define attest_kernel_delta_parallel_f32 attest_defect_wy_blocks_apart
#include "cpu/delta_parallel_f32.c"
