/* bound_model.c - what a kernel declared of its arithmetic, as the constants of the lemmas. */
#include "reference/bound/bound.h"

#define STATE_ROWS_UNKNOWN (1 << 13) /* R-STATE: an undeclared kernel keeps no larger state */

void bound_gamma(mag_t g, int64_t n, const mag_t u)
{
    mag_t x, one;
    mag_init(x);
    mag_init(one);
    mag_one(one);
    mag_mul_ui(x, u, n > 0 ? (ulong)n : 0);
    if (mag_cmp(x, one) >= 0) {
        mag_inf(g);
    } else {
        mag_sub_lower(one, one, x);
        mag_div(g, x, one);
    }
    mag_clear(one);
    mag_clear(x);
}

void bound_compose(mag_t z, const mag_t x, const mag_t y)
{
    mag_t t;
    mag_init(t);
    mag_mul(t, x, y);
    mag_add(t, t, x);
    mag_add(z, t, y);
    mag_clear(t);
}

void bound_tiny(mag_t t, uint32_t dtype, uint32_t flags)
{
    const attest_format f = attest_format_of(dtype);
    mag_one(t);
    mag_mul_2exp_si(t, t, flags & ATTEST_FTZ ? f.emin : f.emin - f.p);
}

static const size_t mag_fields[] = {
    offsetof(bound_model, u),       offsetof(bound_model, u_sum),   offsetof(bound_model, u_exp),
    offsetof(bound_model, u_div),   offsetof(bound_model, u_log),   offsetof(bound_model, u_cast),
    offsetof(bound_model, tiny),    offsetof(bound_model, normal),  offsetof(bound_model, tiny_cast),
    offsetof(bound_model, score),   offsetof(bound_model, feature), offsetof(bound_model, feature_tiny),
    offsetof(bound_model, scale),   offsetof(bound_model, room),    offsetof(bound_model, limit),
    offsetof(bound_model, u_state), offsetof(bound_model, u_scale), offsetof(bound_model, feature_norm),
    offsetof(bound_model, feature_lift), offsetof(bound_model, turn_slope), offsetof(bound_model, u_wave),
    offsetof(bound_model, wave),    offsetof(bound_model, exp_tiny), offsetof(bound_model, score_scale),
    offsetof(bound_model, score_likely),
};

static mag_ptr field(bound_model *m, size_t k)
{
    return (mag_ptr)(void *)((char *)m + mag_fields[k]);
}

void bound_model_init(bound_model *m)
{
    *m = (bound_model){ 0 };
    for (size_t k = 0; k < sizeof mag_fields / sizeof mag_fields[0]; k++)
        mag_init(field(m, k));
}

void bound_model_clear(bound_model *m)
{
    for (size_t k = 0; k < sizeof mag_fields / sizeof mag_fields[0]; k++)
        mag_clear(field(m, k));
}

static void set_units(bound_model *m)
{
    const attest_numerics *n = m->numerics;
    const attest_format acc = attest_format_of(m->p->acc), p = attest_format_of(m->p->p);
    const int truncates = n->acc_truncates == ATTEST_YES;
    const ulong direction = truncates ? 2 : 1; /* toward zero: twice the error */
    mag_set_d(m->u, attest_unit_roundoff(m->p->acc));
    mag_mul_ui(m->u, m->u, direction);
    mag_set_d(m->u_sum, n->acc_unit > 0 ? n->acc_unit : attest_unit_roundoff(m->p->acc));
    mag_mul_ui(m->u_sum, m->u_sum, truncates ? 6 : 1); /* R-TENSOR */
    /* Class ceilings (R-EXP, R-LSE, R-DIVISION): 4 ulp = 8u for exp and log, 2 ulp = 4u for a division. */
    mag_mul_ui(m->u_exp, m->u, 8);
    mag_mul_ui(m->u_log, m->u, 8);
    mag_mul_ui(m->u_div, m->u, 4);
    if (n->exp_error > 0)
        mag_set_d(m->u_exp, n->exp_error);
    if (n->div_error > 0)
        mag_set_d(m->u_div, n->div_error);
    if (n->state_dtype && attest_format_of(n->state_dtype - 1).p < acc.p)
        mag_set_d(m->u_state, attest_unit_roundoff(n->state_dtype - 1));
    bound_tiny(m->tiny, m->p->acc, m->flags);
    mag_set_ui_2exp_si(m->normal, 1, acc.emin);
    const int gradual = n->exp_error > 0 && !(m->flags & ATTEST_FTZ);
    mag_set_ui_2exp_si(m->exp_tiny, 1, gradual ? acc.emin - acc.p + 1 : acc.emin);
    mag_set_ui_2exp_si(m->limit, 1, acc.emax - 1);
    if (p.p < acc.p) {
        const ulong way = n->p_rounding == ATTEST_ROUNDING_NEAREST ? 1 : 2;
        mag_set_d(m->u_cast, attest_unit_roundoff(m->p->p));
        mag_mul_ui(m->u_cast, m->u_cast, way);
        bound_tiny(m->tiny_cast, m->p->p, m->flags);
        mag_mul_ui(m->tiny_cast, m->tiny_cast, way);
    }
}

/* R-FEATURE: elu1 */
static void feature_elu1(bound_model *m)
{
    bound_compose(m->feature, m->u_exp, m->u);
    if (m->numerics->exp_error > 0 && !m->unknown)
        mag_mul_ui(m->feature_tiny, m->u, m->log2_domain ? 2 : 0);
    else
        mag_mul_ui(m->feature_tiny, m->u, 12);
    mag_add(m->feature_tiny, m->feature_tiny, m->normal);
    if (m->narrows)
        mag_add(m->feature_tiny, m->feature_tiny, m->u); /* e^x of a rounded x: u |x| e^x < 0.37 u */
}

/* R-FEATURE: x/(1 + e^-x) or x e^x/(1 + e^x): an exponential, an addition, a division, a product. */
static void feature_silu(bound_model *m)
{
    bound_gamma(m->feature, m->narrows ? 5 : 2, m->u);
    bound_compose(m->feature, m->feature, m->u_exp);
    bound_compose(m->feature, m->feature, m->u_div);
    mag_mul_ui(m->feature_tiny, m->u, m->log2_domain ? 2 : 0);
    if (m->narrows)
        mag_add(m->feature_tiny, m->feature_tiny, m->u);
    mag_mul_2exp_si(m->normal, m->normal, 10); /* |x| e^x where e^-x overflows or e^x underflows */
    mag_add(m->feature_tiny, m->feature_tiny, m->normal);
    mag_mul_2exp_si(m->normal, m->normal, -10);
}

/* R-UNIT: d squares and their sum, the root, the division or a reciprocal and a product. */
static void feature_unit(bound_model *m)
{
    bound_gamma(m->feature, m->p->d + 4 + (m->narrows ? 2 : 0), m->u);
    bound_compose(m->feature, m->feature, m->u_div);
    bound_compose(m->feature, m->feature, m->u_div);
    mag_set_ui_2exp_si(m->feature_tiny, 1, attest_format_of(m->p->acc).emin / 2 + 5);
}

/* The relative error of silu counts in the entry and in the norm; |x| e^x moves by u |x| relatively. */
static void feature_silu_unit(bound_model *m)
{
    mag_t x;
    mag_init(x);
    feature_silu(m);
    if (m->log2_domain || m->narrows) {
        mag_mul_ui(x, m->u, 3 * (ulong)attest_format_of(m->p->acc).emax);
        mag_expm1(x, x);
        bound_compose(m->feature, m->feature, x);
    }
    bound_gamma(x, 2, m->feature);
    feature_unit(m);
    bound_compose(m->feature, m->feature, x);
    mag_clear(x);
}

static void set_feature(bound_model *m)
{
    static void (*const table[])(bound_model *) = {
        [ATTEST_FEATURE_ELU1] = feature_elu1,
        [ATTEST_FEATURE_UNIT] = feature_unit,
        [ATTEST_FEATURE_SILU] = feature_silu,
        [ATTEST_FEATURE_SILU_UNIT] = feature_silu_unit,
    };
    const uint32_t feature = m->p->axis[ATTEST_AXIS_FEATURE].value;
    mag_t root;
    if (feature < sizeof table / sizeof table[0] && table[feature])
        table[feature](m);
    if (m->narrows) {
        mag_add(m->feature, m->feature, m->u);
        mag_add(m->feature_tiny, m->feature_tiny, m->tiny);
    }
    if (m->flags & ATTEST_FTZ)
        mag_add(m->feature_tiny, m->feature_tiny, m->normal);
    mag_init(root);
    mag_set_ui(root, (ulong)attest_feature_dim(m->p));
    mag_sqrt(root, root);
    mag_mul(m->feature_norm, m->feature_tiny, root);
    mag_set(m->feature_lift, m->feature_tiny);
    if (feature == ATTEST_FEATURE_ELU1)
        mag_add_ui(m->feature_lift, m->feature_lift, 1);
    mag_clear(root);
}

/* R-ROTATE: the angle pos BASE^(-2c/d) from a power, or from a logarithm and an exponential; that of pair 0 is pos.
 * |pos| (f g + sup f x L g), f the largest frequency, x >= 2/d the power's exponent, L = |ln BASE|, g = gamma_12. */
static void set_angle(bound_model *m)
{
    const double base = m->p->axis[ATTEST_AXIS_ROPE].number;
    arb_t size, log, x;
    mag_t g, y;
    arb_init(size);
    arb_init(log);
    arb_init(x);
    mag_init(g);
    mag_init(y);
    bound_gamma(g, 12, m->u);
    arb_set_d(x, base);
    arb_log(log, x, 64);
    arb_mul_si(x, log, base >= 1 ? -2 : -(slong)m->p->d, 64);
    arb_div_si(x, x, (slong)m->p->d, 64); /* of the largest frequency: c = 1, or c < d/2 */
    arb_exp(size, x, 64);
    arb_abs(x, x);
    if (base >= 1 && mag_cmp_2exp_si(arb_radref(x), -30) < 0 && arf_cmp_si(arb_midref(x), 1) < 0)
        arb_set_d(x, 0.375); /* f x L = y e^-y <= 1/e where y >= 1 is not sure at c = 1 */
    else
        arb_mul(x, x, size, 64);
    arb_add(x, x, size, 64);
    arb_get_mag(y, x);
    mag_mul(y, y, g);
    arb_get_mag(m->turn_slope, log);
    mag_mul(g, g, m->turn_slope);
    mag_set_d(m->turn_slope, 1.03125); /* e^(L g) <= 1.03 */
    mag_mul(m->turn_slope, m->turn_slope, y);
    if (mag_cmp_2exp_si(g, -6) > 0)
        mag_inf(m->turn_slope);
    mag_clear(y);
    mag_clear(g);
    arb_clear(x);
    arb_clear(log);
    arb_clear(size);
}

static void set_turns(bound_model *m)
{
    const attest_setting *axis = m->p->axis;
    const uint32_t feature = axis[ATTEST_AXIS_FEATURE].value;
    mag_t x;
    mag_init(x);
    mag_mul_ui(m->u_wave, m->u, 8); /* sin and cos: 4 ulp, at most 1 */
    if (axis[ATTEST_AXIS_ROPE].value != ATTEST_ROPE_NONE)
        set_angle(m);
    if (feature == ATTEST_FEATURE_COSFORMER) { /* an angle of at most pi/2, four roundings; then one product */
        bound_gamma(x, 4, m->u);
        mag_set_d(m->wave, 1.5708);
        mag_mul(x, x, m->wave);
        mag_add(x, x, m->u_wave);
        bound_compose(m->wave, x, m->u);
    }
    m->turns = axis[ATTEST_AXIS_ROPE].value != ATTEST_ROPE_NONE || feature == ATTEST_FEATURE_COSFORMER ||
               feature == ATTEST_FEATURE_UNIT || feature == ATTEST_FEATURE_SILU_UNIT;
    mag_clear(x);
}

static int in_normal_range(double x, uint32_t dtype)
{
    const double size = x < 0 ? -x : x;
    mag_t least, most, y;
    int inside;
    mag_init(least);
    mag_init(most);
    mag_init(y);
    mag_set_ui_2exp_si(least, 1, attest_format_of(dtype).emin);
    mag_set_ui_2exp_si(most, 1, attest_format_of(dtype).emax);
    mag_set_d(y, size);
    inside = size == 0 || (mag_cmp(y, least) > 0 && mag_cmp(y, most) < 0);
    mag_clear(y);
    mag_clear(most);
    mag_clear(least);
    return inside;
}

/* R-SCORE: d products and d-1 additions, then the scale. */
static void set_score(bound_model *m)
{
    const double scale = m->p->scale;
    const uint32_t dtype = m->numerics->scale_dtype;
    mag_t one, after;
    mag_init(one);
    mag_init(after);
    mag_set_d(m->scale, scale);
    if (mag_cmp(m->u_sum, m->u) < 0) /* a finer accumulator is rounded to acc once */
        mag_set(after, m->u);
    if (scale != 1.0) {
        bound_gamma(one, dtype ? 1 : 4, m->u);
        bound_compose(after, after, one);
        if (dtype && scale != 0) { /* what rounding it to its dtype does; the two doubles' difference is exact */
            mag_set_d(m->u_scale, attest_to_f64(dtype - 1, attest_from_f64(dtype - 1, scale)) - scale);
            mag_set_d_lower(one, scale);
            mag_div(m->u_scale, m->u_scale, one);
        }
        if (!in_normal_range(scale, dtype ? dtype - 1 : m->p->acc))
            mag_inf(m->u_scale);
        bound_compose(after, after, m->u_scale);
    }
    bound_gamma(m->score, attest_feature_dim(m->p), m->u_sum);
    bound_compose(m->score, m->score, after);
    bound_probable_gamma(m->score_likely, attest_feature_dim(m->p), m->u_sum);
    bound_compose(m->score_likely, m->score_likely, after);
    mag_set(m->score_scale, after);
    mag_one(m->room);
    if (!mag_is_zero(m->scale) && mag_cmp(m->scale, m->room) < 0) {
        mag_set_d_lower(one, scale);
        mag_div(m->room, m->room, one);
    }
    mag_clear(after);
    mag_clear(one);
}

static void set_form(bound_model *m, const ref_inputs *in)
{
    const uint32_t schedule = m->numerics->schedule;
    const int packed = (m->flags & ATTEST_PACKED_STATE) != 0;
    m->unknown = schedule == ATTEST_SCHEDULE_UNKNOWN;
    m->direct = schedule != ATTEST_SCHEDULE_RECURRENT || m->exponential;
    m->recurrent = !m->exponential && attest_variant_recurrent(m->p->axis) &&
                   (m->unknown || schedule == ATTEST_SCHEDULE_RECURRENT || schedule == ATTEST_SCHEDULE_CHUNK);
    m->degree = m->exponential ? 0 : (int)m->p->axis[ATTEST_AXIS_WEIGHT].order;
    m->rows = 0;
    for (int n = in->lowest; !m->exponential && n <= in->highest; n++) {
        const int64_t rows = attest_state_rows(attest_feature_dim(m->p), n, packed);
        m->rows = rows < 0 || m->rows < 0 ? -1 : m->rows + rows;
    }
    if (m->unknown && (m->rows < 0 || m->rows > STATE_ROWS_UNKNOWN))
        m->recurrent = 0;
}

/* R-PROBABLE's conditions.  Of scores: nothing but the product may err, and of 2d - 1 roundings lambda sqrt() is more
 * than all up to 16. */
static void set_likely(bound_model *m)
{
    const attest_setting *axis = m->p->axis;
    const int steps = axis[ATTEST_AXIS_CAP].value || axis[ATTEST_AXIS_ALIBI].value || axis[ATTEST_AXIS_CLAMP].value ||
                      axis[ATTEST_AXIS_FILTER].value;
    m->likely = m->numerics->acc_truncates == ATTEST_NO && !m->unknown && mag_cmp_2exp_si(m->u_sum, -23) < 0;
    m->likely_scores = m->likely && m->plain && !steps && !m->decays && 2 * m->p->d - 1 > BOUND_LAMBDA * BOUND_LAMBDA;
}

int bound_model_set(bound_model *m, const ref_inputs *in, const attest_numerics *numerics, uint32_t flags)
{
    const attest_problem *p = in->p;
    const uint32_t gates = p->axis[ATTEST_AXIS_GATES].value;
    m->p = p;
    m->numerics = numerics;
    m->flags = flags;
    m->exponential = p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP;
    m->log2_domain = numerics->log2_domain != ATTEST_NO;
    m->cast_common = (int)numerics->cast_in_sum;
    m->narrows = attest_format_of(p->in).p > attest_format_of(p->acc).p;
    m->given = p->axis[ATTEST_AXIS_STATE].value != ATTEST_STATE_NONE;
    m->decays = p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_NONE;
    m->vector = p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR;
    m->gates_values = 1 & (1u << ATTEST_GATES_IN | 1u << ATTEST_GATES_INOUT | 1u << ATTEST_GATES_HEADS) >> gates;
    m->gates_rows = gates != ATTEST_GATES_NONE && gates != ATTEST_GATES_IN;
    set_form(m, in);
    set_units(m);
    set_feature(m);
    set_turns(m);
    set_score(m);
    m->serial = (flags & ATTEST_SERIAL_SUMS) && mag_equal(m->u_sum, m->u) && !m->recurrent && !m->given &&
                (numerics->schedule == ATTEST_SCHEDULE_TWO_PASS || numerics->schedule == ATTEST_SCHEDULE_DIRECT ||
                 (numerics->schedule == ATTEST_SCHEDULE_ONLINE && numerics->tile > 0));
    m->plain = p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_IDENTITY && !m->turns && !m->narrows &&
               !m->vector && mag_is_zero(m->feature_tiny);
    set_likely(m);
    return 1;
}

int bound_common_factor(const attest_problem *p, const attest_numerics *n, uint32_t output)
{
    const uint32_t norm = p->axis[ATTEST_AXIS_NORM].value;
    const int quotient = norm == ATTEST_NORM_SUM || norm == ATTEST_NORM_SINK;
    const int shifts = n->schedule == ATTEST_SCHEDULE_TWO_PASS || n->schedule == ATTEST_SCHEDULE_ONLINE ||
                       n->schedule == ATTEST_SCHEDULE_SPLIT;
    if (output != ATTEST_O && output != ATTEST_LSE)
        return 0;
    if (p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP)
        return quotient || output == ATTEST_LSE;
    if (n->schedule == ATTEST_SCHEDULE_DIRECT)
        return 0;
    if (quotient || output == ATTEST_LSE)
        return quotient || shifts;
    return norm >= ATTEST_NORM_L2 && p->axis[ATTEST_AXIS_EPS].value == ATTEST_EPS_ZERO && shifts;
}
