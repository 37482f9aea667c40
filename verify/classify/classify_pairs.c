/* classify_pairs.c - a second look at sums, states and divisions, by errors of drawn numbers.
 *
 * Two drawn terms a and b are added by themselves, and a + b is compared with the exact sum: its relative error is at
 * most the unit roundoff of whatever added them, so that the largest error is a lower end of that unit, rounding toward
 * zero has one sign, and a state shows its type.  (classify_sums.c asks which small term survives between 1 and -1.)
 * A drawn value over an odd number of keys shows the division; there the means of classify_division.c are integers.
 */
#include <math.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { DRAWS = 128, KEYS = 256 };

/* Where the second term stands. */
static const int64_t places[] = { 1, 4, 8, 16, 32, 128 };
enum { PLACES = COUNT(places), PAIRS = PLACES * DRAWS };

typedef struct errors {
    double unit;              /* the largest */
    int inexact, toward_zero; /* sums that were rounded, and those of them toward zero */
} errors;

/* Terms of experiment b: near 1, and smaller by any power of two that an accumulator may lose. */
static double first_term(int64_t b) { return 1 + classify_even(3 * b + 1) / 16; }

static double second_term(const probed_kernel *k, int64_t b)
{
    const int digits = attest_format_of(k->types.acc).p + 2;
    return ldexp(b % 2 ? -1 - classify_even(b) : 1 + classify_even(b), -2 - (int)((b / 2) % digits));
}

/* Takes in one sum; `floor`: what reading it may have made of the error. */
static void take(errors *seen, double sum, double a, double b, double floor)
{
    const double error = (sum - a) - b, all = a + b; /* sum is near a: the first difference is exact */
    const double part = fmax(fabs(error / all) - floor, 0);
    seen->unit = part <= seen->unit ? seen->unit : part == part ? part : INFINITY;
    if (part == 0)
        return;
    seen->inexact++;
    seen->toward_zero += (error < 0) == (all > 0);
}

/* Values of two of KEYS keys. */
static attest_status over_keys(errors *seen, probed_kernel *k, int chunk, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double value = k->path->value, all = k->path->mean ? KEYS : 1;
    const double out = classify_out_unit(k), floor = out > classify_unit(k) ? 2 * out : 0;
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1 chunk=%d", k->path->axes, PAIRS, KEYS, chunk));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < PAIRS; b++) {
        for (int64_t j = 0; j < KEYS; j++)
            classify_score(&s, b, j, k->path->key);
        classify_put(&s, ATTEST_V, b, 0, 0, 0, value * (chunk == 1 ? 1 : first_term(b))); /* a state keeps 1 itself */
        classify_put(&s, ATTEST_V, b, 0, places[b / DRAWS], 0, value * second_term(k, b));
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < PAIRS && s.ran; b++)
        take(seen, classify_get(&s, ATTEST_O, b, 0, s.last, 0) * all, classify_get(&s, ATTEST_V, b, 0, 0, 0) / value,
             classify_get(&s, ATTEST_V, b, 0, places[b / DRAWS], 0) / value, floor);
out:
    classify_close(&s);
    return status;
}

/* The score that o shows of key 1 beside one of 0; of one weight, o itself. */
static double score_of(const probe_run *s, int64_t b)
{
    const double o = classify_get(s, ATTEST_O, b, 0, s->last, 0);
    return s->kernel->path->exponential ? log(o / (1 - o)) : o / s->kernel->path->key / s->kernel->path->value;
}

/* A score of two channels, less the same score as one channel gives it: an exponential does the same to both. */
static attest_status over_channels(errors *seen, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int exponential = k->path->exponential;
    const double unit = exponential ? 1 : k->path->key, noise = 8 * (classify_unit(k) + classify_out_unit(k));
    double once[PAIRS];
    probe_run s = { .kernel = k };
    if (k->path->mean && !exponential)
        return ATTEST_OK;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d d=%d e=1", k->path->axes, PAIRS, exponential ? 2 : 1, KEYS));
    if (!s.bundle || k->types.in != k->types.acc)
        goto out;
    classify_fill(&s, ATTEST_Q, 1);
    for (int way = 0; way < 2; way++) {
        for (int64_t b = 0; b < PAIRS; b++) {
            const double a = unit * first_term(b), rest = unit * second_term(k, b);
            classify_put(&s, ATTEST_K, b, 0, exponential, 0, way ? a : a + rest);
            classify_put(&s, ATTEST_K, b, 0, exponential, places[b / DRAWS], way ? rest : 0);
            classify_put(&s, ATTEST_V, b, 0, exponential, 0, exponential ? 1 : k->path->value);
        }
        ATTEST_TRY(classify_run(&s, err));
        for (int64_t b = 0; b < PAIRS && s.ran && !way; b++)
            once[b] = score_of(&s, b);
    }
    for (int64_t b = 0; b < PAIRS && s.ran; b++)
        seen->unit = fmax(seen->unit, fabs(score_of(&s, b) / once[b] - 1) - noise);
out:
    classify_close(&s);
    return status;
}

/* The denominator 1 + w of one key and a small one, from o = 1/(1+w), which may be cast, or, where that has fewer
 * digits, from lse.  An exponential may miss w by a sixteenth. */
static attest_status over_weights(errors *seen, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double coarse = classify_out_unit(k) + classify_cast_unit(k);
    const int by_lse = (k->outputs & ATTEST_GIVES_LSE) != 0 && coarse > classify_unit(k);
    const double noise = 4 * (classify_unit(k) + (by_lse ? 0 : coarse));
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1", k->path->axes, PAIRS, KEYS));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < PAIRS; b++) {
        for (int64_t j = 0; j < KEYS; j++)
            classify_score(&s, b, j, classify_near_rest(k));
        classify_score(&s, b, 0, 0);
        classify_score(&s, b, places[b / DRAWS], log(fabs(second_term(k, b))));
        classify_put(&s, ATTEST_V, b, 0, 0, 0, 1);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < PAIRS && s.ran; b++) {
        const double w = fabs(second_term(k, b)), o = classify_get(&s, ATTEST_O, b, 0, s.last, 0);
        const double l = by_lse ? expm1(classify_lse(&s, b)) : 1 / o - 1;
        seen->unit = fmax(seen->unit, fabs(l - w) / (1 + w) - noise - w / 16);
    }
out:
    classify_close(&s);
    return status;
}

attest_status classify_acc_unit_again(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    errors seen = { 0 };
    if (k->schedule != ATTEST_SCHEDULE_RECURRENT)
        ATTEST_TRY(over_keys(&seen, k, 2 * KEYS, err));
    ATTEST_TRY(over_channels(&seen, k, err));
    if (k->path->exponential)
        ATTEST_TRY(over_weights(&seen, k, err));
    if (seen.unit > 0)
        classify_seen(out, seen.unit);
    else
        classify_hidden(out, "no sum of two drawn terms errs more than its reading");
out:
    return status;
}

attest_status classify_acc_truncates_again(inference *out, probed_kernel *k, attest_error *err)
{
    errors seen = { 0 };
    const attest_status status = over_keys(&seen, k, 2 * KEYS, err);
    const double share = seen.inexact > 0 ? (double)seen.toward_zero / seen.inexact : 0;
    if (seen.inexact >= 32 && share > 0.95)
        classify_seen(out, ATTEST_YES);
    else if (seen.inexact >= 32 && share > 0.3 && share < 0.7)
        classify_seen(out, ATTEST_NO);
    else
        classify_hidden(out, "%d of %d sums of two drawn terms err toward zero", seen.toward_zero, seen.inexact);
    return status;
}

attest_status classify_state_dtype_again(inference *out, probed_kernel *k, attest_error *err)
{
    static const uint32_t formats[] = { ATTEST_F64, ATTEST_F32, ATTEST_F16, ATTEST_BF16 };
    errors seen = { 0 };
    const attest_status status = over_keys(&seen, k, 1, err);
    classify_hidden(out, "two drawn values in a state err by %.3g", seen.unit);
    for (size_t n = 0; n < COUNT(formats) && seen.unit > 0; n++)
        if (seen.unit <= attest_unit_roundoff(formats[n])) {
            classify_seen(out, 1 + formats[n]);
            break;
        }
    return status;
}

/* ---- division ------------------------------------------------------------------------------------------------ */

/* Drawn values on the last of m equal keys, m odd; of a split kernel, on the last of `splits` parts of PART. */
attest_status classify_div_error_again(inference *out, probed_kernel *k, attest_error *err)
{
    enum { SIZES = 12, PART = CLASSIFY_MERGED / (2 * SIZES + 3) };
    attest_status status = ATTEST_OK;
    const int linear = !k->path->exponential && k->path->key == 1;
    const double floor = classify_out_unit(k) > classify_unit(k) ? classify_out_unit(k) : 0;
    double worst = -1;
    probe_run s = { .kernel = k };
    for (int n = 0; n < SIZES && (k->path->exponential || linear); n++) {
        const int parts = k->schedule == ATTEST_SCHEDULE_SPLIT ? 2 * n + 5 : 1,
                  m = parts > 1 ? PART * parts : 65 + 10 * n;
        ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1 splits=%d",
                                 linear ? "variant=softmax weight=power:1" : k->path->axes, DRAWS, m, parts));
        if (!s.bundle)
            break;
        classify_ask_scores(&s);
        for (int64_t b = 0; b < DRAWS; b++) {
            for (int64_t j = 0; j < m; j++)
                classify_score(&s, b, j, k->path->key);
            classify_put(&s, ATTEST_V, b, 0, m - 1, 0, 1 + classify_even(b + DRAWS * n));
        }
        ATTEST_TRY(classify_run(&s, err));
        for (int64_t b = 0; b < DRAWS && s.ran; b++) {
            const double v = classify_get(&s, ATTEST_V, b, 0, m - 1, 0),
                         o = classify_get(&s, ATTEST_O, b, 0, s.last, 0);
            worst = fmax(worst, fmax(fabs(fma(o, m, -v)) / v - floor, 0));
        }
        classify_close(&s);
    }
    if (worst > 0)
        classify_seen(out, worst);
    else
        classify_hidden(out, "no drawn value over a number of keys errs more than its reading");
    out->blind = classify_out_unit(k);
out:
    classify_close(&s);
    return status;
}
