/* claims_summary.c - the summary of "On the Expressiveness of Softmax Attention ...": what it adds to the paper. */
#include "verify/claims/claims_tables.h"

#include <math.h>

/* Rows of the state at n and n+1: their ratio for large n. */
static attest_status growth(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    attest_span full, packed, degree;
    (void)claim;
    ATTEST_TRY(attest_note_value(finding, &full, "4^41/4^40", err, "4^41/4^40"));
    ATTEST_TRY(attest_note_value(finding, &packed, "C(44,41)/C(43,40)", err, "binom(44,41)/binom(43,40)"));
    /* a polynomial of degree 3 in n: four times the order, 4^3 times the rows, in the limit */
    ATTEST_TRY(attest_note_value(finding, &degree, "C(40003,40000)/C(10003,10000)", err,
                                 "binom(40003,40000)/binom(10003,10000)"));
    attest_conclude(finding, full.hi < 2, packed.hi < 1.1 && degree.lo > 63 && degree.hi < 64.1);
out:
    return status;
}

/* L2 of the scores times V against L2 of e^scores times V. */
static attest_status norm_of_what(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span plain = { 1, 1 }, own = { 1, 1 }, cosine;
    const char *printed = claim->data; /* the line that the statement says */
    claim_case softmax = { 0 }, raw = { 0 }, exponential = { 0 };
    ATTEST_TRY(claim_case_open(&softmax, err, "variant=softmax n=12 d=4"));
    ATTEST_TRY(claim_case_open(&raw, err, "%s n=12 d=4", printed));
    ATTEST_TRY(claim_case_open(&exponential, err, "variant=l2norm n=12 d=4"));
    for (int64_t i = 0; i < 12; i++) {
        ATTEST_TRY(attest_evidence_cosine(&cosine, raw.truth, softmax.truth, (attest_row){ 0, 0, i }, err));
        plain = cosine.lo < plain.lo ? cosine : plain;
        ATTEST_TRY(attest_evidence_cosine(&cosine, exponential.truth, softmax.truth, (attest_row){ 0, 0, i }, err));
        own = cosine.lo < own.lo ? cosine : own;
    }
    attest_note_span(finding, "smallest cosine to softmax, as printed", plain);
    attest_note_span(finding, "L2(e^(QK^T) V)", own);
    if (!(own.lo > 1 - 0x1p-40))
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "the reading given as right leaves softmax's direction"));
    attest_conclude(finding, plain.lo > 1 - 0x1p-40, 0);
out:
    claim_case_close(&softmax);
    claim_case_close(&raw);
    claim_case_close(&exponential);
    return status;
}
static const char plain_scores[] = "variant=l2norm weight=power:1";

/* The read of the state of first Kronecker powers against linear attention. */
static const claim_rule first_order[] = {
    { "", "variant=linear n=6 d=3 mask=causal", "kronecker", 1, NULL, 30, CLAIM_WRITTEN },
    { .name = NULL },
};

/* Relative weight errors of orders 1..8 on the two scores 0 and `score`: does each lie surely below the one before? */
static attest_status errors_fall(attest_claim_finding *finding, int *falls, double score, attest_error *err)
{
    const double scores[2] = { 0, score };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    attest_span error, before = { INFINITY, INFINITY };
    *falls = 1;
    ATTEST_TRY(claim_case_scores(&y, scores, 2, 0, err, "softmax"));
    for (int order = 1; order <= 8; order++) {
        char name[56];
        ATTEST_TRY(claim_case_scores(&x, scores, 2, 0, err, "taylor:%d", order));
        ATTEST_TRY(attest_truth_weight_error(&error.lo, &error.hi, x.truth, y.truth, (attest_row){ 0, 0, 0 }, err));
        claim_case_close(&x);
        snprintf(name, sizeof name, "weight error, scores 0 and %g, order %d", score, order);
        attest_note_span(finding, name, error);
        *falls = *falls && error.hi < before.lo;
        before = error;
    }
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}

static attest_status further_orders(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const double *score = claim->data; /* far from 0, near 0 */
    attest_status status;
    int far, near;
    ATTEST_TRY(errors_fall(finding, &far, score[0], err));
    ATTEST_TRY(errors_fall(finding, &near, score[1], err));
    attest_conclude(finding, far && near, near);
out:
    return status;
}
static const double far_and_near[2] = { -4, -0.5 };

static const attest_statement claims[] = {
    { "The hidden states grow polynomially with the order of approximation.",
      "Mechanism 3 (which also says "
      "exponentially)",
      "ratios of successive state sizes, d=4: polynomial if near 1 (below 1.1) and four times the order gives 4^3 = 64 "
      "times the "
      "rows (63..64.1)",
      ATTEST_CLAIM_HOLDS_IF,
      "only distinct entries are kept, C(d+n-1,n); the d^n of the Kronecker power grow exponentially", growth, NULL },
    { "The normalised variant is L2_Norm(QK^T).", "First 3 experiments, 1",
      "cosine of that row and of L2(e^(QK^T) V) to "
      "softmax's (1 within 2^-40: right), enclosed",
      ATTEST_CLAIM_FALSE, NULL, norm_of_what, plain_scores },
    { "Linear attention is strictly the first-order term of the expansion.", "Key Results",
      "the n=1 Kronecker read "
      "against linear, exact rationals",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_rules, first_order },
    { "Each further order brings the weights nearer to softmax's.",
      "ours, to Mechanism 1, which says of more orders only that linear attention lacks them",
      "relative weight errors of orders 1 to 8 on the scores {0,-4} and {0,-1/2}, enclosed, each against the next",
      ATTEST_CLAIM_HOLDS_IF, "the scores are small against the order; at {0,-4} errors rise and fall", further_orders,
      far_and_near },
    { "The L2-normalised models perform as well as softmax.", "Quick Facts and Key Results", "needs training runs",
      ATTEST_CLAIM_NOT_CHECKABLE, NULL, NULL, NULL },
};
const attest_claim_source attest_claims_summary = { "summary-of-the-paper.txt", claims,
                                                    sizeof claims / sizeof claims[0] };
