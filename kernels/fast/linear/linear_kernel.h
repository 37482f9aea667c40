/* linear_kernel.h - the loops of linear.h in the vectors of simd.h: compiled once for each instruction set. */
#ifndef ATTEST_FAST_LINEAR_KERNEL_H
#define ATTEST_FAST_LINEAR_KERNEL_H

#include "fast/linear/linear_keys.h"
#include "fast/linear/delta_values.h"

#ifdef LINEAR_STATE_BF16
#define LINEAR_RUN linear_state_bf16_run
#else
#define LINEAR_RUN linear_run
#endif

/* ---- the walk over the blocks ----------------------------------------------------------------------------------- */

#ifndef linear_keep_factor
/* What the block's decays leave of row c of the state. */
static inline float linear_keep_factor(const linear_task *task, int64_t c)
{
    if (task->x->decay == ATTEST_DECAY_VECTOR)
        return task->from_block[task->tokens * task->x->at.row + c];
    return task->x->decay ? task->f[task->tokens] : 1;
}
#endif

#ifndef linear_stored
/* x[count], entries of a state, as they are stored. */
static inline void linear_stored(float *x, int64_t count)
{
    for (int64_t c = 0; c < count; c += LANES)
        vec_store(x + c, vec_bf16(vec_load(x + c)));
}
#endif

/* S = f S + sum_j (D_j k_j)^T v_j, Z likewise. */
static void linear_close(linear_task *task)
{
    const linear_layout *at = &task->x->at;
    const int64_t T = at->tokens, last = task->tokens - 1;
    const int vector = task->x->decay == ATTEST_DECAY_VECTOR;
    float *kt = task->kt + (vector ? last / LINEAR_PART * at->row * T : 0);
    for (int64_t c = 0; c < at->dim; c++)
        task->keep[c] = linear_keep_factor(task, c);
    for (int64_t c = 0; c < at->dim; c++) {
        if (task->x->decay && !vector)
            linear_times(kt + c * T, task->D + last * T, T);
        if (!task->x->sums)
            continue;
        linear_hide(kt + c * T, task->tokens, T);
        const float sum = linear_sum(kt + c * T, NULL, T);
        task->Z[c] = task->before ? task->keep[c] * task->Z[c] + sum : sum;
    }
    const product x = { .u = task->S,
                        .u_row = task->channels,
                        .a = kt,
                        .a_row = T,
                        .a_step = 1,
                        .b = task->v,
                        .b_row = task->channels,
                        .count = task->tokens,
                        .keep = task->before ? task->keep : NULL,
                        .width = task->channels };
    product_rows(&x, 0, at->dim);
}

#ifdef LINEAR_STATE_BF16
/* At the end of a chunk, or of all tokens: S and Z as they are stored. */
static void linear_store_chunk(linear_task *task, int64_t total)
{
    const int64_t end = task->from + task->tokens;
    if (end % step_max(task->x->p->chunk, 1) != 0 && end < total)
        return;
    linear_stored(task->S, task->x->at.dim * task->channels);
    linear_stored(task->Z, task->x->at.row);
}
#endif

/* All rows from i on that see no key behind the open block, of every query head; returns the first row behind them. */
static int64_t linear_read_block(linear_task *task, int64_t i)
{
    const attest_problem *p = task->x->p;
    const int64_t group = p->hq / p->hkv, length = step_length(p, task->x->t, task->r.b);
    while (i < p->n) {
        linear_rows rows = { .i = i };
        for (int64_t first, last; i < p->n && rows.count < LINEAR_ROWS; i++, rows.count++) {
            step_visible(p, length, i, &first, &last);
            if (last > task->from + task->tokens)
                break;
            if (rows.count > 0 && (last <= 0) != (rows.seen[0] == 0))
                break; /* rows without a key are by themselves: they may be empty */
            rows.seen[rows.count] = step_max(last - task->from, 0);
        }
        if (rows.count == 0)
            break;
        for (task->r.h = task->r.g * group; task->r.h < (task->r.g + 1) * group; task->r.h++) {
            if (rows.seen[0] == 0 && !task->before)
                linear_empty(task, &rows);
            else
                linear_read(task, &rows);
        }
    }
    return i;
}

/* Tokens of the block that begins at `from`. */
static inline int64_t linear_block_size(const attest_problem *p, int64_t from, int64_t total)
{
    const int64_t chunk = step_max(p->chunk, 1), left = step_min(chunk - from % chunk, total - from);
    return step_min(left, linear_tokens(p));
}

/* S and Z from the tensors h0 and z0. */
static void linear_load_state(const linear_task *task)
{
    const attest_tensor *h0 = task->x->t->h0[1], *z0 = task->x->t->z0[1];
    const int64_t b = task->r.b, g = task->r.g;
    for (int64_t n = 0; n < task->x->at.dim; n++) {
        task->Z[n] = !z0 ? 0 : step_load(z0, b * z0->stride[0] + g * z0->stride[1] + n * z0->stride[2]);
        for (int64_t c = 0; c < task->count; c++)
            task->S[n * task->channels + c] = step_load(h0, step_offset(h0, b, g, n) + (task->c + c) * h0->stride[3]);
    }
}

static void linear_store_state(const linear_task *task)
{
    const attest_tensor *ht = task->x->t->ht[1], *zt = task->x->t->zt[1];
    const int64_t b = task->r.b, g = task->r.g;
    for (int64_t n = 0; n < task->x->at.dim; n++) {
        if (zt && task->c == 0)
            step_store(zt, b * zt->stride[0] + g * zt->stride[1] + n * zt->stride[2], task->Z[n]);
        for (int64_t c = 0; ht && c < task->count; c++)
            step_store(ht, step_offset(ht, b, g, n) + (task->c + c) * ht->stride[3], task->S[n * task->channels + c]);
    }
}

#ifndef linear_clear
/* No token yet: the thread's task before this one left its numbers there. */
static inline void linear_clear(linear_task *task) { memset(task->S, 0, sizeof *task->S * (size_t)task->x->at.each); }
#endif

#ifndef linear_enters
/* Does the open block become part of the state? */
static inline int linear_enters(const linear_task *task) { return task->tokens > 0; }
#endif

static linear_task linear_begin(const linear *x, float *scratch, int64_t number)
{
    const linear_layout *at = &x->at;
    const int64_t slices = linear_slices(x->p), head = number / slices, c = number % slices * x->wide;
    linear_task task = { .x = x, .c = c, .count = step_min(x->wide, x->p->e - c), .before = x->given };
    task.r = (row){ .p = x->p, .t = x->t, .b = head / x->p->hkv, .g = head % x->p->hkv, .scale = (real)x->p->scale };
    task.channels = fast_up(task.count, PANEL);
    float **const parts[] = { &task.S, &task.Z,         &task.keep,       &task.k, &task.kt,    &task.v,   &task.a,
                              &task.D, &task.from_part, &task.from_block, &task.q, &task.near,  &task.far, &task.w,
                              &task.u, &task.f,         &task.g,          &task.z, &task.buffer };
    const int64_t begin[] = { at->S, at->Z,         at->keep,       at->k, at->kt,   at->v,   at->a,
                              at->D, at->from_part, at->from_block, at->q, at->near, at->far, at->w,
                              at->u, at->f,         at->g,          at->z, at->x };
    for (size_t n = 0; n < sizeof begin / sizeof begin[0]; n++)
        *parts[n] = scratch + begin[n];
    linear_clear(&task);
    return task;
}

static void linear_do(const linear *x, float *scratch, int64_t number)
{
    linear_task task = linear_begin(x, scratch, number);
    int64_t first, total = 0, i = 0;
    if (x->given)
        linear_load_state(&task);
    if (x->p->n > 0)
        step_visible(x->p, step_length(x->p, x->t, task.r.b), x->p->n - 1, &first, &total);
    total = step_max(total, 0);
    do {
        task.tokens = linear_block_size(x->p, task.from, total);
        linear_open(&task); /* without a token too: rows may read a given state */
        if (x->delta)
            delta_values(&task);
        i = linear_read_block(&task, i);
        if (linear_enters(&task)) {
            linear_close(&task);
#ifdef LINEAR_STATE_BF16
            linear_store_chunk(&task, total);
#endif
            task.before = 1;
        }
        task.from += task.tokens;
    } while (task.from < total);
    linear_store_state(&task);
}

/* Is z read by anything? */
static int linear_wants_z(const attest_problem *p, const attest_tensors *t)
{
    const uint32_t norm = p->axis[ATTEST_AXIS_NORM].value;
    return norm == ATTEST_NORM_SUM || norm == ATTEST_NORM_SINK || norm == ATTEST_NORM_FLOOR || t->role[ATTEST_Z] ||
           t->role[ATTEST_LSE] || t->zt[1];
}

attest_status FAST_NAME(LINEAR_RUN)(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const linear x = { .p = p,
                       .t = call->tensors,
                       .at = linear_lay_out(p),
                       .shared = call->workspace,
                       .decay = p->axis[ATTEST_AXIS_DECAY].value,
                       .given = heads_given(p),
                       .delta = p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_ADD,
                       .sums = linear_wants_z(p, call->tensors),
                       .plain = linear_by_channel(p),
                       .wide = linear_slices(p) > 1 ? LINEAR_WIDTH : p->e };
    const int64_t tasks = p->b * p->hkv * linear_slices(p);
    const int threads = (int)fast_threads_within(linear_threads(p), call->workspace_size, 0, x.at.each);
    (void)threads; /* without OpenMP */
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic)
#endif
    for (int64_t n = 0; n < tasks; n++)
        linear_do(&x, x.shared + fast_thread() * x.at.each, n);
    return ATTEST_OK;
}

#endif
