/* claims_recurrent.c - "On the Expressiveness of Softmax Attention ...": which of its steps keep the recurrence and
 * which do not: maps with products, norms, the clamp, rotary positions.
 */
#include "verify/claims/claims_tables.h"

#include <math.h>

/* ---- a map of products ------------------------------------------------------------------------------------------- */
enum { TOKENS = 5, WIDTH = 3, VALUES = 2 };

/* x (degree 1) or x (x) x (degree 2) of each token: `degree` powers of WIDTH numbers. */
static void products(double *out, const attest_tensor *in, int degree)
{
    for (int t = 0; t < TOKENS; t++)
        for (int i = 0; i < WIDTH; i++)
            for (int j = 0; j < (degree == 2 ? WIDTH : 1); j++)
                *out++ = attest_load(in, t * WIDTH + i) * (degree == 2 ? attest_load(in, t * WIDTH + j) : 1);
}

/* Linear attention on phi(q), psi(k), both the same product map, against the quadratic case. */
static attest_status one_chain(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const int degree = *(const int *)claim->data;
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    attest_match match = { 0 };
    double q[TOKENS * WIDTH * WIDTH], k[TOKENS * WIDTH * WIDTH], v[TOKENS * VALUES];
    int equal;
    for (int seed = 0; seed < 10; seed++) {
        ATTEST_TRY(claim_case_open(&x, err, "variant=quadratic n=%d d=%d e=%d scale=1 mask=causal seed=%d", TOKENS,
                                   WIDTH, VALUES, seed));
        products(q, attest_bundle_role(x.bundle, ATTEST_Q), degree);
        products(k, attest_bundle_role(x.bundle, ATTEST_K), degree);
        for (int at = 0; at < TOKENS * VALUES; at++)
            v[at] = attest_load(attest_bundle_role(x.bundle, ATTEST_V), at);
        ATTEST_TRY(claim_case_parse(&y, err, "variant=linear n=%d d=%d e=%d scale=1 mask=causal in=f64", TOKENS,
                                    degree == 2 ? WIDTH * WIDTH : WIDTH, VALUES));
        ATTEST_TRY(claim_case_put(&y, ATTEST_Q, q, err));
        ATTEST_TRY(claim_case_put(&y, ATTEST_K, k, err));
        ATTEST_TRY(claim_case_put(&y, ATTEST_V, v, err));
        ATTEST_TRY(claim_case_ready(&y, err));
        for (int64_t i = 0; i < TOKENS; i++)
            ATTEST_TRY(attest_evidence_same(&match, ATTEST_O, x.truth, (attest_row){ 0, 0, i }, y.truth,
                                            (attest_row){ 0, 0, i }, err));
        claim_case_close(&x);
        claim_case_close(&y);
    }
    attest_note_match(finding, "outputs of the chain and of order 2:", &match, match.different > 0);
    ATTEST_TRY(attest_match_decide(&equal, &match, 10 * TOKENS * VALUES, err));
    attest_conclude(finding, !equal, 0);
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}
static const int second_degree = 2;

/* ---- norm and clamp ---------------------------------------------------------------------------------------------- */
static const claim_rule normed[] = {
    { "numerators under norm=l2", "variant=taylor:3 norm=l2 n=5 d=2 e=2 mask=causal", "taylor-states", 3, NULL, 20,
      CLAIM_WRITTEN },
    { "under norm=rms", "variant=taylor:3 norm=rms n=5 d=2 e=2 mask=causal", "taylor-states", 3, NULL, 20,
      CLAIM_WRITTEN },
    { .name = NULL },
};

/* The numerators come from the states; and as many numbers are printed as a row has? */
static attest_status normed_taylor(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const claim_rule *rules = claim->data;
    attest_status status;
    claim_case x = { 0 };
    ATTEST_TRY(claim_check_rules(finding, claim, err));
    const int recurrent = finding->verdict == ATTEST_CLAIM_HOLDS;
    ATTEST_TRY(claim_case_open(&x, err, "%s", rules[0].line));
    attest_note(finding, "numbers in the printed norm of a row", 1);
    attest_note(finding, "in a row's output", (double)x.c.problem.e);
    attest_conclude(finding, recurrent && x.c.problem.e == 1, recurrent);
out:
    claim_case_close(&x);
    return status;
}

static const claim_rule clamped[] = {
    { "clamped at 5:", "variant=taylor:3 norm=none clamp=5 scale=8 n=5 d=2 e=2 mask=causal", "taylor-states", 3, NULL,
      20, CLAIM_WRITTEN },
    { "without a clamp:", "variant=taylor:3 norm=none scale=8 n=5 d=2 e=2 mask=causal", "taylor-states", 3, NULL, 20,
      CLAIM_ASIDE },
    { .name = NULL },
};

static attest_status clamp_recurrence(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    ATTEST_TRY(claim_check_rules(finding, claim, err));
    ATTEST_TRY(attest_note_value(finding, NULL, "slope of e^min(5,s) left of 5", err, "(exp(5)-exp(5-2^-40))/2^-40"));
    ATTEST_TRY(attest_note_value(finding, NULL, "right of 5", err, "(exp(5)-exp(5))/2^-40"));
out:
    return status;
}

/* ---- rotary positions -------------------------------------------------------------------------------------------- */
enum { ROPE_TOKENS = 5, ROPE_WIDTH = 4, DIGITS = 30 };

#define ROTARY "variant=linear norm=sum n=%d d=%d e=1 scale=1 mask=causal"

/* rot(q_n) H_n, digit by digit, less the numerator u_n: the query is rotated as the only key that is not 0 of a second
 * sequence, whose z-state it then is. */
static attest_status read_apart(attest_span *apart, claim_case *x, claim_case *y, attest_error *err)
{
    attest_status status;
    attest_decimals query = { 0 }, state = { 0 }, u = { 0 };
    char sum[460];
    size_t at = 0;
    ATTEST_TRY(attest_truth_decimals(&query, y->truth, (attest_tensor_id){ ATTEST_KIND_ZT, 1 }, DIGITS, 0, err));
    ATTEST_TRY(attest_truth_decimals(&state, x->truth, (attest_tensor_id){ ATTEST_KIND_HT, 1 }, DIGITS, 0, err));
    ATTEST_TRY(attest_truth_decimals(&u, x->truth, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_U }, DIGITS, 0, err));
    if (query.count != ROPE_WIDTH || state.count != ROPE_WIDTH || u.count != ROPE_TOKENS)
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "states of %lld and %lld numbers", (long long)query.count,
                               (long long)state.count));
    for (int c = 0; c < ROPE_WIDTH; c++)
        at += (size_t)snprintf(sum + at, sizeof sum - at, "%s(%s)*(%s)", c ? "+" : "", query.mid[c], state.mid[c]);
    ATTEST_TRY(attest_evidence_value(apart, err, "abs(%s-(%s))", sum, u.mid[ROPE_TOKENS - 1]));
out:
    attest_decimals_free(&query);
    attest_decimals_free(&state);
    attest_decimals_free(&u);
    return status;
}

static attest_status rotary(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const char *query_rope = claim->data;
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    double worst = 0;
    for (int seed = 0; seed < 10; seed++) {
        double key[ROPE_TOKENS * ROPE_WIDTH] = { 0 };
        attest_span apart;
        ATTEST_TRY(claim_case_open(&x, err, ROTARY " rope=100 seed=%d", ROPE_TOKENS, ROPE_WIDTH, seed));
        for (int at = (ROPE_TOKENS - 1) * ROPE_WIDTH; at < ROPE_TOKENS * ROPE_WIDTH; at++)
            key[at] = attest_load(attest_bundle_role(x.bundle, ATTEST_Q), at);
        ATTEST_TRY(claim_case_parse(&y, err, ROTARY " rope=%s", ROPE_TOKENS, ROPE_WIDTH, query_rope));
        ATTEST_TRY(claim_case_put(&y, ATTEST_K, key, err));
        ATTEST_TRY(claim_case_ready(&y, err));
        ATTEST_TRY(read_apart(&apart, &x, &y, err));
        claim_case_close(&x);
        claim_case_close(&y);
        worst = fmax(worst, apart.hi);
    }
    attest_note(finding, "rows", 10);
    attest_note(finding, "largest abs(rot(q) H - u)", worst);
    attest_conclude(finding, worst < 1e-25, 0);
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}
static const char same_rope[] = "100";

static const attest_statement claims[] = {
    { "'Even when other functions are used for phi and psi, they can only manipulate a single recurrent chain - they "
      "cannot model the higher order terms from softmax.'",
      "section 3.2",
      "one chain with phi(x) = psi(x) = x (x) x, the map of App. B, against the quadratic case, exact rationals",
      ATTEST_CLAIM_FALSE, NULL, one_chain, &second_degree },
    { "With a norm in place of the denominator the output is that of the recurrence.", "section 3.3, eq. 6",
      "numerators of taylor:3 under norms from the states, exact rationals; how many numbers the display has for a row",
      ATTEST_CLAIM_HOLDS_IF, "the display is read as u/norm(u): as printed it is the norm, one number", normed_taylor,
      normed },
    { "Eq. 5 stays a recurrence when the authors 'clamp the pre-exponential value to 5'.", "section 3.3, eq. 5",
      "the states' read of taylor:3 against the pairwise sum with and without (right) the clamp, exact rationals; "
      "slopes of e^min(5,s) beside 5, enclosed: it has no power series, which the states need",
      ATTEST_CLAIM_FALSE, NULL, clamp_recurrence, clamped },
    { "With RoPE on queries and keys the output is still read off one state.", "ours, to App. D, which uses RoPE",
      "the rotated last query times the final state against the pairwise numerator, 10 draws, to 25 digits",
      ATTEST_CLAIM_HOLDS, NULL, rotary, same_rope },
};
const attest_claim_source attest_claims_recurrent = { "paper-expressiveness-of-softmax-attention.txt", claims,
                                                      sizeof claims / sizeof claims[0] };
