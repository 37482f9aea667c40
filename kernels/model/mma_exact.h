/* mma_exact.h - c + sum a_t b_t, exact and rounded once: what no tensor core gives.
 *
 * A kernel that runs with it and with the model of mma.h differs by what the hardware cuts off.  Products of numbers of
 * bf16, f16 or tf32 are exact doubles.  Their sum is kept as doubles that do not overlap (J. R. Shewchuk, Adaptive
 * Precision Floating-Point Arithmetic, 1997, Grow-Expansion), so nothing is lost; it is rounded to an odd double, and
 * that to the nearest float, which is the sum rounded once: 53 bits are two more than twice 24 (S. Boldo, G.
 * Melquiond, Emulation of FMA and correctly rounded sums, 2008).  A sum of 0 is +0; any NaN is 0x7fffffff.
 * C11, and C++17 under gcc and clang; without contraction or reassociation.
 */
#ifndef ATTEST_MODEL_MMA_EXACT_H
#define ATTEST_MODEL_MMA_EXACT_H

#include "mma.h"

enum { MMA_EXACT_MOST = 32 }; /* products */

/* part[0..count) is a sum of doubles that do not overlap, by rising size, none of them 0; adds x. */
static inline int mma_exact_grow(double *part, int count, double x)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const double sum = x + part[i], other = sum - x, lost = (x - (sum - other)) + (part[i] - other);
        if (lost != 0)
            part[kept++] = lost;
        x = sum;
    }
    if (x != 0)
        part[kept++] = x;
    return kept;
}

/* The sum of the parts as a double whose last bit is odd unless it is exact. */
static inline double mma_exact_odd(const double *part, int count)
{
    double high = count > 0 ? part[count - 1] : 0, lost = 0;
    for (int i = count - 2; i >= 0 && lost == 0; i--) {
        const double sum = high + part[i];
        lost = part[i] - (sum - high);
        high = sum;
    }
    int64_t bits;
    memcpy(&bits, &high, sizeof bits);
    if (lost != 0 && (bits & 1) == 0)
        bits += (lost > 0) == (high > 0) ? 1 : -1;
    memcpy(&high, &bits, sizeof bits);
    return high;
}

/* `count` <= MMA_EXACT_MOST; b[t stride]. */
static inline float mma_exact(float c, const float *a, const float *b, int64_t stride, int count)
{
    double part[MMA_EXACT_MOST + 1], plain = c;
    int parts = mma_exact_grow(part, 0, c);
    for (int t = 0; t < count; t++) {
        const double product = (double)a[t] * b[t * stride];
        plain += product;
        parts = mma_exact_grow(part, parts, product);
    }
    if (plain - plain != 0) /* an infinity or a NaN: doubles do not overflow here */
        return plain != plain ? mma_float(0x7fffffffu) : (float)plain;
    return (float)mma_exact_odd(part, parts);
}

#endif
