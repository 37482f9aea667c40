/* claims_summary.c - the summary of "On the Expressiveness of Softmax Attention ...": what it adds to the paper. */
#include "verify/claims_tables.h"

#include <math.h>

/* Rows of the state at n and n+1: their ratio for large n. */
static attest_status growth(attest_finding *finding, const attest_statement *claim, attest_error *err)
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
static attest_status norm_of_what(attest_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span plain = { 1, 1 }, own = { 1, 1 }, cosine;
    claim_case softmax = { 0 }, raw = { 0 }, exponential = { 0 };
    (void)claim;
    ATTEST_TRY(claim_case_open(&softmax, err, "variant=softmax n=12 d=4"));
    ATTEST_TRY(claim_case_open(&raw, err, "variant=l2norm weight=power:1 n=12 d=4"));
    ATTEST_TRY(claim_case_open(&exponential, err, "variant=l2norm n=12 d=4"));
    for (int64_t i = 0; i < 12; i++) {
        ATTEST_TRY(attest_evidence_cosine(&cosine, raw.truth, softmax.truth, 0, 0, i, err));
        plain = cosine.lo < plain.lo ? cosine : plain;
        ATTEST_TRY(attest_evidence_cosine(&cosine, exponential.truth, softmax.truth, 0, 0, i, err));
        own = cosine.lo < own.lo ? cosine : own;
    }
    attest_note_span(finding, "smallest cosine to softmax, L2(QK^T V)", plain);
    attest_note_span(finding, "L2(e^(QK^T) V)", own);
    attest_conclude(finding, plain.lo > 1 - 0x1p-40 || own.lo < 1 - 0x1p-40, 0);
out:
    claim_case_close(&softmax);
    claim_case_close(&raw);
    claim_case_close(&exponential);
    return status;
}

/* Outputs of q and 2q: exactly twice for the n=1 term, not for softmax. */
static const claim_rule first_order[] = {
    { "", "variant=linear n=6 d=3 mask=causal", "kronecker", 1, NULL, 30, CLAIM_WRITTEN },
    { .name = NULL },
};

/* T_3 against T_1 on drawn rows: what order 1 misses. */
static attest_status missed_terms(attest_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const char *const lines[3] = { "variant=taylor:1", "variant=taylor:2", "variant=taylor:4" };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    double worst[3] = { 0, 0, 0 };
    (void)claim;
    for (int o = 0; o < 3; o++) {
        char name[56];
        ATTEST_TRY(claim_case_open(&x, err, "%s scale=0.25 n=16 d=4", lines[o]));
        ATTEST_TRY(claim_case_open(&y, err, "variant=softmax scale=0.25 n=16 d=4"));
        for (int64_t i = 0; i < 16; i++) {
            double lo, hi;
            ATTEST_TRY(attest_truth_weight_error(&lo, &hi, x.truth, y.truth, 0, 0, i, err));
            worst[o] = fmax(worst[o], o < 2 ? lo : hi);
        }
        claim_case_close(&x);
        claim_case_close(&y);
        snprintf(name, sizeof name, "worst weight error, %s", lines[o]);
        attest_note(finding, name, worst[o]);
    }
    attest_conclude(finding, worst[0] > worst[1] && worst[1] > worst[2], 0);
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}

static const attest_statement claims[] = {
    { "The hidden states grow polynomially with the order of approximation.",
      "Mechanism 3 (which also says "
      "exponentially)",
      "ratios of successive state sizes, d=4", ATTEST_CLAIM_HOLDS_IF,
      "only distinct entries are kept, C(d+n-1,n); the d^n of the Kronecker power grow exponentially", growth, NULL },
    { "The normalised variant is L2_Norm(QK^T).", "First 3 experiments, 1",
      "cosine of that row and of L2(e^(QK^T) V) to "
      "softmax's (1: right), enclosed",
      ATTEST_CLAIM_FALSE, NULL, norm_of_what, NULL },
    { "Linear attention is strictly the first-order term of the expansion.", "Key Results",
      "the n=1 Kronecker read "
      "against linear, exact rationals",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_rules, first_order },
    { "Each further order brings the weights nearer to softmax's.", "Mechanism 1",
      "worst relative weight error over 16 "
      "rows, scale 1/4, orders 1, 2, 4, enclosed",
      ATTEST_CLAIM_HOLDS, NULL, missed_terms, NULL },
    { "The L2-normalised models perform as well as softmax.", "Quick Facts and Key Results", "needs training runs",
      ATTEST_CLAIM_NOT_CHECKABLE, NULL, NULL, NULL },
};
const attest_claim_source attest_claims_summary = { "summary-of-the-paper.txt", claims,
                                                    sizeof claims / sizeof claims[0] };
