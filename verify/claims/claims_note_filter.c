/* claims_note_filter.c - the note "Taylor error of linear attention": its score filter (1.4.3) and what it says of the
 * space of scores (1.5).
 */
#include "verify/claims/claims_case.h"

#include <math.h>

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
            ATTEST_TRY(attest_evidence_filter(&kept, &range, &dropped, x.truth, taus[t], (attest_row){ 0, 0, i }, err));
            ATTEST_TRY(attest_evidence_weights(weight, NULL, 32, &keys, y.truth, (attest_row){ 0, 0, i }, err));
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

enum { FAR_KEYS = 1024 };

/* One key at the maximum, FAR_KEYS - 1 at the threshold 1: what the filter drops. */
static attest_status dropped_mass(attest_claim_finding *finding, attest_error *err)
{
    attest_status status = ATTEST_OK;
    static const double one[1] = { 1 };
    claim_case x = { 0 };
    attest_span range, dropped;
    int64_t kept;
    double scores[FAR_KEYS] = { 0 };
    for (int j = 1; j < FAR_KEYS; j++)
        scores[j] = -1;
    ATTEST_TRY(claim_case_parse(&x, err, "variant=softmax n=1 m=%d d=1 e=1 scale=1", FAR_KEYS));
    ATTEST_TRY(claim_case_put(&x, ATTEST_Q, one, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_K, scores, err));
    ATTEST_TRY(claim_case_ready(&x, err));
    ATTEST_TRY(attest_evidence_filter(&kept, &range, &dropped, x.truth, 1, (attest_row){ 0, 0, 0 }, err));
    attest_note_span(finding, "mass dropped, 1023 keys at the threshold 1", dropped);
    ATTEST_TRY(attest_note_value(finding, NULL, "(N-1)e^-tau/(1+(N-1)e^-tau)", err, "1023*exp(-1)/(1+1023*exp(-1))"));
out:
    claim_case_close(&x);
    return status;
}

/* Error of 1+x at the furthest of the kept keys and of all keys (it grows with the distance): upper end, lower end. */
static attest_status furthest_errors(double *kept, double *all, const attest_span *score, int64_t keys, double tau,
                                     attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span most = score[0], error;
    double near = 0, far = 0; /* x, as low and as high as it may be */
    for (int64_t j = 0; j < keys; j++)
        most = score[j].lo > most.lo ? score[j] : most;
    for (int64_t j = 0; j < keys; j++) {
        far = fmin(far, score[j].hi - most.lo);
        if (score[j].hi > most.lo - tau)
            near = fmin(near, score[j].lo - most.hi);
    }
    ATTEST_TRY(attest_evidence_value(&error, err, "exp(%.17g)-(1+(%.17g))", near, near));
    *kept = error.hi;
    ATTEST_TRY(attest_evidence_value(&error, err, "exp(%.17g)-(1+(%.17g))", far, far));
    *all = error.lo;
out:
    return status;
}

static attest_status subset_accuracy(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    enum { ROWS = 32 };
    const double tau = *(const double *)claim->data;
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    int64_t better = 0;
    double worst_kept = 0, worst = 0;
    ATTEST_TRY(claim_case_open(&x, err, "variant=softmax n=%d d=8", ROWS));
    for (int64_t i = 0; i < ROWS; i++) {
        attest_span score[ROWS];
        int64_t keys;
        double kept, all;
        ATTEST_TRY(attest_evidence_weights(NULL, score, ROWS, &keys, x.truth, (attest_row){ 0, 0, i }, err));
        ATTEST_TRY(furthest_errors(&kept, &all, score, keys, tau, err));
        better += kept < all;
        worst_kept = fmax(worst_kept, kept);
        worst = fmax(worst, all);
    }
    attest_note(finding, "rows", ROWS);
    attest_note(finding, "rows whose worst kept term is nearer to e^x", (double)better);
    attest_note(finding, "worst abs(1+x - e^x) of a kept key", worst_kept);
    attest_note(finding, "of all keys", worst);
    ATTEST_TRY(dropped_mass(finding, err));
    attest_conclude(finding, better == ROWS, 0);
out:
    claim_case_close(&x);
    return status;
}

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
        ATTEST_TRY(attest_evidence_filter(&now, &range, &dropped, x.truth, tau, (attest_row){ 0, 0, 0 }, err));
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
            ATTEST_TRY(attest_truth_weight_error(&lo, &hi, x.truth, y.truth, (attest_row){ 0, 0, i }, err));
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
    static const double flat[8] = { 0 };
    attest_status status = ATTEST_OK;
    attest_gate_facts sparse, uniform;
    ATTEST_TRY(attest_evidence_gate(&sparse, claim->data, 8, 1, err));
    ATTEST_TRY(attest_evidence_gate(&uniform, flat, 8, 1, err));
    attest_note_span(finding, "largest weight of the sparse row", sparse.largest);
    attest_note_span(finding, "its entropy", sparse.entropy);
    attest_note_span(finding, "entropy of the uniform row", uniform.entropy);
    attest_conclude(finding, sparse.entropy.lo > uniform.entropy.hi / 2, 0);
out:
    return status;
}
static const double peaked[8] = { 20, 0, 0, 0, 0, 0, 0, 0 };

static const attest_statement claims[] = {
    { "Keeping keys with s > max - tau bounds the range by tau.", "section 1.4.3",
      "kept keys of 96 drawn rows, and which keys the preset filtered:TAU weighs", ATTEST_CLAIM_HOLDS, NULL,
      filter_bound, NULL },
    { "With the range so bounded (tau=1, say) the error of every kept term is guaranteed to be small.",
      "sections 1.4.3 and 1.5", "relative weight error at the filter's edge, x=-0.99 and -0.0999; `small`: 10%",
      ATTEST_CLAIM_HOLDS_IF, "tau is small, as 0.1", filter_edge, &edge_of_one },
    { "The filter 'trades the completeness of considering all keys for a more accurate approximation over a subset of "
      "important keys'.",
      "section 1.4.3, last paragraph",
      "32 drawn rows at tau=1, enclosed: the worst abs(1+x - e^x) of the kept keys against that of all; how much "
      "completeness is traded is reported (a row that loses 0.997 of its softmax mass), accuracy of the output is a "
      "row of its own",
      ATTEST_CLAIM_HOLDS, NULL, subset_accuracy, &unit_threshold },
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
      sparse_entropy, peaked },
};
const attest_claim_source attest_claims_note_filter = { "note-taylor-error-of-linear-attention.txt", claims,
                                                        sizeof claims / sizeof claims[0] };
