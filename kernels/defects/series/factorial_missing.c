/* factorial_missing - T_P(x) = 1 + x (1 + x (1 + ..)): the division by n is forgotten in Horner's rule. */
#include "cpu/steps/step.h"

static inline real powers(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = order; n > 0; n--)
        t = 1 + t * x;
    return t;
}
#define poly_taylor powers
#define attest_kernel_taylor_direct_f32 attest_defect_factorial_missing
#include "cpu/taylor_direct_f32.c"
