/* family_edges.c - families that put a row at an edge: one key, ties, cancellation, subnormals, a vanishing
 * denominator, a cast.  The statements at the top of family_distribution.c hold here too.
 */
#include "props/draw/distribution_parts.h"

/* ---- peaked ---------------------------------------------------------------------------------------- */

/* peaked: L = min(d, 8) channels hold the low L bits of a key's number as +-1 (1 + noise/32), keys from 2^L on
 * noise/8 instead; q is the code of the row's peak, a key drawn from the first min(row+1, M, 2^L).  With a step
 * |scale| q_c k_c in [8,16) a channel (d < 4: [32,64)) the peak's score is at least 12 above every key of another code
 * and 27 above the keys from 2^L on: it has at least 0.999 of the weight e^s if it is visible (causal: it is; window,
 * lens: not always).  The other channels are noise as in ramp-up.  Depends on scale and d; the peak on the row,
 * and on M below 2^L. */
void attest_prepare_peaked(attest_distribution *distribution)
{
    int exponent, root;
    if (!sizes_of(distribution, &exponent, &root))
        return;
    distribution->negative = attest_f64_bits(distribution->p->scale) >> 63 != 0;
    distribution->share = 1;
    distribution->key_exponent = -exponent / 2;
    distribution->share_exponent = (distribution->p->d < 4 ? 5 : 3) - exponent - distribution->key_exponent;
    distribution->noise_exponent = -4 - exponent - root;
}

attest_exact attest_value_peaked(const attest_distribution *distribution, attest_place at)
{
    const int64_t length = distribution->p->d < 8 ? distribution->p->d : 8, codes = (int64_t)1 << length;
    if (distribution->share == 0 || distribution->stream.tensor == ATTEST_V)
        return plain(distribution, at);
    if (at.channel >= length)
        return attest_exact_wide(noise(distribution, at),
                                 distribution->stream.tensor == ATTEST_Q ? -31 : distribution->noise_exponent - 31);
    if (distribution->stream.tensor == ATTEST_Q) {
        const int64_t keys = distribution->p->m < codes ? distribution->p->m : codes,
                      seen = at.token < keys ? at.token + 1 : keys;
        const uint32_t word = word_of(&distribution->stream, BLOCK_NOISE, (attest_place){ at.b, at.h, at.token, 0 });
        const int plus = (word % (uint64_t)seen >> at.channel & 1u) != 0;
        return signed_value(distribution, at, plus != distribution->negative ? 1 : -1, distribution->share_exponent);
    }
    if (at.token >= codes)
        return attest_exact_wide(noise(distribution, at), distribution->key_exponent - 34);
    const int64_t factor = ((int64_t)1 << 36) + noise(distribution, at);
    return signed_value(distribution, at, at.token >> at.channel & 1 ? factor : -factor,
                        distribution->key_exponent - 36);
}

/* ---- cancel, onehot, repeat-max, subnormal ------------------------------------------------------------ */

/* cancel: scores of 1 +- 2^-7 (in bf16 +- 2^-6), so that weights are nearly equal whatever the weight of low order;
 * v in +-[1,2), keys 2r and 2r+1 with one magnitude and opposite signs.  A row that sees whole pairs has |o| below
 * 2^-5 with softmax; an unpaired key adds 2 over the visible keys.  Depends on scale and d. */
void attest_prepare_cancel(attest_distribution *distribution) { share(distribution, 1, 1, 24, 0); }

attest_exact attest_value_cancel(const attest_distribution *distribution, attest_place at)
{
    if (distribution->share == 0)
        return plain(distribution, at);
    if (distribution->stream.tensor == ATTEST_V) {
        const attest_place pair = { at.b, at.h, at.token & ~(int64_t)1, at.channel };
        const int64_t size = ((int64_t)3 << 31) + noise(distribution, pair);
        return signed_value(distribution, at, at.token & 1 ? -size : size, -32);
    }
    const int64_t factor = ((int64_t)1 << 39) + noise(distribution, at);
    if (distribution->stream.tensor == ATTEST_Q)
        return signed_value(distribution, at, (__int128)distribution->share * factor,
                            distribution->share_exponent - 39);
    return signed_value(distribution, at, distribution->negative ? -factor : factor, distribution->key_exponent - 39);
}

/* onehot: q and k normal; channel c of o is the weight of the keys j with j mod e = c.  Depends on e in v. */
attest_exact attest_value_onehot(const attest_distribution *distribution, attest_place at)
{
    return distribution->stream.tensor == ATTEST_V ? integer(at.channel == at.token % distribution->p->e)
                                                   : plain(distribution, at);
}

/* repeat-max: q as in negative with 4 in place of -150; k is sign(c) 2^x for one key in four (one in each aligned
 * four, and one of the first two), the same bits each time, and a fraction of that below 3/4 for the others: equal
 * maxima at 4 +- 2%, all other scores at least 0.9 lower.  v has one sign a channel.  Depends on scale and d. */
void attest_prepare_repeat(attest_distribution *distribution) { share(distribution, 4, 1, 24, 0); }

attest_exact attest_value_repeat(const attest_distribution *distribution, attest_place at)
{
    attest_exact x = plain(distribution, at);
    if (distribution->share == 0)
        return x;
    if (distribution->stream.tensor == ATTEST_V) {
        x.negative = channel_sign(distribution, at.channel) < 0;
        return x;
    }
    if (distribution->stream.tensor == ATTEST_Q)
        return noisy_share(distribution, at);
    const int64_t part = 3 * (noise(distribution, at) + ((int64_t)1 << 31)); /* 2^34 times [0, 3/4) */
    const int64_t factor = level(distribution, at, 2) == 3 ? (int64_t)1 << 34 : part;
    return signed_value(distribution, at, distribution->negative ? -factor : factor, distribution->key_exponent - 34);
}

/* subnormal: q and v are normal draws times the least normal number 2^emin of the input dtype, two of three
 * subnormal; k times 2^(-emin-2), below 2^(emax+1): q_c k_c is a product of two normals over 4, which a kernel that
 * flushes q loses.  Depends on nothing but the place.  Products of keys alone leave the range of f32. */
attest_exact attest_value_subnormal(const attest_distribution *distribution, attest_place at)
{
    const int emin = attest_format_of(attest_kv_dtype(distribution->p)).emin;
    attest_exact x = plain(distribution, at);
    x.exponent += distribution->stream.tensor == ATTEST_K ? -emin - 2 : emin;
    return x;
}

/* ---- near-zero-denominator ---------------------------------------------------------------------------- */

/* T_P(-x) 2^40 for x 2^40. */
static __int128 taylor_below(uint32_t order, int64_t x)
{
    const __int128 one = (__int128)1 << 40;
    __int128 h = one;
    for (uint32_t n = order; n > 0; n--)
        h = one - h * x / ((__int128)n << 40);
    return h;
}

int64_t attest_taylor_cross(uint32_t order, int64_t target, int64_t low, int64_t high)
{
    const int above = taylor_below(order, low) > target;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if ((taylor_below(order, middle) > target) == above)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t attest_taylor_high(uint32_t order) { return ((int64_t)1 << 40) / 10 * (3 * (int64_t)order + 25); }

/* near-zero-denominator: keys 2r and 2r+1 have weights of opposite sign and nearly one size.  Taylor of an odd order
 * up to 15 (center=zero, identity, no rope): scores x (1 +- y) around its real root x, y in [1/32, 3/32] (from P = 9 on
 * half of that) drawn per pair and channel; odd power and term: +-1 (1 + noise/4), the second of a pair off by 1/64 at
 * most.  A row that sees whole pairs has |z| below a quarter of the sum of |w|; any other weight is drawn as `normal`.
 * q = share with a noise of 2^-10.  Depends on scale, d and the weight. */
void attest_prepare_denominator(attest_distribution *distribution)
{
    const attest_problem *p = distribution->p;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const int format = attest_format_of(attest_kv_dtype(p)).p, bits = format < 24 ? format : 24;
    if (weight->value == ATTEST_WEIGHT_EXP || weight->order % 2 == 0 ||
        attest_axis_value_of(p, ATTEST_AXIS_CENTER) != ATTEST_CENTER_ZERO ||
        attest_axis_value_of(p, ATTEST_AXIS_FEATURE) != ATTEST_FEATURE_IDENTITY ||
        attest_axis_value_of(p, ATTEST_AXIS_ROPE) != ATTEST_ROPE_NONE)
        return;
    distribution->period = weight->value != ATTEST_WEIGHT_TAYLOR ? 0 : weight->order > 7 ? 2 : 1;
    if (!distribution->period)
        share(distribution, 1, 1, bits, 0);
    else if (weight->order <= 15)
        share(distribution,
              (double)attest_taylor_cross(weight->order, 0, 0, attest_taylor_high(weight->order)) * 0x1p-40, 1, bits,
              0);
}

attest_exact attest_value_denominator(const attest_distribution *distribution, attest_place at)
{
    const int odd = at.token & 1;
    const attest_place pair = { at.b, at.h, at.token & ~(int64_t)1, at.channel };
    if (distribution->share == 0 || distribution->stream.tensor == ATTEST_V)
        return plain(distribution, at);
    if (distribution->stream.tensor == ATTEST_Q) {
        const int64_t factor = ((int64_t)1 << 41) + noise(distribution, at);
        return signed_value(distribution, at, (__int128)distribution->share * factor,
                            distribution->share_exponent - 41);
    }
    const int64_t common = noise(distribution, pair), own = odd ? noise(distribution, at) : 0;
    if (distribution->period) {                                                    /* the root is negative */
        const int64_t away = (((int64_t)1 << 32) + common) / distribution->period; /* 2^36 y */
        const int64_t factor = ((int64_t)1 << 36) + (odd ? -away : away);
        return signed_value(distribution, at, distribution->negative ? factor : -factor,
                            distribution->key_exponent - 36);
    }
    const __int128 factor = (__int128)(((int64_t)1 << 33) + common) * (((int64_t)1 << 37) + own);
    return signed_value(distribution, at, odd != distribution->negative ? -factor : factor,
                        distribution->key_exponent - 70);
}

/* ---- cast-edge ---------------------------------------------------------------------------------------- */

/* -2^60 ln(1/2 (1 + y)) for y = f 2^-shift, 0 <= y < 2^-7: ln(1+y) by its series to y^6, which leaves less than
 * y^7/7 < 2^-51, and each of the steps and LN2 less than a unit: error below 2^-50, which for y < 2^-10 and 2^-23 is
 * only the units. */
static int64_t distance(uint32_t f, int shift)
{
    const __int128 one = (__int128)1 << 60, y = ((__int128)f << 60) >> shift;
    __int128 h = one / 6;
    for (int n = 5; n > 0; n--)
        h = one / n - (y * h >> 60);
    return LN2 - (int64_t)(y * h >> 60);
}

/* 2^16 f of a row: 1/2 + 2^-12 in every eighth row, 1 - 2^-12 in every eighth, else drawn, odd. */
static uint32_t edge_of(const attest_distribution *distribution, attest_place at)
{
    if (at.token % 8 == 3)
        return 0x8010;
    if (at.token % 8 == 7)
        return 0xfff0;
    return word_of(&distribution->stream, BLOCK_NOISE, (attest_place){ at.b, at.h, at.token, 0 }) >> 16 | 1u;
}

/* Channel n of a number: what the n channels before it leave, rounded to the dtype; 0 beyond the number's 62 bits. */
static attest_exact part_of(uint32_t dtype, __int128 rest, int exponent, int64_t n)
{
    for (;; n--) {
        const attest_exact x = attest_exact_wide(rest, exponent);
        const uint64_t bits = attest_round_scaled(dtype, x.negative, x.significand, x.exponent, x.sticky);
        const double value = attest_to_f64(dtype, bits);
        int unit = 0;
        if (n == 0 || value == 0 || value - value != 0) /* last, all said, or infinite */
            return n == 0 ? x : integer(0);
        const uint64_t significand = split(value, &unit);
        const int places = unit - exponent; /* the value has no bit below 2^exponent */
        const __int128 size = places >= 0 ? (__int128)significand << places : (__int128)(significand >> -places);
        rest -= x.negative ? -size : size;
    }
}

attest_exact attest_part_of_score(const attest_distribution *distribution, wide target, int negative, int64_t n)
{
    int exponent;
    const wide quotient = target /
                          split(distribution->p->scale, &exponent); /* the floor costs less than 2^-60 relative */
    const int drop = bit_length(quotient) - 62;
    const __int128 rest = (__int128)(quotient >> drop);
    return part_of(attest_kv_dtype(distribution->p), negative != distribution->negative ? -rest : rest,
                   drop - 124 - exponent, n);
}

/* cast-edge: key 0 and every 64th key have score 0, all others ln(1/2 (1 + f 2^-(bits-1))), bits the precision of the
 * type p (at most 24); f is one of 2^16 parts of (0,1) per row, see edge_of().  So the weights are f ulps above
 * 1/2: a cast to nearest is off by up to u (f next to 1/2), a truncation by up to 2u (f next to 1), all keys of a row
 * alike, and o by that times the share of the keys with score below 0 (63/65 or less).  v = 13/8: 2u of it are more
 * than three half ulps, so that a truncation stays visible when o is rounded to the same type.
 * The score is good to 2^-50 and 2^-60 relative: over the channels of q stand its value in `in`, then what is left,
 * and so on; k is 1 there (0 for the maximal keys), so the products are exact.  With too few channels (d < 3 in bf16,
 * d < 2 in f16) f is not what was drawn.  Depends on scale and p. */
void attest_prepare_edge(attest_distribution *distribution)
{
    distribution->share = attest_f64_bits(distribution->p->scale) << 1 != 0;
    distribution->negative = attest_f64_bits(distribution->p->scale) >> 63 != 0;
}

attest_exact attest_value_edge(const attest_distribution *distribution, attest_place at)
{
    if (distribution->share == 0)
        return plain(distribution, at);
    if (distribution->stream.tensor == ATTEST_V)
        return attest_exact_wide(13, -3);
    if (distribution->stream.tensor == ATTEST_K)
        return integer(at.token % 64 != 0);
    const int bits = attest_format_of(distribution->p->p).p;
    const wide target = (wide)distance(edge_of(distribution, at), 16 + (bits < 24 ? bits : 24) - 1) << 64;
    return attest_part_of_score(distribution, target, 1, at.channel);
}
