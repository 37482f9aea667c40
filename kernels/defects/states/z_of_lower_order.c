/* z_of_lower_order - the state of the denominator is one degree short of that of the numerator. */
#include "cpu/steps/degrees.h"

static inline real read_short_z(const degrees *a, real *u, const real *x, real f, const attest_problem *p, double scale)
{
    degrees low = *a, high = *a;
    if (a->highest == a->lowest)
        return degrees_read(a, u, x, f, p, scale);
    low.highest--;
    high.lowest = high.highest;
    const real z = degrees_read(&low, u, x, f, p, scale);
    degrees_read(&high, u, x, f, p, scale);
    return z;
}
#define degrees_read read_short_z
#define attest_kernel_taylor_recurrent_f32 attest_defect_z_of_lower_order
#include "cpu/taylor_recurrent_f32.c"
