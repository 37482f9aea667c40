/* states_scene.h - a case for the kernels with states: tensors filled from a hash, a run, poisoned tokens.
 *
 * Values are short dyadics that every format holds: q, k, v multiples of 2^-5 in [-1,1], decays in (1/2,1], so that D
 * stays visible over the sizes of these tests.  States are symmetric in their index tuple, so that the packed and the
 * full layout hold the same.
 */
#ifndef ATTEST_TEST_STATES_SCENE_H
#define ATTEST_TEST_STATES_SCENE_H

#include "kernels/attest_float.h"
#include "kernels/library/call.h"
#include "kernels/library/registry.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct scene {
    attest_case c;
    const attest_kernel *kernel;
    attest_bundle *bundle;
    attest_view view;
    int packed;
    char where[320];
} scene;

/* ---- values ---------------------------------------------------------------------------------------------------- */

static inline uint64_t scene_hash(uint64_t tensor, uint64_t at)
{
    uint64_t x = tensor * 0x9e3779b97f4a7c15ull + at + 1;
    for (int i = 0; i < 2; i++) {
        x ^= x >> 30;
        x *= 0xbf58476d1ce4e5b9ull;
        x ^= x >> 27;
    }
    return x ^ x >> 31;
}

static inline double scene_value(uint32_t role, uint64_t at)
{
    const uint64_t hash = scene_hash(role, at);
    const double x = ((double)(hash % 65) - 32) / 32, positive = (double)(hash % 64 + 1) / 64;
    switch (role) {
    case ATTEST_GIN:
    case ATTEST_GOUT:
    case ATTEST_BETA: return positive;
    case ATTEST_DECAY: return 0.5 + positive / 2;
    case ATTEST_GAMMA: return 1 - 1.0 / (double)(4ull << at);
    case ATTEST_GAIN: return 1 + x / 4;
    default: return x;
    }
}

/* h0.n or z0.n at index tuple number `row` of dim^n: by the counts of the tuple's entries. */
static inline double scene_state(uint32_t kind, int n, int64_t head, int64_t row, int64_t dim, int64_t c)
{
    uint64_t code = 0;
    for (int i = 0; i < n; i++, row /= dim)
        code += 1ull << 4 * (uint64_t)(row % dim);
    const uint64_t hash = scene_hash(1000 * kind + (uint64_t)n * 8 + (uint64_t)c, code * 16 + (uint64_t)head);
    return ((double)(hash % 65) - 32) / 32;
}

/* 1 if the index tuple number `row` of dim^n is non-decreasing: a row of the packed layout, in its order. */
static inline int scene_sorted(int64_t row, int n, int64_t dim)
{
    for (int i = 1; i < n; i++, row /= dim)
        if (row / dim % dim > row % dim)
            return 0;
    return 1;
}

/* ---- tensors --------------------------------------------------------------------------------------------------- */

static inline attest_tensor *scene_add(scene *s, attest_tensor_id id)
{
    attest_tensor *t = NULL;
    attest_error err;
    ck_assert_msg(attest_bundle_add(s->bundle, &s->c.problem, id, s->packed, &t, &err) == ATTEST_OK, "%s", err.text);
    return t;
}

static inline void scene_fill_state(const scene *s, const attest_tensor *t, attest_tensor_id id)
{
    const attest_problem *p = &s->c.problem;
    const int64_t dim = attest_feature_dim(p), n = id.index;
    for (int64_t head = 0; head < p->b * p->hkv; head++)
        for (int64_t at = 0, row = 0; at < attest_state_rows(dim, (int)n, 0); at++) {
            if (s->packed && !scene_sorted(at, (int)n, dim))
                continue;
            for (int64_t c = 0; c < (id.kind == ATTEST_KIND_H0 ? p->e : 1); c++)
                attest_store_bits(t, attest_offset(t, head / p->hkv, head % p->hkv, row, c),
                                  attest_from_f64(t->dtype, scene_state(id.kind, (int)n, head, at, dim, c)));
            row++;
        }
}

static inline void scene_fill(scene *s, attest_tensor_id id)
{
    const attest_tensor *t = scene_add(s, id);
    if (id.kind != ATTEST_KIND_ROLE) {
        scene_fill_state(s, t, id);
        return;
    }
    for (int64_t at = 0; at < attest_tensor_count(t); at++)
        attest_store_bits(t, at,
                          id.index == ATTEST_KV_LENS
                              ? scene_hash(id.index, (uint64_t)at) % (uint64_t)(s->c.problem.m + 1)
                              : attest_from_f64(t->dtype, scene_value(id.index, (uint64_t)at)));
}

/* Which bit of attest_kernel.outputs an output needs. */
static inline uint32_t scene_gives(attest_tensor_id id)
{
    if (id.kind != ATTEST_KIND_ROLE)
        return ATTEST_GIVES_STATE;
    return id.index == ATTEST_O   ? ATTEST_GIVES_O
           : id.index == ATTEST_U ? ATTEST_GIVES_U
           : id.index == ATTEST_Z ? ATTEST_GIVES_Z
                                  : ATTEST_GIVES_LSE;
}

/* A scratch of exactly the size asked for, and the outputs, full of NaNs before. */
static inline void scene_run(scene *s)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t size = attest_kernel_workspace(attest_own(s->kernel), &s->c.problem);
    const size_t outputs = attest_problem_outputs(&s->c.problem, ids, ATTEST_MAX_TENSORS);
    void *scratch = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(scratch);
    memset(scratch, 0xff, size);
    for (size_t i = 0; i < outputs; i++) {
        const attest_tensor *t = attest_bundle_get(s->bundle, ids[i]);
        if (t)
            memset(t->data, 0xff, attest_tensor_bytes(t));
    }
    attest_bundle_view(s->bundle, &s->view);
    ck_assert_int_eq(attest_kernel_run(attest_own(s->kernel), &s->c.problem, &s->view, scratch, size, NULL, 0),
                     ATTEST_OK);
    free(scratch);
}

/* 0 if the line is contradictory or the kernel refuses it (with a reason). */
static inline int scene_serves(scene *s, const attest_kernel *kernel, const char *line)
{
    attest_error err;
    char why[256] = "";
    memset(s, 0, sizeof *s);
    s->kernel = kernel;
    s->packed = (kernel->flags & ATTEST_PACKED_STATE) != 0;
    snprintf(s->where, sizeof s->where, "%s: %s", kernel->name, line);
    if (attest_case_parse(&s->c, line, NULL, NULL, &err) != ATTEST_OK)
        return 0;
    if (attest_kernel_supports(attest_own(kernel), &s->c.problem, why, sizeof why))
        return 1;
    ck_assert_msg(why[0] != '\0', "%s refuses '%s' without a reason", kernel->name, line);
    return 0;
}

/* Inputs filled, outputs that the kernel gives added. */
static inline void scene_open(scene *s)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_error err;
    size_t count = attest_problem_inputs(&s->c.problem, ids, ATTEST_MAX_TENSORS);
    ck_assert_int_eq(attest_bundle_new(&s->bundle, &err), ATTEST_OK);
    for (size_t i = 0; i < count; i++)
        scene_fill(s, ids[i]);
    count = attest_problem_outputs(&s->c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++)
        if (s->kernel->outputs & scene_gives(ids[i]))
            scene_add(s, ids[i]);
}

static inline void scene_close(scene *s) { attest_bundle_free(s->bundle); }

static inline const attest_kernel *scene_kernel(const char *name)
{
    const attest_library *lib = attest_builtin_library();
    for (uint32_t i = 0; i < lib->kernel_count; i++)
        if (strcmp(lib->kernels[i]->name, name) == 0)
            return lib->kernels[i];
    ck_abort_msg("no kernel %s", name);
    return NULL;
}

/* ---- what a row must not read ---------------------------------------------------------------------------------- */

/* NaN in tokens [from, end) of a tensor [B,H,S,..] of batch entry b. */
static inline void scene_poison(const scene *s, attest_role role, int64_t b, int64_t from)
{
    const attest_tensor *t = attest_bundle_role(s->bundle, role);
    for (int64_t h = 0; t && h < t->shape[1]; h++)
        for (int64_t i = from; i < t->shape[2]; i++)
            for (int64_t c = 0; c < t->shape[3]; c++)
                attest_store_bits(t, attest_offset(t, b, h, i, c), attest_from_f64(t->dtype, NAN));
}

/* NaN in every token that queries before `rows` of batch entry b do not read; `length` is len_b. */
static inline void scene_poison_after(const scene *s, int64_t b, int64_t length, int64_t rows)
{
    static const attest_role queries[] = { ATTEST_Q, ATTEST_GOUT, ATTEST_Q_HEAD_LOGITS };
    static const attest_role keys[] = { ATTEST_K, ATTEST_V, ATTEST_GIN, ATTEST_K_HEAD_LOGITS, ATTEST_BETA };
    const attest_problem *p = &s->c.problem;
    const attest_tensor *a = attest_bundle_role(s->bundle, ATTEST_DECAY);
    int64_t first, last;
    attest_visible(p, length, rows - 1, &first, &last);
    for (int i = 0; i < 3; i++)
        scene_poison(s, queries[i], b, rows);
    for (int i = 0; i < 5; i++)
        scene_poison(s, keys[i], b, last);
    scene_poison(s, ATTEST_DECAY, b, rows);
    for (int64_t at = 0; a && !p->axis[ATTEST_AXIS_STATE].value && at < a->shape[1] * a->shape[3]; at++)
        attest_store_bits(a, attest_offset(a, b, at / a->shape[3], 0, at % a->shape[3]),
                          attest_from_f64(a->dtype, NAN)); /* a_0 decays nothing */
}

/* The bits of o of queries before `rows` do not change when all that they do not read becomes NaN. */
static inline void scene_check_unread(scene *s, int64_t rows)
{
    const attest_problem *p = &s->c.problem;
    const attest_tensor *o = attest_bundle_role(s->bundle, ATTEST_O);
    const attest_tensor *len = attest_bundle_role(s->bundle, ATTEST_KV_LENS);
    const size_t bytes = attest_tensor_bytes(o);
    scene_run(s);
    void *before = malloc(bytes);
    ck_assert_ptr_nonnull(before);
    memcpy(before, o->data, bytes);
    for (int64_t b = 0; b < p->b; b++)
        scene_poison_after(s, b, len ? attest_load_int(len, b) : p->m, rows);
    scene_run(s);
    const size_t row = (size_t)p->e * attest_dtype_bytes(o->dtype);
    for (int64_t at = 0; at < p->b * p->hq * p->n; at++)
        ck_assert_msg(at % p->n >= rows ||
                          memcmp((char *)before + (size_t)at * row, (char *)o->data + (size_t)at * row, row) == 0,
                      "%s: a NaN that row %lld does not read changed it", s->where, (long long)at);
    free(before);
}

#endif
