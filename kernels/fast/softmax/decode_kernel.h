/* decode_kernel.h - the loops of decode.h in the vectors of simd.h: compiled once for each instruction set. */
#ifndef ATTEST_FAST_DECODE_KERNEL_H
#define ATTEST_FAST_DECODE_KERNEL_H

#include "fast/softmax/decode.h"
#include "fast/softmax/flash_steps.h"

_Static_assert((int)ROWS <= (int)DECODE_ROWS_MOST, "rows");

/* A call under way; the same for all threads. */
typedef struct decode {
    flash x; /* what flash_steps.h asks for */
    decode_layout at;
} decode;

/* Rows of tiles, where they lie or in the thread's copies: row j begins at from[j step], of numbers of this type. */
typedef struct decode_source {
    const void *from;
    int64_t step;
    uint32_t dtype;
} decode_source;

/* ---- keys and values -------------------------------------------------------------------------------------------- */

#ifndef decode_in_place
/* Can rows of `count` numbers, `unit` at a time, be read where they are? */
static inline int decode_in_place(const attest_tensor *t, int64_t count, int64_t unit)
{
    const int served = t->dtype == ATTEST_F32 || t->dtype == ATTEST_BF16 || t->dtype == ATTEST_F16;
    return served && t->stride[3] == 1 && count % unit == 0;
}
#endif

static inline int64_t decode_size(uint32_t dtype) { return dtype == ATTEST_F32 ? 4 : 2; }

#ifndef decode_adjacent
/* Do `count` keys from `key` on lie in one page? */
static inline int decode_adjacent(const attest_problem *p, int64_t key, int64_t count)
{
    const attest_setting *pages = &p->axis[ATTEST_AXIS_PAGES];
    return pages->value == ATTEST_PAGES_NONE || key / pages->order == (key + count - 1) / pages->order;
}
#endif

/* Rows of the tensor from that of this key on. */
static inline decode_source decode_lying(const attest_tensor *t, const row *r, int64_t key)
{
    int64_t b = r->b, at = key;
    step_key_place(r->p, r->t, &b, &at);
    const int64_t begin = step_offset(t, b, r->g, at) * decode_size(t->dtype);
    return (decode_source){ (const char *)t->data + begin, t->stride[2], t->dtype };
}

/* phi of `count` keys from `key` on; the copies are filled up with zeros to whole vectors. */
static decode_source decode_keys(const decode *x, float *scratch, const row *r, int64_t key, int64_t count)
{
    const attest_tensor *t = r->t->role[ATTEST_K];
    const int64_t dim = x->at.dim, width = x->at.width;
    if (token_plain(r->p) && decode_in_place(t, dim, SUM_LANES) && decode_adjacent(r->p, key, count))
        return decode_lying(t, r, key);
    for (int64_t j = 0; j < count; j++) {
        float *to = scratch + x->at.k + j * width;
        const float *phi = fast_key(to, r->p, r->t, r->b, r->g, key + j);
        if (phi != to)
            memcpy(to, phi, sizeof *to * (size_t)dim);
        memset(to + dim, 0, sizeof *to * (size_t)(width - dim));
    }
    return (decode_source){ scratch + x->at.k, width, ATTEST_F32 };
}

/* The same of values, gated where there is a gate. */
static decode_source decode_values(const decode *x, float *scratch, const row *r, int64_t key, int64_t count)
{
    const attest_tensor *t = r->t->role[ATTEST_V];
    const int64_t e = r->p->e, channels = x->at.channels;
    if (!gate_values(r->p) && decode_in_place(t, e, PANEL) && decode_adjacent(r->p, key, count))
        return decode_lying(t, r, key);
    for (int64_t j = 0; j < count; j++) {
        float *to = scratch + x->at.v + j * channels;
        const float *value = fast_value(to, r->p, r->t, r->b, r->g, key + j);
        if (value != to)
            memcpy(to, value, sizeof *to * (size_t)e);
        memset(to + e, 0, sizeof *to * (size_t)(channels - e));
    }
    return (decode_source){ scratch + x->at.v, channels, ATTEST_F32 };
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

/* s of `count` keys from key j on, at most 4: channels by lanes modulo SUM_LANES, which are added up in a tree. */
static inline __attribute__((always_inline)) void decode_products(float *s, const float *q, const decode_source *k,
                                                                  int64_t j, int64_t width, int count, uint32_t dtype)
{
    vec sum[4][SUM_VECS];
    for (int n = 0; n < count; n++)
        for (int c = 0; c < SUM_VECS; c++)
            sum[n][c] = vec_of(0);
    for (int64_t c = 0; c < width; c += SUM_LANES)
        for (int half = 0; half < SUM_VECS; half++) {
            const vec a = vec_load(q + c + half * LANES);
            for (int n = 0; n < count; n++) {
                const int64_t at = (j + n) * k->step + c + half * LANES;
                sum[n][half] = vec_fma(a, flash_stored_vec(k->from, at, dtype), sum[n][half]);
            }
        }
    for (int n = 0; n < count; n++)
        for (int half = SUM_VECS / 2; half > 0; half /= 2)
            for (int c = 0; c < half; c++)
                sum[n][c] += sum[n][c + half];
    if (count == 4)
        vec_totals(s, sum[0][0], sum[1][0], sum[2][0], sum[3][0]);
    for (int n = 0; n < count && count < 4; n++)
        s[n] = vec_total(sum[n][0]);
}

#ifndef decode_last
/* The same of one key, of those behind the last four. */
static inline __attribute__((always_inline)) void decode_last(float *s, const float *q, const decode_source *k,
                                                              int64_t j, int64_t width, uint32_t dtype)
{
    decode_products(s, q, k, j, width, 1, dtype);
}
#endif

/* Asks for the cache lines of four rows of so many numbers, before they are read: in the second cache, for a tile of
 * keys and values may fill the first one. */
static inline void decode_ask(const decode_source *rows, int64_t first, int64_t count)
{
    const int64_t size = decode_size(rows->dtype);
    for (int64_t j = first; j < first + 4; j++)
        for (int64_t at = 0; at < count * size; at += 64)
            __builtin_prefetch((const char *)rows->from + j * rows->step * size + at, 0, 2);
}

/* Keys that are asked for before they are read: of 24 to 192, what reads 32 MiB fastest (Zen 4, 2026-11-25). */
enum { DECODE_AHEAD = 64 };

/* Scores of the keys that each row sees, of this type.  The first row's loop asks for the values of the tile, and keys
 * ahead. */
static inline __attribute__((always_inline)) void decode_scores_of(const flash_block *block, const flash_part *part,
                                                                   const decode_source *keys, int64_t width,
                                                                   const decode_source *values, int64_t channels,
                                                                   uint32_t dtype)
{
    const int64_t key = part->tile * FLASH_KEYS;
    for (int n = 0; n < (int)block->rows; n++) {
        const int low = part->low[n], high = part->high[n];
        const float *q = block->q + n * width;
        float *s = block->s + n * FLASH_KEYS;
        int j = low;
        for (; j + 4 <= high; j += 4) {
            if (n == 0) {
                decode_ask(values, j, channels);
                decode_ask(keys, j + DECODE_AHEAD, width); /* of the next tile too, or of nothing: it only asks */
            }
            decode_products(s + j, q, keys, j, width, 4, dtype);
        }
        for (; j < high; j++)
            decode_last(s + j, q, keys, j, width, dtype);
        if (block->x->steps && low < high)
            score_steps(s + low, &block->r[n], key + low, key + high);
    }
}

static void decode_scores(const flash_block *block, const flash_part *part, const decode_source *keys, int64_t width,
                          const decode_source *values, int64_t channels)
{
    if (keys->dtype == ATTEST_F32)
        decode_scores_of(block, part, keys, width, values, channels, ATTEST_F32);
    else if (keys->dtype == ATTEST_BF16)
        decode_scores_of(block, part, keys, width, values, channels, ATTEST_BF16);
    else
        decode_scores_of(block, part, keys, width, values, channels, ATTEST_F16);
}

/* ---- a tile ------------------------------------------------------------------------------------------------------ */

#ifndef decode_together
/* Do all rows see the same keys of the tile, and are they enough to fill a micro-kernel half? */
static inline int decode_together(const flash_block *block, const flash_part *part)
{
    int same = 2 * block->rows > ROWS;
    for (int n = 1; n < (int)block->rows; n++)
        same &= part->low[n] == part->low[0] && part->high[n] == part->high[0];
    return same;
}
#endif

static inline __attribute__((always_inline)) void decode_add_of(const flash_block *block, const flash_part *part,
                                                                const decode_source *values, const float *alpha,
                                                                int64_t channels, uint32_t dtype)
{
    const void *v = values->from;
    const int64_t step = values->step;
    if (decode_together(block, part)) {
        for (int64_t c = 0; c < channels; c += PANEL)
            flash_values(block->o + c, channels, block->s, v, c, step, dtype, alpha, part->low[0], part->high[0]);
        return;
    }
    for (int n = 0; n < (int)block->rows; n++) {
        float *u = block->o + n * channels;
        const float *w = block->s + n * FLASH_KEYS;
        const int low = part->low[n], high = part->high[n];
        int64_t c = 0;
        for (; low < high && c + 8 * LANES <= channels; c += 8 * LANES)
            flash_values_of_row(u + c, w, v, c, step, dtype, alpha[n], low, high, 8);
        for (; low < high && c + 4 * LANES <= channels; c += 4 * LANES)
            flash_values_of_row(u + c, w, v, c, step, dtype, alpha[n], low, high, 4);
        for (; low < high && c < channels; c += PANEL)
            flash_values_of_row(u + c, w, v, c, step, dtype, alpha[n], low, high, 2);
    }
}

static void decode_add(const flash_block *block, const flash_part *part, const decode_source *values,
                       const float *alpha, int64_t channels)
{
    if (values->dtype == ATTEST_F32)
        decode_add_of(block, part, values, alpha, channels, ATTEST_F32);
    else if (values->dtype == ATTEST_BF16)
        decode_add_of(block, part, values, alpha, channels, ATTEST_BF16);
    else
        decode_add_of(block, part, values, alpha, channels, ATTEST_F16);
}

/* ---- a part and a group of rows -------------------------------------------------------------------------------- */

static void decode_load_query(const decode *x, const flash_block *block, int n)
{
    const row *r = &block->r[n];
    const attest_tensor *q = r->t->role[ATTEST_Q];
    const int64_t dim = x->at.dim, position = step_position(r->p, step_length(r->p, r->t, r->b), r->i);
    const float *phi = fast_token(block->row, r->p, q, r->b, r->h, r->i, position);
    for (int64_t c = 0; c < dim; c++)
        block->q[n * x->at.width + c] = r->scale * phi[c];
}

/* Row number n of those that share KV head g. */
static inline row decode_row(const decode *x, int64_t b, int64_t g, int64_t n)
{
    const attest_problem *p = x->x.p;
    const int64_t group = p->hq / p->hkv;
    row r = { .p = p, .t = x->x.t, .b = b, .h = g * group + n % group, .g = g, .i = n / group, .scale = step_scale(p) };
    step_visible(p, step_length(p, r.t, b), r.i, &r.first, &r.last);
    return r;
}

#ifndef decode_clear
/* No key yet; rows that are none have weights of 0 throughout. */
static inline void decode_clear(const flash_block *block, int64_t channels)
{
    memset(block->s, 0, sizeof *block->s * ROWS * FLASH_KEYS);
    memset(block->o, 0, sizeof *block->o * (size_t)(ROWS * channels));
    memset(block->sum, 0, sizeof *block->sum * ROWS * SUM_LANES);
    for (int n = 0; n < ROWS; n++)
        block->m[n] = -INFINITY;
}
#endif

#ifndef decode_edge
/* The first key of part n of `splits`: a multiple of FLASH_KEYS. */
static inline int64_t decode_edge(int64_t keys, int64_t n, int64_t splits)
{
    return fast_up(keys, FLASH_KEYS) / FLASH_KEYS * n / splits * FLASH_KEYS;
}
#endif

/* The rows of a task, as if they saw the keys of its part alone. */
static void decode_begin(flash_block *block, const decode *x, float *scratch, int64_t task, int64_t *part)
{
    const attest_problem *p = x->x.p;
    const decode_layout *at = &x->at;
    const int64_t groups = fast_up(decode_rows(p), ROWS) / ROWS, head = task / (groups * decode_parts(p));
    const int64_t b = head / p->hkv, g = head % p->hkv, first = task / decode_parts(p) % groups * ROWS;
    const int64_t keys = step_length(p, x->x.t, b);
    *part = task % decode_parts(p);
    *block = (flash_block){ .x = &x->x,
                            .rows = step_min(ROWS, decode_rows(p) - first),
                            .q = scratch + at->q,
                            .o = scratch + at->u,
                            .s = scratch + at->s,
                            .sum = scratch + at->lanes,
                            .m = scratch + at->most,
                            .row = scratch + at->row };
    memset(block->q, 0, sizeof *block->q * (size_t)(ROWS * at->width));
    decode_clear(block, at->channels);
    for (int n = 0; n < (int)block->rows; n++) {
        row *r = &block->r[n];
        *r = decode_row(x, b, g, first + n);
        decode_load_query(x, block, n);
        r->first = step_max(r->first, decode_edge(keys, *part, decode_parts(p)));
        r->last = step_min(r->last, decode_edge(keys, *part + 1, decode_parts(p)));
    }
}

/* Where the sums of a row and part lie. */
static inline float *decode_sums(const decode *x, const row *r, int64_t part)
{
    const attest_problem *p = x->x.p;
    const int64_t n = (r->b * p->hq + r->h) * p->n + r->i;
    return x->x.shared + x->at.parts + (n * decode_parts(p) + part) * x->at.sums;
}

static void decode_task(const decode *x, float *scratch, int64_t task)
{
    const int64_t channels = x->at.channels;
    flash_block block;
    flash_part part;
    float alpha[ROWS] = { 0 };
    int64_t which, low = x->x.p->m, high = 0;
    decode_begin(&block, x, scratch, task, &which);
    for (int n = 0; n < (int)block.rows; n++)
        if (block.r[n].first < block.r[n].last) {
            low = step_min(low, block.r[n].first);
            high = step_max(high, block.r[n].last);
        }
    for (int64_t tile = low / FLASH_KEYS; tile * FLASH_KEYS < high; tile++) {
        const int64_t key = tile * FLASH_KEYS, count = step_min(FLASH_KEYS, high - key);
        if (!flash_sees(&part, &block, 0, tile))
            continue;
        const decode_source keys = decode_keys(x, scratch, &block.r[0], key, count);
        const decode_source values = decode_values(x, scratch, &block.r[0], key, count);
        decode_scores(&block, &part, &keys, x->at.width, &values, channels);
        flash_weights(alpha, &block, &part, (int)block.rows);
        decode_add(&block, &part, &values, alpha, channels);
    }
    for (int n = 0; n < (int)block.rows; n++) {
        float *to = decode_sums(x, &block.r[n], which);
        to[0] = block.m[n];
        to[1] = flash_sum(block.sum + n * SUM_LANES);
        memcpy(to + DECODE_U, block.o + n * channels, sizeof *to * (size_t)channels);
    }
}

/* ---- joining ------------------------------------------------------------------------------------------------- */

#ifndef decode_share
/* What a part's sums count in the row: 0 where it has no key. */
static inline float decode_share(float m, float most) { return m == most ? 1 : fast_exp(vec_of(m - most))[0]; }
#endif

#ifndef decode_highest
/* The largest score of all parts. */
static inline float decode_highest(const float *of_row, int64_t step, int64_t splits)
{
    float most = -INFINITY;
    for (int64_t part = 0; part < splits; part++)
        most = of_row[part * step] > most ? of_row[part * step] : most;
    return most;
}
#endif

/* Row number n of b * hq * n. */
static void decode_join(const decode *x, float *u, int64_t n)
{
    const attest_problem *p = x->x.p;
    const int64_t head = n / p->n, channels = x->at.channels;
    row r = { .p = p, .t = x->x.t, .b = head / p->hq, .h = head % p->hq, .i = n % p->n, .scale = step_scale(p) };
    r.g = step_kv_head(p, r.h);
    step_visible(p, step_length(p, r.t, r.b), r.i, &r.first, &r.last);
    if (r.first >= r.last) {
        step_empty_row(&r);
        return;
    }
    const float *of_row = decode_sums(x, &r, 0);
    sums all = { .m = decode_highest(of_row, x->at.sums, decode_parts(p)), .l = 0, .u = u };
    memset(u, 0, sizeof *u * (size_t)channels);
    for (int64_t part = 0; part < decode_parts(p); part++) {
        const float *own = of_row + part * x->at.sums, share = decode_share(own[0], all.m);
        all.l = vec_fma(vec_of(share), vec_of(own[1]), vec_of(all.l))[0];
        for (int64_t c = 0; c < channels; c += LANES)
            vec_store(u + c, vec_fma(vec_of(share), vec_load(own + DECODE_U + c), vec_load(u + c)));
    }
    softmax_finish(&r, &all);
}

attest_status FAST_NAME(decode_run)(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const decode x = { .x = { .p = p, .t = call->tensors, .shared = call->workspace, .steps = score_has_steps(p) },
                       .at = decode_lay_out(p, PANEL) };
    const int64_t tasks = decode_tasks(p, ROWS), rows = p->b * p->hq * p->n;
    const int threads = (int)fast_threads_within(decode_threads(p, ROWS), call->workspace_size, x.at.scratch,
                                                 x.at.each);
    (void)threads; /* without OpenMP */
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
        float *scratch = x.x.shared + x.at.scratch + fast_thread() * x.at.each;
#ifdef _OPENMP
#pragma omp for schedule(dynamic)
#endif
        for (int64_t n = 0; n < tasks; n++)
            decode_task(&x, scratch, n);
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (int64_t n = 0; n < rows; n++)
            decode_join(&x, scratch + x.at.u, n);
    }
    return ATTEST_OK;
}

#endif
