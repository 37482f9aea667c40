/* kernels_case.h - one case of a built-in kernel: inputs by the formulas of kernels_naive.h, outputs full of NaN, a
 * scratch of exactly the size asked for.  For the suites of kernels/cpu.
 */
#ifndef ATTEST_TEST_KERNELS_CASE_H
#define ATTEST_TEST_KERNELS_CASE_H

#include "kernels/attest_float.h"
#include "kernels/library/call.h"
#include "kernels/library/registry.h"
#include "tests/kernels/cpu/kernels_naive.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof array / sizeof array[0])

static inline const attest_kernel *kernel_named(const char *name)
{
    const attest_library *lib = attest_builtin_library();
    for (uint32_t i = 0; i < lib->kernel_count; i++)
        if (strcmp(lib->kernels[i]->name, name) == 0)
            return lib->kernels[i];
    ck_abort_msg("no kernel %s", name);
    return NULL;
}

static inline attest_tensor *add(attest_bundle *bundle, const attest_problem *p, uint32_t kind, uint32_t index,
                                 int packed)
{
    attest_tensor *t = NULL;
    attest_error err;
    const attest_tensor_id id = { kind, index };
    ck_assert_msg(attest_bundle_add(bundle, p, id, packed, &t, &err) == ATTEST_OK, "%s", err.text);
    return t;
}

static inline void put(const attest_tensor *t, int64_t at, double x)
{
    attest_store_bits(t, at, attest_from_f64(t->dtype, x));
}

/* 1 if the index tuple number `at` of dim^n is non-decreasing: a row of the packed layout, in its order. */
static inline int is_sorted(int64_t at, int n, int64_t dim)
{
    for (int k = 1; k < n; k++, at /= dim)
        if (at / dim % dim > at % dim)
            return 0;
    return 1;
}

/* The given states that the problem uses. */
static inline void fill_states(attest_bundle *bundle, const attest_problem *p, int packed)
{
    const int64_t dim = attest_feature_dim(p);
    for (uint32_t slot = 0; slot < 2 * ATTEST_STATE_SLOTS; slot++) {
        const int n = (int)slot / 2, z = (int)slot % 2;
        const attest_tensor_id id = { z ? ATTEST_KIND_Z0 : ATTEST_KIND_H0, (uint32_t)n };
        if (!attest_problem_uses(p, id))
            continue;
        const attest_tensor *t = add(bundle, p, id.kind, id.index, packed);
        for (int64_t head = 0; head < p->b * p->hkv; head++) {
            const int64_t b = head / p->hkv, g = head % p->hkv;
            int64_t row = 0;
            for (int64_t at = 0; at < attest_state_rows(dim, n, 0); at++) {
                if (packed && !is_sorted(at, n, dim))
                    continue;
                for (int64_t c = 0; c < (z ? 1 : p->e); c++)
                    put(t, attest_offset(t, b, g, row, c),
                        naive_state_input(z ? NAIVE_Z0 : NAIVE_H0, n, b, g, at, dim, c));
                row++;
            }
        }
    }
}

static inline void fill_inputs(attest_bundle *bundle, const attest_problem *p, int packed)
{
    for (uint32_t role = 0; role < ATTEST_TENSOR_ROLES; role++) {
        const attest_tensor_id id = { ATTEST_KIND_ROLE, role };
        if (attest_roles[role].output || !attest_problem_uses(p, id))
            continue;
        const attest_tensor *t = add(bundle, p, ATTEST_KIND_ROLE, role, 0);
        for (int64_t at = 0; at < attest_tensor_count(t); at++) {
            int64_t index[4] = { 0 }, rest = at;
            for (int axis = t->rank - 1; axis >= 0; rest /= t->shape[axis], axis--)
                index[axis] = rest % t->shape[axis];
            if (role == ATTEST_KV_LENS)
                attest_store_bits(t, at, (uint64_t)naive_length(p, at));
            else
                put(t, at, naive_input((int64_t)role, index[0], index[1], index[2], index[3]));
        }
    }
    fill_states(bundle, p, packed);
}

/* A NaN in every element: one that is never written is seen. */
static inline void add_output(attest_bundle *bundle, const attest_problem *p, uint32_t kind, uint32_t index, int packed)
{
    const attest_tensor *t = add(bundle, p, kind, index, packed);
    memset(t->data, 0xff, attest_tensor_bytes(t));
}

/* Adds the outputs that the kernel gives and the variant has. */
static inline void add_outputs(attest_bundle *bundle, const attest_problem *p, const attest_kernel *k)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS);
    const uint32_t gives[] = { ATTEST_GIVES_O, ATTEST_GIVES_U, ATTEST_GIVES_Z, ATTEST_GIVES_LSE };
    for (size_t n = 0; n < count; n++) {
        const int role = ids[n].kind == ATTEST_KIND_ROLE;
        if (k->outputs & (role ? gives[ids[n].index - ATTEST_O] : ATTEST_GIVES_STATE))
            add_output(bundle, p, ids[n].kind, ids[n].index, !role && (k->flags & ATTEST_PACKED_STATE));
    }
}

/* Runs with a scratch of exactly the size asked for, full of NaNs. */
static inline void run(const attest_kernel *k, const attest_problem *p, const attest_view *view)
{
    const size_t size = attest_kernel_workspace(attest_own(k), p);
    void *scratch = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(scratch);
    memset(scratch, 0xff, size);
    ck_assert_int_eq(attest_kernel_run(attest_own(k), p, view, scratch, size, NULL, 0), ATTEST_OK);
    free(scratch);
}

static inline attest_bundle *run_case(const attest_kernel *k, const attest_problem *p)
{
    attest_bundle *bundle;
    attest_view view;
    attest_error err;
    ck_assert_int_eq(attest_bundle_new(&bundle, &err), ATTEST_OK);
    fill_inputs(bundle, p, (k->flags & ATTEST_PACKED_STATE) != 0);
    add_outputs(bundle, p, k);
    attest_bundle_view(bundle, &view);
    run(k, p, &view);
    return bundle;
}

#endif
