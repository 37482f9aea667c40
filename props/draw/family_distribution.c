/* family_distribution.c - how each family makes q, k and v; those at an edge stand in family_edges.c, those
 * that are hard for a method in family_hard.c.
 *
 * Statements about scores are for feature=identity and rope=none, before rounding to the input dtype, which
 * adds at most a relative 2^-p to each value; they need q and k inside the dtype's range (in f16:
 * |scale| from 2^-9 to 2^9).  With scale=0 every score is 0 and the families that shape scores are `normal`.
 * Values of normal, uniform, flat and ones depend on nothing but their place; the others say on what.
 */
#include "props/draw/distribution_parts.h"

/* ---- exact values ---------------------------------------------------------------------------------- */

attest_exact attest_exact_wide(__int128 value, int exponent)
{
    attest_exact x = { 0, exponent, value < 0, 0 };
    wide magnitude = value < 0 ? -(wide)value : (wide)value;
    const uint64_t high = (uint64_t)(magnitude >> 64);
    const int drop = high ? 64 - __builtin_clzll(high) : 0;
    x.significand = (uint64_t)(magnitude >> drop);
    x.sticky = (magnitude & (((wide)1 << drop) - 1)) != 0;
    x.exponent += drop;
    return x;
}

/* ---- draws ----------------------------------------------------------------------------------------- */

uint64_t attest_place_index(attest_place at) { return attest_draw_index(at.b, at.h, at.token, at.channel); }

attest_exact attest_distribution_normal(const attest_stream *stream, attest_place at)
{
    return attest_exact_wide(attest_draw_normal(stream, attest_place_index(at)), -32);
}

/* ---- the families ---------------------------------------------------------------------------------- */

static attest_exact value_normal(const attest_distribution *distribution, attest_place at)
{
    int exponent;
    const uint64_t deviation = split(distribution->argument, &exponent); /* 53 bits; the draw has 36 */
    const int64_t draw = attest_draw_normal(&distribution->stream, attest_place_index(at));
    return attest_exact_wide((__int128)draw * (__int128)deviation, exponent - 32);
}

static attest_exact value_uniform(const attest_distribution *distribution, attest_place at)
{
    return attest_exact_wide(noise(distribution, at), -31);
}

static attest_exact value_flat(const attest_distribution *distribution, attest_place at)
{
    return distribution->stream.tensor == ATTEST_Q ? integer(0) : plain(distribution, at);
}

static attest_exact value_ones(const attest_distribution *distribution, attest_place at)
{
    return distribution->stream.tensor == ATTEST_V ? integer(1) : plain(distribution, at);
}

/* ramp-up: k holds the token's number in base 256, one digit a channel (at most three channels, the last one
 * takes the rest), times 2^-9; q is 2^x (1 + noise/8) there, one noise a row, with 2^x such that a key raises
 * the score by |scale| 2^(x-9) in [0.046, 0.094).  The other channels are noise: |scale| sqrt(d) 2^noise_exponent
 * is below 2^-3, the deviation of the score's noise below 0.05.  Depends on scale; on d in the noise and for d < 3. */
static void prepare_ramp(attest_distribution *distribution)
{
    int exponent, root, unit;
    const uint64_t significand = split(distribution->p->scale, &unit);
    const int length = bit_length(significand);
    if (!sizes_of(distribution, &exponent, &root))
        return;
    distribution->negative = attest_f64_bits(distribution->p->scale) >> 63 != 0;
    const int high = length > 1 && (significand >> (length - 2) & 1u); /* in the upper half */
    distribution->share = 1;
    distribution->share_exponent = 5 - exponent - high;
    distribution->key_exponent = -9;
    distribution->noise_exponent = -4 - exponent - root;
}

static attest_exact value_ramp(const attest_distribution *distribution, attest_place at)
{
    if (distribution->share == 0 || distribution->stream.tensor == ATTEST_V)
        return plain(distribution, at);
    if (at.channel >= digits_of(distribution))
        return beside_digits(distribution, at);
    if (distribution->stream.tensor == ATTEST_Q) {
        const int64_t factor = ((int64_t)1 << 34) + noise(distribution, (attest_place){ at.b, at.h, at.token, 0 });
        return attest_exact_wide(distribution->negative ? -factor : factor, distribution->share_exponent - 34);
    }
    return attest_exact_wide(digit_of(distribution, at.token, at.channel),
                             distribution->key_exponent + 8 * (int)at.channel);
}

/* ramp-down: ramp-up with q negated: a key lowers the score by [0.046, 0.094) and the first keys hold the maximum. */
static void prepare_ramp_down(attest_distribution *distribution)
{
    prepare_ramp(distribution);
    distribution->negative = !distribution->negative;
}

/* negative: q_c k_c scale d = -150 (1 + noise/64)(1 + noise/32): scores in -150 +- 4.8%, in bf16 +- 5.7%.
 * Depends on scale and d. */
static void prepare_negative(attest_distribution *distribution) { share(distribution, 150, 1, 24, 0); }

static attest_exact value_negative(const attest_distribution *distribution, attest_place at)
{
    if (distribution->share == 0 || distribution->stream.tensor == ATTEST_V)
        return plain(distribution, at);
    if (distribution->stream.tensor == ATTEST_Q)
        return noisy_share(distribution, at);
    const int64_t factor = ((int64_t)1 << 36) + noise(distribution, at);
    return signed_value(distribution, at, distribution->negative ? factor : -factor, distribution->key_exponent - 36);
}

/* huge: as negative with 160 in place of -150, times a level (2r-15)/16, r = 0..15: scores of +-150, +-130, ...,
 * +-10, each within 3.2%.  Depends on scale and d. */
static void prepare_huge(attest_distribution *distribution) { share(distribution, 160, 1, 24, 0); }

static attest_exact value_huge(const attest_distribution *distribution, attest_place at)
{
    if (distribution->share == 0 || distribution->stream.tensor == ATTEST_V)
        return plain(distribution, at);
    if (distribution->stream.tensor == ATTEST_Q)
        return noisy_share(distribution, at);
    const int64_t factor = (2 * level(distribution, at, 4) - 15) * (((int64_t)1 << 37) + noise(distribution, at));
    return signed_value(distribution, at, distribution->negative ? -factor : factor, distribution->key_exponent - 41);
}

/* range: q = share - {0..3} (8 bits), one draw a row; k = floor(r^2/4) - 60, r = 0..31: 31 integer levels from
 * -60 to 180, dense at the low end and not centred on 0 (center=zero is not center=mid).  Products are integers
 * in a common unit; their sums over d <= 256 channels are exact in f32.  A row with all levels has a range from
 * R - 2.8% to R + 0.4%.  Depends on scale and d. */
static void prepare_range(attest_distribution *distribution) { share(distribution, distribution->argument, 240, 8, 7); }

static attest_exact value_range(const attest_distribution *distribution, attest_place at)
{
    if (distribution->p->scale == 0 || distribution->stream.tensor == ATTEST_V)
        return plain(distribution, at);
    if (distribution->share == 0)
        return distribution->stream.tensor == ATTEST_Q ? integer(0) : plain(distribution, at);
    if (distribution->stream.tensor == ATTEST_Q) {
        const uint32_t less = word_of(&distribution->stream, BLOCK_NOISE, (attest_place){ at.b, at.h, at.token, 0 }) &
                              3u;
        return signed_value(distribution, at, (int64_t)distribution->share - (int64_t)less,
                            distribution->share_exponent);
    }
    const int64_t r = level(distribution, at, 5), units = r * r / 4 - 60;
    return signed_value(distribution, at, distribution->negative ? -units : units, distribution->key_exponent);
}

/* dyadic: integers.  Let |scale| = 2^-x, X = 2^max(x,0), Y = 2^max(-x,0), P the order, S >= sum_c |q_c k_c|.  Each
 * weight of term, power and Taylor with P <= 2, and each partial sum of it, is a multiple of a common unit and at
 * most 2 (X + Y S)^P units; with |v| <= 2 every partial sum of u and z over m keys is at most 4 m (X + Y S)^P.  S is
 * the largest with that below 2^p of acc, and one weight below 2^p of the type p.  If S >= 4d every channel is
 * in -2..2; if S >= d in -1..1; else one key channel in ceil(d/S) is, and which one turns with the token.  With
 * feature=elu1 the absolute values are taken (elu1 is rational then) and (x+1)(y+1) counts.  S < 1: the sparsest
 * draw, and nothing is claimed.  Depends on m, d, scale, the weight, acc and p. */
static uint64_t power_of(uint64_t base, uint32_t order, uint64_t limit)
{
    uint64_t value = 1;
    for (uint32_t i = 0; i < order; i++)
        if (__builtin_mul_overflow(value, base, &value) || value > limit)
            return limit + 1;
    return value;
}

static void prepare_dyadic(attest_distribution *distribution)
{
    const attest_problem *p = distribution->p;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const uint32_t order = weight->value == ATTEST_WEIGHT_EXP ? 1 : weight->order;
    const uint64_t sums = (1ull << attest_format_of(p->acc).p) / (4 * (uint64_t)p->m);
    const uint64_t cast = (1ull << attest_format_of(p->p).p) / 2;
    const uint64_t limit = sums < cast ? sums : cast; /* (X + Y S)^P < limit */
    int exponent;
    const uint64_t significand = split(p->scale, &exponent);
    exponent += bit_length(significand) - 1;
    const int x = exponent < -40 ? 40 : exponent > 40 ? -40 : -exponent;
    const uint64_t big_x = x > 0 ? 1ull << x : 1, big_y = x < 0 ? 1ull << -x : 1;
    const int elu = attest_axis_value_of(p, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_ELU1;
    const int64_t two = elu ? 9 : 4, one = elu ? 4 : 1;
    int64_t s = 0;
    while (s < two * p->d && power_of(big_x + big_y * (uint64_t)(s + 1), order, limit) < limit)
        s++;
    distribution->amplitude = s >= two * p->d ? 2 : 1;
    distribution->period = s >= one * p->d ? 1 : s > 0 ? (p->d + s - 1) / s : p->d;
}

static attest_exact value_dyadic(const attest_distribution *distribution, attest_place at)
{
    const uint32_t word = word_of(&distribution->stream, BLOCK_NOISE, at);
    const uint32_t role = distribution->stream.tensor;
    const int64_t amplitude = role == ATTEST_V ? 2 : distribution->amplitude;
    if (role == ATTEST_K && (at.channel + at.token) % distribution->period != 0)
        return integer(0);
    int64_t value = (int64_t)(word % (uint32_t)(2 * amplitude + 1)) - amplitude;
    if (role != ATTEST_V && value < 0 &&
        attest_axis_value_of(distribution->p, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_ELU1)
        value = -value;
    return integer(value);
}

/* positive: 2^32 levels from 0 to 1 - 2^-32. */
static attest_exact value_positive(const attest_distribution *distribution, attest_place at)
{
    return attest_exact_wide((int64_t)word_of(&distribution->stream, BLOCK_NOISE, at), -32);
}

/* integers: all of -4..4 (q) or -2..2 (k, v) alike, up to what 2^32 words cannot be shared into. */
static attest_exact value_integers(const attest_distribution *distribution, attest_place at)
{
    const int64_t largest = distribution->stream.tensor == ATTEST_Q ? 4 : 2;
    return integer((int64_t)(word_of(&distribution->stream, BLOCK_NOISE, at) % (uint32_t)(2 * largest + 1)) - largest);
}

const attest_distribution_info attest_distributions[FAMILY_COUNT] = {
    [FAMILY_NORMAL] = { 1, 0, 3, 0, NULL, value_normal }, /* |value| < 6 STD < 2^3 STD */
    [FAMILY_UNIFORM] = { 0, 0, 0, 0, NULL, value_uniform },
    [FAMILY_FLAT] = { 0, 0, 0, 0, NULL, value_flat },
    [FAMILY_ONES] = { 0, 0, 0, 0, NULL, value_ones },
    [FAMILY_RAMP_UP] = { 0, 0, 0, 0, prepare_ramp, value_ramp },
    [FAMILY_NEGATIVE] = { 0, 0, 0, 0, prepare_negative, value_negative },
    [FAMILY_HUGE] = { 0, 0, 0, 0, prepare_huge, value_huge },
    [FAMILY_RANGE] = { 8, 1, 1, 0, prepare_range, value_range },
    [FAMILY_DYADIC] = { 0, 0, 0, 0, prepare_dyadic, value_dyadic },
    [FAMILY_PEAKED] = { 0, 0, 0, 0, attest_prepare_peaked, attest_value_peaked },
    [FAMILY_RAMP_DOWN] = { 0, 0, 0, 0, prepare_ramp_down, value_ramp },
    [FAMILY_CANCEL] = { 0, 0, 0, 0, attest_prepare_cancel, attest_value_cancel },
    [FAMILY_ONEHOT] = { 0, 0, 0, 0, NULL, attest_value_onehot },
    [FAMILY_REPEAT_MAX] = { 0, 0, 0, 0, attest_prepare_repeat, attest_value_repeat },
    [FAMILY_SUBNORMAL] = { 0, 0, 0, 0, NULL, attest_value_subnormal },
    [FAMILY_NEAR_ZERO_DENOMINATOR] = { 0, 0, 0, 0, attest_prepare_denominator, attest_value_denominator },
    [FAMILY_CAST_EDGE] = { 0, 0, 0, 0, attest_prepare_edge, attest_value_edge },
    [FAMILY_POSITIVE] = { 0, 0, 0, 0, NULL, value_positive },
    [FAMILY_INTEGERS] = { 0, 0, 0, 0, NULL, value_integers },
    [FAMILY_STAIRS] = { 16, 0, 0, 1 << 20, attest_prepare_stairs, attest_value_stairs },
    [FAMILY_HALF_PEAK] = { 0, 0, 0, 0, attest_prepare_half, attest_value_half },
    [FAMILY_LARGE_PRODUCTS] = { 0, 0, 0, 0, attest_prepare_large, attest_value_large },
    [FAMILY_TAYLOR_ROOTS] = { 0, 0, 0, 0, attest_prepare_roots, attest_value_roots },
    [FAMILY_P_UNDERFLOW] = { 0, 0, 0, 0, attest_prepare_underflow, attest_value_underflow },
    [FAMILY_ZERO_KEYS] = { 0, 0, 0, 0, NULL, attest_value_zero_keys },
    [FAMILY_OFFSET] = { 0, 0, 0, 0, NULL, attest_value_offset },
    [FAMILY_EDGES] = { 0, 0, 0, 0, NULL, attest_value_plain },
};
