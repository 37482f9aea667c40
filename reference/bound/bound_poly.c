/* bound_poly.c - errors of polynomial weights: per pair (R-CENTER, R-POLY) and by states (R-STATE). */
#include "reference/bound/bound.h"

/* R-CENTER: max and min of computed scores move by at most the largest score error; mid rounds twice more. */
static void set_center(bound_weights *w, const bound_model *m)
{
    const axis_center *center = axis_center_of(m->p);
    AUTO_MAG(x);
    if (!center->least && !center->greatest)
        return;
    mag_set(w->center, w->delta_max);
    if (center->roundings) {
        bound_gamma(x, center->roundings, m->u);
        mag_addmul(w->center, x, w->score_max);
    }
}

/* R-POLY: powers times rounded 1/n!, where these are subnormal; Horner's rule has none.  0: a power may overflow. */
static int small_coefficients(mag_t y, const bound_model *m, const mag_t x)
{
    const axis_weight *weight = axis_weight_of(m->p);
    AUTO_MAG(power, inverse);
    mag_zero(y);
    if (m->numerics->schedule == ATTEST_SCHEDULE_DIRECT || !weight->factorial)
        return 1;
    for (int n = weight->series ? 2 : m->degree; n <= m->degree; n++) {
        mag_rfac_ui(inverse, (ulong)n);
        mag_pow_ui(power, x, (ulong)n);
        if (mag_cmp(inverse, m->normal) < 0)
            mag_add(y, y, power);
    }
    mag_mul(y, y, m->tiny);
    return mag_cmp(power, m->limit) <= 0;
}

/* What is multiplied by a decay D may have been rounded with it: errors of W become those of D W, and what a stored key
 * or query loses times D is not multiplied by it (R-DECAY). */
static void scale_by_decay(bound_weights *w, const bound_model *m, const ref_row *row, const mag_t slope, int64_t j)
{
    AUTO_MAG(x);
    if (!m->decays || m->vector)
        return;
    mag_mul(w->set[BOUND_SCORE] + j, w->set[BOUND_SCORE] + j, row->decay + j);
    mag_mul(w->set[BOUND_EXP] + j, w->set[BOUND_EXP] + j, row->decay + j);
    bound_decayed_error(x, w, m, row, j);
    mag_addmul(w->set[BOUND_SCORE] + j, x, slope);
}

/* Values times decays that are rounded: each loses 2 eta_q A of |W|, whose sum is `mass`. */
static void lose_values(bound_weights *w, const bound_model *m, const mag_t mass)
{
    AUTO_MAG(x);
    if (!bound_stores_values(m))
        return;
    mag_mul(x, mass, m->scaled_tiny);
    mag_mul(x, x, w->decay_most);
    mag_mul_2exp_si(x, x, 1);
    mag_max(w->values_lost, w->values_lost, x);
}

void bound_poly_weights(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in)
{
    const axis_weight *weight = axis_weight_of(m->p);
    const ulong order = m->p->axis[ATTEST_AXIS_WEIGHT].order;
    const int shifted = axis_center_of(m->p)->least || axis_center_of(m->p)->greatest;
    AUTO_ARB(x);
    AUTO_MAG(y, rest, slope, size, gamma, division, mass);
    mag_one(w->unit);
    mag_one(w->inverse);
    if (axis_norm_of(m->p)->eps && in->p->axis[ATTEST_AXIS_EPS].value) {
        mag_set_d(y, m->p->axis[ATTEST_AXIS_EPS].number);
        mag_mul(w->extra_error, y, m->u);
        mag_mul_ui(w->extra_error, w->extra_error, 2);
        mag_add(w->extra_error, w->extra_error, m->normal);
    }
    set_center(w, m);
    bound_gamma(gamma, weight->roundings(m->degree, m->unknown), m->u);
    bound_gamma(division, weight->divisions(m->degree), m->u_div);
    bound_compose(gamma, gamma, division);
    for (int64_t j = 0; m->direct && j < row->keys; j++) {
        arb_sub(x, row->s + j, row->c, 64);
        arb_get_mag(y, x);
        mag_add(y, y, w->delta + j);
        mag_add(y, y, w->center);
        mag_set(rest, w->center); /* |x^ - x| <= delta + rest */
        if (shifted) {
            mag_addmul(rest, m->u, y);
            mag_addmul(y, m->u, y);
        }
        weight->mass(slope, y, order, 1);
        mag_mul(w->set[BOUND_SCORE] + j, w->delta + j, slope);
        mag_mul(w->set[BOUND_EXP] + j, rest, slope);
        weight->mass(size, y, order, 0);
        mag_max(w->weight_max, w->weight_max, size);
        mag_add(mass, mass, size);
        mag_addmul(w->set[BOUND_EXP] + j, gamma, size);
        weight->lost(rest, y, order);
        mag_mul(rest, rest, m->tiny);
        mag_mul_ui(rest, rest, 4 * ((ulong)m->degree + 2));
        mag_add(w->set[BOUND_EXP] + j, w->set[BOUND_EXP] + j, rest);
        w->overflow |= !small_coefficients(rest, m, y);
        mag_add(w->set[BOUND_EXP] + j, w->set[BOUND_EXP] + j, rest);
        scale_by_decay(w, m, row, slope, j);
    }
    lose_values(w, m, mass);
}

/* R-STATE: C = keys + rows + 5P + 7 roundings per term, those of decays and gates, of stored states and of the scale's
 * powers; `term`: without the sums over tokens and rows, but for those inside one update (R-UPDATE).  `likely`: by
 * R-PROBABILISTIC; a rounding of the scale, or of a power of a decay, meets a term more than
 * once. */
static void set_gamma(mag_t y, const bound_weights *w, const bound_model *m, int likely, int term)
{
    const int64_t own = (m->numerics->scale_dtype ? 5 : 9) * (int64_t)m->degree + 7;
    const int divides = axis_weight_of(m->p)->factorial && m->degree > 1;
    const int64_t sums = term ? 0 : w->keys + m->rows;
    const int64_t factors = own + (term ? bound_update_roundings(m) : bound_decay_steps(m, w->past + 1));
    AUTO_MAG(u, hard, root);
    mag_max(u, m->u, m->u_sum);
    bound_gamma(y, sums + factors, u);
    if (likely) {
        bound_gamma(hard, factors, u);
        bound_probabilistic_gamma(root, sums, u);
        bound_compose(root, root, hard);
        mag_min(y, y, root);
    }
    if (!m->numerics->scale_dtype) { /* a division by the root of d */
        bound_gamma(u, m->degree, m->u_div);
        bound_compose(y, y, u);
    }
    if (divides) /* by n! */
        bound_compose(y, y, m->u_div);
    bound_compose(y, y, w->gate_value);
    if (term && bound_decay_multiplied(m)) { /* those that one update meets */
        bound_gamma(u, bound_update_exponentials(m), w->decay_made);
        bound_compose(y, y, u);
    } else if (!mag_is_zero(w->decay_log)) { /* factors by way of logarithms (R-DECAY) */
        mag_expm1(u, w->decay_log);
        bound_compose(y, y, u);
        bound_gamma(u, bound_decay_exponentials(m, w->past), m->u_exp);
        bound_compose(y, y, u);
    }
    bound_gamma(u, term ? bound_update_stores(m) : bound_state_stores(m, w->past + 1), m->u_state);
    bound_compose(y, y, u);
    bound_gamma(u, m->degree, m->u_scale);
    bound_compose(y, y, u);
    bound_gamma(u, m->stores ? 2 * m->degree + m->stores - 2 : 0, m->scaled); /* q and k, once scaled or decayed */
    bound_compose(y, y, u);
    if (m->rows < 0)
        mag_inf(y);
}

/* The state before, or a term, meets as many additions as there are tokens; decays of one token are stored numbers, and
 * may be rounded to acc. */
int64_t bound_update_roundings(const bound_model *m)
{
    const int token = m->numerics->schedule == ATTEST_SCHEDULE_RECURRENT;
    const int64_t decays = !m->decays ? 0 : token ? 2 : bound_decay_steps(m, m->update);
    return m->update + decays;
}

int64_t bound_update_exponentials(const bound_model *m)
{
    return m->numerics->schedule == ATTEST_SCHEDULE_RECURRENT ? 1 : 2 * m->update + 2;
}

int64_t bound_state_stores(const bound_model *m, int64_t tokens)
{
    const int64_t chunk = m->p->chunk;
    if (m->numerics->schedule != ATTEST_SCHEDULE_CHUNK || chunk < 1)
        return tokens;
    const int64_t chunks = tokens / chunk;
    const int64_t stores = m->decays ? 3 * chunks + 6 : chunks + 4, most = m->decays ? 2 * tokens : tokens;
    return stores < most ? stores : most;
}

int64_t bound_update_stores(const bound_model *m)
{
    const int64_t most = m->decays ? 4 : 2;
    return m->numerics->schedule == ATTEST_SCHEDULE_CHUNK ? most : m->update;
}

/* What storing a state, or adding to it, in a narrower type loses, times the query's power; and what reading it by such
 * an accumulator loses, after every token. */
static void narrow_state_lost(bound_weights *w, const bound_model *m, ulong rows)
{
    AUTO_MAG(x, y, most);
    mag_max(most, m->tiny_state, m->tiny_sum);
    mag_zero(w->lost_state);
    if (mag_cmp(most, m->tiny) <= 0)
        return;
    mag_one(x);
    mag_max(y, x, w->q_max);
    mag_max(x, x, m->scale);
    mag_mul(y, y, x);
    mag_pow_ui(y, y, (ulong)m->degree);
    const int adds = mag_cmp(m->tiny_sum, m->tiny) > 0; /* the additions round so as well */
    mag_mul_ui(y, y, (ulong)(adds ? w->past + 1 : bound_state_stores(m, w->past + 1)) * rows);
    mag_mul(y, y, w->decay_most);
    mag_add_ui(y, y, rows + (ulong)m->degree);
    mag_mul(w->lost_state, y, most);
    mag_mul_2exp_si(w->lost_state, w->lost_state, 1);
}

/* keys rows C tiny (Q K)^P, Q = max(1,|q|) max(1,|scale|), K = max(1,|k|) */
static void set_lost_state(bound_weights *w, const bound_model *m)
{
    AUTO_MAG(x, y, flush);
    mag_one(x);
    mag_max(y, x, w->q_max);
    mag_max(x, x, m->scale);
    mag_mul(y, y, x);
    mag_one(x);
    mag_max(x, x, w->k_max);
    mag_mul(y, y, x);
    mag_pow_ui(y, y, (ulong)m->degree);
    const ulong rows = m->rows > 0 ? (ulong)m->rows : 1, keys = (ulong)w->past + 1;
    narrow_state_lost(w, m, rows);
    mag_mul_ui(y, y, keys);
    mag_mul_ui(y, y, rows);
    bound_decay_flush(flush, m, w->decay_most, w->decay_log, w->past); /* of each term */
    mag_addmul(w->lost_state, y, flush);
    mag_mul_ui(y, y, keys + rows + 8 * (ulong)m->degree + 8 + (ulong)bound_decay_steps(m, w->past + 1));
    mag_mul(y, y, m->tiny);
    mag_addmul(w->lost_state, y, w->decay_most);
    mag_pow_ui(x, x, (ulong)m->degree);
    mag_mul_ui(x, x, keys);
    mag_mul(x, x, w->decay_most);
    mag_max(w->state_reach, w->state_reach, x); /* an entry of the state */
    mag_pow_ui(x, m->scale, (ulong)m->degree);
    mag_max(w->reach, w->reach, x); /* the query's coefficient before 1/n! */
}

void bound_state_weights(bound_weights *w, const bound_model *m, const ref_row *row)
{
    const axis_weight *weight = axis_weight_of(m->p);
    const ulong order = m->p->axis[ATTEST_AXIS_WEIGHT].order;
    AUTO_MAG(mass, term, slope, high, room, wrong, lost, sum);
    set_gamma(w->gamma_state, w, m, 0, 0);
    set_gamma(w->likely_state, w, m, 1, 0);
    set_gamma(w->gamma_term, w, m, 0, m->update > 0);
    mag_min(w->gamma_term, w->gamma_term, w->gamma_state);
    set_lost_state(w, m);
    for (int64_t j = 0; m->recurrent && j < row->keys; j++) {
        bound_decayed_error(lost, w, m, row, j);
        bound_scaled_error(wrong, w, m, row, j);
        mag_add(wrong, wrong, w->feature + j);
        mag_add(mass, row->mass + j, wrong);
        mag_max(high, high, mass);
        weight->mass(term, mass, order, 0);
        mag_add(sum, sum, term);
        if (m->decays && !m->vector)
            mag_mul(term, term, row->decay + j);
        mag_set(w->set[BOUND_STATE] + j, term);
        mag_mul(term, term, w->gamma_term);
        weight->mass(slope, mass, order, 1);
        mag_addmul(term, slope, lost);
        if (m->decays && !m->vector)
            mag_mul(slope, slope, row->decay + j);
        mag_addmul(term, slope, wrong);
        mag_max(w->set[BOUND_SUM] + j, w->set[BOUND_SUM] + j, term); /* a key is in one form or in the other */
    }
    lose_values(w, m, sum);
    mag_mul(high, high, m->room); /* a readout before its power of the scale */
    mag_one(room);
    mag_max(high, high, room);
    mag_pow_ui(high, high, (ulong)m->degree);
    mag_mul_ui(high, high, 3 * ((ulong)w->keys + 1));
    mag_max(w->reach, w->reach, high);
}
