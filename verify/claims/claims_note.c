/* claims_note.c - the note "Taylor error of linear attention": 1+x in place of e^x, centred at the row's maximum;
 * its score filter: claims_note_filter.c.
 */
#include "verify/claims/claims_tables.h"

#include <math.h>

/* ---- shift and series -------------------------------------------------------------------------------------------- */
/* Softmax weights of lists of scores and of the same scores less their maximum. */
static attest_status shift_invariance(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const double lists[4][3] = { { 1, 2, 3 }, { -150, -149, -140 }, { 40, 0, -40 }, { 7, 7, 7 } };
    attest_status status = ATTEST_OK;
    attest_match match = { 0 };
    claim_case x = { 0 }, y = { 0 };
    int equal;
    (void)claim;
    for (int l = 0; l < 4; l++) {
        double moved[3];
        const double most = fmax(lists[l][0], fmax(lists[l][1], lists[l][2]));
        for (int j = 0; j < 3; j++)
            moved[j] = lists[l][j] - most;
        ATTEST_TRY(claim_case_scores(&x, lists[l], 3, 1, err, "softmax"));
        ATTEST_TRY(claim_case_scores(&y, moved, 3, 1, err, "softmax"));
        ATTEST_TRY(attest_evidence_same(&match, ATTEST_O, x.truth, (attest_row){ 0, 0, 0 }, y.truth,
                                        (attest_row){ 0, 0, 0 }, err));
        claim_case_close(&x);
        claim_case_close(&y);
    }
    attest_note_match(finding, "weights", &match, 1);
    ATTEST_TRY(attest_match_decide(&equal, &match, 4 * 3, err)); /* lists, weights */
    attest_conclude(finding, equal, 0);
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}

static attest_status second_order(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span low = { INFINITY, INFINITY }, high = { 0, 0 };
    (void)claim;
    for (int i = -16; i <= 16; i++) {
        attest_span ratio;
        if (i == 0)
            continue;
        ATTEST_TRY(attest_evidence_value(&ratio, err, "(exp(%d/16)-1-(%d/16))/(%d/16)^2", i, i, i));
        low = ratio.lo < low.lo ? ratio : low;
        high = ratio.hi > high.hi ? ratio : high;
    }
    attest_note_span(finding, "smallest (e^x-1-x)/x^2", low);
    attest_note_span(finding, "largest, abs(x) <= 1", high);
    attest_conclude(finding, low.lo > 0 && high.hi < 1, 0);
out:
    return status;
}

/* (e^x-1-x)/(x^2/2) within a half of 1? */
static attest_status dominated(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const double *at = claim->data;
    attest_status status = ATTEST_OK;
    int everywhere = 1, inside = 1;
    for (int i = 0; i < 6; i++) {
        attest_span ratio;
        char name[56];
        snprintf(name, sizeof name, "error/(x^2/2) at x=%g", at[i]);
        ATTEST_TRY(attest_note_value(finding, &ratio, name, err, "(exp(%g)-1-(%g))/((%g)^2/2)", at[i], at[i], at[i]));
        const int good = ratio.lo > 0.5 && ratio.hi < 1.5;
        everywhere = everywhere && good;
        inside = inside && (good || fabs(at[i]) > 1);
    }
    attest_conclude(finding, everywhere, inside);
out:
    return status;
}
static const double near_and_far[6] = { -0.1, -1, 1, -4, -8, 4 };

/* At each point: is |x|^n/n! smaller than the term before, n 1..8, and the error at most that of the interval's end,
 * e^-1 left of 0 and e - 2 right of it?  Relative errors are reported. */
static attest_status reasonable(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const double *at = claim->data;
    attest_status status = ATTEST_OK;
    int64_t rising = 0, beyond = 0;
    for (int i = 0; i < 6; i++) {
        attest_span ratio, error, end;
        char name[56];
        for (int n = 1; n <= 8; n++) {
            ATTEST_TRY(attest_evidence_value(&ratio, err, "abs(%g)/%d", at[i], n));
            rising += !(ratio.hi < 1);
        }
        snprintf(name, sizeof name, "abs(1+x - e^x) at x=%g", at[i]);
        ATTEST_TRY(attest_note_value(finding, &error, name, err, "abs(1+(%g)-exp(%g))", at[i], at[i]));
        ATTEST_TRY(attest_evidence_value(&end, err, at[i] < 0 ? "exp(-1)" : "exp(1)-2"));
        beyond += !(error.hi <= end.lo);
    }
    attest_note(finding, "terms not below the one before", (double)rising);
    attest_note(finding, "errors above that of the interval's end", (double)beyond);
    ATTEST_TRY(attest_note_value(finding, NULL, "relative error at x=-0.99", err, "abs((1-0.99)/exp(-0.99)-1)"));
    attest_conclude(finding, rising == 0 && beyond == 0, 0);
out:
    return status;
}
static const double inside_one[6] = { -0.99, -0.9, -0.5, -0.1, 0.5, 0.99 };

static attest_status large_scores(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const int at[] = { -2, -4, -8, 4 };
    attest_status status = ATTEST_OK;
    double before = 0;
    int grows = 1;
    (void)claim;
    for (int i = 0; i < 4; i++) {
        attest_span error;
        char name[56];
        snprintf(name, sizeof name, "abs(1+x - e^x) at x=%d", at[i]);
        ATTEST_TRY(attest_note_value(finding, &error, name, err, "abs(1+(%d)-exp(%d))", at[i], at[i]));
        grows = grows && error.lo > before && error.lo > 1;
        before = error.hi;
    }
    attest_conclude(finding, grows, 0);
out:
    return status;
}

/* ---- the range --------------------------------------------------------------------------------------------------- */
/* Weight error of shifted:1 on five keys of range 2^-k and near the pole. */
static attest_status range_error(attest_span *error, double range, attest_error *err)
{
    static const double unit[5] = { 0, 0.125, 0.3125, 0.75, 1 };
    attest_status status = ATTEST_OK;
    claim_case t = { 0 }, s = { 0 };
    double scores[5];
    for (int j = 0; j < 5; j++)
        scores[j] = range * unit[j];
    ATTEST_TRY(claim_case_scores(&t, scores, 5, 0, err, "shifted:1"));
    ATTEST_TRY(claim_case_scores(&s, scores, 5, 0, err, "softmax"));
    ATTEST_TRY(attest_truth_weight_error(&error->lo, &error->hi, t.truth, s.truth, (attest_row){ 0, 0, 0 }, err));
out:
    claim_case_close(&t);
    claim_case_close(&s);
    return status;
}

/* Local slopes log2(error(2R)/error(R)). */
static attest_status quadratic_growth(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const double ranges[] = { 0x1p-10, 0x1p-4, 0.5, 1 };
    attest_status status = ATTEST_OK;
    int everywhere = 1, small = 1;
    (void)claim;
    for (int i = 0; i < 4; i++) {
        attest_span one, two;
        char name[56];
        ATTEST_TRY(range_error(&one, ranges[i], err));
        ATTEST_TRY(range_error(&two, 2 * ranges[i], err));
        const attest_span slope = { log2(two.lo / one.hi), log2(two.hi / one.lo) };
        snprintf(name, sizeof name, "exponent from R=%g to %g", ranges[i], 2 * ranges[i]);
        attest_note_span(finding, name, slope);
        const int good = slope.lo > 1.9 && slope.hi < 2.1;
        everywhere = everywhere && good;
        small = small && (good || ranges[i] > 0x1p-10);
    }
    attest_conclude(finding, everywhere, small);
out:
    return status;
}

static const claim_pair zero_range[] = {
    { "all scores equal:", "variant=shifted:1 n=8 d=3 family=flat", "variant=softmax n=8 d=3 family=flat", ATTEST_O,
      CLAIM_ALL_ROWS, 1, 10, CLAIM_WRITTEN },
    { .name = NULL },
};

/* ---- random scores ----------------------------------------------------------------------------------------------- */
/* Sums of q.k and (q.k)^2 over all pairs of sign vectors of width d, or over all equal pairs. */
static void all_signs(int d, int equal, int64_t *sum, int64_t *squares)
{
    *sum = *squares = 0;
    for (int64_t pair = 0; pair < (int64_t)1 << (2 * d); pair++) {
        int64_t dot = 0, unlike = 0;
        for (int c = 0; c < d; c++) {
            const int same = (pair >> (2 * c) & 1) == (pair >> (2 * c + 1) & 1);
            dot += same ? 1 : -1;
            unlike += !same;
        }
        if (equal && unlike)
            continue;
        *sum += dot;
        *squares += dot * dot;
    }
}

/* Components of mean 0 and variance 1, all their pairs (data: only equal pairs): mean and variance of q.k over sqrt
 * d. */
static attest_status unit_variance(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    claim_case x = { 0 };
    attest_span mean, variance, range;
    const int equal = *(const int *)claim->data;
    int64_t wrong = 0;
    for (int d = 1; d <= 6; d++) {
        int64_t sum, squares;
        const int64_t pairs = (int64_t)1 << (equal ? d : 2 * d);
        all_signs(d, equal, &sum, &squares);
        wrong += sum != 0 || squares != d * pairs;
    }
    ATTEST_TRY(claim_case_open(&x, err, "variant=softmax n=64 d=64 seed=11"));
    ATTEST_TRY(attest_evidence_moments(&mean, &variance, &range, x.truth, err));
    attest_note(finding, "widths", 6);
    attest_note(finding, "widths where mean or variance is another", (double)wrong);
    attest_note_span(finding, "mean of 4096 drawn scores, d=64", mean);
    attest_note_span(finding, "their variance", variance);
    attest_conclude(finding, wrong == 0, 0);
out:
    claim_case_close(&x);
    return status;
}
static const int all_pairs = 0;

/* Mean range of rows of N scores, variance 1, against 2 sqrt(2 ln N). */
static attest_status range_growth(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const int lengths[] = { 16, 64, 256, 1024, 4096 };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    double before = 0, share = 0;
    int grows = 1;
    (void)claim;
    for (int l = 0; l < 5; l++) {
        attest_span mean, variance, range, law;
        char name[56];
        ATTEST_TRY(claim_case_open(&x, err, "variant=softmax n=16 m=%d d=64 e=1 seed=3", lengths[l]));
        ATTEST_TRY(attest_evidence_moments(&mean, &variance, &range, x.truth, err));
        claim_case_close(&x);
        snprintf(name, sizeof name, "mean range at N=%d", lengths[l]);
        attest_note_span(finding, name, range);
        snprintf(name, sizeof name, "2 sqrt(2 ln N), N=%d", lengths[l]);
        ATTEST_TRY(attest_note_value(finding, &law, name, err, "2*sqrt(2*log(%d))", lengths[l]));
        grows = grows && range.lo > before && range.hi < law.lo && range.lo / law.hi > share;
        before = range.hi;
        share = range.hi / law.lo;
    }
    attest_conclude(finding, grows && before > 4, 0);
out:
    claim_case_close(&x);
    return status;
}

static const claim_identity centers[] = {
    { "order 1, center max", "center-states", "variant=shifted:1", 50 },
    { "order 3, center min", "center-states", "variant=taylor:3 center=min", 30 },
    { "order 4, center mid", "center-states", "variant=taylor:4 center=mid", 30 },
    { .name = NULL },
};

static const attest_statement claims[] = {
    { "Softmax is unchanged when the row's maximum is subtracted from its scores.", "section 1.1",
      "weights of four lists with and without, enclosed to 2^-100", ATTEST_CLAIM_HOLDS, NULL, shift_invariance, NULL },
    { "e^x = 1 + x + O(x^2).", "section 1.2", "(e^x-1-x)/x^2 at 32 points of [-1,1], enclosed", ATTEST_CLAIM_HOLDS,
      NULL, second_order, NULL },
    { "1 + s - m is a linear mechanism: a row's center can be applied to states that do not know it.", "section 1.2",
      "T_P(s-c) from the uncentred states against the centred pairwise form, exact rationals", ATTEST_CLAIM_HOLDS, NULL,
      claim_check_identities, centers },
    { "The error of 1+x is dominated by x^2/2.", "section 1.3",
      "error over x^2/2, enclosed; `dominated`: within a half", ATTEST_CLAIM_HOLDS_IF, "abs(x) <= 1", dominated,
      near_and_far },
    { "For abs(x) < 1 'the higher-order terms of the Taylor series will decrease, and the error is bounded'.",
      "section 1.3",
      "at six points, enclosed: each term against the one before; the error against e^-1 for x < 0 (e - 2 for x > 0), "
      "which it reaches at the end of the interval only, as its slope e^x - 1 has one sign; `reasonably well` is not "
      "judged: the relative error at -0.99 is in the figures",
      ATTEST_CLAIM_HOLDS, NULL, reasonable, inside_one },
    { "For abs(x) >= 1 the approximation diverges from e^x.", "section 1.3",
      "abs(1+x-e^x) at -2, -4, -8 and 4: above 1 and growing", ATTEST_CLAIM_HOLDS, NULL, large_scores, NULL },
    { "The error grows quadratically with the range of the scores.", "TL;DR and section 1.4",
      "exponent between R and 2R of the largest relative weight error of shifted:1, five keys, enclosed; 2 within 0.1",
      ATTEST_CLAIM_HOLDS_IF, "R goes to 0; near R=2 the denominator has a pole", quadratic_growth, NULL },
    { "With all scores equal the approximation is exact and the output is the mean of the values.", "section 1.4.1",
      "shifted:1 against softmax, family flat, enclosed to 2^-100", ATTEST_CLAIM_HOLDS, NULL, claim_check_pairs,
      zero_range },
    { "If the components of q and k are independent, of mean 0 and variance 1, then q.k/sqrt(d) has mean 0 and "
      "variance 1.",
      "section 1.4.2",
      "all pairs of vectors of signs, counted exactly, d 1..6; the moments of 4096 drawn scores are reported, not "
      "judged",
      ATTEST_CLAIM_HOLDS, NULL, unit_variance, &all_pairs },
    { "Unit variance does not bound the range, which grows with the length.", "section 1.4.2",
      "mean range of 16 rows, N 16..4096: it grows, from below towards 2 sqrt(2 ln N)", ATTEST_CLAIM_HOLDS, NULL,
      range_growth, NULL },
};
const attest_claim_source attest_claims_note = { "note-taylor-error-of-linear-attention.txt", claims,
                                                 sizeof claims / sizeof claims[0] };
