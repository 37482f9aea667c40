/* chunk_z_forgotten - the numerator reads the states, the denominator does not. */
#include "cpu/steps/degrees.h"

static inline real read_without_z(const degrees *a, real *u, const real *x, real f, const attest_problem *p,
                                  double scale)
{
    degrees_read(a, u, x, f, p, scale);
    return 0;
}
#define degrees_read read_without_z
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_z_forgotten
#include "cpu/taylor_chunk_f32.c"
