/* draw_edges.c - family edges: gates, decays, beta, lengths and biases at the edges of their ranges.
 *
 * A KV head (a query head for gout) has one of four laws, in turn from one that the seed chooses, over heads and batch
 * entries: nothing is forgotten, 1 - w 2^-48 with w < 2^32; the same, but one token in eight has 0 and one has 1; tiny,
 * (w+1) 2^-52; plain, (w+1) 2^-32.  Instead of the plain law a decay has a slow one, 1 - w 2^-36: dozens of tokens stay
 * in sight and are told apart.  beta is the same below 1 and its plain law is twice as large, below 2.
 * Logarithms of decays have these laws: -w 2^-48; the same, but one token in eight has -w 2^-22, down to -1024, and one
 * has 0; -w 2^-26; -w 2^-36.
 * A row of a bias has one of four laws likewise, in turn from one that the seed chooses, over queries, query heads and
 * batch entries: one number for all keys, w 2^-26 - 32; 0 or -2^10, as a mask of finite numbers; steps of 16 from -64
 * to 48, so that a few keys have all of the weight; plain, w 2^-29 - 4.
 * A length has one of nine laws, in turn from one that the seed chooses, over batch entries: every third is whole
 * tiles; m, 1, whole tiles and 1, 0, whole tiles less 1, m - 1 stand between.
 */
#include "props/draw/distribution_parts.h"

enum { LAW_NEAR_ONE, LAW_WITH_ZEROS, LAW_TINY, LAW_PLAIN, LAW_COUNT };

static int law_of(const attest_stream *stream, attest_place at)
{
    const uint32_t first = word_of(stream, BLOCK_LEVEL, (attest_place){ 0, 0, 0, 0 });
    return (int)((at.b + at.h + first) % LAW_COUNT);
}

static attest_exact near_one(uint32_t word) { return attest_exact_wide(((__int128)1 << 48) - word, -48); }

static attest_exact edge_value(const attest_stream *stream, attest_place at)
{
    const uint32_t word = word_of(stream, BLOCK_NOISE, at);
    const uint32_t kind = word_of(stream, BLOCK_SIGN, (attest_place){ at.b, at.h, at.token, 0 }) >> 29;
    switch (law_of(stream, at)) {
    case LAW_NEAR_ONE: return near_one(word);
    case LAW_WITH_ZEROS: return kind < 2 ? integer(kind) : near_one(word);
    case LAW_TINY: return attest_exact_wide((__int128)word + 1, -52);
    default: return attest_exact_wide((__int128)word + 1, -32);
    }
}

static uint64_t rounded(uint32_t dtype, attest_exact x)
{
    return attest_round_scaled(dtype, x.negative, x.significand, x.exponent, x.sticky);
}

static uint64_t edge_gate(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    return rounded(dtype, edge_value(stream, at));
}

static uint64_t edge_decay(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    const uint32_t word = word_of(stream, BLOCK_NOISE, at);
    const attest_exact slow = attest_exact_wide(((__int128)1 << 36) - word, -36);
    return rounded(dtype, law_of(stream, at) == LAW_PLAIN ? slow : edge_value(stream, at));
}

static uint64_t edge_log_decay(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    static const int places[LAW_COUNT] = {
        [LAW_NEAR_ONE] = -48, [LAW_WITH_ZEROS] = -48, [LAW_TINY] = -26, [LAW_PLAIN] = -36
    };
    const int law = law_of(stream, at);
    const uint32_t kind = word_of(stream, BLOCK_SIGN, (attest_place){ at.b, at.h, at.token, 0 }) >> 29;
    const int odd = law == LAW_WITH_ZEROS && kind < 2;
    const __int128 word = odd && kind == 1 ? 0 : word_of(stream, BLOCK_NOISE, at);
    return rounded(dtype, attest_exact_wide(-word, odd ? -22 : places[law]));
}

/* Where it rounds to 2, the number before 2. */
static uint64_t edge_write(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    attest_exact x = edge_value(stream, at);
    const uint64_t two = attest_round_scaled(dtype, 0, 2, 0, 0);
    x.exponent += law_of(stream, at) == LAW_PLAIN;
    const uint64_t bits = rounded(dtype, x);
    return bits == two ? two - 1 : bits;
}

/* w 2^-low - 2^(31-low) */
static attest_exact around_zero(uint32_t word, int low)
{
    return attest_exact_wide((__int128)word - ((__int128)1 << 31), -low);
}

static uint64_t edge_bias(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    const uint32_t word = word_of(stream, BLOCK_NOISE, at);
    const attest_place row = { at.b, at.h, at.token, 0 };
    attest_stream whole = *stream; /* the row's, whichever part of the keys it is */
    whole.tensor = attest_tensor_draw_number((attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_BIAS });
    const uint32_t first = word_of(&whole, BLOCK_LEVEL, (attest_place){ 0, 0, 0, 0 }) & 3u;
    switch ((int)((at.b + at.h + at.token + first) % LAW_COUNT)) {
    case 0: return rounded(dtype, around_zero(word_of(&whole, BLOCK_SIGN, row), 26));
    case 1: return rounded(dtype, integer(word >> 31 ? -1024 : 0));
    case 2: return rounded(dtype, integer(16 * (int64_t)(word >> 29) - 64));
    default: return rounded(dtype, around_zero(word, 29));
    }
}

attest_fixed_law attest_edge_law(const attest_problem *p, uint32_t role)
{
    switch (role) {
    case ATTEST_GOUT:
    case ATTEST_GIN: return edge_gate;
    case ATTEST_DECAY: return attest_log_decays(p) ? edge_log_decay : edge_decay;
    case ATTEST_BETA: return edge_write;
    case ATTEST_BIAS: return edge_bias;
    default: return NULL;
    }
}

/* A multiple of a tile of 8 to 128 keys (of fewer where m is smaller), from 1 to m. */
static int64_t whole_tiles(const attest_stream *stream, int64_t b, int64_t m)
{
    int64_t tile = (int64_t)8 << word_of(stream, BLOCK_SIGN, (attest_place){ b, 0, 0, 0 }) % 5;
    while (tile > m)
        tile /= 2;
    return tile ? tile * (1 + word_of(stream, BLOCK_NOISE, (attest_place){ b, 0, 0, 0 }) % (m / tile)) : 0;
}

int64_t attest_edge_length(const attest_stream *stream, int64_t b, int64_t m)
{
    const int64_t tiles = whole_tiles(stream, b, m);
    const int64_t lengths[] = { tiles, m, 1, tiles, tiles < m ? tiles + 1 : m, 0, tiles, tiles - 1, m - 1 };
    return lengths[(b + word_of(stream, BLOCK_LEVEL, (attest_place){ 0, 0, 0, 0 })) % 9];
}
