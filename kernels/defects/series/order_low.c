/* order_low - the loop over the degrees stops one too early. */
#include "cpu/steps/step.h"

static inline real one_degree_less(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = order; n > 1; n--)
        t = 1 + t * (x / (real)(n - 1));
    return t;
}
#define poly_taylor one_degree_less
#define attest_kernel_taylor_direct_f32 attest_defect_order_low
#include "cpu/taylor_direct_f32.c"
