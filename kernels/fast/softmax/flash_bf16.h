/* flash_bf16.h - the arithmetic of softmax-flash-bf16: what is packed, scores, and values, in pairs of bf16 numbers.
 *
 * A group's q lies as [dim/2][ROWS][DOT_PAIR], keys and values as flash_words.h packs them.  Products are dot.h's, and
 * between dot_begin() and dot_end() there is nothing but calls of functions that are not inlined: a compiler may move
 * arithmetic past a change of MXCSR, but no call.
 * Errors     s: one rounding a channel, then times the scale.  w: cast to bf16 before it meets v, not before it is
 *            added to l.  u: one rounding a key; the tile by itself first.  Subnormal numbers among q, k, w, v and the
 *            sums count as zeros.
 */
#ifndef ATTEST_FAST_FLASH_BF16_H
#define ATTEST_FAST_FLASH_BF16_H

#include "fast/softmax/flash_words.h"

enum { FLASH_UNIT = 2 };
#define FLASH_RUN flash_bf16_run

/* ---- queries ----------------------------------------------------------------------------------------------------- */

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
    flash_scores_from_products(block, part, DOT_PLAIN ? 1 : scale);
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
    if (!DOT_PLAIN)
        flash_add_raw(u, block->raw, alpha, channels);
}

#endif
