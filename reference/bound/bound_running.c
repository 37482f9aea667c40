/* bound_running.c - what a running mean errs by beside its sums (R-RUNNING). */
#include "reference/bound/bound_row.h"

void bound_running_sum(ref_bound *bound, const row_job *job, const mag_t size)
{
    const bound_model *m = &job->model;
    AUTO_MAG(kappa, x);
    if (!m->running)
        return;
    mag_max(x, m->u, m->u_sum);
    bound_gamma(kappa, 6, x);
    bound_compose(kappa, kappa, m->u_div);
    bound_gamma(kappa, 2, kappa);
    mag_mul_2exp_si(kappa, kappa, -1);
    bound_gamma(x, 6 * (job->row->keys + 1), x);
    mag_add_ui(x, x, 1);
    mag_mul(kappa, kappa, x);
    mag_set_d(x, job->sums.top);
    mag_mul(x, x, size);
    mag_addmul(bound->term[ATTEST_TERM_ACCUMULATION], kappa, x);
}

void bound_running_cast(mag_t cast, const row_job *job)
{
    AUTO_MAG(sum, top);
    if (!job->model.running)
        return;
    bound_sums_total(sum, &job->sums, BOUND_CAST);
    mag_set_d(top, job->sums.top);
    mag_addmul(cast, sum, top);
}
