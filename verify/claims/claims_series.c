/* claims_series.c - "On the Expressiveness of Softmax Attention ...": its statements about the Taylor series:
 * convergence, remainder, how many terms are enough.
 */
#include "verify/claims/claims_case.h"

#include <math.h>

static const double points[] = { 0.01, 0.1, 0.5, 1, 2, 4, 8, 16 };
enum { POINTS = sizeof points / sizeof points[0] };

/* |e^x - T_p(x)| <= |x|^(p+1)/(p+1)! max(1, e^x) */
static attest_status remainder_bound(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span ratio, worst = { 0, 0 };
    int64_t count = 0, above = 0;
    (void)claim;
    for (int p = 0; p <= 12; p++)
        for (int sign = -1; sign <= 1; sign += 2)
            for (int i = 0; i < POINTS; i++, count++) {
                const double x = sign * points[i];
                ATTEST_TRY(attest_evidence_value(&ratio, err,
                                                 "abs(exp(%g)-T(%d,%g))/(abs(%g)^%d/fact(%d)*max(1,exp(%g)))", x, p, x,
                                                 x, p + 1, p + 1, x));
                above += !(ratio.hi <= 1);
                worst = ratio.hi > worst.hi ? ratio : worst;
            }
    attest_note(finding, "points", (double)count);
    attest_note(finding, "above the bound", (double)above);
    attest_note_span(finding, "largest error/bound", worst);
    attest_conclude(finding, count == 13 * 2 * POINTS && above == 0, 0);
out:
    return status;
}

/* Relative error of T_p at the given score for growing p. */
static attest_status convergence(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const int orders[] = { 10, 40, 64, 128, 256 };
    attest_status status = ATTEST_OK;
    const double score = *(const double *)claim->data;
    attest_span error = { 0, 0 }, before = { INFINITY, INFINITY };
    int falls = 1;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        char name[56];
        snprintf(name, sizeof name, "relative error at s=%g, P=%d", score, orders[i]);
        ATTEST_TRY(attest_note_value(finding, &error, name, err, "abs(T(%d,%g)/exp(%g)-1)", orders[i], score, score));
        falls = falls && (i < 2 || error.hi < before.lo);
        before = error;
    }
    attest_conclude(finding, falls && error.hi < 0x1p-100, 0);
out:
    return status;
}
static const double hard_score = -30;

/* s^n/n! against the term before it, both enclosed: data: the score, and the order after which terms shall fall. */
static attest_status term_sizes(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double score = ((const double *)claim->data)[0], from = ((const double *)claim->data)[1];
    int falls_always = 1, falls_later = 1;
    attest_span largest = { 0, 0 }, before = { 1, 1 }, term; /* s^0/0! = 1 */
    int at = 0;
    for (int n = 1; n <= 60; n++) {
        ATTEST_TRY(attest_evidence_value(&term, err, "abs(%g)^%d/fact(%d)", score, n, n));
        falls_always = falls_always && term.hi < before.lo;
        falls_later = falls_later && (n <= from || term.hi < before.lo);
        before = term;
        if (term.lo > largest.hi)
            largest = term, at = n;
    }
    attest_note(finding, "score", score);
    attest_note(finding, "order of the largest term", at);
    attest_note_span(finding, "that term", largest);
    ATTEST_TRY(attest_note_value(finding, NULL, "term n=20", err, "abs(%g)^20/fact(20)", score));
    attest_conclude(finding, falls_always, falls_later);
out:
    return status;
}
static const double score_of_eight[2] = { 8, 8 };

/* x and 1+x against e^x near 0. */
static attest_status two_first_orders(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span term, truncation;
    (void)claim;
    ATTEST_TRY(attest_note_value(finding, &term, "(e^x - x)/x at x=2^-6", err, "(exp(2^-6)-2^-6)/2^-6"));
    ATTEST_TRY(attest_note_value(finding, &truncation, "(e^x - 1 - x)/x^2 at x=2^-6", err, "(exp(2^-6)-1-2^-6)/2^-12"));
    attest_conclude(finding, term.hi < 1, truncation.hi < 1);
out:
    return status;
}

typedef struct ten_terms {
    int order;
    double scores[4];
} ten_terms;

static attest_status enough_terms(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const ten_terms *t = claim->data;
    attest_span ratio;
    int everywhere = 1, near = 1;
    for (int i = 0; i < 4; i++) {
        char name[56];
        snprintf(name, sizeof name, "T_%d(%g)/e^%g", t->order, t->scores[i], t->scores[i]);
        ATTEST_TRY(
            attest_note_value(finding, &ratio, name, err, "T(%d,%g)/exp(%g)", t->order, t->scores[i], t->scores[i]));
        const int good = ratio.lo > 1 - 0x1p-8 && ratio.hi < 1 + 0x1p-8;
        everywhere = everywhere && good;
        near = near && (good || fabs(t->scores[i]) > 2);
    }
    attest_conclude(finding, everywhere, near);
out:
    return status;
}
static const ten_terms ten = { 10, { 2, -2, -4, -8 } };

typedef struct reach_claim {
    int order;
    double floor; /* unit roundoff */
} reach_claim;

/* How far each center carries: for the record, and that no center carries to every range. */
static attest_status reach_per_center(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const char *const centers[] = { "zero", "max", "min", "mid" };
    const reach_claim *r = claim->data;
    attest_status status = ATTEST_OK;
    attest_span range[4];
    double widest = 0;
    for (int c = 0; c < 4; c++) {
        char name[56];
        ATTEST_TRY(attest_evidence_reach(&range[c], r->order, centers[c], r->floor, err));
        snprintf(name, sizeof name, "%s, center %s", c ? "range" : "largest abs(s)", centers[c]);
        attest_note_span(finding, name, range[c]);
        widest = fmax(widest, range[c].hi);
    }
    attest_conclude(finding, widest >= 1000, range[1].lo > 0 && range[3].lo > range[1].hi && range[3].lo > range[2].hi);
out:
    return status;
}
static const reach_claim reach_f32 = { 10, 0x1p-24 }, reach_bf16 = { 10, 0x1p-8 };

static const attest_statement claims[] = {
    { "The exponential of a score is its Taylor series: the error of the sum goes to 0.", "section 3.1, first step",
      "relative error of T_P at the score -30, P 10..256, enclosed; at P=256 below 2^-100", ATTEST_CLAIM_HOLDS, NULL,
      convergence, &hard_score },
    { "What is left out after order p is at most abs(x)^(p+1)/(p+1)! times max(1, e^x).",
      "section 3.1; note, section 1.2", "error over bound at 208 points, p 0..12, abs(x) 0.01..16, enclosed",
      ATTEST_CLAIM_HOLDS, NULL, remainder_bound, NULL },
    { "Terms of higher order are less influential, as they are weighted by 1/n!.", "section 3.2, last paragraph",
      "s^n/n! at s=8 against the term before it, n 1..60, enclosed", ATTEST_CLAIM_HOLDS_IF, "n > abs(s)", term_sizes,
      score_of_eight },
    { "Linear attention is a first-order approximation of softmax's numerator.", "section 3.2 and abstract",
      "distance of x and of 1+x from e^x, over x and over x^2 at x=2^-6: below 1", ATTEST_CLAIM_HOLDS_IF,
      "first order means 1+s (taylor:1); the n=1 term alone (term:1, linear attention) misses the constant",
      two_first_orders, NULL },
    { "Ten orders make the approximation as good as softmax.", "sections 4.4 and 5",
      "T_10(s)/e^s, enclosed; `as good`: within a bf16 rounding", ATTEST_CLAIM_HOLDS_IF, "abs(s) <= 2", enough_terms,
      &ten },
    { "Order 10 is below the f32 rounding floor.", "ours, to sections 4.4 and 5, which name no precision",
      "largest score range at which every weight of every row is within 2^-24 (R-TAIL), by bisection on "
      "enclosures; `every range`: 1000",
      ATTEST_CLAIM_HOLDS_IF, "the row's range is below the figures; the midpoint is the best center", reach_per_center,
      &reach_f32 },
    { "Order 10 is below the bf16 rounding floor.", "ours, to sections 4.4 and 5, which name no precision",
      "the same with 2^-8", ATTEST_CLAIM_HOLDS_IF,
      "the row's range is below the figures; the midpoint is the best center", reach_per_center, &reach_bf16 },
};
const attest_claim_source attest_claims_series = { "paper-expressiveness-of-softmax-attention.txt", claims,
                                                   sizeof claims / sizeof claims[0] };
