/* property_axes.c - what permuting, selecting and repeating along an axis must do. */
#include "props/properties/property_list.h"

#include "props/properties/relation.h"

#include "kernels/attest_float.h"

#include <math.h>

/* ---- one letter shuffled ----------------------------------------------------------------------------------------- */

static attest_status check_shuffle(attest_finding *found, attest_trial *trial, const attest_property *property,
                                   attest_letter letter, int bits, attest_error *err)
{
    attest_relation r;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = bits;
    ATTEST_TRY(
        attest_relation_shuffle(&r, letter, attest_letter_size(&trial->c.problem, letter), trial, property, err));
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

static int applies_queries(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return prop_no_positions(p) && p->n > 1 && !prop_axis(p, ATTEST_AXIS_LENS_Q);
}

static attest_status check_queries(attest_finding *found, attest_trial *trial, attest_error *err)
{
    return check_shuffle(found, trial, &attest_property_query_permutation, ATTEST_LETTER_N,
                         prop_rows_independent(&trial->kernel), err);
}

const attest_property attest_property_query_permutation = {
    "query-permutation",
    "rows follow their queries when queries change places",
    "all without positions and lens_q: mask=full, no window, rope, alibi, decay, cosformer, delta",
    PROP_BITS_OR_BOUNDS,
    ATTEST_NEEDS_NOTHING,
    applies_queries,
    check_queries,
    attest_violate_by_row
};

static int applies_batch(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return p->b > 1;
}

static attest_status check_batch(attest_finding *found, attest_trial *trial, attest_error *err)
{
    return check_shuffle(found, trial, &attest_property_batch_permutation, ATTEST_LETTER_B,
                         prop_rows_independent(&trial->kernel), err);
}

/* By batch entry: what a kernel does that mixes entries, or reads a wrong one. */
static void violate_by_batch(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    (void)inputs;
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++) {
        const double x = attest_load(o, at), part = (double)(at / (p->hq * p->n * p->e) + p->b) / 8;
        attest_store_bits(o, at, attest_from_f64(o->dtype, x + part * (1 + fabs(x))));
    }
}

const attest_property attest_property_batch_permutation = { "batch-permutation",
                                                            "batch entries change places with their inputs",
                                                            "all",
                                                            PROP_BITS_OR_BOUNDS,
                                                            ATTEST_NEEDS_NOTHING,
                                                            applies_batch,
                                                            check_batch,
                                                            violate_by_batch };

static int applies_value_channels(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return p->e > 1;
}

/* No bits: the last channels of a vector loop may be multiplied and added where the others are fused. */
static attest_status check_value_channels(attest_finding *found, attest_trial *trial, attest_error *err)
{
    return check_shuffle(found, trial, &attest_property_value_channels, ATTEST_LETTER_E, 0, err);
}

static void violate_by_channel(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    (void)inputs;
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++) {
        const double x = attest_load(o, at);
        attest_store_bits(o, at, attest_from_f64(o->dtype, x + (double)(at % p->e) * (1 + fabs(x))));
    }
}

const attest_property attest_property_value_channels = {
    "value-channels",
    "channels of o follow the channels of v when these change places",
    "all",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_value_channels,
    check_value_channels,
    violate_by_channel
};

static int applies_keys(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return prop_no_positions(p) && !prop_axis(p, ATTEST_AXIS_LENS) && p->m > 1;
}

static attest_status check_keys(attest_finding *found, attest_trial *trial, attest_error *err)
{
    return check_shuffle(found, trial, &attest_property_key_permutation, ATTEST_LETTER_M, 0, err);
}

/* The first key has another part in o than the others. */
static void violate_by_first_key(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O), *v = attest_bundle_role(inputs, ATTEST_V);
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++) {
        const int64_t c = at % p->e, h = at / (p->e * p->n) % p->hq, b = at / (p->e * p->n * p->hq);
        const double first = attest_load(v, attest_offset(v, b, attest_kv_head(p, h), 0, c));
        attest_store_bits(o, at, attest_from_f64(o->dtype, attest_load(o, at) + first));
    }
}

const attest_property attest_property_key_permutation = {
    "key-permutation",
    "the order of keys, with their values, does not matter",
    "all without positions and lengths (a decay, a mask or a delta rule reads the order)",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_keys,
    check_keys,
    violate_by_first_key
};

/* ---- one of many ------------------------------------------------------------------------------------------------- */

static attest_status check_batch_alone(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    int64_t *from = NULL;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = prop_rows_independent(&trial->kernel);
    r.c.problem.b = 1;
    ATTEST_TRY(attest_relation_map(&from, &r, ATTEST_LETTER_B, 1, err));
    from[0] = (int64_t)(attest_trial_word(trial, &attest_property_batch_alone, 0) % (uint64_t)trial->c.problem.b);
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_batch_alone = { "batch-alone",
                                                      "a batch entry alone has the outputs that it has in the batch",
                                                      "all",
                                                      PROP_BITS_OR_BOUNDS,
                                                      ATTEST_NEEDS_NOTHING,
                                                      applies_batch,
                                                      check_batch_alone,
                                                      violate_by_batch };

static int applies_heads(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return p->hkv > 1 && prop_axis(p, ATTEST_AXIS_GATES) != ATTEST_GATES_HEADS &&
           prop_axis(p, ATTEST_AXIS_ALIBI) != ATTEST_ALIBI_USUAL;
}

static attest_status check_heads_alone(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const int64_t group = p->hq / p->hkv;
    const int64_t g = attest_trial_word(trial, &attest_property_heads_alone, 0) % p->hkv;
    attest_relation r;
    int64_t *query = NULL, *kv = NULL;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = prop_rows_independent(&trial->kernel) && prop_order_declared(&trial->kernel);
    r.c.problem.hq = group;
    r.c.problem.hkv = 1;
    ATTEST_TRY(attest_relation_map(&query, &r, ATTEST_LETTER_H, group, err));
    ATTEST_TRY(attest_relation_map(&kv, &r, ATTEST_LETTER_G, 1, err));
    kv[0] = g;
    for (int64_t h = 0; h < group; h++)
        query[h] = g * group + h;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

static void violate_by_head(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    (void)inputs;
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++) {
        const double x = attest_load(o, at), part = (double)(at / (p->n * p->e) % p->hq + p->hq) / 8;
        attest_store_bits(o, at, attest_from_f64(o->dtype, x + part * (1 + fabs(x))));
    }
}

const attest_property attest_property_heads_alone = {
    "heads-alone",
    "the query heads of one KV head, alone, have the outputs that they have among all",
    "all but gates=heads, a softmax over heads, and alibi=usual, whose slopes go by the number of heads",
    "bits if rows are independent and the order of sums is declared, else both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_heads,
    check_heads_alone,
    violate_by_head
};

static int applies_shared(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return p->hkv < p->hq && prop_axis(p, ATTEST_AXIS_GATES) != ATTEST_GATES_HEADS;
}

static attest_status check_shared_heads(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    attest_relation r;
    int64_t *kv = NULL;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = prop_rows_independent(&trial->kernel) && prop_order_declared(&trial->kernel);
    r.c.problem.hkv = p->hq;
    ATTEST_TRY(attest_relation_map(&kv, &r, ATTEST_LETTER_G, p->hq, err));
    for (int64_t h = 0; h < p->hq; h++)
        kv[h] = attest_kv_head(p, h);
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

/* As if the last query head of each group read another KV head. */
static void violate_by_group(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    const int64_t group = p->hq / p->hkv;
    (void)inputs;
    for (int64_t at = 0; o && group > 1 && at < attest_tensor_count(o); at++)
        if (at / (p->n * p->e) % p->hq % group == group - 1)
            attest_store_bits(o, at, attest_from_f64(o->dtype, 2 * attest_load(o, at) + 1));
}

const attest_property attest_property_shared_heads = {
    "shared-heads",
    "query heads that share a KV head have the outputs of heads with a copy of it each",
    "all with hq > hkv but gates=heads, which is a softmax over heads",
    "bits if rows are independent and the order of sums is declared, else both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_shared,
    check_shared_heads,
    violate_by_group
};

/* ---- channels of q and k ----------------------------------------------------------------------------------------- */

#define ODD_FEATURES (1u << ATTEST_FEATURE_IDENTITY | 1u << ATTEST_FEATURE_UNIT)

static int is_qk(const attest_cell *cell)
{
    return cell->id.kind == ATTEST_KIND_ROLE && (cell->id.index == ATTEST_Q || cell->id.index == ATTEST_K);
}

/* Channel c of q and k changes sign if the trial says so; with cut = 1 all channels do. */
static uint64_t signed_channel(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                               uint64_t bits, int *inexact)
{
    (void)inexact;
    const int flip = r->cut ||
                     (attest_trial_word(trial, &attest_property_sign_flip, (uint64_t)cell->index[ATTEST_LETTER_D]) & 1);
    return is_qk(cell) && flip ? attest_flip_sign(cell->dtype, bits) : bits;
}

static int applies_rotation(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return p->d > 1 && prop_feature_in(p, ODD_FEATURES) && !prop_axis(p, ATTEST_AXIS_ROPE) &&
           !prop_axis(p, ATTEST_AXIS_STATE);
}

static attest_status check_rotation(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = 0;
    r.value = signed_channel;
    ATTEST_TRY(attest_relation_shuffle(&r, ATTEST_LETTER_D, trial->c.problem.d, trial,
                                       &attest_property_channel_rotation, err));
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

/* The first channel of q enters on its own. */
static void violate_by_first_channel(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O), *q = attest_bundle_role(inputs, ATTEST_Q);
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++) {
        const double x = attest_load(q, at / p->e * p->d);
        attest_store_bits(o, at, attest_from_f64(o->dtype, attest_load(o, at) + x + (x > 0) - (double)p->d));
    }
}

const attest_property attest_property_channel_rotation = {
    "channel-rotation",
    "a signed permutation of the channels of q and k, an exact rotation, does not matter",
    "feature identity or unit, without rope (pairs of channels) and given states",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_rotation,
    check_rotation,
    violate_by_first_channel
};

static int applies_zero_channels(const attest_problem *p, const attest_prop_kernel *k)
{
    const uint32_t zero_at_zero = ODD_FEATURES | 1u << ATTEST_FEATURE_RELU | 1u << ATTEST_FEATURE_SILU |
                                  1u << ATTEST_FEATURE_SILU_UNIT;
    (void)k;
    return prop_feature_in(p, zero_at_zero) && !prop_axis(p, ATTEST_AXIS_ROPE) && !prop_axis(p, ATTEST_AXIS_STATE);
}

/* A decay of the new channel. */
static uint64_t new_channel(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                            int *inexact)
{
    (void)inexact;
    const int is_new = cell->index[ATTEST_LETTER_D] >= trial->c.problem.d;
    return is_new && cell->id.index == ATTEST_DECAY ? attest_from_f64(cell->dtype, prop_unit_decay(&r->c.problem))
                                                    : bits;
}

static attest_status check_zero_channels(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    int64_t *from = NULL;
    attest_status status = ATTEST_OK;
    const int64_t d = trial->c.problem.d, multiple = trial->kernel.limits.d.multiple,
                  step = multiple > 1 ? multiple : 1;
    attest_relation_init(&r, trial);
    r.bits = 0; /* more channels may be another loop: see value-channels */
    r.c.problem.d = d + step * (1 + attest_trial_word(trial, &attest_property_zero_channels, 0) % 3);
    r.value = new_channel;
    ATTEST_TRY(attest_relation_map(&from, &r, ATTEST_LETTER_D, r.c.problem.d, err));
    for (int64_t c = d; c < r.c.problem.d; c++)
        from[c] = -1;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_zero_channels = {
    "zero-channels",
    "channels of q and k that are 0 do not matter (scale as it was)",
    "features with phi(0)=0, without rope (pairs of channels) and given states",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_zero_channels,
    check_zero_channels,
    violate_by_first_channel
};

static int applies_sign_flip(const attest_problem *p, const attest_prop_kernel *k)
{
    return (k->flags & ATTEST_DETERMINISTIC) && prop_feature_in(p, ODD_FEATURES) && !prop_axis(p, ATTEST_AXIS_STATE);
}

static attest_status check_sign_flip(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.value = signed_channel;
    r.cut = prop_axis(&trial->c.problem, ATTEST_AXIS_ROPE) != 0;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_sign_flip = {
    "sign-flip",
    "a channel that changes sign in q and in k (rope: all channels) changes no bit",
    "feature identity or unit, without given states",
    "bits",
    ATTEST_NEEDS_NOTHING,
    applies_sign_flip,
    check_sign_flip,
    violate_by_first_channel
};
