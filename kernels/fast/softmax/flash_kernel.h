/* flash_kernel.h - the loops of flash.h in the vectors of simd.h: compiled once for each instruction set.
 *
 * A group is ROWS queries of a block; its scores lie as [ROWS][FLASH_KEYS].  What is packed, how scores are made and
 * values added is the kernel's arithmetic: flash_f32.h; flash_bf16.h where FLASH_BF16 is defined; another one where it
 * is included before this header.
 */
#ifndef ATTEST_FAST_FLASH_KERNEL_H
#define ATTEST_FAST_FLASH_KERNEL_H

#ifdef FLASH_BF16
#include "fast/softmax/flash_bf16.h"
#elif !defined(FLASH_RUN)
#include "fast/softmax/flash_f32.h"
#endif

#ifndef flash_open
/* What a thread does before its blocks of queries, and behind them. */
static inline void flash_open(void) {}
static inline void flash_close(void) {}
#endif

/* ---- packing ---------------------------------------------------------------------------------------------------- */

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

/* ---- a block of queries --------------------------------------------------------------------------------------- */

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
                            .raw = scratch + at->raw,
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
        if (block->D && block->r[r].first < block->r[r].last)
            decay_row(block->D + r * fast_up(p->m, 16), &block->r[r]);
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

/* Entries of o from `at` on: u/l, in floats, or cast to bf16. */
static inline void flash_divide(const attest_tensor *o, int64_t at, const float *u, float l, int64_t count)
{
    float *floats = (float *)o->data + at;
    uint16_t *narrow = (uint16_t *)o->data + at;
    for (int64_t c = 0; c < count && o->dtype == ATTEST_F32; c++)
        floats[c] = u[c] / l;
    for (int64_t c = 0; c < count && o->dtype == ATTEST_BF16; c++)
        narrow[c] = fast_bf16(u[c] / l);
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
        flash_divide(o, step_offset(o, r->b, r->h, r->i), u, l, r->p->e);
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
                flash_weights(alpha, &block, &part, ROWS);
                flash_add(&block, &part, alpha);
            }
    for (int64_t r = 0; r < block.rows; r++)
        flash_write(&block, r);
}

attest_status FAST_NAME(FLASH_RUN)(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const flash x = { .p = p,
                      .t = call->tensors,
                      .at = flash_lay_out(p, PANEL, FLASH_UNIT),
                      .shared = call->workspace,
                      .steps = score_has_steps(p),
                      .filter = p->axis[ATTEST_AXIS_FILTER].value != ATTEST_FILTER_NONE,
                      .plain_rows = fast_plain_rows(p, call->tensors, ATTEST_F32) ||
                                    fast_plain_rows(p, call->tensors, ATTEST_BF16) };
    const int64_t tiles = p->b * p->hkv * x.at.tiles, tasks = p->b * p->hq * flash_blocks(p);
    const int threads = (int)fast_threads_within(flash_threads(p), call->workspace_size, x.at.scratch, x.at.each);
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
        flash_open();
#ifdef _OPENMP
#pragma omp for schedule(dynamic)
#endif
        for (int64_t n = tasks - 1; n >= 0; n--) /* under a causal mask the last blocks are the longest */
            flash_task(&x, scratch, n);
        flash_close();
    }
    return ATTEST_OK;
}

#endif
