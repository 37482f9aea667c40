/* bound_hull.c - weights that are not negative make a mean of the values, whatever their errors (R-HULL). */
#include "reference/bound/bound_row.h"

#include <math.h>

/* What a shifted kernel has in its own scale, where the largest weight is e^0. */
typedef struct hull_job {
    mag_t inverse; /* upper bound of 1/Z^ */
    mag_t weight;  /* of a weight */
    mag_t cast;    /* the sum of the casts' changes over Z^, where the denominator does not add the cast weights */
    mag_t tiny;    /* what a sum loses by underflow, over Z^ */
    mag_t sum;     /* what the denominator errs by, over Z^; below 1/2 */
} hull_job;

static void job_init(hull_job *h)
{
    mag_init(h->inverse);
    mag_init(h->weight);
    mag_init(h->cast);
    mag_init(h->tiny);
    mag_init(h->sum);
}

static void job_clear(hull_job *h)
{
    mag_clear(h->inverse);
    mag_clear(h->weight);
    mag_clear(h->cast);
    mag_clear(h->tiny);
    mag_clear(h->sum);
}

/* Does max s - TAU, rounded and stored as scores are, stay below max s? */
static int keeps_largest(const row_job *job)
{
    const attest_setting *filter = &job->model.p->axis[ATTEST_AXIS_FILTER];
    AUTO_MAG(x, tau, gamma);
    if (!filter->value)
        return 1;
    mag_set_d(tau, filter->number);
    mag_add(x, job->weights.score_max, tau);
    mag_set_d_lower(tau, filter->number);
    bound_gamma(gamma, 4, job->model.u);
    bound_compose(gamma, gamma, job->model.store);
    mag_mul(x, x, gamma);
    mag_add(x, x, job->model.normal);
    mag_add(x, x, job->model.store_tiny);
    return filter->number > 0 && mag_cmp(x, tau) < 0;
}

/* Is a number of the problem 0, or normal in acc (with room for its multiples)? */
static int is_plain(const bound_model *m, double number)
{
    AUTO_MAG(x);
    mag_set_d(x, number);
    mag_mul_2exp_si(x, x, 8);
    const int small = mag_cmp(x, m->sum_limit) <= 0;
    mag_set_d_lower(x, number);
    return number == 0 || (small && mag_cmp(x, m->normal) >= 0);
}

/* No number of the problem is flushed to 0 or becomes infinite where a kernel holds it in acc. */
static int numbers_are_plain(const bound_model *m)
{
    static const int axes[] = { ATTEST_AXIS_CAP, ATTEST_AXIS_CLAMP, ATTEST_AXIS_FILTER };
    int plain = is_plain(m, m->p->scale);
    for (size_t k = 0; k < sizeof axes / sizeof axes[0]; k++)
        plain = plain && (!m->p->axis[axes[k]].value || is_plain(m, m->p->axis[axes[k]].number));
    return plain;
}

/* The lemma's hypotheses but the norm, which lse does not have; and the weights' errors are at least half of the
 * divisor: below that R-CENTRE says more. */
static int speaks(const row_job *job)
{
    const bound_model *m = &job->model;
    const uint32_t schedule = m->numerics->schedule;
    AUTO_MAG(twice);
    mag_mul_2exp_si(twice, job->weak, 1);
    return m->exponential && (schedule == ATTEST_SCHEDULE_TWO_PASS || schedule == ATTEST_SCHEDULE_ONLINE) &&
           !m->running && !m->vector && !m->given && !m->gates_values && !m->drops &&
           !m->p->axis[ATTEST_AXIS_EPS].value && job->row->keys > 0 && mag_cmp(twice, job->divisor) < 0 &&
           numbers_are_plain(m) && keeps_largest(job);
}

static void set_inverse(hull_job *h, const row_job *job)
{
    const bound_model *m = &job->model;
    AUTO_MAG(x);
    bound_gamma(h->inverse, 1 + job->weights.rescales, m->u_exp);
    bound_gamma(x, 1, m->u_cast);
    bound_compose(h->inverse, h->inverse, x);
    if (m->log2_domain) { /* fma(s, c, -fl(m c)): the exponent of the largest is not quite 0 */
        mag_mul(x, m->u, job->weights.score_max);
        mag_mul_2exp_si(x, x, 2);
        mag_expm1(x, x);
        bound_compose(h->inverse, h->inverse, x);
    }
    mag_add_ui(h->inverse, h->inverse, 1);
    mag_mul_ui(h->weight, h->inverse, 1); /* a call: compilers lose the size of a mag_t that mag_set() has seen */
}

/* Decays: the least of the row's, positive and not below what they lose; half of it is left of the largest weight, and
 * twice the largest is the most that a weight becomes.  0: a condition fails. */
static int set_decays(hull_job *h, const row_job *job)
{
    const int64_t last = job->i < job->in->p->m ? job->i : job->in->p->m - 1;
    AUTO_MAG(least, theta, lost, eighth);
    mag_one(least); /* a sink's weight does not decay */
    if (!job->model.decays)
        return 1;
    for (int64_t t = job->row->first + 1; t <= last; t++)
        if (!(axis_decay_factor(job->in, job->b, job->g, t, 0) > 0))
            return 0;
    for (int64_t j = 0; j < job->row->keys; j++) /* upper ends, within 2^-20 of the decays: the half below covers it */
        mag_min(least, least, job->row->decay + j);
    bound_decay_error(theta, lost, &job->weights, &job->model, job->i - job->row->first);
    mag_mul_2exp_si(eighth, least, -4);
    mag_add(lost, lost, job->model.normal);
    if (mag_cmp_2exp_si(theta, -2) >= 0 || mag_cmp(lost, eighth) >= 0)
        return 0;
    mag_mul_2exp_si(h->inverse, h->inverse, 1);
    mag_div(h->inverse, h->inverse, least);
    mag_mul(h->weight, h->weight, job->weights.decay_most);
    mag_mul_2exp_si(h->weight, h->weight, 1);
    return 1;
}

static int hull_set(hull_job *h, const row_job *job)
{
    const bound_model *m = &job->model;
    const bound_weights *w = &job->weights;
    const ulong keys = (ulong)job->row->keys;
    AUTO_MAG(x, half);
    set_inverse(h, job);
    if (!set_decays(h, job))
        return 0;
    mag_add_ui(x, h->inverse, 1); /* + 1: weights that are divided first */
    mag_mul_ui(h->tiny, x, 4 * (keys + (ulong)w->rescales + 2));
    mag_mul(h->tiny, h->tiny, m->tiny_sum);
    mag_mul(x, x, h->weight); /* later alphas */
    mag_mul_ui(x, x, keys);
    mag_mul(h->cast, x, m->tiny_cast);
    mag_add(h->cast, h->cast, m->u_cast);
    mag_add(h->sum, w->gamma_sum, h->tiny);
    mag_set_ui_2exp_si(half, 1, -1);
    mag_mul_2exp_si(x, w->score_max, 1);
    if (axis_norm_of(m->p)->sink) /* it may be above the maximum of the keys */
        mag_exp(x, x);
    else
        mag_one(x);
    mag_mul(x, x, h->weight);
    mag_mul_ui(x, x, keys + 1);
    return mag_cmp(h->sum, half) < 0 && mag_cmp(h->cast, half) < 0 && mag_cmp(x, m->sum_limit) <= 0;
}

/* The largest distance; infinite for a NaN. */
static double furthest(const bound_sums *sums)
{
    double most = 0;
    for (int64_t j = 0; j < sums->keys; j++)
        most = sums->value[j] <= most ? most : sums->value[j] > most ? sums->value[j] : (double)INFINITY;
    return most;
}

/* All terms of one column; 0: a condition fails. */
static int column(ref_bound *bound, row_job *job, const hull_job *h, int64_t c, const arb_t o)
{
    const bound_model *m = &job->model;
    const attest_tensor *v = job->in->role[ATTEST_V];
    AUTO_MAG(x, top, rest);
    bound_sums_distances(&job->sums, v, job->b, job->g, job->row->key, c, o);
    mag_set_d(bound->term[ATTEST_TERM_EXP], furthest(&job->sums));
    arb_get_mag(x, o);
    if (axis_norm_of(m->p)->sink) /* a key with v = 0 */
        mag_max(bound->term[ATTEST_TERM_EXP], bound->term[ATTEST_TERM_EXP], x);
    mag_add(bound->term[ATTEST_TERM_EXP], bound->term[ATTEST_TERM_EXP], job->weights.value_tiny);
    bound_sums_values(&job->sums, v, job->b, job->g, job->row->key, c);
    mag_set_d(top, job->sums.top);
    mag_add(top, top, job->weights.value_tiny);
    if (m->cast_common != ATTEST_YES)
        mag_mul(bound->term[ATTEST_TERM_CAST], top, h->cast);
    mag_add(top, top, bound->term[ATTEST_TERM_CAST]); /* of the numerator, over Z^ */
    mag_mul(x, h->weight, top);
    mag_mul_ui(x, x, (ulong)job->row->keys);
    if (mag_cmp(x, m->sum_limit) > 0)
        return 0;
    mag_mul_ui(x, m->tiny, (ulong)job->row->keys); /* a weight that is divided first */
    mag_add(x, x, job->weights.gamma_sum);
    mag_add(x, x, h->sum); /* |o~| <= top */
    mag_mul(x, x, top);
    mag_add(x, x, h->tiny);
    mag_one(rest);
    mag_sub_lower(rest, rest, h->sum);
    mag_div(bound->term[ATTEST_TERM_ACCUMULATION], x, rest);
    return 1;
}

void bound_hull_take(ref_bound *bound, row_job *job, int64_t c, const arb_t divisor)
{
    const int overflow = job->weights.overflow;
    ref_bound other;
    hull_job h;
    AUTO_ARB(o);
    if (!speaks(job) || overflow || axis_norm_of(job->model.p)->kind != AXIS_NORM_QUOTIENT)
        return;
    job_init(&h);
    ref_bound_init(&other);
    arb_div(o, job->row->u + c, divisor, job->row->prec);
    if (hull_set(&h, job) && column(&other, job, &h, c, o)) {
        bound_finish(&other, job, o, job->row->o + c, job->division, 1);
        if (!other.unbounded && (bound->unbounded || mag_cmp(other.total, bound->total) < 0)) {
            ref_bound_clear(bound);
            ref_bound_init(bound);
            for (int t = 0; t < ATTEST_TERM_COUNT; t++)
                mag_set(bound->term[t], other.term[t]);
            mag_set(bound->total, other.total);
        }
    }
    ref_bound_clear(&other);
    job_clear(&h);
}

int bound_hull_lse(mag_t y, const row_job *job)
{
    hull_job h;
    AUTO_MAG(x);
    int good = speaks(job) && !axis_norm_of(job->in->p)->sink && !job->weights.overflow;
    job_init(&h);
    if (good && hull_set(&h, job)) { /* -ln(1 - x) <= 2x */
        mag_mul_ui(x, h.inverse, (ulong)job->row->keys);
        mag_mul(x, x, h.weight);
        mag_log(y, x);
        mag_add(x, h.sum, h.cast);
        mag_mul_2exp_si(x, x, 1);
        mag_add(y, y, x);
        mag_add(y, y, job->weights.delta_max);
        bound_gamma(x, 5, job->model.u); /* the logarithm that is rounded is not the true one */
        mag_add(x, x, job->model.u_log);
        mag_addmul(y, y, x);
    } else {
        good = 0;
    }
    job_clear(&h);
    return good;
}
