/* witness.c - the witness engine: which variants it serves, and its own reading of the problem.
 *
 * Masks, head map, feature maps, decays and gates are written in these files a second time, from the formulas of
 * derivations.md, section 0, on purpose: the witness exists to disagree with the other engines when either has them
 * wrong.
 */
#include "reference/witness/witness.h"

#include <stddef.h>
#include <stdlib.h>

#define BIT(value) (1u << (value))

/* Per axis the values served, as bits of the axis's enum; features: wit_features(). */
static const uint32_t served[ATTEST_AXIS_COUNT] = {
    [ATTEST_AXIS_WEIGHT] = BIT(ATTEST_WEIGHT_EXP) | BIT(ATTEST_WEIGHT_TAYLOR) | BIT(ATTEST_WEIGHT_TERM) |
                           BIT(ATTEST_WEIGHT_POWER),
    [ATTEST_AXIS_CENTER] = BIT(ATTEST_CENTER_ZERO) | BIT(ATTEST_CENTER_MAX) | BIT(ATTEST_CENTER_MIN) |
                           BIT(ATTEST_CENTER_MID),
    [ATTEST_AXIS_FILTER] = BIT(ATTEST_FILTER_NONE) | BIT(ATTEST_FILTER_TAU),
    [ATTEST_AXIS_ROPE] = BIT(ATTEST_ROPE_NONE) | BIT(ATTEST_ROPE_BASE),
    [ATTEST_AXIS_MASK] = BIT(ATTEST_MASK_FULL) | BIT(ATTEST_MASK_CAUSAL) | BIT(ATTEST_MASK_CAUSAL_BR),
    [ATTEST_AXIS_WINDOW] = BIT(ATTEST_WINDOW_NONE) | BIT(ATTEST_WINDOW_W),
    [ATTEST_AXIS_LENS] = BIT(ATTEST_LENS_NONE) | BIT(ATTEST_LENS_DRAW),
    [ATTEST_AXIS_LENS_Q] = BIT(ATTEST_LENS_Q_NONE) | BIT(ATTEST_LENS_Q_DRAW) | BIT(ATTEST_LENS_Q_LEN),
    [ATTEST_AXIS_PACKED] = BIT(ATTEST_PACKED_OFF) | BIT(ATTEST_PACKED_ON),
    [ATTEST_AXIS_DECAY] = BIT(ATTEST_DECAY_NONE) | BIT(ATTEST_DECAY_RETNET) | BIT(ATTEST_DECAY_SCALAR) |
                          BIT(ATTEST_DECAY_VECTOR),
    [ATTEST_AXIS_GATES] = BIT(ATTEST_GATES_NONE) | BIT(ATTEST_GATES_IN) | BIT(ATTEST_GATES_OUT) |
                          BIT(ATTEST_GATES_INOUT) | BIT(ATTEST_GATES_PRE_OUT) | BIT(ATTEST_GATES_HEADS),
    [ATTEST_AXIS_NORM] = BIT(ATTEST_NORM_SUM) | BIT(ATTEST_NORM_SINK) | BIT(ATTEST_NORM_FLOOR) | BIT(ATTEST_NORM_NONE) |
                         BIT(ATTEST_NORM_LENGTH) | BIT(ATTEST_NORM_L2) | BIT(ATTEST_NORM_RMS) |
                         BIT(ATTEST_NORM_LAYERNORM) | BIT(ATTEST_NORM_LENGTH_L2) | BIT(ATTEST_NORM_LENGTH_RMS) |
                         BIT(ATTEST_NORM_LENGTH_LAYERNORM),
    [ATTEST_AXIS_AFFINE] = BIT(ATTEST_AFFINE_NONE) | BIT(ATTEST_AFFINE_DRAW),
    [ATTEST_AXIS_UPDATE] = BIT(ATTEST_UPDATE_ADD) | BIT(ATTEST_UPDATE_DELTA) | BIT(ATTEST_UPDATE_EFLA),
    [ATTEST_AXIS_EPS] = BIT(ATTEST_EPS_ZERO) | BIT(ATTEST_EPS_SET),
    [ATTEST_AXIS_CLAMP] = BIT(ATTEST_CLAMP_NONE) | BIT(ATTEST_CLAMP_SET),
    [ATTEST_AXIS_CAP] = BIT(ATTEST_CAP_NONE) | BIT(ATTEST_CAP_SET),
    [ATTEST_AXIS_ALIBI] = BIT(ATTEST_ALIBI_NONE) | BIT(ATTEST_ALIBI_DRAW) | BIT(ATTEST_ALIBI_USUAL),
    [ATTEST_AXIS_STATE] = BIT(ATTEST_STATE_NONE) | BIT(ATTEST_STATE_DRAW),
    [ATTEST_AXIS_ATTN_MASK] = BIT(ATTEST_ATTN_MASK_NONE) | BIT(ATTEST_ATTN_MASK_FULL) | BIT(ATTEST_ATTN_MASK_HEAD) |
                              BIT(ATTEST_ATTN_MASK_BATCH) | BIT(ATTEST_ATTN_MASK_SHARED),
    [ATTEST_AXIS_BIAS] = BIT(ATTEST_BIAS_NONE) | BIT(ATTEST_BIAS_FULL) | BIT(ATTEST_BIAS_HEAD) |
                         BIT(ATTEST_BIAS_BATCH) | BIT(ATTEST_BIAS_SHARED),
    [ATTEST_AXIS_PAGES] = BIT(ATTEST_PAGES_NONE) | BIT(ATTEST_PAGES_T),
    [ATTEST_AXIS_KV] = BIT(ATTEST_KV_IN) | BIT(ATTEST_KV_F16) | BIT(ATTEST_KV_BF16) | BIT(ATTEST_KV_E4M3) |
                       BIT(ATTEST_KV_E5M2),
    [ATTEST_AXIS_DROPOUT] = BIT(ATTEST_DROPOUT_NONE) | BIT(ATTEST_DROPOUT_R),
    [ATTEST_AXIS_DECAY_INPUT] = BIT(ATTEST_DECAY_INPUT_FACTOR) | BIT(ATTEST_DECAY_INPUT_LOG),
};

int ref_witness_serves(const attest_problem *p, char *why, size_t len)
{
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++) {
        const uint32_t value = p->axis[axis].value;
        const uint32_t values = axis == ATTEST_AXIS_FEATURE ? wit_features() : served[axis];
        if (value >= 32 || !(values >> value & 1u)) {
            char text[64] = "?";
            attest_axis_print(text, sizeof text, axis, &p->axis[axis]);
            if (len)
                snprintf(why, len, "the witness does not serve %s=%s", attest_axes[axis].key, text);
            return 0;
        }
    }
    if (len)
        why[0] = '\0';
    return 1;
}

double wit_bias(const wit_case *w, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const uint32_t value = w->p->axis[ATTEST_AXIS_BIAS].value;
    const int batches = value == ATTEST_BIAS_FULL || value == ATTEST_BIAS_BATCH;
    const int heads = value == ATTEST_BIAS_FULL || value == ATTEST_BIAS_HEAD;
    return w->bias ? attest_load(w->bias, attest_offset(w->bias, batches ? b : 0, heads ? h : 0, i, j)) : 0;
}

int wit_shows(const wit_case *w, int64_t b, int64_t h, int64_t i, int64_t j)
{
    if (!w->mask)
        return 1;
    const uint32_t value = w->p->axis[ATTEST_AXIS_ATTN_MASK].value;
    const int64_t batch = value == ATTEST_ATTN_MASK_FULL || value == ATTEST_ATTN_MASK_BATCH ? b : 0;
    const int64_t head = value == ATTEST_ATTN_MASK_FULL || value == ATTEST_ATTN_MASK_HEAD ? h : 0;
    return attest_load_int(w->mask, attest_offset(w->mask, batch, head, i, j)) != 0;
}

int64_t wit_head(const attest_problem *p, int64_t h)
{
    return h / (p->hq / p->hkv); /* hkv groups of hq/hkv neighbouring query heads = floor(h hkv / hq) */
}

int64_t wit_back(const wit_case *w, int64_t i, int64_t j)
{
    const uint32_t mask = w->p->axis[ATTEST_AXIS_MASK].value;
    const int64_t offset = mask == ATTEST_MASK_CAUSAL_BR ? w->len - w->len_q : 0;
    return i + offset - j;
}

int wit_sees(const wit_case *w, int64_t i, int64_t j)
{
    const attest_problem *p = w->p;
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const int64_t back = wit_back(w, i, j);
    if (j < 0 || j >= w->len || i >= w->len_q)
        return 0;
    if (mask != ATTEST_MASK_FULL && back < 0)
        return 0;
    if (p->axis[ATTEST_AXIS_WINDOW].value != ATTEST_WINDOW_NONE) {
        const int64_t width = (int64_t)p->axis[ATTEST_AXIS_WINDOW].order;
        return (back < 0 ? -back : back) < width;
    }
    return 1;
}

int64_t wit_last(const wit_case *w, int64_t i)
{
    int64_t last = -1;
    for (int64_t j = 0; j < w->p->m; j++)
        if (wit_sees(w, i, j))
            last = j;
    return last;
}

static attest_status need(const attest_tensor **t, const attest_bundle *in, attest_tensor_id id, attest_error *err)
{
    *t = attest_bundle_get(in, id);
    if (*t)
        return ATTEST_OK;
    char name[32];
    attest_tensor_id_print(name, sizeof name, id);
    return attest_fail(err, ATTEST_BAD_INPUT, "the witness needs tensor %s", name);
}

static attest_status need_role(const attest_tensor **t, const attest_bundle *in, uint32_t role, attest_error *err)
{
    return need(t, in, (attest_tensor_id){ ATTEST_KIND_ROLE, role }, err);
}

/* Which value of which axis makes the formula read a tensor, and where the case keeps it. */
static const struct {
    uint32_t role, axis, values;
    size_t place;
} reads[] = {
    { ATTEST_SINK, ATTEST_AXIS_NORM, BIT(ATTEST_NORM_SINK), offsetof(wit_case, sink) },
    { ATTEST_GIN, ATTEST_AXIS_GATES, BIT(ATTEST_GATES_IN) | BIT(ATTEST_GATES_INOUT), offsetof(wit_case, gin) },
    { ATTEST_GOUT, ATTEST_AXIS_GATES, BIT(ATTEST_GATES_OUT) | BIT(ATTEST_GATES_INOUT) | BIT(ATTEST_GATES_PRE_OUT),
      offsetof(wit_case, gout) },
    { ATTEST_K_HEAD_LOGITS, ATTEST_AXIS_GATES, BIT(ATTEST_GATES_HEADS), offsetof(wit_case, sk) },
    { ATTEST_Q_HEAD_LOGITS, ATTEST_AXIS_GATES, BIT(ATTEST_GATES_HEADS), offsetof(wit_case, sq) },
    { ATTEST_GAIN, ATTEST_AXIS_AFFINE, BIT(ATTEST_AFFINE_DRAW), offsetof(wit_case, gain) },
    { ATTEST_SHIFT, ATTEST_AXIS_AFFINE, BIT(ATTEST_AFFINE_DRAW), offsetof(wit_case, shift) },
    { ATTEST_SLOPE, ATTEST_AXIS_ALIBI, BIT(ATTEST_ALIBI_DRAW), offsetof(wit_case, slope) },
    { ATTEST_BIAS, ATTEST_AXIS_BIAS,
      BIT(ATTEST_BIAS_FULL) | BIT(ATTEST_BIAS_HEAD) | BIT(ATTEST_BIAS_BATCH) | BIT(ATTEST_BIAS_SHARED),
      offsetof(wit_case, bias) },
    { ATTEST_MASK, ATTEST_AXIS_ATTN_MASK,
      BIT(ATTEST_ATTN_MASK_FULL) | BIT(ATTEST_ATTN_MASK_HEAD) | BIT(ATTEST_ATTN_MASK_BATCH) |
          BIT(ATTEST_ATTN_MASK_SHARED),
      offsetof(wit_case, mask) },
    { ATTEST_KEEP, ATTEST_AXIS_DROPOUT, BIT(ATTEST_DROPOUT_R), offsetof(wit_case, keep) },
    { ATTEST_K_SCALE, ATTEST_AXIS_KV, BIT(ATTEST_KV_E4M3) | BIT(ATTEST_KV_E5M2), offsetof(wit_case, k_scale) },
    { ATTEST_V_SCALE, ATTEST_AXIS_KV, BIT(ATTEST_KV_E4M3) | BIT(ATTEST_KV_E5M2), offsetof(wit_case, v_scale) },
    { ATTEST_GAMMA, ATTEST_AXIS_DECAY, BIT(ATTEST_DECAY_RETNET), offsetof(wit_case, gamma) },
    { ATTEST_DECAY, ATTEST_AXIS_DECAY, BIT(ATTEST_DECAY_SCALAR) | BIT(ATTEST_DECAY_VECTOR), offsetof(wit_case, a) },
    { ATTEST_BETA, ATTEST_AXIS_UPDATE, BIT(ATTEST_UPDATE_DELTA) | BIT(ATTEST_UPDATE_EFLA),
      offsetof(wit_case, strength) },
};

static attest_status find_tensors(wit_case *w, int64_t b, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(need_role(&w->q, w->in, ATTEST_Q, err));
    ATTEST_TRY(need_role(&w->k, w->in, ATTEST_K, err));
    ATTEST_TRY(need_role(&w->v, w->in, ATTEST_V, err));
    for (size_t n = 0; n < sizeof reads / sizeof reads[0]; n++)
        if (reads[n].values >> w->p->axis[reads[n].axis].value & 1u)
            ATTEST_TRY(need_role((const attest_tensor **)((char *)w + reads[n].place), w->in, reads[n].role, err));
    if (w->p->axis[ATTEST_AXIS_LENS].value != ATTEST_LENS_NONE) {
        const attest_tensor *lens = NULL;
        ATTEST_TRY(need_role(&lens, w->in, ATTEST_KV_LENS, err));
        w->len = attest_load_int(lens, attest_offset(lens, b, 0, 0, 0));
    }
    if (w->p->axis[ATTEST_AXIS_LENS_Q].value != ATTEST_LENS_Q_NONE) {
        const attest_tensor *lens = NULL;
        ATTEST_TRY(need_role(&lens, w->in, ATTEST_Q_LENS, err));
        w->len_q = attest_load_int(lens, attest_offset(lens, b, 0, 0, 0));
    }
    for (unsigned n = w->lowest; w->given_state && n <= w->highest; n++) {
        const attest_tensor *t;
        ATTEST_TRY(need(&t, w->in, (attest_tensor_id){ ATTEST_KIND_H0, n }, err));
        if (!w->delta)
            ATTEST_TRY(need(&t, w->in, (attest_tensor_id){ ATTEST_KIND_Z0, n }, err));
    }
out:
    return status;
}

attest_status wit_case_set(wit_case *w, const attest_problem *p, const attest_bundle *in, int64_t b, mpfr_prec_t bits,
                           attest_error *err)
{
    char why[128];
    *w = (wit_case){ .p = p, .in = in, .len = p->m, .len_q = p->n, .bits = bits };
    if (!ref_witness_serves(p, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s", why);
    if (bits < 53)
        return attest_fail(err, ATTEST_BAD_INPUT, "the witness needs at least 53 bits, not %ld", (long)bits);
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    w->highest = weight->order;
    w->lowest = weight->value == ATTEST_WEIGHT_TAYLOR ? 0 : weight->order;
    w->given_state = p->axis[ATTEST_AXIS_STATE].value != ATTEST_STATE_NONE;
    w->delta = p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_ADD;
    return find_tensors(w, b, err);
}

void ref_witness_init(ref_witness *w)
{
    *w = (ref_witness){ 0 };
    mpfr_inits2(53, w->z, w->lse, w->z_error, w->lse_error, (mpfr_ptr)0);
}

void ref_witness_clear(ref_witness *w)
{
    mpfr_t *const arrays[] = { w->u, w->o, w->u_error, w->o_error };
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++) {
        for (int64_t c = 0; arrays[a] && c < w->e; c++)
            mpfr_clear(arrays[a][c]);
        free(arrays[a]);
    }
    mpfr_clears(w->z, w->lse, w->z_error, w->lse_error, (mpfr_ptr)0);
    w->u = w->o = w->u_error = w->o_error = NULL;
    w->e = 0;
}

const attest_tensor *wit_state_tensor(const wit_case *w, uint32_t kind, unsigned degree)
{
    return attest_bundle_get(w->in, (attest_tensor_id){ kind, degree });
}
