/* taylor_last_term - from order 3 on the last degree is not read. */
#include "cpu/steps/degrees.h"

static inline float without_last(const attest_problem *p, uint32_t n)
{
    return n > 2 && n == p->axis[ATTEST_AXIS_WEIGHT].order ? 0 : (float)degrees_coefficient(p, p->scale, n);
}

#define monomials_coefficient without_last
#define FAST_PLANTED attest_defect_taylor_last_term_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_last_term
#include "fast/taylor/packed.c"
