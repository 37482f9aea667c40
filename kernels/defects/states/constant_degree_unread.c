/* constant_degree_unread - the plain sums of values and of ones are not read. */
#include "cpu/steps/degrees.h"

static inline real read_above(const degrees *a, real *u, const real *x, real f, const attest_problem *p, double scale)
{
    degrees less = *a;
    less.lowest += less.highest > less.lowest;
    return degrees_read(&less, u, x, f, p, scale);
}
#define degrees_read read_above
#define attest_kernel_taylor_packed_f32 attest_defect_constant_degree_unread
#include "cpu/taylor_packed_f32.c"
