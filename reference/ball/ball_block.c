/* ball_block.c - decoded inputs that the rows of one KV head share: phi(k), v and the gates on values. */
#include "reference/ball/ball.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_ENTRIES = 1 << 20 }; /* about 50 MB of balls */

arb_ptr ref_ball_vector(int64_t count)
{
    if (count < 0 || (uint64_t)count > SIZE_MAX / sizeof(arb_struct))
        return NULL;
    return calloc(count ? (size_t)count : 1, sizeof(arb_struct)); /* all zero bits = arb_init */
}

void ref_ball_vector_free(arb_ptr x, int64_t count)
{
    for (int64_t i = 0; x && i < count; i++)
        arb_clear(x + i);
    free(x);
}

static void free_mags(mag_ptr x, int64_t count)
{
    for (int64_t i = 0; x && i < count; i++)
        mag_clear(x + i);
    free(x);
}

void ref_block_clear(ref_block *block)
{
    ref_ball_vector_free(block->x, block->entries);
    free_mags(block->mag, block->entries);
    free_mags(block->pair, block->pairs);
    free(block->bad);
    memset(block, 0, sizeof *block);
}

/* Room for `keys` keys of `width` entries; `pairs` < 0: no mags. */
static attest_status block_reserve(ref_block *block, int64_t width, int64_t pairs, int64_t keys, attest_error *err)
{
    const int64_t entries = keys * width, pair_entries = pairs > 0 ? keys * pairs : 0;
    if (block->entries >= entries && block->keys >= keys && block->pairs >= pair_entries)
        return ATTEST_OK;
    ref_block_clear(block);
    block->x = ref_ball_vector(entries);
    block->mag = pairs >= 0 ? calloc((size_t)entries, sizeof(mag_struct)) : NULL; /* all zero bits = mag_init */
    block->pair = calloc((size_t)pair_entries + 1, sizeof(mag_struct));
    block->bad = calloc((size_t)keys, 1);
    if (!block->x || !block->bad || !block->pair || (pairs >= 0 && !block->mag)) {
        ref_block_clear(block); /* entries = 0: nothing was set yet */
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory to decode %lld keys", (long long)keys);
    }
    block->entries = entries;
    block->pairs = pair_entries;
    block->keys = keys;
    return ATTEST_OK;
}

/* phi(k) of the block's keys, key after key, with upper bounds of the absolute values. */
static void fill_keys(ref_block *block, const ref_inputs *in)
{
    const attest_tensor *t = in->role[ATTEST_K];
    const int64_t dim = attest_feature_dim(in->p), pairs = axis_pairs(in->p);
    for (int64_t j = 0; j < block->count; j++) {
        const int64_t key = block->first + j, offset = attest_offset(t, block->b, block->g, key, 0);
        block->bad[j] = !axis_phi(block->x + j * dim, in, t, offset, t->stride[3], key, block->prec);
        for (int64_t c = j * dim; c < (j + 1) * dim; c++)
            arb_get_mag(block->mag + c, block->x + c);
        axis_pair_sums(block->pair + j * pairs, in, t, offset, t->stride[3]);
    }
}

/* v of the block's keys, channel after channel: the value product then reads consecutive entries. */
static void fill_values(ref_block *block, const ref_inputs *in)
{
    const attest_tensor *t = in->role[ATTEST_V];
    for (int64_t j = 0; j < block->count; j++) {
        const int64_t offset = attest_offset(t, block->b, block->g, block->first + j, 0);
        block->bad[j] = 0;
        for (int64_t c = 0; c < in->p->e; c++) {
            arb_ptr x = block->x + c * block->count + j;
            arb_set_d(x, attest_load(t, offset + c * t->stride[3]));
            block->bad[j] |= !arb_is_finite(x);
        }
    }
}

static void fill_gates(ref_block *block, const ref_inputs *in)
{
    for (int64_t j = 0; j < block->count; j++)
        block->bad[j] = !ref_ball_value_gate(block->x + j, in, block->b, block->g, block->first + j, block->prec);
}

attest_status ref_block_load(ref_block *block, const ref_inputs *in, attest_role role, int64_t b, int64_t g, int64_t j,
                             slong prec, attest_error *err)
{
    const attest_problem *p = in->p;
    const int keys = role == ATTEST_K, values = role == ATTEST_V;
    const int exact = keys ? axis_phi_stored(p) : values || axis_gates_of(p)->stored;
    const int64_t width = keys ? attest_feature_dim(p) : values ? p->e : 1;
    const int64_t size = width >= BLOCK_ENTRIES ? 1 : BLOCK_ENTRIES / width;
    const int64_t first = j / size * size, count = p->m - first < size ? p->m - first : size;
    attest_status status;
    if (block->valid && block->b == b && block->g == g && block->first == first && (exact || block->prec == prec))
        return ATTEST_OK;
    status = block_reserve(block, width, keys ? axis_pairs(p) : -1, count, err);
    if (status != ATTEST_OK)
        return status;
    block->b = b;
    block->g = g;
    block->first = first;
    block->count = count;
    block->prec = prec;
    if (keys)
        fill_keys(block, in);
    else if (values)
        fill_values(block, in);
    else
        fill_gates(block, in);
    block->valid = 1;
    return ATTEST_OK;
}

attest_status ref_ball_gate_keys(ref_row *row, const ref_inputs *in, ref_block *block, int64_t b, int64_t g, slong prec,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int64_t j = 0; axis_gates_of(in->p)->values && j < row->keys; j++) {
        const int64_t key = row->key[j];
        if (j == 0 || key >= block->first + block->count)
            ATTEST_TRY(ref_block_load(block, in, ATTEST_GIN, b, g, key, prec, err));
        arb_set(row->gin + j, block->x + key - block->first);
        row->no_truth |= block->bad[key - block->first];
    }
out:
    return status;
}
