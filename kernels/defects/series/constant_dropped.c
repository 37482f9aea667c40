/* constant_dropped - the constant 1 of T_P is forgotten: the plain sum of the values is missing in u, their count in
 * z. */
#include "cpu/steps/step.h"

static inline real from_degree_1(real x, uint32_t order)
{
    real t = 0, term = 1;
    for (uint32_t n = 1; n <= order; n++) {
        term *= x / (real)n;
        t += term;
    }
    return t;
}
#define poly_taylor from_degree_1
#define attest_kernel_taylor_split_f32 attest_defect_constant_dropped
#include "cpu/taylor_split_f32.c"
