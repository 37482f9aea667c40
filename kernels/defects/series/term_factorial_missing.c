/* term_factorial_missing - the single term without its factorial: a common factor of u and z. */
#include "cpu/steps/step.h"

static inline real bare_power(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = 0; n < order; n++)
        t *= x;
    return t;
}
#define poly_term bare_power
#define attest_kernel_taylor_direct_f32 attest_defect_term_factorial_missing
#include "cpu/taylor_direct_f32.c"
