/* bound_weights.c - score errors (R-SCORE) and what casts and sums add to each weight (R-CAST, R-SUM). */
#include "reference/bound/bound.h"

#include <stdlib.h>

static const size_t scalar_fields[] = {
    offsetof(bound_weights, q_sum),      offsetof(bound_weights, q_max),        offsetof(bound_weights, k_max),
    offsetof(bound_weights, delta_max),  offsetof(bound_weights, score_max),    offsetof(bound_weights, center),
    offsetof(bound_weights, unit),       offsetof(bound_weights, inverse),      offsetof(bound_weights, extra_error),
    offsetof(bound_weights, divisor),    offsetof(bound_weights, merge),        offsetof(bound_weights, gamma_sum),
    offsetof(bound_weights, lost),       offsetof(bound_weights, gamma_state),  offsetof(bound_weights, lost_state),
    offsetof(bound_weights, value_tiny), offsetof(bound_weights, reach),        offsetof(bound_weights, decay_most),
    offsetof(bound_weights, decay_log),  offsetof(bound_weights, weight_max),   offsetof(bound_weights, gate_value),
    offsetof(bound_weights, gate_row),   offsetof(bound_weights, gate_tiny),    offsetof(bound_weights, likely_score),
    offsetof(bound_weights, likely_sum), offsetof(bound_weights, likely_state), offsetof(bound_weights, sum_tiny),
    offsetof(bound_weights, cast_tiny),  offsetof(bound_weights, state_reach),  offsetof(bound_weights, gamma_term),
    offsetof(bound_weights, shift),      offsetof(bound_weights, values_lost),  offsetof(bound_weights, decay_made),
};

#define ARRAYS (5 + BOUND_SETS)

static mag_ptr scalar(bound_weights *w, size_t k) { return (mag_ptr)(void *)((char *)w + scalar_fields[k]); }

attest_status bound_weights_init(bound_weights *w, int64_t keys, attest_error *err)
{
    *w = (bound_weights){ .keys = keys };
    for (size_t k = 0; k < sizeof scalar_fields / sizeof scalar_fields[0]; k++)
        mag_init(scalar(w, k));
    mag_ptr block = calloc((size_t)keys * ARRAYS + 1, sizeof *block); /* zeroed mags are initialised zeros */
    w->choice = calloc((size_t)keys + 1, 1);
    if (!block || !w->choice) {
        free(block);
        return attest_fail(err, ATTEST_NO_MEMORY, "bound: no memory for %lld keys", (long long)keys);
    }
    w->delta = block;
    w->feature = block + keys;
    w->token = block + 2 * keys;
    w->size = block + 3 * keys;
    for (int t = 0; t < BOUND_SETS; t++)
        w->set[t] = block + (4 + t) * keys;
    w->likely = block + (4 + BOUND_SETS) * keys;
    return ATTEST_OK;
}

void bound_weights_clear(bound_weights *w)
{
    for (size_t k = 0; k < sizeof scalar_fields / sizeof scalar_fields[0]; k++)
        mag_clear(scalar(w, k));
    const int64_t arrays = w->likely ? ARRAYS : ARRAYS - 1; /* it is the last one */
    for (int64_t j = 0; w->delta && j < w->keys * arrays; j++)
        mag_clear(w->delta + j);
    free(w->delta);
    free(w->choice);
}

/* Could scale*q_c underflow for some channel? */
static int small_query(const bound_model *m, const ref_inputs *in, attest_row at)
{
    const attest_tensor *q = in->role[ATTEST_Q];
    AUTO_MAG(x);
    int small = 0;
    for (int64_t c = 0; c < in->p->d; c++) {
        const double value = attest_load(q, attest_offset(q, at.b, at.h, at.i, c));
        mag_set_d_lower(x, value);
        mag_mul_lower(x, x, m->scale);
        small |= value != 0 && mag_cmp(x, m->normal) <= 0;
    }
    return small;
}

/* Sizes of tokens, only where a term of a lemma needs them. */
static void set_tokens(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at)
{
    const double scale = in->p->scale;
    const int plain = scale <= 1 && scale >= -1 && scale != 0; /* pre-scaling k cannot overflow */
    AUTO_MAG(top);
    bound_token_size(w->q_sum, w->q_max, in, ATTEST_Q, at.b, at.h, at.i);
    if (mag_is_zero(m->feature_tiny) && !m->recurrent && !m->given && !m->narrows && !m->vector && plain &&
        !m->scales_inputs && mag_is_zero(m->operand) && mag_equal(m->tiny_score, m->tiny) &&
        (scale == 1.0 || !small_query(m, in, at)))
        return;
    for (int64_t j = 0; j < row->keys; j++) {
        bound_token_size(w->token + j, top, in, ATTEST_K, at.b, attest_kv_head(in->p, at.h), row->key[j]);
        mag_max(w->k_max, w->k_max, top);
    }
}

/* R-FEATURE: |scale| (tiny (1+F) (|q| + |k|) + d tiny^2) + mass (2F + F^2); a decay inside the product multiplies
 * it. */
static void feature_error(mag_t y, const bound_weights *w, const bound_model *m, const mag_t mass, int64_t j)
{
    AUTO_MAG(x);
    mag_zero(y);
    if (!mag_is_zero(m->feature_tiny)) {
        mag_add(x, w->q_sum, w->token + j);
        mag_addmul(x, x, m->feature);
        mag_mul_ui(y, m->feature_tiny, (ulong)attest_feature_dim(m->p));
        mag_add(x, x, y);
        mag_mul(y, x, m->feature_tiny);
        mag_mul(y, y, m->scale);
        if (m->vector)
            mag_mul(y, y, w->decay_most);
    }
    bound_compose(x, m->feature, m->feature);
    mag_addmul(y, x, mass);
}

/* Adds to the features' parts what rotations and divisions by a norm do (R-ROTATE, R-UNIT). */
static void add_turns(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at)
{
    bound_turned q, k;
    AUTO_MAG(x);
    if (!m->turns)
        return;
    bound_turned_init(&q);
    bound_turned_init(&k);
    w->overflow |= !bound_turned_set(&q, m, in, ATTEST_Q, at.b, at.h, at.i, ref_position(in, at.b, at.i));
    for (int64_t j = 0; j < row->keys; j++) {
        const int64_t key = row->key[j];
        w->overflow |= !bound_turned_set(&k, m, in, ATTEST_K, at.b, attest_kv_head(in->p, at.h), key, key);
        bound_turned_score(x, m, &q, &k, row->turn + j);
        if (m->vector)
            mag_mul(x, x, w->decay_most);
        mag_add(w->feature + j, w->feature + j, x);
    }
    bound_turned_clear(&k);
    bound_turned_clear(&q);
}

/* delta_j of the scaled product: R-SCORE, and R-DECAY where the decay is inside it. */
static void product_error(bound_weights *w, const bound_model *m, const ref_row *row, int64_t i, int64_t j)
{
    AUTO_MAG(x, y, score);
    mag_set(score, m->score);
    if (m->vector) {
        bound_decay_error(x, y, w, m, i - row->key[j]);
        bound_compose(score, score, x);
        mag_mul(y, y, m->scale);
        mag_mul(y, y, w->q_sum);
        mag_mul(y, y, w->k_max);
    }
    mag_add(x, row->mass + j, w->feature + j);
    mag_mul(w->delta + j, x, score);
    mag_add(w->delta + j, w->delta + j, w->feature + j);
    mag_add(w->delta + j, w->delta + j, y);
    if (w->likely) /* a plain score: no feature, no decay */
        mag_mul(w->likely + j, x, m->score_likely);
    mag_mul(x, x, m->room);
    bound_stretch(x, m, m->spread); /* a product of stored keys */
    if (!(mag_cmp(x, m->score_limit) <= 0))
        w->overflow = 1;
}

/* R-SCORE: a score is stored after the product, the scale and each of the steps, and a cap's quotient and its tanh are;
 * none is larger than the product or the final score, and without a step the two are one.  R-KV-SCALE: k_scale is a
 * step. */
static void add_stores(bound_weights *w, const bound_model *m, const ref_row *row, int64_t j)
{
    const attest_setting *axis = m->p->axis;
    const ulong steps = 2u + (ulong)attest_kv_scaled(m->p) + 3u * (axis[ATTEST_AXIS_CAP].value != 0) +
                        (axis[ATTEST_AXIS_ALIBI].value != 0) + (axis[ATTEST_AXIS_BIAS].value != 0) +
                        (axis[ATTEST_AXIS_CLAMP].value != 0);
    AUTO_MAG(size, x);
    if (mag_is_zero(m->store))
        return;
    arb_get_mag(size, row->s + j);
    if (steps > 2)
        mag_max(size, size, row->mass + j);
    mag_add(size, size, w->shift); /* R-ALIBI */
    mag_add(size, size, w->delta + j);
    mag_mul(x, row->mass + j, m->room);
    bound_stretch(x, m, m->spread);
    if (!(mag_cmp(size, m->store_limit) <= 0) || !(mag_cmp(x, m->store_limit) <= 0))
        w->overflow = 1;
    bound_gamma(x, (int64_t)steps, m->store);
    mag_mul(size, size, x);
    mag_set_d(x, axis[ATTEST_AXIS_CAP].value ? 2 * axis[ATTEST_AXIS_CAP].number : 0); /* what is multiplied by it */
    mag_add(x, x, m->scale);
    mag_add_ui(x, x, steps);
    mag_mul(x, x, m->store_tiny);
    bound_stretch(x, m, m->spread); /* a product of stored keys, times k_scale */
    mag_add(size, size, x);
    mag_add(w->delta + j, w->delta + j, size);
}

/* R-ALIBI: slope |j - C| is at most this for any key and C. */
static void set_shift(bound_weights *w, const bound_model *m, const ref_inputs *in, attest_row at)
{
    const int64_t position = ref_position(in, at.b, at.i), last = m->p->m - 1;
    mag_zero(w->shift);
    if (!m->by_key)
        return;
    axis_slope_size(w->shift, in, at.h);
    mag_mul_ui(w->shift, w->shift, (ulong)(position > last ? position : last));
}

/* R-STEP: a bias must fit the type of stored scores; over the scale, with the product, the accumulator too. */
static void check_bias(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at)
{
    AUTO_MAG(x);
    if (m->p->axis[ATTEST_AXIS_BIAS].value == ATTEST_BIAS_NONE && !m->by_key)
        return;
    for (int64_t j = 0; j < row->keys; j++) {
        if (m->by_key)
            mag_set(x, w->shift);
        else
            mag_set_d(x, axis_bias(in, at, row->key[j]));
        if (m->folds) {
            mag_add(x, x, row->mass + j);
            mag_mul(x, x, m->room);
            bound_stretch(x, m, m->spread);
        }
        if (!(mag_cmp(x, m->store_limit) <= 0) || (m->folds && !(mag_cmp(x, m->score_limit) <= 0)))
            w->overflow = 1;
    }
}

/* R-PROBABILISTIC: `x` is what underflow does to both; e^delta - 1 is convex, so a factor of delta is one of it. */
static void likely_score(bound_weights *w, mag_t x, int64_t j)
{
    if (!w->likely)
        return;
    mag_add(x, x, w->likely + j);
    mag_div(x, x, w->delta + j);
    mag_max(w->likely_score, w->likely_score, x);
}

/* R-SCORE: x, a count of operations, becomes what their underflow does, and that of scaled q and k. */
__attribute__((noinline)) static void underflow_error(mag_t x, const bound_weights *w, const bound_model *m,
                                                      const ref_row *row, int64_t j)
{
    AUTO_MAG(y);
    mag_mul(x, x, m->tiny_score);
    mag_mul_2exp_si(x, x, 1);
    bound_scaled_error(y, w, m, row, j);
    mag_add(x, x, y);
    mag_add(y, w->q_sum, w->token + j); /* R-TENSOR: of q, k, and 2^emin <= 1 where both are subnormal */
    mag_add_ui(y, y, (ulong)attest_feature_dim(m->p));
    mag_addmul(y, y, m->scale);
    mag_addmul(x, y, m->operand);
    bound_stretch(x, m, m->spread); /* q times k_scale, or a product of stored keys that is multiplied by it */
}

static void set_scores(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at)
{
    AUTO_MAG(x, fixed);
    mag_add_ui(fixed, m->scale, 1); /* 2 tiny (2d(1+|scale|) + 2 + |q| + |k|): R-SCORE */
    mag_mul_ui(fixed, fixed, 2 * (ulong)attest_feature_dim(m->p));
    mag_add_ui(fixed, fixed, 2);
    mag_add(fixed, fixed, w->q_sum);
    for (int64_t j = 0; j < row->keys; j++)
        feature_error(w->feature + j, w, m, row->mass + j, j);
    add_turns(w, m, row, in, at);
    for (int64_t j = 0; j < row->keys; j++)
        product_error(w, m, row, at.i, j);
    bound_run_scores(w, m, row, in, at);
    for (int64_t j = 0; j < row->keys; j++) {
        mag_add(x, fixed, w->token + j);
        underflow_error(x, w, m, row, j);
        mag_add(w->delta + j, w->delta + j, x);
        likely_score(w, x, j);
    }
    mag_one(x);
    if (w->likely)
        mag_min(w->likely_score, w->likely_score, x);
    else
        mag_one(w->likely_score);
    set_shift(w, m, in, at);
    check_bias(w, m, row, in, at);
    bound_score_steps(w, m, row, in, at);
    for (int64_t j = 0; j < row->keys; j++) {
        add_stores(w, m, row, j);
        mag_max(w->delta_max, w->delta_max, w->delta + j);
        arb_get_mag(x, row->s + j);
        mag_add(x, x, w->delta + j);
        mag_max(w->score_max, w->score_max, x);
        arb_get_mag(w->size + j, row->w + j);
    }
    mag_add(w->score_max, w->score_max, w->shift);
    bound_filter_sizes(w, m, row, in, at);
}

static void check_inputs(bound_weights *w, const bound_model *m)
{
    AUTO_MAG(x, y);
    mag_one(x);
    mag_max(x, x, m->scale);
    bound_stretch(x, m, m->spread);
    mag_mul(y, x, w->q_max);
    mag_mul(x, x, w->k_max);
    if (mag_cmp(x, m->limit) > 0 || mag_cmp(y, m->limit) > 0)
        w->overflow = 1;
    if (m->scales_inputs) { /* by the scale, or its root on both sides */
        mag_sqrt(x, m->scale);
        if (m->numerics->scale_dtype || mag_cmp(x, m->scale) < 0)
            mag_set(x, m->scale);
        mag_one(y);
        if (m->stores_features || m->p->axis[ATTEST_AXIS_KV].value)
            mag_max(x, x, y);
        mag_max(y, w->q_max, w->k_max);
        mag_mul(x, x, y);
        bound_stretch(x, m, m->spread);
        if (bound_stores_decayed(m)) {
            mag_max(x, x, y); /* a product that is scaled afterwards */
            mag_mul(x, x, w->decay_most);
        }
        if (mag_cmp(x, m->scaled_limit) > 0)
            w->overflow = 1;
    }
    if (mag_is_zero(m->scale)) {
        mag_mul(x, w->q_sum, w->k_max);
        if (mag_cmp(x, m->limit) > 0)
            w->overflow = 1;
    }
}

/* Tiles and parts (R-ONLINE, R-MERGE). */
static void set_counts(bound_weights *w, const bound_model *m)
{
    const attest_numerics *n = m->numerics;
    const int64_t keys = w->range, splits = n->splits > 0 ? n->splits : m->p->splits; /* masked tiles too: R-MASK */
    const int tiled = n->schedule == ATTEST_SCHEDULE_ONLINE || n->schedule == ATTEST_SCHEDULE_SPLIT || m->unknown;
    if (n->schedule == ATTEST_SCHEDULE_SPLIT || m->unknown) {
        w->merges = splits > 0 ? splits : 1;
        w->logs = m->serial ? 1 : w->merges; /* else an lse of an lse of ... */
    }
    if (tiled && m->exponential)
        w->rescales = n->tile > 0 && keys / n->tile + 2 < keys ? keys / n->tile + 2 : keys;
    if (tiled && m->exponential && m->serial) /* tiles from the first visible key on; a part has none */
        w->rescales = n->schedule == ATTEST_SCHEDULE_SPLIT ? 0 : (keys - 1) / n->tile;
}

/* R-SUM: how many roundings one product meets on its way into the sum.  A tile may be summed on top of those before
 * it: only `block` says that parts are summed by themselves, and R-TENSOR's parts are not. */
static int64_t additions(const bound_weights *w, const bound_model *m)
{
    const attest_numerics *n = m->numerics;
    int64_t count = w->keys + 1;
    if (n->acc_truncates != ATTEST_YES && n->block > 0 && n->block + w->range / n->block + 2 < count)
        count = n->block + w->range / n->block + 2;
    if (m->numerics->schedule == ATTEST_SCHEDULE_CHUNK && m->recurrent && m->p->chunk > 0 &&
        m->p->chunk + m->degree + 3 < count)
        count = m->p->chunk + m->degree + 3; /* pairs of one chunk, and what is read of the state's degrees */
    if (m->running)                          /* a rescaled sum, its addition, that of the mean (R-RUNNING) */
        count = 3 * w->range + 1 - (w->rescales < w->range ? w->rescales : w->range);
    return count + w->rescales + (w->merges ? 2 * w->merges + 2 : 0);
}

/* What a term meets beside its additions. */
static void compose_sum(mag_t gamma, const bound_weights *w, const bound_model *m)
{
    AUTO_MAG(x);
    bound_gamma(x, w->logs, m->u_div); /* a quotient a merge (R-MERGE) */
    bound_compose(gamma, gamma, w->logs > 1 ? x : m->u_div);
    if (mag_cmp(m->u_sum, m->u) < 0) /* a finer accumulator is rounded to acc once */
        bound_compose(gamma, gamma, m->u);
    bound_gamma(x, m->narrows ? 1 : 0, m->u);
    bound_compose(gamma, gamma, x);
    bound_compose(gamma, gamma, w->gate_value); /* R-GATE */
    bound_compose(gamma, gamma, m->kept_error); /* R-DROPOUT */
    if (m->stores_parts)
        bound_compose(gamma, gamma, m->u_state);
    if (bound_stores_values(m) && (m->degree != 1 || axis_weight_of(m->p)->series)) /* else in place of a key */
        bound_compose(gamma, gamma, m->scaled);
}

static void set_gamma_sum(bound_weights *w, const bound_model *m)
{
    bound_gamma(w->gamma_sum, additions(w, m), m->u_sum);
    compose_sum(w->gamma_sum, w, m);
    bound_probabilistic_gamma(w->likely_sum, additions(w, m), m->u_sum);
    compose_sum(w->likely_sum, w, m);
    if (m->narrows)
        mag_add(w->value_tiny, w->value_tiny, m->tiny);
    if (m->flags & ATTEST_FTZ)
        mag_add(w->value_tiny, w->value_tiny, m->normal);
    mag_add(w->value_tiny, w->value_tiny, m->operand); /* R-TENSOR: of a subnormal v */
    if (m->stores_parts)
        mag_add(w->value_tiny, w->value_tiny, m->tiny_state);
    mag_add(w->value_tiny, w->value_tiny, m->gated_tiny);
}

/* R-CAST: |cast - w| <= u_cast (|w| + a) + tiny_cast unit, and where the weights may be divided before the
 * cast, tiny_cast |Z|.  The cast one may be gin w, and with dropout w/(1-R); who declares nothing may cast w first and
 * its product again. */
static void set_casts(bound_weights *w, const bound_model *m, const ref_row *row, int divides)
{
    const int twice = m->drops && m->unknown;
    AUTO_MAG(tiny, x, high, u_cast);
    bound_gamma(u_cast, twice ? 2 : 1, m->u_cast);
    if (!twice)
        mag_set(u_cast, m->u_cast);
    bound_gamma(x, w->rescales + w->merges, m->u_exp);
    mag_add_ui(x, x, 1);
    mag_mul(tiny, w->unit, x);
    if (divides && m->divides_first)
        mag_addmul(tiny, w->divisor, x);
    mag_mul(tiny, tiny, m->tiny_cast);
    bound_stretch(tiny, m, m->shrink); /* cast(v_scale w) meets v as it is stored */
    mag_mul_2exp_si(tiny, tiny, twice);
    mag_set(w->cast_tiny, tiny);
    for (int64_t j = 0; j < w->keys && m->direct && !mag_is_zero(m->u_cast); j++) {
        mag_add(x, w->size + j, w->set[BOUND_SCORE] + j);
        mag_add(x, x, w->set[BOUND_EXP] + j);
        mag_max(high, high, x);
        mag_mul(w->set[BOUND_CAST] + j, x, u_cast);
        mag_set(x, tiny);
        if (m->gates_values)
            bound_ungated(x, row->gin + j);
        mag_add(w->set[BOUND_CAST] + j, w->set[BOUND_CAST] + j, x);
    }
    mag_mul(high, high, w->inverse);
    mag_mul(high, high, m->kept);
    if (mag_cmp_2exp_si(high, attest_format_of(m->p->p).emax) >= 0)
        w->overflow = 1;
}

/* R-SUM: coefficient of |v_j| in the error of the sums, and what they lose by underflow. */
static void set_sums(bound_weights *w, const bound_model *m, int divides)
{
    AUTO_MAG(x, tiny, total);
    set_gamma_sum(w, m);
    if (divides && m->divides_first)
        mag_mul(tiny, w->divisor, m->tiny);
    mag_set(x, w->unit); /* R-TENSOR: of a subnormal weight */
    if (divides && m->divides_first)
        mag_add(x, x, w->divisor);
    mag_addmul(tiny, x, m->weight);
    bound_stretch(tiny, m, m->shrink);
    for (int64_t j = 0; j < w->keys && m->direct; j++) {
        mag_add(x, w->size + j, w->set[BOUND_SCORE] + j);
        mag_add(x, x, w->set[BOUND_EXP] + j);
        mag_add(x, x, w->set[BOUND_CAST] + j);
        mag_add(total, total, x);
        mag_mul(w->set[BOUND_SUM] + j, x, w->gamma_sum);
        mag_add(w->set[BOUND_SUM] + j, w->set[BOUND_SUM] + j, tiny);
    }
    mag_set(w->sum_tiny, tiny);
    mag_mul(w->reach, total, w->inverse);
    mag_set(w->lost, w->unit);
    if (divides && m->divides_first) /* then what is lost is not divided by Z */
        mag_add(w->lost, w->lost, w->divisor);
    mag_mul(w->lost, w->lost, m->tiny_sum);
    mag_mul_ui(w->lost, w->lost, 4 * ((ulong)w->keys + (ulong)w->rescales + (ulong)w->merges + 2));
    mag_mul(x, w->unit, m->weight); /* both subnormal: R-TENSOR's 34 2^-23 is in value_tiny too */
    mag_mul_2exp_si(x, x, 18);
    mag_mul_ui(x, x, (ulong)w->keys);
    mag_add(total, total, x);
    mag_mul(total, total, w->value_tiny);
    mag_mul_2exp_si(total, total, 1);
    mag_add(w->lost, w->lost, total);
    mag_mul(w->lost, w->lost, m->kept); /* the sum may be multiplied, or v as it is held */
}

/* Of the visible keys alone: what stands at masked ones may be no number. */
static void set_value_gate(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, int64_t b)
{
    AUTO_MAG(x);
    if (row->keys == w->range)
        bound_value_gate(w->gate_value, m, in, b, row->first, row->last);
    for (int64_t j = 0; row->keys < w->range && j < row->keys; j++) {
        bound_value_gate(x, m, in, b, row->key[j], row->key[j] + 1);
        mag_max(w->gate_value, w->gate_value, x);
    }
}

void bound_weights_set(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at,
                       int common)
{
    AUTO_ARB(divisor);
    if (!m->likely_scores)
        w->likely = NULL;
    const int64_t g = attest_kv_head(in->p, at.h), last = at.i < in->p->m ? at.i : in->p->m - 1;
    bound_decay_set(w->decay_most, w->decay_log, m, in, row->first, at.b, g, at.i);
    bound_decay_made(w->decay_made, m, in, at.b, g, m->given ? 0 : row->first + 1, last);
    w->range = row->last - row->first;
    set_value_gate(w, m, row, in, at.b);
    bound_row_gate(w->gate_row, w->gate_tiny, m, in, at.b, at.i);
    set_tokens(w, m, row, in, at);
    set_scores(w, m, row, in, at);
    check_inputs(w, m);
    set_counts(w, m);
    w->past = m->decays && at.i + 1 > w->keys ? at.i + 1 : w->keys;
    if (axis_divisor(divisor, row, in, at.h))
        arb_get_mag(w->divisor, divisor);
    if (m->exponential)
        bound_exp_weights(w, m, row, in, at.h, common);
    else
        bound_poly_weights(w, m, row, in);
    bound_filter_weights(w, m, row); /* kept_j is one of D W */
    bound_decay_weights(w, m, row, at.i);
    set_casts(w, m, row, common || m->running); /* a running mean is divided even where u is asked for */
    set_sums(w, m, common || m->running);
    if (m->recurrent || m->given)
        bound_state_weights(w, m, row);
}
