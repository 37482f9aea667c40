/* highest_degree_unread - thunderKittens' gate for Based cannot see a missing highest degree; this one must. */
#include "cpu/steps/degrees.h"

static inline real read_below(const degrees *a, real *u, const real *x, real f, const attest_problem *p, double scale)
{
    degrees less = *a;
    less.highest -= less.highest > less.lowest;
    return degrees_read(&less, u, x, f, p, scale);
}
#define degrees_read read_below
#define attest_kernel_taylor_recurrent_f32 attest_defect_highest_degree_unread
#include "cpu/taylor_recurrent_f32.c"
