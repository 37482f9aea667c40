/* delta_read_before_write - o_i = q S_(i-1). */
#include "cpu/steps/chunk.h"
#include "cpu/steps/delta.h"

static inline real without_last(chunk *a, real *u, real *x, real f, const row *r, double scale)
{
    if (u != a->u || a->count == 0)
        return chunk_read(a, u, x, f, r, scale);
    a->count--;
    if (heads_before(r, a->from + a->count))
        heads_back(&f, x, r, a->from + a->count);
    const real z = chunk_read(a, u, x, f, r, scale);
    a->count++;
    return z;
}
#define chunk_read without_last
#define attest_kernel_delta_chunk_f32 attest_defect_delta_read_before_write
#include "cpu/delta_chunk_f32.c"
