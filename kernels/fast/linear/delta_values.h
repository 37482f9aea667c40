/* delta_values.h - what the delta rule writes: the values of a chunk's tokens as unknowns of a triangular system.
 *
 *     w_t = b_t (gin_t v_t - D_t phi(k_t) S - sum_(j<t) D_tj <phi(k_t), phi(k_j)> w_j)
 *
 * in a chunk with the state S before it (R-WY).  The weights are those of rows that read the chunk (linear_rows.h): a
 * key reads as a query that sees the tokens before its own, and has its own decay beyond them.  DELTA_GROUP tokens at a
 * time take the tokens before them by a product of matrices, and then each other in order.  w_t replaces v_t: all that
 * follows is linear attention over written values.
 * Errors     of the weights, S and the sums: linear.h; the written value two roundings and b_t's own.
 */
#ifndef ATTEST_FAST_DELTA_VALUES_H
#define ATTEST_FAST_DELTA_VALUES_H

#include "fast/linear/linear_rows.h"

#include "cpu/steps/delta.h"

enum { DELTA_GROUP = 6 }; /* tokens; the same on all instruction sets, for the order of sums goes by it */

/* Tokens from `first` of the block on as rows that read it. */
static linear_rows delta_rows(const linear_task *task, int64_t first)
{
    const linear *x = task->x;
    const int64_t wide = x->at.row;
    linear_rows rows = { .i = first, .count = step_min(LINEAR_ROWS, task->tokens - first) };
    for (int64_t n = 0; n < rows.count; n++) {
        const int64_t j = first + n;
        const int decayed = x->decay && (j > 0 || task->before);
        rows.seen[n] = j;
        memcpy(task->q + n * wide, task->k + j * wide, sizeof(float) * (size_t)wide);
        if (x->decay == ATTEST_DECAY_VECTOR)
            linear_times(task->q + n * wide, task->a + j * wide, wide);
        task->g[n] = decayed ? decay_token(x->p, x->t, task->r.b, task->r.g, task->from + j) : 1;
    }
    return rows;
}

#ifndef delta_factor
/* f of row n of `rows`, tokens that write. */
static inline float delta_factor(const linear_task *task, const linear_rows *rows, int64_t n)
{
    return linear_start_factor(task, rows, n);
}
#endif

#ifndef delta_reads
/* Is there a state that rows read? */
static inline int delta_reads(const linear_task *task, const linear_rows *rows)
{
    (void)rows;
    return task->before;
}
#endif

/* u = f (q S), the rows' part of the state; f [rows]. */
static inline void delta_before(const linear_task *task, const linear_rows *rows, float *f)
{
    const linear_layout *at = &task->x->at;
    const product x = { .u = task->u,
                        .u_row = task->channels,
                        .b = task->S,
                        .b_row = task->channels,
                        .a = task->x->decay == ATTEST_DECAY_VECTOR ? task->far : task->q,
                        .a_row = at->row,
                        .a_step = 1,
                        .count = at->dim,
                        .width = task->channels };
    for (int64_t n = 0; n < rows->count; n++)
        f[n] = delta_factor(task, rows, n);
    if (delta_reads(task, rows))
        product_rows(&x, 0, rows->count);
}

#ifndef delta_write_row
/* v := b (v - u - sum w_j v_j) of token j of the block, over the tokens [from, j) of its own group; w its weights. */
static inline void delta_write_row(const linear_task *task, const float *u, const float *w, float b, int64_t from,
                                   int64_t j)
{
    for (int64_t c = 0; c < task->channels; c += LANES) {
        float *v = task->v + j * task->channels + c;
        vec sum = vec_load(u + c);
        for (int64_t l = from; l < j; l++)
            sum = vec_fma(vec_of(w[l]), vec_load(task->v + l * task->channels + c), sum);
        vec_store(v, vec_of(b) * (vec_load(v) - sum));
    }
}
#endif

#ifndef delta_rate_of
/* b_t of token j of the block. */
static inline float delta_rate_of(const linear_task *task, int64_t j)
{
    return delta_rate(&task->r, task->k + j * task->x->at.row, task->from + j);
}
#endif

static void delta_solve(const linear_task *task, const linear_rows *rows)
{
    const int64_t T = task->x->at.tokens;
    float f[LINEAR_ROWS];
    product inside = { .u = task->u,
                       .u_row = task->channels,
                       .a = task->w,
                       .a_row = T,
                       .a_step = 1,
                       .b = task->v,
                       .b_row = task->channels,
                       .keep = task->before ? f : NULL,
                       .width = task->channels };
    delta_before(task, rows, f);
    for (int64_t n = 0; n < rows->count; n += DELTA_GROUP) {
        const int64_t end = step_min(n + DELTA_GROUP, rows->count);
        inside.count = rows->seen[n];
        product_rows(&inside, n, end);
        for (int64_t l = n; l < end; l++)
            delta_write_row(task, task->u + l * task->channels, task->w + l * T, delta_rate_of(task, rows->i + l),
                            rows->seen[n], rows->i + l);
    }
}

/* The values of the open block become those that its tokens write. */
static void delta_values(linear_task *task)
{
    for (int64_t first = 0; first < task->tokens; first += LINEAR_ROWS) {
        const linear_rows rows = delta_rows(task, first);
        linear_weights(task, &rows);
        delta_solve(task, &rows);
    }
    task->rough = fast_rough(task->v, task->tokens * task->channels);
}

#endif
