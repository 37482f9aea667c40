/* exp.h - the exponential of the fast kernels.
 *
 *     e^x = 2^k e^r, k the integer nearest to x log2(e), r = x - k ln 2, |r| <= 0.347
 *
 * ln 2 comes in two parts, of which the first times k is exact; e^r is 1 + r + r^2 (1/2 + ...), a polynomial of degree
 * 6 whose coefficients minimise the largest relative error (2^-28 before rounding).  The coefficients carry a factor of
 * 2^-64 and the power of two one of 2^64: no exponent of a float runs over, and a result below the normal numbers is
 * rounded once.
 * Domain x <= 0, -inf (0) and NaN (NaN).
 * Errors, of all floats of the domain (make certify-functions): relative, of results that are normal numbers,
 *     portable       0x1.a3f469p-24 at -0x1.4c97p+2
 *     avx2, avx512   0x1.4af31fp-24 at -0x1.abcacp+4 (measured on avx2; avx512 has the same roundings)
 * of the others at most 0.86 of the least subnormal.
 */
#ifndef ATTEST_FAST_EXP_H
#define ATTEST_FAST_EXP_H

#include "simd.h"

#define FAST_EXP_ERROR 0x1.a4p-24
#define FAST_EXP_LEAST -110.0f /* below, e^x rounds to 0 as it does here */

#ifndef fast_exp
static inline vec fast_exp(vec x)
{
    const vec magic = vec_of(0x1.8p23f); /* added to a small number, it leaves the nearest integer in the low bits */
    const vec y = vec_larger(vec_of(FAST_EXP_LEAST), x);
    const vec shifted = vec_fma(y, vec_of(0x1.715476p+0f), magic), k = shifted - magic;
    const vec r = vec_fma(k, vec_of(-0x1.7f7d1cp-20f), vec_fma(k, vec_of(-0x1.62e4p-1f), y));
    vec p = vec_of(0x1.6a241ap-10f * 0x1p-64f);
    p = vec_fma(p, r, vec_of(0x1.1239f2p-7f * 0x1p-64f));
    p = vec_fma(p, r, vec_of(0x1.5558f2p-5f * 0x1p-64f));
    p = vec_fma(p, r, vec_of(0x1.555492p-3f * 0x1p-64f));
    p = vec_fma(p, r, vec_of(0x1.fffffcp-2f * 0x1p-64f));
    p = vec_fma(p, r, vec_of(0x1p-64f));
    p = vec_fma(p, r, vec_of(0x1p-64f));
    return p * vec_power_of_two(shifted, 127 + 64);
}
#endif

#endif
