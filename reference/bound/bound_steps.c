/* bound_steps.c - what the steps between a score and its weighted value add to the errors: cap, alibi, bias, clamp
 * (R-STEP), filter (R-FILTER-BOUND), decay (R-DECAY), gates (R-GATE); and what stored q and k lose before it. */
#include "reference/bound/bound.h"

/* ---- stored q and k (R-SCORE, R-DECAY) --------------------------------------------------------------------------- */
/* 2 eta_q (1 + |scale|) (|q|_1 / min(1, |gin_j|) + |k_j|_1 / min(1, |gout|)), the gates where q and k may take them */
static void stored_error(mag_t y, const bound_weights *w, const bound_model *m, const ref_row *row, int64_t j)
{
    AUTO_MAG(query);
    mag_set(y, w->q_sum); /* k may be gin k, q gout q (R-GATE) */
    if (m->gates_inputs && m->gates_values)
        bound_ungated(y, row->gin + j);
    mag_set(query, w->token + j);
    if (m->gates_inputs && m->gates_rows)
        bound_ungated(query, row->gout);
    mag_add(y, y, query);
    mag_addmul(y, y, m->scale); /* 1 + |scale| >= max(1, |scale|) */
    mag_mul(y, y, m->scaled_tiny);
    mag_mul_2exp_si(y, y, 1);
}

void bound_scaled_error(mag_t y, const bound_weights *w, const bound_model *m, const ref_row *row, int64_t j)
{
    mag_zero(y);
    if (!m->scales_inputs)
        return;
    stored_error(y, w, m, row, j);
    if (m->vector)
        mag_mul(y, y, w->decay_most);
    if (m->vector && bound_stores_decayed(m)) /* once scaled and once decayed */
        mag_mul_2exp_si(y, y, 1);
}

void bound_decayed_error(mag_t y, const bound_weights *w, const bound_model *m, const ref_row *row, int64_t j)
{
    mag_zero(y);
    if (m->vector || !bound_stores_decayed(m))
        return;
    stored_error(y, w, m, row, j);
    mag_mul(y, y, w->decay_most);
}

/* ---- steps of a score ------------------------------------------------------------------------------------- */
/* Between key and query; R-ALIBI: the largest |j - C|. */
static int64_t distance_of(const bound_model *m, int64_t position, int64_t key)
{
    const int64_t back = position < key ? key - position : position - key, ahead = m->p->m - 1 - key;
    const int64_t most = key > ahead ? key : ahead;
    return m->by_key && most > back ? most : back;
}

void bound_score_steps(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at)
{
    axis_step_set steps[AXIS_STEPS];
    axis_step_error errors[AXIS_STEPS];
    const int count = axis_steps(steps, in, at);
    const int clamps = m->p->axis[ATTEST_AXIS_CLAMP].value != ATTEST_CLAMP_NONE;
    const axis_arithmetic arithmetic = bound_arithmetic(m);
    const int64_t position = ref_position(in, at.b, at.i);
    AUTO_MAG(size, after);
    if (!count)
        return;
    for (int k = 0; k < count; k++)
        axis_step_error_start(&errors[k], &steps[k], &arithmetic);
    for (int64_t j = 0; j < row->keys; j++) {
        const int64_t distance = distance_of(m, position, row->key[j]);
        mag_add(size, row->mass + j, w->delta + j);
        if (clamps)
            mag_inf(after);
        else
            arb_get_mag(after, row->s + j);
        for (int k = 0; k < count; k++) {
            axis_step_error_key(&errors[k], &steps[k], row->key[j]);
            errors[k].back = llabs(position - row->key[j]);
            steps[k].row->error(w->delta + j, size, &errors[k], distance, after);
        }
        if (!(mag_cmp(size, m->limit) <= 0))
            w->overflow = 1;
    }
    for (int k = 0; k < count; k++)
        axis_step_error_stop(&errors[k]);
}

/* ---- filter ----------------------------------------------------------------------------------------------- */
static void see_token(exact_span *span, const attest_tensor *t, int64_t b, int64_t h, int64_t token)
{
    for (int64_t c = 0; c < t->shape[3]; c++)
        exact_span_see(span, attest_load(t, attest_offset(t, b, h, token, c)));
}

/* Steps that leave the product of q and k alone, or nothing is known of how they are taken. */
static int plain_scores(const bound_model *m)
{
    static const attest_axis axes[] = { ATTEST_AXIS_FEATURE, ATTEST_AXIS_ROPE, ATTEST_AXIS_CAP,
                                        ATTEST_AXIS_ALIBI,   ATTEST_AXIS_BIAS, ATTEST_AXIS_CLAMP };
    for (size_t a = 0; a < sizeof axes / sizeof axes[0]; a++)
        if (m->p->axis[axes[a]].value)
            return 0;
    return !m->vector && !m->narrows && !m->log2_domain && (m->numerics->scale_dtype || m->p->scale == 1) &&
           mag_is_zero(m->store) && mag_is_zero(m->scaled) && mag_equal(m->tiny_score, m->tiny);
}

/* R-FILTER-EXACT: no kernel of this class rounds a score of the row, or the threshold. */
static int scores_are_exact(const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at)
{
    const slong least = m->score_emin;
    exact_span q, k, scale, gap;
    AUTO_MAG(size, unit);
    if (!plain_scores(m) || m->flags & ATTEST_FTZ)
        return 0;
    exact_span_start(&q);
    exact_span_start(&k);
    exact_span_start(&scale);
    exact_span_start(&gap);
    see_token(&q, in->role[ATTEST_Q], at.b, at.h, at.i);
    for (int64_t j = 0; j < row->keys; j++)
        see_token(&k, in->role[ATTEST_K], at.b, attest_kv_head(in->p, at.h), row->key[j]);
    exact_span_see(&scale, m->p->scale);
    exact_span_see(&gap, m->p->axis[ATTEST_AXIS_FILTER].number);
    const slong grid = q.low + k.low + scale.low;
    if (!q.finite || !k.finite || scale.top != scale.low + 1 || gap.low < grid || grid < least ||
        q.low + k.low < least || q.low + scale.low < least || k.low + scale.low < least)
        return 0;
    for (int64_t j = 0; j < row->keys; j++)
        mag_max(size, size, row->mass + j);
    mag_set_d(unit, m->p->axis[ATTEST_AXIS_FILTER].number);
    mag_mul_2exp_si(size, size, 1);
    mag_add(size, size, unit);
    mag_max(unit, m->u, m->u_sum);
    mag_mul(size, size, unit);
    const int exact = mag_cmp_2exp_si(size, grid) <= 0;
    return exact;
}

/* Keys whose score may be on either side of max - TAU for the kernel swing by all of their weight; others are surely
 * kept or surely dropped. */
void bound_filter_sizes(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at)
{
    const attest_setting *filter = &m->p->axis[ATTEST_AXIS_FILTER];
    const int exact = filter->value != ATTEST_FILTER_NONE && scores_are_exact(m, row, in, at);
    AUTO_ARB(top, gap);
    AUTO_MAG(slack, x, size);
    if (filter->value == ATTEST_FILTER_NONE)
        return;
    arb_neg_inf(top);
    for (int64_t j = 0; j < row->keys; j++)
        arb_max(top, top, row->s + j, row->prec);
    arb_set_d(gap, filter->number);
    arb_sub(top, top, gap, row->prec);
    mag_set_d(size, filter->number);
    mag_add(size, size, w->score_max);
    bound_gamma(x, 4, m->u); /* TAU, max - TAU, s - max, the comparison */
    for (int64_t j = 0; j < row->keys; j++) {
        arb_sub(gap, row->s + j, top, row->prec);
        mag_add(slack, w->delta + j, w->delta_max);
        mag_addmul(slack, size, x);
        if (!exact)
            mag_add(arb_radref(gap), arb_radref(gap), slack);
        w->choice[j] = arb_is_positive(gap) ? BOUND_KEPT : arb_is_nonpositive(gap) ? BOUND_DROPPED : BOUND_OPEN;
        if (w->choice[j] == BOUND_DROPPED)
            mag_zero(w->size + j);
        if (w->choice[j] == BOUND_OPEN)
            mag_max(w->size + j, w->size + j, row->kept + j);
    }
}

void bound_filter_weights(bound_weights *w, const bound_model *m, const ref_row *row)
{
    if (m->p->axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_NONE)
        return;
    for (int64_t j = 0; j < row->keys; j++) {
        if (w->choice[j] == BOUND_DROPPED) {
            mag_zero(w->set[BOUND_SCORE] + j);
            mag_zero(w->set[BOUND_EXP] + j);
        } else if (w->choice[j] == BOUND_OPEN) {
            mag_add(w->set[BOUND_SCORE] + j, w->set[BOUND_SCORE] + j, row->kept + j);
        }
    }
}

/* ---- decay ------------------------------------------------------------------------------------------------ */
int64_t bound_decay_steps(const bound_model *m, int64_t tokens)
{
    const int64_t chunk = m->p->chunk > 0 ? m->p->chunk : 1;
    const int chunked = m->unknown || m->numerics->schedule == ATTEST_SCHEDULE_CHUNK;
    int64_t count = tokens > 0 ? 2 * tokens + 9 : 0;
    if (!m->decays)
        return 0;
    if (chunked)
        count += 10 * (tokens / chunk + 1);
    return count;
}

/* Products of max(1, |a|) and sums of |ln a| over tokens [first, last], for channel c of a; ln 0 is at most
 * 2 |emin|. */
static void gather(mag_t most, mag_t logs, int *positive, const ref_inputs *in, int64_t b, int64_t g, int64_t first,
                   int64_t last, int64_t c)
{
    AUTO_MAG(x);
    mag_one(most);
    mag_zero(logs);
    for (int64_t k = first; k <= last; k++) {
        const double a = axis_decay_factor(in, b, g, k, c);
        *positive &= a >= 0;
        if (a == 0)
            mag_add_ui(logs, logs, 2 * (ulong)-attest_format_of(in->p->acc).emin);
        if (!(a > 0) && !(a < 0))
            continue; /* 0, or a NaN that the row does not read */
        mag_set_d(x, a);
        if (mag_cmp_2exp_si(x, 0) > 0)
            mag_mul(most, most, x);
        if (!*positive)
            continue;
        mag_log(x, x);
        mag_add(logs, logs, x);
        mag_set_d_lower(x, a);
        mag_neg_log(x, x);
        mag_add(logs, logs, x);
    }
}

/* |g| of a logarithm g that errs relatively; 0: it is not finite, which no row reads, or, with multiplied factors,
 * e^g <= 2^emin, which bound_decay_flush() and the like count as any number from 0 to that. */
static int erring_log(mag_t y, const bound_model *m, double log)
{
    if (!(__builtin_fabs(log) <= DBL_MAX))
        return 0;
    if (bound_decay_multiplied(m) && log <= 0.7 * attest_format_of(m->p->acc).emin) /* 0.7 > ln 2 */
        return 0;
    mag_set_d(y, log);
    return 1;
}

/* The same where ln a is stored, of its size; e^0 may err as any other exponential: logs is not 0. */
static void gather_logs(mag_t most, mag_t logs, const bound_model *m, const ref_inputs *in, int64_t b, int64_t g,
                        int64_t first, int64_t last, int64_t c)
{
    AUTO_MAG(x);
    mag_one(most);
    mag_set(logs, m->normal);
    for (int64_t k = first; k <= last; k++) {
        const double log = axis_decay_stored(in, b, g, k, c);
        if (!erring_log(x, m, log))
            continue;
        mag_add(logs, logs, x);
        if (log > 0) {
            mag_exp(x, x);
            mag_mul(most, most, x);
        }
    }
}

/* May every token's factor be an exponential of its own? */
static int each_by_exp(const bound_model *m)
{
    const int one_by_one = m->numerics->schedule == ATTEST_SCHEDULE_RECURRENT;
    return attest_log_decays(m->p) && (m->unknown || one_by_one || m->numerics->decay_products != ATTEST_NO);
}

void bound_decay_made(mag_t y, const bound_model *m, const ref_inputs *in, int64_t b, int64_t g, int64_t first,
                      int64_t last)
{
    const int64_t channels = m->vector ? m->p->d : 1;
    AUTO_MAG(x, most);
    mag_zero(y);
    if (!m->decays || !attest_log_decays(m->p))
        return;
    for (int64_t t = first; t <= last; t++)
        for (int64_t c = 0; c < channels; c++) {
            if (erring_log(x, m, axis_decay_stored(in, b, g, t, c)))
                mag_max(most, most, x);
        }
    bound_gamma(x, 3, m->u); /* in base 2 */
    mag_mul(most, most, x);
    mag_expm1(y, most);
    bound_compose(y, y, m->u_exp);
}

void bound_decay_set(mag_t most, mag_t logs, const bound_model *m, const ref_inputs *in, int64_t first, int64_t b,
                     int64_t g, int64_t i)
{
    const int one_by_one = m->numerics->schedule == ATTEST_SCHEDULE_RECURRENT;
    const int added = m->unknown || (!one_by_one && m->numerics->decay_products != ATTEST_YES);
    const int64_t channels = m->vector ? m->p->d : 1, from = added || m->given ? 0 : first + 1;
    const int64_t last = i < in->p->m ? i : in->p->m - 1;
    const int stored = attest_log_decays(in->p);
    int positive = added || stored;
    AUTO_MAG(product, sum);
    mag_one(most);
    mag_zero(logs);
    if (!m->decays)
        return;
    for (int64_t c = 0; c < channels; c++) {
        if (stored)
            gather_logs(product, sum, m, in, b, g, from, last, c);
        else
            gather(product, sum, &positive, in, b, g, from, last, c);
        mag_max(most, most, product);
        mag_max(logs, logs, sum);
        if (stored && from > 0) { /* a state of zeros may be multiplied by it: infinite times 0 */
            gather_logs(product, sum, m, in, b, g, 0, from - 1, c);
            mag_max(most, most, product);
        }
    }
    /* logarithms may be added up and two of the sums subtracted, but where decays are multiplied by declaration */
    if (bound_decay_multiplied(m)) { /* each exponent by itself, in base 2 */
        bound_gamma(sum, 3, m->u);
    } else {
        bound_gamma(sum, i + 12, m->u);
        if (!stored)
            bound_compose(sum, sum, m->u_log);
        mag_mul_2exp_si(sum, sum, 1);
    }
    mag_mul(logs, logs, sum);
    if (!positive)
        mag_zero(logs);
}

int64_t bound_decay_exponentials(const bound_model *m, int64_t tokens)
{
    const int64_t chunk = m->p->chunk > 0 && !m->unknown ? m->p->chunk : 1; /* undeclared: chunks of its own */
    return (tokens <= 0 ? 0 : each_by_exp(m) ? tokens : tokens / chunk) + 2;
}

int64_t bound_decay_pair_exponentials(const bound_model *m, int64_t tokens)
{
    return each_by_exp(m) ? bound_decay_exponentials(m, tokens) : 2;
}

int bound_decay_multiplied(const bound_model *m)
{
    const uint32_t schedule = m->numerics->schedule;
    return attest_log_decays(m->p) && !m->unknown &&
           (schedule == ATTEST_SCHEDULE_RECURRENT || m->numerics->decay_products == ATTEST_YES);
}

void bound_decay_flush(mag_t y, const bound_model *m, const mag_t most, const mag_t logs, int64_t tokens)
{
    AUTO_MAG(x);
    mag_zero(y);
    if (mag_is_zero(logs))
        return;
    mag_exp(y, logs);
    mag_mul(y, y, most);
    mag_mul(y, y, m->normal);
    bound_gamma(x, bound_decay_exponentials(m, tokens), m->u_exp);
    mag_addmul(y, y, x);
    bound_gamma(x, bound_decay_steps(m, tokens), m->u);
    mag_addmul(y, y, x);
}

void bound_decay_error(mag_t theta, mag_t lost, const bound_weights *w, const bound_model *m, int64_t tokens)
{
    const int64_t steps = bound_decay_steps(m, tokens);
    AUTO_MAG(x, flush);
    bound_decay_flush(flush, m, w->decay_most, w->decay_log, tokens);
    bound_gamma(theta, steps, m->u);
    mag_mul_ui(lost, m->tiny, (ulong)steps);
    mag_mul(lost, lost, w->decay_most);
    mag_add(lost, lost, flush);
    if (!mag_is_zero(w->decay_log)) {
        mag_set(x, w->decay_log);
        if (m->exponential) { /* exponents shifted by another maximum; a polynomial's score is none */
            mag_t shift;
            mag_init(shift);
            bound_gamma(shift, 6, m->u);
            mag_addmul(x, shift, w->score_max);
            mag_clear(shift);
        }
        mag_expm1(x, x);
        bound_compose(theta, theta, x);
        bound_gamma(x, bound_decay_pair_exponentials(m, tokens), m->u_exp);
        bound_compose(theta, theta, x);
    }
    if (bound_decay_multiplied(m)) { /* so many factors, each of which errs by the most that one of them does */
        bound_gamma(x, steps, m->u);
        bound_gamma(flush, tokens > 0 ? tokens : 0, w->decay_made);
        bound_compose(x, x, flush);
        mag_min(theta, theta, x);
    }
}

void bound_decay_weights(bound_weights *w, const bound_model *m, const ref_row *row, int64_t i)
{
    AUTO_MAG(theta, lost, x);
    if (!m->decays || m->vector)
        return;
    for (int64_t j = 0; j < row->keys; j++) {
        bound_decay_error(theta, lost, w, m, i - row->key[j]);
        mag_add(x, w->size + j, w->set[BOUND_SCORE] + j);
        mag_add(x, x, w->set[BOUND_EXP] + j);
        mag_addmul(w->set[BOUND_EXP] + j, x, theta);
        mag_addmul(w->set[BOUND_EXP] + j, lost, w->weight_max);
        mag_mul(x, m->tiny, w->unit);
        mag_mul_2exp_si(x, x, 1);
        mag_add(w->set[BOUND_EXP] + j, w->set[BOUND_EXP] + j, x);
    }
}

/* ---- gates ------------------------------------------------------------------------------------------------ */
/* Relative error of gates of tokens [first,last): of their making, and of one product. */
static void gate_error(mag_t theta, const bound_model *m, const attest_tensor *t, int64_t b, int64_t first,
                       int64_t last)
{
    const axis_gates *gates = axis_gates_of(m->p);
    const axis_arithmetic arithmetic = bound_arithmetic(m);
    AUTO_MAG(made);
    mag_set(theta, m->u);
    if (gates->error)
        gates->error(made, &arithmetic, t, b, first, last);
    bound_compose(theta, theta, made);
}

void bound_value_gate(mag_t theta, const bound_model *m, const ref_inputs *in, int64_t b, int64_t first, int64_t last)
{
    mag_zero(theta);
    if (m->gates_values)
        gate_error(theta, m, in->role[axis_gates_of(m->p)->value_role], b, first, last);
    bound_compose(theta, theta, m->gated);
}

void bound_ungated(mag_t x, const arb_t gate)
{
    AUTO_MAG(low);
    arb_get_mag_lower(low, gate);
    if (!mag_is_zero(low) && mag_cmp_2exp_si(low, 0) < 0)
        mag_div(x, x, low);
}

void bound_row_gate(mag_t theta, mag_t tiny, const bound_model *m, const ref_inputs *in, int64_t b, int64_t i)
{
    mag_zero(theta);
    mag_zero(tiny);
    if (m->flags & ATTEST_FTZ) /* a stored gate below 2^emin counts as 0 */
        mag_set(tiny, m->normal);
    if (!m->gates_rows)
        return;
    gate_error(theta, m, in->role[axis_gates_of(m->p)->row_role], b, i, i + 1);
    if (!axis_gates_of(m->p)->stored)
        mag_mul_2exp_si(tiny, m->normal, 2);
}
