/* flash_f32.h - the arithmetic of softmax-flash-f32: what is packed, scores, and values, in floats.
 *
 * A group's q lies as [dim][ROWS], times the scale; keys as [panels][dim][PANEL]; values as
 * [channels/PANEL][FLASH_KEYS][PANEL].
 */
#ifndef ATTEST_FAST_FLASH_F32_H
#define ATTEST_FAST_FLASH_F32_H

#include "fast/panel.h"
#include "fast/softmax/flash_steps.h"

enum { FLASH_UNIT = 1 };
#define FLASH_RUN flash_run

/* The keys of a tile, those that exist; the others are zeros.  `k` [panels][dim][PANEL]. */
static void flash_pack_keys(const flash *x, float *k, float *buffer, int64_t b, int64_t g, int64_t tile, int64_t count)
{
    const int64_t dim = x->at.dim;
    memset(k, 0, sizeof *k * (size_t)(FLASH_KEYS * dim));
    for (int64_t j = 0; j < count; j++) {
        const float *phi = fast_key(buffer, x->p, x->t, b, g, tile * FLASH_KEYS + j);
        float *to = k + j / PANEL * dim * PANEL + j % PANEL;
        for (int64_t c = 0; c < dim; c++)
            to[c * PANEL] = phi[c];
    }
}

/* Its values, v [channels/PANEL][FLASH_KEYS][PANEL]; returns 1 if one of them is not finite. */
static int flash_pack_values(const flash *x, float *v, float *buffer, int64_t b, int64_t g, int64_t tile, int64_t count)
{
    const int64_t e = x->p->e;
    int rough = 0;
    memset(v, 0, sizeof *v * (size_t)(FLASH_KEYS * x->at.channels));
    for (int64_t j = 0; j < count; j++) {
        const int64_t key = tile * FLASH_KEYS + j;
        const float *value = fast_value(buffer, x->p, x->t, b, g, key);
        for (int64_t c = 0; c < e; c += PANEL)
            memcpy(v + c * FLASH_KEYS + j * PANEL, value + c, sizeof *v * (size_t)step_min(PANEL, e - c));
        rough |= fast_rough(value, e);
    }
    return rough;
}

/* Row n of the block: phi(q) times the scale. */
static void flash_load_query(const flash_block *block, int64_t n)
{
    const row *r = &block->r[n];
    const int64_t dim = block->x->at.dim, position = step_position(r->p, step_length(r->p, r->t, r->b), r->i);
    const float *phi = fast_token(block->row, r->p, r->t->role[ATTEST_Q], r->b, r->h, r->i, position);
    float *to = block->q + n / ROWS * ROWS * dim + n % ROWS;
    for (int64_t c = 0; c < dim; c++)
        to[c * ROWS] = r->scale * phi[c];
}

static inline void flash_scores(const flash_block *block, const flash_part *part)
{
    const int64_t dim = block->x->at.dim;
    const float *q = block->q + part->group * ROWS * dim;
    const float *k = block->keys + part->tile * FLASH_KEYS * dim;
    for (int j = part->first; j < part->last; j += PANEL)
        fast_panel(block->s + j, FLASH_KEYS, q, k + j * dim, dim);
    for (int n = 0; n < ROWS && block->x->steps; n++) {
        const int64_t key = part->tile * FLASH_KEYS;
        if (part->low[n] < part->high[n])
            score_steps(block->s + n * FLASH_KEYS + part->low[n], &block->r[part->group * ROWS + n], key + part->low[n],
                        key + part->high[n]);
    }
}

static inline void flash_add(const flash_block *block, const flash_part *part, const float *alpha)
{
    const int64_t channels = block->x->at.channels;
    const float *v = block->values + part->tile * FLASH_KEYS * channels;
    float *u = block->o + part->group * ROWS * channels;
    const int by_rows = flash_by_rows(block, part);
    for (int64_t c = 0; c < channels; c += PANEL) {
        if (!by_rows)
            flash_values(u + c, channels, block->s, v, c * FLASH_KEYS, PANEL, ATTEST_F32, alpha, part->first,
                         part->last);
        for (int n = 0; n < ROWS && by_rows; n++)
            flash_values_of_row(u + n * channels + c, block->s + n * FLASH_KEYS, v, c * FLASH_KEYS, PANEL, ATTEST_F32,
                                alpha[n], part->low[n], part->high[n], 2);
    }
}

#endif
