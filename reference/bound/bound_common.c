/* bound_common.c - errors of factors that many weights have in common: they move a mean by what the weights together
 * weigh away from it (R-COMMON). */
#include "reference/bound/bound_row.h"

/* Online: sum over the tiles but the first of |G_t|, G_t the sum of w_j (v_jc - o) over the keys before tile t.  Split:
 * as often as there are parts, how far two such sums may be apart. */
static void leanings(mag_t y, row_job *job, int64_t c, const arb_t o)
{
    const bound_run *run = &job->run;
    const double *x = bound_sums_channel(&job->sums, job->in->role[ATTEST_V], job->b, job->g, job->row->key, c);
    const double mid = arf_get_d(arb_midref(o), ARF_RND_NEAR);
    double before = 0, total = 0, size = 0, slack = 0, weights = 0, most = 0, least = 0;
    AUTO_ARB(rest);
    AUTO_MAG(far);
    arb_set_d(rest, mid);
    arb_sub(rest, o, rest, 128);
    arb_get_mag(far, rest);
    for (int64_t j = 0; j < run->keys; j++) {
        const double away = x[j] - mid, term = run->weight[j] * away;
        if (j > 0 && j % run->tile == 0)
            total += __builtin_fabs(before);
        before += term;
        most = before > most ? before : most;
        least = before < least ? before : least;
        size += __builtin_fabs(term);
        slack += run->error[j] * __builtin_fabs(away);
        weights += __builtin_fabs(run->weight[j]) + run->error[j];
    }
    const double tiles = (double)(run->parts ? 2 * run->parts : (run->keys - 1) / run->tile);
    if (run->parts)
        total = (double)run->parts * (most - least);
    const double each = (double)(run->keys + 8) * 0x1p-52 * size + slack + ref_mag_upper(far) * weights;
    bound_run_raised(y, total + tiles * each, 4 * run->keys, run->shift);
}

/* Relative error of one factor; `all`: that of all factors of a weight together.  A part has one. */
static void factor_errors(mag_t one, mag_t all, const row_job *job)
{
    const bound_weights *w = &job->weights;
    AUTO_MAG(merge);
    if (job->run.parts) {
        mag_expm1(merge, w->merge);
        bound_gamma(all, w->merges, job->model.u_exp);
        bound_compose(all, all, merge);
        mag_set(one, all);
    } else {
        bound_gamma(all, w->rescales, job->model.u_exp);
        mag_set(one, job->model.u_exp);
    }
}

void bound_common_take(mag_t y, row_job *job, int64_t c, const arb_t o)
{
    AUTO_MAG(apart, lean, grow, one);
    if (!job->model.common || !job->run.weight)
        return;
    factor_errors(one, grow, job);
    bound_sums_dot(apart, &job->sums, BOUND_APART);
    leanings(lean, job, c, o);
    mag_addmul(apart, one, lean);
    bound_sums_dot(lean, &job->sums, BOUND_SCORE);
    mag_add(lean, lean, apart); /* what the other errors of a weight are multiplied by */
    mag_addmul(apart, lean, grow);
    mag_min(y, y, apart);
}

int bound_common_factor(const attest_problem *p, const attest_numerics *n, uint32_t output)
{
    const axis_norm_kind norm = axis_norm_of(p)->kind;
    const int quotient = norm == AXIS_NORM_QUOTIENT;
    const int shifts = n->schedule == ATTEST_SCHEDULE_TWO_PASS || n->schedule == ATTEST_SCHEDULE_ONLINE ||
                       n->schedule == ATTEST_SCHEDULE_SPLIT;
    if (output != ATTEST_O && output != ATTEST_LSE)
        return 0;
    if (p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP)
        return quotient || output == ATTEST_LSE;
    if (n->schedule == ATTEST_SCHEDULE_DIRECT)
        return 0;
    if (quotient || output == ATTEST_LSE)
        return quotient || shifts;
    return norm == AXIS_NORM_ROOT && p->axis[ATTEST_AXIS_EPS].value == ATTEST_EPS_ZERO && shifts;
}
