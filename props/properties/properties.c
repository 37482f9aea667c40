/* properties.c - the list of properties. */
#include "props/properties/property_list.h"

#include <string.h>

const attest_property *const attest_properties[] = {
#define ADDRESS(name) &attest_property_##name,
    ATTEST_PROPERTY_LIST(ADDRESS)
#undef ADDRESS
};
const size_t attest_property_count = sizeof attest_properties / sizeof attest_properties[0];

const attest_property *attest_property_find(const char *name)
{
    for (size_t k = 0; k < attest_property_count; k++)
        if (strcmp(attest_properties[k]->name, name) == 0)
            return attest_properties[k];
    return NULL;
}

/* What holds with attn_mask, dropout and k and v of 8 bits alike: what goes with its rows, keys, heads and entries, or
 * nothing is asked of the keys that a row sees, their weights and their numbers. */
static const char *const with_all[] = {
    "truth",          "query-permutation", "batch-permutation", "batch-alone",   "heads-alone",      "shared-heads",
    "value-channels", "key-permutation",   "channel-rotation",  "zero-channels", "sign-flip",        "unit-gates",
    "unit-affine",    "zero-bias",         "bias-shift",        "alibi-bias",    "zero-slope",       "full-length",
    "wide-clamp",     "wide-filter",       "split-count",       "repeat",        "layout",           "o-alone",
    "value-scaling",  "value-sign",        "key-query-scaling", "scale-folding", "term-homogeneity", "causal-prefix",
    "unseen-keys",    "prefix-alone",      "length-alone",      "wide-window",   "last-row",         "last-rows",
    "square-mask",    "fully-masked",
};

/* With attn_mask also these.  Of the others some go by first and last visible key; decays and given states contradict
 * it. */
static const char *const with_mask[] = {
    "keep-all",
};

/* With dropout also these: u is linear in the values, and z is as without.  Not what says which numbers o or u are, or
 * that keys of one score have one weight. */
static const char *const with_dropout[] = {
    "unit-decay",       "open-mask",   "mask-tensor", "far-sink", "low-floor", "zero-decay",
    "value-additivity", "score-shift", "monotone",    "lse-of-z", "order-sum",
};

/* With k and v of 8 bits also these: their bytes stay, or are multiplied by a power of two.  Not what writes other keys
 * or values, or says which numbers o and u are bit for bit. */
static const char *const with_scales[] = {
    "unit-decay", "open-mask", "mask-tensor", "far-sink",  "low-floor",
    "zero-decay", "keep-all",  "lse-of-z",    "order-sum", "cache-scales",
};

#define IN(list, property)                                                                                             \
    (is_one_of(with_all, sizeof with_all / sizeof with_all[0], property) ||                                            \
     is_one_of(list, sizeof(list) / sizeof(list)[0], property))

static int is_one_of(const char *const *list, size_t count, const attest_property *property)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(property->name, list[k]) == 0)
            return 1;
    return 0;
}

int attest_property_applies(const attest_property *property, const attest_problem *p, const attest_prop_kernel *kernel)
{
    return (!prop_axis(p, ATTEST_AXIS_ATTN_MASK) || IN(with_mask, property)) &&
           (!attest_drops(p) || IN(with_dropout, property)) && (!attest_kv_scaled(p) || IN(with_scales, property)) &&
           property->applies(p, kernel);
}

int prop_no_positions(const attest_problem *p)
{
    return !prop_axis(p, ATTEST_AXIS_MASK) && !prop_axis(p, ATTEST_AXIS_WINDOW) && !prop_axis(p, ATTEST_AXIS_ROPE) &&
           !prop_axis(p, ATTEST_AXIS_ALIBI) && !prop_axis(p, ATTEST_AXIS_DECAY) && !prop_axis(p, ATTEST_AXIS_UPDATE) &&
           prop_axis(p, ATTEST_AXIS_FEATURE) != ATTEST_FEATURE_COSFORMER;
}

int prop_has_bias(const attest_problem *p)
{
    return prop_axis(p, ATTEST_AXIS_ALIBI) != 0 || prop_axis(p, ATTEST_AXIS_BIAS) != 0;
}

int prop_rows_independent(const attest_prop_kernel *k)
{
    const uint32_t both = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT;
    return (k->flags & both) == both;
}

int prop_order_declared(const attest_prop_kernel *k)
{
    return (k->flags & ATTEST_SERIAL_SUMS) || k->numerics.schedule == ATTEST_SCHEDULE_RECURRENT;
}

int prop_decays_multiplied(const attest_prop_kernel *k)
{
    return k->numerics.decay_products == ATTEST_YES || k->numerics.schedule == ATTEST_SCHEDULE_RECURRENT;
}

int prop_feature_in(const attest_problem *p, uint32_t set)
{
    return (set >> prop_axis(p, ATTEST_AXIS_FEATURE) & 1) != 0;
}
