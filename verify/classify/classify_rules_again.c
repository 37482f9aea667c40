/* classify_rules_again.c - a second look at the conventions of classify_rules.c: other shapes and numbers, and
 * dependence instead of contribution.
 */
#include <math.h>

#include "kernels/attest_float.h"
#include "verify/classify/classify_private.h"

/* ---- flush to zero: a subnormal value that is only passed on; small weights, one after the other --------------- */

attest_status classify_ftz_again(inference *out, probed_kernel *k, attest_error *err)
{
    enum { WEIGHTS = 12 };
    attest_status status = ATTEST_OK;
    const int wide = k->types.acc == ATTEST_F64, exponential = k->path->exponential;
    int flushed = 0;
    probe_run s = { .kernel = k };
    if (k->types.in == ATTEST_F16 || k->types.p == ATTEST_F16 || k->types.out == ATTEST_F16) {
        classify_hidden(out, "f16 holds no subnormal number of acc");
        return ATTEST_OK;
    }
    ATTEST_TRY(classify_open(&s, k, err, "%s b=%d m=%d e=1", k->path->axes, 1 + WEIGHTS, 1 + exponential));
    classify_ask_scores(&s);
    for (int64_t b = 0; b <= WEIGHTS; b++) {
        classify_score(&s, b, 0, exponential && b > 0 ? (wide ? -709 : -87.5) - (double)b : k->path->key);
        if (exponential)
            classify_score(&s, b, 1, b > 0 ? 0 : -1e4);
        classify_put(&s, ATTEST_V, b, 0, 0, 0, b > 0 ? (wide ? 0x1p900 : 0x1p90) : wide ? 0x1p-1030 : 0x1p-130);
    }
    ATTEST_TRY(classify_run(&s, err));
    for (int64_t b = 0; b <= (exponential ? WEIGHTS : 0) && s.ran; b++)
        flushed |= classify_get(&s, ATTEST_O, b, 0, s.last, 0) == 0;
    classify_seen(out, flushed ? ATTEST_YES : ATTEST_NO);
    if (!s.ran)
        classify_hidden(out, NO_ANSWER);
out:
    classify_close(&s);
    return status;
}

/* ---- lse: of one large weight, and of many small ones, by themselves ------------------------------------------- */

/* lse of `count` keys of score `score`; a sink of logit 2 if the axes have one.  NAN: none. */
static attest_status lse_of(double *lse, probed_kernel *k, const char *axes, int count, double score, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s;
    *lse = NAN;
    ATTEST_TRY(classify_open(&s, k, err, "%s b=1 m=%d e=1", axes, count));
    if (s.bundle && attest_bundle_role(s.bundle, ATTEST_LSE)) {
        classify_ask_scores(&s);
        classify_fill(&s, ATTEST_SINK, 2);
        for (int64_t j = 0; j < count; j++)
            classify_score(&s, 0, j, score);
        ATTEST_TRY(classify_run(&s, err));
        *lse = s.ran ? classify_get(&s, ATTEST_LSE, 0, 0, s.last, 0) : NAN;
    }
out:
    classify_close(&s);
    return status;
}

attest_status classify_lse_base_again(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int exponential = k->path->exponential;
    const char *axes = exponential ? k->path->axes : "variant=softmax weight=power:1";
    double large = NAN, many = NAN;
    if (k->outputs & ATTEST_GIVES_LSE) {
        ATTEST_TRY(lse_of(&large, k, axes, 1, exponential ? 5 : 32, err));
        ATTEST_TRY(lse_of(&many, k, axes, 64, exponential ? 0 : 1, err));
    }
    large /= exponential ? 5 : log(32);
    many /= log(64);
    if (!(large == large && many == many))
        classify_hidden(out, "the kernel gives no lse");
    else if (fabs(large - 1) < 0x1p-8 && fabs(many - 1) < 0x1p-8)
        classify_seen(out, ATTEST_NO);
    else if (fabs(large * log(2) - 1) < 0x1p-8 && fabs(many * log(2) - 1) < 0x1p-8)
        classify_seen(out, ATTEST_YES);
    else
        classify_other(out, "lse of one weight is %.3g times, of 64 equal ones %.3g times the natural one", large,
                       many);
out:
    return status;
}

attest_status classify_lse_sink_again(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int exponential = k->path->exponential;
    double with = NAN, without = NAN;
    if (k->outputs & ATTEST_GIVES_LSE) {
        ATTEST_TRY(lse_of(&with, k, exponential ? "variant=softmax1" : "variant=softmax1 weight=power:1", 3,
                          exponential ? -1 : 1, err));
        ATTEST_TRY(lse_of(&without, k, exponential ? k->path->axes : "variant=softmax weight=power:1", 3,
                          exponential ? -1 : 1, err));
    }
    if (with == with && without == without)
        classify_seen(out, with > without + 0.5 ? ATTEST_YES : ATTEST_NO);
    else
        classify_hidden(out, "no lse beside a sink is served");
out:
    return status;
}

/* ---- rows without a key, tokens behind the mask ---------------------------------------------------------------- */

/* Values 1, 2, 3 times the path's; the third row without a key. */
attest_status classify_empty_row_again(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double unit = k->path->value;
    probe_run s;
    ATTEST_TRY(classify_open_empty(&s, k, 7, 3, 2, err));
    classify_fill(&s, ATTEST_Q, 1);
    classify_fill(&s, ATTEST_K, k->path->key);
    for (int j = 0; j < 3 && s.bundle; j++)
        for (int c = 0; c < 2; c++)
            classify_put(&s, ATTEST_V, 0, 0, j, c, (j + 1) * unit);
    ATTEST_TRY(classify_run(&s, err));
    const double o = s.ran ? classify_get(&s, ATTEST_O, 0, 0, 2, 1) : 1;
    if (!s.ran)
        classify_hidden(out, CLASSIFY_NO_EMPTY);
    else if (o == 0 || !(o == o))
        classify_seen(out, o == 0 ? ATTEST_EMPTY_ZERO : ATTEST_EMPTY_NAN);
    else if (fabs(o / unit - 2) <= 0x1p-5)
        classify_seen(out, ATTEST_EMPTY_MEAN);
    else
        classify_other(out, "a row without a key is %.4g", o);
out:
    classify_close(&s);
    return status;
}

/* An infinite key, then an infinite value, after the third of six queries. */
attest_status classify_masked_finite_again(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int spoiled = 0, ran = 0;
    for (int n = 0; n < 2; n++) {
        probe_run s;
        ATTEST_TRY(classify_open_line(&s, k, err, "%s mask=causal n=6 m=6 d=1 e=1 scale=1", k->path->axes));
        classify_fill(&s, ATTEST_Q, 1);
        classify_fill(&s, ATTEST_K, k->path->key);
        classify_fill(&s, ATTEST_V, k->path->value);
        if (s.bundle)
            classify_put(&s, n ? ATTEST_K : ATTEST_V, 0, 0, 4, 0, INFINITY);
        status = classify_run(&s, err);
        ran = s.ran;
        for (int i = 0; i < 3 && ran; i++)
            spoiled |= !(fabs(classify_get(&s, ATTEST_O, 0, 0, i, 0)) < INFINITY);
        classify_close(&s);
        if (status != ATTEST_OK)
            break;
    }
    classify_seen(out, spoiled ? ATTEST_YES : ATTEST_NO);
    if (!ran)
        classify_hidden(out, "mask=causal is not served");
out:
    return status;
}

/* ---- masks: which rows change when one key's value does -------------------------------------------------------- */

/* *offset: how far beyond i row i depends on values, for all rows the same; INT64_MAX: no diagonal. */
static attest_status dependence(int64_t *offset, int *ran, probed_kernel *k, const char *mask, int n, int m,
                                attest_error *err)
{
    enum { MOST = 8 };
    attest_status status = ATTEST_OK;
    double o[MOST + 1][MOST] = { { 0 } };
    probe_run s;
    *offset = INT64_MAX;
    ATTEST_TRY(classify_open_line(&s, k, err, "%s %s n=%d m=%d d=1 e=1 scale=1", k->path->axes, mask, n, m));
    classify_fill(&s, ATTEST_Q, 1);
    classify_fill(&s, ATTEST_K, k->path->key);
    for (int j = 0; j <= m && s.bundle; j++) {
        classify_fill(&s, ATTEST_V, k->path->value);
        if (j < m)
            classify_put(&s, ATTEST_V, 0, 0, j, 0, 3 * k->path->value);
        ATTEST_TRY(classify_run(&s, err));
        for (int i = 0; i < n && s.ran; i++)
            o[j][i] = classify_get(&s, ATTEST_O, 0, 0, i, 0);
    }
    *ran = s.ran;
    for (int x = -n; x <= m && s.ran && *offset == INT64_MAX; x++) {
        int fits = 1;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                const int same = o[j][i] == o[m][i] || !(o[m][i] == o[m][i]);
                fits = fits && same == (j > i + x);
            }
        *offset = fits ? x : *offset;
    }
out:
    classify_close(&s);
    return status;
}

static attest_status alignment(inference *out, probed_kernel *k, const char *mask, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t wide = 0, tall = 0;
    int ran = 0;
    ATTEST_TRY(dependence(&wide, &ran, k, mask, 4, 6, err));
    if (ran)
        ATTEST_TRY(dependence(&tall, &ran, k, mask, 6, 4, err));
    if (!ran)
        classify_hidden(out, "%s is not served", mask);
    else if (wide == 0 && tall == 0)
        classify_seen(out, 1);
    else if (wide == 2 && tall == -2)
        classify_seen(out, 2);
    else
        classify_other(out, "what queries depend on is neither top-left nor bottom-right");
out:
    return status;
}

attest_status classify_causal_again(inference *out, probed_kernel *k, attest_error *err)
{
    return alignment(out, k, "mask=causal", err);
}

attest_status classify_causal_br_again(inference *out, probed_kernel *k, attest_error *err)
{
    return alignment(out, k, "mask=causal-br", err);
}

/* ---- states' layout: of one key (1, 2, 3) ---------------------------------------------------------------------- */

attest_status classify_packed_again(inference *out, probed_kernel *k, attest_error *err)
{
    attest_status status = ATTEST_OK;
    probe_run s;
    ATTEST_TRY(classify_open(&s, k, err, "variant=quadratic b=1 m=1 d=3 e=1"));
    const attest_tensor *t = s.bundle ? attest_bundle_get(s.bundle, (attest_tensor_id){ ATTEST_KIND_HT, 2 }) : NULL;
    for (int c = 0; c < 3 && t; c++)
        classify_put(&s, ATTEST_K, 0, 0, 0, c, c + 1);
    classify_fill(&s, ATTEST_Q, 1);
    classify_fill(&s, ATTEST_V, 1);
    ATTEST_TRY(classify_run(&s, err));
    const double fourth = t && s.ran ? attest_load(t, 3 * t->stride[2]) : NAN;
    if (fourth == 2 || fourth == 4) /* the products in rows: 2 1; 2 2 */
        classify_seen(out, fourth == 4 ? ATTEST_YES : ATTEST_NO);
    else if (t)
        classify_other(out, "the fourth row of a state of (1,2,3) is %.4g", fourth);
    else
        classify_hidden(out, "no state of degree 2, the least that packing changes, is given");
out:
    classify_close(&s);
    return status;
}
