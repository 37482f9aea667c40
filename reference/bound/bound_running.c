/* bound_running.c - what a running mean errs by beside its sums (R-RUNNING). */
#include "reference/bound/bound_row.h"

/* 1 + kappa: what a share w/l, its difference and product err by. */
static void share_error(mag_t kappa, const bound_model *m)
{
    AUTO_MAG(u);
    mag_max(u, m->u, m->u_sum);
    bound_gamma(kappa, 6, u);
    bound_compose(kappa, kappa, m->u_div);
}

/* The largest that the mean becomes: a share may be above 1, by its own error and that of the cast. */
static void largest_mean(mag_t y, const row_job *job)
{
    AUTO_MAG(x, top);
    share_error(x, &job->model);
    bound_compose(x, x, job->model.u_cast);
    bound_gamma(x, 2, x);
    mag_add_ui(x, x, 1);
    mag_set_d(top, job->sums.top);
    mag_mul(y, top, x);
}

void bound_running_sum(ref_bound *bound, const row_job *job, const mag_t size)
{
    const bound_model *m = &job->model;
    AUTO_MAG(kappa, x);
    if (!m->running)
        return;
    share_error(kappa, m);
    bound_gamma(kappa, 2, kappa);
    mag_mul_2exp_si(kappa, kappa, -1);
    mag_max(x, m->u, m->u_sum);
    bound_gamma(x, 6 * (job->weights.range + 1), x);
    mag_add_ui(x, x, 1);
    mag_mul(kappa, kappa, x);
    largest_mean(x, job);
    mag_mul(x, x, size);
    mag_addmul(bound->term[ATTEST_TERM_ACCUMULATION], kappa, x);
}

void bound_running_cast(mag_t cast, const row_job *job)
{
    AUTO_MAG(sum, top);
    if (!job->model.running)
        return;
    bound_sums_total(sum, &job->sums, BOUND_CAST);
    largest_mean(top, job);
    mag_addmul(cast, sum, top);
}
