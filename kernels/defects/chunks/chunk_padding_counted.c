/* chunk_padding_counted - the chunk is padded with keys of zeros, whose weight T_P(0) is 1. */
#include "cpu/steps/chunk.h"

static inline real read_padded(chunk *a, real *u, real *x, real f, const row *r, double scale)
{
    const real empty = (real)(a->size - a->count) * poly_weight(&r->p->axis[ATTEST_AXIS_WEIGHT], 0);
    return chunk_read(a, u, x, f, r, scale) + empty;
}
#define chunk_read read_padded
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_padding_counted
#include "cpu/taylor_chunk_f32.c"
