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
            ATTEST_TRY(attest_evidence_row(&z, x.truth, ATTEST_Z, (attest_row){ 0, 0, i }, err));
            ATTEST_TRY(attest_evidence_weights(NULL, score, ROWS, &keys, x.truth, (attest_row){ 0, 0, i }, err));
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
        ATTEST_TRY(attest_evidence_row(&o, x.truth, ATTEST_O, (attest_row){ 0, 0, i }, err));
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
            ATTEST_TRY(attest_evidence_cosine(&cosine, x.truth, y.truth, (attest_row){ 0, 0, i }, err));
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

static const claim_identity length_norms[] = {
    { "P=2", "length-l2", "variant=taylor:2 norm=length-l2", 40 },
    { "P=4", "length-l2", "variant=taylor:4 norm=length-l2", 40 },
    { .name = NULL },
};

/* Numbers of gain and shift that each variant reads, against the width; NULL ends data. */
static attest_status norm_parameters(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    enum { WIDTH = 8 };
    static const attest_role roles[2] = { ATTEST_GAIN, ATTEST_SHIFT };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    int64_t most = 0;
    attest_note(finding, "d", WIDTH);
    for (const char *const *line = claim->data; *line; line++) {
        int64_t numbers = 0;
        ATTEST_TRY(claim_case_open(&x, err, "variant=%s n=2 d=%d e=%d", *line, WIDTH, WIDTH));
        for (int r = 0; r < 2; r++) {
            const attest_tensor *t = attest_bundle_role(x.bundle, roles[r]);
            numbers += t ? attest_tensor_count(t) : 0;
        }
        claim_case_close(&x);
        attest_note(finding, *line, (double)numbers);
        most = numbers > most ? numbers : most;
    }
    const int64_t gate = WIDTH; /* weights of one scalar gate of d inputs */
    attest_note(finding, "weights of one gate of d inputs", (double)gate);
    attest_note(finding, "2 d of 20 layers, d=1024, percent of 275M", 100 * 2.0 * 20 * 1024 / 275e6);
    attest_conclude(finding, most <= WIDTH && gate <= WIDTH, gate <= WIDTH && most == 2 * WIDTH);
out:
    claim_case_close(&x);
    return status;
}
static const char *const affine_norms[] = { "l2norm", "layernorm affine=draw", NULL };

/* Difference quotients in t = e^h - 1 of o = u/z as key j's weight grows by the factor e^h: with z moved along and with
 * z held.  Attached less detached, plus p_j o, is -t p_j^2 (v_j - o)/(1 + t p_j): at most t p_j^2 abs(v_j - o). */
static attest_status detached_gradient(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
#define U "(exp(0.5)+exp(-1)*(-2)+exp(2)*3)"
#define Z "(exp(0.5)+exp(-1)+exp(2))"
    static const char *const weight[3] = { "exp(0.5)", "exp(-1)", "exp(2)" }, *const value[3] = { "1", "(-2)", "3" };
    static const char *const steps[2] = { "2^-10", "2^-40" };
    const double factor = *(const double *)claim->data; /* of p_j o */
    attest_status status = ATTEST_OK;
    attest_span ratio;
    double worst = 0;
    for (int j = 0; j < 3; j++)
        for (int s = 0; s < 2; s++) {
            const char *w = weight[j], *v = value[j], *t = steps[s];
            ATTEST_TRY(attest_evidence_value(&ratio, err,
                                             "abs(((" U "+%s*%s*%s)/(" Z "+%s*%s)-" U "/" Z ")/%s-%s*%s/" Z
                                             "+(%g)*%s/" Z "*" U "/" Z ")/(%s*(%s/" Z ")^2*abs(%s-" U "/" Z "))",
                                             t, w, v, t, w, t, w, v, factor, w, t, w, v));
            worst = fmax(worst, ratio.hi);
        }
    attest_note(finding, "largest distance over t p_j^2 abs(v_j - o)", worst);
    for (int j = 0; j < 3; j++) {
        char name[56];
        snprintf(name, sizeof name, "p_j o of key %d", j + 1);
        ATTEST_TRY(attest_note_value(finding, NULL, name, err, "%s/" Z "*" U "/" Z, weight[j]));
    }
    ATTEST_TRY(attest_note_value(finding, NULL, "sum of the detached gradients over the keys (o)", err, U "/" Z));
    attest_conclude(finding, worst <= 1, 0);
out:
    return status;
#undef U
#undef Z
}
static const double once = 1;

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
        ATTEST_TRY(attest_evidence_weights(NULL, score, 32, &keys, x.truth, (attest_row){ 0, 0, i }, err));
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
        ATTEST_TRY(attest_truth_weight_error(&lo, &hi, x.truth, y.truth, (attest_row){ 0, 0, i }, err));
        *worst = fmax(*worst, lo);
    }
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}

/* Terms s^n/n!, n >= 2, of drawn scores, and what leaving them out costs the weights. */
static attest_status cosine_terms(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_span term;
    double low, high, largest = 0, first, second;
    ATTEST_TRY(smallest_score(&low, &high, claim->data, err));
    const double most = fmax(-low, high);
    attest_note(finding, "largest abs(s) of 1024 drawn scores", most);
    for (int n = 2; n <= 10; n++) {
        ATTEST_TRY(attest_evidence_value(&term, err, "%.17g^%d/fact(%d)", most, n, n));
        largest = fmax(largest, term.hi);
    }
    attest_note(finding, "largest term s^n/n!, n 2..10", largest);
    ATTEST_TRY(worst_weight(&first, "variant=cos-taylor:1 scale=1", "variant=softmax feature=unit scale=1", err));
    ATTEST_TRY(worst_weight(&second, "variant=cos-taylor:2 scale=1", "variant=softmax feature=unit scale=1", err));
    attest_note(finding, "weight error without terms above n=1", first);
    attest_note(finding, "above n=2", second);
    attest_conclude(finding, largest < 1, 0);
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
    ATTEST_TRY(attest_evidence_row(o, x.truth, ATTEST_O, (attest_row){ 0, 0, 0 }, err));
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
    ATTEST_TRY(attest_evidence_row(&a, x.truth, ATTEST_O, (attest_row){ 0, 0, 0 }, err));
    ATTEST_TRY(attest_evidence_row(&b, x.truth, ATTEST_O, (attest_row){ 0, 0, 1 }, err));
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
    { "An L2, RMS or layer norm in place of the denominator keeps the direction of softmax's row.",
      "ours, to section 4.5, Norm",
      "the section speaks of training, which is not checked (a row below quotes it); here: cosine between the row so "
      "normalised and the softmax row, 12 rows, enclosed; same direction: 1 within 2^-50",
      ATTEST_CLAIM_HOLDS_IF,
      "the norm subtracts no mean: then the row keeps softmax's direction and differs in length only", norm_direction,
      NULL },
    { "At eps=0 the L2 norm with sequence normalisation is the L2 norm.",
      "ours, to section 4.5, Norm, and fig. 6, which list the two side by side",
      "l2 of u/t against l2 of u at eps=0, exact rationals (squares)", ATTEST_CLAIM_HOLDS, NULL, claim_check_identities,
      length_norms },
    { "'Adding a gate or norm requires up to an additional d parameters per layer'.", "section 4.1",
      "numbers of gain and shift that the norms of section 4.5 read, counted at d=8; a gate's by arithmetic",
      ATTEST_CLAIM_HOLDS_IF,
      "it is one gate a layer, an L2 norm or an RMS norm with a gain: the gain and the shift of a layer norm are 2 d",
      norm_parameters, affine_norms },
    { "Cosine similarities of queries and keys lie between 0 and 1.", "section 4.4", "scores of feature=unit, enclosed",
      ATTEST_CLAIM_FALSE, NULL, cosine_range, cosine_map },
    { "With cosines for inner products 'the resulting higher order interaction terms are less than 1'.", "section 4.4",
      "s^n/n!, n 2..10, at the largest of 1024 drawn cosines, enclosed; that cosine attention gains nothing from them "
      "is said of the loss, which is not checked: the figures say what they change in the weights",
      ATTEST_CLAIM_HOLDS, NULL, cosine_terms, cosine_map },
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
    CLAIM_TRAINED("Models with the norm in place of the denominator train like softmax, with the gate slightly worse.",
                  "section 4.1, figs. 2 and 8"),
    CLAIM_TRAINED("The equivalence scales to 2B parameters and 4096 tokens.", "section 4.2, fig. 3"),
    CLAIM_TRAINED("Linear variants train to a higher loss.", "section 4.3, fig. 4"),
    CLAIM_TRAINED("Train loss falls smoothly as terms are added up to n=10.", "section 4.4, fig. 5"),
    { "Detaching the denominator removes the part -p_j o from the gradient of the output in score j.",
      "ours, to section 4.5, figs. 6 and 9",
      "difference quotients of three keys with the denominator moved along and held, steps 2^-10 and 2^-40: their "
      "distance from -p_j o is at most the term of the next order, enclosed; the loss is a row below",
      ATTEST_CLAIM_HOLDS, NULL, detached_gradient, &once },
};
const attest_claim_source attest_claims_denominator = { "paper-expressiveness-of-softmax-attention.txt", claims,
                                                        sizeof claims / sizeof claims[0] };
