/* ball_axes.c - what each axis value means in balls: one function per value, one table per axis.
 *
 * Every function returns an enclosure: its result contains the real value for every point of its arguments
 * (inclusion isotonicity of Arb), and its radius goes to 0 with prec.
 */
#include "reference/ball/ball.h"

#include <stdio.h>

/* ---- features ---------------------------------------------------------------------------------------------------- */
/* Stored values are points; behind rope they are balls, and a ball may hold both signs. */
static void feature_identity(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    (void)position;
    (void)prec;
    for (int64_t c = 0; c < p->d; c++)
        arb_set(y + c, x + c);
}

/* x+1 for x >= 0, e^x below; where the sign is open, max(x, 0) + e^min(x, 0). */
static void elu1(arb_t y, const arb_t x, slong prec)
{
    arb_t above;
    if (arb_is_nonnegative(x)) {
        arb_add_ui(y, x, 1, prec);
        return;
    }
    if (arb_is_negative(x)) {
        arb_exp(y, x, prec);
        return;
    }
    arb_init(above);
    arb_nonnegative_part(above, x);
    arb_neg(y, x);
    arb_nonnegative_part(y, y);
    arb_neg(y, y);
    arb_exp(y, y, prec);
    arb_add(y, y, above, prec);
    arb_clear(above);
}

static void feature_elu1(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    (void)position;
    for (int64_t c = 0; c < p->d; c++) {
        if (arb_is_finite(x + c))
            elu1(y + c, x + c, prec);
        else /* a NaN or an infinity has no feature: e^-inf = 0 would hide it */
            arb_indeterminate(y + c);
    }
}

static void feature_relu(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    (void)position;
    (void)prec;
    for (int64_t c = 0; c < p->d; c++) {
        if (!arb_is_finite(x + c))
            arb_indeterminate(y + c);
        else
            arb_nonnegative_part(y + c, x + c);
    }
}

/* x / norm2(x), 0 at 0.  Points that are not 0, or balls around such (rope, silu): the norm is surely positive in the
 * end; rope and silu keep a 0 exactly. */
static void unit(arb_ptr y, arb_srcptr x, slong d, slong prec)
{
    int zero = 1;
    arb_t norm;
    arb_init(norm);
    for (slong c = 0; c < d; c++)
        zero &= arb_is_zero(x + c) != 0;
    arb_dot(norm, NULL, 0, x, 1, x, 1, d, prec);
    arb_sqrt(norm, norm, prec);
    for (slong c = 0; c < d; c++) {
        if (zero)
            arb_zero(y + c);
        else if (!arb_is_finite(norm)) /* every entry reads every other */
            arb_indeterminate(y + c);
        else
            arb_div(y + c, x + c, norm, prec);
    }
    arb_clear(norm);
}

static void feature_unit(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    (void)position;
    unit(y, x, (slong)p->d, prec);
}

/* x/(1 + e^-x) = x e^x/(e^x + 1), true for both signs: the midpoint's sign picks the one whose exponential does not
 * overflow. */
static void feature_silu(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    arb_t power, sum;
    (void)position;
    arb_init(power);
    arb_init(sum);
    for (int64_t c = 0; c < p->d; c++) {
        const int negative = arf_sgn(arb_midref(x + c)) < 0;
        if (!arb_is_finite(x + c)) {
            arb_indeterminate(y + c);
            continue;
        }
        arb_neg(power, x + c);
        arb_exp(power, negative ? x + c : power, prec);
        arb_add_ui(sum, power, 1, prec);
        if (negative)
            arb_mul(y + c, x + c, power, prec);
        else
            arb_set(y + c, x + c);
        arb_div(y + c, y + c, sum, prec);
    }
    arb_clear(sum);
    arb_clear(power);
}

static void feature_silu_unit(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    feature_silu(y, x, p, position, prec);
    unit(y, y, (slong)p->d, prec);
}

static const ref_ball_feature features[] = {
    [ATTEST_FEATURE_IDENTITY] = { feature_identity, 1 },
    [ATTEST_FEATURE_ELU1] = { feature_elu1, 0 },
    [ATTEST_FEATURE_RELU] = { feature_relu, 1 },
    [ATTEST_FEATURE_UNIT] = { feature_unit, 0 },
    [ATTEST_FEATURE_SILU] = { feature_silu, 0 },
    [ATTEST_FEATURE_SILU_UNIT] = { feature_silu_unit, 0 },
    [ATTEST_FEATURE_COSFORMER] = { ref_ball_cosformer, 0 },
};

/* ---- weights ----------------------------------------------------------------------------------------------------- */
static void weight_exp(arb_t w, const arb_t x, uint32_t order, slong prec)
{
    (void)order;
    arb_exp(w, x, prec);
}

/* T_P(x) by Horner: ((x/P + 1) x/(P-1) + 1) ... ; three roundings of 2^-prec a step, all inside the ball. */
static void weight_taylor(arb_t w, const arb_t x, uint32_t order, slong prec)
{
    arb_t sum;
    arb_init(sum);
    arb_one(sum);
    for (uint32_t n = order; n > 0; n--) {
        arb_mul(sum, sum, x, prec);
        arb_div_ui(sum, sum, n, prec);
        arb_add_ui(sum, sum, 1, prec);
    }
    arb_swap(w, sum);
    arb_clear(sum);
}

static void weight_power(arb_t w, const arb_t x, uint32_t order, slong prec)
{
    arb_pow_ui(w, x, order, prec); /* x^0 = 1, also at 0 */
}

static void weight_term(arb_t w, const arb_t x, uint32_t order, slong prec)
{
    arb_t factorial;
    arb_init(factorial);
    arb_fac_ui(factorial, order, 2 * prec + 512); /* 64! < 2^296: exact */
    arb_pow_ui(w, x, order, prec);
    arb_div(w, w, factorial, prec);
    arb_clear(factorial);
}

static const ref_ball_weight weights[] = {
    [ATTEST_WEIGHT_EXP] = weight_exp,
    [ATTEST_WEIGHT_TAYLOR] = weight_taylor,
    [ATTEST_WEIGHT_TERM] = weight_term,
    [ATTEST_WEIGHT_POWER] = weight_power,
};

/* ---- centers ----------------------------------------------------------------------------------------------------- */
static void center_zero(arb_t c, arb_srcptr s, slong keys, slong prec)
{
    (void)s;
    (void)keys;
    (void)prec;
    arb_zero(c);
}

static void center_max(arb_t c, arb_srcptr s, slong keys, slong prec)
{
    arb_set(c, s);
    for (slong j = 1; j < keys; j++)
        arb_max(c, c, s + j, prec);
}

static void center_min(arb_t c, arb_srcptr s, slong keys, slong prec)
{
    arb_set(c, s);
    for (slong j = 1; j < keys; j++)
        arb_min(c, c, s + j, prec);
}

static void center_mid(arb_t c, arb_srcptr s, slong keys, slong prec)
{
    arb_t low;
    arb_init(low);
    center_min(low, s, keys, prec);
    center_max(c, s, keys, prec);
    arb_add(c, c, low, prec);
    arb_mul_2exp_si(c, c, -1);
    arb_clear(low);
}

static const ref_ball_center centers[] = {
    [ATTEST_CENTER_ZERO] = center_zero,
    [ATTEST_CENTER_MAX] = center_max,
    [ATTEST_CENTER_MIN] = center_min,
    [ATTEST_CENTER_MID] = center_mid,
};

/* ---- norms ------------------------------------------------------------------------------------------------------- */
/* o /= divisor, or ill-posed where the divisor may be 0. */
static void divide(ref_row *row, const arb_t divisor, slong prec)
{
    row->illposed = !arb_is_finite(divisor) || arb_contains_zero(divisor);
    for (int64_t c = 0; c < row->e; c++) {
        if (row->illposed)
            arb_indeterminate(row->o + c);
        else
            arb_div(row->o + c, row->o + c, divisor, prec);
    }
}

static void norm_sum(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    arb_t divisor;
    (void)h;
    arb_init(divisor);
    arb_set_d(divisor, in->p->axis[ATTEST_AXIS_EPS].number);
    arb_add(divisor, divisor, row->z, prec);
    divide(row, divisor, prec);
    arb_clear(divisor);
}

static void norm_sink(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    const attest_tensor *t = in->role[ATTEST_SINK];
    arb_t divisor;
    arb_init(divisor);
    arb_set_d(divisor, attest_load(t, h * t->stride[0]));
    if (!arb_is_finite(divisor))
        row->no_truth = 1;
    arb_exp(divisor, divisor, prec);
    arb_add(divisor, divisor, row->z, prec);
    divide(row, divisor, prec);
    arb_clear(divisor);
}

static void norm_none(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    (void)row; /* o is u */
    (void)in;
    (void)h;
    (void)prec;
}

static void norm_floor(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    arb_t divisor;
    (void)h;
    arb_init(divisor);
    arb_set_d(divisor, in->p->axis[ATTEST_AXIS_NORM].number);
    arb_max(divisor, divisor, row->z, prec);
    divide(row, divisor, prec);
    arb_clear(divisor);
}

static void norm_length(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    arb_t divisor;
    (void)in;
    (void)h;
    arb_init(divisor);
    arb_set_si(divisor, (slong)row->keys);
    divide(row, divisor, prec);
    arb_clear(divisor);
}

static const ref_ball_norm norms[] = {
    [ATTEST_NORM_SUM] = norm_sum,
    [ATTEST_NORM_SINK] = norm_sink,
    [ATTEST_NORM_FLOOR] = norm_floor,
    [ATTEST_NORM_NONE] = norm_none,
    [ATTEST_NORM_LENGTH] = norm_length,
    [ATTEST_NORM_L2] = ref_ball_norm_root,
    [ATTEST_NORM_RMS] = ref_ball_norm_root,
    [ATTEST_NORM_LAYERNORM] = ref_ball_norm_root,
    [ATTEST_NORM_LENGTH_L2] = ref_ball_norm_root,
    [ATTEST_NORM_LENGTH_RMS] = ref_ball_norm_root,
    [ATTEST_NORM_LENGTH_LAYERNORM] = ref_ball_norm_root,
};

/* ---- lookup ------------------------------------------------------------------------------------------------------ */
#define ENTRIES(table) (sizeof(table) / sizeof(table)[0])

const ref_ball_feature *ref_ball_feature_of(const attest_problem *p)
{
    const uint32_t value = attest_axis_value_of(p, ATTEST_AXIS_FEATURE);
    return value < ENTRIES(features) && features[value].apply ? &features[value] : NULL;
}

ref_ball_weight ref_ball_weight_of(const attest_problem *p)
{
    const uint32_t value = attest_axis_value_of(p, ATTEST_AXIS_WEIGHT);
    return value < ENTRIES(weights) ? weights[value] : NULL;
}

ref_ball_center ref_ball_center_of(const attest_problem *p)
{
    const uint32_t value = attest_axis_value_of(p, ATTEST_AXIS_CENTER);
    return value < ENTRIES(centers) ? centers[value] : NULL;
}

ref_ball_norm ref_ball_norm_of(const attest_problem *p)
{
    const uint32_t value = attest_axis_value_of(p, ATTEST_AXIS_NORM);
    return value < ENTRIES(norms) ? norms[value] : NULL;
}

/* Axes without a table above: so many of their values, from the default on, are worked out in the other files. */
static const uint32_t served[ATTEST_AXIS_COUNT] = {
    [ATTEST_AXIS_FILTER] = ATTEST_FILTER_TAU + 1,     [ATTEST_AXIS_ROPE] = ATTEST_ROPE_BASE + 1,
    [ATTEST_AXIS_MASK] = ATTEST_MASK_CAUSAL_BR + 1,   [ATTEST_AXIS_WINDOW] = ATTEST_WINDOW_W + 1,
    [ATTEST_AXIS_LENS] = ATTEST_LENS_DRAW + 1,        [ATTEST_AXIS_DECAY] = ATTEST_DECAY_VECTOR + 1,
    [ATTEST_AXIS_GATES] = ATTEST_GATES_HEADS + 1,     [ATTEST_AXIS_AFFINE] = ATTEST_AFFINE_DRAW + 1,
    [ATTEST_AXIS_UPDATE] = ATTEST_UPDATE_EFLA + 1,    [ATTEST_AXIS_EPS] = ATTEST_EPS_SET + 1,
    [ATTEST_AXIS_CLAMP] = ATTEST_CLAMP_SET + 1,       [ATTEST_AXIS_CAP] = ATTEST_CAP_SET + 1,
    [ATTEST_AXIS_ALIBI] = ATTEST_ALIBI_DRAW + 1,      [ATTEST_AXIS_STATE] = ATTEST_STATE_DRAW + 1,
};

static int axis_served(const attest_problem *p, uint32_t axis)
{
    if (served[axis])
        return p->axis[axis].value < served[axis];
    return (axis != ATTEST_AXIS_WEIGHT || ref_ball_weight_of(p)) &&
           (axis != ATTEST_AXIS_CENTER || ref_ball_center_of(p)) &&
           (axis != ATTEST_AXIS_FEATURE || ref_ball_feature_of(p)) &&
           (axis != ATTEST_AXIS_NORM || ref_ball_norm_of(p));
}

int ref_ball_serves(const attest_problem *p, char *why, size_t len)
{
    const int newer = attest_axis_unserved(p, ATTEST_AXES_KNOWN);
    if (newer >= 0) {
        if (why && len)
            snprintf(why, len, "axis number %d: not known to this version", newer);
        return 0;
    }
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++) {
        char text[64];
        if (axis_served(p, axis))
            continue;
        attest_axis_print(text, sizeof text, axis, &p->axis[axis]);
        if (why && len)
            snprintf(why, len, "%s=%s: not served by this version's reference", attest_axes[axis].key, text);
        return 0;
    }
    return 1;
}
