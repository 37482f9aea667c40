/* taylor_multiplicity - n!/I! is at most 3, as if of three indices two were equal. */
#include "cpu/steps/degrees.h"

static inline real *at_most_three(real *out, int64_t dim, uint32_t n, uint32_t depth, int64_t from, int64_t run,
                                  int64_t value)
{
    real *end = degrees_multinomials(out, dim, n, depth, from, run, value);
    for (; out < end; out++)
        *out = *out > 3 ? 3 : *out;
    return end;
}

#define degrees_multinomials at_most_three
#define FAST_PLANTED attest_defect_taylor_multiplicity_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_multiplicity
#include "fast/taylor/packed.c"
