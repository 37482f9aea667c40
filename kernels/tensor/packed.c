/* packed.c - see packed.h. */
#include "kernels/tensor/packed.h"

#include "kernels/attest_float.h"
#include "kernels/tensor/pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static attest_tensor_id id_of(uint32_t role) { return (attest_tensor_id){ ATTEST_KIND_ROLE, role }; }

uint32_t attest_packed_side(const attest_problem *p, attest_tensor_id id)
{
    const char *axes = attest_packed_are(p) && !attest_pages_hold(p, id) ? attest_tensor_axes(p, id) : NULL;
    if (!axes || strlen(axes) < 3 || id.index == ATTEST_BIAS || id.index == ATTEST_MASK || id.index == ATTEST_KEEP)
        return 0;
    return axes[2] == 'n' ? ATTEST_CU_SEQLENS_Q : ATTEST_CU_SEQLENS_K;
}

void attest_packed_describe(attest_tensor *t, const attest_problem *p, attest_tensor_id id, int64_t tokens)
{
    if (id.index == ATTEST_CU_SEQLENS_Q || id.index == ATTEST_CU_SEQLENS_K) {
        *t = (attest_tensor){ .struct_size = (uint32_t)sizeof *t,
                              .dtype = ATTEST_I64,
                              .code = ATTEST_CODE_INT,
                              .bits = 64,
                              .lanes = 1,
                              .device = ATTEST_CPU,
                              .rank = 1,
                              .shape = { p->b + 1 } };
    } else {
        attest_tensor_describe(t, p, id, 0);
        t->shape[0] = 1;
        t->shape[2] = tokens > 0 ? tokens : 1;
    }
    attest_tensor_set_order(t);
}

void attest_packed_starts(int64_t *starts, const attest_problem *p, const attest_bundle *bundle, uint32_t side)
{
    starts[0] = 0;
    for (int64_t b = 0; b < p->b; b++) {
        const attest_lengths of = attest_bundle_lengths(p, bundle, b);
        starts[b + 1] = starts[b] + (side == ATTEST_CU_SEQLENS_Q ? of.queries : of.keys);
    }
}

int64_t attest_packed_entry(const int64_t *starts, int64_t entries, int64_t t)
{
    int64_t low = 0, high = entries; /* starts[low] <= t < starts[high] */
    if (t >= starts[entries])
        return -1;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (starts[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Calls `each` for the tokens of each sequence and head, until it returns 0.  The `channels` numbers of a token lie one
 * beside the other in both. */
static int each_token(const attest_tensor *packed, const attest_tensor *plain, const int64_t *starts,
                      int (*each)(const attest_tensor *packed, int64_t at, const attest_tensor *plain, int64_t from,
                                  int64_t channels))
{
    const int64_t channels = plain->rank == 4 ? plain->shape[3] : 1;
    for (int64_t b = 0; b < plain->shape[0]; b++)
        for (int64_t h = 0; h < plain->shape[1]; h++)
            for (int64_t i = 0; i < starts[b + 1] - starts[b]; i++)
                if (!each(packed, attest_offset(packed, 0, h, starts[b] + i, 0), plain,
                          attest_offset(plain, b, h, i, 0), channels))
                    return 0;
    return 1;
}

static char *place(const attest_tensor *t, int64_t at)
{
    return (char *)t->data + (size_t)at * attest_dtype_bytes(t->dtype);
}

static int copy_token(const attest_tensor *packed, int64_t at, const attest_tensor *plain, int64_t from,
                      int64_t channels)
{
    memcpy(place(packed, at), place(plain, from), (size_t)channels * attest_dtype_bytes(packed->dtype));
    return 1;
}

static int keep_token(const attest_tensor *packed, int64_t at, const attest_tensor *plain, int64_t from,
                      int64_t channels)
{
    memcpy(place(plain, from), place(packed, at), (size_t)channels * attest_dtype_bytes(packed->dtype));
    return 1;
}

static int same_token(const attest_tensor *packed, int64_t at, const attest_tensor *plain, int64_t from,
                      int64_t channels)
{
    return memcmp(place(packed, at), place(plain, from), (size_t)channels * attest_dtype_bytes(packed->dtype)) == 0;
}

void attest_packed_copy(const attest_tensor *packed, const attest_tensor *plain, const int64_t *starts)
{
    each_token(packed, plain, starts, copy_token);
}

void attest_packed_keep(const attest_tensor *plain, const attest_tensor *packed, const int64_t *starts)
{
    each_token(packed, plain, starts, keep_token);
}

int attest_packed_same(const attest_tensor *packed, const attest_tensor *plain, const int64_t *starts)
{
    return each_token(packed, plain, starts, same_token);
}

void attest_absent_clear(const attest_tensor *t, attest_tensor_id id, const attest_problem *p,
                         const attest_bundle *bundle)
{
    const int output = id.kind == ATTEST_KIND_ROLE && id.index >= ATTEST_O && id.index <= ATTEST_LSE;
    if (!output || !p->axis[ATTEST_AXIS_LENS_Q].value)
        return;
    const uint64_t bits = attest_from_f64(t->dtype, id.index == ATTEST_LSE ? -(double)INFINITY : 0.0);
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t i = attest_bundle_lengths(p, bundle, b).queries; i < t->shape[2]; i++)
                for (int64_t c = 0; c < (t->rank == 4 ? t->shape[3] : 1); c++)
                    attest_store_bits(t, attest_offset(t, b, h, i, c), bits);
}

/* ---- with memory of their own ------------------------------------------------------------------------------------ */

static attest_status reserve(attest_tensor *t, attest_error *err)
{
    const size_t bytes = attest_tensor_bytes(t);
    t->data = bytes == SIZE_MAX ? NULL : malloc(bytes);
    if (!t->data)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for packed tensors");
    memset(t->data, 0xff, bytes);
    return ATTEST_OK;
}

static attest_status make_starts(attest_packed *packed, const attest_bundle *bundle, uint32_t side, attest_error *err)
{
    attest_tensor *t = &packed->own[side];
    int64_t *starts = calloc((size_t)packed->p->b + 1, sizeof *starts);
    packed->starts[side - ATTEST_CU_SEQLENS_Q] = starts;
    attest_packed_describe(t, packed->p, id_of(side), 0);
    if (!starts || reserve(t, err) != ATTEST_OK)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for packed tensors");
    attest_packed_starts(starts, packed->p, bundle, side);
    memcpy(t->data, starts, attest_tensor_bytes(t));
    return ATTEST_OK;
}

attest_status attest_packed_make(attest_packed *packed, const attest_problem *p, const attest_bundle *bundle,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    memset(packed, 0, sizeof *packed);
    packed->p = p;
    if (!attest_packed_are(p))
        return ATTEST_OK;
    ATTEST_TRY(make_starts(packed, bundle, ATTEST_CU_SEQLENS_Q, err));
    ATTEST_TRY(make_starts(packed, bundle, ATTEST_CU_SEQLENS_K, err));
    for (uint32_t r = 0; r < ATTEST_TENSOR_ROLES; r++) {
        const attest_tensor *plain = attest_bundle_role(bundle, (attest_role)r);
        const uint32_t side = attest_packed_side(p, id_of(r));
        if (!plain || !side)
            continue;
        const int64_t *starts = packed->starts[side - ATTEST_CU_SEQLENS_Q];
        attest_packed_describe(&packed->own[r], p, id_of(r), starts[p->b]);
        ATTEST_TRY(reserve(&packed->own[r], err));
        if (!attest_roles[r].output)
            attest_packed_copy(&packed->own[r], plain, starts);
    }
out:
    return status;
}

void attest_packed_clear(attest_packed *packed)
{
    for (uint32_t r = 0; r < ATTEST_ROLE_COUNT; r++)
        free(packed->own[r].data);
    free(packed->starts[0]);
    free(packed->starts[1]);
    memset(packed, 0, sizeof *packed);
}

void attest_packed_view(const attest_packed *packed, attest_view *view)
{
    for (uint32_t r = 0; r < ATTEST_ROLE_COUNT; r++)
        if (packed->own[r].data)
            view->role[r] = &packed->own[r];
}

void attest_packed_outputs(const attest_packed *packed, const attest_tensor *const *role)
{
    for (uint32_t r = ATTEST_O; r <= ATTEST_LSE; r++)
        if (packed->own[r].data && role[r])
            attest_packed_keep(role[r], &packed->own[r], packed->starts[0]);
}
