/* factorial_reciprocal - 1 + sum x^n/n: the factorial is taken for its last factor; the same up to degree 2. */
#include "cpu/steps/step.h"

static inline real reciprocals(real x, uint32_t order)
{
    real t = 1, power = 1;
    for (uint32_t n = 1; n <= order; n++) {
        power *= x;
        t += power / (real)n;
    }
    return t;
}
#define poly_taylor reciprocals
#define attest_kernel_taylor_direct_f32 attest_defect_factorial_reciprocal
#include "cpu/taylor_direct_f32.c"
