/* classify_exp.c - the error of a kernel's exponential, and its base.
 *
 * A weight w = e^x beside one of e^0 is read from o = w/(1+w).  As the weight of a key after the maximum was seen; as
 * the factor that rescales a key before it (an online kernel does not round that factor to problem.p).  Far from 0 the
 * denominator is 1 and o is w itself.  Polynomial kernels show their exponential through feature=elu1, which below 0 is
 * e^x.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

enum { POINTS = 1024, MANY = 64, APART = 300 };
#define LEAST (-80.0)
#define NARROW_SCORES "scores are rounded to a narrower type before their exponential, and hide its error"
#define CASTS_HIDE "casts of weights to f16 hide errors up to %g of its exponential"

/* Below it 1 + e^x is 1. */
static double far_of(const probed_kernel *k) { return k->types.acc == ATTEST_F64 ? -38 : -20; }

/* Relative errors of the weights at x[POINTS]; floor: what of them the way of reading may have made; absolute: the
 * largest error of o itself.  slack: the least that was taken off the errors of all points, so that an error up to it
 * shows at none.  `largest` < 0: it could not be asked, or does not show the exponential. */
typedef struct reading {
    double x[POINTS], w[POINTS], error[POINTS], largest, floor, slack, absolute;
} reading;

/* Before any point. */
static void begin(reading *r, double floor)
{
    r->largest = -1;
    r->floor = floor;
    r->slack = INFINITY;
    r->absolute = 0;
}

/* x log2(e) rounded to the accumulator's type, log2(e) rounded before or not; what e^x is multiplied by then. */
static double base2_error(const probed_kernel *k, double x, int round_factor)
{
    const uint32_t acc = k->types.acc;
    const long double log2e = 1.4426950408889634073599246810018921L;
    const long double factor = round_factor ? (long double)attest_to_f64(acc, attest_from_f64(acc, (double)log2e))
                                            : log2e;
    const double product = attest_to_f64(acc, attest_from_f64(acc, (double)((long double)x * factor)));
    return (double)(((long double)product - (long double)x * log2e) / log2e);
}

/* Signed error of w as e^x. */
static double error_of(double w, double x) { return (double)((long double)w / expl((long double)x) - 1); }

/* Without what the rounding of x log2(e) does, once that is known: it is no error of the exponential. */
static void read_error(reading *r, const probed_kernel *k, int64_t at, double x, double w, double slack)
{
    r->x[at] = x;
    r->w[at] = w;
    r->error[at] = error_of(w, x) - (k->argument >= 2 ? base2_error(k, x, k->argument == 3) : 0);
    const double error = fmax(fabs(r->error[at]) - slack, 0);
    r->slack = fmin(r->slack, slack);
    if (!(error <= r->largest))
        r->largest = r->error[at] == r->error[at] ? error : INFINITY; /* a NaN counts */
}

/* Points of 16 binary places, more of them far from 0 than near it. */
static double point(const probed_kernel *k, int64_t at)
{
    const double far = far_of(k), even = classify_even(at);
    return floor((at % 4 == 0 ? -0.75 + (far + 0.75) * even : far + (LEAST - far) * even) * 0x1p16) / 0x1p16;
}

/* What casts of a weight to p and o may do to it at most below their normal numbers: f16 ends there. */
static double lost_below(const probed_kernel *k)
{
    return 0x1p-25 * ((k->types.p == ATTEST_F16) + (k->types.out == ATTEST_F16));
}

/* One key of weight e^x at position `at_x`, one of e^0 at `at_0`; the rest of score `rest`. */
static attest_status read_weight(reading *r, probed_kernel *k, int64_t at_x, int64_t at_0, double rest,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double u = classify_unit(k), out = classify_out_unit(k);
    probe_run s;
    begin(r, out + attest_unit_roundoff(k->types.p) + k->unit);
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%lld e=1", k->path->axes, POINTS,
                             (long long)(at_x > at_0 ? at_x : at_0) + 1));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < POINTS; b++) {
        for (int64_t j = 0; j < s.problem.m; j++)
            classify_score(&s, b, j, rest);
        r->x[b] = classify_score(&s, b, at_x, point(k, b));
        classify_score(&s, b, at_0, 0);
        classify_put(&s, ATTEST_V, b, 0, at_x, 0, 1);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < POINTS && s.ran; b++) {
        const double o = classify_get(&s, ATTEST_O, b, 0, s.last, 0), w = exp(r->x[b]);
        const double slack = r->x[b] < far_of(k) ? 0 : 4 * (fmax(u, k->unit) + out);
        read_error(r, k, b, r->x[b], o / (1 - o), slack + lost_below(k) / w);
        r->absolute = fmax(r->absolute, fabs(o - w / (1 + w)));
    }
out:
    classify_close(&s);
    return status;
}

/* MANY keys of weight e^x beside one of e^0: from the denominator, which adds them uncast where l does. */
static attest_status read_denominator(reading *r, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int by_lse = (k->outputs & ATTEST_GIVES_LSE) != 0 && classify_out_unit(k) > classify_unit(k);
    const double u = fmax(classify_unit(k), k->unit);
    probe_run s;
    begin(r, 2 * MANY * u + (k->sums_cast ? 2 * attest_unit_roundoff(k->types.p) : 0) +
                 (by_lse ? 0 : 4 * classify_out_unit(k)));
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1", k->path->axes, POINTS, MANY + 1));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < POINTS; b++) {
        const double x = floor(-3.5 * classify_even(b) * 0x1p16) / 0x1p16;
        for (int64_t j = 1; j <= MANY; j++)
            r->x[b] = classify_score(&s, b, j, x);
        classify_put(&s, ATTEST_V, b, 0, 0, 0, 1);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < POINTS && s.ran; b++) {
        const double l = by_lse ? exp(classify_lse(&s, b)) : 1 / classify_get(&s, ATTEST_O, b, 0, s.last, 0);
        read_error(r, k, b, r->x[b], (l - 1) / MANY, 0);
    }
out:
    classify_close(&s);
    return status;
}

/* Below 0, elu1 is e^x: of q with k = 0, whose feature is 1, so that a state holds v alone. */
static attest_status read_feature(reading *r, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s;
    begin(r, classify_out_unit(k));
    ATTEST_TRY(classify_open(&s, k, err, "%s feature=elu1 b=%d m=1 d=1 e=1", k->path->axes, POINTS));
    if (!s.bundle)
        goto out;
    for (int64_t b = 0; b < POINTS; b++) {
        r->x[b] = classify_put(&s, ATTEST_Q, b, 0, s.last, 0, point(k, b));
        classify_put(&s, ATTEST_V, b, 0, 0, 0, 1);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < POINTS && s.ran; b++)
        read_error(r, k, b, r->x[b], classify_get(&s, ATTEST_O, b, 0, s.last, 0), 0);
out:
    classify_close(&s);
    return status;
}

/* The factor that every weight has in common: lse of one key of score 0, or 5, is the score. */
static attest_status read_common(double *worst, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=1 m=1 e=1", k->path->axes));
    if (s.bundle && k->path->exponential && k->outputs & ATTEST_GIVES_LSE) {
        classify_ask_scores(&s);
        ATTEST_TRY(classify_run(&s, err));
        if (s.ran)
            *worst = fabs(expm1(classify_lse(&s, 0)));
    }
out:
    classify_close(&s);
    return status;
}

/* A key before the maximum, rescaled where the kernel is online.  It does not show an exponential if its errors are
 * those of o beside 1, whatever the weight (a running mean takes off what it has added), or if they follow the other
 * scores (their mean was taken off). */
static attest_status read_before(reading *r, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double noise = 4 * (fmax(classify_unit(k), k->unit) + classify_out_unit(k));
    reading far;
    begin(r, 0);
    ATTEST_TRY(read_weight(&far, k, 0, APART - 1, -1e4, err));
    if (far.largest >= 0)
        ATTEST_TRY(read_weight(r, k, 0, APART - 1, classify_near_rest(k), err));
    if ((r->absolute <= noise && r->largest > 4 * noise) || fmax(far.largest, noise) > 2 * fmax(r->largest, noise))
        r->largest = -1;
out:
    return status;
}

/* An error that the way of reading cannot have made; else 0. */
static double beyond(const reading *r) { return r->largest > 2 * r->floor ? r->largest : 0; }

/* Nothing is seen, where f16's small weights may be off by more than a few roundings of the accumulator. */
static int is_hidden(const reading *r, const probed_kernel *k, double worst)
{
    return worst <= r->slack && r->slack > 4 * classify_unit(k);
}

/* Are large errors those of scores that were rounded to a narrower type before e^x was asked for? */
static int scores_are_narrow(const reading *r, const probed_kernel *k)
{
    static const uint32_t types[] = { ATTEST_BF16, ATTEST_F16 };
    int narrow = 0;
    for (size_t t = 0; t < 2 && r->largest > 8 * r->floor; t++) {
        double most = attest_unit_roundoff(types[t]) > classify_unit(k) ? 0 : INFINITY;
        for (int64_t n = 0; n < POINTS; n++)
            most = fmax(most, fabs(error_of(r->w[n], attest_to_f64(types[t], attest_from_f64(types[t], r->x[n])))));
        narrow |= most <= r->largest / 16;
    }
    return narrow;
}

/* The finest reading; *badness: the largest error that any reading shows beyond what it may have made itself. */
static attest_status read_best(reading *best, double *badness, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    reading other;
    *badness = 0;
    begin(best, 0);
    if (!k->path->exponential && !k->path->mean)
        return read_feature(best, k, err);
    if (!k->path->exponential)
        return ATTEST_OK;
    ATTEST_TRY(read_weight(best, k, 1, 0, 0, err));
    ATTEST_TRY(read_before(&other, k, err));
    ATTEST_TRY(read_common(badness, k, err));
    if (other.largest >= 0 && other.largest < best->largest / 4) { /* the same weight, without its cast */
        const reading swap = *best;
        *best = other;
        best->floor = classify_out_unit(k) + k->unit;
        other = swap;
    }
    *badness = fmax(*badness, beyond(&other));
    ATTEST_TRY(read_denominator(&other, k, err));
    *badness = fmax(*badness, beyond(&other));
out:
    return status;
}

/* A second look: other points, a value of -2, among other keys, behind the maximum and before it.  The second way
 * counts as read_before() says, and as uncast where it is much finer; the worse of the two exponentials, which may
 * differ. */
static attest_status read_again(reading *best, probed_kernel *k, attest_error *err)
{
    enum { AMONG = 40 };
    static const int64_t at[2][2] = { { 33, 7 }, { 3, 35 } };
    attest_status status = ATTEST_OK;
    const double out = classify_out_unit(k), noise = 4 * (fmax(classify_unit(k), k->unit) + out);
    reading r;
    probe_run s = { .kernel = k };
    begin(best, 0);
    if (!k->path->exponential)
        return ATTEST_OK;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1", k->path->axes, POINTS, AMONG));
    if (!s.bundle)
        goto out;
    for (int way = 0; way < 2; way++) {
        classify_ask_scores(&s);
        classify_fill(&s, ATTEST_V, 0);
        begin(&r, out + attest_unit_roundoff(k->types.p) + k->unit);
        for (int64_t b = 0; b < POINTS; b++) {
            for (int64_t j = 0; j < AMONG; j++)
                classify_score(&s, b, j, classify_near_rest(k));
            const double x = -0.75 + (LEAST + 0.75) * classify_even(b + 5 * POINTS);
            r.x[b] = classify_score(&s, b, at[way][0], x);
            classify_score(&s, b, at[way][1], 0);
            classify_put(&s, ATTEST_V, b, 0, at[way][0], 0, -2);
        }
        ATTEST_TRY(classify_run(&s, err));
        for (int64_t b = 0; b < POINTS && s.ran; b++) {
            const double o = classify_get(&s, ATTEST_O, b, 0, s.last, 0) / -2, w = exp(r.x[b]);
            read_error(&r, k, b, r.x[b], o / (1 - o), (r.x[b] < far_of(k) ? 0 : noise) + lost_below(k) / w);
            r.absolute = fmax(r.absolute, fabs(o - w / (1 + w)));
        }
        const int shown = r.largest >= 0 && !(way == 1 && r.absolute <= noise && r.largest > 4 * noise);
        const int finer = shown && way == 1 && r.largest < best->largest / 4;
        if (finer)
            r.floor = out + k->unit;
        if (shown && (best->largest < 0 || r.largest > best->largest || (finer && best->largest <= 2 * best->floor)))
            *best = r;
    }
out:
    classify_close(&s);
    return status;
}

/* The denominator of one key of score 0 and SEVERAL of score x, from lse: a factor that all weights have shows too. */
static attest_status read_lse(double *worst, probed_kernel *k, attest_error *err)
{
    enum { SEVERAL = 16 };
    attest_status status = ATTEST_OK;
    const double u = fmax(classify_unit(k), k->unit);
    const double floor = 4 * SEVERAL * u + (k->sums_cast ? 2 * attest_unit_roundoff(k->types.p) : 0);
    double x[POINTS];
    probe_run s = { .kernel = k };
    *worst = 0;
    if (!k->path->exponential || !(k->outputs & ATTEST_GIVES_LSE))
        return ATTEST_OK;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1", k->path->axes, POINTS, SEVERAL + 1));
    classify_ask_scores(&s);
    for (int64_t b = 0; b < POINTS && s.bundle; b++)
        for (int64_t j = 0; j < SEVERAL; j++)
            x[b] = classify_score(&s, b, j, -3 * classify_even(b + 7 * POINTS));
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < POINTS && s.ran; b++)
        *worst = fmax(*worst, fabs(expm1(classify_lse(&s, b) - log1p(SEVERAL * exp(x[b])))));
    *worst = *worst > 2 * floor ? *worst : 0;
out:
    classify_close(&s);
    return status;
}

attest_status classify_exp_error_again(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double common;
    reading r;
    ATTEST_TRY(read_again(&r, k, err));
    ATTEST_TRY(read_lse(&common, k, err));
    const double worst = fmax(r.largest, common);
    if (k->absorbs && worst > 2 * r.floor)
        classify_hidden(out, ABSORBED);
    else if (scores_are_narrow(&r, k))
        classify_hidden(out, NARROW_SCORES);
    else if (r.largest < 0 || k->shallow || (r.floor > 4 * classify_unit(k) && worst <= 2 * r.floor && common == 0))
        classify_hidden(out, "no small weight among others comes back more exactly");
    else if (is_hidden(&r, k, worst))
        classify_hidden(out, CASTS_HIDE, r.slack);
    else
        classify_seen(out, worst);
    out->blind = classify_out_unit(k);
out:
    return status;
}

attest_status classify_exp_error(inference *out, probed_kernel *k, attest_error *err)
{
    reading best;
    double badness;
    const attest_status status = read_best(&best, &badness, k, err);
    const double u = classify_unit(k), worst = fmax(best.largest, badness);
    if (best.largest < 0)
        classify_hidden(out, "no exponential of the kernel stands alone in an output");
    else if (k->absorbs && worst > 2 * best.floor)
        classify_hidden(out, ABSORBED);
    else if (scores_are_narrow(&best, k))
        classify_hidden(out, NARROW_SCORES);
    else if (k->types.acc == ATTEST_F64 && LDBL_MANT_DIG == DBL_MANT_DIG)
        classify_hidden(out, "long double is double here: the exponential of a double has no measure");
    else if (k->shallow)
        classify_hidden(out, "sums or states of f16 hold no small exponential");
    else if (best.floor > 4 * u && worst <= 2 * best.floor)
        classify_hidden(out, "weights are seen rounded to %g only", best.floor);
    else if (is_hidden(&best, k, worst))
        classify_hidden(out, CASTS_HIDE, best.slack);
    else
        classify_seen(out, worst);
    out->blind = classify_out_unit(k);
    return status;
}

/* ---- base 2 -------------------------------------------------------------------------------------------------- */

/* Least squares of the errors on those of a kernel in base 2: slope, and its standard error. */
static double slope_of(double *deviation, const reading *r, const probed_kernel *k, int round_factor)
{
    double xx = 0, xy = 0, yy = 0;
    for (int64_t n = 0; n < POINTS; n++) {
        const double x = base2_error(k, r->x[n], round_factor), y = r->error[n];
        if (r->x[n] > far_of(k) || !(fabs(y) < 1))
            continue;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    const double rest = xx > 0 ? yy - xy * xy / xx : 0;
    *deviation = xx > 0 ? sqrt(fmax(rest, 0) / xx / POINTS) : INFINITY;
    return xx > 0 ? xy / xx : 0;
}

/* *way: 1 log2(e) is rounded before it meets x, 0 not. */
static void judge_domain(inference *out, int *way, const reading *best, const probed_kernel *k)
{
    double deviation[2], slope[2];
    *way = 0;
    if (best->largest < 0) {
        classify_hidden(out, "no exponential of the kernel stands alone in an output");
        return;
    }
    for (int n = 0; n < 2; n++)
        slope[n] = slope_of(&deviation[n], best, k, n);
    const int better = deviation[1] < deviation[0];
    const int is_base2 = fabs(slope[better] - 1) < 0.3, is_natural = fabs(slope[better]) < 0.3;
    if (deviation[better] > 0.1)
        classify_hidden(out, "the errors of its exponential hide how its argument is rounded");
    else if (is_base2 || is_natural)
        classify_seen(out, is_base2 ? ATTEST_YES : ATTEST_NO);
    else
        classify_hidden(out, "its arguments err neither as x nor as x log2(e) does");
    *way = better;
}

attest_status classify_log2_domain(inference *out, probed_kernel *k, attest_error *err)
{
    reading best;
    double badness;
    int way;
    const attest_status status = read_best(&best, &badness, k, err);
    judge_domain(out, &way, &best, k);
    if (out->visible)
        k->argument = out->value == ATTEST_YES ? 2 + way : 1;
    return status;
}

attest_status classify_log2_domain_again(inference *out, probed_kernel *k, attest_error *err)
{
    probed_kernel afresh = *k;
    reading r;
    int way;
    afresh.argument = 0;
    const attest_status status = read_again(&r, &afresh, err);
    judge_domain(out, &way, &r, &afresh);
    return status;
}
