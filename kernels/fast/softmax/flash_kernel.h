/* flash_kernel.h - the loops of flash.h in the vectors of simd.h: compiled once for each instruction set.
 *
 * A group is ROWS queries of a block.  q of a group lies as [dim][ROWS] and scores as [ROWS][FLASH_KEYS], so that a
 * micro-kernel finds what it broadcasts at fixed distances.
 */
#ifndef ATTEST_FAST_FLASH_KERNEL_H
#define ATTEST_FAST_FLASH_KERNEL_H

#include "fast/exp.h"
#include "fast/panel.h"
#include "fast/softmax/flash_block.h"

#include "cpu/steps/softmax.h"

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
    part->first = first / PANEL * PANEL;
    part->last = (last + PANEL - 1) / PANEL * PANEL;
    for (int n = 0; n < ROWS; n++)
        part->whole &= part->low[n] == part->first && part->high[n] == part->last;
    part->group = group;
    part->tile = tile;
    return first < last;
}
#endif

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
/* What the sums so far are multiplied by: 1 where the maximum did not rise. */
static inline float flash_rescale(float m, float risen) { return risen == m ? 1 : fast_exp(vec_of(m - risen))[0]; }
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
        const vec w = flash_weight(vec_load(s + j), vec_of(m));
        vec_store(s + j, part->whole ? w : vec_masked(flash_seen(part, n, j), w));
    }
    if (decays)
        flash_decay(s, block, part, n);
    for (int j = part->first; j < part->last; j += LANES)
        part_sum[j / LANES % SUM_VECS] += vec_load(s + j);
    for (int c = 0; c < SUM_VECS; c++)
        vec_store(sum + c * LANES, flash_join(vec_load(sum + c * LANES), alpha, part_sum[c]));
}

/* Weights of all rows; alpha[ROWS]. */
static inline void flash_weights(float *alpha, const flash_block *block, const flash_part *part)
{
    for (int n = 0; n < ROWS; n++) {
        float *s = block->s + n * FLASH_KEYS, *m = &block->m[part->group * ROWS + n];
        alpha[n] = 1;
        if (part->low[n] == part->high[n]) {
            memset(s + part->first, 0, sizeof *s * (size_t)(part->last - part->first));
            continue;
        }
        const float risen = flash_new_maximum(*m, s, part, n);
        alpha[n] = flash_rescale(*m, risen);
        flash_row_weights(s, block->sum + (part->group * ROWS + n) * SUM_LANES, alpha[n], risen, block, part, n);
        *m = risen;
    }
}

/* ---- values -------------------------------------------------------------------------------------------------- */

/* u[ROWS][channels] = alpha u + sum w v of one panel of channels: the keys of the tile by themselves first. */
static inline void flash_values(float *u, int64_t channels, const float *w, const float *v, const float *alpha,
                                int first, int last)
{
    vec sum[ROWS][2];
    for (int r = 0; r < ROWS; r++)
        sum[r][0] = sum[r][1] = vec_of(0);
    for (int j = first; j < last; j++) {
        const vec v0 = vec_load(v + j * PANEL), v1 = vec_load(v + j * PANEL + LANES);
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

/* The same for one row, of the keys [first,last) that it sees and no other. */
static void flash_values_of_row(float *u, const float *w, const float *v, float alpha, int first, int last)
{
    vec sum[2] = { vec_of(0), vec_of(0) };
    for (int j = first; j < last; j++)
        for (int half = 0; half < 2; half++)
            sum[half] = vec_fma(vec_of(w[j]), vec_load(v + j * PANEL + half * LANES), sum[half]);
    for (int half = 0; half < 2; half++)
        vec_store(u + half * LANES, vec_fma(vec_load(u + half * LANES), vec_of(alpha), sum[half]));
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
            flash_values(u + c, channels, block->s, v + c * FLASH_KEYS, alpha, part->first, part->last);
        for (int n = 0; n < ROWS && by_rows; n++)
            flash_values_of_row(u + n * channels + c, block->s + n * FLASH_KEYS, v + c * FLASH_KEYS, alpha[n],
                                part->low[n], part->high[n]);
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
