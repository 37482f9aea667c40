/* flash_words.h - what the arithmetics of flash_bf16.h and fast/amx/flash_tiles.h do alike: keys, values and weights in
 * pairs of bf16 numbers, and what follows their products.
 *
 * Keys are packed as words [panels][dim/2][PANEL] of two channels, values as words
 * [channels/PANEL][FLASH_KEYS/2][PANEL] of two keys; dim is filled up with zeros to a multiple of the arithmetic's
 * FLASH_UNIT, which is even.
 */
#ifndef ATTEST_FAST_FLASH_WORDS_H
#define ATTEST_FAST_FLASH_WORDS_H

#include "fast/dot.h"
#include "fast/softmax/flash_steps.h"

/* ---- packing ---------------------------------------------------------------------------------------------------- */

/* Row (b,g,j), as stored; its entries are t->stride[3] apart. */
static inline const uint16_t *flash_stored(const attest_tensor *t, int64_t b, int64_t g, int64_t j)
{
    return (const uint16_t *)t->data + step_offset(t, b, g, j);
}

static void flash_pack_keys(const flash *x, float *k, float *buffer, int64_t b, int64_t g, int64_t tile, int64_t count)
{
    const attest_tensor *t = x->t->role[ATTEST_K];
    const int64_t dim = x->at.dim, entries = token_dim(x->p), step = t->stride[3];
    (void)buffer;
    memset(k, 0, sizeof *k * (size_t)(FLASH_KEYS * dim / 2));
    for (int64_t j = 0; j < count; j++) {
        const uint16_t *stored = flash_stored(t, b, g, tile * FLASH_KEYS + j);
        float *to = k + j / PANEL * dim / 2 * PANEL + j % PANEL;
        for (int64_t c = 0; c < entries; c += 2) {
            const uint32_t even = stored[c * step], odd = c + 1 < entries ? stored[(c + 1) * step] : 0;
            const uint32_t word = even | odd << 16;
            memcpy(to + c / 2 * PANEL, &word, sizeof word);
        }
    }
}

/* One panel of the values of two keys as words; returns the largest of its entries without their signs. */
static inline uint32_t flash_zip(float *to, const uint16_t *even, const uint16_t *odd, int64_t step, int64_t count)
{
    uint32_t most = 0;
    for (int64_t c = 0; c < count; c++) {
        const uint32_t low = even[c * step], high = odd ? odd[c * step] : 0, word = low | high << 16;
        memcpy(to + c, &word, sizeof word);
        most = (low & 0x7fff) > most ? low & 0x7fff : most;
        most = (high & 0x7fff) > most ? high & 0x7fff : most;
    }
    return most;
}

/* Returns 1 if a value is not finite. */
static int flash_pack_values(const flash *x, float *v, float *buffer, int64_t b, int64_t g, int64_t tile, int64_t count)
{
    const attest_tensor *t = x->t->role[ATTEST_V];
    const int64_t step = t->stride[3], e = x->p->e;
    uint32_t most = 0;
    (void)buffer;
    memset(v, 0, sizeof *v * (size_t)(FLASH_KEYS * x->at.channels / 2));
    for (int64_t j = 0; j < count; j += 2) {
        const uint16_t *even = flash_stored(t, b, g, tile * FLASH_KEYS + j);
        const uint16_t *odd = j + 1 < count ? flash_stored(t, b, g, tile * FLASH_KEYS + j + 1) : NULL;
        for (int64_t c = 0; c < e; c += PANEL) {
            float *to = v + c * FLASH_KEYS / 2 + j / 2 * PANEL;
            const int64_t left = step_min(PANEL, e - c);
            const uint32_t size = step == 1 && odd
                                      ? flash_zip(to, even + c, odd + c, 1, left)
                                      : flash_zip(to, even + c * step, odd ? odd + c * step : NULL, step, left);
            most = size > most ? size : most;
        }
    }
    return most >= 0x7f80;
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

#ifndef flash_scale
/* One rounding. */
static inline vec flash_scale(vec s, float scale) { return s * vec_of(scale); }
#endif

/* s[ROWS][FLASH_KEYS] of the part, times the scale where that is not 1, and what else a score is. */
static inline void flash_scores_from_products(const flash_block *block, const flash_part *part, float scale)
{
    const int64_t key = part->tile * FLASH_KEYS;
    for (int n = 0; n < ROWS && (scale != 1 || block->x->steps); n++) {
        const row *r = &block->r[part->group * ROWS + n];
        float *s = block->s + n * FLASH_KEYS;
        for (int j = part->first; j < part->last && scale != 1; j += LANES)
            vec_store(s + j, flash_scale(vec_load(s + j), scale));
        if (block->x->steps && part->low[n] < part->high[n])
            score_steps(s + part->low[n], r, key + part->low[n], key + part->high[n]);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

#ifndef flash_cast
/* Weights of a row become pairs of bf16 numbers. */
static inline void flash_cast(float *w, int first, int last) { dot_cast(w, first, last); }
#endif

#ifndef flash_add_raw
/* u[ROWS][channels] = alpha u + raw, row by row. */
static inline void flash_add_raw(float *u, const float *raw, const float *alpha, int64_t channels)
{
    for (int n = 0; n < ROWS; n++)
        for (int64_t c = n * channels; c < (n + 1) * channels; c += LANES)
            vec_store(u + c, vec_fma(vec_load(u + c), vec_of(alpha[n]), vec_load(raw + c)));
}
#endif

#endif
