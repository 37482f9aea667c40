/* classify_again.c - a second look at serial sums and at conventions, by other means than the first (classify_order.c,
 * classify_exp.c for the scale, classify_rules.c).
 */
#include <math.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

/* ---- serial sums: terms that one accumulator loses one by one, and that any other order keeps together --------- */

enum { TERMS = 128 };

/* 1 first, then terms of half a unit, all lost, or of two, all kept.  *serial: -1 not to be asked. */
static attest_status keys_are_lost(int *serial, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double all = k->path->mean ? TERMS : 1, u = classify_unit(k);
    const int64_t tile = classify_summed(k);
    const double small = u / (tile > 0 && tile < TERMS ? 2 * (double)tile : 2);
    probe_run s = { .kernel = k };
    *serial = -1;
    if (tile < 0 || (tile > 32 && tile < TERMS))
        return ATTEST_OK;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=2 m=%d e=1 chunk=%d", k->path->axes, TERMS, 2 * TERMS));
    if (!s.bundle || k->types.in == ATTEST_F16)
        goto out;
    classify_ask_scores(&s);
    for (int64_t j = 0; j < 2 * TERMS; j++) {
        classify_score(&s, j / TERMS, j % TERMS, k->path->key);
        classify_put(&s, ATTEST_V, j / TERMS, 0, j % TERMS, 0,
                     k->path->value * (j % TERMS == 0 ? 1
                                       : j < TERMS    ? small
                                                      : 2 * u));
    }
    ATTEST_TRY(classify_run(&s, err));
    if (s.ran)
        *serial = classify_get(&s, ATTEST_O, 0, 0, s.last, 0) * all == 1 &&
                  classify_get(&s, ATTEST_O, 1, 0, s.last, 0) * all == 1 + 2 * u * (TERMS - 1);
out:
    classify_close(&s);
    return status;
}

/* The same over channels: a score of 1 then weighs as much as another one of 1. */
static attest_status channels_are_lost(int *serial, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int mean = k->path->mean;
    probe_run s = { .kernel = k };
    *serial = -1;
    if (!mean && k->path->key != 1)
        return ATTEST_OK;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=1 m=%d d=%d e=1", k->path->axes, 1 + mean, TERMS));
    if (!s.bundle || k->types.in == ATTEST_F16)
        goto out;
    classify_fill(&s, ATTEST_Q, 1);
    for (int64_t c = 0; c < TERMS; c++)
        classify_put(&s, ATTEST_K, 0, 0, 0, c, c > 0 ? classify_unit(k) / 2 : 1);
    classify_put(&s, ATTEST_V, 0, 0, 0, 0, k->path->value);
    if (mean) {
        classify_put(&s, ATTEST_K, 0, 0, 1, 0, 1);
        classify_put(&s, ATTEST_V, 0, 0, 1, 0, -k->path->value);
    }
    ATTEST_TRY(classify_run(&s, err));
    if (s.ran)
        *serial = classify_get(&s, ATTEST_O, 0, 0, s.last, 0) == (mean ? 0 : 1);
out:
    classify_close(&s);
    return status;
}

/* The denominator: 64 small weights, one of 1, 64 small ones.  One accumulator keeps the first 64, of 16 units. */
static attest_status weights_are_lost(int *serial, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double u = classify_unit(k);
    probe_run s = { .kernel = k };
    *serial = -1;
    if (!k->path->exponential || k->tile > 0)
        return ATTEST_OK;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=1 m=%d e=1", k->path->axes, TERMS + 1));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t j = 0; j <= TERMS; j++)
        classify_score(&s, 0, j, j == TERMS / 2 ? 0 : log(u / 4));
    classify_put(&s, ATTEST_V, 0, 0, TERMS / 2, 0, 1);
    ATTEST_TRY(classify_run(&s, err));
    const double units = (1 / classify_get(&s, ATTEST_O, 0, 0, s.last, 0) - 1) / u;
    if (s.ran)
        *serial = fabs(units - 16) <= 6; /* 32 together */
out:
    classify_close(&s);
    return status;
}

/* Drawn integers with a mean that is one: exact if they are added before they are divided, but for a reciprocal. */
static attest_status quotients_are_lost(int *serial, probed_kernel *k, attest_error *err)
{
    enum { DRAWS = 16 };
    static const int sizes[] = { 49, 99, 199, 399 };
    attest_status status = ATTEST_OK;
    probe_run s = { .kernel = k };
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0] && k->path->mean && *serial != 0; n++) {
        const int m = sizes[n];
        ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1", k->path->axes, DRAWS, m));
        if (!s.bundle || k->types.in == ATTEST_BF16)
            break;
        classify_ask_scores(&s);
        for (int64_t b = 0; b < DRAWS; b++) {
            double sum = 0;
            for (int64_t j = 0; j < m; j++) {
                const double drawn = floor(512 * classify_even(b * m + j));
                const double v = j < m - 1 ? drawn : m * ceil(sum / m) - sum;
                classify_score(&s, b, j, k->path->key);
                sum += classify_put(&s, ATTEST_V, b, 0, j, 0, v);
            }
        }
        ATTEST_TRY(classify_run(&s, err));
        for (int64_t b = 0; b < DRAWS && s.ran; b++) {
            double sum = 0;
            for (int64_t j = 0; j < m; j++)
                sum += classify_get(&s, ATTEST_V, b, 0, j, 0);
            if (fabs(classify_get(&s, ATTEST_O, b, 0, s.last, 0) * m - sum) > 2.25 * classify_unit(k) * sum)
                *serial = 0;
        }
        classify_close(&s);
    }
out:
    classify_close(&s);
    return status;
}

attest_status classify_serial_again(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int keys = -1, channels = -1, weights = -1;
    if (classify_out_unit(k) > classify_unit(k)) {
        classify_hidden(out, "the last bits of a sum are not to be seen in o");
        return ATTEST_OK;
    }
    ATTEST_TRY(keys_are_lost(&keys, k, err));
    ATTEST_TRY(channels_are_lost(&channels, k, err));
    ATTEST_TRY(weights_are_lost(&weights, k, err));
    ATTEST_TRY(quotients_are_lost(&keys, k, err));
    if (keys == 0 || channels == 0 || weights == 0)
        classify_seen(out, ATTEST_NO);
    else
        classify_hidden(out, "small terms behind a large one are lost, as one after another");
out:
    return status;
}

/* ---- drawn inputs: bits of scales, runs and batches ------------------------------------------------------------ */

enum { NUMBERS = 96 };

/* o (and lse) of the batch entry `entry` for drawn inputs, the same in every entry; absent ones are 0. */
static attest_status bits_of(double *o, int *ran, probed_kernel *k, const char *more, int batch, int entry,
                             attest_error *err)
{
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    attest_status status = ATTEST_OK;
    const int n = strcmp(k->mask, "mask=causal") == 0 ? 67 : 16;
    probe_run s;
    ATTEST_TRY(classify_open_line(&s, k, err, "%s %s b=%d n=%d m=67 d=3 e=2 splits=2 %s", k->path->axes, k->mask, batch,
                                  n, more));
    for (int r = 0; r < 3 && s.bundle; r++) {
        const attest_tensor *t = attest_bundle_role(s.bundle, roles[r]);
        const int64_t each = attest_tensor_count(t) / batch;
        for (int64_t at = 0; at < batch * each; at++)
            attest_store_bits(t, at, attest_from_f64(t->dtype, 2 * classify_even(at % each + 104729 * r + 1) - 1));
    }
    ATTEST_TRY(classify_run(&s, err));
    *ran = s.ran;
    memset(o, 0, NUMBERS * sizeof *o);
    for (int i = 0; i < 32 && s.ran; i++) {
        const int64_t row = n - 1 - i / 2;
        o[i] = classify_get(&s, ATTEST_O, entry, 0, row, i % 2);
        o[32 + i] = attest_bundle_role(s.bundle, ATTEST_LSE) ? classify_get(&s, ATTEST_LSE, entry, 0, row, 0) : 0;
    }
out:
    classify_close(&s);
    return status;
}

/* A scale and the same scale rounded to a type give the same bits exactly where the kernel rounds it so: the coarsest
 * such type. */
attest_status classify_scale_dtype_again(inference *out, probed_kernel *k, attest_error *err)
{
    static const uint32_t formats[] = { ATTEST_BF16, ATTEST_F16, ATTEST_F32, ATTEST_F64 };
    static const double scales[] = { 0.7071067811865476, 0.3779644730092272, 1.3660254037844386 };
    attest_status status = ATTEST_OK;
    size_t coarsest = 0;
    for (size_t n = 0; n < sizeof scales / sizeof scales[0] && !*k->dead; n++)
        for (; coarsest < 3; coarsest++) {
            const uint32_t type = formats[coarsest];
            double as[2][NUMBERS], of[2] = { scales[n], attest_to_f64(type, attest_from_f64(type, scales[n])) };
            int ran = 0;
            for (int way = 0; way < 2; way++) {
                char scale[64] = "scale=";
                attest_double_text(scale + 6, sizeof scale - 6, of[way]);
                ATTEST_TRY(bits_of(as[way], &ran, k, scale, 1, 0, err));
            }
            if (!ran) {
                classify_hidden(out, NO_ANSWER);
                return ATTEST_OK;
            }
            if (memcmp(as[0], as[1], sizeof as[0]) == 0)
                break;
        }
    classify_seen(out, 1 + formats[coarsest]);
out:
    return status;
}

attest_status classify_deterministic_again(inference *out, probed_kernel *k, attest_error *err)
{
    enum { RUNS = 8 };
    attest_status status = ATTEST_OK;
    double first[NUMBERS], next[NUMBERS];
    int ran = 0, equal = 1;
    k->unsteady = 0; /* each run is two, whose bits the worker compares */
    ATTEST_TRY(bits_of(first, &ran, k, "", 2, 1, err));
    for (int n = 0; n < RUNS && ran; n++) {
        ATTEST_TRY(bits_of(next, &ran, k, "", 2, 1, err));
        equal = equal && !k->unsteady && memcmp(first, next, sizeof first) == 0;
    }
    classify_seen(out, equal ? ATTEST_YES : ATTEST_NO);
    if (!ran)
        classify_hidden(out, NO_ANSWER);
out:
    return status;
}

/* Entries with the same inputs, against one alone. */
attest_status classify_batch_again(inference *out, probed_kernel *k, attest_error *err)
{
    enum { BATCH = 4 };
    attest_status status = ATTEST_OK;
    double alone[NUMBERS], one[NUMBERS];
    int ran = 0, equal = 1;
    ATTEST_TRY(bits_of(alone, &ran, k, "", 1, 0, err));
    for (int b = 0; b < BATCH && ran; b++) {
        ATTEST_TRY(bits_of(one, &ran, k, "", BATCH, b, err));
        equal = equal && memcmp(alone, one, sizeof one) == 0;
    }
    classify_seen(out, equal ? ATTEST_YES : ATTEST_NO);
    if (!ran)
        classify_hidden(out, NO_ANSWER);
out:
    return status;
}
