/* classify_order.c - are sums made one term after another (ATTEST_SERIAL_SUMS)?
 *
 * Terms of very different size are added; another order, a tree, lanes, blocks or a finer accumulator round elsewhere,
 * and some of EXPERIMENTS sums have other bits.  Over keys: equal weights and m a power of two, so that o (a mean) is
 * the sum of v exactly; an online kernel's tiles, as long as they were seen to be, are summed by themselves.  Over
 * channels: q = 1 and one key, whose score is its lse or, times v = 1, its o.
 */
#include <math.h>

#include "kernels/attest_float.h"
#include "verify/classify_private.h"

enum { EXPERIMENTS = 12, TERMS = 128 };

/* Of 8 digits and either sign, over more powers of two than the accumulator has digits: most additions round. */
static double term(const asked *k, int64_t b, int64_t j)
{
    const double x = floor(128 * classify_even(b * TERMS + j)) - 64.5;
    return ldexp(x, -6 - (int)((7 * j + 3 * b) % (attest_format_of(k->types.acc).p + 8)));
}

static double add(const asked *k, double a, double b)
{
    return k->types.acc == ATTEST_F64 ? a + b : (double)((float)a + (float)b);
}

/* Terms of experiment b in ascending order; parts of `part` terms by themselves, 0: one part. */
static double serial_sum(const asked *k, int64_t b, int64_t part)
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
static attest_status over_keys(int *serial, asked *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const classify_path *path = k->path;
    scene s;
    *serial = -1;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1 chunk=%d", path->axes, EXPERIMENTS, TERMS, 2 * TERMS));
    if (!s.bundle)
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
        *serial = *serial != 0 && o == serial_sum(k, b, k->tile);
    }
out:
    classify_close(&s);
    return status;
}

static attest_status over_channels(int *serial, asked *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int by_lse = (k->outputs & ATTEST_GIVES_LSE) && k->path->exponential;
    scene s = { .kernel = k };
    *serial = -1;
    if (!by_lse && (k->path->exponential || k->path->mean || k->path->key != 1))
        return ATTEST_OK;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=1 d=%d e=1", k->path->axes, EXPERIMENTS, TERMS));
    if (!s.bundle)
        goto out;
    classify_fill(&s, ATTEST_Q, 1);
    classify_fill(&s, ATTEST_V, k->path->value);
    for (int64_t b = 0; b < EXPERIMENTS; b++)
        for (int64_t c = 0; c < TERMS; c++)
            if (classify_put(&s, ATTEST_K, b, 0, 0, c, term(k, b, c)) != term(k, b, c))
                goto out;
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < EXPERIMENTS && s.ran; b++) {
        const double got = by_lse ? classify_lse(&s, b) : classify_get(&s, ATTEST_O, b, 0, s.last, 0);
        *serial = *serial != 0 && got == serial_sum(k, b, 0);
    }
out:
    classify_close(&s);
    return status;
}

attest_status classify_serial(inference *out, asked *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int keys = -1, channels = -1;
    if (classify_out_unit(k) > classify_unit(k)) {
        classify_hidden(out, "o has %d digits: the last bits of a sum are not to be seen",
                        attest_format_of(k->types.out).p);
        return ATTEST_OK;
    }
    ATTEST_TRY(over_keys(&keys, k, err));
    ATTEST_TRY(over_channels(&channels, k, err));
    if (keys < 0)
        classify_hidden(out, "no sum over keys could be asked for");
    else
        classify_seen(out, keys && channels != 0 ? ATTEST_YES : ATTEST_NO);
out:
    return status;
}
