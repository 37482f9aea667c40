/* flash_kernel.h - the loops of flash.h in the vectors of simd.h: compiled once for each instruction set.
 *
 * A group is ROWS queries of a block.  q of a group lies as [dim][ROWS] and scores as [ROWS][FLASH_KEYS], so that a
 * micro-kernel finds what it broadcasts at fixed distances.
 */
#ifndef ATTEST_FAST_FLASH_KERNEL_H
#define ATTEST_FAST_FLASH_KERNEL_H

#include "fast/panel.h"
#include "fast/softmax/flash_steps.h"

/* ---- packing ---------------------------------------------------------------------------------------------------- */

/* The keys of a tile, those that exist; the others are zeros.  `k` [panels][dim][PANEL]. */
static void flash_pack_keys(const flash *x, float *k, float *buffer, int64_t b, int64_t g, int64_t tile, int64_t count)
{
    const attest_tensor *t = x->t->role[ATTEST_K];
    const int64_t dim = x->at.dim;
    memset(k, 0, sizeof *k * (size_t)(FLASH_KEYS * dim));
    for (int64_t j = 0; j < count; j++) {
        const int64_t key = tile * FLASH_KEYS + j;
        const float *phi = fast_token(buffer, x->p, t, b, g, key, key);
        float *to = k + j / PANEL * dim * PANEL + j % PANEL;
        for (int64_t c = 0; c < dim; c++)
            to[c * PANEL] = phi[c];
    }
}

/* Its values, v [channels/PANEL][FLASH_KEYS][PANEL]; returns 1 if one of them is not finite. */
static int flash_pack_values(const flash *x, float *v, float *buffer, int64_t b, int64_t g, int64_t tile, int64_t count)
{
    const int64_t e = x->p->e;
    uint32_t most = 0;
    memset(v, 0, sizeof *v * (size_t)(FLASH_KEYS * x->at.channels));
    for (int64_t j = 0; j < count; j++) {
        const int64_t key = tile * FLASH_KEYS + j;
        const float *value = fast_value(buffer, x->p, x->t, b, g, key);
        for (int64_t c = 0; c < e; c += PANEL)
            for (int64_t lane = 0; lane < PANEL && c + lane < e; lane++) {
                const uint32_t size = attest_f32_bits(value[c + lane]) & 0x7fffffffu;
                v[c * FLASH_KEYS + j * PANEL + lane] = value[c + lane];
                most = size > most ? size : most;
            }
    }
    return most >= 0x7f800000u;
}

/* Tile number n of all KV heads. */
static void flash_pack(const flash *x, float *buffer, int64_t n)
{
    const int64_t head = n / x->at.tiles, tile = n % x->at.tiles, b = head / x->p->hkv, g = head % x->p->hkv;
    const int64_t left = step_length(x->p, x->t, b) - tile * FLASH_KEYS;
    const int64_t count = step_max(0, step_min(FLASH_KEYS, left));
    float *keys = x->shared + x->at.keys + n * FLASH_KEYS * x->at.dim;
    float *values = x->shared + x->at.values + n * FLASH_KEYS * x->at.channels;
    flash_pack_keys(x, keys, buffer, b, g, tile, count);
    const int rough = flash_pack_values(x, values, buffer + fast_up(x->at.dim, 16), b, g, tile, count);
    ((unsigned char *)(x->shared + x->at.rough))[n] = (unsigned char)rough;
}

/* ---- scores -------------------------------------------------------------------------------------------------- */

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

#ifndef flash_by_rows
/* Would a key that a row does not see spoil it? */
static inline int flash_by_rows(const flash_block *block, const flash_part *part)
{
    return block->rough[part->tile] && !part->whole;
}
#endif

static inline void flash_add(const flash_block *block, const flash_part *part, const float *alpha)
{
    const int64_t channels = block->x->at.channels;
    const float *v = block->values + part->tile * FLASH_KEYS * channels;
    float *u = block->o + part->group * ROWS * channels;
    const int by_rows = flash_by_rows(block, part);
    for (int64_t c = 0; c < channels; c += PANEL) {
        if (!by_rows)
            flash_values(u + c, channels, block->s, v + c * FLASH_KEYS, PANEL, alpha, part->first, part->last);
        for (int n = 0; n < ROWS && by_rows; n++)
            flash_values_of_row(u + n * channels + c, block->s + n * FLASH_KEYS, v + c * FLASH_KEYS, PANEL, alpha[n],
                                part->low[n], part->high[n], 2);
    }
}

/* ---- a block of queries --------------------------------------------------------------------------------------- */

static void flash_load_query(const flash_block *block, int64_t n)
{
    const row *r = &block->r[n];
    const attest_tensor *q = r->t->role[ATTEST_Q];
    const int64_t dim = block->x->at.dim, position = step_position(r->p, step_length(r->p, r->t, r->b), r->i);
    const float *phi = fast_token(block->row, r->p, q, r->b, r->h, r->i, position);
    float *to = block->q + n / ROWS * ROWS * dim + n % ROWS;
    for (int64_t c = 0; c < dim; c++)
        to[c * ROWS] = r->scale * phi[c];
    if (block->D && r->first < r->last)
        decay_row(block->D + n * fast_up(r->p->m, 16), r);
}

#ifndef flash_packed_head
/* Which of the packed heads? */
static inline int64_t flash_packed_head(const attest_problem *p, int64_t b, int64_t g) { return b * p->hkv + g; }
#endif

#ifndef flash_clear
/* No key yet: the thread's task before this one left its sums there. */
static inline void flash_clear(const flash_block *block, int64_t task)
{
    (void)task;
    memset(block->o, 0, sizeof *block->o * (size_t)(FLASH_QUERIES * block->x->at.channels));
    memset(block->sum, 0, sizeof *block->sum * FLASH_QUERIES * SUM_LANES);
    for (int64_t r = 0; r < FLASH_QUERIES; r++)
        block->m[r] = block->highest[r] = -INFINITY;
}
#endif

/* Task number n of b * hq * blocks. */
static void flash_block_begin(flash_block *block, const flash *x, float *scratch, int64_t n)
{
    const attest_problem *p = x->p;
    const flash_layout *at = &x->at;
    const int64_t blocks = flash_blocks(p), head = n / blocks, b = head / p->hq, h = head % p->hq;
    const int64_t g = step_kv_head(p, h), first = n % blocks * FLASH_QUERIES,
                  kv = flash_packed_head(p, b, g) * at->tiles;
    *block = (flash_block){ .x = x,
                            .rows = step_min(FLASH_QUERIES, p->n - first),
                            .keys = x->shared + at->keys + kv * FLASH_KEYS * at->dim,
                            .values = x->shared + at->values + kv * FLASH_KEYS * at->channels,
                            .rough = (const unsigned char *)(x->shared + at->rough) + kv,
                            .q = scratch + at->q,
                            .o = scratch + at->o,
                            .s = scratch + at->s,
                            .sum = scratch + at->sum,
                            .m = scratch + at->most,
                            .highest = scratch + at->most + FLASH_QUERIES,
                            .row = scratch + at->row,
                            .D = decay_keys(p) ? scratch + at->D : NULL };
    memset(block->q, 0, sizeof *block->q * (size_t)(at->o - at->q));
    flash_clear(block, n);
    for (int64_t r = 0; r < FLASH_QUERIES; r++) {
        block->r[r] = (row){ .p = p, .t = x->t, .b = b, .h = h, .g = g, .i = first + r, .scale = step_scale(p) };
        if (r >= block->rows)
            continue;
        step_visible(p, step_length(p, x->t, b), first + r, &block->r[r].first, &block->r[r].last);
        flash_load_query(block, r);
    }
}

#ifndef flash_tiles
/* The tiles [first,last) that some row of the block sees. */
static void flash_tiles(const flash_block *block, int64_t *first, int64_t *last)
{
    int64_t low = block->x->p->m, high = 0;
    for (int64_t n = 0; n < block->rows; n++)
        if (block->r[n].first < block->r[n].last) {
            low = step_min(low, block->r[n].first);
            high = step_max(high, block->r[n].last);
        }
    *first = low / FLASH_KEYS;
    *last = (high + FLASH_KEYS - 1) / FLASH_KEYS;
}
#endif

/* The largest score of every row, which a filter has to know before the first weight. */
static void flash_highest(const flash_block *block, int64_t first, int64_t last)
{
    flash_part part;
    for (int64_t tile = first; tile < last; tile++)
        for (int64_t group = 0; group < FLASH_GROUPS; group++) {
            if (!flash_sees(&part, block, group, tile))
                continue;
            flash_scores(block, &part);
            for (int n = 0; n < ROWS; n++) {
                float *highest = &block->highest[group * ROWS + n];
                if (part.low[n] < part.high[n])
                    *highest = flash_new_maximum(*highest, block->s + n * FLASH_KEYS, &part, n);
            }
        }
}

static void flash_write(const flash_block *block, int64_t n)
{
    const row *r = &block->r[n];
    const attest_tensor *o = r->t->role[ATTEST_O];
    float *u = block->o + n * block->x->at.channels;
    const float l = flash_sum(block->sum + n * SUM_LANES);
    const sums all = { .m = block->m[n], .l = l, .u = u };
    if (r->first >= r->last) {
        step_empty_row(r);
    } else if (!block->x->plain_rows) {
        softmax_finish(r, &all);
    } else {
        float *to = (float *)o->data + step_offset(o, r->b, r->h, r->i);
        for (int64_t c = 0; c < r->p->e; c++)
            to[c] = u[c] / l;
        step_store_row(r, ATTEST_LSE, 0, softmax_lse(&all));
    }
}

static void flash_task(const flash *x, float *scratch, int64_t n)
{
    flash_block block;
    flash_part part;
    float alpha[ROWS];
    int64_t first, last;
    flash_block_begin(&block, x, scratch, n);
    flash_tiles(&block, &first, &last);
    if (x->filter)
        flash_highest(&block, first, last);
    for (int64_t tile = first; tile < last; tile++)
        for (int64_t group = 0; group < FLASH_GROUPS; group++)
            if (flash_sees(&part, &block, group, tile)) {
                flash_scores(&block, &part);
                flash_weights(alpha, &block, &part);
                flash_add(&block, &part, alpha);
            }
    for (int64_t r = 0; r < block.rows; r++)
        flash_write(&block, r);
}

attest_status FAST_NAME(flash_run)(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const flash x = { .p = p,
                      .t = call->tensors,
                      .at = flash_lay_out(p, PANEL),
                      .shared = call->workspace,
                      .steps = score_has_steps(p),
                      .filter = p->axis[ATTEST_AXIS_FILTER].value != ATTEST_FILTER_NONE,
                      .plain_rows = fast_plain_rows(p, call->tensors) };
    const int64_t tiles = p->b * p->hkv * x.at.tiles, tasks = p->b * p->hq * flash_blocks(p);
    const int threads = (int)flash_threads(p);
    (void)threads; /* without OpenMP */
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
        float *scratch = x.shared + x.at.scratch + fast_thread() * x.at.each;
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (int64_t n = 0; n < tiles; n++)
            flash_pack(&x, scratch + x.at.row, n);
#ifdef _OPENMP
#pragma omp for schedule(dynamic)
#endif
        for (int64_t n = tasks - 1; n >= 0; n--) /* under a causal mask the last blocks are the longest */
            flash_task(&x, scratch, n);
    }
    return ATTEST_OK;
}

#endif
