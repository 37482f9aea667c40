/* family_hard.c - families that are hard for a method: a maximum that rises in every tile, a sum of one large and
 * many small terms, products that cancel, roots of Taylor sums, weights that underflow, keys of zeros. The statements
 * at the top of family_distribution.c hold here too.
 */
#include "props/draw/distribution_parts.h"

#include "kernels/problem/problem.h"

/* ---- stairs -------------------------------------------------------------------------------------------- */

/* stairs: k holds the number of the key's step, floor(j/KEYS), in base 256, one digit a channel as in ramp-up, times
 * 2^-7; q is 0.7 2^7/scale (1 + noise/64) there, one noise a row. So each step's scores stand 0.7 +- 2% above those
 * of the step before. Inside a step: 0.0223 at most from channel 0, whose digit has a noise of 1/32 (as far as `in`
 * holds it), and a deviation below 0.011 from the channels without digit. Step numbers up to 256 (d = 1), 2^16 (d =
 * 2), 2^24 are exact in every dtype; in f16 those up to 2^23 are in range. Depends on scale; on d in the noise and
 * for d < 3. */
void attest_prepare_stairs(attest_distribution *distribution)
{
    int exponent, root;
    distribution->period = (int64_t)distribution->argument;
    share_of(distribution, 0.7, 1, 24, 0);
    if (!sizes_of(distribution, &exponent, &root))
        return;
    distribution->share_exponent += distribution->key_exponent + 7;
    distribution->key_exponent = -7;
    distribution->noise_exponent = -6 - exponent - root;
}

attest_exact attest_value_stairs(const attest_distribution *distribution, attest_place at)
{
    if (distribution->share == 0 || distribution->stream.tensor == ATTEST_V)
        return plain(distribution, at);
    if (at.channel >= digits_of(distribution))
        return beside_digits(distribution, at);
    if (distribution->stream.tensor == ATTEST_Q) {
        const int64_t row = ((int64_t)1 << 37) + noise(distribution, (attest_place){ at.b, at.h, at.token, 0 });
        return attest_exact_wide((__int128)distribution->share * (distribution->negative ? -row : row),
                                 distribution->share_exponent - 37);
    }
    const int64_t digit = digit_of(distribution, at.token / distribution->period, at.channel);
    const __int128 places = ((__int128)digit << 36) + (at.channel == 0 ? noise(distribution, at) : 0);
    return attest_exact_wide(places, distribution->key_exponent + 8 * (int)at.channel - 36);
}

/* ---- half-peak ----------------------------------------------------------------------------------------- */

/* 2^40 ln(count), low by less than 4: digits of the binary logarithm by squaring; the floors of 40 squarings of a
 * number in 62 places leave the last digit in doubt. */
static int64_t logarithm(uint64_t count)
{
    const int length = bit_length(count) - 1;
    uint64_t x = count << (62 - length), digits = (uint64_t)length;
    for (int i = 0; i < 40; i++) {
        x = (uint64_t)((wide)x * x >> 62);
        digits = digits << 1 | x >> 63;
        x >>= x >> 63;
    }
    return (int64_t)((wide)digits * (wide)LN2 >> 60);
}

/* half-peak: key 0 is 0 and has score 0; the others have -ln(n-1) (1 +- 4.8%), in bf16 +- 6%, where n is how many
 * keys the row sees: noise of 1/64 in q and 1/32 in k for each channel. So the peak has 1/(1 + (n-1)^x) of the
 * weight e^s, |x| <= 0.06: 0.42 to 0.58 for n = 300, nearer to 1/2 in a mean over keys. n = 1: that key alone. A row
 * that does not see key 0 (window) has nearly equal weights (within a factor of 1.5 for m = 1000). Depends on scale,
 * d, m, n and the axes mask and window; not on len, len_q and
 * attn_mask. */
void attest_prepare_half(attest_distribution *distribution) { share(distribution, 1, 1, 24, 0); }

attest_exact attest_value_half(const attest_distribution *distribution, attest_place at)
{
    if (distribution->share == 0 || distribution->stream.tensor == ATTEST_V)
        return plain(distribution, at);
    if (distribution->stream.tensor == ATTEST_Q) {
        int64_t first, last;
        const attest_problem *p = distribution->p;
        attest_visible(p, (attest_lengths){ p->m, p->n }, at.token, &first, &last);
        const int64_t others = last - first > 2 ? last - first - 1 : 1;
        const __int128 size = (__int128)distribution->share * logarithm((uint64_t)others);
        return signed_value(distribution, at, size * (((int64_t)1 << 37) + noise(distribution, at)),
                            distribution->share_exponent - 77);
    }
    const int64_t factor = ((int64_t)1 << 36) + noise(distribution, at);
    return at.token == 0 ? integer(0)
                         : signed_value(distribution, at, distribution->negative ? factor : -factor,
                                        distribution->key_exponent - 36);
}

/* ---- large-products ------------------------------------------------------------------------------------ */

/* large-products: channels 2r and 2r+1 of q hold the same bits, 2^x (1 + noise/4); those of k hold b and -(b + c), b
 * 2^7 an integer in 132..251, c 2^7 one in -4..4: 8 bits each, so that every dtype holds k. Then the absolute sum of
 * the products is at least 64 times the size of the sum, for every pair and so for every score, whatever q's
 * rounding. With 2^x |scale| sqrt(d) from 32 to 128, |s| has an expected root of the mean square of 0.4 to 2.
 * Weights of an order above 2 take powers of the absolute sum where a state holds the sums: 2^x |scale| d from 1 to
 * 8 for them, and |s| below 0.4. The products' signs alternate. An odd d leaves its last channel 0 in k; d = 1 is
 * normal. Depends on scale, d and whether the order is above 2. */
void attest_prepare_large(attest_distribution *distribution)
{
    int exponent, root;
    const attest_setting *weight = &distribution->p->axis[ATTEST_AXIS_WEIGHT];
    const int powers = weight->value != ATTEST_WEIGHT_EXP && weight->order > 2;
    distribution->share = sizes_of(distribution, &exponent, &root) && distribution->p->d > 1;
    distribution->share_exponent = powers ? 2 - exponent - 2 * root : 6 - exponent - root;
}

attest_exact attest_value_large(const attest_distribution *distribution, attest_place at)
{
    const attest_place pair = { at.b, at.h, at.token, at.channel & ~(int64_t)1 };
    if (distribution->share == 0 || distribution->stream.tensor == ATTEST_V)
        return plain(distribution, at);
    if (distribution->stream.tensor == ATTEST_Q)
        return signed_value(distribution, pair, ((int64_t)1 << 33) + noise(distribution, pair),
                            distribution->share_exponent - 33);
    if (pair.channel + 1 == distribution->p->d)
        return integer(0);
    const int64_t size = 132 + (int64_t)(word_of(&distribution->stream, BLOCK_NOISE, pair) % 120);
    if (at.channel == pair.channel)
        return signed_value(distribution, pair, size, -7);
    const int64_t more = (int64_t)(word_of(&distribution->stream, BLOCK_NOISE, at) % 9) - 4;
    return signed_value(distribution, pair, -(size + more), -7);
}

/* ---- taylor-roots -------------------------------------------------------------------------------------- */

/* taylor-roots: key 0 has score 0, every other -r (1 + y): y is +2^-e (1 + f)/2 for odd and - for even keys, e drawn
 * from 4..20 (P odd and in f32 or f64: 10..20) and f from [0,1) for keys 2i-1 and 2i together. r of even rows: -x_P
 * for the real root x_P of T_P (P odd), or -x_(P-1), where T_P is least (P even). r of odd rows: T_P(-r) = 1 (P
 * even): far keys weigh as much as the maximum; or (m-1) T_P(-r) = -(1 - 2^-10) (P odd; m = 1: as even rows):
 * without y the denominator of a row that sees all keys is 2^-10, which f32 still tells from 0; keys in pairs (m
 * odd) leave y's second order, (m-1) T'' r^2 y^2/2, in bf16 and f16 up to 0.1 for m = 301, else less. Taylor of
 * orders 1 to 15 with center=zero or max (0 for rows that see key 0), identity, no rope; else normal. q says r to
 * 2^-30 relative in as many channels as `in` needs for that (bf16: 4), as in cast-edge; fewer channels say less, and
 * f16 no more than 2^-25 |scale|; k is 1 + y in all of them, rounded to `in`: in bf16 y below 2^-9 is 0. Depends on
 * scale, in, the weight and, for P odd, on m. */
void attest_prepare_roots(attest_distribution *distribution)
{
    const attest_problem *p = distribution->p;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const uint32_t order = weight->order, center = attest_axis_value_of(p, ATTEST_AXIS_CENTER);
    if (weight->value != ATTEST_WEIGHT_TAYLOR || order < 1 || order > 15 || p->scale == 0 ||
        (center != ATTEST_CENTER_ZERO && center != ATTEST_CENTER_MAX) ||
        attest_axis_value_of(p, ATTEST_AXIS_FEATURE) != ATTEST_FEATURE_IDENTITY ||
        attest_axis_value_of(p, ATTEST_AXIS_ROPE) != ATTEST_ROPE_NONE)
        return;
    const int64_t one = (int64_t)1 << 40, high = attest_taylor_high(order);
    distribution->share = 1;
    distribution->noise_exponent = order % 2 && attest_format_of(attest_kv_dtype(p)).p >= 24 ? -10
                                                                                             : -4; /* the largest y */
    distribution->negative = attest_f64_bits(p->scale) >> 63 != 0;
    distribution->root[0] = attest_taylor_cross(order % 2 ? order : order - 1, 0, 0, high);
    distribution->root[1] = distribution->root[0];
    if (order % 2 == 0)
        distribution->root[1] = attest_taylor_cross(order, one, distribution->root[0], high);
    else if (p->m > 1)
        distribution->root[1] = attest_taylor_cross(order, -(one - (one >> 10)) / (p->m - 1), distribution->root[0],
                                                    high);
}

attest_exact attest_value_roots(const attest_distribution *distribution, attest_place at)
{
    if (distribution->share == 0 || distribution->stream.tensor == ATTEST_V)
        return plain(distribution, at);
    if (distribution->stream.tensor == ATTEST_Q)
        return attest_part_of_score(distribution, (wide)distribution->root[at.token & 1] << 84, 1, at.channel);
    if (at.token == 0)
        return integer(0);
    const uint32_t word = word_of(&distribution->stream, BLOCK_NOISE,
                                  (attest_place){ at.b, at.h, (at.token + 1) / 2, 0 });
    const int smaller = (int)((word & 0xffffu) % (uint32_t)(21 + distribution->noise_exponent));
    const int64_t away = (int64_t)(word >> 16 | 0x10000u)
                         << (23 + distribution->noise_exponent - smaller); /* 2^40 |y| */
    return attest_exact_wide(((int64_t)1 << 40) + (at.token & 1 ? away : -away), -40);
}

/* ---- p-underflow --------------------------------------------------------------------------------------- */

static attest_exact large(const attest_distribution *distribution, attest_place at)
{
    attest_exact x = plain(distribution, at);
    x.exponent += attest_format_of(attest_kv_dtype(distribution->p)).emax / 2;
    return x;
}

/* p-underflow: with -T = ln of half the least subnormal number of the type p (T = 17.3, 92.9, 104, 745 for f16,
 * bf16, f32, f64), keys of odd numbers have score -T (1 + x + y), x uniform in +-2^-floor(log2 T), one for a key,
 * |y| <= 2^-10 noise: they spread by 1 to 2 to each side of -T. Key 0 has score 0, other even keys are within 0.26
 * of it. v is 0 for even keys and a normal draw times 2^(emax/2) of `in` (2^63 in f32) for odd ones: o is made of
 * the weights that underflow, and is far above the least numbers itself; under a norm by a root, which squares o, v
 * is normal. In bf16 k rounds by up to 2^-8 of T: a few levels for p=bf16 and f32, one within 3 of -T for f64.
 * Weights other than e^s: normal. Depends on scale, d, p and the norm. */
void attest_prepare_underflow(attest_distribution *distribution)
{
    const attest_format format = attest_format_of(distribution->p->p);
    const int64_t edge = (int64_t)((__int128)(format.p - format.emin) * LN2 >> 40); /* 2^20 T */
    if (distribution->p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP)
        return;
    share(distribution, (double)edge * 0x1p-20, 1, 24, 0);
    distribution->noise_exponent = 21 - bit_length((wide)edge); /* 2^-floor(log2 T) */
}

attest_exact attest_value_underflow(const attest_distribution *distribution, attest_place at)
{
    const uint32_t norm = distribution->p->axis[ATTEST_AXIS_NORM].value;
    const int odd = at.token & 1, root = norm >= ATTEST_NORM_L2;
    if (distribution->share == 0)
        return plain(distribution, at);
    if (distribution->stream.tensor == ATTEST_V)
        return root ? plain(distribution, at) : odd ? large(distribution, at) : integer(0);
    if (distribution->stream.tensor == ATTEST_Q) {
        const int64_t factor = ((int64_t)1 << 41) + noise(distribution, at);
        return signed_value(distribution, at, (__int128)distribution->share * factor,
                            distribution->share_exponent - 41);
    }
    if (at.token == 0)
        return integer(0);
    if (!odd)
        return attest_exact_wide(noise(distribution, at),
                                 distribution->key_exponent + distribution->noise_exponent - 34);
    const int64_t away = noise(distribution, (attest_place){ at.b, at.h, at.token, 0 });
    const int64_t factor = ((int64_t)1 << (31 - distribution->noise_exponent)) + away;
    return signed_value(distribution, at, distribution->negative ? factor : -factor,
                        distribution->key_exponent + distribution->noise_exponent - 31);
}

/* ---- zero-keys ----------------------------------------------------------------------------------------- */

/* zero-keys: every key is 0, q and v are normal. All scores are 0 with feature=identity: softmax and Taylor give a
 * mean of v, linear and the delta rule 0 or 0/0. Depends on nothing but the place. */
attest_exact attest_value_zero_keys(const attest_distribution *distribution, attest_place at)
{
    return distribution->stream.tensor == ATTEST_K ? integer(0) : plain(distribution, at);
}

/* ---- offset, edges ------------------------------------------------------------------------------------- */

/* offset: q, k normal, v = 16 + normal. */
attest_exact attest_value_offset(const attest_distribution *distribution, attest_place at)
{
    if (distribution->stream.tensor != ATTEST_V)
        return plain(distribution, at);
    const int64_t draw = attest_draw_normal(&distribution->stream, attest_place_index(at));
    return attest_exact_wide(((__int128)16 << 32) + draw, -32);
}

/* edges: draw_edges.c has what is at an edge. */
attest_exact attest_value_plain(const attest_distribution *distribution, attest_place at)
{
    return plain(distribution, at);
}
