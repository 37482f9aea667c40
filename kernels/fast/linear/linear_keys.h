/* linear_keys.h - what linear_kernel.h makes ready of a block of tokens before rows read it: keys turned around,
 * values, products of decays.
 */
#ifndef ATTEST_FAST_LINEAR_KEYS_H
#define ATTEST_FAST_LINEAR_KEYS_H

#include "fast/linear/linear_block.h"

/* ---- the block's keys and values -------------------------------------------------------------------------------- */

static inline void linear_times(float *x, const float *y, int64_t count)
{
    for (int64_t c = 0; c < count; c += LANES)
        vec_store(x + c, vec_load(x + c) * vec_load(y + c));
}

#ifndef linear_pack_value
/* Channels of value j; 1 if one of them is not finite. */
static int linear_pack_value(const linear_task *task, int64_t j)
{
    const linear *x = task->x;
    const float *value = fast_value(task->buffer, x->p, x->t, task->r.b, task->r.g, task->from + j) + task->c;
    memcpy(task->v + j * task->channels, value, sizeof *value * (size_t)task->count);
    return fast_rough(value, task->count);
}
#endif

/* a_t of decay=vector; ones where there is nothing that token t could decay. */
static void linear_pack_decay(const linear_task *task, int64_t j)
{
    const linear *x = task->x;
    float *a = task->a + j * x->at.row;
    const int any = j > 0 || task->before;
    const attest_tensor *t = x->t->role[ATTEST_DECAY];
    const float *given = any ? fast_row(task->buffer, t, task->r.b, task->r.g, task->from + j, x->p->d) : NULL;
    for (int64_t c = 0; c < x->at.dim; c++)
        a[c] = given ? decay_factor(x->p, given[c]) : 1;
}

/* Tokens [from, from + tokens): k [tokens][row], v, a. */
static void linear_pack(linear_task *task)
{
    const linear *x = task->x;
    const linear_layout *at = &x->at;
    task->rough = 0;
    for (int64_t j = 0; j < task->tokens; j++) {
        float *to = task->k + j * at->row;
        const int64_t token = task->from + j;
        const float *phi = fast_key(to, x->p, x->t, task->r.b, task->r.g, token);
        if (phi != to)
            memcpy(to, phi, sizeof *to * (size_t)at->dim);
        task->rough |= linear_pack_value(task, j);
        if (x->decay == ATTEST_DECAY_VECTOR)
            linear_pack_decay(task, j);
    }
}

/* ---- decays of a block ------------------------------------------------------------------------------------------ */

#ifndef linear_decay_row
/* D of token j, of that of token j-1: D[l] = a_j D[l] for l < j, 1 for l = j. */
static inline void linear_decay_row(float *to, const float *from, float a, int64_t j)
{
    for (int64_t l = 0; l < j; l += LANES)
        vec_store(to + l, vec_load(from + l) * vec_of(a));
    to[j] = 1;
}
#endif

/* D [TOKENS][TOKENS], f[1 + j] = a_from .. a_(from+j), f[0] = 1. */
static void linear_scalar_decays(const linear_task *task)
{
    const linear *x = task->x;
    task->f[0] = 1;
    for (int64_t j = 0; j < task->tokens; j++) {
        const int any = j > 0 || task->before;
        const float a = any ? decay_token(x->p, x->t, task->r.b, task->r.g, task->from + j) : 1;
        float *to = task->D + j * x->at.tokens;
        task->f[1 + j] = task->f[j] * a;
        linear_decay_row(to, j > 0 ? to - x->at.tokens : to, a, j);
    }
}

/* Row 1 + j of from_block is a_from .. a_(from+j), of from_part the same from the first token of j's part on. */
static void linear_vector_decays(const linear_task *task)
{
    const int64_t wide = task->x->at.row;
    for (int64_t c = 0; c < wide; c++)
        task->from_block[c] = task->from_part[c] = 1;
    for (int64_t j = 0; j < task->tokens; j++) {
        float *block = task->from_block + (1 + j) * wide, *part = task->from_part + (1 + j) * wide;
        const float *a = task->a + j * wide;
        for (int64_t c = 0; c < wide; c += LANES) {
            const vec factor = vec_load(a + c);
            vec_store(block + c, vec_load(block + c - wide) * factor);
            vec_store(part + c, j % LINEAR_PART == 0 ? factor : vec_load(part + c - wide) * factor);
        }
    }
}

#ifndef linear_part_keys
/* x[PART][row]: keys of part number n, each with the decays from its next token to the part's last one. */
static void linear_part_keys(float *x, const linear_task *task, int64_t n)
{
    const int64_t wide = task->x->at.row, first = n * LINEAR_PART;
    const int64_t count = step_min(LINEAR_PART, task->tokens - first);
    memset(x, 0, sizeof *x * (size_t)(LINEAR_PART * wide));
    for (int64_t c = 0; c < wide; c += LANES) {
        vec decays = vec_of(1);
        for (int64_t j = count - 1; j >= 0; j--) {
            vec_store(x + j * wide + c, vec_load(task->k + (first + j) * wide + c) * decays);
            decays *= vec_load(task->a + (first + j) * wide + c);
        }
    }
}
#endif

/* kt[n] [row][TOKENS]: the keys of parts 0..n with the decays to the end of part n. */
static void linear_vector_keys(const linear_task *task)
{
    const int64_t wide = task->x->at.row, T = task->x->at.tokens,
                  parts = fast_up(task->tokens, LINEAR_PART) / LINEAR_PART;
    for (int64_t n = 0; n < parts; n++) {
        float *kt = task->kt + n * wide * T;
        const float *before = kt - wide * T,
                    *end = task->from_part + step_min((n + 1) * LINEAR_PART, task->tokens) * wide;
        for (int64_t c = 0; c < task->x->at.dim && n > 0; c++)
            for (int64_t j = 0; j < n * LINEAR_PART; j += LANES)
                vec_store(kt + c * T + j, vec_load(before + c * T + j) * vec_of(end[c]));
        linear_part_keys(task->buffer, task, n);
        product_transpose(kt + n * LINEAR_PART, T, task->buffer, wide, LINEAR_PART, wide);
    }
}

/* All that rows and the block's end need of the block. */
static void linear_open(linear_task *task)
{
    const linear_layout *at = &task->x->at;
    linear_pack(task);
    if (task->x->decay == ATTEST_DECAY_VECTOR) {
        linear_vector_decays(task);
        linear_vector_keys(task);
        return;
    }
    product_transpose(task->kt, at->tokens, task->k, at->row, at->tokens, at->row);
    if (task->x->decay)
        linear_scalar_decays(task);
}

#endif
