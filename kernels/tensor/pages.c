/* pages.c - see pages.h. */
#include "kernels/tensor/pages.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/hash.h"

#define SPARE 2 /* pages that are in no entry of the table */

static const attest_tensor_id table_id = { ATTEST_KIND_ROLE, ATTEST_BLOCK_TABLE };

static int64_t tokens_of(const attest_problem *p) { return (int64_t)p->axis[ATTEST_AXIS_PAGES].order; }

/* Pages of one batch entry. */
static int64_t pages_of(const attest_problem *p) { return (p->m + tokens_of(p) - 1) / tokens_of(p); }

int attest_pages_hold(const attest_problem *p, attest_tensor_id id)
{
    return attest_pages_are(p) && id.kind == ATTEST_KIND_ROLE && (id.index == ATTEST_K || id.index == ATTEST_V);
}

void attest_pages_describe(attest_tensor *t, const attest_problem *p, attest_tensor_id id)
{
    attest_tensor_describe(t, p, attest_pages_hold(p, id) ? id : (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_K }, 0);
    if (attest_pages_hold(p, id)) {
        t->shape[0] = p->b * pages_of(p) + SPARE;
        t->shape[2] = tokens_of(p);
    } else {
        *t = (attest_tensor){ .struct_size = t->struct_size,
                              .dtype = ATTEST_I64,
                              .code = ATTEST_CODE_INT,
                              .bits = 64,
                              .lanes = 1,
                              .device = ATTEST_CPU,
                              .rank = 2,
                              .shape = { p->b, pages_of(p) } };
    }
    attest_tensor_set_order(t);
}

static int64_t entry(const attest_tensor *table, int64_t n)
{
    return attest_load_int(table, n / table->shape[1] * table->stride[0] + n % table->shape[1] * table->stride[1]);
}

static void set_entry(const attest_tensor *table, int64_t n, int64_t page)
{
    attest_store_bits(table, n / table->shape[1] * table->stride[0] + n % table->shape[1] * table->stride[1],
                      (uint64_t)page);
}

void attest_pages_draw(const attest_tensor *table, uint64_t seed, int64_t turn)
{
    const int64_t count = table->shape[0] * table->shape[1], middle = count / 2;
    for (int64_t n = 0; n < count; n++)
        set_entry(table, n, n < middle ? n + 1 : n + SPARE);
    for (int64_t n = count - 1; n > 0; n--) {
        const int64_t other = (int64_t)(attest_next64(&seed) % (uint64_t)(n + 1)), page = entry(table, n);
        set_entry(table, n, entry(table, other));
        set_entry(table, other, page);
    }
    for (int64_t n = 0; n < count; n++)
        set_entry(table, n, (entry(table, n) + turn) % (count + SPARE));
}

/* Calls `each` for the keys of each page and KV head, which lie one after the other in both, until it returns 0. */
static int each_run(const attest_tensor *paged, const attest_tensor *plain, const attest_tensor *table,
                    int (*each)(const attest_tensor *to, int64_t at, const attest_tensor *from, int64_t begin,
                                int64_t keys))
{
    const int64_t tokens = paged->shape[2], keys = plain->shape[2];
    for (int64_t n = 0; n < table->shape[0] * table->shape[1]; n++) {
        const int64_t first = n % table->shape[1] * tokens, left = keys - first;
        for (int64_t g = 0; g < plain->shape[1]; g++)
            if (!each(paged, attest_offset(paged, entry(table, n), g, 0, 0), plain,
                      attest_offset(plain, n / table->shape[1], g, first, 0), left < tokens ? left : tokens))
                return 0;
    }
    return 1;
}

/* Channels lie one beside the other in both: bundles are in C order, and so are rows of segments. */
static char *row_at(const attest_tensor *t, int64_t at, int64_t j)
{
    return (char *)t->data + (size_t)(at + j * t->stride[2]) * attest_dtype_bytes(t->dtype);
}

static size_t row_bytes(const attest_tensor *t) { return (size_t)t->shape[3] * attest_dtype_bytes(t->dtype); }

static int copy_run(const attest_tensor *to, int64_t at, const attest_tensor *from, int64_t begin, int64_t keys)
{
    for (int64_t j = 0; j < keys; j++)
        memcpy(row_at(to, at, j), row_at(from, begin, j), row_bytes(to));
    return 1;
}

static int pad_run(const attest_tensor *to, int64_t at, const attest_tensor *from, int64_t begin, int64_t keys)
{
    const uint64_t bits = attest_from_f64(to->dtype, ATTEST_PAGES_PAD);
    (void)from, (void)begin;
    for (int64_t j = keys; j < to->shape[2]; j++)
        for (int64_t c = 0; c < to->shape[3]; c++)
            attest_store_bits(to, at + j * to->stride[2] + c * to->stride[3], bits);
    return 1;
}

static int same_run(const attest_tensor *to, int64_t at, const attest_tensor *from, int64_t begin, int64_t keys)
{
    for (int64_t j = 0; j < keys; j++)
        if (memcmp(row_at(to, at, j), row_at(from, begin, j), row_bytes(to)) != 0)
            return 0;
    return 1;
}

void attest_pages_copy(const attest_tensor *paged, const attest_tensor *plain, const attest_tensor *table)
{
    each_run(paged, plain, table, copy_run);
}

void attest_pages_pad(const attest_tensor *paged, const attest_tensor *plain, const attest_tensor *table)
{
    each_run(paged, plain, table, pad_run);
}

int attest_pages_same(const attest_tensor *paged, const attest_tensor *plain, const attest_tensor *table)
{
    return each_run(paged, plain, table, same_run);
}

/* ---- with memory of their own ------------------------------------------------------------------------------------ */

static attest_status reserve(attest_tensor *t, const attest_problem *p, attest_tensor_id id, attest_error *err)
{
    attest_pages_describe(t, p, id);
    const size_t bytes = attest_tensor_bytes(t);
    t->data = bytes == SIZE_MAX ? NULL : malloc(bytes);
    if (!t->data)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for k and v in pages");
    memset(t->data, 0xff, bytes);
    return ATTEST_OK;
}

attest_status attest_pages_make(attest_pages *pages, const attest_problem *p, const attest_bundle *bundle,
                                uint64_t seed, attest_error *err)
{
    attest_status status = ATTEST_OK;
    memset(pages, 0, sizeof *pages);
    if (!attest_pages_are(p))
        return ATTEST_OK;
    ATTEST_TRY(reserve(&pages->table, p, table_id, err));
    ATTEST_TRY(reserve(&pages->k, p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_K }, err));
    ATTEST_TRY(reserve(&pages->v, p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_V }, err));
    attest_pages_draw(&pages->table, seed, 0);
    attest_pages_copy(&pages->k, attest_bundle_role(bundle, ATTEST_K), &pages->table);
    attest_pages_copy(&pages->v, attest_bundle_role(bundle, ATTEST_V), &pages->table);
out:
    return status;
}

void attest_pages_clear(attest_pages *pages)
{
    free(pages->k.data);
    free(pages->v.data);
    free(pages->table.data);
    memset(pages, 0, sizeof *pages);
}

void attest_pages_view(const attest_pages *pages, attest_view *view)
{
    if (!pages->table.data)
        return;
    view->role[ATTEST_K] = &pages->k;
    view->role[ATTEST_V] = &pages->v;
    view->role[ATTEST_BLOCK_TABLE] = &pages->table;
}
