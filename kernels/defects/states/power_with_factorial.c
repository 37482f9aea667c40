/* power_with_factorial - (q.k)^P of quadratic attention gets the coefficient of the series. */
#include "cpu/steps/step.h"

static inline double always_factorial(const attest_problem *p, double scale, uint32_t n)
{
    double c = 1;
    (void)p;
    for (uint32_t i = 1; i <= n; i++)
        c *= scale / i;
    return c;
}
#define degrees_coefficient always_factorial
#define attest_kernel_taylor_packed_f32 attest_defect_power_with_factorial
#include "cpu/taylor_packed_f32.c"
