/* order_high - the order is taken for the count of degrees beside the constant one, and one more. */
#include "cpu/steps/step.h"

static inline real one_degree_more(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = order + 1; n > 0; n--)
        t = 1 + t * (x / (real)n);
    return t;
}
#define poly_taylor one_degree_more
#define attest_kernel_taylor_split_f32 attest_defect_order_high
#include "cpu/taylor_split_f32.c"
