/* classify_sums.c - how wide sums are.
 *
 * A series adds 1, x = 1.75 2^-k and -1, which leaves what of x survived beside 1.  To nearest with unit u the least x
 * that survives is 1.75 u, and it comes back as 2u; an accumulator that rounds toward zero loses 1.75 u, and gives 2u
 * of 3.5 u.  Terms stand together and far apart, so that lanes of a vector, tiles and blocks do not hide a sum: the
 * worst place counts.  Series run over the channels of a score, over the keys of u and z, and over the small keys of a
 * softmax denominator.
 *
 * What is left is a multiple of u, or no accumulator rounded it: a running mean leaves fractions.  The denominator is
 * read from lse and from o, the finer of which counts, and among other scores of two sizes, which must agree: what is
 * taken off all scores is rounded by their size.  Where weights may be divided and then cast to p, o shows the cast:
 * from it a unit as large as that of p is none of the sum.
 */
#include <math.h>
#include <stdio.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define TERM 1.75

enum { STEPS = 60, KEYS = 256, CHANNELS = 64 };

/* Positions of 1, x and -1. */
static const int64_t places[][3] = { { 0, 1, 2 },   { 0, 4, 8 },   { 0, 8, 16 },
                                     { 0, 16, 32 }, { 0, 32, 64 }, { 0, 64, 128 } };
enum { PLACES = COUNT(places) };

/* What series have shown: the worst of those that could be asked. */
typedef struct sums {
    double unit; /* 0: no series found its limit */
    double most; /* of series without a limit: the unit is not above this; 0: there was none */
    int truncates;
    int odd; /* left what is no multiple of its unit, or two readings of it contradict each other */
} sums;

static double term(int step) { return ldexp(TERM, -step); }

/* left[s-1]: what was left of term(s), s = 1 .. steps.  Rounding moves a term of 1.75 by a seventh at least (to 2; else
 * to 1.5, 1 or nothing), which a few percent of the reading do not hide.  Where all survive, the unit is not seen. */
static void judge_series(sums *worst, const double *left, int steps)
{
    int s = 1;
    while (s <= steps && left[s - 1] > 0.1 * term(s))
        s++;
    const int last = s - 1; /* the last that survived */
    const int down = last > 0 && left[last - 1] < 0.98 * term(last);
    const double unit = ldexp(1, down ? -last - 1 : -last);
    if (last == steps) {
        worst->most = fmax(worst->most, ldexp(1, -steps));
        return;
    }
    for (int at = last > 1 ? last - 2 : 0; at < steps && at < last + 2; at++) {
        const double units = left[at] / unit;
        worst->odd |= !(fabs(units - round(units)) <= 0.25);
    }
    worst->truncates = worst->truncates || down;
    worst->unit = fmax(worst->unit, unit);
}

/* Values that a mean of f16 still holds when it has divided them. */
static double lift_of(const probed_kernel *k)
{
    const int small = k->types.in == ATTEST_F16 || k->types.out == ATTEST_F16;
    return small && k->path->mean && !k->shallow ? 0x1p15 : 1;
}

/* Steps whose terms, times `factor`, the type holds. */
static int steps_of(uint32_t dtype, double factor)
{
    int steps = 0;
    while (steps < STEPS &&
           attest_to_f64(dtype, attest_from_f64(dtype, factor * term(steps + 1))) == factor * term(steps + 1))
        steps++;
    return steps;
}

/* ---- over keys: u and, of polynomial weights, z -------------------------------------------------------------- */

static void put_keys(probe_run *s, int steps, int in_keys)
{
    const classify_path *path = s->kernel->path;
    classify_ask_scores(s);
    for (int p = 0; p < PLACES; p++)
        for (int step = 1; step <= steps; step++) {
            const int64_t b = (int64_t)p * steps + step - 1;
            const double x[3] = { 1, term(step), -1 }, value = path->value * lift_of(s->kernel);
            for (int64_t j = 0; j < KEYS && !in_keys; j++)
                classify_score(s, b, j, path->key);
            for (int n = 0; n < 3; n++)
                if (in_keys)
                    classify_score(s, b, places[p][n], x[n]);
                else
                    classify_put(s, ATTEST_V, b, 0, places[p][n], 0, value * x[n]);
        }
}

static void judge_probe_run(sums *worst, const probe_run *s, attest_role role, double factor, double kept, int steps)
{
    double left[STEPS];
    for (int p = 0; p < PLACES && s->ran; p++) {
        for (int n = 0; n < steps; n++)
            left[n] = factor * classify_get(s, role, (int64_t)p * steps + n, 0, s->last, 0) - kept;
        judge_series(worst, left, steps);
    }
}

/* The sum over keys with chunks of `chunk`: of values in o, of keys in z. */
static attest_status over_keys(sums *worst, probed_kernel *k, int chunk, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double lift = lift_of(k), all = k->path->mean ? KEYS : 1;
    const int given = steps_of(k->types.in, k->path->value * lift), read = steps_of(k->types.out, lift / all);
    const int steps = given < read ? given : read; /* below them the type of o, not a sum, loses the term */
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1 chunk=%d", k->path->axes, PLACES * steps, KEYS, chunk));
    if (s.bundle) {
        put_keys(&s, steps, 0);
        ATTEST_TRY(classify_run(&s, err));
        judge_probe_run(worst, &s, ATTEST_O, all / lift, 0, steps);
    }
    if (s.bundle && !k->path->exponential && k->path->key == 1 && k->outputs & ATTEST_GIVES_Z) {
        classify_fill(&s, ATTEST_K, 0);
        put_keys(&s, steps, 1);
        ATTEST_TRY(classify_run(&s, err));
        judge_probe_run(worst, &s, ATTEST_Z, 1, 0, steps);
    }
out:
    classify_close(&s);
    return status;
}

/* What a state holds of 1 + x when it is read: o - 1, where o is as fine as the accumulator.  Chunks of one token. */
static attest_status of_a_state(sums *worst, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int finest = (int)-log2(classify_unit(k));
    probe_run s = { .kernel = k };
    if (k->path->mean || classify_out_unit(k) > classify_unit(k))
        return ATTEST_OK;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1 chunk=1", k->path->axes, PLACES * finest, KEYS));
    if (s.bundle) {
        put_keys(&s, finest, 0);
        for (int64_t b = 0; b < (int64_t)PLACES * finest; b++)
            classify_put(&s, ATTEST_V, b, 0, places[b / finest][2], 0, 0); /* no -1 */
        ATTEST_TRY(classify_run(&s, err));
        judge_probe_run(worst, &s, ATTEST_O, 1, 1, finest);
    }
out:
    classify_close(&s);
    return status;
}

/* ---- over channels: a score ---------------------------------------------------------------------------------- */

/* A product <q,k> of 2^step, 1.75, -2^step: of what is left, the score of key 1, times e^0 of key 0 (exponential), or
 * the one weight there is. */
static attest_status over_channels(sums *worst, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int exponential = k->path->exponential;
    const double unit = exponential ? 1 : k->path->key;
    const int steps = exponential
                          ? (attest_format_of(k->types.in).emax < STEPS ? attest_format_of(k->types.in).emax : STEPS)
                          : steps_of(k->types.in, k->path->key);
    double left[STEPS];
    probe_run s = { .kernel = k };
    if (k->path->mean && !exponential)
        return ATTEST_OK;
    ATTEST_TRY(
        classify_open(&s, k, err, "%s b=%d m=%d d=%d e=1", k->path->axes, 4 * steps, exponential ? 2 : 1, CHANNELS));
    if (!s.bundle)
        goto out;
    classify_fill(&s, ATTEST_Q, 1);
    for (int64_t b = 0; b < 4 * steps; b++) {
        const int step = (int)(b % steps) + 1;
        const double x[3] = { 1, term(step), -1 };
        for (int n = 0; n < 3; n++)
            classify_put(&s, ATTEST_K, b, 0, exponential, places[b / steps][n],
                         x[n] * unit * (exponential ? ldexp(1, step) : 1));
        classify_put(&s, ATTEST_V, b, 0, exponential, 0, exponential ? 1 : k->path->value);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int p = 0; p < 4 && s.ran; p++) {
        for (int n = 0; n < steps; n++) {
            const double o = classify_get(&s, ATTEST_O, (int64_t)p * steps + n, 0, s.last, 0);
            left[n] = exponential ? ldexp(log(o / (1 - o)), -n - 1) : o;
        }
        judge_series(worst, left, steps);
    }
out:
    classify_close(&s);
    return status;
}

/* ---- the denominator of a softmax: 1 and one small weight ---------------------------------------------------- */

/* Of two readings of the same sums the finer one: no sum looks finer than it is.  A reading without a limit says that
 * the unit is not above its last term. */
static sums finer(const sums *x, const sums *y)
{
    sums both = x->unit > 0 && (y->unit == 0 || x->unit <= y->unit) ? *x : *y;
    const double most = fmin(x->most > 0 ? x->most : 1, y->most > 0 ? y->most : 1);
    if (x->unit == 0 && y->unit == 0)
        both.most = most;
    else
        both.odd |= both.unit > most;
    return both;
}

/* What is left of the weight beside that of key 0: l/l0 - 1 from lse = log l, l0 without the small key; or from o =
 * l0/l. */
static void read_weights(sums *seen, const probe_run *s, int by_lse, int steps)
{
    const int read = by_lse ? steps : (int)-log2(classify_out_unit(s->kernel));
    const double lse = classify_lse(s, PLACES * (int64_t)steps);
    double left[STEPS];
    for (int p = 0; p < PLACES && s->ran; p++) {
        for (int n = 0; n < steps; n++) {
            const int64_t b = (int64_t)p * steps + n;
            left[n] = by_lse ? expm1(classify_lse(s, b) - lse) : 1 / classify_get(s, ATTEST_O, b, 0, s->last, 0) - 1;
        }
        judge_series(seen, left, read < steps ? read : steps);
    }
}

/* What o shows of the sum, less what a cast of divided weights may have made of it. */
static void hide_cast(sums *of_o, const probed_kernel *k)
{
    const double cast = classify_cast_unit(k) / 2; /* o is below 1 */
    if (cast > 0 && (of_o->unit >= cast || of_o->odd))
        *of_o = (sums){ 0 };
}

/* One key of weight 1, a small one, all others of score `rest`. */
static attest_status among_scores(sums *seen, probed_kernel *k, double rest, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int by_lse = (k->outputs & ATTEST_GIVES_LSE) != 0;
    const int finest = (int)-log2(by_lse ? attest_unit_roundoff(k->types.acc) : classify_out_unit(k)) + by_lse * 4;
    const int steps = finest < STEPS ? finest : STEPS;
    sums of_o = { 0 }, of_lse = { 0 };
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1", k->path->axes, PLACES * steps + 1, KEYS));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b <= PLACES * steps; b++) {
        for (int64_t j = 0; j < KEYS; j++)
            classify_score(&s, b, j, rest);
        classify_score(&s, b, 0, 0);
        if (b < PLACES * steps)
            classify_score(&s, b, places[b / steps][1], log(term((int)(b % steps) + 1)));
        classify_put(&s, ATTEST_V, b, 0, 0, 0, 1);
    }
    ATTEST_TRY(classify_run(&s, err));
    read_weights(&of_o, &s, 0, steps);
    hide_cast(&of_o, k);
    if (by_lse)
        read_weights(&of_lse, &s, 1, steps);
    *seen = by_lse ? finer(&of_lse, &of_o) : of_o;
out:
    classify_close(&s);
    return status;
}

/* Far scores and near ones: what survives must not depend on them. */
static attest_status over_weights(sums *worst, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    sums far = { 0 }, near = { 0 };
    ATTEST_TRY(among_scores(&far, k, -1e4, err));
    ATTEST_TRY(among_scores(&near, k, classify_near_rest(k), err));
    worst->odd |= far.odd || near.odd || far.unit != near.unit;
    worst->truncates |= near.truncates;
    worst->unit = fmax(worst->unit, near.unit);
    worst->most = fmax(worst->most, near.most);
out:
    return status;
}

#define ODD "what a sum leaves beside a large term is no multiple of one unit: the sum is not a plain one"

/* ---- the traits ---------------------------------------------------------------------------------------------- */

static int keeps_state(const probed_kernel *k)
{
    return k->schedule == ATTEST_SCHEDULE_RECURRENT || k->schedule == ATTEST_SCHEDULE_CHUNK;
}

/* f16 has 11 digits and nothing below 2^-24. */
static int is_shallow(const sums *s) { return s->unit == attest_unit_roundoff(ATTEST_F16); }

/* No unit without a series that finds its limit. */
static void hide_unit(inference *out, const sums *s)
{
    if (s->most > 0)
        classify_hidden(out, "every term asked for survives: a unit below 2^%.0f cannot be asked for", log2(s->most));
    else
        classify_hidden(out, "no sum could be asked for");
}

attest_status classify_acc_unit(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    sums worst = { 0 };
    ATTEST_TRY(over_channels(&worst, k, err));
    if (k->schedule != ATTEST_SCHEDULE_RECURRENT) /* whose sums over keys are the state: classify_state_dtype() */
        ATTEST_TRY(over_keys(&worst, k, 2 * KEYS, err));
    const double others = worst.unit;
    if (k->path->exponential)
        ATTEST_TRY(over_weights(&worst, k, err));
    k->coarse_weights = others > 0 && worst.unit > others;
    k->unit = worst.unit;
    k->truncates = worst.truncates;
    k->odd_sums = worst.odd;
    k->shallow |= is_shallow(&worst);
    classify_seen(out, worst.unit);
    if (worst.odd)
        classify_hidden(out, "%s", ODD);
    else if (worst.unit == 0)
        hide_unit(out, &worst);
out:
    return status;
}

attest_status classify_acc_truncates(inference *out, probed_kernel *k, attest_error *err)
{
    (void)err;
    if (k->odd_sums || k->absorbs)
        classify_hidden(out, "%s", k->odd_sums ? ODD : ABSORBED);
    else if (k->unit > 0)
        classify_seen(out, k->truncates ? ATTEST_YES : ATTEST_NO);
    else
        classify_hidden(out, "the unit of sums is not visible");
    return ATTEST_OK;
}

attest_status classify_state_dtype(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    static const uint32_t formats[] = { ATTEST_F64, ATTEST_F32, ATTEST_F16, ATTEST_BF16 };
    sums worst = { 0 };
    if (!keeps_state(k)) {
        classify_hidden(out, k->schedule ? "the schedule has no states: no type of theirs changes a bit"
                                         : "the schedule is not visible");
        return ATTEST_OK;
    }
    ATTEST_TRY(over_keys(&worst, k, 1, err));
    ATTEST_TRY(of_a_state(&worst, k, err));
    k->shallow |= is_shallow(&worst);
    if (worst.unit == 0 || worst.odd) {
        hide_unit(out, &worst);
        if (worst.odd)
            classify_hidden(out, "%s", ODD);
        goto out;
    }
    classify_hidden(out, "states of unit %g are of no known type", worst.unit);
    for (size_t n = 0; n < COUNT(formats); n++)
        if (worst.unit <= attest_unit_roundoff(formats[n])) {
            classify_seen(out, 1 + formats[n]);
            break;
        }
out:
    return status;
}
