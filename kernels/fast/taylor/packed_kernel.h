/* packed_kernel.h - the loops of packed.h in the vectors of simd.h: compiled once for each instruction set. */
#ifndef ATTEST_FAST_PACKED_KERNEL_H
#define ATTEST_FAST_PACKED_KERNEL_H

#include "fast/taylor/packed_block.h"
#include "fast/taylor/tiles.h"

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

#ifndef packed_next
/* An empty block follows. */
static inline void packed_next(packed_task *a) { a->tokens = a->reads = 0; }
#endif

/* The block is worked off: the state then is that after its last token. */
static void packed_flush(packed_task *a)
{
    const packed *x = a->x;
    const tiles_block block = { .a = &x->a,
                                .state = a->state,
                                .u = a->u,
                                .k = a->k,
                                .q = a->q,
                                .v = a->v,
                                .decay = packed_decays(x->p) > 0 ? a->decay : NULL,
                                .until = a->until,
                                .channels = x->at.all.channels,
                                .tokens = a->tokens,
                                .reads = a->reads,
                                .apart = packed_decays_apart(x->p) };
    monomials_make(a->k, &x->a, TILES_UNIT);
    monomials_make(a->q, &x->a, TILES_UNIT);
    monomials_weigh(a->q, &x->a, a->counts, a->f, x->p, TILES_UNIT);
    for (int64_t i = 0; i < a->reads; i++)
        for (int64_t column = a->first; column < a->last; column++)
            vec_store(a->u[i] + column * LANES, vec_of(0));
    for (int64_t column = a->first; column < a->last; column += tiles_vecs(column, a->last))
        tiles_columns(&block, column, tiles_vecs(column, a->last));
    packed_next(a);
}

/* Key t at the end of the block. */
static void packed_take(void *self, int64_t t)
{
    packed_task *a = self;
    const row *r = &a->r;
    const int64_t dim = a->x->a.dim;
    if (a->tokens == TILES_UNIT)
        packed_flush(a);
    const int64_t lane = a->tokens++;
    const float *phi = fast_token(a->row, r->p, r->t->role[ATTEST_K], r->b, r->g, t, t);
    for (int64_t c = 0; c < dim; c++)
        a->k[(1 + c) * TILES_UNIT + lane] = phi[c];
    columns_value(a->v + lane * a->x->at.all.channels, a->row, r, t);
    const int apart = packed_decays_apart(r->p);
    const float *factors = apart ? decay_vector(a->row, r->p, r->t, r->b, r->g, t) : a->row;
    for (int64_t c = 0; c < packed_decays(r->p); c++)
        a->decay[c * TILES_UNIT + lane] = !heads_before(r, t) ? 1
                                          : apart             ? factors[c]
                                                              : decay_token(r->p, r->t, r->b, r->g, t);
}

#ifndef packed_seen
/* How many of the block's tokens does the query at its end see? */
static inline int64_t packed_seen(const packed_task *a) { return a->tokens; }
#endif

/* Query (r->h, r->i) at its end. */
static void packed_ask(void *self)
{
    packed_task *a = self;
    const row *r = &a->r;
    const attest_problem *p = r->p;
    const int64_t dim = a->x->a.dim;
    if (a->reads == TILES_UNIT)
        packed_flush(a);
    const int64_t lane = a->reads++;
    const float *phi = a->row;
    a->f[lane] = 1;
    if (packed_decays(p))
        heads_query(&a->f[lane], a->row, r);
    else
        phi = columns_query(a->row, r);
    for (int64_t c = 0; c < dim; c++)
        a->q[(1 + c) * TILES_UNIT + lane] = phi[c];
    a->until[lane] = packed_seen(a);
    a->u[lane] = columns_sums(a->x->shared, &a->x->at.all, r);
}

/* ---- heads ------------------------------------------------------------------------------------------------------ */

#ifndef packed_clear
/* Another task has been here before. */
static inline void packed_clear(const packed_task *a) { columns_load(a->state, &a->x->a, &a->r, a->first, a->last); }
#endif

/* Task number n of b * hkv * parts. */
static void packed_head(const void *call, float *scratch, int64_t n)
{
    const packed *x = call;
    const packed_layout *at = &x->at;
    packed_task a = { .x = x,
                      .r = columns_head(x->p, x->t, &at->all, n),
                      .k = scratch,
                      .q = scratch + at->q,
                      .counts = scratch + at->counts,
                      .f = scratch + at->f,
                      .decay = scratch + at->decay,
                      .v = scratch + at->v,
                      .state = scratch + at->state,
                      .row = scratch + at->row };
    columns_range(&a.first, &a.last, x->p, &at->all, n);
    memset(scratch, 0, sizeof *scratch * (size_t)at->state); /* lanes without a token, channels behind z */
    monomials_counts(a.counts, &x->a);
    packed_clear(&a);
    columns_stream(&a.r, &a, packed_take, packed_ask);
    packed_flush(&a);
    columns_store(a.state, &x->a, &a.r, a.first, a.last);
}

attest_status FAST_NAME(packed_run)(const attest_call *call)
{
    const packed x = { .p = call->problem,
                       .t = call->tensors,
                       .at = packed_lay_out(call->problem),
                       .a = monomials_of(call->problem),
                       .shared = call->workspace };
    return columns_run(call, &x.at.all, x.at.each, packed_head, &x);
}

#endif
