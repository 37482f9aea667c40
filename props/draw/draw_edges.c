/* draw_edges.c - family edges: gates, decays, beta and lengths at the edges of their ranges.
 *
 * A KV head (a query head for gout) has one of four laws, in turn from one that the seed chooses, over heads and batch
 * entries: nothing is forgotten, 1 - w 2^-48 with w < 2^32; the same, but one token in eight has 0 and one has 1; tiny,
 * (w+1) 2^-52; plain, (w+1) 2^-32.  beta is the same below 1 and its plain law is twice as large, below 2.
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

/* Where it rounds to 2, the number before 2. */
static uint64_t edge_write(const attest_stream *stream, attest_place at, uint32_t dtype)
{
    attest_exact x = edge_value(stream, at);
    const uint64_t two = attest_round_scaled(dtype, 0, 2, 0, 0);
    x.exponent += law_of(stream, at) == LAW_PLAIN;
    const uint64_t bits = rounded(dtype, x);
    return bits == two ? two - 1 : bits;
}

attest_fixed_law attest_edge_law(uint32_t role)
{
    switch (role) {
    case ATTEST_GOUT:
    case ATTEST_GIN:
    case ATTEST_DECAY: return edge_gate;
    case ATTEST_BETA: return edge_write;
    default: return NULL;
    }
}

int64_t attest_edge_length(const attest_stream *stream, int64_t b, int64_t m)
{
    const int64_t lengths[] = { m, 1, 0, m - 1 };
    return lengths[(b + word_of(stream, BLOCK_LEVEL, (attest_place){ 0, 0, 0, 0 })) % 4];
}
