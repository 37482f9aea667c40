/* witness.c - the witness engine: which variants it serves, and its own reading of the problem.
 *
 * Masks, head map and feature maps are written here a second time, from the formulas of design section 3, on
 * purpose: the witness exists to disagree with the other engines when either has them wrong.
 */
#include "reference/witness.h"

#include <stdlib.h>

/* Per axis the values served, as bits of the axis's enum.  The other axes are served at their default only. */
static const struct {
    uint32_t axis, values;
} served[] = {
    { ATTEST_AXIS_WEIGHT, 1u << ATTEST_WEIGHT_EXP | 1u << ATTEST_WEIGHT_TAYLOR | 1u << ATTEST_WEIGHT_TERM |
                              1u << ATTEST_WEIGHT_POWER },
    { ATTEST_AXIS_CENTER, 1u << ATTEST_CENTER_ZERO | 1u << ATTEST_CENTER_MAX | 1u << ATTEST_CENTER_MIN |
                              1u << ATTEST_CENTER_MID },
    { ATTEST_AXIS_FEATURE, 1u << ATTEST_FEATURE_IDENTITY | 1u << ATTEST_FEATURE_ELU1 | 1u << ATTEST_FEATURE_RELU |
                               1u << ATTEST_FEATURE_UNIT | 1u << ATTEST_FEATURE_SILU |
                               1u << ATTEST_FEATURE_SILU_UNIT },
    { ATTEST_AXIS_MASK, 1u << ATTEST_MASK_FULL | 1u << ATTEST_MASK_CAUSAL | 1u << ATTEST_MASK_CAUSAL_BR },
    { ATTEST_AXIS_WINDOW, 1u << ATTEST_WINDOW_NONE | 1u << ATTEST_WINDOW_W },
    { ATTEST_AXIS_LENS, 1u << ATTEST_LENS_NONE | 1u << ATTEST_LENS_DRAW },
    { ATTEST_AXIS_NORM, 1u << ATTEST_NORM_SUM | 1u << ATTEST_NORM_SINK | 1u << ATTEST_NORM_FLOOR |
                            1u << ATTEST_NORM_NONE | 1u << ATTEST_NORM_LENGTH | 1u << ATTEST_NORM_L2 |
                            1u << ATTEST_NORM_RMS | 1u << ATTEST_NORM_LAYERNORM | 1u << ATTEST_NORM_LENGTH_L2 |
                            1u << ATTEST_NORM_LENGTH_RMS | 1u << ATTEST_NORM_LENGTH_LAYERNORM },
    { ATTEST_AXIS_AFFINE, 1u << ATTEST_AFFINE_NONE | 1u << ATTEST_AFFINE_DRAW },
    { ATTEST_AXIS_EPS, 1u << ATTEST_EPS_ZERO | 1u << ATTEST_EPS_SET },
    { ATTEST_AXIS_GATES, 1u << ATTEST_GATES_NONE | 1u << ATTEST_GATES_IN | 1u << ATTEST_GATES_OUT |
                             1u << ATTEST_GATES_INOUT | 1u << ATTEST_GATES_PRE_OUT },
    { ATTEST_AXIS_CLAMP, 1u << ATTEST_CLAMP_NONE | 1u << ATTEST_CLAMP_SET },
    { ATTEST_AXIS_CAP, 1u << ATTEST_CAP_NONE | 1u << ATTEST_CAP_SET },
    { ATTEST_AXIS_ALIBI, 1u << ATTEST_ALIBI_NONE | 1u << ATTEST_ALIBI_DRAW },
    { ATTEST_AXIS_STATE, 1u << ATTEST_STATE_NONE | 1u << ATTEST_STATE_DRAW },
};

int ref_witness_serves(const attest_problem *p, char *why, size_t len)
{
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++) {
        uint32_t values = 1u;
        for (size_t n = 0; n < sizeof served / sizeof served[0]; n++)
            if (served[n].axis == axis)
                values = served[n].values;
        const uint32_t value = p->axis[axis].value;
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

int64_t wit_head(const attest_problem *p, int64_t h)
{
    return h / (p->hq / p->hkv); /* hkv groups of hq/hkv neighbouring query heads = floor(h hkv / hq) */
}

int64_t wit_back(const attest_problem *p, int64_t len, int64_t i, int64_t j)
{
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const int64_t offset = mask == ATTEST_MASK_CAUSAL_BR ? len - p->n : 0;
    return i + offset - j;
}

int wit_sees(const attest_problem *p, int64_t len, int64_t i, int64_t j)
{
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const int64_t back = wit_back(p, len, i, j);
    if (j < 0 || j >= len)
        return 0;
    if (mask != ATTEST_MASK_FULL && back < 0)
        return 0;
    if (p->axis[ATTEST_AXIS_WINDOW].value != ATTEST_WINDOW_NONE) {
        const int64_t width = (int64_t)p->axis[ATTEST_AXIS_WINDOW].order;
        return (back < 0 ? -back : back) < width;
    }
    return 1;
}

static void feature_identity(wit *r, double x)
{
    wit_set_double(r, x);
}

/* x+1 for x >= 0, e^x below; x is exact, so the branch is too. */
static void feature_elu1(wit *r, double x)
{
    wit_set_double(r, x);
    if (x < 0) {
        wit_exp(r, r);
        return;
    }
    wit one;
    wit_init(&one, mpfr_get_prec(r->v));
    wit_set_ui(&one, 1);
    wit_add(r, r, &one);
    wit_clear(&one);
}

static void feature_relu(wit *r, double x)
{
    wit_set_double(r, x);
    if (x < 0 && mpfr_number_p(r->v)) /* -inf stays unknown: it was read */
        wit_set_ui(r, 0);
}

/* x/(1+e^-x) */
static void feature_silu(wit *r, double x)
{
    wit one;
    wit_init(&one, mpfr_get_prec(r->v));
    wit_set_double(r, -x);
    wit_exp(r, r);
    wit_set_ui(&one, 1);
    wit_add(r, r, &one);
    wit_set_double(&one, x);
    wit_div(r, &one, r);
    wit_clear(&one);
}

/* phi / norm2(phi); the vector 0 stays 0. */
static void to_unit(wit *phi, const wit_case *w, int zero)
{
    wit norm, x;
    wit_init(&norm, w->bits);
    wit_init(&x, w->bits);
    for (int64_t c = 0; c < w->p->d; c++) {
        wit_mul(&x, &phi[c], &phi[c]);
        wit_add(&norm, &norm, &x);
    }
    wit_sqrt(&norm, &norm);
    for (int64_t c = 0; c < w->p->d && !zero; c++)
        wit_div(&phi[c], &phi[c], &norm);
    wit_clear(&norm);
    wit_clear(&x);
}

void wit_feature(wit *phi, const wit_case *w, const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2)
{
    const uint32_t feature = w->p->axis[ATTEST_AXIS_FEATURE].value;
    int zero = 1;
    static void (*const map[])(wit *, double) = {
        [ATTEST_FEATURE_IDENTITY] = feature_identity,
        [ATTEST_FEATURE_ELU1] = feature_elu1,
        [ATTEST_FEATURE_RELU] = feature_relu,
        [ATTEST_FEATURE_UNIT] = feature_identity,
        [ATTEST_FEATURE_SILU] = feature_silu,
        [ATTEST_FEATURE_SILU_UNIT] = feature_silu,
    };
    for (int64_t c = 0; c < w->p->d; c++) {
        const double x = attest_load(t, attest_offset(t, i0, i1, i2, c));
        map[feature](&phi[c], x);
        zero = zero && (x >= 0 && x <= 0);
    }
    if (feature == ATTEST_FEATURE_UNIT || feature == ATTEST_FEATURE_SILU_UNIT)
        to_unit(phi, w, zero);
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

attest_status wit_case_set(wit_case *w, const attest_problem *p, const attest_bundle *in, int64_t b, mpfr_prec_t bits,
                           attest_error *err)
{
    attest_status status = ATTEST_OK;
    char why[128];
    *w = (wit_case){ .p = p, .in = in, .len = p->m, .bits = bits };
    if (!ref_witness_serves(p, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s", why);
    if (bits < 53)
        return attest_fail(err, ATTEST_BAD_INPUT, "the witness needs at least 53 bits, not %ld", (long)bits);
    ATTEST_TRY(need_role(&w->q, in, ATTEST_Q, err));
    ATTEST_TRY(need_role(&w->k, in, ATTEST_K, err));
    ATTEST_TRY(need_role(&w->v, in, ATTEST_V, err));
    if (p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_SINK)
        ATTEST_TRY(need_role(&w->sink, in, ATTEST_SINK, err));
    const uint32_t gates = p->axis[ATTEST_AXIS_GATES].value;
    if (gates == ATTEST_GATES_IN || gates == ATTEST_GATES_INOUT)
        ATTEST_TRY(need_role(&w->gin, in, ATTEST_GIN, err));
    if (gates == ATTEST_GATES_OUT || gates == ATTEST_GATES_INOUT || gates == ATTEST_GATES_PRE_OUT)
        ATTEST_TRY(need_role(&w->gout, in, ATTEST_GOUT, err));
    if (p->axis[ATTEST_AXIS_AFFINE].value != ATTEST_AFFINE_NONE) {
        ATTEST_TRY(need_role(&w->gain, in, ATTEST_GAIN, err));
        ATTEST_TRY(need_role(&w->shift, in, ATTEST_SHIFT, err));
    }
    if (p->axis[ATTEST_AXIS_ALIBI].value != ATTEST_ALIBI_NONE)
        ATTEST_TRY(need_role(&w->slope, in, ATTEST_SLOPE, err));
    if (p->axis[ATTEST_AXIS_LENS].value != ATTEST_LENS_NONE) {
        const attest_tensor *lens = NULL;
        ATTEST_TRY(need_role(&lens, in, ATTEST_LEN, err));
        w->len = attest_load_int(lens, attest_offset(lens, b, 0, 0, 0));
    }
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    w->highest = weight->order;
    w->lowest = weight->value == ATTEST_WEIGHT_TAYLOR ? 0 : weight->order;
    w->given_state = p->axis[ATTEST_AXIS_STATE].value != ATTEST_STATE_NONE;
    for (unsigned n = w->lowest; w->given_state && n <= w->highest; n++) {
        const attest_tensor *t;
        ATTEST_TRY(need(&t, in, (attest_tensor_id){ ATTEST_KIND_H0, n }, err));
        ATTEST_TRY(need(&t, in, (attest_tensor_id){ ATTEST_KIND_Z0, n }, err));
    }
out:
    return status;
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
