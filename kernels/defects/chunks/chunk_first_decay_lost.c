/* chunk_first_decay_lost - the cumulative product of a chunk starts at 1 on its first token: the boundary between
 * chunks does not decay. */
#include "cpu/steps/degrees.h"

static inline void back_inside(real *f, real *x, const row *r, int64_t t)
{
    if (t % r->p->chunk != 0)
        heads_back(f, x, r, t);
}
#define heads_back back_inside
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_first_decay_lost
#include "cpu/taylor_chunk_f32.c"
