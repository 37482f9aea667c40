/* gram_scaled - old values are erased scale times. */
#include "cpu/steps/chunk.h"

static inline real scaled_always(chunk *a, real *u, real *x, real f, const row *r, double scale)
{
    (void)scale;
    return chunk_read(a, u, x, f, r, r->p->scale);
}
#define chunk_read scaled_always
#define attest_kernel_delta_parallel_f32 attest_defect_gram_scaled
#include "cpu/delta_parallel_f32.c"
