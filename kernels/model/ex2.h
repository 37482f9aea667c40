/* ex2.h - what the PTX instruction ex2.approx.f32 gives: 2^x, as an interval from its documentation or, once a GPU was
 * measured, bit for bit from 192 integers.
 *
 * Documented (PTX ISA 9.1, section 9.7.3.21): ex2.approx.f32 is within 2 ulp of the correctly rounded result over the
 * full range; -Inf gives +0, a zero +1, +Inf gives +Inf, NaN gives NaN; .ftz flushes subnormal inputs and results to
 * zero, without it they count.  Not documented, and taken for granted: a result has no minus sign, and the NaN is
 * 0x7fffffff, NVIDIA's.  (2 ulp are 2^-22 of a significand in [1,2), which is how older notes put it.)
 *
 * Measured: the 2^23 outputs on the multiples of 2^-23 in [0,1), which one call gives, are fitted by 64 segments of
 * three integers, in the form that a published model of the units of sm_50 to sm_75 has:
 *
 *     significand of 2^f = (base + slope r 2^19 + bend sq(r)) >> 34       f = s/64 + r 2^-23, r < 2^17
 *
 * sq(r) is r^2 without the partial products below column 19: the sum of r_i r_j 2^(i+j) over the bits, pairs i != j
 * taken together as 2^(i+j+1).  tests/vectors/ex2_fit.c makes a table of what was measured, and says where it does not
 * fit.  Beyond [0,1) a table speaks only if it says that whole parts of x do nothing but shift (measured too); of an x
 * with bits below 2^-23 it never does.  There is no table yet: no GPU was measured.
 *
 * C11, and C++17 under gcc and clang; ex2_table.h reads and writes tables.
 */
#ifndef ATTEST_MODEL_EX2_H
#define ATTEST_MODEL_EX2_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { EX2_SEGMENTS = 64, EX2_BITS = 17, EX2_COLUMN = 19, EX2_POINTS = 1 << 23, EX2_GPU = 32 };

/* base in [2^56,2^58), slope below 2^20, bend below 2^16: no sum is beyond 63 bits. */
typedef struct ex2_segment {
    int64_t base, slope, bend;
} ex2_segment;

typedef struct ex2_table {
    char gpu[EX2_GPU]; /* what was measured */
    int shifts;        /* measured: ex2(n + f) = 2^n ex2(f) where that is a normal number */
    uint64_t hash;     /* ex2_hash() of what was measured */
    ex2_segment segment[EX2_SEGMENTS];
} ex2_table;

/* Any of the floats lo to hi; a point where they are equal; both the NaN 0x7fffffff of a NaN. */
typedef struct ex2_range {
    float lo, hi;
} ex2_range;

/* sq(r), r < 2^17. */
static inline int64_t ex2_square(int64_t r)
{
    const int64_t kept = -((int64_t)1 << EX2_COLUMN);
    int64_t sum = 0;
    for (int i = 0; i < EX2_BITS; i++)
        if (r >> i & 1) {
            const int64_t above = r >> (i + 1) << (i + 1); /* j > i */
            sum += (((int64_t)1 << 2 * i) & kept) + ((above << (i + 1)) & kept);
        }
    return sum;
}

/* The significand, from 2^23 to 2^24 - 1, of 2^(f 2^-23), f < 2^23. */
static inline uint32_t ex2_significand(const ex2_table *table, uint32_t f)
{
    const ex2_segment *s = &table->segment[f >> EX2_BITS];
    const int64_t r = f & ((1 << EX2_BITS) - 1);
    return (uint32_t)((s->base + s->slope * r * ((int64_t)1 << EX2_COLUMN) + s->bend * ex2_square(r)) >> 34);
}

static inline float ex2_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline ex2_range ex2_point(float x)
{
    ex2_range range;
    range.lo = range.hi = x;
    return range;
}

/* 1 if the table says what x, a finite number, gives: *y. */
static inline int ex2_measured(float *y, const ex2_table *table, float x)
{
    const double scaled = (double)x * EX2_POINTS;
    if (!(x >= -126 && x < 128) || scaled != floor(scaled) || (!table->shifts && !(x >= 0 && x < 1)))
        return 0;
    const double whole = floor((double)x);
    const uint32_t significand = ex2_significand(table, (uint32_t)(scaled - whole * EX2_POINTS));
    *y = ex2_float((uint32_t)((int)whole + 127) << 23 | (significand & 0x7fffff));
    return 1;
}

/* y > 0, correctly rounded as if there were no largest float; *ulp is its own. */
static inline double ex2_rounded(double *ulp, double y)
{
    int exponent;
    frexp(y, &exponent);
    const int last = exponent - 24 > -149 ? exponent - 24 : -149;
    const double rounded = ldexp(nearbyint(ldexp(y, -last)), last);
    frexp(rounded, &exponent);
    *ulp = ldexp(1, rounded > 0 && exponent - 24 > -149 ? exponent - 24 : -149);
    return rounded;
}

/* The floats that the documentation allows for finite x; libm's exp2 of double is within 2^-50.  The
 * conversions to float are exact, but for 2 - 2^-23 and two ulp more: 2. */
static inline ex2_range ex2_documented(float x, int ftz)
{
    const double least = exp2((double)x) * (1 - 0x1p-50), most = exp2((double)x) * (1 + 0x1p-50);
    double ulp;
    const double lo = ex2_rounded(&ulp, least) - 2 * ulp;
    const double hi = ex2_rounded(&ulp, most) + 2 * ulp;
    ex2_range range;
    range.lo = least > 0x1p128 * (1 + 0x1p-20) ? INFINITY
               : lo > 0x1.fffffep127           ? 0x1.fffffep127f
               : lo < 0                        ? 0
                                               : (float)lo;
    range.hi = hi > 0x1.fffffep127 ? INFINITY : (float)hi;
    range.lo = ftz && range.lo < 0x1p-126f ? 0 : range.lo;
    range.hi = ftz && range.hi < 0x1p-126f ? 0 : range.hi;
    return range;
}

/* What ex2.approx.f32 (ftz: ex2.approx.ftz.f32) of x may be, for every float; table = NULL: of any GPU. */
static inline ex2_range ex2_approx(const ex2_table *table, float x, int ftz)
{
    float y;
    if (x != x)
        return ex2_point(ex2_float(0x7fffffffu));
    if (x == 0 || (ftz && fabsf(x) < 0x1p-126f))
        return ex2_point(1);
    if (isinf(x))
        return ex2_point(x > 0 ? x : 0);
    if (table && ex2_measured(&y, table, x))
        return ex2_point(y);
    return ex2_documented(x, ftz);
}

#endif
