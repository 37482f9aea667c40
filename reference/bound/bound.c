/* bound.c - from the weights' errors to the error of an output of a row (R-CENTRE, R-QUOTIENT, R-OUT, R-LSE). */
#include "reference/bound/bound_row.h"

void ref_bound_init(ref_bound *b)
{
    mag_init(b->total);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_init(b->term[t]);
    mag_init(b->probable);
    b->unbounded = b->likely = 0;
}

void ref_bound_clear(ref_bound *b)
{
    mag_clear(b->total);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_clear(b->term[t]);
    mag_clear(b->probable);
}

static void job_init(row_job *job)
{
    bound_model_init(&job->model);
    job->given = _mag_vec_init((slong)job->in->p->e);
    job->given_error = _mag_vec_init((slong)job->in->p->e);
    job->update = _mag_vec_init((slong)job->in->p->e + 1);
    mag_init(job->given_z);
    mag_init(job->given_z_error);
    mag_init(job->gate);
    mag_init(job->total_size);
    for (int t = 0; t < BOUND_SETS; t++)
        mag_init(job->total[t]);
    mag_init(job->denominator);
    mag_init(job->likely_denominator);
    mag_init(job->likely_share);
    mag_init(job->divisor);
    mag_init(job->weak);
    mag_init(job->weaker);
    mag_init(job->division);
    mag_init(job->out);
    mag_init(job->out_tiny);
}

static void job_clear(row_job *job)
{
    bound_sums_clear(&job->sums);
    bound_run_clear(&job->run);
    bound_model_clear(&job->model);
    bound_weights_clear(&job->weights);
    _mag_vec_clear(job->given, (slong)job->in->p->e);
    _mag_vec_clear(job->given_error, (slong)job->in->p->e);
    _mag_vec_clear(job->update, (slong)job->in->p->e + 1);
    mag_clear(job->given_z);
    mag_clear(job->given_z_error);
    mag_clear(job->gate);
    mag_clear(job->total_size);
    for (int t = 0; t < BOUND_SETS; t++)
        mag_clear(job->total[t]);
    mag_clear(job->denominator);
    mag_clear(job->likely_denominator);
    mag_clear(job->likely_share);
    mag_clear(job->divisor);
    mag_clear(job->weak);
    mag_clear(job->weaker);
    mag_clear(job->division);
    mag_clear(job->out);
    mag_clear(job->out_tiny);
}

/* R-OUT: the output's format, if it is narrower than acc. */
static void set_output(row_job *job)
{
    const bound_model *m = &job->model;
    if (attest_format_of(job->got_dtype).p < attest_format_of(m->p->acc).p) {
        mag_set_d(job->out, attest_unit_roundoff(job->got_dtype));
        bound_tiny(job->out_tiny, job->got_dtype, m->flags);
    }
    mag_add(job->out_tiny, job->out_tiny, m->tiny);
    if (m->drops) /* a quotient that is multiplied by 1/(1-R) */
        mag_addmul(job->out_tiny, m->tiny, m->kept);
}

/* R-DIVISION; division-free merges: e^(lse_part - lse), whose sum over the parts is not quite 1 (R-MERGE); the quotient
 * without a sink times sigmoid(lse - sink): a division and a product more (R-SINK). */
static void set_division(row_job *job)
{
    const bound_model *m = &job->model;
    AUTO_MAG(x, sum);
    mag_set(job->division, m->u_div);
    if (m->exponential && axis_norm_of(m->p)->sink) {
        bound_compose(job->division, job->division, m->u_div);
        bound_compose(job->division, job->division, m->u);
    }
    if (job->weights.merges && m->exponential) {
        mag_expm1(x, job->weights.merge);
        bound_compose(job->division, job->division, x);
        bound_gamma(x, 2 * job->weights.logs, m->u_exp);
        bound_compose(job->division, job->division, x);
        mag_max(sum, m->u, m->u_sum);
        bound_gamma(x, job->weights.merges + 1, sum);
        bound_compose(job->division, job->division, x);
    }
}

/* Divisor with its lower bounds; `extra` = 1: sink and eps belong to it. */
static void set_divisor(row_job *job, const arb_t divisor, int extra)
{
    bound_weights *w = &job->weights;
    AUTO_ARB(rest);
    AUTO_MAG(x, updates, likely);
    for (int t = 0; t < BOUND_SETS; t++)
        bound_sums_total(job->total[t], &job->sums, t);
    mag_one(x);
    bound_probabilistic_sum(job->likely_denominator, job, job->total[BOUND_SUM], x);
    bound_run_denominator(job->total[BOUND_SUM], job->likely_denominator, job);
    arb_sub(rest, divisor, job->row->z, 64);
    arb_get_mag(x, rest);
    mag_add(x, x, w->extra_error);
    mag_add(job->denominator, job->total[BOUND_SUM], w->lost);
    mag_add(job->likely_denominator, job->likely_denominator, w->lost);
    if (extra) {
        mag_addmul(job->denominator, x, w->gamma_sum);
        mag_addmul(job->likely_denominator, x, w->likely_sum);
    } else {
        mag_zero(w->extra_error);
    }
    if (job->model.recurrent || job->model.given) {
        mag_add(x, w->lost_state, job->given_z_error);
        bound_updates_find(updates, likely, job, job->total[BOUND_STATE], job->total[BOUND_SUM], job->in->p->e);
        mag_add(job->denominator, job->denominator, x);
        mag_add(job->denominator, job->denominator, updates);
        mag_addmul(job->denominator, job->given_z, w->gamma_state);
        mag_add(job->likely_denominator, job->likely_denominator, x);
        mag_add(job->likely_denominator, job->likely_denominator, likely);
        mag_addmul(job->likely_denominator, job->given_z, w->likely_state);
    }
    arb_get_mag_lower(job->divisor, divisor);
    mag_add(x, job->total[BOUND_SCORE], job->total[BOUND_EXP]);
    if (job->model.cast_common != ATTEST_NO)
        mag_add(x, x, job->total[BOUND_CAST]);
    mag_add(x, x, w->extra_error);
    mag_sub_lower(job->weak, job->divisor, x);
    mag_sub_lower(job->weaker, job->weak, job->denominator);
}

/* R-CENTRE and R-QUOTIENT */
static void quotient_column(ref_bound *bound, row_job *job, int64_t c, const arb_t divisor)
{
    const attest_tensor *v = job->in->role[ATTEST_V];
    const int answer = job->model.cast_common;
    AUTO_ARB(o);
    AUTO_MAG(size, cast, likely);
    if (job->model.gates_rows) /* the quotient before its gate */
        arb_div(o, job->row->u + c, divisor, job->row->prec);
    else
        arb_set(o, job->row->o + c);
    bound_sums_distances(&job->sums, v, job->b, job->g, job->row->key, c, o);
    bound_sums_dot(bound->term[ATTEST_TERM_SCORE], &job->sums, BOUND_SCORE);
    bound_sums_dot(bound->term[ATTEST_TERM_EXP], &job->sums, BOUND_EXP);
    bound_common_take(bound->term[ATTEST_TERM_EXP], job, c, o);
    bound_sums_dot(cast, &job->sums, BOUND_CAST);
    arb_get_mag(size, o);
    mag_addmul(bound->term[ATTEST_TERM_EXP], job->weights.extra_error, size);
    if (job->weights.extra_overflows) /* u over infinity: all of o, here times what is divided by */
        mag_addmul(bound->term[ATTEST_TERM_EXP], job->weak, size);
    mag_div(bound->term[ATTEST_TERM_SCORE], bound->term[ATTEST_TERM_SCORE], job->weak);
    mag_div(bound->term[ATTEST_TERM_EXP], bound->term[ATTEST_TERM_EXP], job->weak);
    if (answer != ATTEST_NO && !job->model.drops)
        bound_probabilistic_cast(bound->probable, job, cast, job->weak);
    mag_div(cast, cast, job->weak);
    if (answer != ATTEST_NO && !job->model.drops)
        mag_set(bound->term[ATTEST_TERM_CAST], cast);
    bound_sums_values(&job->sums, v, job->b, job->g, job->row->key, c);
    if (answer != ATTEST_YES || job->model.drops) {
        bound_sums_dot(cast, &job->sums, BOUND_CAST);
        bound_run_cast(cast, job, c);
        bound_running_cast(cast, job);
        if (job->model.drops && answer != ATTEST_NO) /* R-DROPOUT: the two sums' casts differ */
            mag_addmul(cast, size, job->total[BOUND_CAST]);
        bound_probabilistic_cast(bound->probable, job, cast, job->weaker);
        mag_div(cast, cast, job->weaker);
        mag_max(bound->term[ATTEST_TERM_CAST], bound->term[ATTEST_TERM_CAST], cast);
    }
    for (int t = ATTEST_TERM_SCORE; t <= ATTEST_TERM_CAST; t++)
        mag_add(size, size, bound->term[t]);
    bound_column_sums(cast, likely, job, c);
    mag_addmul(cast, size, job->denominator);
    if (job->likely) {
        mag_addmul(likely, size, job->likely_denominator);
        mag_div(likely, likely, job->weaker);
    }
    mag_div(bound->term[ATTEST_TERM_ACCUMULATION], cast, job->weaker);
    mag_one(cast);
    bound_running_sum(bound, job, cast);
    bound_probabilistic_terms(bound, job, likely);
    bound_finish(bound, job, o, job->row->o + c, job->division, 1);
}

/* R-PLAIN: an undivided sum */
static void plain_terms(ref_bound *bound, row_job *job, int64_t c)
{
    AUTO_MAG(likely);
    bound_sums_values(&job->sums, job->in->role[ATTEST_V], job->b, job->g, job->row->key, c);
    bound_sums_dot(bound->term[ATTEST_TERM_SCORE], &job->sums, BOUND_SCORE);
    bound_sums_dot(bound->term[ATTEST_TERM_EXP], &job->sums, BOUND_EXP);
    bound_sums_dot(bound->term[ATTEST_TERM_CAST], &job->sums, BOUND_CAST);
    bound_column_sums(bound->term[ATTEST_TERM_ACCUMULATION], likely, job, c);
    if (axis_norm_of(job->in->p)->kind == AXIS_NORM_QUOTIENT) { /* u may be a mean times its divisor */
        bound_running_sum(bound, job, job->total_size);
        bound_running_cast(bound->term[ATTEST_TERM_CAST], job);
    }
    bound_probabilistic_cast(bound->probable, job, bound->term[ATTEST_TERM_CAST], NULL);
    bound_probabilistic_terms(bound, job, likely);
}

static void quotient_columns(ref_bound *bound, row_job *job, const arb_t divisor)
{
    const int overflow = job->weights.overflow;
    set_divisor(job, divisor, 1);
    for (int64_t c = 0; c < job->in->p->e; c++) {
        job->weights.overflow = overflow; /* a column that may overflow says nothing about the next */
        if (mag_is_zero(job->weaker))
            bound_unbounded(bound + c);
        else
            quotient_column(bound + c, job, c, divisor);
        job->weights.overflow = overflow;
        bound_hull_take(bound + c, job, c, divisor);
    }
}

/* Terms of u in every channel; a column that may overflow says nothing about the next. */
static void plain_columns(ref_bound *bound, row_job *job)
{
    const int overflow = job->weights.overflow;
    for (int64_t c = 0; c < job->in->p->e; c++) {
        job->weights.overflow = overflow;
        plain_terms(bound + c, job, c);
        bound[c].unbounded = job->weights.overflow;
    }
    job->weights.overflow = overflow;
}

/* R-FLOOR: is the divisor surely z (1), surely F (0)?  -1: either; `error` is that of max(z^, F). */
static int floor_side(mag_t error, row_job *job)
{
    const double limit = job->in->p->axis[ATTEST_AXIS_NORM].number;
    const uint32_t acc = job->model.p->acc;
    AUTO_ARB(gap);
    AUTO_MAG(rounding);
    int side = -1;
    set_divisor(job, job->row->z, 0);
    mag_set(error, job->denominator);
    for (int t = BOUND_SCORE; t <= BOUND_CAST; t++)
        if (t != BOUND_CAST || job->model.cast_common != ATTEST_NO)
            mag_add(error, error, job->total[t]);
    if (attest_to_f64(acc, attest_from_f64(acc, limit)) != limit) {
        mag_set_d(rounding, limit);
        mag_mul(rounding, rounding, job->model.u);
        mag_add(rounding, rounding, job->model.tiny);
    }
    arb_set_d(gap, limit);
    arb_sub(gap, job->row->z, gap, job->row->prec);
    mag_add(arb_radref(gap), arb_radref(gap), error);
    mag_add(arb_radref(gap), arb_radref(gap), rounding);
    if (arb_is_positive(gap))
        side = 1;
    else if (arb_is_negative(gap))
        side = 0;
    if (side == 0)
        mag_set(error, rounding);
    else
        mag_add(error, error, rounding);
    return side;
}

static void floor_columns(ref_bound *bound, row_job *job, const arb_t divisor)
{
    AUTO_MAG(error);
    if (floor_side(error, job) == 1) {
        quotient_columns(bound, job, job->row->z);
    } else {
        plain_columns(bound, job);
        bound_out_floor(bound, job, divisor, error);
    }
}

/* R-QUOTIENT */
static void quotient_output(ref_bound *bound, row_job *job)
{
    AUTO_ARB(divisor);
    axis_divisor(divisor, job->row, job->in, job->h);
    quotient_columns(bound, job, divisor);
}

static void floor_output(ref_bound *bound, row_job *job)
{
    AUTO_ARB(divisor);
    axis_divisor(divisor, job->row, job->in, job->h);
    floor_columns(bound, job, divisor);
}

static void plain_output(ref_bound *bound, row_job *job)
{
    plain_columns(bound, job);
    bound_out_none(bound, job);
}

static void length_output(ref_bound *bound, row_job *job)
{
    plain_columns(bound, job);
    bound_out_length(bound, job);
}

static void root_output(ref_bound *bound, row_job *job)
{
    plain_columns(bound, job);
    bound_out_root(bound, job);
}

/* o: by the norm. */
static void bound_o(ref_bound *bound, row_job *job)
{
    static void (*const outputs[])(ref_bound *, row_job *) = {
        [AXIS_NORM_QUOTIENT] = quotient_output, [AXIS_NORM_FLOOR] = floor_output, [AXIS_NORM_PLAIN] = plain_output,
        [AXIS_NORM_LENGTH] = length_output,     [AXIS_NORM_ROOT] = root_output,
    };
    outputs[axis_norm_of(job->in->p)->kind](bound, job);
}

/* May a sum without v, or a state, overflow? */
static int reaches_too_far(const row_job *job)
{
    AUTO_MAG(state);
    mag_set(state, job->weights.state_reach);
    bound_stretch(state, &job->model, job->model.spread); /* R-KV-SCALE: of k before k_scale */
    return mag_cmp(job->weights.reach, job->model.sum_limit) > 0 || mag_cmp(state, job->model.state_limit) > 0;
}

static void bound_u(ref_bound *bound, row_job *job)
{
    AUTO_MAG(none);
    plain_columns(bound, job);
    for (int64_t c = 0; c < job->in->p->e; c++)
        bound_finish(bound + c, job, job->row->u + c, job->row->u + c, none, 0);
}

static void bound_z(ref_bound *bound, row_job *job)
{
    AUTO_MAG(none);
    set_divisor(job, job->row->z, 0);
    mag_set(bound->term[ATTEST_TERM_SCORE], job->total[BOUND_SCORE]);
    mag_set(bound->term[ATTEST_TERM_EXP], job->total[BOUND_EXP]);
    if (job->model.cast_common != ATTEST_NO)
        mag_set(bound->term[ATTEST_TERM_CAST], job->total[BOUND_CAST]);
    mag_set(bound->term[ATTEST_TERM_ACCUMULATION], job->denominator);
    if (reaches_too_far(job))
        bound->unbounded = 1;
    bound_finish(bound, job, job->row->z, job->row->z, none, 0);
}

static void bound_lse(ref_bound *bound, row_job *job)
{
    const int with_sink = (job->model.flags & ATTEST_LSE_WITH_SINK) != 0;
    AUTO_ARB(divisor, truth);
    AUTO_MAG(x);
    if (!with_sink || !axis_divisor(divisor, job->row, job->in, job->h))
        arb_set(divisor, job->row->z);
    set_divisor(job, divisor, with_sink);
    arb_log(truth, divisor, job->row->prec);
    arb_add(truth, truth, job->row->c, job->row->prec);
    const int far = mag_is_zero(job->weaker) || reaches_too_far(job);
    if (!arb_is_finite(truth) || (far && !bound_hull_lse(bound->term[ATTEST_TERM_SCORE], job))) {
        bound_unbounded(bound);
    } else {
        if (!far)
            bound_lse_terms(bound, job);
        mag_add(bound->term[ATTEST_TERM_SCORE], bound->term[ATTEST_TERM_SCORE], job->weights.center);
        bound_lse_roundings(bound->term[ATTEST_TERM_DIVISION], job, divisor);
        if (job->model.flags & ATTEST_LSE_BASE2) {
            mag_set_d(x, 0x1.71548p+0); /* > log2(e) */
            for (int t = 0; t < ATTEST_TERM_COUNT; t++)
                mag_mul(bound->term[t], bound->term[t], x);
            arb_const_log2(divisor, job->row->prec);
            arb_div(truth, truth, divisor, job->row->prec);
        }
        bound_finish(bound, job, truth, truth, job->model.u, 0);
    }
}

/* Terms of given states and their errors; `lost`: what R-DECAY says of underflow. */
static void decay_given(mag_t given, mag_t error, const mag_t decay, const mag_t lost)
{
    mag_mul(error, error, decay);
    mag_addmul(error, given, lost);
    mag_mul(given, given, decay);
}

/* Given states: terms and their errors, decayed; and what is lost where the query is stored times their decays. */
static void set_given(row_job *job)
{
    const ref_row *row = job->row;
    const int64_t e = job->in->p->e;
    const attest_row at = { job->b, job->h, job->i };
    mag_ptr lost = _mag_vec_init((slong)e + 1);
    AUTO_MAG(top, flush);
    bound_state_top(top, job->in, job->b, job->g);
    job->weights.overflow |= mag_cmp(top, job->model.state_limit) > 0;
    bound_state_mass(job->given, job->given_z, job->in, at);
    bound_state_errors(job->given_error, job->given_z_error, &job->model, job->in, at);
    mag_mul_ui(top, job->model.tiny, (ulong)bound_decay_steps(&job->model, row->keys + 1));
    mag_mul(top, top, job->weights.decay_most);
    bound_decay_flush(flush, &job->model, job->weights.decay_most, job->weights.decay_log, row->keys + 1);
    mag_add(top, top, flush);
    for (int64_t c = 0; job->model.decays && c < e; c++)
        decay_given(job->given + c, job->given_error + c, row->decay0, top);
    if (job->model.decays)
        decay_given(job->given_z, job->given_z_error, row->decay0, top);
    bound_query_lost(lost, lost + e, &job->model, job->in, at);
    for (int64_t c = 0; c < e; c++)
        mag_addmul(job->given_error + c, lost + c, job->weights.decay_most);
    mag_addmul(job->given_z_error, lost + e, job->weights.decay_most);
    _mag_vec_clear(lost, (slong)e + 1);
}

/* Given states and gates of the row. */
static void set_row(row_job *job)
{
    const ref_row *row = job->row;
    set_given(job);
    bound_probabilistic_share(job);
    mag_one(job->gate);
    if (job->model.gates_rows)
        arb_get_mag(job->gate, row->gout);
    if (ref_row_pass(row, job->in->p))
        bound_sums_gates(&job->sums, ref_row_pass(row, job->in->p));
    for (int64_t j = 0; j < row->keys; j++) {
        mag_add(job->total_size, job->total_size, job->weights.size + j);
        for (int t = BOUND_SCORE; t <= BOUND_CAST; t++)
            mag_add(job->total_size, job->total_size, job->weights.set[t] + j);
    }
}

static void fill_sums(row_job *job)
{
    mag_srcptr set[BOUND_SETS];
    for (int t = 0; t < BOUND_SETS; t++)
        set[t] = t == BOUND_STATE && !job->model.update && !job->model.common ? NULL : job->weights.set[t];
    bound_sums_fill(&job->sums, set);
}

attest_status ref_bound_row(ref_bound *bound, const ref_row *row, const ref_inputs *in, const attest_numerics *numerics,
                            uint32_t flags, attest_tensor_id id, uint32_t got_dtype, attest_row at, attest_error *err)
{
    const int64_t count = id.index == ATTEST_O || id.index == ATTEST_U ? in->p->e : 1;
    attest_status status;
    for (int64_t c = 0; c < count; c++) {
        ref_bound_clear(bound + c);
        ref_bound_init(bound + c);
    }
    if (row->empty || row->no_truth)
        return ATTEST_OK;
    row_job job = { .row = row, .in = in, .b = at.b, .h = at.h, .i = at.i, .g = attest_kv_head(in->p, at.h) };
    job.got_dtype = got_dtype;
    job_init(&job);
    ATTEST_TRY(bound_weights_init(&job.weights, row->keys, err));
    ATTEST_TRY(bound_sums_init(&job.sums, row->keys, err));
    bound_model_set(&job.model, in, numerics, flags);
    bound_model_scales(&job.model, in, job.b, job.g);
    job.likely = job.model.likely && id.index == ATTEST_O && !axis_norm_of(in->p)->root.root;
    ATTEST_TRY(bound_run_init(&job.run, &job.model, row, err));
    job.run.likely = job.likely;
    job.model.likely_scores = job.model.likely_scores && job.likely;
    set_output(&job);
    if (in->p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_ADD) {
        bound_delta_columns(bound, &job);
        goto out;
    }
    const int common = bound_common_factor(in->p, numerics, id.index);
    bound_weights_set(&job.weights, &job.model, row, in, at, common);
    bound_updates_set(&job);
    if (common)
        bound_run_casts(&job.run, &job.model, &job.weights, row);
    fill_sums(&job);
    set_row(&job);
    set_division(&job);
    if (id.index == ATTEST_Z)
        bound_z(bound, &job);
    else if (id.index == ATTEST_LSE)
        bound_lse(bound, &job);
    else if (id.index == ATTEST_U)
        bound_u(bound, &job);
    else
        bound_o(bound, &job);
out:
    job_clear(&job);
    return status;
}
