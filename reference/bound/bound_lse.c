/* bound_lse.c - the errors of a logarithm of the weights' sum (R-LSE). */
#include "reference/bound/bound_row.h"

/* How far the sink may stand above the keys' maximum: of what is added up, where only the maximum is taken without it,
 * and of the maximum, where only the sum is. */
static void sink_above(mag_t y, const row_job *job)
{
    const attest_tensor *sink = job->in->role[ATTEST_SINK];
    AUTO_MAG(x);
    mag_zero(y);
    if (!axis_norm_of(job->model.p)->sink)
        return;
    const double s = attest_load(sink, attest_offset(sink, job->h, 0, 0, 0));
    mag_set_d(x, s);
    if (s >= 0)
        mag_add(y, job->weights.score_max, x);
    else if (mag_cmp(job->weights.score_max, x) > 0)
        mag_sub(y, job->weights.score_max, x);
}

/* R-LSE: error of the logarithm, of adding the maximum, and of changes of base. */
void bound_lse_roundings(mag_t y, const row_job *job, const arb_t divisor)
{
    const bound_model *m = &job->model;
    AUTO_MAG(size, x);
    const int shifted = m->exponential && m->numerics->schedule != ATTEST_SCHEDULE_DIRECT;
    if (shifted)
        sink_above(x, job);
    if (shifted && !m->decays && !m->p->axis[ATTEST_AXIS_FILTER].value) {
        mag_log_ui(size, (ulong)job->row->keys + 2); /* the sum of shifted weights is in [1 - .., keys + 1] */
    } else {
        arb_t l;
        arb_init(l);
        arb_log(l, divisor, 64);
        arb_get_mag(size, l);
        if (m->exponential) /* ln(z e^-M) */
            mag_add(size, size, job->weights.score_max);
        arb_clear(l);
    }
    mag_add(size, size, x);
    mag_add_ui(size, size, 1);
    mag_mul(y, size, m->u_log);
    mag_add(size, size, job->weights.score_max);
    bound_gamma(x, (m->log2_domain || m->flags & ATTEST_LSE_BASE2 ? 5 : 2) + (m->by_key ? 3 : 0), m->u); /* R-ALIBI */
    mag_addmul(y, size, x);
    mag_add(y, y, job->weights.merge);
}

/* rho, by term. */
void bound_lse_terms(ref_bound *bound, const row_job *job)
{
    mag_set(bound->term[ATTEST_TERM_SCORE], job->total[BOUND_SCORE]);
    mag_add(bound->term[ATTEST_TERM_EXP], job->total[BOUND_EXP], job->weights.extra_error);
    if (job->model.cast_common != ATTEST_NO)
        mag_set(bound->term[ATTEST_TERM_CAST], job->total[BOUND_CAST]);
    mag_set(bound->term[ATTEST_TERM_ACCUMULATION], job->denominator);
    for (int t = ATTEST_TERM_SCORE; t <= ATTEST_TERM_ACCUMULATION; t++)
        mag_div(bound->term[t], bound->term[t], job->weaker);
}
