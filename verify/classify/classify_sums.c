/* classify_sums.c - how wide sums are, and how exact a division is.
 *
 * A series adds 1, x = 1.75 2^-k and -1, which leaves what of x survived beside 1.  To nearest with unit u the least x
 * that survives is 1.75 u, and it comes back as 2u; an accumulator that rounds toward zero loses 1.75 u, and gives 2u
 * of 3.5 u.  Terms stand together and far apart, so that lanes of a vector, tiles and blocks do not hide a sum: the
 * worst place counts.  Series run over the channels of a score, over the keys of u and z, and over the small keys of a
 * softmax denominator.
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
    worst->truncates = worst->truncates || down;
    worst->unit = fmax(worst->unit, unit);
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
            const double x[3] = { 1, term(step), -1 };
            for (int64_t j = 0; j < KEYS && !in_keys; j++)
                classify_score(s, b, j, path->key);
            for (int n = 0; n < 3; n++)
                if (in_keys)
                    classify_score(s, b, places[p][n], x[n]);
                else
                    classify_put(s, ATTEST_V, b, 0, places[p][n], 0, path->value * x[n]);
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
    const int steps = steps_of(k->types.in, k->path->value);
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1 chunk=%d", k->path->axes, PLACES * steps, KEYS, chunk));
    if (s.bundle) {
        put_keys(&s, steps, 0);
        ATTEST_TRY(classify_run(&s, err));
        judge_probe_run(worst, &s, ATTEST_O, k->path->mean ? KEYS : 1, 0, steps);
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

/* What is left of the weight beside that of key 0: l/l0 - 1 from lse = log l, l0 without the small key; or from o =
 * l0/l. */
static attest_status over_weights(sums *worst, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int by_lse = (k->outputs & ATTEST_GIVES_LSE) != 0;
    const int finest = (int)-log2(by_lse ? attest_unit_roundoff(k->types.acc) : classify_out_unit(k)) + by_lse * 4;
    const int steps = finest < STEPS ? finest : STEPS;
    double left[STEPS];
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1", k->path->axes, PLACES * steps + 1, KEYS));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b <= PLACES * steps; b++) {
        for (int64_t j = 0; j < KEYS; j++)
            classify_score(&s, b, j, -1e4);
        classify_score(&s, b, 0, 0);
        if (b < PLACES * steps)
            classify_score(&s, b, places[b / steps][1], log(term((int)(b % steps) + 1)));
        classify_put(&s, ATTEST_V, b, 0, 0, 0, 1);
    }
    ATTEST_TRY(classify_run(&s, err));
    const double lse = classify_lse(&s, PLACES * steps);
    for (int p = 0; p < PLACES && s.ran; p++) {
        for (int n = 0; n < steps; n++) {
            const int64_t b = (int64_t)p * steps + n;
            left[n] = by_lse ? expm1(classify_lse(&s, b) - lse) : 1 / classify_get(&s, ATTEST_O, b, 0, s.last, 0) - 1;
        }
        judge_series(worst, left, steps);
    }
out:
    classify_close(&s);
    return status;
}

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
    if (k->path->exponential)
        ATTEST_TRY(over_weights(&worst, k, err));
    k->unit = worst.unit;
    k->truncates = worst.truncates;
    k->shallow |= is_shallow(&worst);
    classify_seen(out, worst.unit);
    if (worst.unit == 0)
        hide_unit(out, &worst);
out:
    return status;
}

attest_status classify_acc_truncates(inference *out, probed_kernel *k, attest_error *err)
{
    (void)err;
    if (k->unit > 0)
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
    if (worst.unit == 0) {
        hide_unit(out, &worst);
        goto out;
    }
    classify_other(out, "states of unit %g are of no known type", worst.unit);
    for (size_t n = 0; n < COUNT(formats); n++)
        if (worst.unit <= attest_unit_roundoff(formats[n])) {
            classify_seen(out, 1 + formats[n]);
            break;
        }
out:
    return status;
}

/* ---- division ------------------------------------------------------------------------------------------------ */

/* |got - n/m| / (n/m), the residual n - got m being one rounding. */
static double quotient_error(double got, double n, double m) { return fabs(fma(got, m, -n)) / n; }

/* Means of n = 1, 3 .. over m = 3, 5 .. keys, the rest of weight 0. */
static attest_status divide_by_keys(double *worst, probed_kernel *k, const char *axes, attest_error *err)
{
    enum { NUMERATORS = 16, DENOMINATORS = 31 };
    attest_status status = ATTEST_OK;
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=64 e=1", axes, NUMERATORS * DENOMINATORS));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < NUMERATORS * DENOMINATORS; b++) {
        for (int64_t j = 0; j < 64; j++)
            classify_score(&s, b, j, j < 2 * (b / NUMERATORS) + 3 ? k->path->key : (k->path->exponential ? -1e4 : 0));
        classify_put(&s, ATTEST_V, b, 0, 0, 0, (double)(2 * (b % NUMERATORS) + 1));
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < NUMERATORS * DENOMINATORS && s.ran; b++)
        *worst = fmax(*worst, quotient_error(classify_get(&s, ATTEST_O, b, 0, s.last, 0),
                                             (double)(2 * (b % NUMERATORS) + 1), (double)(2 * (b / NUMERATORS) + 3)));
out:
    classify_close(&s);
    return status;
}

/* The gate of one of m = 3, 4 .. equal query heads, the others' logits far below: 1/m. */
static attest_status divide_by_heads(double *worst, probed_kernel *k, attest_error *err)
{
    enum { HEADS = 64 };
    attest_status status = ATTEST_OK;
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s gates=heads b=%d hq=%d hkv=1 m=1 e=1", k->path->axes, HEADS - 2, HEADS));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    classify_fill(&s, ATTEST_Q_HEAD_LOGITS, -1e4);
    for (int64_t b = 0; b < HEADS - 2; b++) {
        for (int64_t h = 0; h < b + 3; h++)
            classify_put(&s, ATTEST_Q_HEAD_LOGITS, b, h, s.last, 0, 0);
        classify_score(&s, b, 0, k->path->key);
        classify_put(&s, ATTEST_V, b, 0, 0, 0, k->path->value);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < HEADS - 2 && s.ran; b++)
        *worst = fmax(*worst, quotient_error(classify_get(&s, ATTEST_O, b, 0, s.last, 0), 1, (double)(b + 3)));
out:
    classify_close(&s);
    return status;
}

/* A split kernel divides in each part, and once more when it has merged them: parts of 4 equal keys, each with the sum
 * n of its values, are exact but for the last division, of n parts/4 by their number. */
static attest_status divide_by_parts(double *worst, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s = { .kernel = k };
    for (int splits = 3; splits < 32; splits += 2) {
        ATTEST_TRY(classify_open(&s, k, err, "%s b=16 m=%d e=1 splits=%d", k->path->axes, 4 * splits, splits));
        classify_ask_scores(&s);
        for (int64_t b = 0; b < s.problem.b; b++)
            classify_put(&s, ATTEST_V, b, 0, 0, 0, (double)(2 * b + 1));
        ATTEST_TRY(classify_run(&s, err));
        for (int64_t b = 0; b < s.problem.b && s.ran; b++)
            *worst = fmax(
                *worst, quotient_error(classify_get(&s, ATTEST_O, b, 0, s.last, 0), (double)(2 * b + 1), 4.0 * splits));
        classify_close(&s);
    }
out:
    classify_close(&s);
    return status;
}

attest_status classify_div_error(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int linear = !k->path->exponential && k->path->key == 1;
    double worst = -1;
    if (k->path->exponential || linear)
        ATTEST_TRY(divide_by_keys(&worst, k, linear ? "variant=softmax weight=power:1" : k->path->axes, err));
    if (worst >= 0 && k->schedule == ATTEST_SCHEDULE_SPLIT && k->path->exponential)
        ATTEST_TRY(divide_by_parts(&worst, k, err));
    if (worst < 0 && !k->path->mean)
        ATTEST_TRY(divide_by_heads(&worst, k, err));
    if (worst < 0)
        classify_hidden(out, "no variant that the kernel serves here divides by a known number");
    else if (classify_out_unit(k) > classify_unit(k) && worst <= classify_out_unit(k))
        classify_hidden(out, "o has %d digits: a finer division is not to be seen", attest_format_of(k->types.out).p);
    else
        classify_seen(out, worst);
out:
    return status;
}
