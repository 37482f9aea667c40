/* chunk_scale - right inside the first chunk and at scale 1. */
#include "cpu/steps/degrees.h"

static inline real read_unscaled(const degrees *a, real *u, const real *x, real f, const attest_problem *p,
                                 double scale)
{
    (void)scale;
    return degrees_read(a, u, x, f, p, 1);
}
#define degrees_read read_unscaled
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_scale
#include "cpu/taylor_chunk_f32.c"
