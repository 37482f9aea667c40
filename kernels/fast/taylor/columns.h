/* columns.h - packed states in vectors over the value channels, tasks over heads and columns, and the rows' end: what
 * the Taylor kernels share.
 *
 * A column is LANES channels of all rows of a state: [columns][rows][LANES].  Channel e stands for z, as if each value
 * had one more entry, 1; channels behind it are zeros that nobody reads.
 */
#ifndef ATTEST_FAST_COLUMNS_H
#define ATTEST_FAST_COLUMNS_H

#include "fast/taylor/monomials.h"
#include "fast/threads.h"

#include "cpu/steps/norms.h"

enum {
    COLUMN_CHANNELS = 16, /* the unit of memory and of tasks on every instruction set: whole columns */
    TILES_UNIT = 32       /* tokens, and queries, of a block of tiles.h */
};

static inline int64_t columns_channels(const attest_problem *p) { return fast_up(p->e + 1, COLUMN_CHANNELS); }

#ifndef columns_count
/* Columns that hold a channel. */
static inline int64_t columns_count(const attest_problem *p) { return fast_up(p->e + 1, LANES) / LANES; }
#endif

/* Columns [first,last) of the state of KV head (r->b, r->g): as given, or zeros. */
static inline void columns_load(float *s, const monomials *a, const row *r, int64_t first, int64_t last)
{
    const attest_tensor *const *h0 = r->t->h0, *const *z0 = r->t->z0;
    const int64_t rows = monomials_states(a), e = r->p->e, end = step_min(last * LANES, e + 1);
    memset(s + first * rows * LANES, 0, sizeof *s * (size_t)((last - first) * rows * LANES));
    for (uint32_t n = a->lowest; n <= a->highest && heads_given(r->p); n++)
        for (int64_t at = 0; at < a->first[n + 1] - a->first[n]; at++)
            for (int64_t c = first * LANES; c < end; c++) {
                const attest_tensor *t = c < e ? h0[n] : z0[n];
                const int64_t channel = c < e ? c * t->stride[3] : 0;
                s[(c / LANES * rows + a->first[n] - monomials_first(a) + at) * LANES + c % LANES] = step_load(
                    t, step_offset(t, r->b, r->g, at) + channel);
            }
}

/* The same columns to the tensors ht and zt, where they are not NULL. */
static inline void columns_store(const float *s, const monomials *a, const row *r, int64_t first, int64_t last)
{
    const int64_t rows = monomials_states(a), e = r->p->e, end = step_min(last * LANES, e + 1);
    for (uint32_t n = a->lowest; n <= a->highest; n++)
        for (int64_t c = first * LANES; c < end; c++) {
            const attest_tensor *t = c < e ? r->t->ht[n] : r->t->zt[n];
            const float *from = s + (c / LANES * rows + a->first[n] - monomials_first(a)) * LANES + c % LANES;
            for (int64_t at = 0; t && at < a->first[n + 1] - a->first[n]; at++)
                step_store(t, step_offset(t, r->b, r->g, at) + (c < e ? c * t->stride[3] : 0), from[at * LANES]);
        }
}

#ifndef columns_value
/* Value row t of KV head (r->b, r->g) and its 1, in v[channels], whose other entries are zeros already. */
static inline void columns_value(float *v, float *buffer, const row *r, int64_t t)
{
    const float *value = fast_value(buffer, r->p, r->t, r->b, r->g, t);
    memcpy(v, value, sizeof *v * (size_t)r->p->e);
    v[r->p->e] = 1;
}
#endif

/* Does the row read anything, be it a given state? */
static inline int columns_reads(const row *r) { return heads_before(r, r->last); }

/* Query i of head number `head` of all b hq; its keys are [0, last). */
static inline row columns_row(const attest_problem *p, const attest_tensors *t, int64_t head, int64_t i)
{
    row r = { .p = p, .t = t, .b = head / p->hq, .h = head % p->hq, .i = i, .scale = (float)p->scale };
    r.g = r.h / (p->hq / p->hkv);
    step_visible(p, step_length(p, t, r.b), r.i, &r.first, &r.last);
    r.last = step_max(r.last, 0);
    return r;
}

/* The end of that row, of sums u and z in u[e + 1], which are used up. */
static inline void columns_finish(const attest_problem *p, const attest_tensors *t, float *u, int64_t head, int64_t i,
                                  int plain)
{
    const row r = columns_row(p, t, head, i);
    const attest_tensor *o = t->role[ATTEST_O];
    if (!columns_reads(&r)) {
        step_empty_row(&r);
    } else if (!plain) {
        norm_finish(&r, u, u[p->e], 0);
    } else {
        float *to = (float *)o->data + step_offset(o, r.b, r.h, r.i);
        for (int64_t c = 0; c < p->e; c++)
            to[c] = u[c] / u[p->e];
    }
}

/* Is o all that is asked for, and u/z? */
static inline int columns_plain(const attest_problem *p, const attest_tensors *t)
{
    return fast_plain_rows(p, t, ATTEST_F32) && !t->role[ATTEST_U] && !t->role[ATTEST_Z];
}

/* ---- tasks ------------------------------------------------------------------------------------------------------ */

/* What all threads share of the workspace, in floats: u [b][hq][n][channels]; then each its own, from `scratch` on. */
typedef struct columns_layout {
    int64_t channels;       /* e and z, rounded up to COLUMN_CHANNELS */
    int64_t threads, parts; /* parts of a head: ranges of columns, where there are fewer heads than threads */
    int64_t scratch;
} columns_layout;

/* For so many multiply-adds a token and channel, and as many a query. */
static inline columns_layout columns_lay_out(const attest_problem *p, int64_t each)
{
    const int64_t heads = p->b * p->hkv, units = columns_channels(p) / COLUMN_CHANNELS;
    const double work = (double)(p->b * p->hq * p->n + heads * p->m) * (double)each * (double)p->e;
    columns_layout at = { .channels = columns_channels(p), .threads = fast_threads(work, heads * units) };
    at.parts = step_min(units, (at.threads + heads - 1) / heads);
    at.scratch = p->b * p->hq * p->n * at.channels;
    return at;
}

/* Task number n of b hkv parts: its KV head. */
static inline row columns_head(const attest_problem *p, const attest_tensors *t, const columns_layout *at, int64_t n)
{
    const int64_t head = n / at->parts;
    return (row){ .p = p, .t = t, .b = head / p->hkv, .g = head % p->hkv, .scale = (float)p->scale };
}

/* And its columns [first,last). */
static inline void columns_range(int64_t *first, int64_t *last, const attest_problem *p, const columns_layout *at,
                                 int64_t n)
{
    const int64_t part = n % at->parts, units = at->channels / COLUMN_CHANNELS, columns = COLUMN_CHANNELS / LANES;
    *first = units * part / at->parts * columns;
    *last = step_min(units * (part + 1) / at->parts * columns, columns_count(p));
}

/* The row of u of query (r->h, r->i). */
static inline float *columns_sums(float *shared, const columns_layout *at, const row *r)
{
    return shared + ((r->b * r->p->hq + r->h) * r->p->n + r->i) * at->channels;
}

/* phi(q) of query (r->h, r->i). */
static inline const float *columns_query(float *buffer, const row *r)
{
    return fast_token(buffer, r->p, r->t->role[ATTEST_Q], r->b, r->h, r->i,
                      step_position(r->p, step_length(r->p, r->t, r->b), r->i));
}

/* What heads_one() of cpu/steps/heads.h does: tokens are taken as queries see them, queries asked for by r->h, r->i. */
static inline void columns_stream(row *r, void *self, void (*take)(void *self, int64_t t), void (*ask)(void *self))
{
    const attest_problem *p = r->p;
    const int64_t group = p->hq / p->hkv;
    int64_t taken = 0;
    for (r->i = 0; r->i < p->n; r->i++) {
        step_visible(p, step_length(p, r->t, r->b), r->i, &r->first, &r->last);
        for (; taken < r->last; taken++)
            take(self, taken);
        r->last = step_max(r->last, 0);
        for (r->h = r->g * group; r->h < (r->g + 1) * group && columns_reads(r); r->h++)
            ask(self);
    }
}

/* A task, in the scratch of its thread: it fills the sums of its columns. */
typedef void columns_task(const void *call, float *scratch, int64_t n);

/* All tasks, then the rows' ends. */
static inline attest_status columns_run(const attest_call *call, const columns_layout *at, int64_t each,
                                        columns_task *task, const void *self)
{
    const attest_problem *p = call->problem;
    float *shared = call->workspace;
    const int64_t tasks = p->b * p->hkv * at->parts, heads = p->b * p->hq;
    const int plain = columns_plain(p, call->tensors);
    const int threads = (int)fast_threads_within(at->threads, call->workspace_size, at->scratch, each);
    (void)threads; /* without OpenMP */
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
        float *scratch = shared + at->scratch + fast_thread() * each;
#ifdef _OPENMP
#pragma omp for schedule(dynamic)
#endif
        for (int64_t n = 0; n < tasks; n++)
            task(self, scratch, n);
#ifdef _OPENMP
#pragma omp for schedule(static) collapse(2)
#endif
        for (int64_t head = 0; head < heads; head++)
            for (int64_t i = 0; i < p->n; i++)
                columns_finish(p, call->tensors, shared + (head * p->n + i) * at->channels, head, i, plain);
    }
    return ATTEST_OK;
}

#endif
