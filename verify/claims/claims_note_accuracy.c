/* claims_note_accuracy.c - the note "Taylor error of linear attention": what its filter does to the output, measured
 * with the reference; and its reference, error-free linear attention.
 */
#include "verify/claims/claims_case.h"

#include <math.h>
#include <stdlib.h>

/* ---- the output under the filter --------------------------------------------------------------------------------- */
enum { ROWS = 15, LENGTH = 1024, WIDTH = 16 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median over ROWS rows of norm(o - softmax)/norm(softmax), enclosed: that of the lower and that of the upper ends. */
static attest_status median_error(attest_span *median, const char *variant, claim_case *softmax, attest_error *err)
{
    attest_status status;
    claim_case x = { 0 };
    double lo[ROWS], hi[ROWS];
    ATTEST_TRY(claim_case_open(&x, err, "variant=%s n=%d m=%d d=%d seed=1", variant, ROWS, LENGTH, WIDTH));
    for (int64_t i = 0; i < ROWS; i++) {
        attest_span distance;
        ATTEST_TRY(attest_evidence_distance(&distance, x.truth, softmax->truth, (attest_row){ 0, 0, i }, err));
        lo[i] = distance.lo;
        hi[i] = distance.hi;
    }
    qsort(lo, ROWS, sizeof *lo, by_value);
    qsort(hi, ROWS, sizeof *hi, by_value);
    *median = (attest_span){ lo[ROWS / 2], hi[ROWS / 2] };
out:
    claim_case_close(&x);
    return status;
}

typedef struct filter_case {
    const char *filtered, *plain; /* the statement: the first is nearer to softmax than the second */
} filter_case;

static attest_status filtered_output(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const char *const others[] = { "filtered:2", "taylor:0", "taylor:1" };
    static const char *const names[] = { "tau=2", "mean of the values", "1+s, centred at 0" };
    const filter_case *c = claim->data;
    attest_status status;
    claim_case softmax = { 0 };
    attest_span filtered, plain, other, mean, variance, range;
    ATTEST_TRY(claim_case_open(&softmax, err, "variant=softmax n=%d m=%d d=%d seed=1", ROWS, LENGTH, WIDTH));
    ATTEST_TRY(attest_evidence_moments(&mean, &variance, &range, softmax.truth, err));
    attest_note(finding, "keys", LENGTH);
    attest_note(finding, "rows", ROWS);
    attest_note_span(finding, "variance of the scores", variance);
    ATTEST_TRY(median_error(&filtered, c->filtered, &softmax, err));
    ATTEST_TRY(median_error(&plain, c->plain, &softmax, err));
    attest_note_span(finding, "median error, filtered at tau=1", filtered);
    attest_note_span(finding, "without the filter", plain);
    for (int v = 0; v < 3; v++) {
        ATTEST_TRY(median_error(&other, others[v], &softmax, err));
        attest_note_span(finding, names[v], other);
    }
    if (filtered.lo <= plain.hi && plain.lo <= filtered.hi)
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "the medians are not told apart"));
    attest_conclude(finding, filtered.hi < plain.lo, 0);
out:
    claim_case_close(&softmax);
    return status;
}
static const filter_case tau_one = { "filtered:1", "shifted:1" };

/* ---- error-free linear attention --------------------------------------------------------------------------------- */
enum { MOST_STEPS = 256 };

/* o after `steps` tokens that are all the same, b/steps each, from the same drawn state. */
static attest_status in_steps(claim_case *x, const char *variant, int steps, attest_error *err)
{
    attest_status status;
    double q[MOST_STEPS * 2], k[MOST_STEPS * 2], v[MOST_STEPS], beta[MOST_STEPS];
    for (int t = 0; t < steps; t++) {
        q[2 * t] = 1, q[2 * t + 1] = -0.5;
        k[2 * t] = 1, k[2 * t + 1] = 0.5;
        v[t] = 2;
        beta[t] = 1.0 / steps;
    }
    ATTEST_TRY(claim_case_parse(x, err, "variant=%s n=%d d=2 e=1 scale=1 state=draw seed=4", variant, steps));
    ATTEST_TRY(claim_case_put(x, ATTEST_Q, q, err));
    ATTEST_TRY(claim_case_put(x, ATTEST_K, k, err));
    ATTEST_TRY(claim_case_put(x, ATTEST_V, v, err));
    ATTEST_TRY(claim_case_put(x, ATTEST_BETA, beta, err));
    ATTEST_TRY(claim_case_ready(x, err));
out:
    return status;
}

typedef struct flow_case {
    const char *exact, *euler; /* variants */
} flow_case;

/* One token taken in two and in four parts: the flow of an autonomous equation does not see that. */
static attest_status parts_agree(attest_claim_finding *finding, int *equal, const char *variant, attest_error *err)
{
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    attest_match match = { 0 };
    ATTEST_TRY(in_steps(&x, variant, 1, err));
    for (int parts = 2; parts <= 4; parts *= 2) {
        ATTEST_TRY(in_steps(&y, variant, parts, err));
        ATTEST_TRY(attest_evidence_same(&match, ATTEST_O, x.truth, (attest_row){ 0, 0, 0 }, y.truth,
                                        (attest_row){ 0, 0, parts - 1 }, err));
        claim_case_close(&y);
    }
    attest_note_match(finding, "one token in 2 and in 4 parts:", &match, 1);
    ATTEST_TRY(attest_match_decide(equal, &match, 2, err));
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}

/* Euler's method in N steps errs by the factor (e^-x - (1-x/N)^N)/(e^-x - (1-x)) of what one step does, x = b r = 5/4:
 * at most x^2 e^-x/(N (e^-x - 1 + x)). */
static attest_status euler_steps(attest_claim_finding *finding, int *bounded, const flow_case *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    attest_span exact, euler;
    double first = 0;
    ATTEST_TRY(in_steps(&x, c->exact, 1, err));
    ATTEST_TRY(attest_evidence_row(&exact, x.truth, ATTEST_O, (attest_row){ 0, 0, 0 }, err));
    *bounded = 1;
    for (int steps = 1; steps <= MOST_STEPS; steps *= 4) {
        attest_span share;
        char name[56];
        ATTEST_TRY(in_steps(&y, c->euler, steps, err));
        ATTEST_TRY(attest_evidence_row(&euler, y.truth, ATTEST_O, (attest_row){ 0, 0, steps - 1 }, err));
        claim_case_close(&y);
        const double least = fmax(euler.lo - exact.hi, exact.lo - euler.hi);
        const double most = fmax(euler.hi - exact.lo, exact.hi - euler.lo);
        first = steps == 1 ? least : first;
        ATTEST_TRY(attest_evidence_value(&share, err, "1.25^2*exp(-1.25)/(%d*(exp(-1.25)-1+1.25))", steps));
        snprintf(name, sizeof name, "distance of %d Euler step%s", steps, steps > 1 ? "s" : "");
        attest_note(finding, name, most);
        *bounded = *bounded && (steps == 1 ? first > 0 : most <= share.lo * first);
    }
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}

static attest_status exact_flow(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const flow_case *c = claim->data;
    attest_status status;
    int parts, bounded;
    ATTEST_TRY(parts_agree(finding, &parts, c->exact, err));
    ATTEST_TRY(euler_steps(finding, &bounded, c, err));
    attest_conclude(finding, parts && bounded, 0);
out:
    return status;
}
static const flow_case error_free = { "efla", "deltanet" };

static const attest_statement claims[] = {
    { "Filtering out low scores 'constrains the score range, thereby improving accuracy'.", "TL;DR and section 1.4.3",
      "median over 15 rows of 1024 keys, scores of variance near 1 (section 1.4.2), of norm(o - "
      "softmax)/norm(softmax), enclosed: filtered at tau=1 against 1+x over all keys; other forms are reported",
      ATTEST_CLAIM_FALSE, NULL, filtered_output, &tau_one },
    { "Error-free linear attention (efla) is the exact solution of dS/dt = k^T (v - k S), of which DeltaNet is one "
      "Euler step.",
      "Reference (Lei et al. 2025), by its title; the equation is ours",
      "from a drawn state, enclosed: one token in two and four parts (2^-100), as a flow has it; 4 to 256 steps of "
      "deltanet come as near to it as Euler's method must (x^2 e^-x/N)",
      ATTEST_CLAIM_HOLDS, NULL, exact_flow, &error_free },
};
const attest_claim_source attest_claims_note_accuracy = { "note-taylor-error-of-linear-attention.txt", claims,
                                                          sizeof claims / sizeof claims[0] };
