/* bound_probabilistic.c - errors of a column's sums; what they probably are (R-PROBABILISTIC): a warning, never a
 * verdict. */
#include "reference/bound/bound_row.h"

void bound_probabilistic_share(row_job *job)
{
    const bound_weights *w = &job->weights;
    const bound_model *m = &job->model;
    mag_ptr y = job->likely_share;
    AUTO_MAG(x);
    mag_zero(y);
    if (m->direct)
        mag_div(y, w->likely_sum, w->gamma_sum);
    if (m->recurrent && !m->update) { /* else the sums are not in it (R-UPDATE) */
        mag_div(x, w->likely_state, w->gamma_state);
        mag_max(y, y, x);
    }
    mag_one(x);
    if (m->update || m->turns || !mag_is_zero(m->feature) ||
        !mag_is_zero(m->feature_tiny)) /* in the states' part, no sums */
        mag_max(y, y, x);
    mag_min(y, y, x);
}

void bound_probabilistic_sum(mag_t probable, const row_job *job, const mag_t hard, const mag_t top)
{
    AUTO_MAG(x);
    if (!job->likely)
        return;
    mag_mul(probable, hard, job->likely_share);
    mag_mul_ui(x, job->weights.sum_tiny, (ulong)job->row->keys);
    mag_addmul(probable, x, top);
    mag_min(probable, probable, hard);
}

void bound_probabilistic_cast(mag_t probable, const row_job *job, const mag_t hard, mag_srcptr divisor)
{
    const bound_model *m = &job->model;
    AUTO_MAG(x, tiny);
    if (!job->likely || mag_is_zero(m->u_cast))
        return;
    mag_inf(x);
    if (!job->run.casts && m->numerics->p_rounding == ATTEST_ROUNDING_NEAREST)
        bound_sums_root(x, &job->sums, BOUND_CAST);
    mag_mul_ui(x, x, BOUND_LAMBDA);
    bound_sums_sizes(tiny, &job->sums);
    mag_addmul(x, tiny, job->weights.cast_tiny); /* underflow stays hard: weights become 0, all alike */
    mag_min(x, x, hard);
    if (divisor)
        mag_div(x, x, divisor);
    mag_max(probable, probable, x);
}

void bound_probabilistic_terms(ref_bound *bound, const row_job *job, const mag_t sums)
{
    bound->likely = job->likely;
    if (!job->likely)
        return;
    mag_addmul(bound->probable, bound->term[ATTEST_TERM_SCORE], job->weights.likely_score);
    mag_add(bound->probable, bound->probable, sums);
}

void bound_probabilistic_finish(ref_bound *bound)
{
    if (!bound->likely)
        return;
    mag_add(bound->probable, bound->probable, bound->term[ATTEST_TERM_EXP]);
    mag_add(bound->probable, bound->probable, bound->term[ATTEST_TERM_DIVISION]);
    mag_min(bound->probable, bound->probable, bound->total);
}

/* What gates on values, and the factor of dropout, may lose by underflow (R-GATE, R-DROPOUT: each of the two); `gate`:
 * what may multiply a sum before the norm. */
static void gates_lose(mag_t all, row_job *job, mag_t gate)
{
    const bound_model *m = &job->model;
    AUTO_MAG(x, top, y);
    mag_one(gate);
    if (m->gates_values || m->drops) {
        mag_mul(x, m->tiny, job->weights.unit); /* gin w of one key, times |v| */
        mag_mul_ui(x, x, 2 * (ulong)job->row->keys);
        mag_addmul(x, job->total_size, job->weights.gate_tiny);
        mag_set_d(top, job->sums.raw_top);
        mag_addmul(y, x, top);
        mag_addmul(y, job->total_size, m->tiny); /* gin v */
        if (!m->direct) {                        /* where it is stored; else value_tiny */
            bound_sums_total(x, &job->sums, BOUND_SUM);
            mag_add(x, x, job->total_size);
            mag_addmul(y, x, m->gated_tiny);
        }
    }
    mag_mul(y, y, m->kept);
    bound_stretch(y, m, m->shrink);
    if (m->products > 1)
        mag_mul_ui(y, y, (ulong)m->products);
    mag_add(all, all, y);
    if (axis_gates_of(m->p)->before)
        mag_max(gate, gate, job->gate);
}

/* The state's share of a column's error. */
static void states_lose(mag_t y, const row_job *job, const mag_t top, const mag_t gamma, const mag_t updates, int64_t c)
{
    AUTO_MAG(most);
    mag_add(y, y, updates);
    mag_one(most);
    mag_max(most, most, top);
    mag_addmul(y, job->weights.lost_state, most);
    mag_addmul(y, job->given + c, gamma);
    mag_add(y, y, job->given_error + c);
}

void bound_column_sums(mag_t y, mag_t probable, row_job *job, int64_t c)
{
    bound_weights *w = &job->weights;
    AUTO_MAG(top, one, rest, state, terms, updates, likely, raw);
    bound_sums_dot(y, &job->sums, BOUND_SUM);
    mag_add(rest, w->lost, w->values_lost);
    gates_lose(rest, job, one);
    if (job->model.update) {
        bound_sums_dot(terms, &job->sums, BOUND_STATE);
        mag_add(top, y, rest);
        bound_updates_find(updates, likely, job, terms, top, c);
    }
    mag_set_d(top, job->sums.top);
    bound_probabilistic_sum(probable, job, y, top);
    bound_run_numerator(y, probable, job, c);
    mag_add(y, y, rest);
    if (job->likely)
        mag_add(probable, probable, rest);
    mag_set_d(top, job->sums.raw_top > job->sums.top ? job->sums.raw_top : job->sums.top);
    mag_set(raw, top); /* R-KV-SCALE: v, before v_scale */
    bound_stretch(raw, &job->model, job->model.shrink);
    mag_mul(one, one, w->reach);
    mag_mul(one, one, raw);
    mag_mul(state, w->state_reach, raw);
    mag_max(state, state, w->state_reach);
    bound_stretch(state, &job->model, job->model.spread); /* and k before k_scale */
    if (mag_cmp(one, job->model.sum_limit) > 0 || mag_cmp(w->reach, job->model.sum_limit) > 0 ||
        mag_cmp(state, job->model.state_limit) > 0 || mag_cmp(top, job->model.gated_limit) > 0 ||
        (job->model.stores_parts && mag_cmp(raw, job->model.state_limit) > 0))
        w->overflow = 1;
    mag_mul(state, top, w->decay_most);
    if (bound_stores_values(&job->model) && mag_cmp(state, job->model.scaled_limit) > 0)
        w->overflow = 1;
    if (job->model.recurrent || job->model.given) {
        states_lose(y, job, top, w->gamma_state, updates, c);
        states_lose(probable, job, top, w->likely_state, likely, c);
    }
}
