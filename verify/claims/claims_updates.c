/* claims_updates.c - the open question of the expressiveness paper: which update rules of RetNet, Mamba, RWKV and the
 * delta family are points of the axes of variant_axes.c.  Each rule is written out as published and run in rationals
 * against the variant that should be it; where it is none, the figures are a counterexample.
 */
#include "verify/claims/claims_tables.h"

#include <math.h>
#include <stdlib.h>

static const attest_rule_extra skip_none = { (const double[]){ 0 }, 1 }, skip_half = { (const double[]){ 0.5 }, 1 },
                               bonus = { (const double[]){ 0.5, 2, 0.25 }, 3 },
                               moved = { (const double[]){ 0.25, -0.5, 0 }, 3 },
                               unmoved = { (const double[]){ 0, 0, 0 }, 3 };

static const claim_rule retention[] = {
    { "recurrent", "variant=retnet hq=2 n=7 d=3 e=2", "gated", 0, NULL, 25, CLAIM_WRITTEN },
    { "parallel", "variant=retnet hq=2 n=7 d=3 e=2", "retention-parallel", 0, NULL, 25, CLAIM_WRITTEN },
    { "chunks of 3", "variant=retnet hq=2 n=7 d=3 e=2", "retention-chunk", 3, NULL, 25, CLAIM_WRITTEN },
    { "chunks of 4", "variant=retnet hq=2 n=7 d=3 e=2", "retention-chunk", 4, NULL, 25, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule ssd[] = {
    { "skip D=1/2:", "variant=simple-gla gates=in hq=2 n=6 d=3 e=2", "ssd", 0, &skip_half, 25, CLAIM_WRITTEN },
    { "D=0:", "variant=simple-gla gates=in hq=2 n=6 d=3 e=2", "ssd", 0, &skip_none, 25, CLAIM_MEANT },
    { .name = NULL },
};
/* heads = channels, e = 1: a_tc = e^(dt_tc A_c), gin = dt; the decay of one head has a value for each key dimension */
static const claim_rule selective[] = {
    { "a head for each channel:", "variant=gla gates=in n=6 d=3 e=1", "gated", 0, NULL, 25, CLAIM_MEANT },
    { "decay on channels of one head:", "variant=gla n=6 d=3 e=3", "value-gate", 0, NULL, 25, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule gla[] = {
    { "", "variant=gla n=7 d=3 e=2", "gated", 0, NULL, 50, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule gated_delta[] = {
    { "decay a_t", "variant=gdn hq=2 n=6 d=3 e=2", "gated-delta", 0, NULL, 25, CLAIM_WRITTEN },
    { "no decay", "variant=deltanet hq=2 n=6 d=3 e=2", "gated-delta", 0, NULL, 25, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule rwkv6[] = {
    { "u=(1/2,2,1/4):", "variant=gla n=6 d=3 e=2", "rwkv-bonus", 0, &bonus, 20, CLAIM_WRITTEN },
    { "u=1/w_t:", "variant=gla n=6 d=3 e=2", "rwkv-bonus", 1, NULL, 20, CLAIM_MEANT },
    { .name = NULL },
};
static const claim_rule rwkv7[] = {
    { "removal key moved:", "variant=deltanet n=6 d=3 e=2", "rwkv7", 0, &moved, 20, CLAIM_WRITTEN },
    { "with a decay:", "variant=gdn n=6 d=3 e=2", "rwkv7", 0, &unmoved, 20, CLAIM_WRITTEN },
    { "removal key = key, no decay:", "variant=deltanet n=6 d=3 e=2", "rwkv7", 0, &unmoved, 20, CLAIM_MEANT },
    { .name = NULL },
};

/* ---- RWKV-4: a channel alone ------------------------------------------------------------------------------------- */
enum { TOKENS = 5 };
typedef struct wkv_case {
    double gamma; /* e^-w */
    double k[TOKENS], v[TOKENS];
} wkv_case;

/* Its quotient at the last token, as a formula: past keys e^(k_j - (t-1-j)w), the current one e^(k_t + u). */
static attest_status wkv(attest_span *value, const wkv_case *c, const char *bonus_factor, attest_error *err)
{
    char u[400] = "", z[300] = "";
    size_t at_u = 0, at_z = 0;
    for (int j = 0; j < TOKENS; j++) {
        char weight[64];
        if (j + 1 < TOKENS)
            snprintf(weight, sizeof weight, "%g^%d*exp(%g)", c->gamma, TOKENS - 2 - j, c->k[j]);
        else
            snprintf(weight, sizeof weight, "%s*exp(%g)", bonus_factor, c->k[j]);
        at_u += (size_t)snprintf(u + at_u, sizeof u - at_u, "%s%s*(%g)", j ? "+" : "", weight, c->v[j]);
        at_z += (size_t)snprintf(z + at_z, sizeof z - at_z, "%s%s", j ? "+" : "", weight);
    }
    return attest_evidence_value(value, err, "(%s)/(%s)", u, z);
}

static attest_status rwkv4(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const wkv_case *c = claim->data;
    static const double one[TOKENS] = { 1, 1, 1, 1, 1 };
    attest_status status = ATTEST_OK;
    attest_span ours, tied, free_bonus;
    claim_case x = { 0 };
    char inverse[32];
    ATTEST_TRY(
        claim_case_parse(&x, err, "variant=softmax decay=retnet mask=causal n=%d d=1 e=1 scale=1 in=f64", TOKENS));
    ATTEST_TRY(claim_case_put(&x, ATTEST_Q, one, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_K, c->k, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_V, c->v, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_GAMMA, &c->gamma, err));
    ATTEST_TRY(claim_case_ready(&x, err));
    ATTEST_TRY(attest_evidence_row(&ours, x.truth, ATTEST_O, (attest_row){ 0, 0, TOKENS - 1 }, err));
    snprintf(inverse, sizeof inverse, "(1/%g)", c->gamma);
    ATTEST_TRY(wkv(&tied, c, inverse, err));
    ATTEST_TRY(wkv(&free_bonus, c, "3", err));
    attest_note_span(finding, "decay=retnet, weight=exp, q=1", ours);
    attest_note_span(finding, "wkv with e^u = e^w", tied);
    attest_note_span(finding, "wkv with e^u = 3", free_bonus);
    attest_note(finding, "e^-w", c->gamma);
    const int equal = fabs(ours.lo - tied.hi) < 0x1p-48 && fabs(ours.hi - tied.lo) < 0x1p-48;
    attest_conclude(finding, equal && fabs(ours.lo - free_bonus.lo) < 0x1p-48, equal);
out:
    claim_case_close(&x);
    return status;
}
static const wkv_case channel = { 0.75, { 0.5, -1, 2, 0.25, 1 }, { 1, -2, 3, 0.5, -1 } };

static const attest_statement claims[] = {
    { "RetNet's retention, recurrent, parallel and in chunks, is the point decay=retnet, weight=power:1, norm=none.",
      "ours, to section 2.1, which names RetNet (Sun et al. 2023)",
      "three published forms written out against retnet, exact rationals; its rotation and its group norm left out",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_rules, retention },
    { "Mamba-2 (SSD) is decay=scalar with k = B, q = C, v = x, gin = dt, a = e^(dt A).",
      "section 5; "
      "Dao and Gu 2024",
      "h = a h + B (dt x), y = C h + D x written out against simple-gla gates=in, exact rationals",
      ATTEST_CLAIM_HOLDS_IF, "D = 0: the skip D x is added outside", claim_check_rules, ssd },
    { "Mamba-1 (S6) is decay=vector.", "section 5; also tutorial, Connection to Modern Systems; Gu and Dao 2023",
      "its per-channel decay written out against gla, exact rationals", ATTEST_CLAIM_HOLDS_IF,
      "each channel is a head of its own with e=1: then a_tc = e^(dt_t A_c) runs over key dimensions, gin = dt",
      claim_check_rules, selective },
    { "GLA's recurrence S = diag(a_t) S + k^T v is decay=vector.", "Connection to Modern Systems; Yang et al. 2024",
      "written out against gla, exact rationals", ATTEST_CLAIM_HOLDS, NULL, claim_check_rules, gla },
    { "DeltaNet and Gated DeltaNet, S = a (I - b k^T k) S + b k^T v, are update=delta with and without decay=scalar.",
      "section 5.1; Yang et al. 2024, 2025", "written out against deltanet and gdn, exact rationals",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_rules, gated_delta },
    { "RWKV-4's wkv is weight=exp, decay=retnet, norm=sum with q=1, d=e=1.",
      "section 5; Peng et al. "
      "2023",
      "one channel of five tokens at e^-w = 3/4: the last quotient as a formula against the truth, within 2^-48, with "
      "e^u = e^w and with e^u = 3",
      ATTEST_CLAIM_HOLDS_IF, "u = w: a free bonus u of the current token is no point", rwkv4, &channel },
    { "RWKV-5 and RWKV-6 are decay=vector.", "section 5; Peng et al. 2024",
      "o = r (S + diag(u) k^T v), S = diag(w_t) S + k^T v, read with q = r/w_t, against gla, exact rationals",
      ATTEST_CLAIM_HOLDS_IF, "u = 1/w_t in every dimension and at every t, which a fixed u is not", claim_check_rules,
      rwkv6 },
    { "RWKV-7 is update=delta with a decay.", "section 5; Peng et al. 2025",
      "S = (diag(w) - (b x)^T x) S + b k^T v written out against deltanet and gdn, exact rationals",
      ATTEST_CLAIM_HOLDS_IF, "the removal key x is the written key and w = 1", claim_check_rules, rwkv7 },
};
/* By the paper that names the model, in the order of the rows. */
#define EXPRESSIVENESS "paper-expressiveness-of-softmax-attention.txt"
#define SLA "paper-softmax-linear-attention.txt"
enum { MAMBA = 1, GLA = 3, DELTA = 4, RWKV = 5, ROWS = sizeof claims / sizeof claims[0] }; /* where each begins */
const attest_claim_source attest_claims_updates_retnet = { SLA, claims, MAMBA };
const attest_claim_source attest_claims_updates_mamba = { EXPRESSIVENESS, claims + MAMBA, GLA - MAMBA };
const attest_claim_source attest_claims_updates_gla = { "tutorial-linear-attention.txt", claims + GLA, DELTA - GLA };
const attest_claim_source attest_claims_updates_delta = { SLA, claims + DELTA, RWKV - DELTA };
const attest_claim_source attest_claims_updates_rwkv = { EXPRESSIVENESS, claims + RWKV, ROWS - RWKV };
