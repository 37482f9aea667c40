/* factorial_int32 - n! as a 32-bit integer overflows at 13!: only orders from 13 and scores of some size see it. */
#include "cpu/steps/step.h"

static inline real short_factorials(real x, uint32_t order)
{
    real t = 1, power = 1;
    uint32_t factorial = 1;
    for (uint32_t n = 1; n <= order; n++) {
        power *= x;
        factorial *= n;
        t += power / (real)(int32_t)factorial;
    }
    return t;
}
#define poly_taylor short_factorials
#define attest_kernel_taylor_direct_f32 attest_defect_factorial_int32
#include "cpu/taylor_direct_f32.c"
