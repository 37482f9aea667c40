/* multiplicity_two - the factor 2 of degree 2 is taken for the rule: from degree 3 on it is 3 or 6. */
#include "cpu/steps/degrees.h"

static inline real *at_most_two(real *out, int64_t dim, uint32_t n, uint32_t depth, int64_t from, int64_t run,
                                int64_t value)
{
    real *end = degrees_multinomials(out, dim, n, depth, from, run, value);
    for (; out < end; out++)
        *out = *out > 2 ? 2 : *out;
    return end;
}
#define degrees_multinomials at_most_two
#define attest_kernel_taylor_packed_f32 attest_defect_multiplicity_two
#include "cpu/taylor_packed_f32.c"
