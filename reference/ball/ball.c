/* ball.c - the ball engine: one row of the formula (derivations.md, section 0) in FLINT/Arb.
 *
 * Inputs are stored bits decoded exactly; every step after that is an inclusion, so each field of the row
 * contains the real value whatever the precision, and its radius goes to 0 as the precision grows (R-BALL).
 */
#include "reference/ball/ball.h"

#include <stdio.h>
#include <stdlib.h>

int ref_ball_serves(const attest_problem *p, char *why, size_t len)
{
    uint32_t axis;
    char text[64];
    if (axis_served(p, AXIS_BALL, 0, &axis))
        return 1;
    if (axis >= ATTEST_AXIS_COUNT) {
        if (why && len)
            snprintf(why, len, "axis number %u: not known to this version", axis);
        return 0;
    }
    attest_axis_print(text, sizeof text, axis, &p->axis[axis]);
    if (why && len)
        snprintf(why, len, "%s=%s: not served by this version's reference", attest_axes[axis].key, text);
    return 0;
}

/* ---- the row ----------------------------------------------------------------------------------------------------- */
/* How many visible keys come before key j. */
static int64_t keys_before(const ref_row *row, int64_t j)
{
    int64_t low = 0, high = row->keys;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (row->key[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The part [*from, *to) of the visible keys that lies in the block. */
static void overlap(int64_t *from, int64_t *to, const ref_row *row, const ref_block *block)
{
    *from = keys_before(row, block->first);
    *to = keys_before(row, block->first + block->count);
}

/* What a query brings to its scores; with decay=vector phi(q) meets D_ij on the way to earlier keys. */
typedef struct query {
    const ref_inputs *in;
    int64_t dim, pairs;
    arb_ptr phi;
    mag_ptr mag, pair; /* of |phi|, or |D phi|; sums of |q| before phi */
    ref_ball_product decayed;
    int vector;
    arb_t scale;
    mag_t scale_mag;
} query;

static void query_free(query *q)
{
    ref_ball_vector_free(q->phi, q->dim);
    for (int64_t c = 0; q->mag && c < q->dim + q->pairs; c++)
        mag_clear(q->mag + c);
    free(q->mag);
    if (q->vector)
        ref_ball_product_clear(&q->decayed);
    arb_clear(q->scale);
    mag_clear(q->scale_mag);
}

static attest_status query_new(query *q, ref_row *row, const ref_inputs *in, attest_row at, slong prec,
                               attest_error *err)
{
    const attest_problem *p = in->p;
    const attest_tensor *t = in->role[ATTEST_Q];
    const int64_t offset = attest_offset(t, at.b, at.h, at.i, 0), position = ref_position(in, at.b, at.i);
    *q = (query){ .in = in, .dim = attest_feature_dim(p), .pairs = axis_pairs(p) };
    arb_init(q->scale);
    mag_init(q->scale_mag);
    q->phi = ref_ball_vector(q->dim);
    q->mag = calloc((size_t)(q->dim + q->pairs), sizeof *q->mag); /* all zero bits = mag_init */
    if (!q->phi || !q->mag)
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for a query of %lld values", (long long)p->d);
    row->no_truth |= !axis_phi(q->phi, in, t, offset, t->stride[3], position, prec);
    for (int64_t c = 0; c < q->dim; c++)
        arb_get_mag(q->mag + c, q->phi + c);
    q->pair = q->mag + q->dim;
    axis_pair_sums(q->pair, in, t, offset, t->stride[3]);
    arb_set_d(q->scale, p->scale);
    arb_get_mag(q->scale_mag, q->scale);
    q->vector = axis_decay_of(p)->vector;
    return q->vector ? ref_ball_product_start(&q->decayed, q->phi, in, at.b, attest_kv_head(p, at.h), at.i, prec, err)
                     : ATTEST_OK;
}

/* phi(q) of the score of token j: D_ij is inside the product with decay=vector.  j = -1: of the given state. */
static arb_srcptr query_at(query *q, int64_t j)
{
    if (!q->vector)
        return q->phi;
    ref_ball_product_reach(&q->decayed, j);
    for (int64_t c = 0; c < q->dim; c++)
        arb_get_mag(q->mag + c, q->decayed.x + c);
    return q->decayed.x;
}

/* s_j = scale <phi(q), phi(k_j)>, its mass and turn.  One dot product (error inside the ball), one product. */
static void scores_of_block(ref_row *row, query *q, const ref_block *block, slong prec)
{
    int64_t from, to;
    overlap(&from, &to, row, block);
    for (int64_t j = to - 1; j >= from; j--) {
        const int64_t at = row->key[j] - block->first;
        arb_srcptr phi = query_at(q, row->key[j]);
        row->no_truth |= block->bad[at];
        arb_dot(row->s + j, NULL, 0, phi, 1, block->x + at * q->dim, 1, (slong)q->dim, prec);
        arb_mul(row->s + j, row->s + j, q->scale, prec);
        mag_zero(row->mass + j);
        for (int64_t c = 0; c < q->dim; c++)
            mag_addmul(row->mass + j, q->mag + c, block->mag + at * q->dim + c);
        mag_mul(row->mass + j, row->mass + j, q->scale_mag);
        for (int64_t c = 0; c < q->pairs; c++)
            mag_addmul(row->turn + j, q->pair + c, block->pair + at * q->pairs + c);
        mag_mul(row->turn + j, row->turn + j, q->scale_mag);
    }
}

/* From the last key backwards: the way a product of decays grows. */
static attest_status scores(ref_row *row, query *q, ref_block *block, int64_t b, int64_t g, slong prec,
                            attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int64_t j = row->last - 1; j >= row->first; j = block->first - 1) {
        ATTEST_TRY(ref_block_load(block, q->in, ATTEST_K, b, g, j, prec, err));
        scores_of_block(row, q, block, prec);
    }
    if (q->vector)
        row->no_truth |= q->decayed.bad;
out:
    return status;
}

/* w_j = W(s_j - c); the center's ball may be wide at low precision, W is continuous in it, so w converges. */
static void weigh(ref_row *row, const attest_problem *p, slong prec)
{
    const axis_weight *weight = axis_weight_of(p);
    const uint32_t order = p->axis[ATTEST_AXIS_WEIGHT].order;
    const int centered = attest_axis_value_of(p, ATTEST_AXIS_CENTER) != ATTEST_CENTER_ZERO;
    AUTO_ARB(x);
    arb_zero(row->c);
    if (row->keys)
        axis_center_of(p)->ball(row->c, row->s, (slong)row->keys, prec);
    for (int64_t j = 0; j < row->keys; j++) {
        if (centered)
            arb_sub(x, row->s + j, row->c, prec);
        weight->ball(row->w + j, centered ? x : row->s + j, order, prec);
    }
}

/* How many of the visible keys from number `from` on, before number `to`, lie side by side. */
static int64_t run_of(const ref_row *row, int64_t from, int64_t to)
{
    int64_t run = 1;
    while (from + run < to && row->key[from + run] == row->key[from] + run)
        run++;
    return run;
}

/* u = sum w gin keep/(1-R) v (one dot product a channel and run of keys in a block), z = sum w. */
static attest_status sums(ref_row *row, const ref_inputs *in, ref_ball_cache *cache, attest_row at, slong prec,
                          attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t b = at.b, g = attest_kv_head(in->p, at.h);
    const int gated = axis_gates_of(in->p)->values || attest_drops(in->p);
    ref_block *block = &cache->v;
    arb_ptr w = gated ? ref_ball_vector(row->keys) : row->w;
    if (!w)
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for %lld gates", (long long)row->keys);
    ATTEST_TRY(ref_ball_gate_keys(row, in, &cache->gin, b, g, prec, err));
    ref_ball_drop(row, in, at, prec);
    for (int64_t j = 0; gated && j < row->keys; j++)
        arb_mul(w + j, row->w + j, ref_row_pass(row, in->p) + j, prec);
    arb_zero(row->z);
    for (int64_t j = 0; j < row->keys; j++)
        arb_add(row->z, row->z, row->w + j, prec);
    for (int64_t c = 0; c < row->e; c++)
        arb_zero(row->u + c);
    for (int64_t j = row->first; j < row->last; j = block->first + block->count) {
        int64_t from, to, run;
        ATTEST_TRY(ref_block_load(block, in, ATTEST_V, b, g, j, prec, err));
        overlap(&from, &to, row, block);
        for (int64_t k = from; k < to; k++)
            row->no_truth |= block->bad[row->key[k] - block->first];
        for (; from < to; from += run) {
            run = run_of(row, from, to);
            arb_srcptr x = block->x + row->key[from] - block->first;
            for (int64_t c = 0; c < row->e; c++)
                arb_dot(row->u + c, row->u + c, 0, w + from, 1, x + c * block->count, 1, (slong)run, prec);
        }
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

/* update=add: weights, then sums over keys and the given state. */
static attest_status fill_sums(ref_row *row, query *q, ref_ball_cache *cache, attest_row at, slong prec,
                               attest_error *err)
{
    const ref_inputs *in = q->in;
    const attest_problem *p = in->p;
    const int64_t g = attest_kv_head(p, at.h);
    const axis_decay *decay = axis_decay_of(p);
    attest_status status = ATTEST_OK;
    AUTO_ARB(given); /* the decay of the given state, where it is one number */
    arb_one(given);
    ATTEST_TRY(scores(row, q, &cache->k, at.b, g, prec, err));
    ref_ball_score_steps(row, in, at, prec);
    weigh(row, p, prec);
    if (decay->set && !decay->vector)
        ATTEST_TRY(ref_ball_decay_weights(row, given, in, at.b, g, at.i, prec, err));
    ref_ball_filter(row, p, prec);
    ATTEST_TRY(sums(row, in, cache, at, prec, err));
    if (attest_axis_value_of(p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE) {
        ATTEST_TRY(ref_ball_add_state(row, in, query_at(q, -1), given, at.b, g, prec, err));
        if (q->vector)
            ATTEST_TRY(ref_ball_decay_bound(row, in, at.b, g, at.i, err));
    }
out:
    return status;
}

static attest_status fill_row(ref_row *row, const ref_inputs *in, ref_ball_cache *cache, attest_row at, slong prec,
                              attest_error *err)
{
    const int add = attest_axis_value_of(in->p, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_ADD;
    attest_status status = ATTEST_OK;
    query q;
    ATTEST_TRY(query_new(&q, row, in, at, prec, err));
    ref_ball_row_gate(row, in, at, prec);
    if (add)
        ATTEST_TRY(fill_sums(row, &q, cache, at, prec, err));
    else
        ATTEST_TRY(ref_delta_row(row, in, cache, q.phi, at.b, attest_kv_head(in->p, at.h), prec, err));
    ref_ball_output(row, in, at.h, prec);
    log_sum(row, in->p, prec);
out:
    query_free(&q);
    return status;
}

/* What the axes at their defaults leave in the fields that only some of them fill. */
static void set_defaults(ref_row *row)
{
    mag_ptr const delta[] = { row->delta.key,  row->delta.size,  row->delta.value, row->delta.write,
                              row->delta.rate, row->delta.decay, row->delta.grow };
    for (int64_t j = 0; j < row->keys; j++) {
        mag_one(row->decay + j);
        mag_zero(row->turn + j);
        mag_zero(row->kept + j);
        arb_one(row->gin + j);
        for (size_t a = 0; a < sizeof delta / sizeof delta[0]; a++)
            mag_zero(delta[a] + j);
    }
    for (int64_t c = 0; c < row->e; c++)
        mag_zero(row->delta.terms + c);
    arb_one(row->gout);
    mag_one(row->decay0);
    mag_zero(row->delta.start);
    mag_zero(row->delta.query);
    mag_zero(row->delta.last);
}

static attest_status set_keys(ref_row *row, const ref_inputs *in, attest_row at, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t first, last, keys = 0;
    ref_visible(in, at.b, at.i, &first, &last);
    if (last < first)
        last = first;
    for (int64_t j = first; j < last; j++)
        keys += ref_sees(in, at, j);
    ATTEST_TRY(ref_row_resize(row, in->p->e, keys, err));
    row->first = first;
    row->last = last;
    keys = 0;
    for (int64_t j = first; j < last; j++)
        if (ref_sees(in, at, j))
            row->key[keys++] = j;
out:
    return status;
}

attest_status ref_ball_row(ref_row *row, const ref_inputs *in, attest_row at, slong prec, attest_error *err)
{
    const int state = attest_axis_value_of(in->p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE;
    ref_ball_cache own;
    attest_status status;
    row->computed = 0;
    ref_ball_cache_init(&own);
    ATTEST_TRY(set_keys(row, in, at, err));
    row->prec = prec;
    row->engine = ATTEST_ENGINE_BALL;
    row->no_truth = row->illposed = row->lse_absent = row->lse_open = row->rational = 0;
    row->empty = row->keys == 0 && !state;
    set_defaults(row);
    if (row->empty)
        fill_empty(row, in->p);
    else
        ATTEST_TRY(fill_row(row, in, in->ball ? in->ball : &own, at, prec, err));
    if (row->no_truth)
        row->illposed = row->lse_open = 0;
    row->computed = 1;
out:
    ref_ball_cache_clear(&own);
    return status;
}
