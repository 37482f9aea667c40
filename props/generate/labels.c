/* labels.c - see labels.h: each label is what a line must be for it, and what the case must be besides. */
#include "props/generate/labels.h"

#include "props/generate/generate_draw.h"

#include "kernels/attest_float.h"

#include <math.h>
#include <string.h>

/* ---- what lines are --------------------------------------------------------------------------------------------- */

static uint32_t axis(const attest_case *c, attest_axis which) { return c->problem.axis[which].value; }

static int order_is(const attest_case *c, uint32_t low, uint32_t high)
{
    const uint32_t order = c->problem.axis[ATTEST_AXIS_WEIGHT].order;
    return axis(c, ATTEST_AXIS_WEIGHT) != ATTEST_WEIGHT_EXP && order >= low && order <= high;
}

static int has_scores(const attest_case *c) { return axis(c, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_ADD; }

/* Weights of an odd order; those of an even one are never below 0 (T_P has no real root). */
static int odd_weights(const attest_case *c)
{
    const attest_setting *weight = &c->problem.axis[ATTEST_AXIS_WEIGHT];
    return has_scores(c) && weight->value != ATTEST_WEIGHT_EXP && weight->order % 2 == 1;
}

/* Scores, counted from their center, may be below 0; of all features but elu1 they may be 0. */
static int signed_scores(const attest_case *c)
{
    const uint32_t feature = axis(c, ATTEST_AXIS_FEATURE);
    return axis(c, ATTEST_AXIS_CENTER) != ATTEST_CENTER_ZERO || c->problem.scale < 0 ||
           axis(c, ATTEST_AXIS_CLAMP) != ATTEST_CLAMP_NONE || axis(c, ATTEST_AXIS_ALIBI) != ATTEST_ALIBI_NONE ||
           axis(c, ATTEST_AXIS_BIAS) != ATTEST_BIAS_NONE ||
           (feature != ATTEST_FEATURE_ELU1 && feature != ATTEST_FEATURE_RELU && feature != ATTEST_FEATURE_COSFORMER);
}

static int divides_by_z(const attest_case *c) { return axis(c, ATTEST_AXIS_NORM) <= ATTEST_NORM_FLOOR; }

static int may_vanish(const attest_case *c)
{
    return odd_weights(c) && divides_by_z(c) &&
           (signed_scores(c) || axis(c, ATTEST_AXIS_FEATURE) != ATTEST_FEATURE_ELU1);
}

static int position_free(const attest_case *c)
{
    return has_scores(c) && axis(c, ATTEST_AXIS_ROPE) == ATTEST_ROPE_NONE &&
           axis(c, ATTEST_AXIS_ALIBI) == ATTEST_ALIBI_NONE && axis(c, ATTEST_AXIS_BIAS) == ATTEST_BIAS_NONE &&
           axis(c, ATTEST_AXIS_ATTN_MASK) == ATTEST_ATTN_MASK_NONE &&
           axis(c, ATTEST_AXIS_DECAY) != ATTEST_DECAY_VECTOR &&
           axis(c, ATTEST_AXIS_FEATURE) != ATTEST_FEATURE_COSFORMER;
}

/* The first or the last row may see no key. */
static int may_be_empty(const attest_case *c)
{
    const attest_problem *p = &c->problem;
    const int64_t rows[2] = { 0, p->n - 1 };
    for (int k = 0; k < 2; k++) {
        int64_t first, last;
        attest_visible(p, (attest_lengths){ p->m, p->n }, rows[k], &first, &last);
        if (first >= last)
            return 1;
    }
    return axis(c, ATTEST_AXIS_LENS) != ATTEST_LENS_NONE || axis(c, ATTEST_AXIS_ATTN_MASK) != ATTEST_ATTN_MASK_NONE ||
           (axis(c, ATTEST_AXIS_LENS_Q) && axis(c, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL_BR);
}

/* `size` modulo `part` in one of the classes 0, 1, part-1, between; part >= 4 keeps them apart. */
static int rest_is(int64_t size, int64_t part, int class)
{
    const int64_t rest = part > 0 ? size % part : 0;
    const int is = rest == 0 ? 0 : rest == 1 ? 1 : rest == part - 1 ? 2 : 3;
    return part >= 4 && is == class;
}

static int family_is(const attest_case *c, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(c->family, name, length) == 0 && (c->family[length] == '\0' || c->family[length] == ':');
}

/* ---- what tensors are ------------------------------------------------------------------------------------------- */

static const char *row_of(const attest_tensor *t, int64_t row)
{
    return (const char *)t->data + (size_t)(row * t->shape[3]) * attest_dtype_bytes(t->dtype);
}

static int is_zero_row(const attest_tensor *t, int64_t row)
{
    for (int64_t k = 0; k < t->shape[3]; k++)
        if (attest_load(t, row * t->shape[3] + k) != 0)
            return 0;
    return 1;
}

/* Two equal keys from `first` to `last` of a head whose first key is row `base` of k. */
static int equal_keys(const attest_tensor *k, int64_t base, int64_t first, int64_t last)
{
    const size_t bytes = (size_t)k->shape[3] * attest_dtype_bytes(k->dtype);
    for (int64_t j = first; j < last; j++)
        for (int64_t other = first; other < j; other++)
            if (memcmp(row_of(k, base + j), row_of(k, base + other), bytes) == 0)
                return 1;
    return 0;
}

/* A row that sees two keys of one score: q = 0, or the keys are equal. */
static int has_ties(const attest_case *c, const attest_bundle *inputs)
{
    const attest_problem *p = &c->problem;
    const attest_tensor *q = attest_bundle_role(inputs, ATTEST_Q), *k = attest_bundle_role(inputs, ATTEST_K);
    if (axis(c, ATTEST_AXIS_ATTN_MASK)) /* which keys a row sees is not looked up */
        return 0;
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t i = p->n - 1; i >= 0; i--) { /* the last rows see most */
            int64_t first, last;
            attest_visible(p, attest_bundle_lengths(p, inputs, b), i, &first, &last);
            for (int64_t h = 0; last - first > 1 && h < p->hq; h++)
                if (is_zero_row(q, (b * p->hq + h) * p->n + i) ||
                    equal_keys(k, (b * p->hkv + attest_kv_head(p, h)) * p->m, first, last))
                    return 1;
        }
    return 0;
}

static double weight_at(const attest_setting *weight, double s)
{
    double w = 1;
    for (uint32_t n = weight->order; n > 0; n--)
        w = weight->value == ATTEST_WEIGHT_TAYLOR ? 1 + w * s / n
            : weight->value == ATTEST_WEIGHT_TERM ? w * s / n
                                                  : w * s;
    return w;
}

/* |z| <= 2^-10 sum |w| in a row, in double; plain scores only. */
static int near_zero(const attest_case *c, const attest_bundle *inputs)
{
    const attest_problem *p = &c->problem;
    const attest_tensor *q = attest_bundle_role(inputs, ATTEST_Q), *k = attest_bundle_role(inputs, ATTEST_K);
    static const attest_axis plain[] = { ATTEST_AXIS_CENTER, ATTEST_AXIS_FILTER,   ATTEST_AXIS_FEATURE,
                                         ATTEST_AXIS_ROPE,   ATTEST_AXIS_DECAY,    ATTEST_AXIS_CLAMP,
                                         ATTEST_AXIS_CAP,    ATTEST_AXIS_ALIBI,    ATTEST_AXIS_STATE,
                                         ATTEST_AXIS_BIAS,   ATTEST_AXIS_ATTN_MASK };
    for (size_t a = 0; a < sizeof plain / sizeof plain[0]; a++)
        if (axis(c, plain[a]) != 0)
            return 0;
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++) {
        const int64_t b = row / (p->hq * p->n), g = attest_kv_head(p, row / p->n % p->hq);
        int64_t first, last;
        double z = 0, size = 0;
        attest_visible(p, attest_bundle_lengths(p, inputs, b), row % p->n, &first, &last);
        for (int64_t j = first; j < last; j++) {
            double s = 0;
            for (int64_t x = 0; x < p->d; x++)
                s += attest_load(q, row * p->d + x) * attest_load(k, ((b * p->hkv + g) * p->m + j) * p->d + x);
            const double w = weight_at(&p->axis[ATTEST_AXIS_WEIGHT], s * p->scale);
            z += w;
            size += fabs(w);
        }
        if (size > 0 && fabs(z) <= 0x1p-10 * size)
            return 1;
    }
    return 0;
}

/* A weight e^(s - largest s) below the normal numbers of the type p. */
static int weights_vanish(const attest_case *c, const attest_case_facts *facts)
{
    return facts->range > 0.69314718055994531 * -attest_format_of(c->problem.p).emin;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* LABEL(id, name, floor, line, case, meaning): `line` of c and k, `case` besides of inputs and facts too. */
#define P (c->problem)
#define TILE (k->numerics.tile)
#define ORDER(LABEL, n, floor) LABEL(order_##n, "order " #n, floor, order_is(c, n, n), 1, "weights of order " #n)
#define DECADE(LABEL, id, low, high, floor)                                                                            \
    LABEL(range_##id, "range " #low "-" #high, floor, has_scores(c), facts->range >= low && facts->range < high,       \
          "the largest range of scores of a row")
#define FAMILY_OF(LABEL, id, name, floor, weights) /* drawn as `normal` beside other weights */                        \
    LABEL(family_##id, "family " name, floor, family_is(c, name) && (weights), 1, "how q, k, v are drawn")
#define FAMILY(LABEL, id, name, floor) FAMILY_OF(LABEL, id, name, floor, 1)
#define WEIGHT (P.axis[ATTEST_AXIS_WEIGHT].value)
#define TYPE(LABEL, id, which, type, floor)                                                                            \
    LABEL(which##_##id, #which "=" #id, floor, P.which == type, 1, "the type of " #which)
#define AXIS(LABEL, id, which, floor)                                                                                  \
    LABEL(axis_##id, #id, floor, axis(c, ATTEST_AXIS_##which) != 0, 1, "axis " #id " is set")

// clang-format off
#define LABELS(LABEL)                                                                                                  \
    LABEL(negative, "denominator negative", 20, odd_weights(c) && divides_by_z(c) && signed_scores(c),                 \
          facts->negative_sum > 0,                                                                                     \
          "z of a row is below 0")                                                                                     \
    LABEL(near_zero, "denominator near zero", 12, may_vanish(c), facts->vanishing > 0 || near_zero(c, inputs),         \
          "|z| of a row is at most 2^-10 of the sum of |w|, or may be 0")                                              \
    LABEL(minus, "negative weight", 100, odd_weights(c) && signed_scores(c),                                           \
          facts->negative_weight > 0, "a weight is below 0")                                                           \
    LABEL(ties, "ties", 150, position_free(c) && P.m > 1, has_ties(c, inputs),                                         \
          "two visible keys have one score: they are equal, or q = 0")                                                 \
    LABEL(empty, "empty row", 60, may_be_empty(c), facts->empty > 0,                                                   \
          "a row sees no key")                                                                                         \
    LABEL(subnormal, "subnormal weight", 15, axis(c, ATTEST_AXIS_WEIGHT) == 0 && has_scores(c),                        \
          weights_vanish(c, facts), "a softmax weight is below the normal numbers of the type p")                      \
    LABEL(tile_below, "tile: below", 40, TILE > 1, P.m < TILE, "fewer keys than a tile")                               \
    LABEL(tile_whole, "tile: rest 0", 10, rest_is(P.m, TILE, 0), 1, "keys are whole tiles")                            \
    LABEL(tile_over, "tile: rest 1", 15, rest_is(P.m, TILE, 1), 1, "one key beyond whole tiles")                       \
    LABEL(tile_short, "tile: rest -1", 8, rest_is(P.m, TILE, 2), 1, "one key less than whole tiles")                   \
    LABEL(tile_other, "tile: rest other", 40, rest_is(P.m, TILE, 3), 1, "another rest of keys in the last tile")       \
    LABEL(chunk_whole, "chunk: rest 0", 5, k->form == ATTEST_CHUNK && rest_is(P.n, P.chunk, 0), 1, "whole chunks")     \
    LABEL(chunk_over, "chunk: rest 1", 5, k->form == ATTEST_CHUNK && rest_is(P.n, P.chunk, 1), 1,                      \
          "one token beyond whole chunks")                                                                             \
    LABEL(chunk_short, "chunk: rest -1", 5, k->form == ATTEST_CHUNK && rest_is(P.n, P.chunk, 2), 1,                    \
          "one token less than whole chunks")                                                                          \
    LABEL(chunk_other, "chunk: rest other", 15, k->form == ATTEST_CHUNK && rest_is(P.n, P.chunk, 3), 1,                \
          "another rest of tokens in the last chunk")                                                                  \
    LABEL(chunk_one, "chunk: 1", 3, k->form == ATTEST_CHUNK && P.chunk == 1, 1, "chunks of one token")                 \
    LABEL(split_whole, "splits: even", 10, k->form == ATTEST_SPLIT && P.splits > 1 && P.m % P.splits == 0, 1,          \
          "parts of equal length")                                                                                     \
    LABEL(split_rest, "splits: rest", 20, k->form == ATTEST_SPLIT && P.splits < P.m && P.m % P.splits != 0, 1,         \
          "parts that differ in length")                                                                               \
    LABEL(split_more, "splits: empty", 8, k->form == ATTEST_SPLIT && P.splits > P.m, 1, "more parts than keys")        \
    ORDER(LABEL, 0, 5) ORDER(LABEL, 1, 200) ORDER(LABEL, 2, 30) ORDER(LABEL, 3, 8) ORDER(LABEL, 4, 8)                  \
    ORDER(LABEL, 5, 5) ORDER(LABEL, 6, 5) ORDER(LABEL, 7, 5) ORDER(LABEL, 8, 5)                                        \
    LABEL(order_high, "order 9 and more", 3, order_is(c, 9, ATTEST_MAX_ORDER), 1, "weights of a high order")           \
    LABEL(range_tiny, "range below 0.01", 0, has_scores(c), facts->range < 0.01, "scores that hardly differ")          \
    DECADE(LABEL, 1, 0.01, 0.1, 20) DECADE(LABEL, 2, 0.1, 1, 60) DECADE(LABEL, 3, 1, 10, 150)                          \
    DECADE(LABEL, 4, 10, 100, 60) DECADE(LABEL, 5, 100, 1000, 30)                                                      \
    LABEL(range_huge, "range from 1000", 0, has_scores(c), facts->range >= 1000, "the largest range of scores")        \
    LABEL(mask_full, "mask=full", 150, axis(c, ATTEST_AXIS_MASK) == ATTEST_MASK_FULL, 1, "every key")                  \
    LABEL(mask_causal, "mask=causal", 200, axis(c, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL, 1, "j <= i")               \
    LABEL(mask_br, "mask=causal-br", 100, axis(c, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL_BR, 1, "aligned at the end") \
    AXIS(LABEL, window, WINDOW, 50) AXIS(LABEL, lens, LENS, 60) AXIS(LABEL, decay, DECAY, 100)                         \
    AXIS(LABEL, gates, GATES, 100) AXIS(LABEL, feature, FEATURE, 100) AXIS(LABEL, rope, ROPE, 50)                      \
    AXIS(LABEL, state, STATE, 40) AXIS(LABEL, update, UPDATE, 100) AXIS(LABEL, center, CENTER, 5)                      \
    AXIS(LABEL, filter, FILTER, 20) AXIS(LABEL, affine, AFFINE, 20) AXIS(LABEL, eps, EPS, 20)                          \
    AXIS(LABEL, clamp, CLAMP, 30) AXIS(LABEL, cap, CAP, 20) AXIS(LABEL, alibi, ALIBI, 30)                              \
    AXIS(LABEL, attn_mask, ATTN_MASK, 20)                                                                              \
    AXIS(LABEL, bias, BIAS, 20)                                                                                        \
    LABEL(gqa, "GQA", 100, P.hq > P.hkv, 1, "query heads share a KV head")                                             \
    LABEL(heads, "KV heads", 80, P.hkv > 1, 1, "more than one KV head")                                                \
    LABEL(batch, "batch", 100, P.b > 1, 1, "more than one batch entry")                                                \
    LABEL(fewer, "N<M", 100, P.n < P.m, 1, "fewer queries than keys")                                                  \
    LABEL(more, "N>M", 60, P.n > P.m, 1, "more queries than keys")                                                     \
    LABEL(one_query, "N=1", 30, P.n == 1, 1, "a single query")                                                         \
    LABEL(one_key, "M=1", 30, P.m == 1, 1, "a single key")                                                             \
    LABEL(d_one, "d=1", 60, P.d == 1, 1, "scores are products of two numbers")                                         \
    LABEL(d_wide, "d>8", 30, P.d > 8, 1, "wide keys")                                                                  \
    LABEL(e_other, "e!=d", 150, P.e != P.d, 1, "values of another width than keys")                                    \
    LABEL(scale_two, "scale=2^x", 100, frexp(fabs(P.scale), &(int){ 0 }) == 0.5, 1, "scaling is exact")                \
    LABEL(scale_minus, "scale<0", 10, P.scale < 0, 1, "scores of the other sign")                                      \
    TYPE(LABEL, f32, in, ATTEST_F32, 300) TYPE(LABEL, f64, in, ATTEST_F64, 30) TYPE(LABEL, f16, in, ATTEST_F16, 50)    \
    TYPE(LABEL, bf16, in, ATTEST_BF16, 150) TYPE(LABEL, bf16, p, ATTEST_BF16, 60) TYPE(LABEL, f16, p, ATTEST_F16, 0)   \
    LABEL(out_other, "out!=in", 60, P.out != P.in, 1, "o is of another type than q, k and v")                          \
    FAMILY(LABEL, normal, "normal", 150) FAMILY(LABEL, uniform, "uniform", 15) FAMILY(LABEL, flat, "flat", 15)         \
    FAMILY(LABEL, ones, "ones", 8) FAMILY(LABEL, ramp_up, "ramp-up", 10) FAMILY(LABEL, negative, "negative", 10)       \
    FAMILY(LABEL, huge, "huge", 15) FAMILY(LABEL, range, "range", 60) FAMILY(LABEL, dyadic, "dyadic", 40)              \
    FAMILY(LABEL, peaked, "peaked", 15) FAMILY(LABEL, ramp_down, "ramp-down", 10) FAMILY(LABEL, cancel, "cancel", 10)  \
    FAMILY(LABEL, onehot, "onehot", 10) FAMILY(LABEL, repeat, "repeat-max", 15)                                        \
    FAMILY(LABEL, subnormal, "subnormal", 15)                                                                          \
    FAMILY_OF(LABEL, denominator, "near-zero-denominator", 15, odd_weights(c))                                         \
    FAMILY(LABEL, cast_edge, "cast-edge", 10) FAMILY(LABEL, positive, "positive", 10)                                  \
    FAMILY(LABEL, integers, "integers", 15) FAMILY(LABEL, stairs, "stairs", 10)                                        \
    FAMILY(LABEL, half_peak, "half-peak", 10) FAMILY(LABEL, large_products, "large-products", 10)                      \
    FAMILY_OF(LABEL, taylor_roots, "taylor-roots", 10, WEIGHT == ATTEST_WEIGHT_TAYLOR)                                 \
    FAMILY_OF(LABEL, p_underflow, "p-underflow", 10, WEIGHT == ATTEST_WEIGHT_EXP)                                      \
    FAMILY(LABEL, zero_keys, "zero-keys", 10) FAMILY(LABEL, edges, "edges", 15) FAMILY(LABEL, offset, "offset", 10)
// clang-format on

#define DEFINE(id, name, floor, line, besides, meaning)                                                                \
    static int label_can_##id(const attest_case *c, const attest_prop_kernel *k)                                       \
    {                                                                                                                  \
        (void)c, (void)k;                                                                                              \
        return line;                                                                                                   \
    }                                                                                                                  \
    static int label_has_##id(const attest_case *c, const attest_prop_kernel *k, const attest_bundle *inputs,          \
                              const attest_case_facts *facts)                                                          \
    {                                                                                                                  \
        (void)inputs, (void)facts;                                                                                     \
        return label_can_##id(c, k) && (besides);                                                                      \
    }
LABELS(DEFINE)

#define ROW(id, name, floor, line, besides, meaning) { name, meaning, floor, label_has_##id, label_can_##id },
const attest_label attest_labels[] = { LABELS(ROW) };
const size_t attest_label_count = sizeof attest_labels / sizeof attest_labels[0];

/* ---- floors ----------------------------------------------------------------------------------------------------- */

int64_t attest_label_floor(const attest_label *label, int64_t cases)
{
    const int64_t floor = label->floor * cases / 2000;
    return label->floor == 0 ? 0 : floor > 1 ? floor : 1;
}

enum { LINES_MOST = 4000 }; /* drawn to ask about those that fit */

int attest_label_possible(const attest_label *label, uint64_t seed, const attest_prop_kernel *kernel,
                          const attest_prop_host *host)
{
    int asked = 0;
    for (uint32_t number = 0; number < LINES_MOST && asked < ATTEST_GENERATE_TRIES; number++) {
        attest_case c;
        if (!attest_draw_line(&c, seed, number, number % 64, kernel) || (label->can && !label->can(&c, kernel)))
            continue;
        asked++;
        if (host->supports(host->context, &c.problem))
            return 1;
    }
    return 0;
}
