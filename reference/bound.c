/* bound.c - from the weights' errors to the error of an output of a row (R-CENTRE, R-QUOTIENT, R-OUT, R-LSE). */
#include "reference/bound.h"

void ref_bound_init(ref_bound *b)
{
    mag_init(b->total);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_init(b->term[t]);
    b->unbounded = 0;
}

void ref_bound_clear(ref_bound *b)
{
    mag_clear(b->total);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_clear(b->term[t]);
}

typedef struct row_job {
    const ref_row *row;
    const ref_inputs *in;
    int64_t b, h, i, g;
    uint32_t got_dtype;
    bound_model model;
    bound_weights weights;
    bound_sums sums;
    mag_ptr given; /* [e] absolute terms of given states */
    mag_t given_z;
    mag_t total[BOUND_SETS];   /* sums of the sets over the keys */
    mag_t denominator;         /* R-SUM: error of the computed denominator (without the weights' own errors) */
    mag_t divisor, weak, weaker; /* lower bounds: |Z|, |Z| - weights' errors, that - denominator */
    mag_t division;            /* relative error of the quotient */
    mag_t out, out_tiny;       /* rounding to the output's format */
} row_job;

static void job_init(row_job *job)
{
    bound_model_init(&job->model);
    job->given = _mag_vec_init((slong)job->in->p->e);
    mag_init(job->given_z);
    for (int t = 0; t < BOUND_SETS; t++)
        mag_init(job->total[t]);
    mag_init(job->denominator);
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
    bound_model_clear(&job->model);
    bound_weights_clear(&job->weights);
    _mag_vec_clear(job->given, (slong)job->in->p->e);
    mag_clear(job->given_z);
    for (int t = 0; t < BOUND_SETS; t++)
        mag_clear(job->total[t]);
    mag_clear(job->denominator);
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
    mag_t x;
    if (attest_format_of(job->got_dtype).p < attest_format_of(m->p->acc).p) {
        mag_set_d(job->out, attest_unit_roundoff(job->got_dtype));
        bound_tiny(job->out_tiny, job->got_dtype, m->flags);
    }
    mag_add(job->out_tiny, job->out_tiny, m->tiny);
    mag_init(x);
    mag_set(job->division, m->u_div);
    if (job->weights.merges && m->exponential) { /* division-free merge: e^(lse_part - lse) */
        mag_expm1(x, job->weights.merge);
        bound_compose(x, x, m->u_exp);
        bound_compose(job->division, job->division, x);
    }
    mag_clear(x);
}

/* Divisor with its lower bounds; `extra` = 1: sink and eps belong to it. */
static void set_divisor(row_job *job, const arb_t divisor, int extra)
{
    bound_weights *w = &job->weights;
    arb_t rest;
    mag_t x;
    arb_init(rest);
    mag_init(x);
    for (int t = 0; t < BOUND_SETS; t++)
        bound_sums_total(job->total[t], &job->sums, t);
    arb_sub(rest, divisor, job->row->z, 64);
    arb_get_mag(x, rest);
    mag_add(x, x, w->extra_error);
    mag_add(job->denominator, job->total[BOUND_SUM], w->lost);
    if (extra)
        mag_addmul(job->denominator, x, w->gamma_sum);
    else
        mag_zero(w->extra_error);
    if (job->model.recurrent) {
        mag_add(job->denominator, job->denominator, w->lost_state);
        mag_addmul(job->denominator, job->given_z, w->gamma_state);
    }
    arb_get_mag_lower(job->divisor, divisor);
    mag_add(x, job->total[BOUND_SCORE], job->total[BOUND_EXP]);
    if (job->model.cast_common != ATTEST_NO)
        mag_add(x, x, job->total[BOUND_CAST]);
    mag_add(x, x, w->extra_error);
    mag_sub_lower(job->weak, job->divisor, x);
    mag_sub_lower(job->weaker, job->weak, job->denominator);
    mag_clear(x);
    arb_clear(rest);
}

/* R-OUT: an overflow that the bound can neither exclude nor demand. */
static int may_overflow(const mag_t high, const arb_t truth, uint32_t dtype)
{
    const attest_format f = attest_format_of(dtype);
    arf_t least, size;
    mag_t x;
    int open;
    if (mag_cmp_2exp_si(high, f.emax) < 0)
        return 0;
    arf_init(least);
    arf_init(size);
    mag_init(x);
    arf_set_mag(size, high);
    arf_set_si_2exp_si(least, 1, f.emax + 1); /* (2 - 2^-p) 2^emax rounds to infinity */
    arf_t last;
    arf_init(last);
    arf_set_si_2exp_si(last, 1, f.emax - f.p);
    arf_sub(least, least, last, ARF_PREC_EXACT, ARF_RND_DOWN);
    open = arf_cmp(size, least) >= 0;
    if (open) {
        arb_get_mag_lower(x, truth);
        arf_set_mag(last, x);
        arf_sub(size, size, last, ARF_PREC_EXACT, ARF_RND_DOWN); /* high - |t| = the bound */
        arf_sub(last, last, size, ARF_PREC_EXACT, ARF_RND_DOWN);
        open = arf_cmp(last, least) < 0;
    }
    arf_clear(last);
    mag_clear(x);
    arf_clear(size);
    arf_clear(least);
    return open;
}

/* Adds the roundings after the sums to term[DIVISION], forms the total, and looks for overflow. */
static void finish(ref_bound *bound, const row_job *job, const arb_t truth, const mag_t relative)
{
    const bound_model *m = &job->model;
    mag_t size, x;
    mag_init(size);
    mag_init(x);
    arb_get_mag(size, truth);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_add(size, size, bound->term[t]);
    mag_mul(x, size, relative);
    mag_add(bound->term[ATTEST_TERM_DIVISION], bound->term[ATTEST_TERM_DIVISION], x);
    mag_add(size, size, x);
    mag_add(size, size, m->tiny);
    mag_mul(x, size, job->out);
    mag_add(x, x, m->tiny);
    mag_add(x, x, job->out_tiny);
    mag_add(bound->term[ATTEST_TERM_DIVISION], bound->term[ATTEST_TERM_DIVISION], x);
    mag_zero(bound->total);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        mag_add(bound->total, bound->total, bound->term[t]);
    arb_get_mag(size, truth);
    mag_add(size, size, bound->total);
    if (job->weights.overflow || mag_is_inf(bound->total) || may_overflow(size, truth, job->got_dtype) ||
        (job->got_dtype != m->p->acc && mag_cmp_2exp_si(size, attest_format_of(m->p->acc).emax) >= 0))
        bound->unbounded = 1;
    mag_clear(x);
    mag_clear(size);
}

static void set_unbounded(ref_bound *bound)
{
    mag_inf(bound->total);
    bound->unbounded = 1;
}

/* sum over keys of the sum's own errors for the column in job->sums. */
static void sum_error(mag_t y, row_job *job, int64_t c)
{
    bound_weights *w = &job->weights;
    mag_t top, one;
    mag_init(top);
    mag_init(one);
    bound_sums_dot(y, &job->sums, BOUND_SUM);
    mag_add(y, y, w->lost);
    mag_set_d(top, job->sums.top);
    mag_mul(one, w->reach, top);
    if (mag_cmp(one, job->model.limit) > 0 || mag_cmp(w->reach, job->model.limit) > 0 ||
        mag_cmp(top, job->model.limit) > 0)
        w->overflow = 1;
    if (job->model.recurrent) {
        mag_one(one);
        mag_max(top, top, one);
        mag_addmul(y, w->lost_state, top);
        mag_addmul(y, job->given + c, w->gamma_state);
    }
    mag_clear(one);
    mag_clear(top);
}

/* R-CENTRE and R-QUOTIENT */
static void quotient_column(ref_bound *bound, row_job *job, int64_t c)
{
    const attest_tensor *v = job->in->role[ATTEST_V];
    const int answer = job->model.cast_common;
    arb_srcptr o = job->row->o + c;
    mag_t size, cast;
    mag_init(size);
    mag_init(cast);
    bound_sums_distances(&job->sums, v, job->b, job->g, job->row->first, c, o);
    bound_sums_dot(bound->term[ATTEST_TERM_SCORE], &job->sums, BOUND_SCORE);
    bound_sums_dot(bound->term[ATTEST_TERM_EXP], &job->sums, BOUND_EXP);
    bound_sums_dot(cast, &job->sums, BOUND_CAST);
    arb_get_mag(size, o);
    mag_addmul(bound->term[ATTEST_TERM_EXP], job->weights.extra_error, size);
    mag_div(bound->term[ATTEST_TERM_SCORE], bound->term[ATTEST_TERM_SCORE], job->weak);
    mag_div(bound->term[ATTEST_TERM_EXP], bound->term[ATTEST_TERM_EXP], job->weak);
    mag_div(cast, cast, job->weak);
    if (answer != ATTEST_NO)
        mag_set(bound->term[ATTEST_TERM_CAST], cast);
    bound_sums_values(&job->sums, v, job->b, job->g, job->row->first, c);
    if (answer != ATTEST_YES) {
        bound_sums_dot(cast, &job->sums, BOUND_CAST);
        mag_div(cast, cast, job->weaker);
        mag_max(bound->term[ATTEST_TERM_CAST], bound->term[ATTEST_TERM_CAST], cast);
    }
    for (int t = ATTEST_TERM_SCORE; t <= ATTEST_TERM_CAST; t++)
        mag_add(size, size, bound->term[t]);
    sum_error(cast, job, c);
    mag_addmul(cast, size, job->denominator);
    mag_div(bound->term[ATTEST_TERM_ACCUMULATION], cast, job->weaker);
    finish(bound, job, o, job->division);
    mag_clear(cast);
    mag_clear(size);
}

/* R-PLAIN: an undivided sum */
static void plain_column(ref_bound *bound, row_job *job, int64_t c)
{
    mag_t none;
    mag_init(none);
    bound_sums_values(&job->sums, job->in->role[ATTEST_V], job->b, job->g, job->row->first, c);
    bound_sums_dot(bound->term[ATTEST_TERM_SCORE], &job->sums, BOUND_SCORE);
    bound_sums_dot(bound->term[ATTEST_TERM_EXP], &job->sums, BOUND_EXP);
    bound_sums_dot(bound->term[ATTEST_TERM_CAST], &job->sums, BOUND_CAST);
    sum_error(bound->term[ATTEST_TERM_ACCUMULATION], job, c);
    finish(bound, job, job->row->u + c, none);
    mag_clear(none);
}

static void bound_columns(ref_bound *bound, row_job *job, int divided)
{
    arb_t divisor;
    arb_init(divisor);
    if (divided && bound_divisor(divisor, job->row, job->in, job->h))
        set_divisor(job, divisor, 1);
    const int overflow = job->weights.overflow;
    for (int64_t c = 0; c < job->in->p->e; c++) {
        job->weights.overflow = overflow; /* a column that may overflow says nothing about the next */
        if (divided && mag_is_zero(job->weaker))
            set_unbounded(bound + c);
        else if (divided)
            quotient_column(bound + c, job, c);
        else
            plain_column(bound + c, job, c);
    }
    arb_clear(divisor);
}

static void bound_z(ref_bound *bound, row_job *job)
{
    mag_t none;
    mag_init(none);
    set_divisor(job, job->row->z, 0);
    mag_set(bound->term[ATTEST_TERM_SCORE], job->total[BOUND_SCORE]);
    mag_set(bound->term[ATTEST_TERM_EXP], job->total[BOUND_EXP]);
    if (job->model.cast_common != ATTEST_NO)
        mag_set(bound->term[ATTEST_TERM_CAST], job->total[BOUND_CAST]);
    mag_set(bound->term[ATTEST_TERM_ACCUMULATION], job->denominator);
    if (mag_cmp(job->weights.reach, job->model.limit) > 0)
        bound->unbounded = 1;
    finish(bound, job, job->row->z, none);
    mag_clear(none);
}

/* R-LSE: error of the logarithm, of adding the maximum, and of changes of base. */
static void lse_roundings(mag_t y, const row_job *job, const arb_t divisor)
{
    const bound_model *m = &job->model;
    mag_t size, x;
    mag_init(size);
    mag_init(x);
    if (m->exponential) {
        mag_log_ui(size, (ulong)job->row->keys + 2); /* the sum of shifted weights is in [1 - .., keys + 1] */
    } else {
        arb_t l;
        arb_init(l);
        arb_log(l, divisor, 64);
        arb_get_mag(size, l);
        arb_clear(l);
    }
    mag_add_ui(size, size, 1);
    mag_mul(y, size, m->u_log);
    mag_add(size, size, job->weights.score_max);
    bound_gamma(x, m->log2_domain || m->flags & ATTEST_LSE_BASE2 ? 5 : 2, m->u);
    mag_addmul(y, size, x);
    mag_add(y, y, job->weights.merge);
    mag_clear(x);
    mag_clear(size);
}

static void bound_lse(ref_bound *bound, row_job *job)
{
    const int with_sink = (job->model.flags & ATTEST_LSE_WITH_SINK) != 0;
    arb_t divisor, truth;
    mag_t x;
    arb_init(divisor);
    arb_init(truth);
    mag_init(x);
    if (!with_sink || !bound_divisor(divisor, job->row, job->in, job->h))
        arb_set(divisor, job->row->z);
    set_divisor(job, divisor, with_sink);
    arb_log(truth, divisor, job->row->prec);
    arb_add(truth, truth, job->row->c, job->row->prec);
    if (mag_is_zero(job->weaker) || !arb_is_finite(truth) || mag_cmp(job->weights.reach, job->model.limit) > 0) {
        set_unbounded(bound);
    } else {
        mag_set(bound->term[ATTEST_TERM_SCORE], job->total[BOUND_SCORE]);
        mag_add(bound->term[ATTEST_TERM_EXP], job->total[BOUND_EXP], job->weights.extra_error);
        if (job->model.cast_common != ATTEST_NO)
            mag_set(bound->term[ATTEST_TERM_CAST], job->total[BOUND_CAST]);
        mag_set(bound->term[ATTEST_TERM_ACCUMULATION], job->denominator);
        for (int t = ATTEST_TERM_SCORE; t <= ATTEST_TERM_ACCUMULATION; t++)
            mag_div(bound->term[t], bound->term[t], job->weaker);
        mag_add(bound->term[ATTEST_TERM_SCORE], bound->term[ATTEST_TERM_SCORE], job->weights.center);
        lse_roundings(bound->term[ATTEST_TERM_DIVISION], job, divisor);
        if (job->model.flags & ATTEST_LSE_BASE2) {
            mag_set_d(x, 0x1.71548p+0); /* > log2(e) */
            for (int t = 0; t < ATTEST_TERM_COUNT; t++)
                mag_mul(bound->term[t], bound->term[t], x);
            arb_const_log2(divisor, job->row->prec);
            arb_div(truth, truth, divisor, job->row->prec);
        }
        finish(bound, job, truth, job->model.u);
    }
    mag_clear(x);
    arb_clear(truth);
    arb_clear(divisor);
}

attest_status ref_bound_row(ref_bound *bound, const ref_row *row, const ref_inputs *in,
                            const attest_numerics *numerics, uint32_t flags, attest_tensor_id id, uint32_t got_dtype,
                            int64_t b, int64_t h, int64_t i, attest_error *err)
{
    const int64_t count = id.index == ATTEST_O || id.index == ATTEST_U ? in->p->e : 1;
    const int divided = id.index == ATTEST_O && in->p->axis[ATTEST_AXIS_NORM].value != ATTEST_NORM_NONE;
    attest_status status;
    for (int64_t c = 0; c < count; c++) {
        ref_bound_clear(bound + c);
        ref_bound_init(bound + c);
    }
    if (row->empty || row->no_truth)
        return ATTEST_OK;
    row_job job = { .row = row, .in = in, .b = b, .h = h, .i = i, .g = attest_kv_head(in->p, h) };
    job.got_dtype = got_dtype;
    job_init(&job);
    ATTEST_TRY(bound_weights_init(&job.weights, row->keys, err));
    ATTEST_TRY(bound_sums_init(&job.sums, row->keys, err));
    if (!bound_model_set(&job.model, in, numerics, flags)) {
        for (int64_t c = 0; c < count; c++)
            set_unbounded(bound + c);
        goto out;
    }
    bound_weights_set(&job.weights, &job.model, row, in, b, h, i, divided || id.index == ATTEST_LSE);
    bound_sums_fill(&job.sums, (mag_srcptr const *)job.weights.set);
    bound_state_mass(job.given, job.given_z, in, b, h, i);
    set_output(&job);
    if (id.index == ATTEST_Z)
        bound_z(bound, &job);
    else if (id.index == ATTEST_LSE)
        bound_lse(bound, &job);
    else
        bound_columns(bound, &job, divided);
out:
    job_clear(&job);
    return status;
}
