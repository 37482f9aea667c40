/* ball.c - the ball engine: one row of the formula of design section 3 in FLINT/Arb.
 *
 * Inputs are stored bits decoded exactly; every step after that is an inclusion, so each field of the row
 * contains the real value whatever the precision, and its radius goes to 0 as the precision grows (R-BALL).
 */
#include "reference/ball.h"

#include <stdlib.h>
#include <string.h>

/* ---- decoded blocks ---------------------------------------------------------------------------------------------- */
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

static void block_clear(ref_block *block)
{
    ref_ball_vector_free(block->x, block->entries);
    for (int64_t i = 0; block->mag && i < block->entries; i++)
        mag_clear(block->mag + i);
    free(block->mag);
    free(block->bad);
    memset(block, 0, sizeof *block);
}

void ref_ball_cache_init(ref_ball_cache *cache) { memset(cache, 0, sizeof *cache); }

void ref_ball_cache_clear(ref_ball_cache *cache)
{
    block_clear(&cache->k);
    block_clear(&cache->v);
}

static attest_status block_reserve(ref_block *block, int64_t entries, int64_t keys, int with_mag, attest_error *err)
{
    if (block->entries >= entries && block->keys >= keys)
        return ATTEST_OK;
    block_clear(block);
    block->x = ref_ball_vector(entries);
    block->mag = with_mag ? calloc((size_t)entries, sizeof(mag_struct)) : NULL; /* all zero bits = mag_init */
    block->bad = calloc((size_t)keys, 1);
    if (!block->x || !block->bad || (with_mag && !block->mag)) {
        block->entries = 0;
        block_clear(block);
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory to decode %lld keys", (long long)keys);
    }
    block->entries = entries;
    block->keys = keys;
    return ATTEST_OK;
}

/* Decodes `d` stored values exactly; returns 0 if one is not finite. */
static int decode(arb_ptr x, int64_t d, const attest_tensor *t, int64_t offset, int64_t step)
{
    int finite = 1;
    for (int64_t c = 0; c < d; c++) {
        arb_set_d(x + c, attest_load(t, offset + c * step));
        finite &= arb_is_finite(x + c) != 0;
    }
    return finite;
}

int ref_ball_phi(arb_ptr y, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step, slong prec)
{
    const int finite = decode(y, in->p->d, t, offset, step);
    ref_ball_feature_of(in->p)->apply(y, y, (slong)in->p->d, prec); /* features may work in place */
    return finite;
}

/* phi(k) of the block's keys, key after key, with upper bounds of the absolute values. */
static void fill_keys(ref_block *block, const ref_inputs *in, const attest_tensor *t)
{
    const int64_t d = in->p->d;
    for (int64_t j = 0; j < block->count; j++) {
        const int64_t offset = attest_offset(t, block->b, block->g, block->first + j, 0);
        block->bad[j] = !ref_ball_phi(block->x + j * d, in, t, offset, t->stride[3], block->prec);
        for (int64_t c = j * d; c < (j + 1) * d; c++)
            arb_get_mag(block->mag + c, block->x + c);
    }
}

/* v of the block's keys, channel after channel: the value product then reads consecutive entries. */
static void fill_values(ref_block *block, const ref_inputs *in, const attest_tensor *t)
{
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

attest_status ref_block_load(ref_block *block, const ref_inputs *in, attest_role role, int64_t b, int64_t g,
                             int64_t j, slong prec, attest_error *err)
{
    const int keys = role == ATTEST_K;
    const int exact = !keys || ref_ball_feature_of(in->p)->exact;
    const int64_t width = keys ? in->p->d : in->p->e;
    const int64_t size = width >= BLOCK_ENTRIES ? 1 : BLOCK_ENTRIES / width;
    const int64_t first = j / size * size;
    const int64_t count = in->p->m - first < size ? in->p->m - first : size;
    attest_status status;
    if (block->valid && block->b == b && block->g == g && block->first == first && (exact || block->prec == prec))
        return ATTEST_OK;
    status = block_reserve(block, count * width, count, keys, err);
    if (status != ATTEST_OK)
        return status;
    block->b = b;
    block->g = g;
    block->first = first;
    block->count = count;
    block->prec = prec;
    if (keys)
        fill_keys(block, in, in->role[role]);
    else
        fill_values(block, in, in->role[role]);
    block->valid = 1;
    return ATTEST_OK;
}

/* ---- the row ----------------------------------------------------------------------------------------------------- */
/* The part [*from, *to) of the visible keys that lies in the block, counted from the row's first key. */
static void overlap(int64_t *from, int64_t *to, const ref_row *row, const ref_block *block)
{
    const int64_t end = block->first + block->count < row->last ? block->first + block->count : row->last;
    *from = (block->first > row->first ? block->first : row->first) - row->first;
    *to = end - row->first;
}

/* s_j = scale <phi(q), phi(k_j)> and its mass.  One dot product (error inside the ball), one product. */
static void scores_of_block(ref_row *row, const ref_inputs *in, const ref_block *block, arb_srcptr q,
                            mag_srcptr q_mag, slong prec)
{
    const int64_t d = in->p->d;
    int64_t from, to;
    arb_t scale;
    mag_t scale_mag;
    arb_init(scale);
    mag_init(scale_mag);
    arb_set_d(scale, in->p->scale);
    arb_get_mag(scale_mag, scale);
    overlap(&from, &to, row, block);
    for (int64_t j = from; j < to; j++) {
        const int64_t at = row->first + j - block->first;
        row->no_truth |= block->bad[at];
        arb_dot(row->s + j, NULL, 0, q, 1, block->x + at * d, 1, (slong)d, prec);
        arb_mul(row->s + j, row->s + j, scale, prec);
        mag_zero(row->mass + j);
        for (int64_t c = 0; c < d; c++)
            mag_addmul(row->mass + j, q_mag + c, block->mag + at * d + c);
        mag_mul(row->mass + j, row->mass + j, scale_mag);
    }
    mag_clear(scale_mag);
    arb_clear(scale);
}

static attest_status scores(ref_row *row, const ref_inputs *in, ref_block *block, arb_srcptr q, int64_t b, int64_t g,
                            slong prec, attest_error *err)
{
    const int64_t d = in->p->d;
    attest_status status = ATTEST_OK;
    mag_ptr q_mag = calloc((size_t)d, sizeof *q_mag);
    if (!q_mag)
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for a query of %lld values", (long long)d);
    for (int64_t c = 0; c < d; c++)
        arb_get_mag(q_mag + c, q + c);
    for (int64_t j = row->first; j < row->last; j = block->first + block->count) {
        ATTEST_TRY(ref_block_load(block, in, ATTEST_K, b, g, j, prec, err));
        scores_of_block(row, in, block, q, q_mag, prec);
    }
out:
    for (int64_t c = 0; c < d; c++)
        mag_clear(q_mag + c);
    free(q_mag);
    return status;
}

/* w_j = W(s_j - c); the center's ball may be wide at low precision, W is continuous in it, so w converges. */
static void weigh(ref_row *row, const attest_problem *p, slong prec)
{
    const ref_ball_weight weight = ref_ball_weight_of(p);
    const uint32_t order = p->axis[ATTEST_AXIS_WEIGHT].order;
    const int centered = attest_axis_value_of(p, ATTEST_AXIS_CENTER) != ATTEST_CENTER_ZERO;
    arb_t x;
    arb_init(x);
    arb_zero(row->c);
    if (row->keys)
        ref_ball_center_of(p)(row->c, row->s, (slong)row->keys, prec);
    for (int64_t j = 0; j < row->keys; j++) {
        if (centered)
            arb_sub(x, row->s + j, row->c, prec);
        weight(row->w + j, centered ? x : row->s + j, order, prec);
    }
    arb_clear(x);
}

/* u = sum w gin v (one dot product a channel and block), z = sum w. */
static attest_status sums(ref_row *row, const ref_inputs *in, ref_block *block, int64_t b, int64_t g, slong prec,
                          attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int gated = ref_gates_values(in->p);
    arb_ptr w = gated ? ref_ball_vector(row->keys) : row->w;
    if (!w)
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for %lld gates", (long long)row->keys);
    if (gated)
        ref_ball_gate_weights(w, row, in, b, g, prec);
    arb_zero(row->z);
    for (int64_t j = 0; j < row->keys; j++)
        arb_add(row->z, row->z, row->w + j, prec);
    for (int64_t c = 0; c < row->e; c++)
        arb_zero(row->u + c);
    for (int64_t j = row->first; j < row->last; j = block->first + block->count) {
        int64_t from, to;
        ATTEST_TRY(ref_block_load(block, in, ATTEST_V, b, g, j, prec, err));
        overlap(&from, &to, row, block);
        const int64_t at = row->first + from - block->first;
        for (int64_t i = at; i < at + to - from; i++)
            row->no_truth |= block->bad[i];
        for (int64_t c = 0; c < row->e; c++)
            arb_dot(row->u + c, row->u + c, 0, w + from, 1, block->x + c * block->count + at, 1,
                    (slong)(to - from), prec);
    }
out:
    if (gated)
        ref_ball_vector_free(w, row->keys);
    return status;
}

/* lse = c + ln z where the variant has it. */
static void log_sum(ref_row *row, const attest_problem *p, slong prec)
{
    char why[8];
    arb_indeterminate(row->lse);
    row->lse_absent = !attest_problem_has(p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_LSE }, why, sizeof why) ||
                      arb_is_nonpositive(row->z);
    row->lse_open = !row->lse_absent && !arb_is_positive(row->z);
    if (row->lse_absent || row->lse_open)
        return;
    arb_log(row->lse, row->z, prec);
    arb_add(row->lse, row->lse, row->c, prec);
}

/* No visible key and no given state: o = u = 0, z = 0, lse = -inf for every norm, whatever q holds. */
static void fill_empty(ref_row *row, const attest_problem *p)
{
    char why[8];
    for (int64_t c = 0; c < row->e; c++) {
        arb_zero(row->u + c);
        arb_zero(row->o + c);
    }
    arb_zero(row->z);
    arb_zero(row->c);
    arb_neg_inf(row->lse);
    row->lse_absent = !attest_problem_has(p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_LSE }, why, sizeof why);
}

static attest_status fill_row(ref_row *row, const ref_inputs *in, ref_ball_cache *cache, int64_t b, int64_t h,
                              int64_t i, slong prec, attest_error *err)
{
    const attest_problem *p = in->p;
    const attest_tensor *t = in->role[ATTEST_Q];
    const int64_t g = attest_kv_head(p, h);
    attest_status status = ATTEST_OK;
    arb_ptr q = ref_ball_vector(p->d);
    if (!q)
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for a query of %lld values", (long long)p->d);
    if (!ref_ball_phi(q, in, t, attest_offset(t, b, h, i, 0), t->stride[3], prec))
        row->no_truth = 1;
    ATTEST_TRY(scores(row, in, &cache->k, q, b, g, prec, err));
    ref_ball_score_steps(row, in, b, h, i, prec);
    weigh(row, p, prec);
    ATTEST_TRY(sums(row, in, &cache->v, b, g, prec, err));
    if (attest_axis_value_of(p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE)
        ATTEST_TRY(ref_ball_add_state(row, in, q, b, g, prec, err));
    ref_ball_output(row, in, b, h, i, prec);
    log_sum(row, p, prec);
out:
    ref_ball_vector_free(q, p->d);
    return status;
}

attest_status ref_ball_row(ref_row *row, const ref_inputs *in, int64_t b, int64_t h, int64_t i, slong prec,
                           attest_error *err)
{
    const int state = attest_axis_value_of(in->p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE;
    ref_ball_cache own;
    int64_t first, last;
    attest_status status;
    row->computed = 0;
    ref_ball_cache_init(&own);
    ref_visible(in, b, i, &first, &last);
    if (last < first)
        last = first;
    ATTEST_TRY(ref_row_resize(row, in->p->e, last - first, err));
    row->first = first;
    row->last = last;
    row->prec = prec;
    row->engine = ATTEST_ENGINE_BALL;
    row->no_truth = row->illposed = row->lse_absent = row->lse_open = row->rational = 0;
    row->empty = row->keys == 0 && !state;
    if (row->empty)
        fill_empty(row, in->p);
    else
        ATTEST_TRY(fill_row(row, in, in->ball ? in->ball : &own, b, h, i, prec, err));
    if (row->no_truth)
        row->illposed = row->lse_open = 0;
    row->computed = 1;
out:
    ref_ball_cache_clear(&own);
    return status;
}
