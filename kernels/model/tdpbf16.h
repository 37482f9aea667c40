/* tdpbf16.h - TDPBF16PS (AMX-BF16), bit for bit, in integers: one element of a product of tiles of bf16 numbers.
 *
 * Entry (m, n) of the result, from word k of row m of A and word n of row k of B, k = 0, 1, ..., 15:
 *
 *     even = 0; even = even + A_even B_even for each k;     odd = 0; odd = odd + A_odd B_odd for each k
 *     c = c + (even + odd)
 *
 * Even and odd are the lower and the upper half of a word.  Each step of the two chains is one fused multiply-add, each
 * of the two sums at the end one addition, all rounded to the nearest float, ties to even; subnormal numbers count as
 * dpbf16.h says.  What MXCSR says does not matter.
 *
 * Source: the operation in Intel's manual, volume 2 (TDPBF16PS: "FP32 FMA with DAZ=FTZ=1, RNE rounding").  Tests check
 * this model on the instruction itself where the CPU has it: 10^6 elements on an Intel Xeon with AMX (its virtual
 * machine says family 6 model 167).
 * NaN: a NaN comes out wherever the plain sum gives one; which NaN is not modelled.
 */
#ifndef ATTEST_MODEL_TDPBF16_H
#define ATTEST_MODEL_TDPBF16_H

#include "dpbf16.h"

enum { TDP_PAIRS = 16 }; /* words of a row of A */

/* x + y. */
static inline float tdp_add(float x, float y)
{
    uint32_t bits[2];
    memcpy(&bits[0], &x, sizeof x);
    memcpy(&bits[1], &y, sizeof y);
    dp_number a = dp_split(bits[0]), b = dp_split(bits[1]);
    if (a.special || b.special)
        return x + y;
    a.size <<= 16, a.exponent -= 16; /* 40 bits, as dp_sum() asks for */
    b.size <<= 16, b.exponent -= 16;
    return dp_sum(a, b);
}

/* The instruction, on one element: a[16], and b[16] whose entries are b_step words apart. */
static inline float tdp_bf16(float c, const uint32_t *a, const uint32_t *b, int b_step)
{
    float even = 0, odd = 0;
    for (int k = 0; k < TDP_PAIRS; k++) {
        even = dp_fma(even, (uint16_t)a[k], (uint16_t)b[k * b_step]);
        odd = dp_fma(odd, (uint16_t)(a[k] >> 16), (uint16_t)(b[k * b_step] >> 16));
    }
    return tdp_add(c, tdp_add(even, odd));
}

#endif
