/* packed_kernel.h - the loops of packed.h in the vectors of simd.h: compiled once for each instruction set. */
#ifndef ATTEST_FAST_PACKED_KERNEL_H
#define ATTEST_FAST_PACKED_KERNEL_H

#include "fast/taylor/packed_block.h"

/* ---- registers -------------------------------------------------------------------------------------------------- */

enum { PACKED_VECS = 3, PACKED_PANEL = PACKED_VECS * LANES, PACKED_ROWS = ROWS, PACKED_ROWS_OF_3 = ROWS * 2 / 3 };

/* What a tile reads: from `column` on, and from the state's row `at` on. */
typedef struct packed_tile {
    float *s, *u;           /* the state there; u[PACKED_UNIT][PACKED_PANEL], what queries read so far */
    const float *k, *q, *v; /* k and q [rows][PACKED_UNIT]; v [PACKED_UNIT][channels] */
    const float *decay;     /* NULL: none.  Those of rows are `apart` */
    const int64_t *until;   /* of each query */
    int64_t column, at, states, apart, channels, tokens, reads;
} packed_tile;

#ifndef packed_add
/* s becomes a s + x v; a = 1 without decays. */
static inline vec packed_add(vec s, vec a, vec x, vec v, int decays)
{
    return decays ? vec_fma(s, a, x * v) : vec_fma(x, v, s);
}
#endif

/* Token t enters: k, v and decay are its own. */
static inline __attribute__((always_inline)) void packed_enter(vec s[PACKED_ROWS][PACKED_VECS], const float *k,
                                                               const float *v, const float *decay, int64_t apart,
                                                               int rows, int vecs)
{
    vec value[PACKED_VECS];
    for (int c = 0; c < vecs; c++)
        value[c] = vec_load(v + c * LANES);
    for (int n = 0; n < rows; n++) {
        const vec x = vec_of(k[n * PACKED_UNIT]), a = vec_of(decay ? decay[n * apart] : 1);
        for (int c = 0; c < vecs; c++)
            s[n][c] = packed_add(s[n][c], a, x, value[c], decay != NULL);
    }
}

/* u += <q, s> of so many rows. */
static inline __attribute__((always_inline)) void packed_read(float *u, vec s[PACKED_ROWS][PACKED_VECS], const float *q,
                                                              int rows, int vecs)
{
    vec sum[PACKED_VECS];
    for (int c = 0; c < vecs; c++)
        sum[c] = vec_load(u + c * LANES);
    for (int n = 0; n < rows; n++)
        for (int c = 0; c < vecs; c++)
            sum[c] = vec_fma(vec_of(q[n * PACKED_UNIT]), s[n][c], sum[c]);
    for (int c = 0; c < vecs; c++)
        vec_store(u + c * LANES, sum[c]);
}

/* The block goes by `rows` monomials and `vecs` columns. */
static inline __attribute__((always_inline)) void packed_pass(const packed_tile *tile, int rows, int vecs, int decays)
{
    const float *k = tile->k, *q = tile->q, *v = tile->v, *decay = decays ? tile->decay : NULL;
    const int64_t *until = tile->until;
    const int64_t apart = tile->apart, channels = tile->channels, reads = tile->reads, between = tile->states * LANES;
    vec s[PACKED_ROWS][PACKED_VECS];
    for (int n = 0; n < rows; n++)
        for (int c = 0; c < vecs; c++)
            s[n][c] = vec_load(tile->s + c * between + n * LANES);
    int64_t t = 0;
    for (int64_t i = 0; i < reads; i++) {
        for (; t < until[i]; t++)
            packed_enter(s, k + t, v + t * channels, decays ? decay + t : NULL, apart, rows, vecs);
        packed_read(tile->u + i * PACKED_PANEL, s, q + i, rows, vecs);
    }
    for (; t < tile->tokens; t++)
        packed_enter(s, k + t, v + t * channels, decays ? decay + t : NULL, apart, rows, vecs);
    for (int n = 0; n < rows; n++)
        for (int c = 0; c < vecs; c++)
            vec_store(tile->s + c * between + n * LANES, s[n][c]);
}

#define PACKED_PASS(rows, vecs, decays)                                                                                \
    static void packed_pass_##rows##_##vecs##_##decays(const packed_tile *tile)                                        \
    {                                                                                                                  \
        packed_pass(tile, rows, vecs, decays);                                                                         \
    }
#define PACKED_PASSES(rows, vecs) PACKED_PASS(rows, vecs, 0) PACKED_PASS(rows, vecs, 1)
PACKED_PASSES(PACKED_ROWS, 1)
PACKED_PASSES(PACKED_ROWS, 2)
PACKED_PASSES(PACKED_ROWS_OF_3, 3)
PACKED_PASSES(2, 1)
PACKED_PASSES(2, 2)
PACKED_PASSES(2, 3)
PACKED_PASSES(1, 1)
PACKED_PASSES(1, 2)
PACKED_PASSES(1, 3)

#define PACKED_BOTH(rows, vecs)                                                                                        \
    {                                                                                                                  \
        packed_pass_##rows##_##vecs##_0, packed_pass_##rows##_##vecs##_1                                               \
    }

#ifndef packed_left
/* Rows that are not worked off yet. */
static inline int64_t packed_left(int64_t states, int64_t at) { return states - at; }
#endif

/* All monomials of the columns [column, column + vecs). */
static void packed_columns(float *u, const packed_task *a, int64_t column, int vecs)
{
    typedef void pass(const packed_tile *tile);
    static pass *const passes[PACKED_VECS][3][2] = {
        { PACKED_BOTH(1, 1), PACKED_BOTH(2, 1), PACKED_BOTH(PACKED_ROWS, 1) },
        { PACKED_BOTH(1, 2), PACKED_BOTH(2, 2), PACKED_BOTH(PACKED_ROWS, 2) },
        { PACKED_BOTH(1, 3), PACKED_BOTH(2, 3), PACKED_BOTH(PACKED_ROWS_OF_3, 3) },
    };
    const monomials *all = &a->x->a;
    const int64_t states = monomials_states(all), first = monomials_first(all);
    const int decays = packed_decays(a->x->p) > 0, apart = packed_decays_apart(a->x->p);
    const int64_t most = vecs == 3 ? PACKED_ROWS_OF_3 : PACKED_ROWS;
    for (int64_t at = 0, rows; packed_left(states, at) > 0; at += rows) {
        const packed_tile tile = { .s = a->state + (column * states + at) * LANES,
                                   .u = u,
                                   .k = a->k + (first + at) * PACKED_UNIT,
                                   .q = a->q + (first + at) * PACKED_UNIT,
                                   .v = a->v + column * LANES,
                                   .decay = a->decay + (apart ? at * PACKED_UNIT : 0),
                                   .apart = apart ? PACKED_UNIT : 0,
                                   .until = a->until,
                                   .states = states,
                                   .channels = a->x->at.channels,
                                   .tokens = a->tokens,
                                   .reads = a->reads };
        rows = packed_left(states, at) >= most ? most : packed_left(states, at) >= 2 ? 2 : 1;
        passes[vecs - 1][rows == most ? 2 : rows - 1][decays](&tile);
    }
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

#ifndef packed_next
/* An empty block follows. */
static inline void packed_next(packed_task *a) { a->tokens = a->reads = 0; }
#endif

/* The block is worked off: the state then is that after its last token. */
static void packed_flush(packed_task *a)
{
    const packed *x = a->x;
    float u[PACKED_UNIT * PACKED_PANEL];
    monomials_make(a->k, &x->a, PACKED_UNIT);
    monomials_make(a->q, &x->a, PACKED_UNIT);
    monomials_weigh(a->q, &x->a, a->counts, a->f, x->p, PACKED_UNIT);
    for (int64_t column = a->first, vecs; column < a->last; column += vecs) {
        vecs = a->last - column == 3 ? 3 : step_min(2, a->last - column);
        memset(u, 0, sizeof u);
        packed_columns(u, a, column, (int)vecs);
        for (int64_t i = 0; i < a->reads; i++)
            memcpy(a->u[i] + column * LANES, u + i * PACKED_PANEL, sizeof *u * (size_t)(vecs * LANES));
    }
    packed_next(a);
}

/* Key t at the end of the block. */
static inline void packed_take(packed_task *a, int64_t t)
{
    const row *r = &a->r;
    const int64_t dim = a->x->a.dim;
    if (a->tokens == PACKED_UNIT)
        packed_flush(a);
    const int64_t lane = a->tokens++;
    const float *phi = fast_token(a->row, r->p, r->t->role[ATTEST_K], r->b, r->g, t, t);
    for (int64_t c = 0; c < dim; c++)
        a->k[(1 + c) * PACKED_UNIT + lane] = phi[c];
    columns_value(a->v + lane * a->x->at.channels, a->row, r, t);
    const int apart = packed_decays_apart(r->p);
    const float *factors = apart ? decay_vector(a->row, r->p, r->t, r->b, r->g, t) : a->row;
    for (int64_t c = 0; c < packed_decays(r->p); c++)
        a->decay[c * PACKED_UNIT + lane] = !heads_before(r, t) ? 1
                                           : apart             ? factors[c]
                                                               : decay_token(r->p, r->t, r->b, r->g, t);
}

#ifndef packed_seen
/* How many of the block's tokens does the query at its end see? */
static inline int64_t packed_seen(const packed_task *a) { return a->tokens; }
#endif

/* Query (r->h, r->i) at its end. */
static inline void packed_ask(packed_task *a)
{
    const row *r = &a->r;
    const attest_problem *p = r->p;
    const int64_t dim = a->x->a.dim;
    if (a->reads == PACKED_UNIT)
        packed_flush(a);
    const int64_t lane = a->reads++;
    const float *phi = a->row;
    a->f[lane] = 1;
    if (packed_decays(p))
        heads_query(&a->f[lane], a->row, r);
    else
        phi = fast_token(a->row, p, r->t->role[ATTEST_Q], r->b, r->h, r->i,
                         step_position(p, step_length(p, r->t, r->b), r->i));
    for (int64_t c = 0; c < dim; c++)
        a->q[(1 + c) * PACKED_UNIT + lane] = phi[c];
    a->until[lane] = packed_seen(a);
    a->u[lane] = a->x->shared + ((r->b * p->hq + r->h) * p->n + r->i) * a->x->at.channels;
}

/* ---- heads ------------------------------------------------------------------------------------------------------ */

#ifndef packed_clear
/* Another task has been here before. */
static inline void packed_clear(const packed_task *a) { columns_load(a->state, &a->x->a, &a->r, a->first, a->last); }
#endif

/* Task number n of b * hkv * parts. */
static void packed_begin(packed_task *a, const packed *x, float *scratch, int64_t n)
{
    const packed_layout *at = &x->at;
    const int64_t head = n / at->parts, part = n % at->parts, units = at->channels / COLUMN_CHANNELS;
    const int64_t columns = COLUMN_CHANNELS / LANES;
    *a = (packed_task){ .x = x,
                        .r = { .p = x->p, .t = x->t, .b = head / x->p->hkv, .g = head % x->p->hkv },
                        .first = units * part / at->parts * columns,
                        .last = step_min(units * (part + 1) / at->parts * columns, columns_count(x->p)),
                        .k = scratch,
                        .q = scratch + at->q,
                        .counts = scratch + at->counts,
                        .f = scratch + at->f,
                        .decay = scratch + at->decay,
                        .v = scratch + at->v,
                        .state = scratch + at->state,
                        .row = scratch + at->row };
    memset(scratch, 0, sizeof *scratch * (size_t)at->state); /* lanes without a token, channels behind z */
    monomials_counts(a->counts, &x->a);
    packed_clear(a);
}

/* As heads_one() of cpu/steps/heads.h. */
static void packed_head(const packed *x, float *scratch, int64_t n)
{
    const attest_problem *p = x->p;
    const int64_t group = p->hq / p->hkv;
    packed_task a;
    int64_t taken = 0;
    packed_begin(&a, x, scratch, n);
    row *r = &a.r;
    for (r->i = 0; r->i < p->n; r->i++) {
        step_visible(p, step_length(p, x->t, r->b), r->i, &r->first, &r->last);
        for (; taken < r->last; taken++)
            packed_take(&a, taken);
        r->last = step_max(r->last, 0);
        for (r->h = r->g * group; r->h < (r->g + 1) * group && columns_reads(r); r->h++)
            packed_ask(&a);
    }
    packed_flush(&a);
    columns_store(a.state, &x->a, r, a.first, a.last);
}

attest_status FAST_NAME(packed_run)(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const packed x = {
        .p = p, .t = call->tensors, .at = packed_lay_out(p), .a = monomials_of(p), .shared = call->workspace
    };
    const int64_t tasks = p->b * p->hkv * x.at.parts, rows = p->b * p->hq * p->n;
    const int plain = columns_plain(p, x.t), threads = (int)x.at.threads;
    (void)threads; /* without OpenMP */
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
        float *scratch = x.shared + x.at.scratch + fast_thread() * x.at.each;
#ifdef _OPENMP
#pragma omp for schedule(dynamic)
#endif
        for (int64_t n = 0; n < tasks; n++)
            packed_head(&x, scratch, n);
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (int64_t n = 0; n < rows; n++)
            columns_finish(p, x.t, x.shared + n * x.at.channels, n, plain);
    }
    return ATTEST_OK;
}

#endif
