/* mma_lanes.h - the rule of mma.h for eight output elements of one row at a time: the same bits, a tenth of the time.
 *
 * Entries of a and b are packed once, for all the rows or columns that meet them: the value, and its exponent as the
 * rule takes it.  E is then a maximum of sums of 16-bit integers.  Where all eight lie in [2^-100, 2^120], floats do
 * the rest exactly: a product of two 11-bit numbers, times 2^(F-E), converted to an integer, is the addend in units of
 * 2^(E-F), cut toward zero; what the products of eight addends or the factor lose below 2^-126 is far below that unit.
 * Eight addends are below 2^31; the two halves of a step meet in double, where clearing 29 bits cuts them to 24.
 * Anything else (NaN, infinities, tiny or huge numbers) goes the way of mma.h.
 */
#ifndef ATTEST_MODEL_MMA_LANES_H
#define ATTEST_MODEL_MMA_LANES_H

#include "mma.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    MMA_LANES = 8,
    MMA_ZERO = -8000,     /* exponent of a zero: with any other far below all that count, .. */
    MMA_INFINITE = 16000, /* .. of an infinity or NaN: with any other far above */
    MMA_NONE = -4000,     /* below it: a product with a zero */
    MMA_LEAST = -100,
    MMA_LARGEST = 120
};

/* Entries of b: entry t of lane n is value[t stride + n]. */
typedef struct mma_right {
    const float *value;
    const int16_t *exponent;
    int64_t stride;
} mma_right;

/* Entries of a, which all lanes share: value[t], and its exponent eight times. */
typedef struct mma_left {
    const float *value;
    const int16_t *exponent; /* [t][MMA_LANES] */
} mma_left;

/* An entry x of b, ready for mma_lanes(). */
static inline void mma_pack(const mma_rule *rule, float x, float *value, int16_t *exponent)
{
    *value = mma_read(rule, x);
    const uint32_t bits = mma_bits(*value);
    const int field = (int)(bits >> 23 & 0xff), e = field - 127 > rule->least_in ? field - 127 : rule->least_in;
    *exponent = (int16_t)(field == 0xff ? MMA_INFINITE : bits << 1 ? e : MMA_ZERO);
}

/* An entry x of a; exponent[MMA_LANES]. */
static inline void mma_pack_left(const mma_rule *rule, float x, float *value, int16_t *exponent)
{
    mma_pack(rule, x, value, exponent);
    for (int n = 1; n < MMA_LANES; n++)
        exponent[n] = exponent[0];
}

typedef int16_t mma_shorts __attribute__((vector_size(16)));
typedef float mma_floats __attribute__((vector_size(16)));
typedef int32_t mma_ints __attribute__((vector_size(16)));

/* top[n] = the larger of it and x[n] + y[n]. */
static inline void mma_raise(mma_shorts *top, const int16_t *x, const int16_t *y)
{
    mma_shorts sum, other;
    memcpy(&sum, x, sizeof sum);
    memcpy(&other, y, sizeof other);
    sum += other;
#if defined(__SSE2__)
    *top = (mma_shorts)_mm_max_epi16((__m128i)sum, (__m128i)*top);
#else
    const mma_shorts larger = (mma_shorts)(sum > *top);
    *top = (sum & larger) | (*top & ~larger);
#endif
}

/* sum[8] += a_t b_t scale[8] for t in [first,last), each cut toward zero to an integer. */
static inline void mma_addends(int32_t *sum, const float *scale, const float *a, const mma_right *b, int first,
                               int last)
{
    mma_floats low_scale, high_scale, low, high;
    mma_ints low_sum, high_sum;
    memcpy(&low_scale, scale, sizeof low_scale);
    memcpy(&high_scale, scale + 4, sizeof high_scale);
    memcpy(&low_sum, sum, sizeof low_sum);
    memcpy(&high_sum, sum + 4, sizeof high_sum);
    for (int t = first; t < last; t++) {
        memcpy(&low, b->value + t * b->stride, sizeof low);
        memcpy(&high, b->value + t * b->stride + 4, sizeof high);
        low_sum += __builtin_convertvector(low * a[t] * low_scale, mma_ints);
        high_sum += __builtin_convertvector(high * a[t] * high_scale, mma_ints);
    }
    memcpy(sum, &low_sum, sizeof low_sum);
    memcpy(sum + 4, &high_sum, sizeof high_sum);
}

/* E of each lane; 0: some lane has to go the way of mma.h. */
static inline int mma_tops(const mma_rule *rule, int32_t *top, const float *c, const int16_t *a, const mma_right *b,
                           int count)
{
    const int floor = rule->floor > MMA_LEAST ? rule->floor : MMA_LEAST;
    mma_shorts tops = { 2 * MMA_ZERO, 2 * MMA_ZERO, 2 * MMA_ZERO, 2 * MMA_ZERO,
                        2 * MMA_ZERO, 2 * MMA_ZERO, 2 * MMA_ZERO, 2 * MMA_ZERO };
    for (int t = 0; t < count; t++)
        mma_raise(&tops, b->exponent + t * b->stride, a + t * MMA_LANES);
    int16_t products[MMA_LANES];
    memcpy(products, &tops, sizeof products);
    int beyond = 0;
    for (int n = 0; n < MMA_LANES; n++) {
        const uint32_t bits = mma_bits(c[n]);
        const int field = (int)(bits >> 23 & 0xff) - 127, own = field > rule->least_out ? field : rule->least_out;
        const int start = bits << 1 ? own : 2 * MMA_ZERO, e = products[n] > start ? products[n] : start;
        beyond |= (e > MMA_LARGEST) | ((e < floor) & (rule->floor < MMA_LEAST) & (e > MMA_NONE));
        top[n] = e > floor ? e : floor;
    }
    return !beyond;
}

/* c[n] = (low[n] + high[n]) unit[n] as d. */
static inline void mma_finish(const mma_rule *rule, float *c, const int32_t *low, const int32_t *high,
                              const float *unit)
{
    double all[MMA_LANES];
    for (int n = 0; n < MMA_LANES; n++)
        all[n] = (double)low[n] + (double)high[n];
    if (rule->to_f16)
        for (int n = 0; n < MMA_LANES; n++)
            c[n] = mma_round_f16(all[n] * (double)unit[n]);
    else
        for (int n = 0; n < MMA_LANES; n++) {
            uint64_t bits;
            memcpy(&bits, &all[n], sizeof bits);
            bits = bits >> 29 << 29;
            memcpy(&all[n], &bits, sizeof bits);
            c[n] = (float)(all[n] * (double)unit[n]);
        }
}

/* c[n] = one step of the rule, n < 8, for `count` <= rule->products products of a_t and b_tn. */
static inline void mma_lanes_step(const mma_rule *rule, float *c, const mma_left *a, const mma_right *b, int count)
{
    int32_t top[MMA_LANES], sum[2][MMA_LANES] = { { 0 } };
    float scale[MMA_LANES], unit[MMA_LANES];
    if (!mma_tops(rule, top, c, a->exponent, b, count)) {
        for (int n = 0; n < MMA_LANES; n++)
            c[n] = mma_step(rule, c[n], a->value, b->value + n, b->stride, count);
        return;
    }
    for (int n = 0; n < MMA_LANES; n++) {
        scale[n] = mma_float((uint32_t)(127 + rule->fraction - top[n]) << 23);
        unit[n] = mma_float((uint32_t)(127 - rule->fraction + top[n]) << 23);
        sum[0][n] = (int32_t)(c[n] * scale[n]);
    }
    mma_addends(sum[0], scale, a->value, b, 0, count < 8 ? count : 8);
    if (count > 8)
        mma_addends(sum[1], scale, a->value, b, 8, count);
    mma_finish(rule, c, sum[0], sum[1], unit);
}

/* c[n] += sum_{t<count} a_t b_tn, n < 8: chains of steps. */
static inline void mma_lanes(const mma_rule *rule, float *c, mma_left a, mma_right b, int64_t count)
{
    for (int64_t t = 0; t < count; t += rule->products) {
        const int some = (int)(count - t < rule->products ? count - t : rule->products);
        mma_lanes_step(rule, c, &a, &b, some);
        a.value += some;
        a.exponent += some * MMA_LANES;
        b.value += some * b.stride;
        b.exponent += some * b.stride;
    }
}

#endif
