/* claims_expressiveness.c - the statements of "On the Expressiveness of Softmax Attention: A Recurrent Neural Network
 * Perspective" that are about recurrences and states.  Denominator and features: claims_denominator.c; the size of
 * errors: claims_series.c.
 */
#include "verify/claims/claims_tables.h"

#include <math.h>

/* ---- Kronecker powers, states ------------------------------------------------------------------------------------ */
static const claim_rule kronecker[] = {
    { "degree 0", "variant=linear weight=power:0 n=5 d=3 mask=causal", "kronecker", 0, NULL, 20, CLAIM_WRITTEN },
    { "degree 1", "variant=linear weight=power:1 n=5 d=4 mask=causal", "kronecker", 1, NULL, 20, CLAIM_WRITTEN },
    { "degree 2", "variant=linear weight=power:2 n=5 d=3 mask=causal", "kronecker", 2, NULL, 20, CLAIM_WRITTEN },
    { "degree 3", "variant=linear weight=power:3 n=4 d=3 mask=causal", "kronecker", 3, NULL, 20, CLAIM_WRITTEN },
    { "degree 5", "variant=linear weight=power:5 n=3 d=2 mask=causal", "kronecker", 5, NULL, 20, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule recurrent_linear[] = {
    { "", "variant=linear n=7 d=3 e=2 mask=causal", "linear", 0, NULL, 50, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_pair term_is_linear[] = {
    { "", "variant=term:1 n=6 d=3 e=2 mask=causal", "variant=linear n=6 d=3 e=2 mask=causal", ATTEST_O, CLAIM_ALL_ROWS,
      0, 50, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule taylor_states[] = {
    { "causal P=3", "variant=taylor:3 n=5 d=2 e=2 mask=causal", "taylor-states", 3, NULL, 30, CLAIM_WRITTEN },
    { "causal P=6", "variant=taylor:6 n=4 d=2 e=1 mask=causal", "taylor-states", 6, NULL, 20, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule full_states[] = {
    { "full P=3", "variant=taylor:3 n=4 m=6 d=2 e=2", "taylor-states", 3, NULL, 30, CLAIM_WRITTEN },
    { "full P=5", "variant=taylor:5 n=3 d=2 e=1", "taylor-states", 5, NULL, 20, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule quadratic[] = {
    { "", "variant=quadratic n=6 d=3 e=2 mask=causal", "kronecker", 2, NULL, 50, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule quadratic_short[] = {
    { "d terms:", "variant=quadratic n=6 d=3 e=2 mask=causal", "kronecker-short", 2, NULL, 20, CLAIM_WRITTEN },
    { "d^2 terms:", "variant=quadratic n=6 d=3 e=2 mask=causal", "kronecker", 2, NULL, 20, CLAIM_ASIDE },
    { .name = NULL },
};
static const claim_rule gates_forms[] = {
    { "inside", "variant=gated-softmax weight=taylor:3 n=5 d=2 mask=causal", "gates-text", 3, NULL, 25, CLAIM_WRITTEN },
    { "outside", "variant=gated-softmax weight=taylor:3 n=5 d=2 mask=causal", "gates-outside", 3, NULL, 25,
      CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule gates_names[] = {
    { "as printed:", "variant=gated-softmax weight=taylor:3 n=5 d=2 mask=causal", "gates-printed", 3, NULL, 25,
      CLAIM_WRITTEN },
    { "rows out, columns in:", "variant=gated-softmax weight=taylor:3 n=5 d=2 mask=causal", "gates-text", 3, NULL, 25,
      CLAIM_ASIDE },
    { .name = NULL },
};
static const claim_rule expansions[] = {
    { "identity, states", "variant=taylor:4 norm=none n=5 d=2 mask=causal", "taylor-states", 4, NULL, 20,
      CLAIM_WRITTEN },
    { "identity, pairs", "variant=taylor:4 norm=none n=5 d=2 mask=causal", "taylor-sum", 4, NULL, 20, CLAIM_WRITTEN },
    { "relu, states", "variant=relu-taylor:4 norm=none n=5 d=2 mask=causal", "taylor-states", 4, NULL, 20,
      CLAIM_WRITTEN },
    { "relu, pairs", "variant=relu-taylor:4 norm=none n=5 d=2 mask=causal", "taylor-sum", 4, NULL, 20, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule row_factor[] = {
    { "factor in every write:", "variant=linear gates=out n=6 d=2 mask=causal", "factor-inside", 0, NULL, 20,
      CLAIM_WRITTEN },
    { "factor on the row:", "variant=linear gates=out n=6 d=2 mask=causal", "absorbed", 0, NULL, 20, CLAIM_MEANT },
    { .name = NULL },
};
static const claim_pair no_denominator[] = {
    { "", "variant=taylor:4 norm=none n=5 d=2 mask=causal", "variant=taylor:4 n=5 d=2 mask=causal", ATTEST_O,
      CLAIM_ALL_ROWS, 0, 20, CLAIM_WRITTEN },
    { .name = NULL },
};

static const claim_identity packed_states[] = {
    { "P=2", "packed", "variant=taylor:2", 40 },
    { "P=4", "packed", "variant=taylor:4", 40 },
    { .name = NULL },
};
static const claim_identity sum_of_terms[] = {
    { "P=1", "taylor-terms", "variant=taylor:1", 40 },
    { "P=4", "taylor-terms", "variant=taylor:4", 40 },
    { .name = NULL },
};
static const claim_identity two_terms[] = {
    { "", "quadratic-term", "variant=quadratic", 50 },
    { .name = NULL },
};
static const claim_identity what_order_adds[] = {
    { "", "first-order", "variant=linear", 50 },
    { .name = NULL },
};

/* Non-decreasing index lists of length n over 1..d, counted one by one: the distinct entries of k^(x n). */
static int64_t count_sorted(int64_t d, int n)
{
    if (n == 0)
        return 1;
    int64_t total = 0;
    for (int64_t first = 1; first <= d; first++)
        total += count_sorted(first, n - 1);
    return total;
}

/* All index lists of length n over 1..d, counted one by one. */
static int64_t count_all(int64_t d, int n)
{
    int64_t total = n == 0;
    for (int64_t first = 1; n > 0 && first <= d; first++)
        total += count_all(d, n - 1);
    return total;
}

static attest_status state_sizes(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span binomial;
    const int packed = *(const int *)claim->data;
    int64_t compared = 0, different = 0;
    for (int d = 1; d <= 5; d++)
        for (int n = 0; n <= 5; n++, compared++) {
            ATTEST_TRY(
                attest_evidence_value(&binomial, err, packed ? "binom(%d,%d)" : "%d^%d", packed ? d + n - 1 : d, n));
            const int64_t counted = packed ? count_sorted(d, n) : count_all(d, n);
            different += !(binomial.lo <= (double)counted && (double)counted <= binomial.hi) ||
                         counted != attest_state_rows(d, n, packed);
        }
    attest_note(finding, "sizes compared", (double)compared);
    attest_note(finding, "different", (double)different);
    attest_note(finding, "rows at d=4, n=3", (double)attest_state_rows(4, 3, packed));
    ATTEST_TRY(attest_note_value(finding, NULL, "rows at d=64, n=10", err, packed ? "binom(64+10-1,10)" : "64^10"));
    attest_conclude(finding, compared == 30 && different == 0, 0);
out:
    return status;
}
static const int full_rows = 0, packed_rows = 1;

/* Numbers in H_t of the quadratic preset at e = data[0] and at e = d. */
static attest_status state_columns(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    enum { D = 3 };
    attest_status status = ATTEST_OK;
    const int columns[2] = { *(const int *)claim->data, D };
    int64_t counts[2] = { 0, 0 };
    claim_case x = { 0 };
    for (int c = 0; c < 2; c++) {
        attest_decimals d;
        char name[56];
        ATTEST_TRY(claim_case_open(&x, err, "variant=quadratic n=3 d=%d e=%d mask=causal", D, columns[c]));
        ATTEST_TRY(attest_truth_decimals(&d, x.truth, (attest_tensor_id){ ATTEST_KIND_HT, 2 }, 6, 0, err));
        counts[c] = d.count;
        attest_decimals_free(&d);
        claim_case_close(&x);
        snprintf(name, sizeof name, "numbers in H_t at d=%d, e=%d%s", D, columns[c], c ? " = d" : "");
        attest_note(finding, name, (double)counts[c]);
    }
    attest_note(finding, "d^2 d", D * D * D);
    attest_conclude(finding, counts[0] == D * D * D && counts[1] == D * D * D, counts[1] == D * D * D);
out:
    claim_case_close(&x);
    return status;
}
static const int two_columns = 2;

/* ---- a term of the sum ------------------------------------------------------------------------------------------- */
/* One key of score `score`, value 1. */
static attest_status one_key(attest_span *o, const char *variant, double score, attest_error *err)
{
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    ATTEST_TRY(claim_case_scores(&x, &score, 1, 0, err, "%s", variant));
    ATTEST_TRY(attest_evidence_row(o, x.truth, ATTEST_O, (attest_row){ 0, 0, 0 }, err));
out:
    claim_case_close(&x);
    return status;
}

/* data: linear attention is this term (pairs), the numerator is the sum of the terms.  The last figures show what the
 * sentence does not say: an output of linear attention is no output of softmax attention. */
static attest_status single_term(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    attest_statement terms = *claim;
    attest_span linear, softmax;
    ATTEST_TRY(claim_check_pairs(finding, claim, err));
    const int term = finding->verdict == ATTEST_CLAIM_HOLDS;
    terms.data = sum_of_terms;
    ATTEST_TRY(claim_check_identities(finding, &terms, err));
    const int sum = finding->verdict == ATTEST_CLAIM_HOLDS;
    ATTEST_TRY(one_key(&linear, "linear", -1, err));
    ATTEST_TRY(one_key(&softmax, "softmax", -1, err));
    attest_note_span(finding, "one key, value 1, score -1: linear's output", linear);
    attest_note_span(finding, "softmax's, whatever the score", softmax);
    attest_conclude(finding, term && sum, 0);
out:
    return status;
}

static const attest_statement claims[] = {
    { "The n-th power of an inner product is the inner product of the n-th Kronecker powers.",
      "App. A, eqs. 7 and 8; section 3.1 property 1",
      "Kronecker powers written out against the engine's pairwise power, "
      "exact rationals",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_rules, kronecker },
    { "Causal linear attention is a recurrence with state H_t = H_{t-1} + k_t^T v_t, read by o_t = q_t H_t.",
      "section 3, eq. 2", "the recurrence written out against the pairwise sum, identity maps, exact rationals",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_rules, recurrent_linear },
    { "The softmax numerator is a sum over n of recurrent reads 1/n! q^(x n) H^n, H^n accumulated causally.",
      "section 3.1",
      "the states written out to P=3 and 6 against the pairwise Taylor sum of the same order, exact "
      "rationals; convergence in P is a row of its own",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_rules, taylor_states },
    { "The n-th of these RNNs has a state of d^n rows.", "section 3.1 and fig. 1",
      "index tuples counted one by one, d 1..5, n 0..5", ATTEST_CLAIM_HOLDS, NULL, state_sizes, &full_rows },
    { "Of those rows C(d+n-1,n) are distinct: a symmetric power needs no more.",
      "ours, to section 3.1: the packed layout uses it",
      "non-decreasing index tuples counted one by one, d 1..5, n 0..5", ATTEST_CLAIM_HOLDS, NULL, state_sizes,
      &packed_rows },
    { "States of these distinct entries, multinomials at the query, give the same output.",
      "ours, to section 3.1: the packed layout uses it",
      "packed recurrence against the pairwise form, all prefixes, exact rationals", ATTEST_CLAIM_HOLDS, NULL,
      claim_check_identities, packed_states },
    { "The output is a sum of recurrent outputs, each weighted by 1/n!.", "section 3.1 and fig. 1",
      "taylor:P against the sum of term:0 to term:P, exact rationals", ATTEST_CLAIM_HOLDS, NULL, claim_check_identities,
      sum_of_terms },
    { "The n=1 term of the sum is linear attention.", "section 3.2, eq. 3",
      "term:1 against linear on the same inputs, exact rationals", ATTEST_CLAIM_HOLDS, NULL, claim_check_pairs,
      term_is_linear },
    { "Linear attention is what the first order adds to the order below.", "section 3.2",
      "linear against taylor:1 minus taylor:0, exact rationals", ATTEST_CLAIM_HOLDS, NULL, claim_check_identities,
      what_order_adds },
    { "'As linear attention is just a single term in softmax attention, this derivation shows how linear attention is "
      "a subset of softmax attention ...'",
      "section 3.2, after eq. 3",
      "a subset of the terms of the numerator, as the sentence says: linear against term:1, and taylor:P against the "
      "sum of its terms, exact rationals; a subset of the outputs is not meant, and the last figures show that it is "
      "none",
      ATTEST_CLAIM_HOLDS, NULL, single_term, term_is_linear },
    { "The quadratic case has the state H_t = sum (k (x) k)^T v in d^2 rows, read by q (x) q.", "App. B",
      "written out with d^2 terms against the preset, exact rationals", ATTEST_CLAIM_HOLDS, NULL, claim_check_rules,
      quadratic },
    { "The quadratic case is twice the n=2 term of the sum.", "App. B against section 3.1",
      "quadratic against 2 term:2, exact rationals", ATTEST_CLAIM_HOLDS, NULL, claim_check_identities, two_terms },
    { "Its state H_t is in R^(d^2 x d).", "App. B, last line", "numbers in the final state at d=3, e=2 and e=3",
      ATTEST_CLAIM_HOLDS_IF, "e = d: it has the columns of V, d^2 x e", state_columns, &two_columns },
    { "The derivation's sums over the entries of q (x) q run to d from its fourth line on.", "App. B",
      "the same read with d and with d^2 terms (right)", ATTEST_CLAIM_FALSE, NULL, claim_check_rules, quadratic_short },
    { "Without a causal mask the same holds with states summed over all keys.", "App. C",
      "states over all keys against the pairwise sum, mask=full, exact rationals", ATTEST_CLAIM_HOLDS, NULL,
      claim_check_rules, full_states },
    { "Gating rows and columns of the weights is gating the output and the values.", "App. E",
      "both forms written out against gated-softmax with the rational weight T_3, exact rationals", ATTEST_CLAIM_HOLDS,
      NULL, claim_check_rules, gates_forms },
    { "In the formula the gate of the rows is G^in and that of the columns G^out.", "App. E, the display",
      "the display and the text's reading (rows out, columns in: right) on the same random gates", ATTEST_CLAIM_FALSE,
      NULL, claim_check_rules, gates_names },
    { "Powers of phi(q).phi(k) may be taken inside states or inside the pairwise sum.", "App. F, both lines",
      "both forms against the truth at P=4, identity and relu, exact rationals", ATTEST_CLAIM_HOLDS, NULL,
      claim_check_rules, expansions },
    { "The line marked (Softmax), which has no denominator, is softmax attention.", "App. F",
      "the printed sum against the quotient at P=4 on the same inputs", ATTEST_CLAIM_FALSE, NULL, claim_check_pairs,
      no_denominator },
    { "The factor G_t/t of eq. 5 can be moved into the state H_t.", "section 3.3, eq. 5",
      "a row's factor multiplied into each write of the recurrence, and applied to the row", ATTEST_CLAIM_HOLDS_IF,
      "H_t is scaled as a whole at each t: the factor belongs to the row, not to what is accumulated",
      claim_check_rules, row_factor },
};
const attest_claim_source attest_claims_expressiveness = { "paper-expressiveness-of-softmax-attention.txt", claims,
                                                           sizeof claims / sizeof claims[0] };
