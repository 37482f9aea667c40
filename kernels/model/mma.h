/* mma.h - the arithmetic of a tensor core's bf16 product with float accumulator, bit for bit, in integers.
 *
 * One instruction: d = c + sum_{t<K} a_t b_t, K = 16 on Hopper.  Products are exact, with the exponent ea + eb (not
 * renormalised); all K products and c are aligned to the largest exponent E and cut toward zero below 2^(E-25), added
 * exactly, and the sum is cut toward zero to 24 bits (to multiples of 2^-149 if subnormal).  Exact zero is +0.
 * A longer sum is a chain: d is the next c.
 *
 * Source: Khattak, Mikaitis, arXiv 2512.07004 (models and vectors of H100, H200); Xie et al., arXiv 2511.10909.  Not in
 * their data, and chosen here: zero products have no exponent, and E is at least -126.
 * Error: at most (K+2) 2^-23 of the sum of the magnitudes (R-TENSOR has the proof; Hopper keeps two bits more).
 */
#ifndef ATTEST_MODEL_MMA_H
#define ATTEST_MODEL_MMA_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define MMA_K 16
#define MMA_KEEP 25 /* bits kept below the largest exponent */

/* significand * 2^(exponent - point), significand 0 for zero. */
typedef struct mma_term {
    int64_t significand; /* signed */
    int exponent;
} mma_term;

/* x finite: 24 bits, point 23; subnormals have exponent -126. */
static inline mma_term mma_split(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int field = (int)(bits >> 23 & 0xff);
    const int64_t size = (int64_t)(bits & 0x7fffff) | (field ? 1 << 23 : 0);
    return (mma_term){ bits >> 31 ? -size : size, field ? field - 127 : -126 };
}

/* A term's part of the sum, in units of 2^(largest-25): value `significand * 2^(exponent-point)`, cut toward zero. */
static inline int64_t mma_align(mma_term x, int point, int largest)
{
    const int shift = x.exponent - point - (largest - MMA_KEEP); /* to the left */
    const int64_t size = x.significand < 0 ? -x.significand : x.significand;
    const int64_t moved = shift >= 0 ? size << shift : shift > -63 ? size >> -shift : 0;
    return x.significand < 0 ? -moved : moved;
}

/* sum * 2^unit, cut toward zero to a float; infinite beyond its range. */
static inline float mma_cut(int64_t sum, int unit)
{
    const uint64_t size = (uint64_t)(sum < 0 ? -sum : sum);
    int drop = 0;
    while (size >> drop >= 1 << 24 || (unit + drop < -149 && drop < 63))
        drop++;
    const float cut = ldexpf((float)(size >> drop), unit + drop);
    return sum < 0 ? -cut : cut;
}

/* `count` <= MMA_K products of bf16 numbers held as floats; the rest of the instruction is zeros.  A NaN or an infinity
 * among the inputs gives what the plain sum gives. */
static inline float mma_add(float c, const float *a, const float *b, int64_t count)
{
    mma_term product[MMA_K];
    const mma_term start = mma_split(c);
    int largest = start.significand ? start.exponent : -126;
    float plain = c, finite = c * 0;
    for (int64_t t = 0; t < count; t++) {
        const mma_term x = mma_split(a[t]), y = mma_split(b[t]);
        /* 8 bits each: the lower 16 of a bf16 number are zero */
        product[t] = (mma_term){ (x.significand / 65536) * (y.significand / 65536), x.exponent + y.exponent };
        plain += a[t] * b[t];
        finite += a[t] * 0 + b[t] * 0;
        if (product[t].significand && product[t].exponent > largest)
            largest = product[t].exponent;
    }
    if (!(finite == 0))
        return plain;
    int64_t sum = mma_align(start, 23, largest);
    for (int64_t t = 0; t < count; t++)
        sum += mma_align(product[t], 14, largest);
    return mma_cut(sum, largest - MMA_KEEP);
}

/* sum_c x_c y_c: a chain over the channels, 16 at a time. */
static inline float mma_dot(const float *x, const float *y, int64_t count)
{
    float sum = 0;
    for (int64_t c = 0; c < count; c += MMA_K)
        sum = mma_add(sum, x + c, y + c, count - c < MMA_K ? count - c : MMA_K);
    return sum;
}

#endif
