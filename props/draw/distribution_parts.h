/* distribution_parts.h - private to props/: what the distributions of families are made of: exact values, draws at a
 * place, shares of a score.  Integer arithmetic only.
 */
#ifndef ATTEST_DISTRIBUTION_PARTS_H
#define ATTEST_DISTRIBUTION_PARTS_H

#include "props/draw/family_distribution.h"

#include "kernels/attest_float.h"

typedef unsigned __int128 wide;

/* Blocks 0..2 are the normal draw; uniform noise is word 0 of block 0. */
#define LN2 0x0b17217f7d1cf79aLL /* floor(2^60 ln 2) */

enum { BLOCK_NOISE = 0, BLOCK_SIGN = 3, BLOCK_LEVEL = 4 };

/* ---- exact values ---------------------------------------------------------------------------------- */

static inline attest_exact integer(int64_t value) { return attest_exact_wide(value, 0); }

/* The double x as significand * 2^exponent (x finite); the sign is left out. */
static inline uint64_t split(double x, int *exponent)
{
    const uint64_t bits = attest_f64_bits(x);
    const int biased = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & 0xfffffffffffffull;
    *exponent = biased ? biased - 1075 : -1074;
    return biased ? fraction | 1ull << 52 : fraction;
}

static inline int bit_length(wide x)
{
    int n = 0;
    for (; x; x >>= 1)
        n++;
    return n;
}

/* ---- draws ----------------------------------------------------------------------------------------- */

static inline uint32_t word_of(const attest_stream *stream, uint32_t block, attest_place at)
{
    uint32_t words[4];
    attest_draw_words(words, stream, block, attest_place_index(at));
    return words[0];
}

/* 2^31 times a uniform number in [-1,1). */
static inline int64_t noise(const attest_distribution *distribution, attest_place at)
{
    return (int64_t)word_of(&distribution->stream, BLOCK_NOISE, at) - ((int64_t)1 << 31);
}

static inline attest_exact plain(const attest_distribution *distribution, attest_place at)
{
    return attest_distribution_normal(&distribution->stream, at);
}

/* +1 or -1 of a channel, the same for q and k: products q_c k_c keep their sign, q and k do not. */
static inline int channel_sign(const attest_distribution *distribution, int64_t channel)
{
    const attest_stream q = { distribution->stream.seed, distribution->stream.case_number, ATTEST_Q };
    return word_of(&q, BLOCK_SIGN, (attest_place){ 0, 0, 0, channel }) & 1u ? -1 : 1;
}

/* A level 0..2^bits-1 of a key: any 2^bits keys that start at a multiple of it hold every level once, and the
 * first two keys of a head hold the lowest and the highest. */
static inline int64_t level(const attest_distribution *distribution, attest_place at, int bits)
{
    const int64_t count = (int64_t)1 << bits, within = at.token & (count - 1), block = at.token >> bits;
    const int64_t order = within & 1 ? within >> 1 : count - 1 - (within >> 1);
    const uint32_t word = word_of(&distribution->stream, BLOCK_LEVEL, (attest_place){ at.b, at.h, block, 0 });
    const int64_t flip = block ? (int64_t)word & (count - 1) : word & 1u ? count - 1 : 0;
    return order ^ flip;
}

static inline attest_exact signed_value(const attest_distribution *distribution, attest_place at, __int128 value,
                                        int exponent)
{
    return attest_exact_wide(value * channel_sign(distribution, at.channel), exponent);
}

/* ---- shares: q_c k_c = target / (|scale| d), the same for every channel ------------------------------ */

/* share * 2^share_exponent * 2^key_exponent = target/(divisor |scale|), rounded to `bits` bits.  key_exponent
 * splits the magnitude evenly between q and k, whose largest value is 2^(key_bits + key_exponent). */
static inline void share_of(attest_distribution *distribution, double target, uint64_t divisor, int bits, int key_bits)
{
    int target_exponent, scale_exponent;
    const uint64_t numerator = split(target, &target_exponent);
    const wide denominator = (wide)split(distribution->p->scale, &scale_exponent) * divisor; /* < 2^77 */
    distribution->negative = attest_f64_bits(distribution->p->scale) >> 63 != 0;
    distribution->share = 0;
    if (denominator == 0 || numerator == 0)
        return;
    const int shift = 127 - bit_length(numerator);
    wide quotient = ((wide)numerator << shift) / denominator; /* >= 2^49; the floor costs 2^-49 relative */
    const int drop = bit_length(quotient) - bits;
    quotient = (quotient + ((wide)1 << (drop - 1))) >> drop; /* relative error at most 2^-bits; may be 2^bits */
    distribution->share = (uint64_t)quotient;
    const int exponent = target_exponent - scale_exponent - shift + drop; /* of the quotient */
    distribution->key_exponent = (exponent + bits - key_bits) / 2;
    distribution->share_exponent = exponent - distribution->key_exponent;
}

static inline void share(attest_distribution *distribution, double target, unsigned divisor, int bits, int key_bits)
{
    share_of(distribution, target, (uint64_t)distribution->p->d * divisor, bits, key_bits);
}

/* Largest x with 2^x <= |scale|, least r with 4^r >= d; 0 if scale is 0. */
static inline int sizes_of(const attest_distribution *distribution, int *x, int *r)
{
    const uint64_t significand = split(distribution->p->scale, x);
    *x += bit_length(significand) - 1;
    for (*r = 0; ((int64_t)1 << (2 * *r)) < distribution->p->d;)
        ++*r;
    return significand != 0;
}

/* q's factor of negative and huge: share with a noise of 1/64. */
static inline attest_exact noisy_share(const attest_distribution *distribution, attest_place at)
{
    const int64_t factor = ((int64_t)1 << 37) + noise(distribution, at);
    return signed_value(distribution, at, (__int128)distribution->share * factor, distribution->share_exponent - 37);
}

/* ---- ramps: k counts in base 256, a digit a channel, in at most 3 channels; the last holds all that is left ---- */

static inline int64_t digits_of(const attest_distribution *distribution)
{
    return distribution->p->d < 3 ? distribution->p->d : 3;
}

static inline int64_t digit_of(const attest_distribution *distribution, int64_t number, int64_t channel)
{
    const int64_t rest = number >> (8 * channel);
    return channel == digits_of(distribution) - 1 ? rest : rest & 255;
}

/* A channel without digit: noise of q in +-1, of k in +-2^noise_exponent. */
static inline attest_exact beside_digits(const attest_distribution *distribution, attest_place at)
{
    return attest_exact_wide(noise(distribution, at),
                             distribution->stream.tensor == ATTEST_Q ? -31 : distribution->noise_exponent - 31);
}

#endif
