/* row.c - the row record that all engines fill, and the inputs of a problem with their tensors looked up. */
#include "reference/engine/engine.h"

#include <stdlib.h>
#include <string.h>

void ref_row_init(ref_row *row)
{
    memset(row, 0, sizeof *row);
    arb_init(row->z);
    arb_init(row->lse);
    arb_init(row->c);
    arb_init(row->gout);
    mag_init(row->decay0);
    mag_init(row->delta.start);
    mag_init(row->delta.query);
    mag_init(row->delta.last);
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

static void free_mags(mag_ptr x, int64_t count)
{
    for (int64_t i = 0; x && i < count; i++)
        mag_clear(x + i);
    free(x);
}

static void free_values(ref_row *row)
{
    free_balls(row->u, row->e);
    free_balls(row->o, row->e);
    free_rationals(row->uq, row->e);
    free_rationals(row->oq, row->e);
    free_mags(row->delta.terms, row->e);
    row->delta.terms = NULL;
    row->u = row->o = NULL;
    row->uq = row->oq = NULL;
    row->e = 0;
}

/* Every array of [keys] upper bounds of the row. */
enum { KEY_MAGS = 11 };

static void key_mags(mag_ptr *list[KEY_MAGS], ref_row *row)
{
    mag_ptr *const all[KEY_MAGS] = { &row->mass,       &row->turn,        &row->decay,       &row->kept,
                                     &row->delta.key,  &row->delta.size,  &row->delta.value, &row->delta.write,
                                     &row->delta.rate, &row->delta.decay, &row->delta.grow };
    memcpy(list, all, sizeof all);
}

static void free_keys(ref_row *row)
{
    mag_ptr *mags[KEY_MAGS];
    free_balls(row->s, row->keys);
    free_balls(row->w, row->keys);
    free_balls(row->gin, row->keys);
    free_balls(row->pass, row->keys);
    key_mags(mags, row);
    for (int a = 0; a < KEY_MAGS; a++) {
        free_mags(*mags[a], row->keys);
        *mags[a] = NULL;
    }
    free(row->key);
    row->s = row->w = row->gin = row->pass = NULL;
    row->key = NULL;
    row->keys = 0;
}

static int make_keys(ref_row *row, int64_t keys)
{
    mag_ptr *mags[KEY_MAGS];
    int good = 1;
    row->s = zeroed(keys, sizeof *row->s);
    row->w = zeroed(keys, sizeof *row->w);
    row->gin = zeroed(keys, sizeof *row->gin);
    row->pass = zeroed(keys, sizeof *row->pass);
    row->key = zeroed(keys, sizeof *row->key);
    key_mags(mags, row);
    for (int a = 0; a < KEY_MAGS; a++)
        good &= (*mags[a] = zeroed(keys, sizeof **mags[a])) != NULL;
    return good && row->s && row->w && row->gin && row->pass && row->key;
}

/* What was made from values that are no longer the row's. */
static void forget(ref_row *row)
{
    row->has_facts = 0;
    for (int r = 0; r < REF_ROW_OUTPUTS; r++) {
        if (row->abs_scale[r])
            _mag_vec_clear(row->abs_scale[r], r + ATTEST_O == ATTEST_O || r + ATTEST_O == ATTEST_U ? (slong)row->e : 1);
        row->abs_scale[r] = NULL;
    }
}

attest_status ref_row_resize(ref_row *row, int64_t e, int64_t keys, attest_error *err)
{
    forget(row);
    if (!row->u || row->e != e) {
        free_values(row);
        row->u = zeroed(e, sizeof *row->u);
        row->o = zeroed(e, sizeof *row->o);
        row->uq = zeroed(e, sizeof *row->uq);
        row->oq = zeroed(e, sizeof *row->oq);
        row->delta.terms = zeroed(e, sizeof *row->delta.terms);
        if (!row->u || !row->o || !row->uq || !row->oq || !row->delta.terms)
            goto fail;
        for (row->e = 0; row->e < e; row->e++) {
            mpq_init(row->uq[row->e]);
            mpq_init(row->oq[row->e]);
        }
    }
    if (!row->s || row->keys != keys) {
        free_keys(row);
        if (!make_keys(row, keys))
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
    forget(row);
    free_values(row);
    free_keys(row);
    arb_clear(row->z);
    arb_clear(row->lse);
    arb_clear(row->c);
    arb_clear(row->gout);
    mag_clear(row->decay0);
    mag_clear(row->delta.start);
    mag_clear(row->delta.query);
    mag_clear(row->delta.last);
    mpq_clear(row->zq);
    memset(row, 0, sizeof *row);
}

arb_srcptr ref_row_pass(const ref_row *row, const attest_problem *p)
{
    const uint32_t gates = attest_axis_value_of(p, ATTEST_AXIS_GATES);
    const int gated = gates == ATTEST_GATES_IN || gates == ATTEST_GATES_INOUT || gates == ATTEST_GATES_HEADS;
    return attest_drops(p) ? row->pass : gated ? row->gin : NULL;
}

void ref_row_reduce(ref_row *row)
{
    for (int64_t c = 0; !row->reduced && c < row->e; c++)
        mpq_canonicalize(row->oq[c]);
    row->reduced = 1;
}

/* R-KV-SCALE: engines and bounds read the numbers that keys and values of 8 bits stand for. */
static attest_status take_numbers(ref_inputs *in, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int n = 0; n < 2 && status == ATTEST_OK && attest_kv_scaled(in->p); n++) {
        const attest_tensor **role = &in->role[n ? ATTEST_V : ATTEST_K];
        if (!*role)
            continue;
        status = attest_kv_numbers(&in->numbers[n], in->p, *role, in->role[n ? ATTEST_V_SCALE : ATTEST_K_SCALE], err);
        *role = &in->numbers[n];
    }
    return status;
}

void ref_inputs_clear(ref_inputs *in)
{
    free(in->numbers[0].data);
    free(in->numbers[1].data);
    in->numbers[0].data = in->numbers[1].data = NULL;
}

attest_status ref_inputs_set(ref_inputs *in, const attest_problem *p, const attest_bundle *bundle, attest_error *err)
{
    memset(in, 0, sizeof *in);
    in->p = p;
    for (int r = 0; r < ATTEST_TENSOR_ROLES; r++)
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
    return take_numbers(in, err);
}

static attest_lengths lengths(const ref_inputs *in, int64_t b)
{
    return attest_lengths_of(in->p, in->role[ATTEST_KV_LENS], in->role[ATTEST_Q_LENS], b);
}

int64_t ref_last_query(const ref_inputs *in, int64_t b) { return lengths(in, b).queries - 1; }

int64_t ref_position(const ref_inputs *in, int64_t b, int64_t i) { return attest_position(in->p, lengths(in, b), i); }

int ref_sees(const ref_inputs *in, attest_row at, int64_t j)
{
    return !attest_masks(in->role[ATTEST_MASK], at.b, at.h, at.i, j);
}

void ref_visible(const ref_inputs *in, int64_t b, int64_t i, int64_t *first, int64_t *last)
{
    attest_visible(in->p, lengths(in, b), i, first, last);
}
