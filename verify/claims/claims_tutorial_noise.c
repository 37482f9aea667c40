/* claims_tutorial_noise.c - the tutorial on linear attention: noise in the state over long sequences. */
#include "verify/claims/claims_case.h"

enum { MOST = 64 };

/* Sum of the squares of the coefficients with which N tokens stand in the last output: the variance that values of
 * independent noise of variance 1 have there.  One key and query of 1, values the unit vectors, gates `gate`. */
static attest_status noise_power(attest_span *power, attest_span *first, int length, double gate, attest_error *err)
{
    attest_status status;
    claim_case x = { 0 };
    attest_span o[MOST];
    double ones[MOST], gates[MOST], values[MOST * MOST] = { 0 };
    for (int t = 0; t < length; t++) {
        ones[t] = values[t * length + t] = 1;
        gates[t] = gate;
    }
    ATTEST_TRY(claim_case_parse(&x, err, "variant=gla n=%d d=1 e=%d scale=1 in=f64", length, length));
    ATTEST_TRY(claim_case_put(&x, ATTEST_Q, ones, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_K, ones, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_V, values, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_DECAY, gates, err));
    ATTEST_TRY(claim_case_ready(&x, err));
    ATTEST_TRY(attest_evidence_row(o, x.truth, ATTEST_O, (attest_row){ 0, 0, length - 1 }, err));
    *power = (attest_span){ 0, 0 };
    for (int t = 0; t < length; t++) { /* all are positive; a rounding of each sum is left to either side */
        power->lo = (power->lo + o[t].lo * o[t].lo) * (1 - 0x1p-50);
        power->hi = (power->hi + o[t].hi * o[t].hi) * (1 + 0x1p-50);
    }
    *first = o[0];
out:
    claim_case_close(&x);
    return status;
}

static attest_status accumulated_noise(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const int lengths[] = { 16, 32, 64 };
    const double gate = *(const double *)claim->data;
    attest_status status;
    attest_span kept, open, bound, first;
    int accumulates = 1, bounded = 1;
    ATTEST_TRY(attest_note_value(finding, &bound, "1/(1 - a^2)", err, "1/(1-(%.17g)^2)", gate));
    for (int l = 0; l < 3; l++) {
        char name[56];
        ATTEST_TRY(noise_power(&open, &first, lengths[l], 1, err));
        ATTEST_TRY(noise_power(&kept, &first, lengths[l], gate, err));
        snprintf(name, sizeof name, "power of the noise, no gate (a=1), N=%d", lengths[l]);
        attest_note_span(finding, name, open);
        snprintf(name, sizeof name, "gate a, N=%d", lengths[l]);
        attest_note_span(finding, name, kept);
        accumulates = accumulates && open.hi > lengths[l] - 0.5 && open.lo < lengths[l] + 0.5;
        bounded = bounded && kept.hi <= bound.lo;
    }
    attest_note(finding, "a", gate);
    attest_note_span(finding, "what is left of the first token, N=64", first);
    attest_conclude(finding, 0, accumulates && bounded);
out:
    return status;
}
static const double forgetful = 0.875;

static const attest_statement claims[] = {
    { "Gated linear attention 'addresses linear attention's tendency to accumulate noise in the state over very long "
      "sequences'.",
      "Connection to Modern Systems, GLA",
      "power of independent noise of variance 1 in the last output, N = 16, 32, 64, enclosed, from the coefficients of "
      "each token: N without a gate, at most 1/(1 - a^2) with the gate a = 7/8",
      ATTEST_CLAIM_HOLDS_IF,
      "the gates stay below 1 (a gate of 1 keeps all); the same gates forget the signal: what is left of the first "
      "token is in the figures",
      accumulated_noise, &forgetful },
};
const attest_claim_source attest_claims_tutorial_noise = { "tutorial-linear-attention.txt", claims,
                                                           sizeof claims / sizeof claims[0] };
