/* flash_bf16.h - the arithmetic of softmax-flash-bf16: what is packed, scores, and values, in pairs of bf16 numbers.
 *
 * A group's q lies as [dim/2][ROWS][DOT_PAIR], keys as words [panels][dim/2][PANEL] of two channels, values as words
 * [channels/PANEL][FLASH_KEYS/2][PANEL] of two keys; dim is even, filled up with a zero.  Products are dot.h's, and
 * between dot_begin() and dot_end() there is nothing but calls of functions that are not inlined: a compiler may move
 * arithmetic past a change of MXCSR, but no call.
 * Errors     s: one rounding a channel, then times the scale.  w: cast to bf16 before it meets v, not before it is
 *            added to l.  u: one rounding a key; the tile by itself first.  Subnormal numbers among q, k, w, v and the
 *            sums count as zeros.
 */
#ifndef ATTEST_FAST_FLASH_BF16_H
#define ATTEST_FAST_FLASH_BF16_H

#include "fast/dot.h"
#include "fast/softmax/flash_steps.h"

enum { FLASH_UNIT = 2 };
#define FLASH_RUN flash_bf16_run

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

/* Where the pairs of a group's queries begin. */
static inline float *flash_queries(const flash_block *block, int64_t group)
{
    return block->q + group * ROWS * block->x->at.dim / 2 * DOT_PAIR;
}

/* Row n of the block, as stored. */
static void flash_load_query(const flash_block *block, int64_t n)
{
    const row *r = &block->r[n];
    const attest_tensor *t = r->t->role[ATTEST_Q];
    const uint16_t *stored = flash_stored(t, r->b, r->h, r->i);
    const int64_t entries = token_dim(r->p), step = t->stride[3];
    float *to = flash_queries(block, n / ROWS) + n % ROWS * DOT_PAIR;
    for (int64_t c = 0; c < entries; c += 2, to += ROWS * DOT_PAIR) {
        const uint32_t even = stored[c * step], odd = c + 1 < entries ? stored[(c + 1) * step] : 0;
        dot_put(to, even | odd << 16);
    }
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

#ifndef flash_scale
/* One rounding. */
static inline vec flash_scale(vec s, float scale) { return s * vec_of(scale); }
#endif

/* s[ROWS][FLASH_KEYS] of the panels of keys [first,last); not yet times the scale unless DOT_PLAIN. */
__attribute__((noinline)) static void flash_products(float *s, const float *q, const float *k, int64_t dim, int first,
                                                     int last, float scale)
{
    for (int j = first; j < last; j += PANEL) {
        const float *words = k + j * dim / 2, *pair = q;
        vec sum[ROWS][2];
        for (int r = 0; r < ROWS; r++)
            sum[r][0] = sum[r][1] = vec_of(0);
        for (int64_t c = 0; c < dim; c += 2, words += PANEL, pair += ROWS * DOT_PAIR)
            dot_rows(sum, pair, DOT_PAIR, words);
        for (int r = 0; r < ROWS; r++)
            for (int half = 0; half < 2; half++)
                vec_store(s + r * FLASH_KEYS + j + half * LANES,
                          DOT_PLAIN ? flash_scale(sum[r][half], scale) : sum[r][half]);
    }
}

static inline void flash_scores(const flash_block *block, const flash_part *part)
{
    const int64_t dim = block->x->at.dim, key = part->tile * FLASH_KEYS;
    const float scale = block->r[part->group * ROWS].scale; /* of all rows */
    const unsigned before = dot_begin();
    flash_products(block->s, flash_queries(block, part->group), block->keys + key * dim, dim, part->first, part->last,
                   scale);
    dot_end(before);
    for (int n = 0; n < ROWS && (!DOT_PLAIN || block->x->steps); n++) {
        const row *r = &block->r[part->group * ROWS + n];
        float *s = block->s + n * FLASH_KEYS;
        for (int j = part->first; j < part->last && !DOT_PLAIN; j += LANES)
            vec_store(s + j, flash_scale(vec_load(s + j), scale));
        if (block->x->steps && part->low[n] < part->high[n])
            score_steps(s + part->low[n], r, key + part->low[n], key + part->high[n]);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* What the products of values are for: u = alpha u + sum where DOT_PLAIN, else raw = sum, in the same place. */
static inline void flash_keep(float *to, float alpha, vec sum)
{
    vec_store(to, DOT_PLAIN ? vec_fma(vec_load(to), vec_of(alpha), sum) : sum);
}

/* sum w v of the pairs of keys in [first,last), kept in to[ROWS][channels]. */
__attribute__((noinline)) static void flash_sums(float *to, int64_t channels, const float *alpha, const float *w,
                                                 const float *v, int first, int last)
{
    for (int64_t c = 0; c < channels; c += PANEL) {
        const float *words = v + c * FLASH_KEYS / 2 + first / 2 * PANEL;
        vec sum[ROWS][2];
        for (int r = 0; r < ROWS; r++)
            sum[r][0] = sum[r][1] = vec_of(0);
        for (int j = first; j < last; j += 2, words += PANEL)
            dot_rows(sum, w + j / 2 * DOT_PAIR, FLASH_KEYS, words);
        for (int r = 0; r < ROWS; r++) {
            flash_keep(to + r * channels + c, alpha[r], sum[r][0]);
            flash_keep(to + r * channels + c + LANES, alpha[r], sum[r][1]);
        }
    }
}

/* The same of one row, of the keys [low,high) that it sees and no other. */
__attribute__((noinline)) static void flash_sums_of_row(float *to, int64_t channels, float alpha, const float *w,
                                                        const float *v, int low, int high)
{
    for (int64_t c = 0; c < channels; c += LANES) {
        const float *words = v + c / PANEL * PANEL * FLASH_KEYS / 2 + c % PANEL;
        vec sum = vec_of(0);
        for (int j = low / 2 * 2; j < high; j += 2) {
            const uint32_t seen = (j >= low ? 0xffffu : 0) | (j + 1 < high ? 0xffff0000u : 0);
            sum = dot_add(sum, w + j / 2 * DOT_PAIR, dot_words(words + j / 2 * PANEL) & (int32_t)seen);
        }
        flash_keep(to + c, alpha, sum);
    }
}

#ifndef flash_cast
/* Weights of a row become pairs of bf16 numbers. */
static inline void flash_cast(float *w, int first, int last) { dot_cast(w, first, last); }
#endif

static inline void flash_add(const flash_block *block, const flash_part *part, const float *alpha)
{
    const int64_t channels = block->x->at.channels;
    const float *v = block->values + part->tile * FLASH_KEYS * channels;
    float *u = block->o + part->group * ROWS * channels, *to = DOT_PLAIN ? u : block->raw;
    const int by_rows = flash_by_rows(block, part);
    for (int n = 0; n < ROWS; n++)
        flash_cast(block->s + n * FLASH_KEYS, part->first, part->last);
    const unsigned before = dot_begin();
    if (!by_rows)
        flash_sums(to, channels, alpha, block->s, v, part->first, part->last);
    for (int n = 0; n < ROWS && by_rows; n++)
        flash_sums_of_row(to + n * channels, channels, alpha[n], block->s + n * FLASH_KEYS, v, part->low[n],
                          part->high[n]);
    dot_end(before);
    for (int n = 0; n < ROWS && !DOT_PLAIN; n++)
        for (int64_t c = n * channels; c < (n + 1) * channels; c += LANES)
            vec_store(u + c, vec_fma(vec_load(u + c), vec_of(alpha[n]), vec_load(block->raw + c)));
}

#endif
