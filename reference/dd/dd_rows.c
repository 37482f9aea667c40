/* dd_rows.c - a block of rows through the dd engine: scores, weights, sums, outputs, bounds (dd_driver.h). */
#include <string.h>

#include "reference/dd/dd_driver.h"
#include "reference/dd/dd_table.h"

/* A thread's arrays for one block. */
typedef struct block {
    const dd_job *job;
    dd_row row[DD_ROWS];
    int64_t stride;   /* keys, padded */
    int64_t from, to; /* keys that some row sees, in whole panels */
    double *q, *high, *low;
    double *q1, *q2, *kept; /* slices */
} block;

/* Rows of a power of two would fall on the same lines of the nearest cache. */
static int64_t row_stride(const dd_job *job) { return job->panels * DD_PANEL + 24; }

size_t dd_scratch(const dd_job *job)
{
    const size_t arrays = job->sliced ? 3 : 1;
    return (size_t)DD_ROWS * (arrays * (size_t)job->p->d + (arrays == 3 ? 3 : 2) * (size_t)row_stride(job));
}

/* ---- what the rows are ------------------------------------------------------------------------------------------- */

static void find_rows(block *x, int64_t number)
{
    const dd_job *job = x->job;
    const attest_problem *p = job->p;
    const int64_t group = p->hq / p->hkv, keys = job->panels * DD_PANEL;
    int64_t from = keys, to = 0;
    for (int r = 0; r < DD_ROWS; r++) {
        dd_row *row = &x->row[r];
        const int64_t at = number * DD_ROWS + r;
        memset(row, 0, sizeof *row);
        row->h = at < group * p->n ? job->head.g * group + at / p->n : -1;
        row->i = at % p->n;
        row->known = 1;
        if (row->h >= 0)
            attest_visible(p, attest_lengths_of(p, job->len, job->len_q, job->head.b), row->i, &row->first, &row->last);
        if (row->first >= row->last) {
            row->empty = row->h >= 0;
            row->known = 0;
            row->first = row->last = 0;
        }
        dd_query(x->q + r * p->d, row, job);
        if (row->known && job->head.bad[row->last] != job->head.bad[row->first])
            row->known = 0;
        if (!row->known)
            continue;
        from = row->first < from ? row->first : from;
        to = row->last > to ? row->last : to;
    }
    x->from = from / DD_PANEL * DD_PANEL;
    x->to = (to + DD_PANEL - 1) / DD_PANEL * DD_PANEL;
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

/* R-DD-GRID: all partial sums are multiples of the product of the grids and below 2^53 of it. */
static int sums_are_exact(const block *x)
{
    const dd_job *job = x->job;
    if (job->tiers != ATTEST_TIERS_PROVED)
        return job->tiers == ATTEST_TIERS_FORCED;
    for (int r = 0; r < DD_ROWS; r++) {
        const dd_row *row = &x->row[r];
        const double top = 0x1p53 * row->grid * job->head.key_grid;
        if (row->known && !(row->square * job->head.key_square * (1 + 0x1p-16) <= top * top && top > 0x1p-400))
            return 0;
    }
    return 1;
}

/* q in slices: q1 on the grid 2^(exponent-26), |q| <= 2^exponent. */
static void slice_query(block *x, int r)
{
    const int64_t d = x->job->p->d, exponent = dd_norm_exponent(x->row[r].square);
    const double big = 1.5 * dd_power_of_two(exponent + 26), *q = x->q + r * d;
    for (int64_t c = 0; c < d; c++) {
        const double part = (q[c] + big) - big;
        x->q1[r * d + c] = part;
        x->q2[r * d + c] = q[c] - part;
    }
    x->row[r].exponent = exponent;
}

static void make_sliced_scores(block *x)
{
    const dd_job *job = x->job;
    const int64_t at = x->from * job->p->d;
    const double *const q[3] = { x->q, x->q1, x->q2 };
    for (int r = 0; r < DD_ROWS; r++)
        slice_query(x, r);
    job->path->scores_sliced(x->high + x->from, x->low + x->from, x->stride, q, job->head.key + at, job->head.key2 + at,
                             job->p->d, (x->to - x->from) / DD_PANEL, job->f.scale);
}

static void make_scores(block *x)
{
    const dd_job *job = x->job;
    const double *key = job->head.key + x->from * job->p->d;
    const int64_t panels = (x->to - x->from) / DD_PANEL;
    const int exact = sums_are_exact(x);
    double big[DD_ROWS];
    for (int r = 0; r < DD_ROWS; r++) {
        const int64_t exponent = dd_score_exponent(job, &x->row[r]);
        big[r] = 1.5 * dd_power_of_two(exponent);
        x->row[r].exponent = exact ? DD_EXACT_SUM : exponent;
    }
    if (exact)
        job->path->scores_exact(x->high + x->from, x->low + x->from, x->stride, x->q, key, job->p->d, panels,
                                job->f.scale);
    else
        job->path->scores(x->high + x->from, x->low + x->from, x->stride, x->q, key, job->p->d, panels, big,
                          job->f.scale);
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

/* The center as a pair of doubles, from the computed scores. */
static void find_center(double c[2], const double *high, const double *low, int64_t first, int64_t last, int sign)
{
    c[0] = high[first];
    c[1] = low[first];
    for (int64_t j = first + 1; j < last; j++) {
        const double more = sign * (high[j] - c[0]);
        if (more > 0 || (more == 0 && sign * (low[j] - c[1]) > 0)) {
            c[0] = high[j];
            c[1] = low[j];
        }
    }
}

/* The clamp comes first; it keeps the order, so the extremes of clamped scores are the clamped extremes. */
static void clamp_center(double c[2], double clamp)
{
    if (c[0] > clamp || (c[0] == clamp && c[1] > 0)) {
        c[0] = clamp;
        c[1] = 0;
    }
}

static void take_center(dd_row *row, const dd_job *job, const double *high, const double *low)
{
    double *shift = row->plan.shift, other[2];
    if (job->f.center == ATTEST_CENTER_ZERO)
        return;
    find_center(shift, high, low, row->first, row->last, job->f.center == ATTEST_CENTER_MIN ? -1 : 1);
    clamp_center(shift, job->f.clamp);
    if (job->f.center == ATTEST_CENTER_MID) { /* half the sum, two_sum */
        find_center(other, high, low, row->first, row->last, -1);
        clamp_center(other, job->f.clamp);
        const double s = shift[0] + other[0], t = s - shift[0];
        const double e = (shift[0] - (s - t)) + (other[0] - t) + (shift[1] + other[1]);
        shift[0] = s / 2;
        shift[1] = e / 2;
    }
    row->score_error = 2 * row->score_error + 0x1p-100 * row->largest;
}

static void make_weights(block *x, int r)
{
    const dd_job *job = x->job;
    dd_row *row = &x->row[r];
    double *high = x->high + r * x->stride, *low = x->low + r * x->stride;
    double lowest, highest;
    job->path->range(&lowest, &highest, high, row->first, row->last);
    row->largest = __builtin_fabs(highest) > __builtin_fabs(lowest) ? __builtin_fabs(highest) : __builtin_fabs(lowest);
    row->score_error = dd_score_error(job, row);
    row->plan.from = x->from;
    row->plan.to = x->to;
    row->plan.first = row->first;
    row->plan.last = row->last;
    row->plan.clamp = job->f.clamp;
    row->plan.order = job->f.order;
    row->plan.coefficient = job->f.coefficient;
    memcpy(row->plan.lead, job->f.lead, sizeof row->plan.lead);
    take_center(row, job, high, low);
    dd_plan_weights(row, job, lowest < job->f.clamp ? lowest : job->f.clamp,
                    highest < job->f.clamp ? highest : job->f.clamp);
    if (!row->known)
        return;
    (!job->f.exponential ? job->path->series
     : job->brief        ? job->path->exponential_short
                         : job->path->exponential)(&row->sum, high, low, &row->plan);
    dd_weigh_errors(row, job);
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* The divisor of a row and the bound alpha power[c] + gamma |o| of its outputs (R-DD-NORM). */
typedef struct divisor {
    double hi, lo, alpha, gamma;
    int64_t exponent; /* start of the value sums */
    double cut;       /* grid of the cut, 0: none */
} divisor;

static void add_eps(dd_row *row, const dd_job *job)
{
    const double eps = job->f.exponential ? job->f.eps * dd_power_of_two(-row->plan.exponent) : job->f.eps;
    if (eps == 0)
        return;
    if (row->plan.shift[0] != 0 && job->f.exponential)
        row->known = 0;
    const double s = row->sum.hi + eps, t = s - row->sum.hi;
    const double e = (row->sum.hi - (s - t)) + (eps - t) + row->sum.lo;
    row->sum.hi = s + e;
    row->sum.lo = e - (row->sum.hi - s);
    row->sum_error += 0x1p-100 * (__builtin_fabs(row->sum.hi) + __builtin_fabs(eps));
}

static void find_divisor(divisor *y, dd_row *row, const dd_job *job, double value_error)
{
    const double moved = row->weight_error + row->sum_error;
    if (job->f.norm == ATTEST_NORM_SUM) {
        const double z = __builtin_fabs(row->sum.hi), rest = z - 2 * moved; /* R-DD-NORM: |z| - moved, and roundings */
        row->known = row->known && rest > z / 2 && z > 0x1p-500;
        y->hi = row->sum.hi;
        y->lo = row->sum.lo;
        y->alpha = (value_error + row->weight_error) / rest * (1 + 0x1p-20);
        y->gamma = moved / rest * (1 + 0x1p-20) + 0x1p-100;
        row->known = row->known && z < 0x1p960 && y->alpha > 0x1p-800; /* R-DD-UPWARD */
        return;
    }
    const double t = job->f.norm == ATTEST_NORM_LENGTH ? (double)(row->last - row->first) : 1;
    if (job->f.exponential && (row->plan.shift[0] != 0 || row->plan.exponent < -400 || row->plan.exponent > 400))
        row->known = 0;
    y->hi = t * (job->f.exponential ? dd_power_of_two(-row->plan.exponent) : 1);
    y->lo = 0;
    y->alpha = (value_error + row->weight_error) / y->hi * (1 + 0x1p-20);
    y->gamma = 0x1p-100;
}

static void cut_weights(block *x, int r, double *kept, double cut)
{
    const int64_t at = r * x->stride;
    x->job->path->cut(kept + at, x->low + at, x->high + at, x->from, x->to, cut);
}

/* R-DD-SLICE: the kept weights on the grid 2^(g-27), sum |w| <= 2^g. */
static void prepare_sliced_values(block *x, divisor *y)
{
    const dd_job *job = x->job;
    for (int r = 0; r < DD_ROWS; r++) {
        dd_row *row = &x->row[r];
        const int64_t g = dd_exponent(row->sum.absolute);
        y[r].cut = 1.5 * dd_power_of_two(g + 25);
        if (!row->known) {
            memset(x->kept + r * x->stride + x->from, 0, (size_t)(x->to - x->from) * sizeof(double));
            continue;
        }
        cut_weights(x, r, x->kept, y[r].cut);
        add_eps(row, job);
        find_divisor(&y[r], row, job, dd_sliced_value_error(row, job, y[r].cut));
        if (g > 850 || g < -450)
            row->known = 0;
    }
}

/* Chooses the tier of the value sums of the block, cuts the weights for it, and finds the rows' divisors. */
static int prepare_values(block *x, divisor *y)
{
    const dd_job *job = x->job;
    const double power = job->head.value_power, grid = job->head.value_grid, n = (double)(x->to - x->from);
    int exact = job->tiers == ATTEST_TIERS_FORCED ||
                (job->tiers == ATTEST_TIERS_PROVED && dd_mantissa_bits(job->p->in) <= 10); /* f32 keeps its bits */
    double size[DD_ROWS], step[DD_ROWS]; /* size: of all partial sums over power[c] */
    for (int r = 0; r < DD_ROWS; r++) {
        dd_row *row = &x->row[r];
        y[r].cut = 0;
        if (!row->known)
            continue;
        size[r] = (row->sum.absolute + n * 0x1p-28 * row->top) * (1 + 0x1p-20);
        const double kept = (row->sum.absolute + n * 0x1p-12 * row->top) * (1 + 0x1p-20);
        step[r] = dd_power_of_two(dd_exponent(kept * power / grid) - 53);
        const double error = dd_value_error(row, job, 0, 1, 1.5 * 0x1p52 * step[r]);
        const int fine = error <= 0x1p-54 * row->sum.absolute && step[r] <= 0x1p-12 * row->top;
        if (job->tiers == ATTEST_TIERS_PROVED && !fine)
            exact = 0;
    }
    for (int r = 0; r < DD_ROWS; r++) {
        dd_row *row = &x->row[r];
        if (!row->known)
            continue;
        if (exact)
            y[r].cut = 1.5 * 0x1p52 * step[r];
        else if (!job->path->fma)
            y[r].cut = 1.5 * 0x1p24 * row->top; /* |w| <= top: 29 bits with the sign's */
        if (y[r].cut > 0)
            cut_weights(x, r, x->high, y[r].cut);
        y[r].exponent = dd_exponent(size[r]) + 1;
        add_eps(row, job);
        find_divisor(&y[r], row, job, dd_value_error(row, job, y[r].exponent, exact, y[r].cut));
        if (y[r].exponent > 850 || y[r].exponent < -450)
            row->known = 0;
    }
    return exact;
}

static double *element(double *of, const attest_problem *p, const dd_job *job, const dd_row *row, int64_t c)
{
    return of + ((job->head.b * p->hq + row->h) * p->n + row->i) * p->e + c;
}

/* 16 columns of a row into the outputs, the padding left out. */
static void write_columns(const block *x, const dd_row *row, const divisor *y, int64_t c, const double *uh,
                          const double *ul)
{
    const dd_job *job = x->job;
    const attest_problem *p = job->p;
    double *hi = element(job->o->hi, p, job, row, c), *lo = element(job->o->lo, p, job, row, c);
    double *bound = element(job->o->bound, p, job, row, c), part[3][DD_PANEL];
    const double *power = job->head.power + c;
    const int64_t count = p->e - c < DD_PANEL ? p->e - c : DD_PANEL;
    if (count == DD_PANEL) {
        job->path->divide(hi, lo, bound, uh, ul, y->hi, y->lo, power, y->alpha, y->gamma);
        return;
    }
    job->path->divide(part[0], part[1], part[2], uh, ul, y->hi, y->lo, power, y->alpha, y->gamma);
    memcpy(hi, part[0], (size_t)count * sizeof *hi);
    memcpy(lo, part[1], (size_t)count * sizeof *lo);
    memcpy(bound, part[2], (size_t)count * sizeof *bound);
}

/* A row without keys: o = 0, lse = -inf, both exact; one that this engine does not know: bound = INFINITY. */
static void write_no_sums(const dd_job *job, const dd_row *row)
{
    const int64_t at = (job->head.b * job->p->hq + row->h) * job->p->n + row->i;
    const double bound = row->empty ? 0 : __builtin_inf();
    for (int64_t c = at * job->p->e; c < (at + 1) * job->p->e; c++) {
        job->o->hi[c] = job->o->lo[c] = 0;
        job->o->bound[c] = bound;
    }
    if (job->lse) {
        job->lse->hi[at] = row->empty ? -__builtin_inf() : 0;
        job->lse->lo[at] = 0;
        job->lse->bound[at] = bound;
    }
}

static void make_outputs(block *x)
{
    const dd_job *job = x->job;
    const int64_t keys = job->panels * DD_PANEL;
    double uh[DD_ROWS * DD_PANEL], ul[DD_ROWS * DD_PANEL], start[DD_ROWS];
    divisor y[DD_ROWS];
    const int exact = job->sliced ? 0 : prepare_values(x, y);
    if (job->sliced)
        prepare_sliced_values(x, y);
    for (int r = 0; r < DD_ROWS && !job->sliced; r++)
        start[r] = x->row[r].known ? 1.5 * dd_power_of_two(y[r].exponent) : 1.5;
    for (int64_t c = 0; c < job->columns; c++) {
        const double *value = job->head.value + c * keys * DD_PANEL;
        if (job->sliced)
            job->path->values_sliced(uh, ul, x->kept, x->high, x->low, x->stride, value,
                                     job->head.value2 + c * keys * DD_PANEL, x->from, x->to);
        else if (exact)
            job->path->values_exact(uh, ul, x->high, x->low, x->stride, value, x->from, x->to);
        else
            job->path->values(uh, ul, x->high, x->low, x->stride, value, x->from, x->to, start,
                              job->head.power + c * DD_PANEL);
        for (int r = 0; r < DD_ROWS; r++)
            if (x->row[r].known)
                write_columns(x, &x->row[r], &y[r], c * DD_PANEL, uh + r * DD_PANEL, ul + r * DD_PANEL);
    }
}

/* lse = shift + exponent ln 2 + ln z; with weights relative to a shift only under exp (R-DD-LSE) */
static void write_lse(const block *x, const dd_row *row)
{
    const dd_job *job = x->job;
    const int64_t at = (job->head.b * job->p->hq + row->h) * job->p->n + row->i;
    const double moved = row->weight_error + row->sum_error, z = row->sum.hi;
    double lo;
    if (!(z > 4 * moved)) {
        job->lse->hi[at] = job->lse->lo[at] = 0;
        job->lse->bound[at] = __builtin_inf();
        return;
    }
    const double hi = dd_log(&lo, z, row->sum.lo, job->f.exponential ? row->plan.exponent : 0);
    const double c = row->plan.shift[0], s = hi + c, t = s - hi;
    const double e = (hi - (s - t)) + (c - t) + (lo + row->plan.shift[1]), sum = s + e;
    const double center = job->f.center == ATTEST_CENTER_ZERO ? 0 : row->score_error; /* of the center itself */
    job->lse->hi[at] = sum;
    job->lse->lo[at] = e - (sum - s);
    job->lse->bound[at] = (moved / (z - 2 * moved) + center +
                           0x1p-95 * (2 + __builtin_fabs((double)row->plan.exponent)) +
                           0x1p-100 * (__builtin_fabs(s) + __builtin_fabs(hi))) *
                          (1 + 0x1p-20);
}

void dd_block(const dd_job *job, int64_t number, double *scratch)
{
    block x = { .job = job, .stride = row_stride(job), .q = scratch };
    const int64_t queries = DD_ROWS * job->p->d, weights = DD_ROWS * x.stride;
    x.high = x.q + queries;
    x.low = x.high + weights;
    if (job->sliced) {
        x.kept = x.low + weights;
        x.q1 = x.kept + weights;
        x.q2 = x.q1 + queries;
    }
    find_rows(&x, number);
    if (x.from < x.to)
        (job->sliced ? make_sliced_scores : make_scores)(&x);
    for (int r = 0; r < DD_ROWS; r++)
        if (x.row[r].known)
            make_weights(&x, r);
    for (int r = 0; r < DD_ROWS && x.from < x.to; r++)
        if (!x.row[r].known) { /* its weights take part in the block's sums: keep them finite */
            memset(x.high + r * x.stride + x.from, 0, (size_t)(x.to - x.from) * sizeof(double));
            memset(x.low + r * x.stride + x.from, 0, (size_t)(x.to - x.from) * sizeof(double));
        }
    for (int r = 0; r < DD_ROWS && job->lse; r++)
        if (x.row[r].known)
            write_lse(&x, &x.row[r]); /* of the sum without eps */
    if (x.from < x.to)
        make_outputs(&x);
    for (int r = 0; r < DD_ROWS; r++)
        if (!x.row[r].known && x.row[r].h >= 0)
            write_no_sums(job, &x.row[r]);
}
