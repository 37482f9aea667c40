/* variant_rules.c - which settings go together, and what follows from them: tables of value sets.
 *
 * A set of values of one axis is a bit mask, bit v for value v.  A weight of order 1 has its own bit, so that
 * rules can tell power:1 from power:2.
 */
#include "kernels/problem/variant.h"

#include <stdio.h>

#define BIT(value) (1u << (value))
#define BUT(set) (~(uint32_t)(set))
#define DEFAULT BIT(0)
#define SET BUT(DEFAULT)

#define ORDER_ONE 8u
#define WEIGHT_TAYLOR (BIT(ATTEST_WEIGHT_TAYLOR) | BIT(ORDER_ONE + ATTEST_WEIGHT_TAYLOR))
#define WEIGHT_POWER_1 BIT(ORDER_ONE + ATTEST_WEIGHT_POWER)
#define WEIGHT_TERM_1 BIT(ORDER_ONE + ATTEST_WEIGHT_TERM)

#define NORM_AFFINE                                                                                                    \
    (BIT(ATTEST_NORM_RMS) | BIT(ATTEST_NORM_LAYERNORM) | BIT(ATTEST_NORM_LENGTH_RMS) |                                 \
     BIT(ATTEST_NORM_LENGTH_LAYERNORM))
#define NORM_EPS (BIT(ATTEST_NORM_SUM) | BIT(ATTEST_NORM_L2) | BIT(ATTEST_NORM_LENGTH_L2) | NORM_AFFINE)

static uint32_t value_bit(const attest_setting axis[ATTEST_AXIS_COUNT], uint32_t index)
{
    const attest_setting *s = &axis[index];
    return BIT(index == ATTEST_AXIS_WEIGHT && s->order == 1 ? ORDER_ONE + s->value : s->value);
}

/* Axis a in set_a and axis b in set_b contradict each other. */
typedef struct rule {
    uint32_t a, set_a, b, set_b;
    const char *reason;
} rule;

#define STATE_RULE(axis)                                                                                               \
    {                                                                                                                  \
        ATTEST_AXIS_STATE, SET, ATTEST_AXIS_##axis, SET, "no recurrence exists that a state could start"               \
    }
#define UPDATE_RULE(axis, set, reason)                                                                                 \
    {                                                                                                                  \
        ATTEST_AXIS_UPDATE, SET, ATTEST_AXIS_##axis, set, reason                                                       \
    }
#define UPDATE_HAS_NO " is no part of the delta rule"

static const rule rules[] = {
    { ATTEST_AXIS_CENTER, SET, ATTEST_AXIS_WEIGHT, BUT(WEIGHT_TAYLOR), "a center needs weight=taylor:P" },
    { ATTEST_AXIS_CENTER, SET, ATTEST_AXIS_NORM, BUT(BIT(ATTEST_NORM_SUM)),
      "a center needs norm=sum, where o does not depend on the dropped e^c" },
    { ATTEST_AXIS_AFFINE, SET, ATTEST_AXIS_NORM, BUT(NORM_AFFINE),
      "gain and shift come after rms, layernorm, length-rms or length-layernorm" },
    { ATTEST_AXIS_EPS, SET, ATTEST_AXIS_NORM, BUT(NORM_EPS), "this norm does not read eps" },
    UPDATE_RULE(WEIGHT, BUT(WEIGHT_POWER_1), "the delta rule needs weight=power:1"),
    UPDATE_RULE(NORM, BUT(BIT(ATTEST_NORM_NONE)), "the delta rule needs norm=none"),
    UPDATE_RULE(MASK, BIT(ATTEST_MASK_FULL), "the delta rule needs a causal mask"),
    UPDATE_RULE(WINDOW, SET, "a window" UPDATE_HAS_NO),
    UPDATE_RULE(LENS_Q, BIT(ATTEST_LENS_Q_DRAW), "a length per batch entry" UPDATE_HAS_NO ", but of lens_q=len"),
    UPDATE_RULE(FILTER, SET, "a filter" UPDATE_HAS_NO),
    UPDATE_RULE(CLAMP, SET, "a clamp" UPDATE_HAS_NO),
    UPDATE_RULE(CAP, SET, "a softcap" UPDATE_HAS_NO),
    UPDATE_RULE(ALIBI, SET, "a position bias" UPDATE_HAS_NO),
    UPDATE_RULE(BIAS, SET, "a bias" UPDATE_HAS_NO),
    UPDATE_RULE(ATTN_MASK, SET, "a mask tensor" UPDATE_HAS_NO),
    UPDATE_RULE(DROPOUT, SET, "dropout" UPDATE_HAS_NO),
    UPDATE_RULE(GATES, BIT(ATTEST_GATES_PRE_OUT), "a gate before Norm" UPDATE_HAS_NO),
    { ATTEST_AXIS_DECAY, BIT(ATTEST_DECAY_VECTOR), ATTEST_AXIS_FEATURE, BIT(ATTEST_FEATURE_COSFORMER),
      "a_t has d entries, cosformer features 2d" },
    { ATTEST_AXIS_DECAY, BIT(ATTEST_DECAY_VECTOR), ATTEST_AXIS_WEIGHT, BUT(WEIGHT_POWER_1 | WEIGHT_TERM_1),
      "a decay inside the product <q,k> needs weight=power:1 or term:1" },
    { ATTEST_AXIS_DECAY, SET, ATTEST_AXIS_MASK, BIT(ATTEST_MASK_FULL), "a decay needs a causal mask" },
    { ATTEST_AXIS_DECAY_INPUT, SET, ATTEST_AXIS_DECAY, BIT(ATTEST_DECAY_NONE) | BIT(ATTEST_DECAY_RETNET),
      "only decay=scalar and decay=vector have logarithms" },
    { ATTEST_AXIS_STATE, SET, ATTEST_AXIS_WEIGHT, BIT(ATTEST_WEIGHT_EXP),
      "no recurrence exists that a state could start: exp is no polynomial" },
    STATE_RULE(CENTER),
    STATE_RULE(FILTER),
    STATE_RULE(WINDOW),
    STATE_RULE(CLAMP),
    STATE_RULE(CAP),
    STATE_RULE(ALIBI),
    STATE_RULE(BIAS),
    STATE_RULE(ATTN_MASK),
    STATE_RULE(DROPOUT),
    { ATTEST_AXIS_STATE, SET, ATTEST_AXIS_LENS_Q, SET,
      "what becomes of the given state of a sequence without queries is not agreed on" },
    { ATTEST_AXIS_LENS_Q, BIT(ATTEST_LENS_Q_LEN), ATTEST_AXIS_LENS, DEFAULT,
      "an entry has as many queries as keys, which need lens=draw" },
    { ATTEST_AXIS_LENS_Q, SET, ATTEST_AXIS_FEATURE, BIT(ATTEST_FEATURE_COSFORMER),
      "whether its angle goes by max(n,m) or by a sequence's own lengths is not agreed on" },
    { ATTEST_AXIS_ATTN_MASK, SET, ATTEST_AXIS_DECAY, SET, "whether a masked token decays is not agreed on" },
    { ATTEST_AXIS_BIAS, SET, ATTEST_AXIS_ALIBI, SET, "the bias can hold the position bias" },
};

#define PAGE_MOST 65536u

/* lens_q=len needs n = m; without it the delta rule has no lengths. */
static attest_status check_lengths(const attest_setting axis[ATTEST_AXIS_COUNT], int64_t n, int64_t m,
                                   attest_error *err)
{
    char text[64];
    const int same = axis[ATTEST_AXIS_LENS_Q].value == ATTEST_LENS_Q_LEN;
    if (same && n != m)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "lens_q=len contradicts n=%lld m=%lld: an entry has as many queries as keys, of n = m",
                           (long long)n, (long long)m);
    if (same || axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_ADD || !axis[ATTEST_AXIS_LENS].value)
        return ATTEST_OK;
    attest_axis_print(text, sizeof text, ATTEST_AXIS_UPDATE, &axis[ATTEST_AXIS_UPDATE]);
    return attest_fail(err, ATTEST_BAD_INPUT,
                       "update=%s contradicts lens=draw: a length per batch entry" UPDATE_HAS_NO ", but of lens_q=len",
                       text);
}

/* Where lengths of sequences leave a decay without a meaning, or without its tokens.  With lens_q=len no query stands
 * behind the last key, and causal-br is causal. */
static attest_status check_decays(const attest_setting axis[ATTEST_AXIS_COUNT], int64_t n, int64_t m, attest_error *err)
{
    const uint32_t decay = axis[ATTEST_AXIS_DECAY].value;
    char text[64];
    if (decay == ATTEST_DECAY_NONE)
        return ATTEST_OK;
    attest_axis_print(text, sizeof text, ATTEST_AXIS_DECAY, &axis[ATTEST_AXIS_DECAY]);
    if (n != m)
        return attest_fail(err, ATTEST_BAD_INPUT, "decay=%s contradicts n=%lld m=%lld: a decay needs n = m", text,
                           (long long)n, (long long)m);
    if (axis[ATTEST_AXIS_LENS_Q].value == ATTEST_LENS_Q_LEN)
        return ATTEST_OK;
    if (axis[ATTEST_AXIS_LENS_Q].value && axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "decay=%s mask=causal-br contradicts lens_q=draw: a query would see keys that come later",
                           text);
    if (axis[ATTEST_AXIS_PACKED].value && axis[ATTEST_AXIS_LENS].value && decay != ATTEST_DECAY_RETNET)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "decay=%s lens=draw contradicts packed=on: a query behind the last key has no decay there",
                           text);
    return ATTEST_OK;
}

attest_status attest_variant_check(const attest_setting axis[ATTEST_AXIS_COUNT], int64_t n, int64_t m,
                                   attest_error *err)
{
    char a[64], b[64];
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const rule *r = &rules[i];
        if (!(value_bit(axis, r->a) & r->set_a) || !(value_bit(axis, r->b) & r->set_b))
            continue;
        attest_axis_print(a, sizeof a, r->a, &axis[r->a]);
        attest_axis_print(b, sizeof b, r->b, &axis[r->b]);
        return attest_fail(err, ATTEST_BAD_INPUT, "%s=%s contradicts %s=%s: %s", attest_axes[r->a].key, a,
                           attest_axes[r->b].key, b, r->reason);
    }
    if (axis[ATTEST_AXIS_PAGES].order > PAGE_MOST)
        return attest_fail(err, ATTEST_BAD_INPUT, "pages=%u: a page has at most %u tokens",
                           axis[ATTEST_AXIS_PAGES].order, PAGE_MOST);
    if (!(axis[ATTEST_AXIS_DROPOUT].number < 1)) {
        attest_axis_print(a, sizeof a, ATTEST_AXIS_DROPOUT, &axis[ATTEST_AXIS_DROPOUT]);
        return attest_fail(err, ATTEST_BAD_INPUT, "dropout=%s: the rate is above 0 and below 1", a);
    }
    const attest_status status = check_lengths(axis, n, m, err);
    return status == ATTEST_OK ? check_decays(axis, n, m, err) : status;
}

/* What an axis must be for some property to hold, and what to say if it is not. */
typedef struct need {
    uint32_t axis, allowed;
    const char *reason;
} need;

/* The first need that is not met, NULL if all are. */
static const need *unmet(const attest_setting axis[ATTEST_AXIS_COUNT], const need *needs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(value_bit(axis, needs[i].axis) & needs[i].allowed))
            return &needs[i];
    }
    return NULL;
}

#define COUNT(array) (sizeof array / sizeof array[0])

static const need recurrence[] = {
    { ATTEST_AXIS_WEIGHT, BUT(BIT(ATTEST_WEIGHT_EXP)), "a polynomial weight" },
    { ATTEST_AXIS_CENTER, DEFAULT, "center=zero" },
    { ATTEST_AXIS_FILTER, DEFAULT, "filter=none" },
    { ATTEST_AXIS_WINDOW, DEFAULT, "window=none" },
    { ATTEST_AXIS_CLAMP, DEFAULT, "clamp=none" },
    { ATTEST_AXIS_CAP, DEFAULT, "cap=none" },
    { ATTEST_AXIS_ALIBI, DEFAULT, "alibi=none" },
    { ATTEST_AXIS_BIAS, DEFAULT, "bias=none" },
    { ATTEST_AXIS_ATTN_MASK, DEFAULT, "attn_mask=none" },
    { ATTEST_AXIS_DROPOUT, DEFAULT, "dropout=none" },
};

/* A running maximum c multiplies u and z by e^-c: a quotient of sums and a norm by the length of u do not see it (an
 * eps is scaled along). */
static const need tiles[] = {
    { ATTEST_AXIS_WEIGHT, BIT(ATTEST_WEIGHT_EXP), "weight=exp" },
    { ATTEST_AXIS_NORM, BIT(ATTEST_NORM_SUM) | BIT(ATTEST_NORM_SINK) | BIT(ATTEST_NORM_L2) | BIT(ATTEST_NORM_RMS),
      "norm=sum, sink, l2 or rms" },
};

static const need splits[] = {
    { ATTEST_AXIS_UPDATE, DEFAULT, "update=add: (u,z) of the parts do not add" },
    { ATTEST_AXIS_CENTER, DEFAULT, "center=zero: a part does not know the row's center" },
    { ATTEST_AXIS_FILTER, DEFAULT, "filter=none: a part does not know the row's maximum" },
};

/* Values under which rationals stay rationals for all inputs. */
static const need rationals[] = {
    { ATTEST_AXIS_WEIGHT, BUT(BIT(ATTEST_WEIGHT_EXP)), "a polynomial weight" },
    { ATTEST_AXIS_FEATURE, BIT(ATTEST_FEATURE_IDENTITY) | BIT(ATTEST_FEATURE_RELU), "a rational feature" },
    { ATTEST_AXIS_ROPE, DEFAULT, "rope=none" },
    { ATTEST_AXIS_GATES, BUT(BIT(ATTEST_GATES_HEADS)), "gates without exp" },
    { ATTEST_AXIS_NORM, BIT(ATTEST_NORM_SUM) | BIT(ATTEST_NORM_FLOOR) | BIT(ATTEST_NORM_NONE) | BIT(ATTEST_NORM_LENGTH),
      "a rational norm" },
    { ATTEST_AXIS_UPDATE, BUT(BIT(ATTEST_UPDATE_EFLA)), "an update without exp" },
    { ATTEST_AXIS_CAP, DEFAULT, "cap=none" },
    { ATTEST_AXIS_ALIBI, BUT(BIT(ATTEST_ALIBI_USUAL)), "stored slopes" },
};

int attest_variant_polynomial(const attest_setting axis[ATTEST_AXIS_COUNT])
{
    return axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP;
}

int attest_variant_recurrent(const attest_setting axis[ATTEST_AXIS_COUNT])
{
    return !unmet(axis, recurrence, COUNT(recurrence));
}

int attest_variant_degrees(const attest_setting axis[ATTEST_AXIS_COUNT], int *lowest, int *highest)
{
    const attest_setting *weight = &axis[ATTEST_AXIS_WEIGHT];
    *lowest = *highest = 0;
    if (!attest_variant_recurrent(axis))
        return 0;
    *highest = (int)weight->order;
    *lowest = weight->value == ATTEST_WEIGHT_TAYLOR ? 0 : *highest;
    return 1;
}

/* Legal forms: what each one needs. */
static const struct form_needs {
    const need *needs;
    size_t count;
} forms[] = {
    [ATTEST_PARALLEL] = { NULL, 0 },
    [ATTEST_TILED] = { tiles, COUNT(tiles) },
    [ATTEST_SPLIT] = { splits, COUNT(splits) },
    [ATTEST_RECURRENT] = { recurrence, COUNT(recurrence) },
    [ATTEST_CHUNK] = { recurrence, COUNT(recurrence) },
};

int attest_variant_form_legal(const attest_setting axis[ATTEST_AXIS_COUNT], uint32_t form, char *why, size_t len)
{
    char value[64];
    if (len > 0)
        why[0] = '\0';
    if (form < ATTEST_PARALLEL || form >= COUNT(forms)) {
        snprintf(why, len, "no such form");
        return 0;
    }
    const need *missing = unmet(axis, forms[form].needs, forms[form].count);
    if (!missing)
        return 1;
    attest_axis_print(value, sizeof value, missing->axis, &axis[missing->axis]);
    snprintf(why, len, "%s=%s: this form needs %s", attest_axes[missing->axis].key, value, missing->reason);
    return 0;
}

int attest_variant_rational(const attest_setting axis[ATTEST_AXIS_COUNT])
{
    return !unmet(axis, rationals, COUNT(rationals));
}
