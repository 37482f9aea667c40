/* classify_order.c - are sums made one term after another (ATTEST_SERIAL_SUMS)?
 *
 * Terms of very different size are added; another order, a tree, lanes, blocks or a finer accumulator round elsewhere,
 * and some of EXPERIMENTS sums have other bits.  Over keys: equal weights and m a power of two, so that o (a mean) is
 * the sum of v exactly; an online kernel's tiles, as long as they were seen to be or, where that was not to be seen, as
 * they are declared to be, are summed by themselves; z is the sum of scores.  Over channels: q = 1 and one key, whose o
 * is its score times v = 1; of a mean, two keys, one with the sum itself in a channel: their weights are equal if their
 * scores are.  Denominator: after one large weight, small ones are lost one by one, and would be kept together.
 * Quotients of weights, added, are not the quotient of the sum.
 */
#include <math.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

enum { EXPERIMENTS = 12, TERMS = 128, WEIGHTS = 512 };

/* Of 8 digits and either sign, over more powers of two than the accumulator has digits: most additions round. */
static double term(const probed_kernel *k, int64_t b, int64_t j)
{
    const double x = floor(128 * classify_even(b * TERMS + j)) - 64.5;
    return ldexp(x, -6 - (int)((7 * j + 3 * b) % (attest_format_of(k->types.acc).p + 8)));
}

/* a + b in acc, toward zero where some sum was seen to round so. */
static double add(const probed_kernel *k, double a, double b)
{
    const int wide = k->types.acc == ATTEST_F64;
    const double sum = wide ? a + b : (double)((float)a + (float)b);
    const double all = a + b, back = all - a, off = (all - sum) + ((a - (all - back)) + (b - back));
    if (!k->truncates || sum == 0 || off == 0 || (off > 0) == (sum > 0))
        return sum;
    return wide ? nextafter(sum, 0) : (double)nextafterf((float)sum, 0);
}

int64_t classify_summed(const probed_kernel *k)
{
    return k->schedule != ATTEST_SCHEDULE_UNKNOWN || !k->path->exponential ? k->tile : k->stated;
}

/* Terms of experiment b in ascending order; parts of `part` terms by themselves, 0: one part. */
static double serial_sum(const probed_kernel *k, int64_t b, int64_t part)
{
    double all = 0, sum = 0;
    for (int64_t j = 0; j < TERMS; j++) {
        sum = add(k, sum, term(k, b, j));
        if (part > 0 && (j + 1) % part == 0) {
            all = add(k, all, sum);
            sum = 0;
        }
    }
    return part > 0 ? add(k, all, sum) : sum;
}

/* *serial: -1 not to be asked, else are all sums those of serial_sum()? */
static attest_status over_keys(int *serial, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const classify_path *path = k->path;
    const int64_t tile = classify_summed(k);
    probe_run s;
    *serial = -1;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1 chunk=%d", path->axes, EXPERIMENTS, TERMS, 2 * TERMS));
    if (!s.bundle || tile < 0)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < EXPERIMENTS; b++)
        for (int64_t j = 0; j < TERMS; j++) {
            classify_score(&s, b, j, path->key);
            if (classify_put(&s, ATTEST_V, b, 0, j, 0, path->value * term(k, b, j)) != path->value * term(k, b, j))
                goto out;
        }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < EXPERIMENTS && s.ran; b++) {
        const double o = classify_get(&s, ATTEST_O, b, 0, s.last, 0) * (path->mean ? TERMS : 1);
        *serial = *serial != 0 && o == serial_sum(k, b, tile);
    }
    if (path->mean || path->key != 1 || !(k->outputs & ATTEST_GIVES_Z))
        goto out;
    for (int64_t at = 0; at < (int64_t)EXPERIMENTS * TERMS; at++)
        classify_score(&s, at / TERMS, at % TERMS, term(k, at / TERMS, at % TERMS));
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < EXPERIMENTS && s.ran; b++)
        *serial = *serial != 0 && classify_get(&s, ATTEST_Z, b, 0, s.last, 0) == serial_sum(k, b, 0);
out:
    classify_close(&s);
    return status;
}

/* Weights divided before they are added: n of 1/n are not 1 for these n, which n/n is, nor n times 1/n in one product.
 * Leaves *serial where the kernel does not answer. */
static attest_status over_quotients(int *serial, probed_kernel *k, attest_error *err)
{
    static const int64_t sizes[] = { 11, 41, 55 };
    attest_status status = ATTEST_OK;
    probe_run s = { .kernel = k };
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0] && k->path->mean; n++) {
        ATTEST_TRY(classify_open(&s, k, err, "%s b=2 m=%lld e=1", k->path->axes, (long long)sizes[n]));
        classify_ask_scores(&s);
        for (int64_t j = 0; j < sizes[n]; j++) {
            classify_score(&s, 0, j, k->path->key);
            classify_score(&s, 1, j, k->path->key);
            classify_put(&s, ATTEST_V, 0, 0, j, 0, 1);
        }
        classify_put(&s, ATTEST_V, 1, 0, 0, 0, 1);
        ATTEST_TRY(classify_run(&s, err));
        const double o = classify_get(&s, ATTEST_O, 0, 0, s.last, 0);
        const double product = (double)sizes[n] * classify_get(&s, ATTEST_O, 1, 0, s.last, 0);
        const double rounded = k->types.acc == ATTEST_F64 ? product : (double)(float)product;
        if (s.ran && o != 1 && (o != rounded || fabs(o - 1) > 4 * classify_unit(k)))
            *serial = 0;
        classify_close(&s);
    }
out:
    classify_close(&s);
    return status;
}

/* A scale that no sum passes without rounding: it comes after the sum. */
static attest_status over_channels(int *serial, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int mean = k->path->mean;
    probe_run s = { .kernel = k };
    *serial = -1;
    if (!mean && k->path->key != 1)
        return ATTEST_OK;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d d=%d e=1%s", k->path->axes, EXPERIMENTS, 1 + mean, TERMS,
                             mean ? " scale=0.7" : ""));
    if (!s.bundle)
        goto out;
    classify_fill(&s, ATTEST_Q, 1);
    for (int64_t b = 0; b < EXPERIMENTS; b++) {
        for (int64_t c = 0; c < TERMS; c++)
            if (classify_put(&s, ATTEST_K, b, 0, 0, c, term(k, b, c)) != term(k, b, c))
                goto out;
        if (mean && classify_score(&s, b, 1, serial_sum(k, b, 0)) != serial_sum(k, b, 0))
            goto out;
        classify_put(&s, ATTEST_V, b, 0, 0, 0, k->path->value);
        if (mean)
            classify_put(&s, ATTEST_V, b, 0, 1, 0, -k->path->value);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < EXPERIMENTS && s.ran; b++)
        *serial = *serial != 0 && classify_get(&s, ATTEST_O, b, 0, s.last, 0) == (mean ? 0 : serial_sum(k, b, 0));
out:
    classify_close(&s);
    return status;
}

/* The denominator of a mean: o is the value 1 of key 0, of the large weight, if all others are lost beside it.  Short
 * tiles have `tile` of them together, long ones hold all. */
static attest_status over_weights(int *serial, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int taylor = !k->path->exponential && k->path->key == 0; /* 1 + s + s^2/2: no weight below 1/2 */
    const int64_t tile = classify_summed(k);
    const int is_short = tile <= 16;
    const int64_t keys = is_short || tile > WEIGHTS ? WEIGHTS : tile;
    const double small = classify_unit(k) / (4 * (is_short && tile > 0 ? (double)tile : 1));
    const double large = taylor ? ldexp(1, (attest_format_of(k->types.acc).p + 3) / 2) : k->path->key;
    probe_run s = { .kernel = k };
    *serial = -1;
    if (!k->path->mean || tile < 0)
        return ATTEST_OK;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=2 m=%lld e=1", k->path->axes, (long long)keys));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < 2; b++) {
        for (int64_t j = 1; j < keys; j++)
            if (k->path->exponential)
                classify_score(&s, b, j, b == 0 ? log(small) : -1e4);
            else
                classify_score(&s, b, j, taylor || b == 1 ? 0 : small);
        classify_score(&s, b, 0, large);
        classify_put(&s, ATTEST_V, b, 0, 0, 0, 1);
    }
    ATTEST_TRY(classify_run(&s, err));
    if (s.ran)
        *serial = classify_get(&s, ATTEST_O, 0, 0, s.last, 0) ==
                  (taylor ? 1 : classify_get(&s, ATTEST_O, 1, 0, s.last, 0)); /* as exact as its division */
out:
    classify_close(&s);
    return status;
}

attest_status classify_serial(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int keys = -1, channels = -1, weights = -1;
    if (classify_out_unit(k) > classify_unit(k)) {
        classify_hidden(out, "o has %d digits: the last bits of a sum are not to be seen",
                        attest_format_of(k->types.out).p);
        return ATTEST_OK;
    }
    ATTEST_TRY(over_keys(&keys, k, err));
    ATTEST_TRY(over_quotients(&keys, k, err));
    ATTEST_TRY(over_channels(&channels, k, err));
    ATTEST_TRY(over_weights(&weights, k, err));
    if (keys == 0 || channels == 0 || weights == 0)
        classify_seen(out, ATTEST_NO);
    else if (classify_summed(k) < 0)
        classify_hidden(out, "which keys are summed by themselves is neither visible nor declared");
    else if (keys < 0)
        classify_hidden(out, "no sum over keys could be asked for");
    else if (channels < 0)
        classify_hidden(out, "sums over keys are serial; none over channels could be asked for");
    else if (weights < 0 && k->path->mean)
        classify_hidden(out, "sums of scores and of values are serial; the denominator could not be asked for");
    else
        classify_seen(out, ATTEST_YES);
out:
    return status;
}
