/* negative_weight_cut - A weight "cannot be negative": T_P of an odd order is, for scores below about -1. */
#include "cpu/steps/poly.h"

static inline real cut_weight(const attest_setting *weight, real x)
{
    const real w = poly_weight(weight, x);
    return w < 0 ? 0 : w;
}
#define poly_weight cut_weight
#define attest_kernel_taylor_direct_f32 attest_defect_negative_weight_cut
#include "cpu/taylor_direct_f32.c"
