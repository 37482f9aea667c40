/* flash_steps.h - what the loops of flash_kernel.h and decode_kernel.h do alike with a tile of keys:
 * who sees what, weights, and values.
 */
#ifndef ATTEST_FAST_FLASH_STEPS_H
#define ATTEST_FAST_FLASH_STEPS_H

#include "fast/exp.h"
#include "fast/softmax/flash_block.h"

#include "cpu/steps/softmax.h"

#ifndef flash_sees
/* 0: no row of the group sees a key of the tile. */
static inline int flash_sees(flash_part *part, const flash_block *block, int64_t group, int64_t tile)
{
    const row *r = block->r + group * ROWS;
    int first = FLASH_KEYS, last = 0;
    part->whole = 1;
    for (int n = 0; n < ROWS; n++) {
        const int64_t low = step_max(0, r[n].first - tile * FLASH_KEYS);
        const int64_t high = step_min(FLASH_KEYS, r[n].last - tile * FLASH_KEYS);
        part->low[n] = low < high ? (int)low : 0;
        part->high[n] = low < high ? (int)high : 0;
        if (low >= high)
            continue;
        first = part->low[n] < first ? part->low[n] : first;
        last = part->high[n] > last ? part->high[n] : last;
    }
    part->first = first / FLASH_PART * FLASH_PART;
    part->last = (last + FLASH_PART - 1) / FLASH_PART * FLASH_PART;
    for (int n = 0; n < ROWS; n++)
        part->whole &= part->low[n] == part->first && part->high[n] == part->last;
    part->group = group;
    part->tile = tile;
    return first < last;
}
#endif

/* ---- weights ------------------------------------------------------------------------------------------------- */

#ifndef flash_new_maximum
/* The row's maximum after the tile: that of before, and of the keys that it sees.  A NaN never is the maximum. */
static inline float flash_new_maximum(float m, const float *s, const flash_part *part, int n)
{
    vec highest = vec_of(m);
    for (int j = part->first; j < part->last; j += LANES) {
        const vec seen = vec_load(s + j);
        highest = vec_larger(part->whole ? seen : vec_select(flash_seen(part, n, j), seen, vec_of(-INFINITY)), highest);
    }
    return vec_highest(highest);
}
#endif

#ifndef flash_rescale
/* What the sums so far are multiplied by, a lane a row: 1 where the maximum did not rise. */
static inline vec flash_rescale(vec m, vec risen) { return vec_select(risen == m, vec_of(1), fast_exp(m - risen)); }
#endif

#ifndef flash_filter
/* Drops keys, and multiplies by decays: scalar code, for few problems have either. */
static void flash_filter(float *s, const flash_block *block, const flash_part *part, int n)
{
    const float highest = block->highest[part->group * ROWS + n];
    for (int j = part->low[n]; j < part->high[n]; j++)
        if (!score_kept(block->x->p, s[j], highest))
            s[j] = -INFINITY;
}
#endif

#ifndef flash_decay
static void flash_decay(float *w, const flash_block *block, const flash_part *part, int n)
{
    const row *r = &block->r[part->group * ROWS + n];
    const float *D = block->D + (part->group * ROWS + n) * fast_up(block->x->p->m, 16) - r->first;
    for (int j = part->low[n]; j < part->high[n]; j++)
        w[j] = D[part->tile * FLASH_KEYS + j] * w[j];
}
#endif

#ifndef flash_weight
/* x = s - m <= 0 has one rounding. */
static inline vec flash_weight(vec s, vec m) { return fast_exp(s - m); }
#endif

#ifndef flash_join
/* Lanes of l of all keys so far and of a tile. */
static inline vec flash_join(vec l, float alpha, vec part) { return vec_fma(l, vec_of(alpha), part); }
#endif

/* s becomes w = e^(s-m), 0 where the row does not see the key; adds the weights to sum[SUM_LANES]. */
static inline void flash_row_weights(float *s, float *sum, float alpha, float m, const flash_block *block,
                                     const flash_part *part, int n)
{
    const int decays = block->D != NULL;
    vec part_sum[SUM_VECS];
    for (int c = 0; c < SUM_VECS; c++)
        part_sum[c] = vec_of(0);
    if (block->x->filter)
        flash_filter(s, block, part, n);
    for (int j = part->first; j < part->last; j += LANES) {
        const vec any = flash_weight(vec_load(s + j), vec_of(m));
        const vec w = part->whole ? any : vec_masked(flash_seen(part, n, j), any);
        vec_store(s + j, w);
        if (!decays)
            part_sum[j / LANES % SUM_VECS] += w;
    }
    if (decays)
        flash_decay(s, block, part, n);
    for (int j = part->first; j < part->last && decays; j += LANES)
        part_sum[j / LANES % SUM_VECS] += vec_load(s + j);
    for (int c = 0; c < SUM_VECS; c++)
        vec_store(sum + c * LANES, flash_join(vec_load(sum + c * LANES), alpha, part_sum[c]));
}

/* Weights of the first `rows` rows of the group, and alpha of them.  All maxima come first: whether one rises is not
 * foreseen, and nothing here branches on it. */
static inline void flash_weights(float *alpha, const flash_block *block, const flash_part *part, int rows)
{
    enum { MOST = (ROWS + LANES - 1) / LANES * LANES };
    float *m = block->m + part->group * ROWS, before[MOST] = { 0 }, risen[MOST] = { 0 }, rescale[MOST];
    for (int n = 0; n < rows; n++) {
        before[n] = m[n];
        risen[n] = part->low[n] < part->high[n] ? flash_new_maximum(m[n], block->s + n * FLASH_KEYS, part, n) : m[n];
    }
    for (int n = 0; n < MOST; n += LANES)
        vec_store(rescale + n, flash_rescale(vec_load(before + n), vec_load(risen + n)));
    for (int n = 0; n < rows; n++) {
        float *s = block->s + n * FLASH_KEYS;
        alpha[n] = rescale[n];
        m[n] = risen[n];
        if (part->low[n] < part->high[n])
            flash_row_weights(s, block->sum + (part->group * ROWS + n) * SUM_LANES, alpha[n], risen[n], block, part, n);
        else
            memset(s + part->first, 0, sizeof *s * (size_t)(part->last - part->first));
    }
}

/* ---- values -------------------------------------------------------------------------------------------------- */

#ifndef flash_by_rows
/* Would a key that a row does not see spoil it? */
static inline int flash_by_rows(const flash_block *block, const flash_part *part)
{
    return block->rough[part->tile] && !part->whole;
}
#endif

/* LANES numbers from x[at] on, of this type: f32, bf16 or f16. */
static inline __attribute__((always_inline)) vec flash_stored_vec(const void *x, int64_t at, uint32_t dtype)
{
    return dtype == ATTEST_F32    ? vec_load((const float *)x + at)
           : dtype == ATTEST_BF16 ? vec_load_bf16((const uint16_t *)x + at)
                                  : vec_load_f16((const uint16_t *)x + at);
}

/* u[ROWS][channels] = alpha u + sum w v of one panel of channels: the keys of the tile by themselves first.  Key j's
 * values begin at v[at + j step]. */
static inline __attribute__((always_inline)) void flash_values(float *u, int64_t channels, const float *w,
                                                               const void *v, int64_t at, int64_t step, uint32_t dtype,
                                                               const float *alpha, int first, int last)
{
    vec sum[ROWS][2];
    for (int r = 0; r < ROWS; r++)
        sum[r][0] = sum[r][1] = vec_of(0);
    for (int j = first; j < last; j++) {
        const vec v0 = flash_stored_vec(v, at + j * step, dtype),
                  v1 = flash_stored_vec(v, at + j * step + LANES, dtype);
        for (int r = 0; r < ROWS; r++) {
            const vec a = vec_of(w[r * FLASH_KEYS + j]);
            sum[r][0] = vec_fma(a, v0, sum[r][0]);
            sum[r][1] = vec_fma(a, v1, sum[r][1]);
        }
    }
    for (int r = 0; r < ROWS; r++) {
        float *to = u + r * channels;
        vec_store(to, vec_fma(vec_load(to), vec_of(alpha[r]), sum[r][0]));
        vec_store(to + LANES, vec_fma(vec_load(to + LANES), vec_of(alpha[r]), sum[r][1]));
    }
}

/* The same for one row and so many vectors of channels, of the keys [first,last) that it sees and no other. */
static inline __attribute__((always_inline)) void flash_values_of_row(float *u, const float *w, const void *v,
                                                                      int64_t at, int64_t step, uint32_t dtype,
                                                                      float alpha, int first, int last, int vecs)
{
    vec sum[8];
    for (int c = 0; c < vecs; c++)
        sum[c] = vec_of(0);
    for (int j = first; j < last; j++)
        for (int c = 0; c < vecs; c++)
            sum[c] = vec_fma(vec_of(w[j]), flash_stored_vec(v, at + j * step + c * LANES, dtype), sum[c]);
    for (int c = 0; c < vecs; c++)
        vec_store(u + c * LANES, vec_fma(vec_load(u + c * LANES), vec_of(alpha), sum[c]));
}

/* l of a row: its lanes added up in a tree, the same on all instruction sets. */
static inline float flash_sum(const float *lanes)
{
    float sum[SUM_LANES];
    memcpy(sum, lanes, sizeof sum);
    for (int half = SUM_LANES / 2; half > 0; half /= 2)
        for (int c = 0; c < half; c++)
            sum[c] += sum[c + half];
    return sum[0];
}

#endif
