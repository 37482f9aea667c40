/* attest_float.h - exact conversions between stored bits and double; header only, for kernels too.
 *
 * Formats (p = significand bits with the hidden one): f32 24, f64 53, f16 11, bf16 8, e4m3 4, e5m2 3.  Every finite
 * value of them is a double, so *_to_f64 is exact.  *_from_f64 is ONE rounding, to nearest even, with subnormals and
 * overflow to infinity; e4m3 has none: what is beyond 448 becomes 448, an infinity NaN.  A NaN stays a NaN (quiet, sign
 * kept).  Nothing here depends on the rounding mode, on FTZ/DAZ or on libm: all is integer arithmetic.
 */
#ifndef ATTEST_FLOAT_H
#define ATTEST_FLOAT_H

#include "attest.h"
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* p, emin, emax as in IEEE 754: values are +-m*2^(e-p+1), m < 2^p, emin <= e <= emax. */
typedef struct attest_format {
    int p, emin, emax;
    int bits, exponent_bits;
} attest_format;

static inline attest_format attest_format_of(uint32_t dtype)
{
    static const attest_format table[7] = { { 24, -126, 127, 32, 8 },    { 53, -1022, 1023, 64, 11 },
                                            { 11, -14, 15, 16, 5 },      { 8, -126, 127, 16, 8 },
                                            { 53, -1022, 1023, 64, 11 }, /* i64 has none */
                                            { 4, -6, 8, 8, 4 },          { 3, -14, 15, 8, 5 } };
    return table[dtype < 7 ? dtype : 1];
}

/* Unit roundoff u = 2^-p: the largest relative error of one rounding to nearest in the normal range. */
static inline double attest_unit_roundoff(uint32_t dtype)
{
    switch (dtype) {
    case ATTEST_F32: return 0x1p-24;
    case ATTEST_F16: return 0x1p-11;
    case ATTEST_BF16: return 0x1p-8;
    case ATTEST_F8_E4M3: return 0x1p-4;
    case ATTEST_F8_E5M2: return 0x1p-3;
    default: return 0x1p-53;
    }
}

static inline uint64_t attest_f64_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double attest_bits_f64(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint32_t attest_f32_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float attest_bits_f32(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* The double that the low `bits` of `stored` mean in format `dtype`. */
static inline double attest_to_f64(uint32_t dtype, uint64_t stored)
{
    const attest_format f = attest_format_of(dtype);
    if (dtype == ATTEST_F64)
        return attest_bits_f64(stored);
    const int fraction_bits = f.p - 1;
    const uint64_t sign = (stored >> (f.bits - 1)) & 1u;
    const uint64_t exponent = (stored >> fraction_bits) & ((1u << f.exponent_bits) - 1u);
    uint64_t fraction = stored & ((1ull << fraction_bits) - 1u);
    if (exponent == (1u << f.exponent_bits) - 1u && (dtype != ATTEST_F8_E4M3 || fraction == 7))
        return attest_bits_f64(sign << 63 | 0x7ffull << 52 | fraction << (52 - fraction_bits) |
                               (fraction ? 1ull << 51 : 0u));
    int e = (int)exponent + f.emin - 1;
    if (exponent == 0) {
        if (fraction == 0)
            return attest_bits_f64(sign << 63);
        e = f.emin;
        while (!(fraction >> fraction_bits)) {
            fraction <<= 1;
            e--;
        }
    }
    fraction &= (1ull << fraction_bits) - 1u;
    return attest_bits_f64(sign << 63 | (uint64_t)(e + 1023) << 52 | fraction << (52 - fraction_bits));
}

/* Rounds (-1)^negative * significand * 2^exponent (+ a nonzero amount below the last bit if `sticky`)
 * once, to nearest even, to format `dtype`; returns the stored bits.  significand may be 0. */
static inline uint64_t attest_round_scaled(uint32_t dtype, int negative, uint64_t significand, int exponent, int sticky)
{
    const attest_format f = attest_format_of(dtype);
    const uint64_t sign = (uint64_t)(negative != 0) << (f.bits - 1);
    const uint64_t infinity = dtype == ATTEST_F8_E4M3 ? 0x7e : ((1ull << f.exponent_bits) - 1u) << (f.p - 1);
    if (significand == 0)
        return sign;
    while (!(significand >> 63)) {
        significand <<= 1;
        exponent--;
    }
    int e = exponent + 63; /* value in [2^e, 2^(e+1)) */
    if (e > f.emax)
        return sign | infinity;
    int drop = 64 - f.p;
    if (e < f.emin)
        drop += f.emin - e;
    uint64_t kept = drop >= 64 ? 0 : significand >> drop;
    const uint64_t rest = drop >= 64 ? significand : significand << (64 - drop);
    const uint64_t half = 1ull << 63;
    const int up = drop > 64 ? 0 : rest > half || (rest == half && (sticky || (kept & 1u)));
    kept += (uint64_t)up;
    if (e < f.emin)
        return sign | kept; /* a carry into the hidden bit is the least normal number */
    if (kept >> f.p) {
        kept >>= 1;
        e++; /* beyond emax this is the encoding of infinity */
    }
    const uint64_t bits = (uint64_t)(e - f.emin + 1) << (f.p - 1) | (kept & ((1ull << (f.p - 1)) - 1u));
    return sign | (bits < infinity ? bits : infinity);
}

/* The stored bits of x rounded once to `dtype`, to nearest even. */
static inline uint64_t attest_from_f64(uint32_t dtype, double x)
{
    const uint64_t u = attest_f64_bits(x);
    const attest_format f = attest_format_of(dtype);
    const int negative = (int)(u >> 63);
    const int exponent = (int)(u >> 52 & 0x7ff);
    const uint64_t fraction = u & 0xfffffffffffffull;
    if (dtype == ATTEST_F64)
        return u;
    if (exponent == 0x7ff) {
        const uint64_t top = dtype == ATTEST_F8_E4M3 ? 0x7f : ((1ull << f.exponent_bits) - 1u) << (f.p - 1);
        const uint64_t quiet = fraction ? 1ull << (f.p - 2) | fraction >> (53 - f.p) : 0;
        return (uint64_t)negative << (f.bits - 1) | top | quiet;
    }
    if (exponent == 0)
        return attest_round_scaled(dtype, negative, fraction, -1074, 0);
    return attest_round_scaled(dtype, negative, fraction | 1ull << 52, exponent - 1075, 0);
}

static inline float attest_f8_to_f32(uint32_t dtype, uint8_t h) { return (float)attest_to_f64(dtype, h); }
static inline float attest_bf16_to_f32(uint16_t h) { return attest_bits_f32((uint32_t)h << 16); }
static inline uint16_t attest_bf16_from_f32(float x) { return (uint16_t)attest_from_f64(ATTEST_BF16, (double)x); }
static inline float attest_f16_to_f32(uint16_t h) { return (float)attest_to_f64(ATTEST_F16, h); }
static inline uint16_t attest_f16_from_f32(float x) { return (uint16_t)attest_from_f64(ATTEST_F16, (double)x); }

#ifdef __cplusplus
}
#endif
#endif
