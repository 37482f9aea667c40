/* linear_rows.h - the rows of linear_kernel.h that read an open block: weights, sums, output. */
#ifndef ATTEST_FAST_LINEAR_ROWS_H
#define ATTEST_FAST_LINEAR_ROWS_H

#include "fast/linear/linear_block.h"

/* ---- rows: weights ---------------------------------------------------------------------------------------------- */

/* scale phi(q_i) of a row, and what it has of the decays behind the last key that it sees. */
static void linear_load_query(linear_task *task, const linear_rows *rows, int64_t n)
{
    row *r = &task->r;
    float *q = task->q + n * task->x->at.row;
    const int64_t length = step_length(r->p, r->t, r->b);
    r->i = rows->i + n;
    step_visible(r->p, length, r->i, &r->first, &r->last);
    r->last = step_max(r->last, 0);
    const float *phi = fast_token(q, r->p, r->t->role[ATTEST_Q], r->b, r->h, r->i, step_position(r->p, length, r->i));
    if (phi != q)
        memcpy(q, phi, sizeof *q * (size_t)task->x->at.dim);
    heads_walk(&task->g[n], q, r);
    for (int64_t c = 0; c < task->x->at.row; c += LANES)
        vec_store(q + c, vec_load(q + c) * vec_of(r->scale));
}

/* Rows of the same part: number of the first one behind row n. */
static int64_t linear_same_part(const linear_rows *rows, int64_t n)
{
    const int64_t part = (rows->seen[n] - 1) / LINEAR_PART;
    int64_t end = n + 1;
    while (end < rows->count && (rows->seen[end] - 1) / LINEAR_PART == part)
        end++;
    return end;
}

/* Lanes modulo SUM_LANES of several sums, each added up in a tree. */
static inline __attribute__((always_inline)) void linear_totals(float *to, vec sum[][SUM_VECS], int count)
{
    for (int n = 0; n < count; n++)
        for (int half = SUM_VECS / 2; half > 0; half /= 2)
            for (int h = 0; h < half; h++)
                sum[n][h] += sum[n][h + half];
    if (count == 4)
        vec_totals(to, sum[0][0], sum[1][0], sum[2][0], sum[3][0]);
    for (int n = 0; n < count && count < 4; n++)
        to[n] = vec_total(sum[n][0]);
}

/* w[j-1], .. w[j-count] of keys inside the query's part; x, the query as of token j-1, ends as of token j-1-count. */
static inline __attribute__((always_inline)) void linear_walk(float *w, float *x, const linear_task *task, int64_t j,
                                                              const int count)
{
    const int64_t wide = task->x->at.row;
    vec sum[4][SUM_VECS];
    float total[4];
    for (int n = 0; n < count; n++)
        for (int h = 0; h < SUM_VECS; h++)
            sum[n][h] = vec_of(0);
    for (int64_t c = 0; c < wide; c += SUM_LANES)
        for (int h = 0; h < SUM_VECS; h++) {
            const float *k = task->k + (j - 1) * wide + c + h * LANES, *a = task->a + (j - 1) * wide + c + h * LANES;
            vec y = vec_load(x + c + h * LANES);
            for (int n = 0; n < count; n++) {
                sum[n][h] = vec_fma(y, vec_load(k - n * wide), sum[n][h]);
                y *= vec_load(a - n * wide);
            }
            vec_store(x + c + h * LANES, y);
        }
    linear_totals(total, sum, count);
    for (int n = 0; n < count; n++)
        w[j - 1 - n] = total[n];
}

#ifndef linear_walk_part
/* Weights of the keys of row n's own part, up to the last that it sees. */
static void linear_walk_part(const linear_task *task, const linear_rows *rows, int64_t n)
{
    const int64_t wide = task->x->at.row, first = (rows->seen[n] - 1) / LINEAR_PART * LINEAR_PART;
    float *w = task->w + n * task->x->at.tokens, *x = task->buffer;
    int64_t j = rows->seen[n];
    memcpy(x, task->q + n * wide, sizeof *x * (size_t)wide);
    for (; j - first >= 4; j -= 4)
        linear_walk(w, x, task, j, 4);
    if (j - first >= 2) {
        linear_walk(w, x, task, j, 2);
        j -= 2;
    }
    if (j > first)
        linear_walk(w, x, task, j, 1);
}
#endif

/* near = q from_part, far = q from_block; weights of earlier parts by a product, of the own one by walking back. */
static void linear_vector_weights(const linear_task *task, const linear_rows *rows)
{
    const linear_layout *at = &task->x->at;
    for (int64_t n = 0; n < rows->count; n++)
        for (int64_t c = 0; c < at->row; c += LANES) {
            const vec q = vec_load(task->q + n * at->row + c);
            vec_store(task->near + n * at->row + c, q * vec_load(task->from_part + rows->seen[n] * at->row + c));
            vec_store(task->far + n * at->row + c, q * vec_load(task->from_block + rows->seen[n] * at->row + c));
        }
    for (int64_t n = 0, end; n < rows->count; n = end) {
        end = n + 1;
        if (rows->seen[n] == 0)
            continue;
        end = linear_same_part(rows, n);
        const int64_t part = (rows->seen[n] - 1) / LINEAR_PART;
        const product x = { .u = task->w,
                            .u_row = at->tokens,
                            .a = task->near,
                            .a_row = at->row,
                            .a_step = 1,
                            .b = task->kt + (part - 1) * at->row * at->tokens,
                            .b_row = at->tokens,
                            .count = at->dim,
                            .width = fast_up(part * LINEAR_PART, PANEL) };
        if (part > 0)
            product_rows(&x, n, end);
        for (int64_t l = n; l < end; l++)
            linear_walk_part(task, rows, l);
    }
}

/* Weights of one decay a token, or none: scores by products, each group of rows as far as its last one sees. */
static void linear_scalar_weights(const linear_task *task, const linear_rows *rows)
{
    const linear_layout *at = &task->x->at;
    for (int64_t n = 0; n < rows->count; n += ROWS) {
        const int64_t end = step_min(n + ROWS, rows->count);
        const product x = { .u = task->w,
                            .u_row = at->tokens,
                            .a = task->q,
                            .a_row = at->row,
                            .a_step = 1,
                            .b = task->kt,
                            .b_row = at->tokens,
                            .count = at->dim,
                            .width = fast_up(rows->seen[end - 1], PANEL) };
        product_rows(&x, n, end);
        for (int64_t l = n; l < end && task->x->decay; l++) {
            const float *D = task->D + (rows->seen[l] - 1) * at->tokens;
            float *w = task->w + l * at->tokens;
            for (int64_t j = 0; j < rows->seen[l]; j += LANES)
                vec_store(w + j, vec_load(w + j) * (vec_load(D + j) * vec_of(task->g[l])));
        }
    }
}

/* w [rows][T] from q [rows][row] and g [rows]; those of keys that a row does not see are anything. */
static inline void linear_weights(const linear_task *task, const linear_rows *rows)
{
    if (task->x->decay == ATTEST_DECAY_VECTOR)
        linear_vector_weights(task, rows);
    else
        linear_scalar_weights(task, rows);
}

#ifndef linear_hide
/* 0 for the keys from `seen` on, of `tokens` in all. */
static inline void linear_hide(float *w, int64_t seen, int64_t tokens)
{
    for (int64_t j = seen / LANES * LANES; j < tokens; j += LANES)
        vec_store(w + j, vec_masked(ivec_lanes() + (int32_t)j < (int32_t)seen, vec_load(w + j)));
}
#endif

/* ---- rows: sums ------------------------------------------------------------------------------------------------- */

/* sum_c x_c y_c, or sum_c x_c. */
static inline float linear_sum(const float *x, const float *y, int64_t count)
{
    vec sum[1][SUM_VECS];
    float total;
    for (int h = 0; h < SUM_VECS; h++)
        sum[0][h] = vec_of(0);
    for (int64_t c = 0; c < count; c += SUM_LANES)
        for (int h = 0; h < SUM_VECS; h++) {
            const vec a = vec_load(x + c + h * LANES);
            sum[0][h] = y ? vec_fma(a, vec_load(y + c + h * LANES), sum[0][h]) : sum[0][h] + a;
        }
    linear_totals(&total, sum, 1);
    return total;
}

#ifndef linear_start_factor
/* f of a row: what its decays leave of the state before the block; with decay=vector they are in `far`. */
static inline float linear_start_factor(const linear_task *task, const linear_rows *rows, int64_t n)
{
    const int scalar = task->x->decay && task->x->decay != ATTEST_DECAY_VECTOR;
    return scalar ? task->f[rows->seen[n]] * task->g[n] : 1;
}
#endif

/* u = f (q S) + w v, z = f <q, Z> + sum w. */
static void linear_sums(const linear_task *task, const linear_rows *rows)
{
    const linear_layout *at = &task->x->at;
    const float *q = task->x->decay == ATTEST_DECAY_VECTOR ? task->far : task->q;
    float f[LINEAR_ROWS];
    const product start = { .u = task->u,
                            .u_row = task->channels,
                            .a = q,
                            .a_row = at->row,
                            .a_step = 1,
                            .b = task->S,
                            .b_row = task->channels,
                            .count = at->dim,
                            .width = task->channels };
    product inside = { .u = task->u,
                       .u_row = task->channels,
                       .a = task->w,
                       .a_row = at->tokens,
                       .a_step = 1,
                       .b = task->v,
                       .b_row = task->channels,
                       .keep = task->before ? f : NULL,
                       .width = task->channels };
    const int64_t group = task->rough ? 1 : ROWS;
    if (task->before)
        product_rows(&start, 0, rows->count);
    for (int64_t n = 0; n < rows->count; n++) {
        f[n] = linear_start_factor(task, rows, n);
        linear_hide(task->w + n * at->tokens, rows->seen[n], at->tokens);
        if (task->x->sums) {
            task->z[n] = linear_sum(task->w + n * at->tokens, NULL, at->tokens);
            if (task->before)
                task->z[n] += f[n] * linear_sum(q + n * at->row, task->Z, at->row);
        }
    }
    for (int64_t n = 0; n < rows->count; n += group) {
        const int64_t end = step_min(n + group, rows->count);
        inside.count = rows->seen[end - 1];
        product_rows(&inside, n, end);
    }
}

/* ---- rows: output ----------------------------------------------------------------------------------------------- */

/* Channels [c, c + count) of a row of o or u. */
static void linear_store(const row *r, attest_role role, int64_t c, int64_t count, const float *x)
{
    const attest_tensor *t = r->t->role[role];
    if (t && t->dtype == ATTEST_F32 && t->stride[3] == 1) {
        memcpy((float *)t->data + step_offset(t, r->b, r->h, r->i) + c, x, sizeof *x * (size_t)count);
        return;
    }
    for (int64_t n = 0; n < count; n++)
        step_store_row(r, role, c + n, x[n]);
}

/* Row number n of `rows`; u is used up. */
static void linear_write(linear_task *task, int64_t n)
{
    const row *r = &task->r;
    float *u = task->u + n * task->channels;
    const float z = task->x->sums ? task->z[n] : 0;
    if (!task->x->plain) {
        norm_finish(r, u, z, 0);
        return;
    }
    linear_store(r, ATTEST_U, task->c, task->count, u);
    if (task->c == 0) {
        step_store_row(r, ATTEST_Z, 0, z);
        if (r->t->role[ATTEST_LSE])
            step_store_row(r, ATTEST_LSE, 0, z > 0 ? logf(z) : NAN);
    }
    const float gout = gate_row(r->p, r->t, r->b, r->h, r->i);
    for (int64_t c = 0; c < task->count && r->p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_SUM; c++)
        u[c] /= z;
    for (int64_t c = 0; c < task->count && gate_rows(r->p); c++)
        u[c] *= gout;
    linear_store(r, ATTEST_O, task->c, task->count, u);
}

/* Rows of head r.h that read the open block. */
static void linear_read(linear_task *task, const linear_rows *rows)
{
    for (int64_t n = 0; n < rows->count; n++)
        linear_load_query(task, rows, n);
    linear_weights(task, rows);
    linear_sums(task, rows);
    for (int64_t n = 0; n < rows->count; n++) {
        task->r.i = rows->i + n;
        step_visible(task->r.p, step_length(task->r.p, task->r.t, task->r.b), task->r.i, &task->r.first, &task->r.last);
        task->r.last = step_max(task->r.last, 0);
        linear_write(task, n);
    }
}

/* Rows that see nothing. */
static void linear_empty(linear_task *task, const linear_rows *rows)
{
    for (int64_t n = 0; n < rows->count && task->c == 0; n++) {
        task->r.i = rows->i + n;
        step_empty_row(&task->r);
    }
}

#endif
