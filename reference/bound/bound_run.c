/* bound_run.c - sums that a kernel declares to form serially: u times the sizes of their partial sums (R-RUN).
 *
 * Everything is an upper bound.  Partial sums are formed in double; what that changes, at most (n+4) 2^-52 of the sum
 * of the terms' sizes for each, is added, and the sums of non-negative doubles are raised by R-DSUM.
 */
#include "reference/bound/bound_row.h"

#include <float.h>
#include <stdlib.h>

/* Of the largest weight; 0: out of reach of a word, or not finite. */
static int top_exponent(slong *top, const ref_row *row)
{
    AUTO_MAG(most, size);
    for (int64_t j = 0; j < row->keys; j++) {
        arb_get_mag(size, row->w + j);
        mag_max(most, most, size);
    }
    const int near = mag_cmp_2exp_si(most, 1 << 30) < 0;
    *top = near && !mag_is_zero(most) && fmpz_fits_si(MAG_EXPREF(most)) ? fmpz_get_si(MAG_EXPREF(most)) : 0;
    return near;
}

/* The least r with r^2 >= n. */
static ulong root_above(int64_t n)
{
    ulong r = 0;
    while (r * r < (ulong)n)
        r++;
    return r;
}

attest_status bound_run_init(bound_run *run, const bound_model *m, const ref_row *row, attest_error *err)
{
    const int64_t tile = m->numerics->schedule == ATTEST_SCHEDULE_ONLINE ? m->numerics->tile : row->keys;
    AUTO_ARB(x, y);
    AUTO_MAG(rest);
    slong top;
    if (!m->serial || m->gates_values || m->drops || row->keys < 1 || !top_exponent(&top, row))
        return ATTEST_OK;
    double *block = calloc(4 * (size_t)row->keys, sizeof *block);
    if (!block)
        return attest_fail(err, ATTEST_NO_MEMORY, "bound: no memory for %lld keys", (long long)row->keys);
    *run = (bound_run){ .keys = row->keys, .tile = tile, .weight = block };
    if (m->numerics->schedule == ATTEST_SCHEDULE_SPLIT)
        run->parts = m->numerics->splits > 0 ? m->numerics->splits : m->p->splits > 0 ? m->p->splits : 1;
    run->extra = axis_norm_of(m->p)->sink || m->p->axis[ATTEST_AXIS_EPS].value != 0;
    run->root = root_above(bound_run_roundings(run));
    run->error = block + row->keys;
    run->cast = block + 2 * row->keys;
    run->open = block + 3 * row->keys;
    run->shift = top;
    for (int64_t j = 0; j < row->keys; j++) {
        arb_mul_2exp_si(x, row->w + j, -run->shift);
        run->weight[j] = arf_get_d(arb_midref(x), ARF_RND_NEAR);
        arb_set_d(y, run->weight[j]);
        arb_sub(y, x, y, 64);
        arb_get_mag(rest, y);
        run->error[j] = ref_mag_upper(rest);
    }
    return ATTEST_OK;
}

void bound_run_clear(bound_run *run)
{
    free(run->weight);
    run->weight = NULL;
}

void bound_run_raised(mag_t y, double sum, int64_t count, slong shift)
{
    AUTO_MAG(factor);
    if (sum >= 0 && sum <= DBL_MAX)
        mag_set_d(y, sum);
    else
        mag_inf(y);
    mag_set_ui_2exp_si(factor, (ulong)count + 4, -52);
    mag_add_ui(factor, factor, 1);
    mag_mul(y, y, factor);
    mag_add_ui_2exp_si(y, y, (ulong)count + 1, -1060);
    mag_mul_2exp_si(y, y, shift);
}

/* (sqrt(squares) + count each) 2^shift, squares >= 0 a sum of 2 count products at most. */
static void raised_root(mag_t y, double squares, double each, int64_t count, slong shift)
{
    AUTO_MAG(x);
    bound_run_raised(y, squares, 4 * count, 0);
    mag_sqrt(y, y);
    mag_set_d(x, (double)count * each * (1 + 0x1p-50));
    mag_add(y, y, x);
    mag_mul_2exp_si(y, y, shift);
}

/* Sizes of the partial sums of w_j x_j (x NULL: 1) that a rounding meets, and of the terms; `root`: of the sum of the
 * squares of all that is rounded, the products too. */
static void partial_sums(mag_t partial, mag_t root, mag_t mass, const bound_run *run, const double *x)
{
    const double products = x ? 1 : 0;
    double total = 0, squares = 0, size = 0, slack = 0, before = 0, top = 0;
    for (int64_t start = 0; start < run->keys; start += run->tile) {
        const int64_t end = run->keys - start < run->tile ? run->keys : start + run->tile;
        double sum = 0;
        for (int64_t j = start; j < end; j++) {
            const double term = x ? run->weight[j] * x[j] : run->weight[j];
            sum += term;
            size += __builtin_fabs(term);
            slack += run->error[j] * (x ? __builtin_fabs(x[j]) : 1);
            squares += products * term * term;
            top = __builtin_fabs(sum) > top ? __builtin_fabs(sum) : top;
            if (j > start) {
                total += __builtin_fabs(sum);
                squares += sum * sum;
            }
        }
        if (start > 0) { /* what was there is rescaled, and the tile added */
            total += __builtin_fabs(before) + __builtin_fabs(before + sum);
            squares += before * before + (before + sum) * (before + sum);
        }
        before += sum;
    }
    if (run->parts) /* a part's sums lack what was before it; it is weighed and divided, the sum so far rescaled */
        total += (double)(run->keys + 8 * run->parts) * top;
    if (!x && run->extra) {
        total += __builtin_fabs(before);
        squares += before * before;
    }
    const double each = (double)(run->keys + 4) * 0x1p-52 * size + slack;
    const int64_t count = bound_run_roundings(run);
    bound_run_raised(partial, total + (double)count * each, count + run->keys, run->shift);
    mag_inf(root);
    if (run->likely && !run->parts && count + run->keys > BOUND_LAMBDA * BOUND_LAMBDA) /* else it cannot be less */
        raised_root(root, squares, each, count + run->keys, run->shift);
    bound_run_raised(mass, size + slack, run->keys, run->shift);
}

int64_t bound_run_roundings(const bound_run *run)
{
    return run->keys + 2 * ((run->keys - 1) / run->tile) + 5 * run->parts + run->extra;
}

/* R-PROBABILISTIC: lambda u (root + sqrt(K) each + [products] moved), and the u of narrowed inputs; `each`: how far a
 * partial sum is from the truth's. */
static void probable_sum(mag_t y, const mag_t root, const mag_t each, const mag_t moved, const mag_t mass,
                         const bound_run *run, const bound_model *m, int products)
{
    AUTO_MAG(x);
    if (mag_is_inf(root))
        return;
    mag_mul_ui(x, each, run->root);
    mag_add(x, x, root);
    if (products)
        mag_add(x, x, moved);
    mag_mul_ui(x, x, BOUND_LAMBDA);
    if (m->narrows)
        mag_add(x, x, mass);
    mag_mul(x, x, m->u_sum);
    mag_min(y, y, x);
}

void bound_run_sum(mag_t y, mag_t probable, const bound_run *run, const bound_model *m, const bound_weights *w,
                   const double *x, const mag_t moved)
{
    AUTO_MAG(mass, each, sum, root);
    partial_sums(sum, root, mass, run, x);
    mag_add(mass, mass, moved);
    mag_set(each, w->gamma_sum);
    mag_mul(each, each, mass);
    mag_add(each, each, moved); /* how far a partial sum is from the truth's */
    probable_sum(probable, root, each, moved, mass, run, m, x != NULL);
    mag_mul_ui(each, each, (ulong)bound_run_roundings(run));
    mag_add(sum, sum, each);
    mag_mul(sum, sum, m->u_sum);
    if (x)
        mag_set(each, m->u_sum); /* the product */
    else
        mag_zero(each);
    if (mag_cmp(m->u_sum, m->u) < 0)
        bound_compose(each, each, m->u);
    if (m->narrows)
        bound_compose(each, each, m->u);
    if (x && run->parts)
        bound_compose(each, each, m->u_div);
    mag_addmul(sum, each, mass);
    mag_min(y, y, sum);
    mag_min(probable, probable, y);
}

void bound_run_denominator(mag_t y, mag_t probable, const row_job *job)
{
    AUTO_MAG(moved);
    if (!job->run.weight)
        return;
    for (int t = BOUND_SCORE; t <= BOUND_CAST; t++)
        mag_add(moved, moved, job->total[t]);
    bound_run_sum(y, probable, &job->run, &job->model, &job->weights, NULL, moved);
}

static const double *column(row_job *job, int64_t c)
{
    return bound_sums_channel(&job->sums, job->in->role[ATTEST_V], job->b, job->g, job->row->key, c);
}

void bound_run_numerator(mag_t y, mag_t probable, row_job *job, int64_t c)
{
    AUTO_MAG(moved, x);
    if (!job->run.weight)
        return;
    for (int t = BOUND_SCORE; t <= BOUND_CAST; t++) {
        bound_sums_dot(x, &job->sums, t);
        mag_add(moved, moved, x);
    }
    bound_run_sum(y, probable, &job->run, &job->model, &job->weights, column(job, c), moved);
}

/* ---- casts whose result is known (R-CAST-KNOWN) ----------------------------------------------------------------- */
static int casts_are_known(const bound_run *run, const bound_model *m)
{
    const attest_setting *axis = m->p->axis;
    return run->weight && m->exponential && m->numerics->schedule != ATTEST_SCHEDULE_DIRECT && !run->parts &&
           !m->log2_domain && !mag_is_zero(m->u_cast) && m->numerics->p_rounding == ATTEST_ROUNDING_NEAREST &&
           !m->decays && axis_norm_of(m->p)->eps && axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_NONE;
}

/* What is the same for the keys of a tile. */
typedef struct cast_job {
    arb_t top, down;      /* the running maximum M; e^-M */
    double up, up_error;  /* e^M 2^-shift, and how far it may be from that */
    double drift, growth; /* relative: of e^(computed maximum - M); of that and all later rescales */
} cast_job;

static void set_drift(cast_job *job, const bound_model *m, const bound_weights *w)
{
    AUTO_MAG(x, y);
    mag_expm1(x, w->delta_max);
    job->drift = ref_mag_upper(x);
    bound_gamma(y, 1, m->u);
    mag_mul(y, y, w->score_max); /* the exponents of all rescales together are at most 2 score_max */
    mag_mul_2exp_si(y, y, 1);
    mag_add(y, y, w->delta_max);
    mag_expm1(x, y);
    bound_gamma(y, w->rescales, m->u_exp);
    bound_compose(x, x, y);
    job->growth = ref_mag_upper(x);
}

/* x to the nearest double; *error >= what that changes. */
static double near(double *error, const arb_t x)
{
    AUTO_ARB(y);
    AUTO_MAG(size);
    const double d = arf_get_d(arb_midref(x), ARF_RND_NEAR);
    arb_set_d(y, d);
    arb_sub(y, x, y, 64);
    arb_get_mag(size, y);
    *error = ref_mag_upper(size);
    return d;
}

/* The maximum so far, of the tile's keys too. */
static void set_tile(cast_job *job, const bound_run *run, const ref_row *row, int64_t first, int64_t last)
{
    AUTO_ARB(x);
    for (int64_t j = first; j < last; j++)
        if (j == 0)
            arb_set(job->top, row->s);
        else
            arb_max(job->top, job->top, row->s + j, 128);
    arb_neg(x, job->top);
    arb_exp(job->down, x, 64);
    arb_exp(x, job->top, 64);
    arb_mul_2exp_si(x, x, -run->shift);
    job->up = near(&job->up_error, x);
}

/* The least that a cast number from x on is: x rounded to p, or 0 where a number from x on may be flushed. */
static double cast_low(const bound_model *m, double x)
{
    const uint32_t p = m->p->p;
    const double normal = attest_to_f64(p, (uint64_t)1 << (attest_format_of(p).p - 1)); /* the least: 2^emin */
    if (m->flags & ATTEST_FTZ && x < normal)
        return 0;
    return attest_to_f64(p, attest_from_f64(p, x));
}

/* The weight that the kernel casts is in t +- h: where both ends round to one value, the cast is known. */
static void known_cast(bound_run *run, const cast_job *job, const bound_model *m, const bound_weights *w,
                       const ref_row *row, int64_t j)
{
    const uint32_t p = m->p->p;
    double error;
    AUTO_ARB(x);
    AUTO_MAG(size, moved);
    arb_mul(x, row->w + j, job->down, 64);
    const double t = near(&error, x);
    arb_get_mag(size, job->down);
    mag_add(moved, w->set[BOUND_SCORE] + j, w->set[BOUND_EXP] + j);
    mag_mul(moved, moved, size);
    const double h = (error + t * job->drift + ref_mag_upper(moved) * (1 + job->drift)) * (1 + 0x1p-48);
    const double low = t > h ? (t - h) * (1 - 0x1p-50) : 0, high = (t + h) * (1 + 0x1p-50);
    const double p_low = cast_low(m, low), p_high = attest_to_f64(p, attest_from_f64(p, high));
    const double change = (p_low + p_high) / 2 - t, size_up = job->up + job->up_error;
    const double around = (p_high - p_low) / 2 + h + (p_high + t) * 0x1p-50;
    run->cast[j] = change * job->up;
    run->open[j] = ((around + (__builtin_fabs(change) + around) * job->growth) * size_up +
                    __builtin_fabs(change) * (job->up_error + size_up * 0x1p-50)) *
                       (1 + 0x1p-48) +
                   0x1p-1060;
}

void bound_run_casts(bound_run *run, const bound_model *m, const bound_weights *w, const ref_row *row)
{
    cast_job job;
    if (!casts_are_known(run, m))
        return;
    arb_init(job.top);
    arb_init(job.down);
    set_drift(&job, m, w);
    for (int64_t start = 0; start < run->keys; start += run->tile) {
        const int64_t end = run->keys - start < run->tile ? run->keys : start + run->tile;
        set_tile(&job, run, row, start, end);
        for (int64_t j = start; j < end; j++)
            known_cast(run, &job, m, w, row, j);
    }
    run->casts = 1;
    arb_clear(job.down);
    arb_clear(job.top);
}

void bound_run_cast(mag_t y, row_job *job, int64_t c)
{
    const bound_run *run = &job->run;
    double sum = 0, size = 0, open = 0;
    AUTO_MAG(all);
    if (!run->casts)
        return;
    const double *x = column(job, c);
    for (int64_t j = 0; j < run->keys; j++) {
        const double term = run->cast[j] * x[j];
        sum += term;
        size += __builtin_fabs(term);
        open += run->open[j] * __builtin_fabs(x[j]);
    }
    bound_run_raised(all, __builtin_fabs(sum) + (double)(run->keys + 4) * 0x1p-52 * size + open, 2 * run->keys,
                     run->shift);
    mag_min(y, y, all);
}

/* R-PROBABILISTIC of a score: lambda u (root + sqrt(d) gamma_d mass), then the scale's roundings; `size`: of the
 * sum. */
static void probable_score(mag_t y, double squares, double slack, const mag_t mass, const mag_t size, const mag_t gamma,
                           int64_t d, ulong root, const bound_model *m)
{
    AUTO_MAG(dot, x);
    raised_root(dot, squares, slack, d, 0);
    mag_mul(x, gamma, mass);
    mag_mul_ui(x, x, root);
    mag_add(dot, dot, x);
    mag_mul_ui(dot, dot, BOUND_LAMBDA);
    mag_mul(dot, dot, m->u_sum);
    mag_addmul(dot, dot, m->score_scale);
    mag_addmul(dot, size, m->score_scale);
    mag_mul(dot, dot, m->scale);
    mag_min(y, y, dot);
}

void bound_run_scores(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at)
{
    const attest_tensor *q = in->role[ATTEST_Q], *k = in->role[ATTEST_K];
    const int64_t d = in->p->d, g = attest_kv_head(in->p, at.h);
    const int exact = 2 * attest_format_of(in->p->in).p <= attest_format_of(in->p->acc).p; /* products */
    const double rounds = exact ? 0 : 1;                                                   /* products do */
    const ulong root = root_above(d);
    AUTO_MAG(gamma, dot, mass, size);
    if (!m->serial || !m->plain || m->scales_inputs)
        return;
    bound_gamma(gamma, d, m->u_sum);
    for (int64_t j = 0; j < row->keys; j++) {
        double sum = 0, terms = 0, total = 0, squares = 0;
        for (int64_t c = 0; c < d; c++) {
            const double term = attest_load(q, attest_offset(q, at.b, at.h, at.i, c)) *
                                attest_load(k, attest_offset(k, at.b, g, row->key[j], c));
            sum += term;
            terms += __builtin_fabs(term);
            total += c > 0 ? __builtin_fabs(sum) : 0;
            squares += sum * sum + rounds * term * term;
        }
        const double slack = (double)(d + 4) * 0x1p-52 * terms;
        bound_run_raised(dot, total + (double)d * slack, 2 * d, 0);
        bound_run_raised(mass, terms, d, 0);
        bound_run_raised(size, __builtin_fabs(sum) + slack, d, 0);
        if (w->likely)
            probable_score(w->likely + j, squares, slack, mass, size, gamma, d, root, m);
        mag_mul_ui(mass, mass, (ulong)d);
        mag_addmul(dot, mass, gamma); /* the computed partial sums */
        mag_div_ui(mass, mass, (ulong)d);
        if (!exact)
            mag_add(dot, dot, mass);
        mag_mul(dot, dot, m->u_sum);
        mag_addmul(dot, dot, m->score_scale);
        mag_addmul(dot, size, m->score_scale);
        mag_mul(dot, dot, m->scale);
        mag_min(w->delta + j, w->delta + j, dot);
    }
}
