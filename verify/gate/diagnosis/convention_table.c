/* convention_table.c - the table of conventions that kernels are known to mix up, and how a case is changed by one. */
#include "verify/gate/diagnosis/convention.h"

#include <math.h>
#include <string.h>

#include "kernels/attest_float.h"

#define ROLE(r) ((attest_tensor_id){ ATTEST_KIND_ROLE, r })

static uint32_t value_of(const attest_changed *t, attest_axis axis)
{
    return attest_axis_value_of(&t->c.problem, axis);
}

/* No step of the formula goes by how far a query and a key are apart, or by where they stand. */
static int without_places(const attest_changed *t)
{
    return value_of(t, ATTEST_AXIS_ROPE) == 0 && value_of(t, ATTEST_AXIS_ALIBI) == 0 &&
           value_of(t, ATTEST_AXIS_DECAY) == 0 && value_of(t, ATTEST_AXIS_BIAS) == 0 &&
           value_of(t, ATTEST_AXIS_WINDOW) == 0 && value_of(t, ATTEST_AXIS_LENS) == 0 &&
           value_of(t, ATTEST_AXIS_LENS_Q) == 0 && value_of(t, ATTEST_AXIS_FEATURE) != ATTEST_FEATURE_COSFORMER &&
           value_of(t, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_ADD && value_of(t, ATTEST_AXIS_STATE) == 0;
}

/* ---- scale and weights ------------------------------------------------------------------------------------------- */
static int scaled(attest_changed *t, double scale)
{
    if (t->c.problem.scale == scale || !isfinite(scale))
        return 0;
    t->c.problem.scale = scale;
    return 1;
}

static int scale_one(attest_changed *t) { return scaled(t, 1); }
static int scale_per_d(attest_changed *t) { return scaled(t, 1 / (double)t->c.problem.d); }
static int scale_default(attest_changed *t) { return scaled(t, attest_default_scale(t->c.problem.d)); }
static int scale_sqrt_d(attest_changed *t) { return scaled(t, sqrt((double)t->c.problem.d)); }

/* 2^s is e^(s ln 2): the double nearest to scale ln 2 is off by less than any bound of f32 or below. */
static int base_two(attest_changed *t)
{
    if (value_of(t, ATTEST_AXIS_WEIGHT) != ATTEST_WEIGHT_EXP || t->c.problem.acc == ATTEST_F64 ||
        value_of(t, ATTEST_AXIS_ALIBI) || value_of(t, ATTEST_AXIS_BIAS) || value_of(t, ATTEST_AXIS_CAP) ||
        value_of(t, ATTEST_AXIS_CLAMP) || value_of(t, ATTEST_AXIS_FILTER) ||
        value_of(t, ATTEST_AXIS_NORM) == ATTEST_NORM_SINK)
        return 0;
    return scaled(t, t->c.problem.scale * 0.69314718055994530942);
}

static int order_by(attest_changed *t, int step)
{
    attest_setting *weight = &t->c.problem.axis[ATTEST_AXIS_WEIGHT];
    if (weight->value == ATTEST_WEIGHT_EXP || (step < 0 && weight->order == 0) ||
        (step > 0 && weight->order == ATTEST_MAX_ORDER))
        return 0;
    weight->order = step < 0 ? weight->order - 1 : weight->order + 1;
    return 1;
}

static int order_less(attest_changed *t) { return order_by(t, -1); }
static int order_more(attest_changed *t) { return order_by(t, 1); }

/* ---- which keys -------------------------------------------------------------------------------------------------- */
static int window_by(attest_changed *t, int step)
{
    attest_setting *window = &t->c.problem.axis[ATTEST_AXIS_WINDOW];
    if (window->value == ATTEST_WINDOW_NONE || (step < 0 && window->order == 1))
        return 0;
    window->order = step < 0 ? window->order - 1 : window->order + 1;
    return 1;
}

static int window_more(attest_changed *t) { return window_by(t, 1); }
static int window_less(attest_changed *t) { return window_by(t, -1); }

/* The mask's edge, off = m - n, may be moved by taking a token away. */
static int has_edge(const attest_changed *t)
{
    const attest_problem *p = &t->c.problem;
    return without_places(t) && (value_of(t, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL_BR ||
                                 (value_of(t, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL && p->n == p->m));
}

/* j < i + off is j <= i' + off of the queries i' = i - 1 and all keys but the last; query 0 is not asked. */
static int diagonal_out(attest_changed *t)
{
    if (!has_edge(t) || t->c.problem.m < 2 || t->c.problem.n < 2)
        return 0;
    t->c.problem.m--;
    t->c.problem.n--;
    t->skipped_queries = 1;
    return 1;
}

/* j <= i + off + 1: of n - 1 queries; the last one, which sees all keys all the same, is not asked. */
static int one_too_many(attest_changed *t)
{
    if (!has_edge(t) || t->c.problem.n < 2)
        return 0;
    t->c.problem.axis[ATTEST_AXIS_MASK].value = ATTEST_MASK_CAUSAL_BR;
    t->c.problem.n--;
    return 1;
}

/* Under a mask with an edge query 0, which may have seen that key alone, is not asked. */
static int first_key_out(attest_changed *t)
{
    const int full = value_of(t, ATTEST_AXIS_MASK) == ATTEST_MASK_FULL;
    if (t->c.problem.m < 2 || (full ? !without_places(t) : !has_edge(t) || t->c.problem.n < 2))
        return 0;
    t->c.problem.m--;
    t->c.problem.n -= !full;
    t->skipped_keys = 1;
    t->skipped_queries = !full;
    return 1;
}

static int last_key_out(attest_changed *t)
{
    if (!without_places(t) || t->c.problem.m < 2 || value_of(t, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL_BR)
        return 0;
    t->c.problem.m--;
    return 1;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */
static int weights_as(attest_changed *t, uint32_t dtype)
{
    if (t->c.problem.p != ATTEST_F32 && t->c.problem.p != ATTEST_F64)
        return 0;
    t->c.problem.p = dtype;
    return 1;
}

static int weights_bf16(attest_changed *t) { return weights_as(t, ATTEST_BF16); }
static int weights_f16(attest_changed *t) { return weights_as(t, ATTEST_F16); }

/* ---- heads, tensors, layouts ------------------------------------------------------------------------------------- */
/* A KV head a query head, each a copy of the one that it would read. */
static int own_heads(attest_changed *t, int heads)
{
    attest_problem *p = &t->c.problem;
    if (p->hkv == 1 || (heads == ATTEST_HEADS_IN_TURN && p->hkv == p->hq) || value_of(t, ATTEST_AXIS_STATE) ||
        value_of(t, ATTEST_AXIS_GATES) == ATTEST_GATES_HEADS)
        return 0;
    p->hkv = p->hq;
    t->heads = heads;
    return 1;
}

static int heads_in_turn(attest_changed *t) { return own_heads(t, ATTEST_HEADS_IN_TURN); }
static int heads_first(attest_changed *t) { return own_heads(t, ATTEST_HEADS_FIRST); }

static attest_status swap(attest_changed *t, attest_role a, attest_role b, attest_error *err)
{
    attest_tensor *x = attest_bundle_role(t->in, a), *y = attest_bundle_role(t->in, b);
    const size_t bytes = attest_tensor_bytes(x);
    char *left = x->data, *right = y->data;
    if (attest_tensor_bytes(y) != bytes)
        return attest_fail(err, ATTEST_INTERNAL, "tensors of other sizes are swapped");
    for (size_t i = 0; i < bytes; i++) {
        const char kept = left[i];
        left[i] = right[i];
        right[i] = kept;
    }
    return ATTEST_OK;
}

static int as_wide(attest_changed *t) { return t->c.problem.d == t->c.problem.e; }
static int as_many(attest_changed *t)
{
    return t->c.problem.n == t->c.problem.m && t->c.problem.hq == t->c.problem.hkv &&
           attest_kv_dtype(&t->c.problem) == t->c.problem.in;
}
static attest_status swap_kv(attest_changed *t, attest_error *err) { return swap(t, ATTEST_K, ATTEST_V, err); }
static attest_status swap_qk(attest_changed *t, attest_error *err) { return swap(t, ATTEST_Q, ATTEST_K, err); }

/* What lies in the memory of this tensor, taken as [B,S,H,c] where it is [B,H,S,c]. */
static attest_status relay(attest_bundle *bundle, const attest_problem *p, attest_tensor_id id, attest_error *err)
{
    attest_tensor *t = attest_bundle_get(bundle, id), old;
    attest_status status = ATTEST_OK;
    attest_bundle *kept = NULL;
    attest_tensor *copy;
    if (!t)
        return ATTEST_OK;
    ATTEST_TRY(attest_bundle_new(&kept, err));
    ATTEST_TRY(attest_bundle_add(kept, p, id, 0, &copy, err));
    memcpy(copy->data, t->data, attest_tensor_bytes(t));
    old = *copy;
    old.stride[1] = t->shape[3];
    old.stride[2] = t->shape[1] * t->shape[3];
    for (int64_t bh = 0; bh < t->shape[0] * t->shape[1]; bh++)
        for (int64_t i = 0; i < t->shape[2]; i++)
            for (int64_t c = 0; c < t->shape[3]; c++) {
                const int64_t b = bh / t->shape[1], h = bh % t->shape[1];
                attest_store_bits(t, attest_offset(t, b, h, i, c),
                                  attest_load_bits(&old, attest_offset(&old, b, h, i, c)));
            }
out:
    attest_bundle_free(kept);
    return status;
}

static int many_heads(attest_changed *t) { return t->c.problem.hq > 1 && t->c.problem.n > 1; }

static attest_status relay_o(attest_changed *t, attest_error *err)
{
    return relay(t->out, &t->c.problem, ROLE(ATTEST_O), err);
}

static attest_status relay_all(attest_changed *t, attest_error *err)
{
    static const attest_role in[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < sizeof in / sizeof in[0]; i++)
        ATTEST_TRY(relay(t->in, &t->c.problem, ROLE(in[i]), err));
    ATTEST_TRY(relay_o(t, err));
out:
    return status;
}

/* Slopes of alibi=usual become a tensor, which `edit` fills. */
static int usual_slopes(attest_changed *t)
{
    attest_setting *alibi = &t->c.problem.axis[ATTEST_AXIS_ALIBI];
    if (alibi->value != ATTEST_ALIBI_USUAL)
        return 0;
    alibi->value = ATTEST_ALIBI_DRAW;
    t->given = ATTEST_SLOPE;
    return 1;
}

static int has_slopes(attest_changed *t)
{
    return value_of(t, ATTEST_AXIS_ALIBI) == ATTEST_ALIBI_DRAW || usual_slopes(t);
}

static int few_powers(attest_changed *t)
{
    return attest_usual_slope(&t->c.problem, 0).heads < t->c.problem.hq && usual_slopes(t);
}

/* Doubles rounded to the tensor's type: off by less than the bounds of products with them. */
static attest_status set_slopes(attest_changed *t, double (*of)(const attest_problem *p, int64_t h), attest_error *err)
{
    const attest_tensor *slope = attest_bundle_role(t->in, ATTEST_SLOPE);
    (void)err;
    for (int64_t h = 0; h < attest_tensor_count(slope); h++)
        attest_store_bits(slope, h, attest_from_f64(slope->dtype, of(&t->c.problem, h)));
    return ATTEST_OK;
}

static double usual_negative(const attest_problem *p, int64_t h) { return -attest_usual_double(p, h); }
static double all_heads(const attest_problem *p, int64_t h) { return exp2(-8 * (double)(h + 1) / (double)p->hq); }

static double one_power_less(const attest_problem *p, int64_t h)
{
    const attest_usual slope = attest_usual_slope(p, h);
    return exp2(-(double)(slope.step * (slope.power - 1)) / (double)slope.heads);
}

static double in_a_row(const attest_problem *p, int64_t h)
{
    return exp2(-4 * (double)(h + 1) / (double)attest_usual_slope(p, h).heads);
}

static attest_status negate_slopes(attest_changed *t, attest_error *err)
{
    const attest_tensor *slope = attest_bundle_role(t->in, ATTEST_SLOPE);
    if (t->given == ATTEST_SLOPE)
        return set_slopes(t, usual_negative, err);
    for (int64_t h = 0; h < attest_tensor_count(slope); h++)
        attest_store_bits(slope, h, attest_from_f64(slope->dtype, -attest_load(slope, h)));
    return ATTEST_OK;
}

static attest_status slopes_all_heads(attest_changed *t, attest_error *err) { return set_slopes(t, all_heads, err); }
static attest_status slopes_from_0(attest_changed *t, attest_error *err) { return set_slopes(t, one_power_less, err); }
static attest_status slopes_in_a_row(attest_changed *t, attest_error *err) { return set_slopes(t, in_a_row, err); }

static int many_keys(attest_changed *t) { return t->c.problem.m > 1; }

static attest_status first_value_zero(attest_changed *t, attest_error *err)
{
    const attest_tensor *v = attest_bundle_role(t->in, ATTEST_V);
    (void)err;
    for (int64_t bg = 0; bg < v->shape[0] * v->shape[1]; bg++)
        for (int64_t c = 0; c < v->shape[3]; c++)
            attest_store_bits(v, bg * v->stride[1] + c, 0);
    return ATTEST_OK;
}

/* ---- lse --------------------------------------------------------------------------------------------------------- */
static int lse_flag(attest_changed *t, uint32_t flag)
{
    if (!attest_bundle_role(t->outputs, ATTEST_LSE) ||
        (flag == ATTEST_LSE_WITH_SINK && value_of(t, ATTEST_AXIS_NORM) != ATTEST_NORM_SINK))
        return 0;
    t->flags ^= flag;
    return 1;
}

static int lse_other_base(attest_changed *t) { return lse_flag(t, ATTEST_LSE_BASE2); }
static int lse_other_sink(attest_changed *t) { return lse_flag(t, ATTEST_LSE_WITH_SINK); }

/* ---- the table --------------------------------------------------------------------------------------------------- */
// clang-format off
#define SETTING(text) { .setting = text }
#define CHANGE(text, function) { .name = text, .change = function }
#define TENSORS(text, applies, function) { .name = text, .change = applies, .edit = function }
#define DECLARE(words, why) { .declare = words, .reasons = why }
#define LOOSE(words, why) { .declare = words, .reasons = why, .arithmetic = 1 }
#define BOUND ATTEST_REASON_BOUND
#define NANS (ATTEST_REASON_NAN_PATTERN | ATTEST_REASON_POISON)

const attest_convention attest_convention_table[] = {
    SETTING("mask=full"),
    SETTING("mask=causal"),
    SETTING("mask=causal-br"),
    CHANGE("the causal diagonal left out", diagonal_out),
    CHANGE("one key too many under the causal mask", one_too_many),
    SETTING("window=none"),
    CHANGE("window W+1", window_more),
    CHANGE("window W-1", window_less),
    SETTING("lens=none"),
    CHANGE("the first key left out", first_key_out),
    CHANGE("the last key left out", last_key_out),
    CHANGE("scale=1", scale_one),
    CHANGE("scale=1/d", scale_per_d),
    CHANGE("scale=1/sqrt(d)", scale_default),
    CHANGE("scale=sqrt(d)", scale_sqrt_d),
    CHANGE("weights 2^s", base_two),
    CHANGE("a polynomial of one order less", order_less),
    CHANGE("a polynomial of one order more", order_more),
    SETTING("cap=none"),
    SETTING("clamp=none"),
    SETTING("filter=none"),
    SETTING("alibi=none"),
    SETTING("alibi=usual"),
    TENSORS("alibi with the other sign", has_slopes, negate_slopes),
    TENSORS("alibi slopes 2^(-8(h+1)/Hq), Hq not a power of two", few_powers, slopes_all_heads),
    TENSORS("alibi slopes of h in place of h+1", usual_slopes, slopes_from_0),
    TENSORS("alibi slopes 2^(-4(h+1)/P), not in turn", few_powers, slopes_in_a_row),
    SETTING("bias=none"),
    SETTING("rope=none"),
    SETTING("feature=identity"),
    SETTING("center=zero"),
    SETTING("decay=none"),
    SETTING("decay_input=log"),
    SETTING("decay_input=factor"),
    SETTING("state=none"),
    SETTING("update=delta"),
    SETTING("gates=none"),
    SETTING("gates=in"),
    SETTING("gates=out"),
    SETTING("gates=pre-out"),
    SETTING("affine=none"),
    SETTING("norm=sum"),
    SETTING("norm=none"),
    SETTING("norm=length"),
    SETTING("eps=0"),
    SETTING("eps=1e-12"),
    SETTING("eps=1e-8"),
    SETTING("eps=1e-6"),
    SETTING("eps=1e-5"),
    CHANGE("query head h reading KV head h % hkv", heads_in_turn),
    CHANGE("every query head reading KV head 0", heads_first),
    TENSORS("k and v swapped", as_wide, swap_kv),
    TENSORS("q and k swapped", as_many, swap_qk),
    TENSORS("o as [B,N,Hq,e] in place of [B,Hq,N,e]", many_heads, relay_o),
    TENSORS("q, k, v and o as [B,N,H,d] in place of [B,H,N,d]", many_heads, relay_all),
    TENSORS("the value of the first token taken as 0", many_keys, first_value_zero),
    CHANGE("lse in the other base (2 or e: flag lse-base2)", lse_other_base),
    CHANGE("lse with or without the sink (flag lse-with-sink)", lse_other_sink),
    DECLARE("flags=masked-finite", NANS),
    DECLARE("empty_row=nan", BOUND | ATTEST_REASON_NAN_PATTERN),
    { .declare = "empty_row=any", .reasons = BOUND | ATTEST_REASON_NAN_PATTERN | ATTEST_REASON_LSE, .partial = 1 },
    DECLARE("flags=ftz", BOUND | ATTEST_REASON_LSE | ATTEST_REASON_STATE),
    { .name = "weights cast to bf16 (p=bf16)", .change = weights_bf16, .arithmetic = 1 },
    { .name = "weights cast to f16 (p=f16)", .change = weights_f16, .arithmetic = 1 },
    LOOSE("score_dtype=bf16", BOUND),
    LOOSE("score_dtype=f16", BOUND),
    LOOSE("state_dtype=bf16", BOUND | ATTEST_REASON_STATE),
    LOOSE("state_dtype=f16", BOUND | ATTEST_REASON_STATE),
    LOOSE("acc_unit=2^-11", BOUND | ATTEST_REASON_STATE),
};
// clang-format on
const size_t attest_convention_count = sizeof attest_convention_table / sizeof attest_convention_table[0];

const char *attest_convention_name(const attest_convention *row)
{
    return row->name ? row->name : row->setting ? row->setting : row->declare;
}
