/* state_factorial_missing - the states keep plain monomials and the query forgets 1/n!: visible from degree 2 once a
 * chunk has closed. */
#include "cpu/steps/step.h"

static inline double powers_of_scale(const attest_problem *p, double scale, uint32_t n)
{
    double c = 1;
    (void)p;
    for (uint32_t i = 1; i <= n; i++)
        c *= scale;
    return c;
}
#define degrees_coefficient powers_of_scale
#define attest_kernel_taylor_chunk_f32 attest_defect_state_factorial_missing
#include "cpu/taylor_chunk_f32.c"
