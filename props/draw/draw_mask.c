/* draw_mask.c - which keys attn_mask shows, and which weights dropout keeps, in every family alike.
 *
 * A head (of an entry, of those that the mask tells apart) has one of four laws, in turn from one that the seed
 * chooses:
 *  0, 2  by rows: a row has one of eight laws, in turn likewise: half of the keys; all; none; one; all but the last;
 *        seven of eight; one of eight; runs of 32 keys as a whole;
 *  1     by tiles of 32 queries and keys, as kernels skip them: half of the tiles none, a quarter all, a quarter half;
 *  3     padding on the left: keys from a number in 0..m-1 on, the same for all rows of the head.
 *
 * Of keep each byte is 0 with probability R; but of 16 rows, in turn from one that the seed chooses, one keeps all
 * weights, one drops all.
 */
#include "props/draw/distribution_parts.h"

enum { TILE = 32, LAWS = 4, ROW_LAWS = 8, EIGHTH = 29 };

typedef struct mask_stream {
    attest_stream whole, part; /* of the tensor; of the 2^16 keys that hold the key */
    uint32_t first;            /* what the seed adds to the turns */
    int64_t keys;
} mask_stream;

/* A number in 0..count-1. */
static int64_t below(uint32_t word, int64_t count) { return (int64_t)((uint64_t)word * (uint64_t)count >> 32); }

static int by_row(const mask_stream *s, attest_place at, int64_t j)
{
    const uint32_t key = word_of(&s->part, BLOCK_NOISE, at);
    const uint32_t row = word_of(&s->whole, BLOCK_SIGN, (attest_place){ at.b, at.h, at.token, 0 });
    const attest_place run = { at.b, at.h, at.token, 1 + at.channel / TILE };
    switch ((at.b + at.h + at.token + s->first / LAWS) % ROW_LAWS) {
    case 0: return key >> 31 != 0;
    case 1: return 1;
    case 2: return 0;
    case 3: return j == below(row, s->keys);
    case 4: return j != s->keys - 1;
    case 5: return key >> EIGHTH != 0;
    case 6: return key >> EIGHTH == 0;
    default: return word_of(&s->part, BLOCK_SIGN, run) >> 31 != 0;
    }
}

static int by_tile(const mask_stream *s, attest_place at)
{
    const attest_place tile = { at.b, at.h, at.token / TILE, 1 + at.channel / TILE };
    const uint32_t kind = word_of(&s->part, BLOCK_LEVEL, tile) >> 30;
    return kind == 2 || (kind == 3 && word_of(&s->part, BLOCK_NOISE, at) >> 31 != 0);
}

static int shows(const mask_stream *s, attest_place at, int64_t j)
{
    const attest_place head = { at.b, at.h, 0, 0 };
    switch ((at.b + at.h + s->first) % LAWS) {
    case 1: return by_tile(s, at);
    case 3: return j >= below(word_of(&s->whole, BLOCK_LEVEL, head), s->keys);
    default: return by_row(s, at, j);
    }
}

void attest_draw_mask(attest_tensor *t, const attest_stream *stream)
{
    const int64_t keys = t->shape[3], rows = t->shape[0] * t->shape[1] * t->shape[2];
    mask_stream s = { .whole = *stream, .keys = keys };
    s.first = word_of(stream, BLOCK_LEVEL, (attest_place){ 0, 0, 0, 1 }) & (LAWS * ROW_LAWS - 1u);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t j = 0; j < keys; j++) {
            const attest_place at = { row / t->shape[2] / t->shape[1], row / t->shape[2] % t->shape[1],
                                      row % t->shape[2], j & 0xffff };
            s.part = *stream;
            s.part.tensor += (uint32_t)(j >> 16);
            attest_store_bits(t, row * keys + j, (uint64_t)shows(&s, at, j));
        }
}

enum { KEEP_TURNS = 16, KEEPS_ALL = 3, DROPS_ALL = 11 };

void attest_draw_keep(attest_tensor *t, double rate, const attest_stream *stream)
{
    const int64_t keys = t->shape[3], rows = t->shape[0] * t->shape[1] * t->shape[2];
    const uint32_t first = word_of(stream, BLOCK_LEVEL, (attest_place){ 0, 0, 0, 1 }) % KEEP_TURNS;
    for (int64_t row = 0; row < rows; row++) {
        const attest_place place = { row / t->shape[2] / t->shape[1], row / t->shape[2] % t->shape[1],
                                     row % t->shape[2], 0 };
        const int64_t turn = (place.b + place.h + place.token + first) % KEEP_TURNS;
        for (int64_t j = 0; j < keys; j++) {
            const attest_place at = { place.b, place.h, place.token, j & 0xffff };
            attest_stream part = *stream;
            part.tensor += (uint32_t)(j >> 16);
            const int drawn = (double)word_of(&part, BLOCK_NOISE, at) * 0x1p-32 >= rate;
            attest_store_bits(t, row * keys + j, turn == KEEPS_ALL || (turn != DROPS_ALL && drawn));
        }
    }
}
