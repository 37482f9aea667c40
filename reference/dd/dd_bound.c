/* dd_bound.c - sizes and bounds of the dd engine: lemmas R-DD-* of derivations.md, section 8, evaluated upward. */
#include <string.h>

#include "reference/dd/dd_driver.h"
#include "reference/dd/dd_table.h"

/* R-DD-UPWARD: covers fewer than 2^30 roundings to nearest of non-negative numbers. */
#define UPWARD (1 + 0x1p-20)

double dd_power_of_two(int64_t exponent)
{
    double x;
    if (exponent > 1023)
        return __builtin_inf();
    if (exponent < -1074)
        return 0;
    const uint64_t bits = exponent >= -1022 ? (uint64_t)(exponent + 1023) << 52 : (uint64_t)1 << (exponent + 1074);
    memcpy(&x, &bits, sizeof x);
    return x;
}

int64_t dd_exponent(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= INT64_MAX;
    if (bits == 0)
        return -1075;
    const int64_t field = (int64_t)(bits >> 52);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    if (field == 0) {
        const int64_t top = 63 - __builtin_clzll(fraction);
        return top - 1074 + ((fraction & (fraction - 1)) != 0);
    }
    return field - 1023 + (fraction != 0);
}

int64_t dd_norm_exponent(double square)
{
    const int64_t twice = dd_exponent(square);
    return twice < -900 ? -450 : twice >= 0 ? (twice + 1) / 2 : -(-twice / 2);
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

/* sum |q k| <= sqrt(square key_square) <= 2^g, so partial sums stay below 2^(k-1), k = g + 1 (R-DD-SCORE). */
int64_t dd_score_exponent(const dd_job *job, const dd_row *row)
{
    const int64_t twice = dd_exponent(row->square * job->head.key_square * (1 + 0x1p-16));
    const int64_t g = twice >= 0 ? (twice + 1) / 2 : -(-twice / 2);
    return g < -900 ? -900 : g + 1;
}

/* A power of two above sqrt(x), x >= 1. */
static double above_root(double x) { return dd_power_of_two((dd_exponent(x) + 1) / 2); }

/* R-DD-SLICE: 2d (without FMA 4d) roundings of sums below sqrt(d) 2^(exponents - 26) (1 + 2^-8). */
static double sliced_score_error(const dd_job *job, const dd_row *row)
{
    const double d = (double)job->p->d, size = dd_power_of_two(row->exponent + job->head.key_exponent - 26);
    return (job->path->fma ? 2 : 4) * d * 0x1p-53 * above_root(d) * size * (1 + 0x1p-7);
}

double dd_score_error(const dd_job *job, const dd_row *row)
{
    const double d = (double)job->p->d, scale = __builtin_fabs(job->f.scale);
    const double steps = d < DD_FOLD ? d : DD_FOLD;
    const double sum = job->sliced                     ? sliced_score_error(job, row)
                       : row->exponent == DD_EXACT_SUM ? 0
                                                       : d * (steps + 3) / 2 * dd_power_of_two(row->exponent - 106);
    return (sum * scale + (scale == 1 ? 0 : 0x1p-103 * row->largest)) * UPWARD;
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

/* Below these the exponential is taken as it is; a row outside is shifted by its maximum. */
#define EXP_HIGHEST 600.0
#define EXP_LOWEST (-300.0)
/* Beyond, a score less the row's maximum (its first part) may exceed 0 by too much: by two second parts. */
#define EXP_LARGEST 0x1p40

/* sum_n a_n x^n and its derivative, x >= 0, upward */
static double series_mass(double *slope, const dd_formula *f, double x)
{
    double w = f->lead[0], s = 0;
    for (int n = f->order - 1; n >= 0; n--) {
        s = s * x + w;
        w = w * x + (f->coefficient ? f->coefficient[n][0] : 0);
    }
    *slope = s * UPWARD;
    return w * UPWARD;
}

static double size_after_shift(const dd_row *row, double lowest, double highest)
{
    const double above = __builtin_fabs(highest - row->plan.shift[0]);
    const double below = __builtin_fabs(lowest - row->plan.shift[0]);
    const double parts = row->plan.shift[0] != 0 ? 0x1p-51 * row->largest : 0; /* low parts of score and shift */
    return ((above > below ? above : below) + parts) * UPWARD + 0x1p-1000;
}

void dd_plan_weights(dd_row *row, const dd_job *job, double lowest, double highest)
{
    dd_row_plan *plan = &row->plan;
    const int64_t steps = (plan->to - plan->from) / job->path->lanes + 1;
    if (job->f.exponential) {
        if (highest > EXP_HIGHEST || highest < EXP_LOWEST) {
            plan->shift[0] = highest;
            lowest -= highest;
            highest = 0;
            row->score_error += 0x1p-101 * row->largest;
        }
        const double power = highest * 1.4426950408889634;
        plan->exponent = (int64_t)power - (power < 0);
        const double least = (double)(plan->exponent - 900) * 0.69314718056;
        plan->cut = least > -708 ? least : -708;
        row->top = 4;
        row->known = row->known && row->largest < EXP_LARGEST;
        (void)lowest;
    } else {
        double slope;
        const double terms = (double)(job->f.order + 1);
        const double x = size_after_shift(row, lowest, highest) + row->score_error;
        const double most = series_mass(&slope, &job->f, x);
        row->top = dd_power_of_two(dd_exponent(most));
        row->weight_error = (row->score_error * slope + 8 * terms * terms * 0x1p-106 * most) * UPWARD;
        row->known = row->known && most < 0x1p900 && most > 0x1p-400;
    }
    plan->big = 1.5 * dd_power_of_two(dd_exponent((double)steps * row->top) + 1);
}

/* The second part of a weight: at most 2^-50.4 w (R-DD-EXP), (3P+1) 2^-53 top (R-DD-SERIES). */
static double low_part(const dd_row *row, const dd_job *job)
{
    return (double)(3 * job->f.order + 16) * 0x1p-53 * row->top;
}

/* |e^^ - e^x| <= R-DD-EXP e^x; what is below the cut is lost, and so is what underflows. */
#define EXP_LOST 0x1p-500

void dd_weigh_errors(dd_row *row, const dd_job *job)
{
    const double n = (double)(row->plan.to - row->plan.from), lanes = (double)job->path->lanes;
    if (job->f.exponential) {
        const double own = job->brief ? DD_EXP_SHORT_ERROR : DD_EXP_ERROR;
        const double relative = own + row->score_error * (1 + 0x1p-8);
        row->weight_error = (relative * row->sum.absolute + n * EXP_LOST) * UPWARD;
        row->known = row->known && row->score_error < 0x1p-12;
    } else {
        row->weight_error *= n;
    }
    const double unit = row->plan.big / 1.5 * 0x1p-50 + low_part(row, job); /* R-DD-SUM */
    row->sum_error = ((n + 2 * lanes) * (DD_FOLD / lanes + 2) + 8 * lanes * lanes) * 0x1p-53 * unit * UPWARD;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* R-DD-SLICE: a chunk's second sums stay below A 2^-26 + 128 rest, all of them below A 2^-26 + n rest; what the second
 * part of a weight times a second slice would add is left out. */
double dd_sliced_value_error(const dd_row *row, const dd_job *job, double cut)
{
    const double n = (double)(row->plan.to - row->plan.from), size = row->sum.absolute;
    const double rest = cut / 1.5 * 0x1p-53 + low_part(row, job);
    const double chunk = (size * 0x1p-26 + DD_FOLD * rest) * (1 + 0x1p-8);
    const double all = (size * 0x1p-26 + n * rest) * (1 + 0x1p-8);
    const double rounded = (job->path->fma ? 2 : 4) * n * 0x1p-53 * chunk + (n / DD_FOLD + 1) * 0x1p-53 * all;
    return (rounded + n * 0x1p-53 * rest + n * low_part(row, job) * 0x1p-26) * UPWARD;
}

/* R-DD-VALUE, R-DD-GRID: `rest` bounds the second part of a weight, `low` the second accumulator. */
double dd_value_error(const dd_row *row, const dd_job *job, int64_t exponent, int exact, double cut)
{
    const double n = (double)(row->plan.to - row->plan.from);
    const double rest = cut / 1.5 * 0x1p-53 + low_part(row, job);
    const double lost = cut > 0 ? n * 0x1p-53 * rest : 0; /* when the weight was cut */
    if (exact)
        return (n * 0x1p-53 * rest * (3 * DD_FOLD + 4 + n / DD_FOLD) + lost) * UPWARD;
    const double low = dd_power_of_two(exponent - 45) + (DD_FOLD + 1) * rest;
    return (n * (0x1p-52 * low + dd_power_of_two(exponent - 106) + 0x1p-53 * rest) + lost) * UPWARD;
}
