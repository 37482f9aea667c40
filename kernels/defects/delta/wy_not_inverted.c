/* wy_not_inverted - the first two terms of the inverse: right for two tokens, and nearly so for keys that are almost
 * orthogonal. */
#include "cpu/steps/chunk.h"
#include "cpu/steps/delta.h"

/* u other than a->u: what token t erases; then the values of the older tokens before any erasure. */
static inline real first_order(chunk *a, real *u, real *x, real f, const row *r, double scale)
{
    const int64_t dim = token_dim(r->p), e = r->p->e;
    if (u == a->u)
        return chunk_read(a, u, x, f, r, scale);
    step_zero(u, e);
    for (int64_t j = a->count - 1; j >= 0; j--) {
        const real *k = a->k + j * dim, w = f * step_dot(x, k, dim) * delta_rate(r, k, j);
        step_add_value(u, w, heads_value(a->u, r, j), e);
        if (heads_before(r, j))
            heads_back(&f, x, r, j);
    }
    return 0;
}
#define chunk_read first_order
#define attest_kernel_delta_parallel_f32 attest_defect_wy_not_inverted
#include "cpu/delta_parallel_f32.c"
