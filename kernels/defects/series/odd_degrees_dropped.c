/* odd_degrees_dropped - A loop over pairs of degrees adds the even ones and forgets the odd ones. */
#include "cpu/steps/step.h"

static inline real even_degrees(real x, uint32_t order)
{
    real t = 1, term = 1;
    for (uint32_t n = 1; n <= order; n++) {
        term *= x / (real)n;
        t += n % 2 == 0 ? term : 0;
    }
    return t;
}
#define poly_taylor even_degrees
#define attest_kernel_taylor_direct_f32 attest_defect_odd_degrees_dropped
#include "cpu/taylor_direct_f32.c"
