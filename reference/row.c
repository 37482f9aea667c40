/* row.c - the row record that all engines fill, and the inputs of a problem with their tensors looked up. */
#include "reference/engine.h"

#include <stdlib.h>
#include <string.h>

void ref_row_init(ref_row *row)
{
    memset(row, 0, sizeof *row);
    arb_init(row->z);
    arb_init(row->lse);
    arb_init(row->c);
    mpq_init(row->zq);
}

/* A zeroed arb_struct or mag_struct is an initialised zero (arb_init and mag_init only write zeros), so
 * calloc gives a vector whose failure we can report; FLINT's own vectors abort. */
static void *zeroed(int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > SIZE_MAX / size)
        return NULL;
    return calloc(count ? (size_t)count : 1, size);
}

static void free_balls(arb_ptr x, int64_t count)
{
    for (int64_t i = 0; x && i < count; i++)
        arb_clear(x + i);
    free(x);
}

static void free_rationals(mpq_t *x, int64_t count)
{
    for (int64_t i = 0; x && i < count; i++)
        mpq_clear(x[i]);
    free(x);
}

static void free_values(ref_row *row)
{
    free_balls(row->u, row->e);
    free_balls(row->o, row->e);
    free_rationals(row->uq, row->e);
    free_rationals(row->oq, row->e);
    row->u = row->o = NULL;
    row->uq = row->oq = NULL;
    row->e = 0;
}

static void free_keys(ref_row *row)
{
    free_balls(row->s, row->keys);
    free_balls(row->w, row->keys);
    for (int64_t j = 0; row->mass && j < row->keys; j++)
        mag_clear(row->mass + j);
    free(row->mass);
    row->s = row->w = NULL;
    row->mass = NULL;
    row->keys = 0;
}

attest_status ref_row_resize(ref_row *row, int64_t e, int64_t keys, attest_error *err)
{
    if (!row->u || row->e != e) {
        free_values(row);
        row->u = zeroed(e, sizeof *row->u);
        row->o = zeroed(e, sizeof *row->o);
        row->uq = zeroed(e, sizeof *row->uq);
        row->oq = zeroed(e, sizeof *row->oq);
        if (!row->u || !row->o || !row->uq || !row->oq)
            goto fail;
        for (row->e = 0; row->e < e; row->e++) {
            mpq_init(row->uq[row->e]);
            mpq_init(row->oq[row->e]);
        }
    }
    if (!row->s || row->keys != keys) {
        free_keys(row);
        row->s = zeroed(keys, sizeof *row->s);
        row->w = zeroed(keys, sizeof *row->w);
        row->mass = zeroed(keys, sizeof *row->mass);
        if (!row->s || !row->w || !row->mass)
            goto fail;
        row->keys = keys;
    }
    return ATTEST_OK;
fail: /* what was allocated holds zeros only, so freeing without clearing loses nothing */
    free_values(row);
    free_keys(row);
    return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for a row of %lld keys and %lld values",
                       (long long)keys, (long long)e);
}

void ref_row_clear(ref_row *row)
{
    free_values(row);
    free_keys(row);
    arb_clear(row->z);
    arb_clear(row->lse);
    arb_clear(row->c);
    mpq_clear(row->zq);
    memset(row, 0, sizeof *row);
}

void ref_inputs_set(ref_inputs *in, const attest_problem *p, const attest_bundle *bundle)
{
    memset(in, 0, sizeof *in);
    in->p = p;
    for (int r = 0; r < ATTEST_ROLE_COUNT; r++)
        in->role[r] = attest_bundle_role(bundle, (attest_role)r);
    in->lowest = 0;
    in->highest = -1;
    if (!attest_variant_degrees(p->axis, &in->lowest, &in->highest)) {
        in->lowest = 0;
        in->highest = -1;
    }
    for (int n = in->lowest; n <= in->highest; n++) {
        in->h0[n] = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_H0, (uint32_t)n });
        in->z0[n] = attest_bundle_get(bundle, (attest_tensor_id){ ATTEST_KIND_Z0, (uint32_t)n });
    }
}

static int64_t keys_of_entry(const ref_inputs *in, int64_t b)
{
    int64_t len = in->p->m;
    if (attest_axis_value_of(in->p, ATTEST_AXIS_LENS) != ATTEST_LENS_NONE)
        len = attest_load_int(in->role[ATTEST_LEN], b * in->role[ATTEST_LEN]->stride[0]);
    return len;
}

int64_t ref_position(const ref_inputs *in, int64_t b, int64_t i)
{
    const int bottom_right = attest_axis_value_of(in->p, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL_BR;
    return bottom_right ? i + keys_of_entry(in, b) - in->p->n : i;
}

void ref_visible(const ref_inputs *in, int64_t b, int64_t i, int64_t *first, int64_t *last)
{
    attest_visible(in->p, keys_of_entry(in, b), i, first, last);
}
