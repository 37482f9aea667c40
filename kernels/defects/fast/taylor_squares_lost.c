/* taylor_squares_lost - monomials of degree 3 and more have no index twice at their beginning. */
#include "cpu/steps/states.h"

static inline int64_t without_equals(int64_t dim, uint32_t n, int64_t c)
{
    return state_rows(dim - c - (n > 1), n, 1, (int64_t)1 << 20);
}

#define monomials_rest without_equals
#define FAST_PLANTED attest_defect_taylor_squares_lost_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_squares_lost
#include "fast/taylor/packed.c"
