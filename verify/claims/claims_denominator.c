/* claims_denominator.c - "On the Expressiveness of Softmax Attention ...": its statements about the denominator,
 * feature maps and what other work says of softmax; its training results.
 */
#include "verify/claims/claims_tables.h"

#include <math.h>

/* ---- the denominator --------------------------------------------------------------------------------------------- */
/* Of drawn causal rows: how many have G_t = 1/z > 1, at t <= 4 and above, and among those with a score >= 0. */
static attest_status count_gates(attest_claim_finding *finding, int64_t above[2], int64_t *with_score,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    enum { ROWS = 64 };
    claim_case x = { 0 };
    attest_span z, score[ROWS];
    int64_t keys, nonnegative = 0;
    above[0] = above[1] = *with_score = 0;
    for (int seed = 0; seed < 4; seed++) {
        ATTEST_TRY(claim_case_open(&x, err, "variant=softmax n=64 d=4 scale=1 mask=causal seed=%d", seed));
        for (int64_t i = 0; i < ROWS; i++) {
            ATTEST_TRY(attest_evidence_row(&z, x.truth, ATTEST_Z, 0, 0, i, err));
            ATTEST_TRY(attest_evidence_weights(NULL, score, ROWS, &keys, x.truth, 0, 0, i, err));
            int some = 0;
            for (int64_t j = 0; j < keys; j++)
                some |= score[j].lo >= 0;
            nonnegative += some;
            above[i >= 4] += z.hi < 1;
            *with_score += some && z.lo < 1;
        }
        claim_case_close(&x);
    }
    attest_note(finding, "rows drawn", 4 * ROWS);
    attest_note(finding, "rows with a score >= 0", (double)nonnegative);
out:
    claim_case_close(&x);
    return status;
}

static attest_status gate_range(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t above[2], with_score;
    attest_span g;
    (void)claim;
    ATTEST_TRY(count_gates(finding, above, &with_score, err));
    attest_note(finding, "rows with G > 1", (double)(above[0] + above[1]));
    attest_note(finding, "of them with a score >= 0", (double)with_score);
    ATTEST_TRY(attest_note_value(finding, &g, "G at t=1, s=-10", err, "1/exp(-10)"));
    attest_conclude(finding, above[0] + above[1] == 0 && g.hi <= 1, with_score == 0);
out:
    return status;
}

typedef struct gate_case {
    double score;
    int64_t length;
} gate_case;

static attest_status gate_above_one(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const gate_case *at = claim->data;
    int64_t above[2], with_score;
    attest_span g;
    ATTEST_TRY(count_gates(finding, above, &with_score, err));
    attest_note(finding, "drawn rows with G > 1, t <= 4", (double)above[0]);
    attest_note(finding, "drawn rows with G > 1, t > 4", (double)above[1]);
    attest_note(finding, "t", (double)at->length);
    ATTEST_TRY(attest_note_value(finding, &g, "G, every score -10", err, "1/(%lld*exp(%.17g))", (long long)at->length,
                                 at->score));
    attest_conclude(finding, g.hi <= 1, 0);
out:
    return status;
}
static const gate_case long_row = { -10, 1000 };

static attest_status largest_output(double *largest, const char *variant, attest_error *err)
{
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    attest_span o;
    *largest = 0;
    ATTEST_TRY(claim_case_open(&x, err, "variant=%s n=64 d=4 e=1 scale=4 mask=causal family=ones", variant));
    for (int64_t i = 0; i < 64; i++) {
        ATTEST_TRY(attest_evidence_row(&o, x.truth, ATTEST_O, 0, 0, i, err));
        *largest = fmax(*largest, o.hi);
    }
out:
    claim_case_close(&x);
    return status;
}

static attest_status clamp_and_length(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span bound;
    double divided, plain, unclamped;
    (void)claim;
    ATTEST_TRY(attest_note_value(finding, &bound, "e^5", err, "exp(5)"));
    ATTEST_TRY(largest_output(&divided, "divlen", err));
    ATTEST_TRY(largest_output(&plain, "no-denominator", err));
    ATTEST_TRY(largest_output(&unclamped, "divlen clamp=none", err));
    attest_note(finding, "largest o, v=1: clamped, divided by t", divided);
    attest_note(finding, "clamped only", plain);
    attest_note(finding, "divided only", unclamped);
    attest_conclude(finding, divided <= bound.lo && plain > bound.hi && unclamped > bound.hi, 0);
out:
    return status;
}

/* Smallest cosine between the rows of softmax and of another norm. */
static attest_status norm_direction(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const char *const norms[] = { "l2norm", "rmsnorm", "layernorm" };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    attest_span smallest[3];
    (void)claim;
    for (int n = 0; n < 3; n++) {
        char name[56];
        smallest[n] = (attest_span){ 1, 1 };
        ATTEST_TRY(claim_case_open(&x, err, "variant=softmax n=12 d=4"));
        ATTEST_TRY(claim_case_open(&y, err, "variant=%s n=12 d=4", norms[n]));
        for (int64_t i = 0; i < 12; i++) {
            attest_span cosine;
            ATTEST_TRY(attest_evidence_cosine(&cosine, x.truth, y.truth, 0, 0, i, err));
            if (cosine.lo < smallest[n].lo)
                smallest[n] = cosine;
        }
        claim_case_close(&x);
        claim_case_close(&y);
        snprintf(name, sizeof name, "smallest cosine, %s", norms[n]);
        attest_note_span(finding, name, smallest[n]);
    }
    const int l2 = smallest[0].hi >= 1 && smallest[0].lo > 1 - 0x1p-50;
    const int rms = smallest[1].hi >= 1 && smallest[1].lo > 1 - 0x1p-50;
    attest_conclude(finding, l2 && rms && smallest[2].hi >= 1, l2 && rms);
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}

/* u/t and u under the L2 norm: different anywhere? */
static attest_status length_and_norm(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    attest_claim_finding same = { 0 };
    ATTEST_TRY(claim_check_identities(&same, claim, err));
    for (size_t f = 0; f < same.count; f++)
        attest_note_span(finding, same.figures[f].name, same.figures[f].value);
    attest_conclude(finding, same.verdict == ATTEST_CLAIM_FALSE, 0);
out:
    return status;
}
static const claim_identity length_norms[] = {
    { "P=2", "length-l2", "variant=taylor:2 norm=length-l2", 40 },
    { "P=4", "length-l2", "variant=taylor:4 norm=length-l2", 40 },
    { .name = NULL },
};

/* ---- features ---------------------------------------------------------------------------------------------------- */
/* Smallest score of drawn rows under a feature map. */
static attest_status smallest_score(double *smallest, double *largest, const char *feature, attest_error *err)
{
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    attest_span score[32];
    int64_t keys;
    *smallest = INFINITY;
    *largest = -INFINITY;
    ATTEST_TRY(claim_case_open(&x, err, "variant=softmax feature=%s n=32 d=4 scale=1", feature));
    for (int64_t i = 0; i < 32; i++) {
        ATTEST_TRY(attest_evidence_weights(NULL, score, 32, &keys, x.truth, 0, 0, i, err));
        for (int64_t j = 0; j < keys; j++) {
            *smallest = fmin(*smallest, score[j].lo);
            *largest = fmax(*largest, score[j].hi);
        }
    }
out:
    claim_case_close(&x);
    return status;
}

static attest_status cosine_range(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double low, high;
    ATTEST_TRY(smallest_score(&low, &high, claim->data, err));
    attest_note(finding, "smallest of 1024 drawn cosines", low);
    attest_note(finding, "largest", high);
    attest_conclude(finding, low >= 0 && high <= 1, 0);
out:
    return status;
}

static attest_status relu_range(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double low, high, plain, top;
    ATTEST_TRY(smallest_score(&low, &high, claim->data, err));
    ATTEST_TRY(smallest_score(&plain, &top, "identity", err));
    attest_note(finding, "smallest phi(q).phi(k)", low);
    attest_note(finding, "smallest q.k", plain);
    attest_conclude(finding, low >= 0 && plain < 0, 0);
out:
    return status;
}

static const char relu_map[] = "relu", cosine_map[] = "unit";

/* Largest relative weight error of `one` against `two` over the rows. */
static attest_status worst_weight(double *worst, const char *one, const char *two, attest_error *err)
{
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    *worst = 0;
    ATTEST_TRY(claim_case_open(&x, err, "%s n=16 d=4 seed=5", one));
    ATTEST_TRY(claim_case_open(&y, err, "%s n=16 d=4 seed=5", two));
    for (int64_t i = 0; i < 16; i++) {
        double lo, hi;
        ATTEST_TRY(attest_truth_weight_error(&lo, &hi, x.truth, y.truth, 0, 0, i, err));
        *worst = fmax(*worst, lo);
    }
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}

static attest_status cosine_terms(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double first, second;
    (void)claim;
    ATTEST_TRY(worst_weight(&first, "variant=cos-taylor:1 scale=1", "variant=softmax feature=unit scale=1", err));
    ATTEST_TRY(worst_weight(&second, "variant=cos-taylor:2 scale=1", "variant=softmax feature=unit scale=1", err));
    attest_note(finding, "weight error without terms above n=1", first);
    attest_note(finding, "above n=2", second);
    attest_note(finding, "bf16 unit roundoff", 0x1p-8);
    attest_conclude(finding, first <= 0x1p-8, 0);
out:
    return status;
}

static attest_status feature_limit(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double own, ten, thirty;
    (void)claim;
    ATTEST_TRY(worst_weight(&own, "variant=elu-taylor:60", "variant=softmax feature=elu1", err));
    ATTEST_TRY(worst_weight(&ten, "variant=elu-taylor:10", "variant=softmax", err));
    ATTEST_TRY(worst_weight(&thirty, "variant=elu-taylor:60", "variant=softmax", err));
    attest_note(finding, "weight error of elu-taylor:60 against e^(phi.phi)", own);
    attest_note(finding, "elu-taylor:10 against softmax", ten);
    attest_note(finding, "elu-taylor:60 against softmax", thirty);
    attest_conclude(finding, own < 0x1p-24 && ten > 0x1p-8 && thirty > 0x1p-8, 0);
out:
    return status;
}

/* ---- softmax of nothing ------------------------------------------------------------------------------------------ */
static attest_status all_scores(attest_span *o, const char *variant, double score, attest_error *err)
{
    attest_status status = ATTEST_OK;
    static const double sink[1] = { 0 };
    claim_case x = { 0 };
    double scores[8], v[8], q[1] = { 1 };
    for (int j = 0; j < 8; j++)
        scores[j] = score, v[j] = 1;
    ATTEST_TRY(claim_case_parse(&x, err, "variant=%s n=1 m=8 d=1 e=1 scale=1 in=f64", variant));
    ATTEST_TRY(claim_case_put(&x, ATTEST_Q, q, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_K, scores, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_V, v, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_SINK, sink, err));
    ATTEST_TRY(claim_case_ready(&x, err));
    ATTEST_TRY(attest_evidence_row(o, x.truth, ATTEST_O, 0, 0, 0, err));
out:
    claim_case_close(&x);
    return status;
}

static attest_status zero_out(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span softmax, down, up;
    const double size = *(const double *)claim->data;
    ATTEST_TRY(all_scores(&softmax, "softmax", -size, err));
    ATTEST_TRY(all_scores(&down, "softmax1", -size, err));
    ATTEST_TRY(all_scores(&up, "softmax1", size, err));
    attest_note_span(finding, "weight given away by softmax", softmax);
    attest_note_span(finding, "with 1 in the denominator, scores to -inf", down);
    attest_note_span(finding, "scores to +inf", up);
    attest_conclude(finding, softmax.lo > 0.999 && up.hi<0x1p-24, softmax.lo> 0.999 && down.hi < 0x1p-24);
out:
    return status;
}

static const double far_scores = 50;

/* Distance between the outputs of queries q and r over two keys (1,0), (0,1) or one, values 1 and 2. */
static attest_status query_distance(attest_span *apart, const char *variant, const double *q, int64_t keys,
                                    attest_error *err)
{
    static const double k[4] = { 1, 0, 0, 1 }, v[2] = { 1, 2 };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    attest_span a, b;
    ATTEST_TRY(claim_case_parse(&x, err, "variant=%s n=2 m=%lld d=2 e=1 scale=1", variant, (long long)keys));
    ATTEST_TRY(claim_case_put(&x, ATTEST_Q, q, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_K, k, err));
    ATTEST_TRY(claim_case_put(&x, ATTEST_V, v, err));
    ATTEST_TRY(claim_case_ready(&x, err));
    ATTEST_TRY(attest_evidence_row(&a, x.truth, ATTEST_O, 0, 0, 0, err));
    ATTEST_TRY(attest_evidence_row(&b, x.truth, ATTEST_O, 0, 0, 1, err));
    *apart = (attest_span){ fmax(0, fmax(a.lo - b.hi, b.lo - a.hi)), fmax(a.hi - b.lo, b.hi - a.lo) };
out:
    claim_case_close(&x);
    return status;
}

static attest_status injective(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const double doubled[4] = { 1, 3, 2, 6 }, shifted[4] = { 1, 3, 2, 4 };
    attest_status status = ATTEST_OK;
    attest_span linear, softmax, along;
    (void)claim;
    ATTEST_TRY(query_distance(&linear, "linear-relu", doubled, 2, err));
    ATTEST_TRY(query_distance(&softmax, "softmax", doubled, 2, err));
    ATTEST_TRY(query_distance(&along, "softmax", shifted, 2, err));
    attest_note_span(finding, "linear-relu, q and 2q", linear);
    attest_note_span(finding, "softmax, q and 2q", softmax);
    attest_note_span(finding, "softmax, q and q+(1,1), k1-k2=(1,-1)", along);
    const int narrow = linear.hi < 0x1p-50 && softmax.lo > 0.01;
    attest_conclude(finding, narrow && along.lo > 0, narrow);
out:
    return status;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */
#define TRAINED(statement, section)                                                                                    \
    {                                                                                                                  \
        statement, section, "needs the paper's training runs", ATTEST_CLAIM_NOT_CHECKABLE, NULL, NULL, NULL            \
    }

static const attest_statement claims[] = {
    { "The denominator's inverse G_t has values from 0 to 1.", "section 3.3, eq. 4",
      "1/z of drawn causal rows, enclosed, and one row of score -10", ATTEST_CLAIM_HOLDS_IF,
      "some visible score is >= 0", gate_range, NULL },
    { "G_t above 1 occurs only for small t.", "section 3.3, footnote 2",
      "drawn causal rows counted by t, and a row of 1000 scores -10", ATTEST_CLAIM_FALSE, NULL, gate_above_one,
      &long_row },
    { "Dividing by the length and clamping scores at 5 keeps the output bounded; one of them alone does not.",
      "section 3.3", "largest o over 64 causal rows with v=1 against e^5", ATTEST_CLAIM_HOLDS, NULL, clamp_and_length,
      NULL },
    { "The L2 norm, RMS norm and layer norm are interchangeable in place of the denominator.", "section 4.5, Norm",
      "cosine between the row so normalised and the softmax row, 12 rows, enclosed; same direction: 1 within 2^-50",
      ATTEST_CLAIM_HOLDS_IF,
      "the norm subtracts no mean: then the row keeps softmax's direction and differs in length only", norm_direction,
      NULL },
    { "L2 norm with sequence normalisation is a variant of its own beside the L2 norm.", "section 4.5, Norm, fig. 6",
      "l2 of u/t against l2 of u at eps=0, exact rationals (squares)", ATTEST_CLAIM_FALSE, NULL, length_and_norm,
      length_norms },
    { "A gate adds at most d parameters a layer.", "section 4.1",
      "counts a layer that is not run here: d for one gate, d heads for one a head", ATTEST_CLAIM_NOT_CHECKABLE, NULL,
      NULL, NULL },
    { "Cosine similarities of queries and keys lie between 0 and 1.", "section 4.4", "scores of feature=unit, enclosed",
      ATTEST_CLAIM_FALSE, NULL, cosine_range, cosine_map },
    { "For cosine attention the terms above the first hardly matter.", "section 4.4",
      "largest relative weight error of cos-taylor:1 against e^cos, 16 rows; `hardly`: below a bf16 rounding",
      ATTEST_CLAIM_FALSE, NULL, cosine_terms, NULL },
    { "Linear variants with more terms converge, but not to softmax.", "section 4.4",
      "weight errors of elu-taylor:10 and :60 against softmax (above 2^-8) and against "
      "e^(phi(q).phi(k)) (below 2^-24), 16 rows",
      ATTEST_CLAIM_HOLDS, NULL, feature_limit, NULL },
    { "ReLU confines the inner products to one sign, the exponential's argument is not confined.", "section 3.2",
      "smallest of 1024 drawn scores with and without relu", ATTEST_CLAIM_HOLDS, NULL, relu_range, relu_map },
    { "When all scores go to infinity softmax cannot give nothing away; a constant in the denominator lets it.",
      "section 2, Why Softmax?",
      "8 equal scores of -50 and +50, softmax and softmax1 with sink 0, v=1; nothing: below 2^-24; all: above 0.999",
      ATTEST_CLAIM_HOLDS_IF, "the scores go to minus infinity", zero_out, &far_scores },
    { "Softmax attention's weights tell queries apart, linear attention's do not.", "section 2, Why Softmax?",
      "two keys, values 1 and 2: outputs of q and 2q (the same: within 2^-50; apart: 0.01), and of q "
      "moved across the keys' difference",
      ATTEST_CLAIM_HOLDS_IF, "the differences of the keys span the space of the queries", injective, NULL },
    TRAINED("Models with the norm in place of the denominator train like softmax, with the gate slightly worse.",
            "section 4.1, figs. 2 and 8"),
    TRAINED("The equivalence scales to 2B parameters and 4096 tokens.", "section 4.2, fig. 3"),
    TRAINED("Linear variants train to a higher loss.", "section 4.3, fig. 4"),
    TRAINED("Train loss falls smoothly as terms are added up to n=10.", "section 4.4, fig. 5"),
    TRAINED("Detaching or removing the denominator costs loss or stability.", "section 4.5, figs. 6 and 9"),
};
const attest_claim_source attest_claims_denominator = { "paper-expressiveness-of-softmax-attention.txt", claims,
                                                        sizeof claims / sizeof claims[0] };
