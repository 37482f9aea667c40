/* classify_cast.c - the cast of weights to problem.p, where that is narrower than the accumulator.
 *
 * Two weights of one cell [lo, hi] of the type, at 0.3 and 0.7 of it, meet the values -1 and 1.  What is left in o is 0
 * if both are rounded in one direction, hi-lo if to nearest, 0.4 (hi-lo) if they were not cast.  The denominator of
 * many keys of such weights says whether it adds them cast.
 */
#include <math.h>
#include <stdio.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

#define LOW 0.3
#define HIGH 0.7

enum { CELLS = 256, SAME = 60 };

/* Some cell of type p with weights between e^-6.5 and e^-1.5. */
static void cell(double *lo, double *hi, uint32_t p, int64_t n)
{
    const double w = exp(-1.5 - 5 * classify_even(n));
    const double unit = ldexp(1, ilogb(w) - attest_format_of(p).p + 1);
    *lo = floor(w / unit) * unit;
    *hi = *lo + unit;
}

static int is_no_cast(inference *out, probed_kernel *narrow, probed_kernel *k)
{
    if (!k->path->exponential) {
        classify_hidden(out, "p is always acc in what the kernel serves here: a cast changes no bit");
        return 1;
    }
    if (!classify_narrow(narrow, k)) {
        classify_hidden(out, "the kernel serves p = acc only: a cast changes no bit");
        return 1;
    }
    return 0;
}

/* Without an answer (NAN) nothing is seen; a kernel that died is not asked again. */
static int is_silent(inference *out, double mean, const probed_kernel *narrow, probed_kernel *k)
{
    snprintf(k->dead, sizeof k->dead, "%s", narrow->dead);
    if (mean == mean)
        return 0;
    classify_hidden(out, "no number came back for %d weights of a narrower p", CELLS);
    return 1;
}

/* What a probe run asks of one cell [lo, hi], b, and what it reads there. */
typedef struct probe {
    int keys;
    void (*put)(probe_run *s, int64_t b, double lo, double hi);
    double (*read)(const probe_run *s, int64_t b, double lo, double hi);
} probe;

/* The mean over the cells of what the probe reads; NAN if it did not run. */
static attest_status mean_of_cells(double *mean, probed_kernel *k, const probe *x, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double lo, hi;
    probe_run s;
    *mean = NAN;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1", k->path->axes, CELLS, x->keys));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < CELLS; b++) {
        cell(&lo, &hi, k->types.p, b);
        x->put(&s, b, lo, hi);
    }
    ATTEST_TRY(classify_run(&s, err));
    *mean = s.ran ? 0 : NAN;
    for (int64_t b = 0; b < CELLS && s.ran; b++) {
        cell(&lo, &hi, k->types.p, b);
        *mean += x->read(&s, b, lo, hi) / CELLS;
    }
out:
    classify_close(&s);
    return status;
}

static void put_two(probe_run *s, int64_t b, double lo, double hi)
{
    classify_score(s, b, 1, log(lo + LOW * (hi - lo)));
    classify_score(s, b, 2, log(lo + HIGH * (hi - lo)));
    classify_put(s, ATTEST_V, b, 0, 1, 0, -1);
    classify_put(s, ATTEST_V, b, 0, 2, 0, 1);
}

/* What is left of the two, in units of hi-lo. */
static double read_left(const probe_run *s, int64_t b, double lo, double hi)
{
    return classify_get(s, ATTEST_O, b, 0, s->last, 0) * (1 + lo + hi) / (hi - lo);
}

attest_status classify_p_rounding(inference *out, probed_kernel *k, attest_error *err)
{
    probed_kernel narrow;
    double left;
    if (is_no_cast(out, &narrow, k))
        return ATTEST_OK;
    const attest_status status = mean_of_cells(&left, &narrow, &(probe){ 3, put_two, read_left }, err);
    if (is_silent(out, left, &narrow, k))
        return status;
    if (fabs(left - 1) < 0.1)
        classify_seen(out, ATTEST_ROUNDING_NEAREST);
    else if (fabs(left) < 0.1)
        classify_seen(out, ATTEST_ROUNDING_TRUNCATE);
    else if (fabs(left - (HIGH - LOW)) < 0.1)
        classify_hidden(out, "weights are not cast, although p is narrower than acc");
    else
        classify_hidden(out, "%.2g of a unit is left of two weights that lie %.2g apart", left, HIGH - LOW);
    return status;
}

static void put_same(probe_run *s, int64_t b, double lo, double hi)
{
    for (int64_t j = 1; j <= SAME; j++)
        classify_score(s, b, j, log(lo + LOW * (hi - lo)));
    classify_put(s, ATTEST_V, b, 0, 0, 0, 1);
}

/* (l - 1 - n lo)/(n (hi-lo)), l the denominator of one key of weight 1 and n others: LOW if they are added as they are;
 * 0 or 1 if as their cast. */
static double read_denominator(const probe_run *s, int64_t b, double lo, double hi)
{
    const int by_lse = (s->kernel->outputs & ATTEST_GIVES_LSE) != 0;
    const double l = by_lse ? exp(classify_lse(s, b)) : 1 / classify_get(s, ATTEST_O, b, 0, s->last, 0);
    return (l - 1 - SAME * lo) / (SAME * (hi - lo));
}

/* A second look: one weight at a time, so small that the denominator does not show, at many places of its cell.  What
 * comes back must lie on the type's grid. */
attest_status classify_p_rounding_again(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probed_kernel narrow;
    probe_run s = { .kernel = k };
    int off = 0, up[2] = { 0, 0 }, count[2] = { 0, 0 };
    if (is_no_cast(out, &narrow, k))
        return ATTEST_OK;
    const double unit = ldexp(1, -13 - attest_format_of(narrow.types.p).p);
    ATTEST_TRY(classify_open(&s, &narrow, err, "%s b=%d m=2 e=1", narrow.path->axes, CELLS));
    classify_ask_scores(&s);
    for (int64_t b = 0; b < CELLS && s.bundle; b++) {
        classify_score(&s, b, 1, log(0x1p-14 + unit * ((double)(b % 64) + classify_even(b))));
        classify_put(&s, ATTEST_V, b, 0, 1, 0, 1);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < CELLS && s.ran; b++) {
        const double part = classify_even(b), o = classify_get(&s, ATTEST_O, b, 0, s.last, 0);
        const double cells = (o * (1 + 0x1p-14) - 0x1p-14) / unit - (double)(b % 64);
        if (fabs(part - 0.5) < 0.1 || part < 0.1 || part > 0.9)
            continue;
        off += !(fabs(cells) < 0.25 || fabs(cells - 1) < 0.25);
        count[part > 0.5]++;
        up[part > 0.5] += fabs(cells - 1) < 0.25;
    }
    if (s.ran && off == 0 && up[0] == 0 && (up[1] == 0 || up[1] == count[1]))
        classify_seen(out, up[1] > 0 ? ATTEST_ROUNDING_NEAREST : ATTEST_ROUNDING_TRUNCATE);
    else
        classify_hidden(out, "%d of %d single weights are on no grid of p", off, count[0] + count[1]);
out:
    classify_close(&s);
    snprintf(k->dead, sizeof k->dead, "%s", narrow.dead);
    return status;
}

/* The last cell below 1: nearly equal weights, whose sum is nearly their number. */
static void put_near_one(probe_run *s, int64_t b, double lo, double hi)
{
    (void)lo, (void)hi;
    for (int64_t j = 1; j <= SAME; j++)
        classify_score(s, b, j, log1p(-0.25 * attest_unit_roundoff(s->kernel->types.p)));
    classify_put(s, ATTEST_V, b, 0, 0, 0, 1);
}

static double read_near_one(const probe_run *s, int64_t b, double lo, double hi)
{
    const double unit = attest_unit_roundoff(s->kernel->types.p); /* of the cell, too, below 1 */
    (void)lo, (void)hi;
    return read_denominator(s, b, 1 - unit, 1);
}

attest_status classify_cast_in_sum_again(inference *out, probed_kernel *k, attest_error *err)
{
    probed_kernel narrow;
    double mean;
    if (is_no_cast(out, &narrow, k))
        return ATTEST_OK;
    const attest_status status = mean_of_cells(&mean, &narrow, &(probe){ SAME + 1, put_near_one, read_near_one }, err);
    if (is_silent(out, mean, &narrow, k))
        return status;
    if (fabs(mean - 0.75) < 0.1)
        classify_seen(out, ATTEST_NO);
    else if (fabs(mean) < 0.1 || fabs(mean - 1) < 0.1)
        classify_seen(out, ATTEST_YES);
    else
        classify_hidden(out, "the denominator adds a weight at 0.75 of the last cell as one at %.2g", mean);
    return status;
}

attest_status classify_cast_in_sum(inference *out, probed_kernel *k, attest_error *err)
{
    probed_kernel narrow;
    double mean;
    if (is_no_cast(out, &narrow, k))
        return ATTEST_OK;
    if (!(k->outputs & ATTEST_GIVES_LSE) && classify_out_unit(&narrow) >= attest_unit_roundoff(narrow.types.p)) {
        classify_hidden(out, "no lse, and o is no finer than the cast");
        return ATTEST_OK;
    }
    const attest_status status = mean_of_cells(&mean, &narrow, &(probe){ SAME + 1, put_same, read_denominator }, err);
    if (is_silent(out, mean, &narrow, k))
        return status;
    if (fabs(mean - LOW) < 0.05)
        classify_seen(out, ATTEST_NO);
    else if ((k->sums_cast = fabs(mean) < 0.05 || fabs(mean - 1) < 0.05))
        classify_seen(out, ATTEST_YES);
    else
        classify_hidden(out, "the denominator adds a weight at %.2g of its cell as one at %.2g", LOW, mean);
    return status;
}
