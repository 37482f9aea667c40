/* claims_note_filter.c - the note "Taylor error of linear attention": its score filter (1.4.3) and what it says of the
 * space of scores (1.5).
 */
#include "verify/claims/claims_case.h"

#include <math.h>
#include <stdlib.h>

/* ---- the filter -------------------------------------------------------------------------------------------------- */
static attest_status filter_bound(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const double taus[] = { 0.25, 1, 2 };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    int64_t rows = 0, above = 0, unlike = 0;
    double share = 0;
    (void)claim;
    for (int t = 0; t < 3; t++) {
        ATTEST_TRY(claim_case_open(&x, err, "variant=softmax n=32 d=8"));
        ATTEST_TRY(claim_case_open(&y, err, "variant=filtered:%g n=32 d=8", taus[t]));
        for (int64_t i = 0; i < 32; i++, rows++) {
            attest_span range, dropped, weight[32];
            int64_t kept, keys, nonzero = 0;
            ATTEST_TRY(attest_evidence_filter(&kept, &range, &dropped, x.truth, taus[t], 0, 0, i, err));
            ATTEST_TRY(attest_evidence_weights(weight, NULL, 32, &keys, y.truth, 0, 0, i, err));
            for (int64_t j = 0; j < keys; j++)
                nonzero += weight[j].lo != 0 || weight[j].hi != 0;
            above += !(range.hi < taus[t]);
            unlike += nonzero != kept;
            share = fmax(share, range.hi / taus[t]);
        }
        claim_case_close(&x);
        claim_case_close(&y);
    }
    attest_note(finding, "rows", (double)rows);
    attest_note(finding, "range' >= tau", (double)above);
    attest_note(finding, "rows where the preset keeps other keys", (double)unlike);
    attest_note(finding, "largest range'/tau", share);
    attest_conclude(finding, above == 0 && unlike == 0, 0);
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}

static attest_status filter_edge(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span edge, small;
    const double at = *(const double *)claim->data; /* the furthest score that is kept */
    ATTEST_TRY(attest_note_value(finding, &edge, "relative error of the furthest kept score", err,
                                 "abs((1+(%g))/exp(%g)-1)", at, at));
    ATTEST_TRY(
        attest_note_value(finding, NULL, "absolute, over the maximum's weight", err, "exp(%g)-(1+(%g))", at, at));
    ATTEST_TRY(attest_note_value(finding, &small, "relative error kept at tau=0.1, x=-0.0999", err,
                                 "abs((1-0.0999)/exp(-0.0999)-1)"));
    attest_conclude(finding, edge.hi < 0.1, small.hi < 0.1);
out:
    return status;
}

static const double edge_of_one = -0.99;

typedef struct drop_case {
    int keys;
    double tau;
} drop_case;

/* One key at the maximum, N-1 at the threshold: what the filter drops. */
static attest_status dropped_mass(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const drop_case *d = claim->data;
    claim_case x = { 0 };
    attest_span range, dropped, formula;
    int64_t kept;
    double *scores = calloc((size_t)d->keys, sizeof *scores), *values = calloc((size_t)d->keys, sizeof *values);
    const double one[1] = { 1 };
    if (!scores || !values)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "%d scores", d->keys));
    for (int j = 1; j < d->keys; j++)
        scores[j] = -d->tau, values[j] = 1;
    ATTEST_TRY(claim_case_parse(&x, err, "variant=softmax n=1 m=%d d=1 e=1 scale=1", d->keys));
    ATTEST_TRY(claim_case_put(&x, ATTEST_Q, one, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_K, scores, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_V, values, err));
    ATTEST_TRY(claim_case_ready(&x, err));
    ATTEST_TRY(attest_evidence_filter(&kept, &range, &dropped, x.truth, d->tau, 0, 0, 0, err));
    ATTEST_TRY(
        attest_evidence_value(&formula, err, "%d*exp(-%g)/(1+%d*exp(-%g))", d->keys - 1, d->tau, d->keys - 1, d->tau));
    attest_note(finding, "keys", d->keys);
    attest_note(finding, "kept", (double)kept);
    attest_note_span(finding, "softmax mass dropped", dropped);
    attest_note_span(finding, "(N-1)e^-tau/(1+(N-1)e^-tau)", formula);
    attest_conclude(finding, dropped.hi < 0.5, 0);
out:
    free(scores);
    free(values);
    claim_case_close(&x);
    return status;
}
static const drop_case thousand_keys = { 1024, 1 };

/* Keys kept of six scores; then each score alone raised above the others: the filter needs it if that changes them. */
static attest_status filter_cost(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    enum { KEYS = 6 };
    static const double scores[KEYS] = { 0, -0.5, -0.25, -3, -4, -5 };
    const double tau = *(const double *)claim->data;
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    attest_span range, dropped;
    int64_t kept = 0, needed = 0;
    for (int raised = -1; raised < KEYS; raised++) {
        double moved[KEYS];
        int64_t now;
        for (int j = 0; j < KEYS; j++)
            moved[j] = scores[j] + (j == raised ? 16 : 0);
        ATTEST_TRY(claim_case_scores(&x, moved, KEYS, 0, err, "softmax"));
        ATTEST_TRY(attest_evidence_filter(&now, &range, &dropped, x.truth, tau, 0, 0, 0, err));
        claim_case_close(&x);
        if (raised < 0)
            kept = now;
        else
            needed += now != kept;
    }
    attest_note(finding, "scores", KEYS);
    attest_note(finding, "tau", tau);
    attest_note(finding, "keys kept, whose values are weighed", (double)kept);
    attest_note(finding, "scores that alone change them", (double)needed);
    attest_conclude(finding, kept < KEYS && needed == KEYS, 0);
out:
    claim_case_close(&x);
    return status;
}
static const double unit_threshold = 1;

/* ---- the space of scores ----------------------------------------------------------------------------------------- */
/* shifted:1 with the scores' variance 1/64 and 1/4096 of the usual. */
static attest_status small_variance(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const double scales[] = { 0.25, 0.03125, 0.00390625 };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    double before = INFINITY;
    int falls = 1;
    (void)claim;
    for (int s = 0; s < 3; s++) {
        double worst = 0;
        char name[56];
        ATTEST_TRY(claim_case_open(&x, err, "variant=shifted:1 n=16 d=16 scale=%.17g", scales[s]));
        ATTEST_TRY(claim_case_open(&y, err, "variant=softmax n=16 d=16 scale=%.17g", scales[s]));
        for (int64_t i = 0; i < 16; i++) {
            double lo, hi;
            ATTEST_TRY(attest_truth_weight_error(&lo, &hi, x.truth, y.truth, 0, 0, i, err));
            worst = fmax(worst, hi);
        }
        claim_case_close(&x);
        claim_case_close(&y);
        snprintf(name, sizeof name, "worst weight error, Var near %.2g", 16 * scales[s] * scales[s]);
        attest_note(finding, name, worst);
        falls = falls && worst < before;
        before = worst;
    }
    attest_conclude(finding, falls && before < 0.01, 0);
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}

/* ---- entropy ----------------------------------------------------------------------------------------------------- */
/* N x N matrices over a format of `values` numbers, counted by an odometer. */
static int64_t count_matrices(int values, int n)
{
    int digit[16] = { 0 };
    int64_t count = 1;
    for (;;) {
        int at = 0;
        while (at < n * n && ++digit[at] == values)
            digit[at++] = 0;
        if (at == n * n)
            return count;
        count++;
    }
}

static attest_status score_space(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    attest_span power, bits;
    const int64_t counted = count_matrices(3, 3);
    (void)claim;
    ATTEST_TRY(attest_evidence_value(&power, err, "3^(3^2)"));
    attest_note(finding, "3 x 3 matrices over 3 values, counted", (double)counted);
    attest_note_span(finding, "3^(3^2)", power);
    ATTEST_TRY(
        attest_note_value(finding, &bits, "log2 of it for finite f32, N=1024", err, "1024^2*log(2^32-2^25)/log(2)"));
    attest_conclude(finding, power.lo <= (double)counted && (double)counted <= power.hi && bits.lo > 3e7, 0);
out:
    return status;
}

static attest_status sparse_entropy(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const double peaked[8] = { 20, 0, 0, 0, 0, 0, 0, 0 }, flat[8] = { 0 };
    attest_status status = ATTEST_OK;
    attest_gate_facts sparse, uniform;
    (void)claim;
    ATTEST_TRY(attest_evidence_gate(&sparse, peaked, 8, 1, err));
    ATTEST_TRY(attest_evidence_gate(&uniform, flat, 8, 1, err));
    attest_note_span(finding, "largest weight of the sparse row", sparse.largest);
    attest_note_span(finding, "its entropy", sparse.entropy);
    attest_note_span(finding, "entropy of the uniform row", uniform.entropy);
    attest_conclude(finding, sparse.entropy.lo > uniform.entropy.hi / 2, 0);
out:
    return status;
}

static const attest_statement claims[] = {
    { "Keeping keys with s > max - tau bounds the range by tau.", "section 1.4.3",
      "kept keys of 96 drawn rows, and which keys the preset filtered:TAU weighs", ATTEST_CLAIM_HOLDS, NULL,
      filter_bound, NULL },
    { "With the range so bounded (tau=1, say) the error of every kept term is guaranteed to be small.",
      "sections 1.4.3 and 1.5", "relative weight error at the filter's edge, x=-0.99 and -0.0999; `small`: 10%",
      ATTEST_CLAIM_HOLDS_IF, "tau is small, as 0.1", filter_edge, &edge_of_one },
    { "The filter keeps the important keys: what it drops weighs little.", "section 1.4.3",
      "softmax mass of dropped keys, one at the maximum and 1023 at max - tau; `little`: below a half",
      ATTEST_CLAIM_FALSE, NULL, dropped_mass, &thousand_keys },
    { "Filtering saves some work but still computes every score.", "section 1.4.3 and TL;DR",
      "keys kept of six scores at tau=1, and how many of the scores, raised alone, change which are kept",
      ATTEST_CLAIM_HOLDS, NULL, filter_cost, &unit_threshold },
    { "Scores of variance far below 1 make the approximation more accurate.", "section 1.5",
      "worst weight error of shifted:1 over 16 rows falls over three scales, to below 1%", ATTEST_CLAIM_HOLDS, NULL,
      small_variance, NULL },
    { "The space of score matrices has (number of f32 values)^(N^2) elements.", "section 1.5",
      "counted for 3 values and N=3; the size in "
      "bits for f32",
      ATTEST_CLAIM_HOLDS, NULL, score_space, NULL },
    { "Sparse distributions are of high entropy.", "section 1.5, last paragraph",
      "entropy of a row of which one key takes all but e^-20, against half the uniform row's", ATTEST_CLAIM_FALSE, NULL,
      sparse_entropy, NULL },
};
const attest_claim_source attest_claims_note_filter = { "note-taylor-error-of-linear-attention.txt", claims,
                                                        sizeof claims / sizeof claims[0] };
