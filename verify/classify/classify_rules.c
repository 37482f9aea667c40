/* classify_rules.c - conventions: subnormals, lse, empty and masked rows, masks, states' layout, repeated bits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

/* ---- flush to zero ------------------------------------------------------------------------------------------- */

/* q, k, v whose product of all is a normal number, but in some order of multiplying passes below the normal range; the
 * last one ends there.  In powers of two, for f32. */
static const int products[][3] = {
    { -65, -65, 100 }, { 100, -65, -65 }, { -65, 100, -65 }, { 0, -130, 100 }, { 0, -65, -65 }
};
enum { PRODUCTS = sizeof products / sizeof products[0] };

attest_status classify_ftz(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int wide = k->types.acc == ATTEST_F64, exponential = k->path->exponential;
    int flushed = 0;
    probe_run s = { .kernel = k };
    if (k->path->mean && !exponential) {
        classify_hidden(out, "no product stands alone in an output");
        return ATTEST_OK;
    }
    if (k->shallow || k->types.in == ATTEST_F16 || k->types.p == ATTEST_F16) {
        classify_hidden(out, "f16 holds no subnormal weight, or no value to lift it");
        return ATTEST_OK;
    }
    if (k->absorbs) {
        classify_hidden(out, ABSORBED);
        return ATTEST_OK;
    }
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1", k->path->axes, PRODUCTS, exponential ? 2 : 1));
    if (!s.bundle)
        goto out;
    classify_ask_scores(&s);
    for (int64_t b = 0; b < PRODUCTS; b++) {
        const double power = wide ? 8 : 1; /* 2^-520 and the like */
        if (exponential) {
            classify_score(&s, b, 1, (wide ? -740 : -90) + (double)b / 4);
            classify_put(&s, ATTEST_V, b, 0, 1, 0, wide ? 0x1p1000 : 0x1p100);
            continue;
        }
        for (int64_t i = 0; i < s.problem.n; i++)
            classify_put(&s, ATTEST_Q, b, 0, i, 0, exp2(power * products[b][0]));
        classify_put(&s, ATTEST_K, b, 0, s.problem.m - 1, 0,
                     exp2(wide && products[b][1] == -130 ? -1060 : power * products[b][1]));
        classify_put(&s, ATTEST_V, b, 0, s.problem.m - 1, 0, exp2(power * products[b][2]));
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b < PRODUCTS && s.ran; b++)
        flushed |= classify_get(&s, ATTEST_O, b, 0, s.last, 0) == 0;
    if (s.ran)
        classify_seen(out, flushed ? ATTEST_YES : ATTEST_NO);
    else
        classify_hidden(out, "the kernel did not answer");
out:
    classify_close(&s);
    return status;
}

/* ---- lse ----------------------------------------------------------------------------------------------------- */

/* lse of 8 keys of weight e^1 (or 1), a sink of logit 0 beside them if asked. */
static attest_status lse_of_eight(double *lse, probed_kernel *k, const char *axes, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s;
    *lse = NAN;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=1 m=8 e=1", axes));
    if (s.bundle && attest_bundle_role(s.bundle, ATTEST_LSE)) {
        classify_ask_scores(&s);
        for (int64_t j = 0; j < 8; j++)
            classify_score(&s, 0, j, 1);
        ATTEST_TRY(classify_run(&s, err));
        *lse = s.ran ? classify_get(&s, ATTEST_LSE, 0, 0, s.last, 0) : NAN;
    }
out:
    classify_close(&s);
    return status;
}

/* The variant of the kernel's path that has an lse: of polynomial weights with a denominator. */
static const char *with_lse(const probed_kernel *k)
{
    return k->path->exponential ? k->path->axes : "variant=softmax weight=power:1";
}

/* A score of 1 may be rounded to bf16 more than once. */
attest_status classify_lse_base(inference *out, probed_kernel *k, attest_error *err)
{
    const double natural = (k->path->exponential ? 1 : 0) + log(8);
    double lse = NAN;
    attest_status status = ATTEST_OK;
    if (k->outputs & ATTEST_GIVES_LSE)
        status = lse_of_eight(&lse, k, with_lse(k), err);
    if (!(lse == lse))
        classify_hidden(out, "the kernel gives no lse");
    else if (fabs(lse - natural) < 0x1p-7)
        classify_seen(out, ATTEST_NO);
    else if ((k->base2 = fabs(lse - natural / log(2)) < 0x1p-7))
        classify_seen(out, ATTEST_YES);
    else
        classify_other(out, "lse of a sum of %s is %.4g: of neither base", k->path->exponential ? "8 e" : "8", lse);
    return status;
}

attest_status classify_lse_sink(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double lse = NAN, alone = NAN;
    if (k->outputs & ATTEST_GIVES_LSE) {
        ATTEST_TRY(
            lse_of_eight(&lse, k, k->path->exponential ? "variant=softmax1" : "variant=softmax1 weight=power:1", err));
        ATTEST_TRY(lse_of_eight(&alone, k, with_lse(k), err));
    }
    if (!(lse == lse) || !(alone == alone))
        classify_hidden(out, "no lse beside a sink is served");
    else
        classify_seen(out, lse > alone + 0x1p-8 ? ATTEST_YES : ATTEST_NO);
out:
    return status;
}

/* ---- empty rows ---------------------------------------------------------------------------------------------- */

/* What hides every key of query 0: the corner of mask=causal-br where n > m, a batch entry of length 0, a tensor that
 * hides all.  The first that the path may have (updates know no lens, decays no attn_mask) and the kernel serves;
 * inputs are 0 where nobody puts a number. */
attest_status classify_open_empty(probe_run *s, probed_kernel *k, int n, int m, int e, attest_error *err)
{
    static const char *const hides[] = { "mask=causal-br", "lens=draw", "attn_mask=shared" };
    attest_status status = ATTEST_OK;
    char line[ATTEST_LINE];
    attest_error contradicts;
    attest_case c;
    *s = (probe_run){ .kernel = k };
    for (size_t h = 0; h < sizeof hides / sizeof hides[0]; h++) {
        snprintf(line, sizeof line, "%s %s %s n=%d m=%d d=1 e=%d scale=1", k->path->axes, h > 0 ? k->mask : "",
                 hides[h], n, m, e);
        if (attest_case_parse(&c, line, NULL, NULL, &contradicts) != ATTEST_OK)
            continue;
        ATTEST_TRY(classify_open_line(s, k, err, "%s", line));
        if (s->bundle)
            break;
        classify_close(s);
    }
out:
    return status;
}

attest_status classify_empty_row(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s;
    ATTEST_TRY(classify_open_empty(&s, k, 5, 2, 1, err));
    classify_fill(&s, ATTEST_Q, 1);
    classify_fill(&s, ATTEST_K, k->path->key);
    classify_fill(&s, ATTEST_V, k->path->value);
    ATTEST_TRY(classify_run(&s, err));
    const double o = s.ran ? classify_get(&s, ATTEST_O, 0, 0, 0, 0) : 1;
    if (!s.bundle)
        classify_hidden(out, CLASSIFY_NO_EMPTY);
    else if (o == 0 || !(o == o))
        classify_seen(out, o == 0 ? ATTEST_EMPTY_ZERO : ATTEST_EMPTY_NAN);
    else if (fabs(o - k->path->value) <= 0x1p-6 * fabs(k->path->value)) /* all values are this one */
        classify_seen(out, ATTEST_EMPTY_MEAN);
    else
        classify_other(out, "a row without a key is %.4g", o);
out:
    classify_close(&s);
    return status;
}

/* ---- masks --------------------------------------------------------------------------------------------------- */

/* Key j has its own channel: o_ij is not 0 exactly where query i sees key j.  *offset: how far beyond i row i sees,
 * for all rows the same; INT64_MAX: no diagonal.  Rows that see no key are not asked: they may hold the mean of v,
 * which is the trait empty_row. */
static attest_status diagonal(int64_t *offset, int *served, probed_kernel *k, const char *mask, int64_t n, int64_t m,
                              attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s;
    ATTEST_TRY(classify_open_line(&s, k, err, "%s %s n=%lld m=%lld d=1 e=%lld scale=1", k->path->axes, mask,
                                  (long long)n, (long long)m, (long long)m));
    *served = s.bundle != NULL;
    classify_fill(&s, ATTEST_Q, 1);
    for (int64_t j = 0; j < m && s.bundle; j++) {
        classify_put(&s, ATTEST_K, 0, 0, j, 0, k->path->key);
        classify_put(&s, ATTEST_V, 0, 0, j, j, k->path->value);
    }
    ATTEST_TRY(classify_run(&s, err));
    *offset = INT64_MAX;
    for (int64_t x = 1 - n; x <= m && s.ran && *offset == INT64_MAX; x++) {
        int fits = 1;
        for (int64_t i = x < 0 ? -x : 0; i < n; i++)
            for (int64_t j = 0; j < m; j++) {
                const double o = classify_get(&s, ATTEST_O, 0, 0, i, j);
                fits = fits && ((o != 0 && o == o) == (j <= i + x));
            }
        *offset = fits ? x : *offset;
    }
out:
    classify_close(&s);
    return status;
}

/* Both shapes: fewer queries than keys, and more.  The value is 1 top-left, 2 bottom-right. */
static attest_status alignment(inference *out, probed_kernel *k, const char *mask, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t wide = 0, tall = 0;
    int served = 0;
    ATTEST_TRY(diagonal(&wide, &served, k, mask, 3, 7, err));
    if (served)
        ATTEST_TRY(diagonal(&tall, &served, k, mask, 7, 3, err));
    if (!served)
        classify_hidden(out, "%s is not served", mask);
    else if (wide == 0 && tall == 0)
        classify_seen(out, 1);
    else if (wide == 4 && tall == -4)
        classify_seen(out, 2);
    else
        classify_other(out, "what queries see is neither top-left nor bottom-right");
out:
    return status;
}

attest_status classify_causal(inference *out, probed_kernel *k, attest_error *err)
{
    return alignment(out, k, "mask=causal", err);
}

attest_status classify_causal_br(inference *out, probed_kernel *k, attest_error *err)
{
    return alignment(out, k, "mask=causal-br", err);
}

/* Key 3 and value 3 are NaN: does query 0, which does not see them, become one? */
attest_status classify_masked_finite(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double o[2] = { 0, 0 };
    int ran = 0;
    for (int n = 0; n < 2; n++) {
        probe_run s;
        ATTEST_TRY(classify_open_line(&s, k, err, "%s mask=causal n=4 m=4 d=1 e=1 scale=1", k->path->axes));
        classify_fill(&s, ATTEST_Q, 1);
        classify_fill(&s, ATTEST_K, k->path->key);
        classify_fill(&s, ATTEST_V, k->path->value);
        if (s.bundle)
            classify_put(&s, n ? ATTEST_K : ATTEST_V, 0, 0, 3, 0, NAN);
        status = classify_run(&s, err);
        o[n] = s.ran ? classify_get(&s, ATTEST_O, 0, 0, 0, 0) : 0;
        ran = s.ran;
        classify_close(&s);
    }
    if (ran)
        classify_seen(out, o[0] == o[0] && o[1] == o[1] ? ATTEST_NO : ATTEST_YES);
    else
        classify_hidden(out, "mask=causal is not served");
out:
    return status;
}

/* ---- states' layout ------------------------------------------------------------------------------------------ */

/* With d = 2 a state of degree 2 has 4 rows, each 2 for two ones, packed 3: in a tensor of 4 the last stays as it was
 * before the run, a NaN or a number below 2. */
attest_status classify_packed(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "variant=quadratic b=1 m=2 d=2 e=1"));
    const attest_tensor *t = s.bundle ? attest_bundle_get(s.bundle, (attest_tensor_id){ ATTEST_KIND_HT, 2 }) : NULL;
    if (!t) {
        classify_hidden(out, "no state of degree 2, the least that packing changes, is given");
        goto out;
    }
    classify_fill(&s, ATTEST_Q, 1);
    classify_fill(&s, ATTEST_K, 1);
    classify_fill(&s, ATTEST_V, 1);
    ATTEST_TRY(classify_run(&s, err));
    const double third = s.ran ? attest_load(t, 2 * t->stride[2]) : NAN;
    const double last = s.ran ? attest_load(t, 3 * t->stride[2]) : NAN;
    if (third != 2)
        classify_other(out, "the third row of a state of two ones is %.4g", third);
    else
        classify_seen(out, last == third ? ATTEST_NO : ATTEST_YES);
out:
    classify_close(&s);
    return status;
}

/* ---- bits ---------------------------------------------------------------------------------------------------- */

enum { BATCH = 5 };

/* o of batch entry 0 for inputs of no pattern; `batch` entries. */
static attest_status bits_of(double *o, int64_t count, int *ran, probed_kernel *k, int batch, attest_error *err)
{
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    attest_status status = ATTEST_OK;
    probe_run s;
    ATTEST_TRY(classify_open_line(&s, k, err, "%s %s b=%d n=9 m=%d d=5 e=7 splits=4", k->path->axes, k->mask, batch,
                                  strcmp(k->mask, "mask=causal") == 0 ? 9 : 130));
    for (int r = 0; r < 3 && s.bundle; r++) {
        const attest_tensor *t = attest_bundle_role(s.bundle, roles[r]);
        for (int64_t at = 0; at < attest_tensor_count(t); at++)
            attest_store_bits(t, at, attest_from_f64(t->dtype, 3 * classify_even(at + 7919 * r) - 1.5));
    }
    ATTEST_TRY(classify_run(&s, err));
    *ran = s.ran;
    for (int64_t n = 0; n < count && s.ran; n++)
        o[n] = classify_get(&s, ATTEST_O, 0, 0, n / 7, n % 7);
out:
    classify_close(&s);
    return status;
}

static attest_status compare_bits(inference *out, probed_kernel *k, int first, int second, int times, attest_error *err)
{
    enum { NUMBERS = 63 };
    attest_status status = ATTEST_OK;
    double x[NUMBERS], y[NUMBERS];
    int ran = 0, equal = 1;
    ATTEST_TRY(bits_of(x, NUMBERS, &ran, k, first, err));
    for (int n = 0; n < times && ran; n++) {
        ATTEST_TRY(bits_of(y, NUMBERS, &ran, k, second, err));
        equal = equal && ran && memcmp(x, y, sizeof x) == 0;
    }
    if (ran)
        classify_seen(out, equal ? ATTEST_YES : ATTEST_NO);
    else
        classify_hidden(out, "the kernel did not answer");
out:
    return status;
}

attest_status classify_deterministic(inference *out, probed_kernel *k, attest_error *err)
{
    const attest_status status = compare_bits(out, k, BATCH, BATCH, 4, err);
    if (k->unsteady)
        classify_seen(out, ATTEST_NO);
    return status;
}

attest_status classify_batch(inference *out, probed_kernel *k, attest_error *err)
{
    return compare_bits(out, k, BATCH, 1, 1, err);
}
