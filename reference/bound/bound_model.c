/* bound_model.c - what a kernel declared of its arithmetic, as the constants of the lemmas. */
#include "reference/bound/bound.h"

#define STATE_ROWS_UNKNOWN (1 << 13) /* R-STATE: an undeclared kernel keeps no larger state */

static const size_t mag_fields[] = {
    offsetof(bound_model, u),           offsetof(bound_model, u_sum),        offsetof(bound_model, u_exp),
    offsetof(bound_model, u_div),       offsetof(bound_model, u_log),        offsetof(bound_model, u_cast),
    offsetof(bound_model, tiny),        offsetof(bound_model, tiny_score),   offsetof(bound_model, tiny_sum),
    offsetof(bound_model, operand),     offsetof(bound_model, weight),       offsetof(bound_model, tiny_state),
    offsetof(bound_model, store),       offsetof(bound_model, store_tiny),   offsetof(bound_model, scaled),
    offsetof(bound_model, scaled_tiny), offsetof(bound_model, store_limit),  offsetof(bound_model, scaled_limit),
    offsetof(bound_model, state_limit), offsetof(bound_model, score_limit),  offsetof(bound_model, sum_limit),
    offsetof(bound_model, normal),      offsetof(bound_model, tiny_cast),    offsetof(bound_model, score),
    offsetof(bound_model, feature),     offsetof(bound_model, feature_tiny), offsetof(bound_model, scale),
    offsetof(bound_model, room),        offsetof(bound_model, limit),        offsetof(bound_model, u_state),
    offsetof(bound_model, u_scale),     offsetof(bound_model, feature_norm), offsetof(bound_model, feature_lift),
    offsetof(bound_model, turn_slope),  offsetof(bound_model, u_wave),       offsetof(bound_model, wave),
    offsetof(bound_model, exp_tiny),    offsetof(bound_model, score_scale),  offsetof(bound_model, score_likely),
    offsetof(bound_model, bias),        offsetof(bound_model, bias_tiny),    offsetof(bound_model, turned),
    offsetof(bound_model, turned_tiny), offsetof(bound_model, written),      offsetof(bound_model, written_tiny),
    offsetof(bound_model, gated),       offsetof(bound_model, gated_tiny),   offsetof(bound_model, gated_limit),
    offsetof(bound_model, stored),      offsetof(bound_model, stored_tiny),  offsetof(bound_model, kept),
    offsetof(bound_model, kept_error),  offsetof(bound_model, shrink),       offsetof(bound_model, spread),
};

static mag_ptr field(bound_model *m, size_t k) { return (mag_ptr)(void *)((char *)m + mag_fields[k]); }

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

/* y = min(y, 2^(emax-1)) of a type, 1 + attest_dtype */
static void reaches(mag_t y, uint32_t type)
{
    AUTO_MAG(most);
    mag_set_ui_2exp_si(most, 1, attest_format_of(type - 1).emax - 1);
    mag_min(y, y, most);
}

/* What an accumulator loses by underflow, and how far it reaches: those of its type; where that is not declared (0) of
 * acc's exponents and its own bits, and from f16's roundoff on of f16. */
static void set_accumulator(const bound_model *m, mag_t tiny, mag_t limit, uint32_t type)
{
    const attest_numerics *n = m->numerics;
    AUTO_MAG(own);
    if (!type && n->acc_unit >= attest_unit_roundoff(ATTEST_F16))
        type = 1 + ATTEST_F16;
    mag_set(tiny, m->tiny);
    mag_set(limit, m->limit);
    if (type) {
        bound_tiny(own, type - 1, m->flags);
        if (n->acc_truncates == ATTEST_YES) /* all of the least subnormal */
            mag_mul_2exp_si(own, own, 1);
        reaches(limit, type);
    } else if (n->acc_unit > attest_unit_roundoff(m->p->acc)) { /* else `tiny` it is, to the last bit */
        mag_set_d(own, n->acc_unit);
        mag_mul(own, own, m->normal);
    } else if (n->acc_truncates == ATTEST_YES)
        mag_mul_2exp_si(own, tiny, 1);
    mag_max(tiny, tiny, own);
}

/* R-TENSOR: a step of at most 16 products loses 17 2^-23 of 2^E, which is 2^emin |v| of a subnormal number's product
 * with v; twice, for the errors that follow. */
static void set_operand(mag_t lost, uint32_t type)
{
    mag_set_ui_2exp_si(lost, 2 * 17, attest_format_of(type).emin - 23);
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
    /* Class ceilings (C-FUNCTIONS, C-DIVISION): 4.5 ulp = 9u for exp and log, 2.5 ulp = 5u for a division. */
    mag_mul_ui(m->u_exp, m->u, 9);
    mag_mul_ui(m->u_log, m->u, 9);
    mag_mul_ui(m->u_div, m->u, 5);
    if (n->exp_error > 0)
        mag_set_d(m->u_exp, n->exp_error);
    if (n->div_error > 0)
        mag_set_d(m->u_div, n->div_error);
    if (n->state_dtype && attest_format_of(n->state_dtype - 1).p < acc.p) {
        mag_set_d(m->u_state, attest_unit_roundoff(n->state_dtype - 1));
        bound_tiny(m->tiny_state, n->state_dtype - 1, m->flags);
    }
    bound_tiny(m->tiny, m->p->acc, m->flags);
    mag_set_ui_2exp_si(m->normal, 1, acc.emin);
    const int gradual = n->exp_error > 0 && !(m->flags & ATTEST_FTZ);
    mag_set_ui_2exp_si(m->exp_tiny, 1, gradual ? acc.emin - acc.p + 1 : acc.emin);
    mag_set_ui_2exp_si(m->limit, 1, acc.emax - 1);
    set_accumulator(m, m->tiny_score, m->score_limit, n->score_acc);
    set_accumulator(m, m->tiny_sum, m->sum_limit, n->value_acc);
    if (truncates) {
        set_operand(m->operand, attest_kv_dtype(m->p));
        set_operand(m->weight, m->p->p);
        if (n->scaled_dtype == 1 + ATTEST_F16)
            set_operand(m->operand, ATTEST_F16);
    }
    mag_set(m->state_limit, m->sum_limit);
    if (n->state_dtype)
        reaches(m->state_limit, n->state_dtype);
    if (p.p < acc.p) {
        const ulong way = n->p_rounding == ATTEST_ROUNDING_NEAREST ? 1 : 2;
        mag_set_d(m->u_cast, attest_unit_roundoff(m->p->p));
        mag_mul_ui(m->u_cast, m->u_cast, way);
        bound_tiny(m->tiny_cast, m->p->p, m->flags);
        mag_mul_ui(m->tiny_cast, m->tiny_cast, way);
    }
}

axis_arithmetic bound_arithmetic(const bound_model *m)
{
    return (axis_arithmetic){
        .p = m->p,
        .log2_domain = m->log2_domain,
        .narrows = m->narrows,
        .exp_declared = m->numerics->exp_error > 0 && !m->unknown,
        .tanh_error = m->numerics->tanh_error,
        .u = m->u,
        .u_most = mag_cmp(m->u, m->u_sum) < 0 ? m->u_sum : m->u,
        .u_exp = m->u_exp,
        .u_div = m->u_div,
        .normal = m->normal,
        .tiny = m->tiny,
        .bias = m->bias,
        .bias_tiny = m->bias_tiny,
        .folds = m->folds,
        .stored = m->stored_type,
        .u_stored = m->stored,
        .tiny_stored = m->stored_tiny,
    };
}

/* Keys and queries (or values) are multiplied by decays, and may be stored then. */
int bound_decays_tokens(const bound_model *m) { return m->decays && !m->exponential; }

int bound_stores_decayed(const bound_model *m)
{
    return bound_decays_tokens(m) && m->scales_inputs && m->numerics->schedule != ATTEST_SCHEDULE_RECURRENT;
}

int bound_stores_values(const bound_model *m) { return bound_stores_decayed(m) && !m->vector; }

/* A factor of -1 rounds nothing. */
static int is_scaled(const bound_model *m) { return m->p->scale != 1.0 && m->p->scale != -1.0; }

/* |x| is a power of two, and if `even` its root too. */
static int power_of_two(double x, int even)
{
    int steps = 0;
    for (x = x < 0 ? -x : x; x >= 2 || (x > 0 && x < 1); steps++)
        x *= x >= 2 ? 0.5 : 2;
    return x == 1 && (!even || steps % 2 == 0);
}

/* The scale's factor may be more than the scale: times log2(e), or over the cap. */
static int folds_more(const bound_model *m)
{
    const attest_setting *cap = &m->p->axis[ATTEST_AXIS_CAP];
    return (m->exponential && m->log2_domain) || (cap->value && !power_of_two(cap->number, !m->numerics->scale_dtype));
}

static int is_multiplied(const bound_model *m) { return is_scaled(m) || folds_more(m); }

/* R-GATE: a linear kernel may multiply its gates into q and k in place of o and v. */
static int may_gate_inputs(const bound_model *m)
{
    const attest_setting *axis = m->p->axis;
    const int linear = axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_TAYLOR && axis[ATTEST_AXIS_WEIGHT].order == 1;
    return !m->exponential && linear && (m->gates_rows || m->gates_values);
}

/* The type that numbers which are made of q, k or v may be rounded to, 1 + attest_dtype; 0: acc.  Who declares none may
 * round those that it `makes` to the type of k and v: `in`, but with kv of 16 bits. */
static uint32_t made_type(const bound_model *m, int makes)
{
    uint32_t type = m->numerics->scaled_dtype;
    if (!type && m->unknown && makes)
        type = 1 + (attest_kv_scaled(m->p) ? m->p->in : attest_kv_dtype(m->p));
    return type && attest_format_of(type - 1).p < attest_format_of(m->p->acc).p ? type : 0;
}

/* Of scaled q and k: who declares none rounds nothing that is neither scaled nor a feature nor turned, gated or
 * decayed; but q may be taken to the type of its keys of 16 bits, and those of 8 bits are multiplied by k_scale. */
static uint32_t scaled_type(const bound_model *m)
{
    return made_type(m, is_multiplied(m) || !axis_feature_of(m->p)->stored || axis_turns(m->p) || m->gates_inputs ||
                            bound_decays_tokens(m) || m->p->axis[ATTEST_AXIS_KV].value);
}

static int in_normal_range(double x, uint32_t dtype)
{
    AUTO_MAG(least, most, y);
    mag_set_ui_2exp_si(least, 1, attest_format_of(dtype).emin);
    mag_set_ui_2exp_si(most, 1, attest_format_of(dtype).emax);
    mag_set_d(y, x); /* of |x| */
    return x == 0 || (mag_cmp(y, least) > 0 && mag_cmp(y, most) < 0);
}

/* Stored numbers that only an exponent is added to stay numbers of the type. */
static int scales_exactly(const bound_model *m, uint32_t type)
{
    const int stored = axis_feature_of(m->p)->stored && !axis_turns(m->p) && !bound_decays_tokens(m);
    return stored && !attest_kv_scaled(m->p) && attest_format_of(type - 1).p >= attest_format_of(m->p->in).p &&
           power_of_two(m->p->scale, !m->numerics->scale_dtype) && !folds_more(m);
}

/* What is neither scaled nor decayed is rounded once, as a feature. */
static int is_stored_already(const bound_model *m)
{
    return m->stores_features && !is_multiplied(m) && !bound_decays_tokens(m);
}

/* R-DELTA, R-GATE, R-DROPOUT: what a delta rule writes, and gated values, may be stored as scaled numbers are. */
static void set_values(bound_model *m)
{
    const uint32_t type = made_type(m, 1);
    mag_set(m->gated_limit, m->limit);
    m->written_emax = attest_format_of(m->p->acc).emax - 1;
    if (!type)
        return;
    m->written_emax = attest_format_of(type - 1).emax - 1;
    mag_set_d(m->written, attest_unit_roundoff(type - 1));
    bound_tiny(m->written_tiny, type - 1, m->flags);
    for (int n = 0; n < m->products; n++) { /* v_scale v, gin times that, c times that */
        bound_compose(m->gated, m->gated, m->written);
        mag_add(m->gated_tiny, m->gated_tiny, m->written_tiny);
    }
    if (m->products)
        reaches(m->gated_limit, type);
}

/* R-SCORE: q, or q and k where their scale may be a root on both sides, may be stored scaled and once more times
 * decays.  A delta rule's keys are not scaled, and R-DELTA has a rounding to spare for the query. */
static int stored_again(const bound_model *m)
{
    const int scaled = is_multiplied(m) && m->p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_ADD;
    return scaled && bound_stores_decayed(m) ? m->numerics->scale_dtype ? 1 : 2 : 0;
}

/* R-SCORE: may q be taken to the type of its keys, or (R-KV-SCALE) k_scale k be stored, before its share of the scale
 * makes another number of it? */
static int taken_first(const bound_model *m)
{
    const int taken = attest_kv_scaled(m->p) ? !m->numerics->scale_dtype
                                             : m->unknown && m->p->axis[ATTEST_AXIS_KV].value;
    return taken && is_multiplied(m);
}

/* R-SCORE: what storing scores, and scaled q and k, in narrower types does. */
static void set_stores(bound_model *m, mag_t after)
{
    const uint32_t score = m->numerics->score_dtype, scaled = scaled_type(m);
    mag_set(m->store_limit, m->limit);
    mag_set(m->scaled_limit, m->limit);
    m->score_emin = attest_format_of(m->p->acc).emin;
    if (score && attest_format_of(score - 1).p < attest_format_of(m->p->acc).p) {
        mag_set_d(m->store, attest_unit_roundoff(score - 1));
        bound_tiny(m->store_tiny, score - 1, m->flags);
        reaches(m->store_limit, score);
    }
    if (scaled) { /* q and k, each once, and those that are scaled and decayed */
        const slong emin = attest_format_of(scaled - 1).emin;
        m->scales_inputs = 1;
        m->score_emin = emin > m->score_emin ? emin : m->score_emin;
        const int gated = m->gates_inputs && m->gates_rows; /* of gin k: R-GATE's G */
        const int made = !scales_exactly(m, scaled) && !is_stored_already(m);
        m->stores = (made ? 2 + stored_again(m) + taken_first(m) : 0) + gated;
        if (m->stores)
            mag_set_d(m->scaled, attest_unit_roundoff(scaled - 1));
        for (int k = 0; k < m->stores; k++)
            bound_compose(after, after, m->scaled);
        bound_tiny(m->scaled_tiny, scaled - 1, m->flags);
        reaches(m->scaled_limit, scaled);
    }
}

/* R-SCORE: one product with a scale of a declared type.  Else scale, its root and two products, the root's error twice;
 * or a root of d and a division by it. */
static void scale_roundings(mag_t y, const bound_model *m, int declared)
{
    AUTO_MAG(x);
    bound_gamma(y, declared ? 1 : 5, m->u);
    if (declared)
        return;
    bound_gamma(x, 1, m->u);
    bound_compose(x, x, m->u_div);
    mag_max(y, y, x);
}

/* R-SCORE: d products and d-1 additions, then the scale. */
static void set_score(bound_model *m)
{
    const double scale = m->p->scale;
    const uint32_t dtype = m->numerics->scale_dtype;
    const int narrow = dtype && attest_format_of(dtype - 1).p < attest_format_of(m->p->acc).p && folds_more(m);
    AUTO_MAG(one, after);
    mag_set_d(m->scale, scale);
    if (mag_cmp(m->u_sum, m->u) < 0) /* a finer accumulator is rounded to acc once */
        mag_set(after, m->u);
    set_stores(m, after);
    if (is_scaled(m) || narrow) {
        scale_roundings(one, m, dtype != 0);
        bound_compose(after, after, one);
        if (dtype && scale != 0) { /* what rounding it to its dtype does; the two doubles' difference is exact */
            mag_set_d(m->u_scale, attest_to_f64(dtype - 1, attest_from_f64(dtype - 1, scale)) - scale);
            mag_set_d_lower(one, scale);
            mag_div(m->u_scale, m->u_scale, one);
        }
        if (narrow) { /* another number than the scale is rounded to it */
            mag_set_d(one, attest_unit_roundoff(dtype - 1));
            mag_max(m->u_scale, m->u_scale, one);
        }
        if (!in_normal_range(scale, dtype ? dtype - 1 : m->p->acc))
            mag_inf(m->u_scale);
        bound_compose(after, after, m->u_scale);
    }
    bound_gamma(m->score, attest_feature_dim(m->p), m->u_sum);
    bound_compose(m->score, m->score, after);
    bound_probabilistic_gamma(m->score_likely, attest_feature_dim(m->p), m->u_sum);
    bound_compose(m->score_likely, m->score_likely, after);
    mag_set(m->score_scale, after);
    mag_one(m->room);
    if (!mag_is_zero(m->scale) && mag_cmp(m->scale, m->room) < 0) {
        mag_set_d_lower(one, scale);
        mag_div(m->room, m->room, one);
    }
}

/* R-ALIBI's conditions; attest_declared_resolve() refuses what it does not cover. */
static int is_by_key(const bound_model *m)
{
    const attest_setting *axis = m->p->axis;
    return (m->flags & ATTEST_ALIBI_BY_KEY) && m->exponential && axis[ATTEST_AXIS_ALIBI].value != ATTEST_ALIBI_NONE &&
           axis[ATTEST_AXIS_MASK].value != ATTEST_MASK_FULL;
}

/* R-STEP: where nothing else is declared a bias may be divided by the scale, join the product as one more term and be
 * scaled with it; and it may be rounded to the type of stored scores.  An alibi by key likewise. */
static void set_bias(bound_model *m)
{
    const uint32_t score = m->numerics->score_dtype;
    AUTO_MAG(x);
    m->by_key = is_by_key(m);
    if (m->p->axis[ATTEST_AXIS_BIAS].value == ATTEST_BIAS_NONE && !m->by_key)
        return;
    m->folds = m->unknown || !m->numerics->scale_dtype;
    if (m->folds) {
        bound_gamma(m->bias, attest_kv_scaled(m->p) ? 3 : 2, m->u); /* a reciprocal's product, a finer accumulator */
        bound_compose(m->bias, m->bias, m->u_div);
        bound_compose(m->bias, m->bias, m->score);
        mag_set(x, m->score_scale);
        bound_compose(m->bias, m->bias, x);
        mag_mul_2exp_si(m->bias_tiny, m->tiny_score, 3);
    }
    if (!mag_is_zero(m->store) && (m->folds || attest_format_of(score - 1).p < attest_format_of(m->p->in).p)) {
        bound_gamma(x, 1, m->store);
        bound_compose(m->bias, m->bias, x);
        mag_add(m->bias_tiny, m->bias_tiny, m->store_tiny);
    }
    mag_addmul(m->bias_tiny, m->bias_tiny, m->scale);
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
    m->rows = m->full_rows = 0;
    for (int n = in->lowest; !m->exponential && n <= in->highest; n++) {
        const int64_t rows = attest_state_rows(attest_feature_dim(m->p), n, packed);
        const int64_t full = attest_state_rows(attest_feature_dim(m->p), n, 0);
        m->rows = rows < 0 || m->rows < 0 ? -1 : m->rows + rows;
        m->full_rows = full < 0 || m->full_rows < 0 ? -1 : m->full_rows + full;
    }
    if (m->unknown && (m->rows < 0 || m->rows > STATE_ROWS_UNKNOWN))
        m->recurrent = 0;
}

/* R-UPDATE's conditions.  Without a causal mask chunks may be added up in any order. */
static void set_update(bound_model *m)
{
    const uint32_t schedule = m->numerics->schedule;
    const int causal = m->p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL;
    if (!m->recurrent || m->given || m->numerics->acc_truncates == ATTEST_YES || m->numerics->block > 0)
        return;
    if (schedule == ATTEST_SCHEDULE_RECURRENT && causal)
        m->update = 1;
    else if (schedule == ATTEST_SCHEDULE_CHUNK && causal && m->p->chunk > 0)
        m->update = m->p->chunk;
}

/* R-PROBABILISTIC's conditions.  Of scores: nothing but the product may err, and of 2d - 1 roundings lambda sqrt() is
 * more than all up to 16. */
static void set_likely(bound_model *m)
{
    const attest_setting *axis = m->p->axis;
    const int steps = axis[ATTEST_AXIS_CAP].value || axis[ATTEST_AXIS_ALIBI].value || axis[ATTEST_AXIS_BIAS].value ||
                      axis[ATTEST_AXIS_CLAMP].value || axis[ATTEST_AXIS_FILTER].value;
    m->likely = m->numerics->acc_truncates == ATTEST_NO && !m->unknown && !m->running &&
                mag_cmp_2exp_si(m->u_sum, -23) < 0;
    m->likely_scores = m->likely && m->plain && !steps && !m->decays && mag_is_zero(m->store) &&
                       2 * m->p->d - 1 > BOUND_LAMBDA * BOUND_LAMBDA;
}

int bound_model_set(bound_model *m, const ref_inputs *in, const attest_numerics *numerics, uint32_t flags)
{
    const attest_problem *p = in->p;
    m->p = p;
    m->numerics = numerics;
    m->flags = flags;
    m->exponential = p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP;
    m->log2_domain = numerics->log2_domain != ATTEST_NO;
    m->cast_common = numerics->division == ATTEST_DIVISION_THEN_CAST ? ATTEST_NO : (int)numerics->cast_in_sum;
    m->narrows = attest_format_of(p->in).p > attest_format_of(p->acc).p || attest_kv_scaled(p);
    m->given = p->axis[ATTEST_AXIS_STATE].value != ATTEST_STATE_NONE;
    m->decays = axis_decay_of(p)->set;
    m->vector = axis_decay_of(p)->vector;
    m->gates_values = axis_gates_of(p)->values;
    m->gates_rows = axis_gates_of(p)->rows;
    m->gates_inputs = may_gate_inputs(m);
    m->drops = attest_drops(p) || attest_kv_scaled(p);
    m->products = attest_kv_scaled(p) + m->gates_values + attest_drops(p);
    set_form(m, in);
    set_update(m);
    set_units(m);
    m->divides_first = numerics->division != ATTEST_DIVISION_AFTER_SUM && !(flags & ATTEST_SERIAL_SUMS);
    m->running = m->exponential && (numerics->division == ATTEST_DIVISION_RUNNING ||
                                    (m->unknown && numerics->division == ATTEST_DIVISION_UNKNOWN));
    bound_model_features(m, scaled_type(m));
    set_score(m);
    set_values(m);
    axis_dropout_size(m->kept, p);
    axis_dropout_error(m->kept_error, p, m->u, m->u_div);
    mag_one(m->shrink);
    mag_one(m->spread);
    set_bias(m);
    const uint32_t scattered = p->axis[ATTEST_AXIS_ATTN_MASK].value; /* R-MASK: tiles count masked keys */
    m->stores_parts = m->exponential && !m->recurrent && !mag_is_zero(m->u_state) &&
                      (m->unknown || numerics->schedule == ATTEST_SCHEDULE_SPLIT);
    m->serial = (flags & ATTEST_SERIAL_SUMS) && mag_equal(m->u_sum, m->u) && !m->recurrent && !m->given &&
                !m->stores_parts &&
                (numerics->schedule == ATTEST_SCHEDULE_TWO_PASS || numerics->schedule == ATTEST_SCHEDULE_DIRECT ||
                 (scattered == 0 && numerics->schedule == ATTEST_SCHEDULE_SPLIT && m->exponential) ||
                 (scattered == 0 && numerics->schedule == ATTEST_SCHEDULE_ONLINE && numerics->tile > 0));
    const int factors = numerics->schedule == ATTEST_SCHEDULE_ONLINE || numerics->schedule == ATTEST_SCHEDULE_SPLIT;
    m->common = m->exponential && m->serial && factors && !m->decays &&
                p->axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_NONE;
    m->plain = p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_IDENTITY && !m->turns && !m->narrows &&
               !m->vector && mag_is_zero(m->feature_tiny);
    set_likely(m);
    return 1;
}

void bound_model_scales(bound_model *m, const ref_inputs *in, int64_t b, int64_t g)
{
    const double k = attest_kv_scale(in->p, in->role[ATTEST_K_SCALE], b, g);
    const double v = attest_kv_scale(in->p, in->role[ATTEST_V_SCALE], b, g);
    AUTO_MAG(x, low);
    if (!attest_kv_scaled(in->p))
        return;
    mag_one(x);
    mag_set_d_lower(low, k);
    mag_div(x, x, low);
    mag_set_d(m->spread, k);
    mag_max(m->spread, m->spread, x);
    if (!in_normal_range(k, in->p->acc) || !in_normal_range(v, in->p->acc) ||
        !in_normal_range(in->p->scale * k, in->p->acc)) /* rounded to double: normal numbers of acc stay that */
        mag_inf(m->spread);
    mag_mul(m->bias_tiny, m->bias_tiny, m->spread);
    mag_one(x);
    mag_set_d_lower(low, v);
    mag_div(low, x, low);
    mag_max(m->shrink, m->shrink, low);
    mag_set_d(low, v);
    mag_max(low, low, x);
    mag_mul(m->kept, m->kept, low);
}
