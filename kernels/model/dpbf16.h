/* dpbf16.h - VDPBF16PS (AVX512-BF16), bit for bit, in integers: two products of bf16 numbers added to a float.
 *
 * One lane: d = c + a_1 b_1, then d = d + a_0 b_0, index 1 the upper half of a 32-bit word; each is one fused
 * multiply-add rounded to the nearest float, ties to even.  Subnormal numbers among c, a and b count as zeros of their
 * sign, and a result below the normal numbers, judged after rounding as x86 does, becomes a zero of its sign.  What
 * MXCSR says does not matter.
 *
 * Source: the operation in Intel's manual, volume 2 (VDPBF16PS: "daz in, ftz out and RNE rounding").  The same as
 * VFMADD231PS twice under FTZ and DAZ, on which tests check this model, and on the instruction itself where the CPU has
 * it: 10^6 cases on an AMD EPYC (family 25 model 17).
 * NaN: a NaN comes out wherever the plain sum gives one; which NaN is not modelled.
 */
#ifndef ATTEST_MODEL_DPBF16_H
#define ATTEST_MODEL_DPBF16_H

#include <stdint.h>
#include <string.h>

/* (-1)^negative size 2^exponent; size 0 for zero. */
typedef struct dp_number {
    uint64_t size;
    int exponent, negative, special; /* special: Inf or NaN */
} dp_number;

/* Bits of a float; one below the normal numbers is a zero. */
static inline dp_number dp_split(uint32_t bits)
{
    const int field = (int)(bits >> 23 & 0xff);
    return (dp_number){ .size = field ? (bits & 0x7fffff) | 1u << 23 : 0,
                        .exponent = field - 150,
                        .negative = (int)(bits >> 31),
                        .special = field == 0xff };
}

static inline float dp_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x, not zero, rounded to 24 bits; zero below 2^-126, infinite above float's range. */
static inline float dp_round(dp_number x)
{
    const uint32_t sign = (uint32_t)x.negative << 31;
    int drop = 64 - __builtin_clzll(x.size) - 24;
    uint64_t kept = drop > 0 ? x.size >> drop : x.size << -drop;
    if (drop > 0) {
        const uint64_t rest = x.size - (kept << drop), half = (uint64_t)1 << (drop - 1);
        kept += rest > half || (rest == half && kept & 1);
    }
    if (kept >> 24) {
        kept >>= 1;
        drop++;
    }
    const int field = x.exponent + drop + 150; /* kept 2^(field - 150), 2^23 <= kept < 2^24 */
    if (field < 1)
        return dp_float(sign);
    return dp_float(field > 254 ? sign | 0x7f800000u : sign | (uint32_t)field << 23 | ((uint32_t)kept & 0x7fffff));
}

/* The smaller exponent of the two becomes the larger one; what falls off is kept as the lowest bit, which is enough to
 * round: either nothing falls off, or the sum keeps more than 30 bits. */
static inline void dp_align(dp_number *x, int exponent)
{
    const int shift = exponent - x->exponent;
    const uint64_t kept = shift > 63 ? 0 : x->size >> shift;
    const uint64_t lost = shift > 63 ? x->size : x->size - (kept << shift);
    x->size = kept | (lost != 0);
    x->exponent = exponent;
}

/* x + y, both below 2^42. */
static inline float dp_sum(dp_number x, dp_number y)
{
    if (x.size == 0 && y.size == 0)
        return dp_float((uint32_t)(x.negative & y.negative) << 31);
    if (x.size == 0 || y.size == 0)
        return dp_round(x.size ? x : y);
    const int exponent = x.exponent > y.exponent ? x.exponent : y.exponent;
    dp_align(&x, exponent);
    dp_align(&y, exponent);
    if (x.negative == y.negative)
        return dp_round((dp_number){ x.size + y.size, exponent, x.negative, 0 });
    if (x.size == y.size)
        return 0;
    return x.size > y.size ? dp_round((dp_number){ x.size - y.size, exponent, x.negative, 0 })
                           : dp_round((dp_number){ y.size - x.size, exponent, y.negative, 0 });
}

/* c + a b: one half of the instruction. */
static inline float dp_fma(float c, uint16_t a, uint16_t b)
{
    uint32_t bits;
    memcpy(&bits, &c, sizeof bits);
    dp_number sum = dp_split(bits);
    const dp_number x = dp_split((uint32_t)a << 16), y = dp_split((uint32_t)b << 16);
    if (sum.special || x.special || y.special) { /* zeros in the place of subnormal numbers, Inf and NaN as ever */
        const float p = x.size ? dp_float((uint32_t)a << 16) : dp_float((uint32_t)x.negative << 31);
        const float q = y.size ? dp_float((uint32_t)b << 16) : dp_float((uint32_t)y.negative << 31);
        return x.special || y.special ? c + p * q : c;
    }
    /* 40 bits each, so that both may be aligned: c has 24, the product 16, each with zeros below */
    dp_number product = { (x.size >> 16) * (y.size >> 16) << 24, x.exponent + y.exponent + 32 - 24,
                          x.negative ^ y.negative, 0 };
    sum.size <<= 16;
    sum.exponent -= 16;
    return dp_sum(sum, product);
}

/* The instruction, on one lane. */
static inline float dp_bf16(float c, uint32_t a, uint32_t b)
{
    return dp_fma(dp_fma(c, (uint16_t)(a >> 16), (uint16_t)(b >> 16)), (uint16_t)a, (uint16_t)b);
}

#endif
