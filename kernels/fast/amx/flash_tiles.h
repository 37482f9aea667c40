/* flash_tiles.h - the arithmetic of softmax-amx-bf16: scores and values by products of tiles of bf16 numbers.
 *
 * A group's q lies as [ROWS][dim/2][DOT_PAIR], keys and values as fast/softmax/flash_words.h packs them; dim is a
 * multiple of 32, and rows see keys of a tile 32 at a time.  Products are those of tile_product.h.
 * Errors     s: for every 32 channels two chains of 16 roundings, one for their sum and one to add it; then times the
 *            scale.  w: cast to bf16 before it meets v, not before it is added to l.  u: the same for every 32 keys;
 *            the tile by itself first.  Subnormal numbers among q, k, w, v and the sums count as zeros.
 */
#ifndef ATTEST_FAST_AMX_FLASH_TILES_H
#define ATTEST_FAST_AMX_FLASH_TILES_H

#ifndef FLASH_PART
#define FLASH_PART 32
#endif
#include "fast/amx/tile_product.h"
#include "fast/softmax/flash_words.h"

enum { FLASH_UNIT = 2 * TDP_PAIRS };
_Static_assert(FLASH_PART == 2 * TDP_PAIRS, "keys");
#define FLASH_RUN flash_tiles_run

#define flash_open tile_open
#define flash_close tile_close

/* Row n of the block, as stored. */
static void flash_load_query(const flash_block *block, int64_t n)
{
    const row *r = &block->r[n];
    const attest_tensor *t = r->t->role[ATTEST_Q];
    const uint16_t *stored = flash_stored(t, r->b, r->h, r->i);
    const int64_t entries = token_dim(r->p), step = t->stride[3];
    float *to = block->q + n * block->x->at.dim / 2 * DOT_PAIR;
    for (int64_t c = 0; c < entries; c += 2, to += DOT_PAIR) {
        const uint32_t even = stored[c * step], odd = c + 1 < entries ? stored[(c + 1) * step] : 0;
        dot_put(to, even | odd << 16);
    }
}

static inline void flash_scores(const flash_block *block, const flash_part *part)
{
    const int64_t dim = block->x->at.dim, row_floats = dim / 2 * DOT_PAIR, key = part->tile * FLASH_KEYS;
    const tile_pairs q = { block->q + part->group * ROWS * row_floats, row_floats };
    const tile_words k = { block->keys + key * dim + part->first * dim / 2, dim / 2 * PANEL };
    tile_products(block->s + part->first, FLASH_KEYS, q, k, dim / 2, (part->last - part->first) / PANEL);
    flash_scores_from_products(block, part, block->r[part->group * ROWS].scale);
}

/* raw[ROWS][channels], each row of the keys that it sees and no other. */
static void flash_sums_by_rows(const flash_block *block, const flash_part *part, const float *v)
{
    const int64_t channels = block->x->at.channels, count = (part->last - part->first) / 2;
    const unsigned before = dot_flush();
    for (int n = 0; n < ROWS; n++)
        for (int64_t c = 0; c < channels; c += LANES)
            tile_row(block->raw + n * channels + c, block->s + n * FLASH_KEYS + part->first / 2 * DOT_PAIR,
                     v + c / PANEL * PANEL * FLASH_KEYS / 2 + part->first / 2 * PANEL + c % PANEL, count,
                     part->low[n] - part->first, part->high[n] - part->first);
    dot_unflush(before);
}

static inline void flash_add(const flash_block *block, const flash_part *part, const float *alpha)
{
    const int64_t channels = block->x->at.channels;
    const float *values = block->values + part->tile * FLASH_KEYS * channels;
    for (int n = 0; n < ROWS; n++)
        flash_cast(block->s + n * FLASH_KEYS, part->first, part->last);
    if (flash_by_rows(block, part)) {
        flash_sums_by_rows(block, part, values);
    } else {
        const tile_pairs w = { block->s + part->first / 2 * DOT_PAIR, FLASH_KEYS };
        const tile_words v = { values + part->first / 2 * PANEL, PANEL * FLASH_KEYS / 2 };
        tile_products(block->raw, channels, w, v, (part->last - part->first) / 2, channels / PANEL);
    }
    flash_add_raw(block->o + part->group * ROWS * channels, block->raw, alpha, channels);
}

#endif
