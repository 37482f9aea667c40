/* chunked_kernel.h - the loops of chunked.h in the vectors of simd.h: compiled once for each instruction set. */
#ifndef ATTEST_FAST_CHUNKED_KERNEL_H
#define ATTEST_FAST_CHUNKED_KERNEL_H

#include "fast/panel.h"
#include "fast/taylor/chunked_block.h"
#include "fast/taylor/tiles.h"

/* ---- weights ---------------------------------------------------------------------------------------------------- */

/* s becomes W(s) of `count` scores, a multiple of LANES. */
typedef void chunked_weights(float *s, int64_t count, uint32_t order);

#ifndef chunked_taylor
/* Horner's rule: a product with 1/n, rounded, and a multiply-add a degree. */
static void chunked_taylor(float *s, int64_t count, uint32_t order)
{
    float reciprocal[ATTEST_STATE_SLOTS];
    for (uint32_t n = 1; n <= order; n++)
        reciprocal[n] = 1 / (float)n;
    for (int64_t j = 0; j < count; j += LANES) {
        const vec x = vec_load(s + j);
        vec t = vec_of(1);
        for (uint32_t n = order; n > 0; n--)
            t = vec_fma(t, x * vec_of(reciprocal[n]), vec_of(1));
        vec_store(s + j, t);
    }
}
#endif

static void chunked_term(float *s, int64_t count, uint32_t order)
{
    for (int64_t j = 0; j < count; j += LANES) {
        const vec x = vec_load(s + j);
        vec t = vec_of(1);
        for (uint32_t n = 1; n <= order; n++)
            t *= x / vec_of((float)n);
        vec_store(s + j, t);
    }
}

static void chunked_power(float *s, int64_t count, uint32_t order)
{
    for (int64_t j = 0; j < count; j += LANES) {
        const vec x = vec_load(s + j);
        vec t = vec_of(1);
        for (uint32_t n = 0; n < order; n++)
            t *= x;
        vec_store(s + j, t);
    }
}

/* ---- products --------------------------------------------------------------------------------------------------- */

#ifndef chunked_live
/* Is there anything in the states? */
static inline int chunked_live(const chunked_task *a) { return heads_before(&a->r, a->from); }
#endif

/* Sums to u, or on top of what is there. */
static inline __attribute__((always_inline)) void chunked_store(float *u, vec sum[ROWS][2], int vecs, int add)
{
    for (int n = 0; n < ROWS; n++)
        for (int c = 0; c < vecs; c++) {
            float *to = u + n * PANEL + c * LANES;
            vec_store(to, add ? vec_load(to) + sum[n][c] : sum[n][c]);
            sum[n][c] = vec_of(0);
        }
}

/* u[ROWS][PANEL]: what a group of queries reads of the states, and of the chunk's first `common` tokens, in the columns
 * from `column` on. */
static inline __attribute__((always_inline)) void chunked_product(float *u, const chunked_task *a, int64_t group,
                                                                  int64_t common, int64_t column, int vecs)
{
    const int64_t states = monomials_states(&a->x->a), between = states * LANES, padded = a->x->at.padded;
    const int64_t channels = a->x->at.all.channels, live = chunked_live(a) ? states : 0;
    const float *s = a->state + column * between, *v = a->values + column * LANES, *w = a->scores;
    const float *q = a->q + monomials_first(&a->x->a) * CHUNKED_UNIT + group * ROWS;
    vec sum[ROWS][2];
    for (int n = 0; n < ROWS; n++)
        for (int c = 0; c < vecs; c++)
            sum[n][c] = vec_of(0);
    for (int64_t at = 0; at < live; at++) {
        if (at > 0 && at % CHUNKED_GROUP == 0)
            chunked_store(u, sum, vecs, at > CHUNKED_GROUP);
        for (int n = 0; n < ROWS; n++)
            for (int c = 0; c < vecs; c++)
                sum[n][c] = vec_fma(vec_of(q[at * CHUNKED_UNIT + n]), vec_load(s + c * between + at * LANES),
                                    sum[n][c]);
    }
    for (int64_t j = 0; j < common; j++)
        for (int n = 0; n < ROWS; n++)
            for (int c = 0; c < vecs; c++)
                sum[n][c] = vec_fma(vec_of(w[n * padded + j]), vec_load(v + j * channels + c * LANES), sum[n][c]);
    chunked_store(u, sum, vecs, live > CHUNKED_GROUP);
}

/* The tokens [first,last) that a row of the group sees and another does not. */
static inline void chunked_rest(float *u, const float *w, const float *v, int64_t channels, int64_t first, int64_t last,
                                int vecs)
{
    for (int64_t j = first; j < last; j++)
        for (int c = 0; c < vecs; c++)
            vec_store(u + c * LANES,
                      vec_fma(vec_of(w[j]), vec_load(v + j * channels + c * LANES), vec_load(u + c * LANES)));
}

#ifndef chunked_sees
static inline chunked_sight chunked_sees(const chunked_task *a, int64_t group)
{
    chunked_sight seen = { .rows = (int)step_min(ROWS, a->reads - group * ROWS), .common = a->count };
    for (int n = 0; n < seen.rows; n++) {
        seen.common = step_min(seen.common, a->until[group * ROWS + n]);
        seen.most = step_max(seen.most, a->until[group * ROWS + n]);
    }
    return seen;
}
#endif

static void chunked_group(const chunked_task *a, int64_t group)
{
    static chunked_weights *const weights[] = { [ATTEST_WEIGHT_TAYLOR] = chunked_taylor,
                                                [ATTEST_WEIGHT_TERM] = chunked_term,
                                                [ATTEST_WEIGHT_POWER] = chunked_power };
    const attest_setting *weight = &a->x->p->axis[ATTEST_AXIS_WEIGHT];
    const int64_t dim = a->x->a.dim, padded = a->x->at.padded, channels = a->x->at.all.channels;
    const chunked_sight seen = chunked_sees(a, group);
    for (int64_t j = 0; j < seen.most; j += PANEL)
        fast_panel(a->scores + j, padded, a->queries + group * ROWS * dim, a->keys + j * dim, dim);
    for (int n = 0; n < seen.rows; n++)
        weights[weight->value](a->scores + n * padded, fast_up(seen.most, LANES), weight->order);
    for (int64_t column = a->first; column < a->last; column += 2) {
        float u[ROWS * PANEL];
        const int vecs = a->last - column > 1 ? 2 : 1;
        if (vecs == 2)
            chunked_product(u, a, group, seen.common, column, 2);
        else
            chunked_product(u, a, group, seen.common, column, 1);
        for (int n = 0; n < seen.rows; n++) {
            chunked_rest(u + n * PANEL, a->scores + n * padded, a->values + column * LANES, channels, seen.common,
                         a->until[group * ROWS + n], vecs);
            memcpy(a->u[group * ROWS + n] + column * LANES, u + n * PANEL, sizeof *u * (size_t)(vecs * LANES));
        }
    }
}

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

/* The queries that wait read the states and the open chunk. */
static void chunked_flush(chunked_task *a)
{
    const chunked *x = a->x;
    float one[CHUNKED_UNIT];
    for (int n = 0; n < CHUNKED_UNIT; n++)
        one[n] = 1;
    if (a->reads > 0 && chunked_live(a)) {
        monomials_make(a->q, &x->a, CHUNKED_UNIT);
        monomials_weigh(a->q, &x->a, a->counts, one, x->p, CHUNKED_UNIT);
    }
    for (int64_t group = 0; group * ROWS < a->reads; group++)
        chunked_group(a, group);
    a->reads = 0;
}

#ifndef chunked_tokens
/* How many tokens from number `at` of the chunk on enter the states together. */
static inline int64_t chunked_tokens(int64_t count, int64_t at) { return step_min(TILES_UNIT, count - at); }
#endif

/* The open chunk enters the states. */
static void chunked_close(chunked_task *a)
{
    const monomials *all = &a->x->a;
    for (int64_t at = 0; at < a->count; at += TILES_UNIT) {
        const tiles_block block = { .a = all,
                                    .state = a->state,
                                    .k = a->k,
                                    .v = a->values + at * a->x->at.all.channels,
                                    .channels = a->x->at.all.channels,
                                    .tokens = chunked_tokens(a->count, at) };
        for (int64_t c = 0; c < all->dim; c++)
            for (int64_t t = 0; t < block.tokens; t++)
                a->k[(1 + c) * TILES_UNIT + t] = a->keys[((at + t) / PANEL * all->dim + c) * PANEL + (at + t) % PANEL];
        monomials_make(a->k, all, TILES_UNIT);
        for (int64_t column = a->first; column < a->last; column += tiles_vecs(column, a->last))
            tiles_columns(&block, column, tiles_vecs(column, a->last));
    }
    a->from += a->count;
    a->count = 0;
}

/* Token t at the end of the open chunk. */
static void chunked_take(void *self, int64_t t)
{
    chunked_task *a = self;
    const row *r = &a->r;
    const int64_t dim = a->x->a.dim;
    if (a->count == a->x->at.size) {
        chunked_flush(a);
        chunked_close(a);
    }
    const int64_t at = a->count++;
    const float *phi = fast_token(a->row, r->p, r->t->role[ATTEST_K], r->b, r->g, t, t);
    for (int64_t c = 0; c < dim; c++)
        a->keys[(at / PANEL * dim + c) * PANEL + at % PANEL] = phi[c];
    columns_value(a->values + at * a->x->at.all.channels, a->row, r, t);
}

/* Query (r->h, r->i) waits. */
static void chunked_ask(void *self)
{
    chunked_task *a = self;
    const row *r = &a->r;
    const int64_t dim = a->x->a.dim;
    if (a->reads == CHUNKED_UNIT)
        chunked_flush(a);
    const int64_t at = a->reads++;
    const float *phi = columns_query(a->row, r);
    for (int64_t c = 0; c < dim; c++) {
        a->q[(1 + c) * CHUNKED_UNIT + at] = phi[c];
        a->queries[(at / ROWS * dim + c) * ROWS + at % ROWS] = r->scale * phi[c];
    }
    a->until[at] = a->count;
    a->u[at] = columns_sums(a->x->shared, &a->x->at.all, r);
}

/* ---- heads ------------------------------------------------------------------------------------------------------ */

/* Task number n of b * hkv * parts. */
static void chunked_head(const void *call, float *scratch, int64_t n)
{
    const chunked *x = call;
    const chunked_layout *at = &x->at;
    chunked_task a = { .x = x,
                       .r = columns_head(x->p, x->t, &at->all, n),
                       .keys = scratch,
                       .values = scratch + at->values,
                       .queries = scratch + at->queries,
                       .counts = scratch + at->counts,
                       .scores = scratch + at->scores,
                       .q = scratch + at->q,
                       .k = scratch + at->k,
                       .state = scratch + at->state,
                       .row = scratch + at->row };
    columns_range(&a.first, &a.last, x->p, &at->all, n);
    memset(scratch, 0, sizeof *scratch * (size_t)at->state); /* lanes without a token, channels behind z */
    monomials_counts(a.counts, &x->a);
    columns_load(a.state, &x->a, &a.r, a.first, a.last);
    columns_stream(&a.r, &a, chunked_take, chunked_ask);
    chunked_flush(&a);
    chunked_close(&a);
    columns_store(a.state, &x->a, &a.r, a.first, a.last);
}

attest_status FAST_NAME(chunked_run)(const attest_call *call)
{
    const chunked x = { .p = call->problem,
                        .t = call->tensors,
                        .at = chunked_lay_out(call->problem),
                        .a = monomials_of(call->problem),
                        .shared = call->workspace };
    return columns_run(call, &x.at.all, x.at.each, chunked_head, &x);
}

#endif
