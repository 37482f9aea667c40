/* claims_tutorial_forms.c - the tutorial on linear attention: feature maps, normalisation, the two orders of
 * multiplication, the recurrent form and the exercises about them.
 */
#include "verify/claims/claims_tables.h"

#include <math.h>
#include <stdlib.h>

/* ---- the feature map --------------------------------------------------------------------------------------------- */
static attest_status positive_map(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    attest_span low, left, right, second;
    (void)claim;
    ATTEST_TRY(attest_note_value(finding, &low, "phi(-100) = e^-100", err, "exp(-100)"));
    ATTEST_TRY(attest_note_value(finding, &left, "slope left of 0", err, "(1-exp(-2^-40))/2^-40"));
    ATTEST_TRY(attest_note_value(finding, &right, "slope right of 0", err, "((2^-40+1)-1)/2^-40"));
    ATTEST_TRY(attest_note_value(finding, &second, "second difference left of 0, over h^2", err,
                                 "(1-2*exp(-2^-40)+exp(-2^-39))/2^-80"));
    const int once = low.lo > 0 && fabs(left.lo - right.lo) < 0x1p-39;
    /* right of 0 the second difference is 0 */
    attest_conclude(finding, once && fabs(second.lo) < 0x1p-20, once && second.lo > 0.5);
out:
    return status;
}

/* Rows without a positive weight, of 16 over 4 drawn keys that are mostly negative. */
static attest_status relu_rows(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    enum { ROWS = 16, KEYS = 4, WIDTH = 2 };
    static const char *const features[2] = { "linear-relu", "linear-elu" };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    int64_t empty[2] = { 0, 0 };
    double keys[KEYS * WIDTH];
    (void)claim;
    for (int f = 0; f < 2; f++)
        for (int seed = 0; seed < 8; seed++) {
            ATTEST_TRY(claim_case_open(&x, err, "variant=%s n=%d m=%d d=%d e=1 seed=%d", features[f], ROWS, KEYS, WIDTH,
                                       seed));
            const attest_tensor *t = attest_bundle_role(x.bundle, ATTEST_K);
            for (int at = 0; at < KEYS * WIDTH; at++)
                keys[at] = attest_load(t, at) > 1 ? 1 : -1; /* about five of six negative */
            claim_case_close(&x);
            ATTEST_TRY(claim_case_parse(&x, err, "variant=%s n=%d m=%d d=%d e=1 seed=%d", features[f], ROWS, KEYS,
                                        WIDTH, seed));
            ATTEST_TRY(claim_case_put(&x, ATTEST_K, keys, err));
            ATTEST_TRY(claim_case_ready(&x, err));
            for (int64_t i = 0; i < ROWS; i++) {
                attest_span z;
                ATTEST_TRY(attest_evidence_row(&z, x.truth, ATTEST_Z, (attest_row){ 0, 0, i }, err));
                empty[f] += z.lo <= 0;
            }
            claim_case_close(&x);
        }
    attest_note(finding, "rows", 8 * ROWS);
    attest_note(finding, "0/0 with relu", (double)empty[0]);
    attest_note(finding, "0/0 with elu+1", (double)empty[1]);
    attest_conclude(finding, empty[0] > 0 && empty[1] == 0, 0);
out:
    claim_case_close(&x);
    return status;
}

/* det [e^(x_i x_j)] > 0 for n different x: no map to fewer than n features has these inner products. */
static attest_status no_finite_map(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    attest_span two, three, linear;
    (void)claim;
    ATTEST_TRY(attest_note_value(finding, &two, "det of e^(xy), x,y in 0,1", err, "1*exp(1)-1*1"));
    ATTEST_TRY(attest_note_value(finding, &three, "x,y in 0,1,2", err,
                                 "exp(1)*exp(4)-exp(2)*exp(2)-(exp(4)-exp(2))+(exp(2)-exp(1))"));
    ATTEST_TRY(attest_note_value(finding, &linear, "det of xy, x,y in 1,2", err, "1*4-2*2"));
    int positive = 1;
    for (int n = 2; n <= 7; n++) {
        char text[400] = "1", name[32];
        size_t at = 1;
        attest_span product;
        for (int b = 1; b < n; b++)
            for (int a = 0; a < b; a++)
                at += (size_t)snprintf(text + at, sizeof text - at, "*(exp(%d)-exp(%d))", b, a);
        snprintf(name, sizeof name, "Vandermonde, n=%d", n);
        ATTEST_TRY(attest_note_value(finding, &product, name, err, "%s", text));
        const attest_span *written = n == 2 ? &two : n == 3 ? &three : &product;
        positive = positive && product.lo > 0 && written->lo <= product.hi && product.lo <= written->hi;
    }
    attest_conclude(finding, positive && two.lo > 0 && three.lo > 0 && linear.lo <= 0 && linear.hi >= 0, 0);
out:
    return status;
}

/* ---- forms ------------------------------------------------------------------------------------------------------- */
static const claim_rule associative[] = {
    { "(QK^T)V", "variant=linear n=5 d=4 e=4", "scores-first", 0, NULL, 25, CLAIM_WRITTEN },
    { "Q(K^TV)", "variant=linear n=5 d=4 e=4", "values-first", 0, NULL, 25, CLAIM_WRITTEN },
    { "relu, Q(K^TV)", "variant=linear-relu n=5 d=4 e=4", "values-first", 0, NULL, 25, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule recurrent[] = {
    { "", "variant=linear-relu mask=causal n=6 d=4 e=4", "linear", 0, NULL, 50, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_pair last_token[] = {
    { "linear, u:", "variant=linear n=5 d=4 mask=causal", "variant=linear n=5 d=4", ATTEST_U, CLAIM_LAST_ROW, 0, 25,
      CLAIM_WRITTEN },
    { "relu, z:", "variant=linear-relu n=5 d=4 mask=causal", "variant=linear-relu n=5 d=4", ATTEST_Z, CLAIM_LAST_ROW, 0,
      25, CLAIM_WRITTEN },
    { "softmax, o:", "variant=softmax n=5 d=4 mask=causal", "variant=softmax n=5 d=4", ATTEST_O, CLAIM_LAST_ROW, 1, 25,
      CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_pair first_token[] = {
    { "linear, u:", "variant=linear n=5 d=4 mask=causal", "variant=linear n=5 d=4", ATTEST_U, CLAIM_FIRST_ROW, 0, 25,
      CLAIM_WRITTEN },
    { .name = NULL },
};

static attest_status two_orders(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    claim_case x = { 0 };
    attest_work pairs, state;
    attest_match match = { 0 };
    int equal;
    ATTEST_TRY(claim_check_rules(finding, claim, err));
    ATTEST_TRY(claim_case_open(&x, err, "variant=linear norm=sum n=5 d=4 e=4"));
    ATTEST_TRY(attest_evidence_work(&pairs, &match, "pairs", x.truth, err));
    ATTEST_TRY(attest_evidence_work(&state, &match, "state", x.truth, err));
    ATTEST_TRY(attest_match_decide(&equal, &match, 2 * 5 * 4, err));
    attest_note(finding, "multiply-adds of (QK^T)V, N=5, d=4", (double)pairs.products);
    attest_note(finding, "of Q(K^TV)", (double)state.products);
    attest_conclude(finding, equal && finding->verdict == ATTEST_CLAIM_HOLDS && state.products < pairs.products, 0);
out:
    claim_case_close(&x);
    return status;
}

/* The first row of the causal form sees one key: others change it in the other form only. */
static attest_status first_differs(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const attest_status status = claim_check_pairs(finding, claim, err);
    if (status == ATTEST_OK)
        attest_conclude(finding, finding->verdict == ATTEST_CLAIM_FALSE, 0);
    return status;
}

static const claim_rule one_state[] = {
    { "N=1:", "variant=linear-relu mask=causal n=1 d=4 e=4", "linear", 0, NULL, 4, CLAIM_WRITTEN },
    { "N=8:", "variant=linear-relu mask=causal n=8 d=4 e=4", "linear", 0, NULL, 4, CLAIM_WRITTEN },
    { "N=64:", "variant=linear-relu mask=causal n=64 d=4 e=4", "linear", 0, NULL, 1, CLAIM_WRITTEN },
    { .name = NULL },
};

/* ---- normalisation ----------------------------------------------------------------------------------------------- */
/* Largest |o| over the largest |v| of drawn rows (v within 1: family uniform). */
static attest_status hull(double *largest, const char *line, attest_error *err)
{
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    double top = 0;
    *largest = 0;
    ATTEST_TRY(claim_case_open(&x, err, "%s n=32 d=4 e=1 family=uniform", line));
    const attest_tensor *v = attest_bundle_role(x.bundle, ATTEST_V);
    for (int64_t j = 0; j < 32; j++)
        top = fmax(top, fabs(attest_load(v, j)));
    for (int64_t i = 0; i < 32; i++) {
        attest_span o;
        ATTEST_TRY(attest_evidence_row(&o, x.truth, ATTEST_O, (attest_row){ 0, 0, i }, err));
        *largest = fmax(*largest, fmax(fabs(o.lo), fabs(o.hi)) / top);
    }
out:
    claim_case_close(&x);
    return status;
}

static attest_status inside_hull(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    double elu, squared, identity;
    const char *signed_map = claim->data; /* features of both signs */
    ATTEST_TRY(hull(&elu, "variant=linear-elu", err));
    ATTEST_TRY(hull(&squared, "variant=linear feature=elu1 norm=sum weight=power:2", err));
    ATTEST_TRY(hull(&identity, signed_map, err));
    attest_note(finding, "largest abs(o)/max abs(v), elu+1", elu);
    attest_note(finding, "squared elu+1 scores", squared);
    attest_note(finding, "the map of both signs", identity);
    attest_conclude(finding, elu <= 1 && identity <= 1, elu <= 1 && squared <= 1);
out:
    return status;
}

static const char identity_map[] = "variant=linear norm=sum";

/* Largest |u| without the denominator at growing N. */
static attest_status grows_without(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const int lengths[3] = { 16, 64, 256 };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    double before = 0;
    int grows = 1;
    (void)claim;
    for (int l = 0; l < 3; l++) {
        attest_span u, o;
        char name[56];
        ATTEST_TRY(claim_case_open(&x, err, "variant=linear-elu n=1 m=%d d=4 e=1 family=ones", lengths[l]));
        ATTEST_TRY(attest_evidence_row(&u, x.truth, ATTEST_U, (attest_row){ 0, 0, 0 }, err));
        ATTEST_TRY(attest_evidence_row(&o, x.truth, ATTEST_O, (attest_row){ 0, 0, 0 }, err));
        claim_case_close(&x);
        snprintf(name, sizeof name, "numerator at N=%d, v=1", lengths[l]);
        attest_note_span(finding, name, u);
        grows = grows && u.lo > 2 * before && o.lo > 1 - 0x1p-40 && o.hi < 1 + 0x1p-40;
        before = u.hi;
    }
    attest_conclude(finding, grows, 0);
out:
    claim_case_close(&x);
    return status;
}

/* Negative entries of q and k, each an exponential of elu+1, against N^2 of softmax; and whether the outputs are those
 * of a state of rationals, without the exponential of any score. */
static attest_status exponentials(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    enum { D = 64 };
    static const int lengths[3] = { 16, 64, 256 };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    attest_work work;
    attest_match match = { 0 };
    int64_t all = 0;
    int equal;
    for (int l = 0; l < 3; l++) {
        const int n = lengths[l];
        int64_t negative = 0;
        char name[56];
        ATTEST_TRY(claim_case_open(&x, err, "variant=%s n=%d d=%d", (const char *)claim->data, n, D));
        const int each = attest_axis_value_of(&x.c.problem, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_ELU1;
        for (int t = 0; t < 2; t++) {
            const attest_tensor *tensor = attest_bundle_role(x.bundle, t ? ATTEST_K : ATTEST_Q);
            for (int at = 0; at < n * D; at++)
                negative += each && attest_load(tensor, at) < 0;
        }
        claim_case_close(&x);
        snprintf(name, sizeof name, "exponentials of the feature map, N=%d", n);
        attest_note(finding, name, (double)negative);
        snprintf(name, sizeof name, "of softmax, N=%d", n);
        attest_note(finding, name, n * n);
        all += negative;
    }
    ATTEST_TRY(claim_case_open(&x, err, "variant=%s n=8 d=4 family=positive", (const char *)claim->data));
    ATTEST_TRY(attest_evidence_work(&work, &match, "state", x.truth, err));
    attest_note_match(finding, "state of rationals, entries >= 0, outputs", &match, 0);
    ATTEST_TRY(attest_match_decide(&equal, &match, 8 * 4, err));
    attest_conclude(finding, all == 0 && equal, equal && match.rational == match.compared);
out:
    claim_case_close(&x);
    return status;
}

static const char exponential_map[] = "linear-elu";

/* phi of the ten rows of Q and K, each as the z-state of a sequence of one key. */
static attest_status feature_tables(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    int64_t compared = 0, different = 0;
    const double added = *(const double *)claim->data;
    for (int r = 0; r < 2 * CLAIM_TUTORIAL_TOKENS; r++) {
        const double *row = (r < CLAIM_TUTORIAL_TOKENS ? claim_tutorial_q : claim_tutorial_k) +
                            r % CLAIM_TUTORIAL_TOKENS * CLAIM_TUTORIAL_WIDTH;
        attest_decimals d;
        ATTEST_TRY(claim_case_parse(&x, err, "variant=linear-elu n=1 d=%d e=1", CLAIM_TUTORIAL_WIDTH));
        ATTEST_TRY(claim_case_put(&x, ATTEST_K, row, err));
        ATTEST_TRY(claim_case_ready(&x, err));
        ATTEST_TRY(attest_truth_decimals(&d, x.truth, (attest_tensor_id){ ATTEST_KIND_ZT, 1 }, 17, 0, err));
        for (int64_t c = 0; c < d.count; c++, compared++)
            different += !d.mid[c] || strtod(d.mid[c], NULL) != row[c] + added;
        attest_decimals_free(&d);
        claim_case_close(&x);
    }
    attest_note(finding, "entries", (double)compared);
    attest_note(finding, "not the entry plus 1", (double)different);
    attest_conclude(finding, compared == 40 && different == 0, 0);
out:
    claim_case_close(&x);
    return status;
}
static const double one_more = 1;

static const claim_identity tiles[] = {
    { "linear-elu", "split", "variant=linear-elu", 40 },
    { "taylor:2", "split", "variant=taylor:2", 40 },
    { .name = NULL },
};

static const attest_statement claims[] = {
    { "phi(Q) and phi(K) of the example are Q and K plus 1.", "Step 1",
      "z-state of each row as a sequence of one key, "
      "against the entry plus 1",
      ATTEST_CLAIM_HOLDS, NULL, feature_tables, &one_more },
    { "Softmax admits no feature map with as many features as the head has dimensions.", "The Kernel Trick Intuition",
      "determinant of e^(ab), a, b = 0..n-1, the Vandermonde product of e^b - e^a, enclosed above 0 for n 2..7 "
      "(written out "
      "for 2 and 3): rank n on a line, so no map to n-1 features, d 1..6; larger d not run",
      ATTEST_CLAIM_HOLDS, NULL, no_finite_map, NULL },
    { "(QK^T)V = Q(K^TV), the latter with fewer operations at N=5, d=4.",
      "Matrix Multiplication is Associative; "
      "exercise 1",
      "both orders written out against the engine, exact rationals; multiply-adds counted", ATTEST_CLAIM_HOLDS, NULL,
      two_orders, associative },
    { "elu(x)+1 is positive everywhere and smooth.", "The Feature Map",
      "phi(-100) > 0; slopes at 0 within 2^-39; second difference left of 0 above 1/2, right of it 0",
      ATTEST_CLAIM_HOLDS_IF, "smooth means once differentiable: the second derivative jumps at 0", positive_map, NULL },
    { "With ReLU features and many negative keys rows lose all weight (0/0); elu+1 avoids it.", "exercise 2",
      "denominators of 128 rows over four drawn keys, most of them negative, exact or enclosed", ATTEST_CLAIM_HOLDS,
      NULL, relu_rows, NULL },
    { "Causal linear attention is the recurrence S += phi(k)^T v, z += phi(k).", "The Recurrent Equations",
      "the recurrence against the pairwise numerator, relu, exact rationals", ATTEST_CLAIM_HOLDS, NULL,
      claim_check_rules, recurrent },
    { "The last token's output is the same in the causal and the non-causal form.", "exercise 3",
      "last rows under both masks: linear, relu exact, softmax enclosed to 2^-100", ATTEST_CLAIM_HOLDS, NULL,
      claim_check_pairs, last_token },
    { "The first token's output differs: causally it sees itself only.", "exercise 3",
      "first rows under both masks, exact "
      "rationals",
      ATTEST_CLAIM_HOLDS, NULL, first_differs, first_token },
    { "The state keeps its size whatever the length.", "The Recurrent Equations and Key Takeaways",
      "outputs of N=1, 8, 64 tokens from one state carried along against the pairwise sum, relu, exact rationals; its "
      "numbers counted",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_constant_state, one_state },
    { "The denominator keeps outputs in the range of the values.", "Why Normalize? and The Feature Map",
      "largest abs(o) over the largest abs(v), 32 drawn rows, enclosed", ATTEST_CLAIM_HOLDS_IF,
      "the features are non-negative, as elu(x)+1", inside_hull, identity_map },
    { "Without it the output's size depends on the number of tokens.", "Why Normalize?",
      "one query, all v=1, d=4, elu+1: numerator at N=16, 64, 256 more than doubles, the output stays 1 within 2^-40",
      ATTEST_CLAIM_HOLDS, NULL, grows_without, NULL },
    { "'Linear attention is faster because it avoids the exponential nonlinearity of softmax.'",
      "The Quality-Speed Trade-off",
      "exponentials counted at d=64: of softmax one for each of N^2 scores, of elu(x)+1 one for each negative entry of "
      "drawn q and k; a run of the state form on exact rationals; no time, operations are rows of their own",
      ATTEST_CLAIM_HOLDS_IF,
      "the exponential of a score is meant, which keeps Q(K^T V) from being computed first; elu(x)+1 takes others, "
      "about N d of them: as many as softmax at N = d, more below",
      exponentials, exponential_map },
    { "Tiles of keys can be summed apart and added.", "Connection to Modern Systems, Flash Linear Attention",
      "two parts of the keys as states of their own, every cut, exact rationals", ATTEST_CLAIM_HOLDS, NULL,
      claim_check_identities, tiles },
};
const attest_claim_source attest_claims_tutorial_forms = { "tutorial-linear-attention.txt", claims,
                                                           sizeof claims / sizeof claims[0] };
