/* sixth_rounded - the coefficient of degree 3 with four digits, as it stands in many a source: from order 3, 2e-4 of
 * that term. */
#include "cpu/steps/step.h"

static inline real four_digits(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = order; n > 0; n--)
        t = 1 + t * (n == 3 ? x * (2 * 0.1667f) : x / (real)n);
    return t;
}
#define poly_taylor four_digits
#define attest_kernel_taylor_split_f32 attest_defect_sixth_rounded
#include "cpu/taylor_split_f32.c"
