/* npy_tensor.c - a .npy file as one tensor of a problem: axes, layout, key counts. */
#include "kernels/npy/npy.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Copies a BSHD array into BHSD order: element size `bytes`, file shape s0 s1 s2 s3. */
static void *transpose_heads(const void *data, size_t bytes, const int64_t shape[4])
{
    const size_t s = (size_t)shape[1], h = (size_t)shape[2], inner = (size_t)shape[3] * bytes;
    char *out = malloc((size_t)shape[0] * s * h * inner);
    if (!out)
        return NULL;
    for (size_t b = 0; b < (size_t)shape[0]; b++)
        for (size_t i = 0; i < s; i++)
            for (size_t j = 0; j < h; j++)
                memcpy(out + ((b * h + j) * s + i) * inner, (const char *)data + ((b * s + i) * h + j) * inner, inner);
    return out;
}

/* Counts of keys or queries from a file: 0 <= len_b <= M, 0 <= len_q_b <= N; lens_q=len: len_q is the bundle's len. */
static attest_status check_lengths(const attest_tensor *t, const attest_bundle *bundle, const char *path,
                                   const attest_problem *p, int queries, attest_error *err)
{
    const int64_t most = queries ? p->n : p->m;
    const attest_tensor *other = p->axis[ATTEST_AXIS_LENS_Q].value == ATTEST_LENS_Q_LEN
                                     ? attest_bundle_role(bundle, queries ? ATTEST_KV_LENS : ATTEST_Q_LENS)
                                     : NULL;
    for (int64_t b = 0; b < p->b; b++) {
        const int64_t len = (int64_t)attest_load_bits(t, attest_offset(t, b, 0, 0, 0));
        if (len < 0 || len > most)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: %s[%lld] is %lld; allowed: 0 to %c=%lld", path,
                               queries ? "len_q" : "len", (long long)b, (long long)len, queries ? 'n' : 'm',
                               (long long)most);
        if (other && attest_load_int(other, attest_offset(other, b, 0, 0, 0)) != len)
            return attest_fail(err, ATTEST_BAD_INPUT,
                               "%s: %s[%lld] is %lld, but %s[%lld] is %lld; lens_q=len: the same", path,
                               queries ? "len_q" : "len", (long long)b, (long long)len, queries ? "len" : "len_q",
                               (long long)b, (long long)attest_load_int(other, attest_offset(other, b, 0, 0, 0)));
    }
    return ATTEST_OK;
}

static attest_status check_shape(const attest_npy *a, const attest_tensor *t, int swap, int64_t shape[4],
                                 const char *path, const char *name, attest_error *err)
{
    if (a->rank > t->rank)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %d axes, but %s has %d here", path, a->rank, name, t->rank);
    for (int axis = 0; axis < a->rank; axis++)
        shape[t->rank - a->rank + axis] = a->shape[axis];
    for (int axis = 0; axis < t->rank; axis++) {
        const int target = swap && (axis == 1 || axis == 2) ? 3 - axis : axis;
        if (shape[axis] != t->shape[target])
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: axis %d of %s is %lld, the problem needs %lld", path, axis,
                               name, (long long)shape[axis], (long long)t->shape[target]);
    }
    return ATTEST_OK;
}

attest_status attest_npy_fits(const attest_npy *a, const attest_problem *p, attest_tensor_id id, const char *path,
                              int bshd, attest_error *err)
{
    attest_tensor t;
    char name[32];
    int64_t shape[4] = { 1, 1, 1, 1 };
    attest_tensor_describe(&t, p, id, 0);
    attest_tensor_id_print(name, sizeof name, id);
    return check_shape(a, &t, bshd && t.rank >= 3, shape, path, name, err);
}

static attest_status check_bytes(const attest_tensor *t, const char *path, attest_error *err)
{
    for (int64_t at = 0; at < attest_tensor_count(t); at++)
        if (attest_load_bits(t, at) > 1)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: byte %lld is %llu; allowed: 0, 1", path, (long long)at,
                               (unsigned long long)attest_load_bits(t, at));
    return ATTEST_OK;
}

/* k_scale and v_scale are finite and above 0. */
static attest_status check_scales(const attest_tensor *t, const char *path, const char *name, attest_error *err)
{
    for (int64_t at = 0; at < attest_tensor_count(t); at++) {
        const double x = attest_load(t, at);
        if (!(x > 0 && x <= DBL_MAX))
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: %s[%lld,%lld] is %g; allowed: finite numbers above 0", path,
                               name, (long long)(at / t->shape[1]), (long long)(at % t->shape[1]), x);
    }
    return ATTEST_OK;
}

attest_status attest_npy_take(attest_bundle *bundle, const attest_problem *p, attest_tensor_id id, attest_npy *a,
                              const char *path, int bshd, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_tensor t;
    char name[32];
    int64_t shape[4] = { 1, 1, 1, 1 };
    attest_tensor_describe(&t, p, id, 0);
    attest_tensor_id_print(name, sizeof name, id);
    const int swap = bshd && t.rank >= 3;
    ATTEST_TRY(check_shape(a, &t, swap, shape, path, name, err));
    if (swap) {
        void *moved = transpose_heads(a->data, attest_dtype_bytes(a->dtype), shape);
        if (!moved)
            ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for %s", path, name));
        free(a->data);
        a->data = moved;
    }
    t.data = a->data;
    if (id.kind == ATTEST_KIND_ROLE && (id.index == ATTEST_KV_LENS || id.index == ATTEST_Q_LENS))
        ATTEST_TRY(check_lengths(&t, bundle, path, p, id.index == ATTEST_Q_LENS, err));
    if (id.kind == ATTEST_KIND_ROLE && (id.index == ATTEST_K_SCALE || id.index == ATTEST_V_SCALE))
        ATTEST_TRY(check_scales(&t, path, name, err));
    if (t.dtype == ATTEST_BOOL)
        ATTEST_TRY(check_bytes(&t, path, err));
    a->data = NULL;
    ATTEST_TRY(attest_bundle_adopt(bundle, id, &t, err));
out:
    attest_npy_free(a);
    return status;
}

attest_status attest_npy_load(attest_bundle *bundle, const attest_problem *p, attest_tensor_id id, const char *path,
                              int bshd, attest_error *err)
{
    attest_tensor t;
    attest_npy a;
    attest_tensor_describe(&t, p, id, 0);
    const attest_status status = attest_npy_read(&a, path, t.dtype, err);
    return status == ATTEST_OK ? attest_npy_take(bundle, p, id, &a, path, bshd, err) : status;
}
