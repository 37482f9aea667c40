/* claims_tutorial_tables.c - the tutorial on linear attention: every table of its worked example "The cat sat on the
 * mat" and what it says of them.  Q, K and V are those of examples/tutorial.
 */
#include "verify/claims/claims_tables.h"

#include <math.h>
#include <stdlib.h>

enum { TOKENS = CLAIM_TUTORIAL_TOKENS, WIDTH = CLAIM_TUTORIAL_WIDTH, MOST = 32 };

const double claim_tutorial_q[TOKENS * WIDTH] = { 1, 0, 1, 0, 0, 2, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1 };
const double claim_tutorial_k[TOKENS * WIDTH] = { 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0.5, 0.5 };
const double claim_tutorial_v[TOKENS * WIDTH] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.5, 0.5, 0.5, 0.5 };

static attest_status example(claim_case *x, const char *line, attest_error *err)
{
    attest_status status;
    ATTEST_TRY(claim_case_parse(x, err, "%s n=%d d=%d", line, TOKENS, WIDTH));
    ATTEST_TRY(claim_case_put(x, ATTEST_Q, claim_tutorial_q, err));
    ATTEST_TRY(claim_case_put(x, ATTEST_K, claim_tutorial_k, err));
    ATTEST_TRY(claim_case_put(x, ATTEST_V, claim_tutorial_v, err));
    ATTEST_TRY(claim_case_ready(x, err));
out:
    return status;
}

/* The final state of degree 1 (or its sum of features): decimals of 40 digits. */
static attest_status final_state(attest_span *value, int count, claim_case *x, int sum, attest_error *err)
{
    attest_decimals d;
    const attest_tensor_id id = { sum ? ATTEST_KIND_ZT : ATTEST_KIND_HT, 1 };
    const attest_status status = attest_truth_decimals(&d, x->truth, id, 40, 0, err);
    if (status != ATTEST_OK)
        return status;
    int known = d.count >= count;
    for (int c = 0; c < count && known; c++) {
        known = d.mid[c] != NULL;
        value[c].lo = value[c].hi = known ? strtod(d.mid[c], NULL) : 0;
    }
    attest_decimals_free(&d);
    return known ? ATTEST_OK : attest_fail(err, ATTEST_INTERNAL, "the state has no %d known numbers", count);
}

static attest_status true_table(attest_span *value, const claim_printed *t, attest_error *err)
{
    attest_status status;
    claim_case x = { 0 };
    int64_t keys;
    ATTEST_TRY(example(&x, t->line, err));
    if (t->what == CLAIM_PRINTED_STATE || t->what == CLAIM_PRINTED_SUM)
        ATTEST_TRY(final_state(value, t->count, &x, t->what == CLAIM_PRINTED_SUM, err));
    for (int64_t i = 0; i < TOKENS; i++) {
        if (t->what == CLAIM_PRINTED_U || t->what == CLAIM_PRINTED_O)
            ATTEST_TRY(attest_evidence_row(value + i * WIDTH, x.truth, t->what == CLAIM_PRINTED_U ? ATTEST_U : ATTEST_O,
                                           (attest_row){ 0, 0, i }, err));
        if (t->what == CLAIM_PRINTED_Z)
            ATTEST_TRY(attest_evidence_row(value + i, x.truth, ATTEST_Z, (attest_row){ 0, 0, i }, err));
        if (t->what == CLAIM_PRINTED_WEIGHTS)
            ATTEST_TRY(attest_evidence_weights(value + i * TOKENS, NULL, TOKENS, &keys, x.truth,
                                               (attest_row){ 0, 0, i }, err));
    }
out:
    claim_case_close(&x);
    return status;
}

attest_status claim_check_printed(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const claim_printed *t = claim->data;
    attest_status status;
    static const int sizes[] = { TOKENS * WIDTH, TOKENS, TOKENS * WIDTH, WIDTH * WIDTH, WIDTH, TOKENS * TOKENS };
    attest_span value[MOST];
    int64_t wrong = 0;
    double worst = 0;
    if (t->count != sizes[t->what])
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "%d numbers printed of %d", t->count, sizes[t->what]));
    ATTEST_TRY(true_table(value, t, err));
    for (int c = 0; c < t->count; c++) {
        const double off = fmax(fabs(t->printed[c] - value[c].lo), fabs(t->printed[c] - value[c].hi)) / t->unit;
        worst = fmax(worst, off);
        wrong += !(off <= 0.5 + 0x1p-30); /* a printed half is either way */
    }
    attest_note(finding, "numbers", t->count);
    attest_note(finding, "not the rounded truth", (double)wrong);
    attest_note(finding, "largest difference, in the last digit", worst);
    attest_note_span(finding, "first", value[0]);
    attest_note_span(finding, "last", value[t->count - 1]);
    attest_conclude(finding, wrong == 0, 0);
out:
    return status;
}

#define ELU "variant=linear-elu scale=1"
#define SOFTMAX "variant=softmax scale=0.5"

static const double printed_state[16] = {
    2, 3, 3, 2, 2.5, 1.5, 2.5, 1.5, 1.75, 2.75, 1.75, 2.75, 2.75, 1.75, 1.75, 2.75
};
static const double printed_sum[4] = { 8, 7, 7.5, 7.5 };
static const double printed_u[20] = { 12.75, 14.75, 13.75, 13.75, 16.75, 13.75, 15.75, 14.75, 15.25, 16.25,
                                      16.25, 15.25, 13.5,  13.5,  12.5,  14.5,  13.75, 13.75, 13.75, 13.75 };
static const double printed_z[5] = { 45.5, 51.5, 52.5, 45, 45.5 };
static const double printed_o[20] = { 0.2802, 0.3242, 0.3022, 0.3022, 0.3252, 0.2670, 0.3058, 0.2864, 0.2905, 0.3095,
                                      0.3095, 0.2905, 0.3000, 0.3000, 0.2778, 0.3222, 0.3022, 0.3022, 0.3022, 0.3022 };
static const double printed_linear[25] = { 0.1758, 0.2198, 0.1978, 0.1978, 0.2088, 0.2330, 0.1748, 0.2136, 0.1942,
                                           0.1845, 0.1905, 0.2095, 0.2095, 0.1905, 0.2000, 0.2000, 0.2000, 0.1778,
                                           0.2222, 0.2000, 0.1978, 0.1978, 0.1978, 0.1978, 0.2088 };
static const double printed_softmax[25] = { 0.1095, 0.2976, 0.1805, 0.1805, 0.2318, 0.4026, 0.0898, 0.2442, 0.1481,
                                            0.1153, 0.1519, 0.2505, 0.2505, 0.1519, 0.1951, 0.1903, 0.1903, 0.1154,
                                            0.3137, 0.1903, 0.1892, 0.1892, 0.1892, 0.1892, 0.2430 };
static const claim_printed state_table = { ELU, CLAIM_PRINTED_STATE, 16, 0.01, printed_state };
static const claim_printed sum_table = { ELU, CLAIM_PRINTED_SUM, 4, 0.1, printed_sum };
static const claim_printed u_table = { ELU, CLAIM_PRINTED_U, 20, 1e-4, printed_u };
static const claim_printed z_table = { ELU, CLAIM_PRINTED_Z, 5, 0.1, printed_z };
static const claim_printed o_table = { ELU, CLAIM_PRINTED_O, 20, 1e-4, printed_o };
static const claim_printed linear_table = { ELU, CLAIM_PRINTED_WEIGHTS, 25, 1e-4, printed_linear };
static const claim_printed softmax_table = { SOFTMAX, CLAIM_PRINTED_WEIGHTS, 25, 1e-4, printed_softmax };

/* ---- the spread of the weights ----------------------------------------------------------------------------------- */
static attest_status weights_of(attest_span *value, const char *line, attest_error *err)
{
    const claim_printed t = { line, CLAIM_PRINTED_WEIGHTS, 25, 1, NULL };
    return true_table(value, &t, err);
}

/* Standard deviation of the five weights of each row (mean exactly 1/5), from the middles of 2^-50 wide enclosures. */
static attest_status row_spread(double spread[TOKENS], const char *line, attest_error *err)
{
    attest_status status;
    attest_span w[25];
    ATTEST_TRY(weights_of(w, line, err));
    for (int i = 0; i < TOKENS; i++) {
        double sum = 0;
        for (int j = 0; j < TOKENS; j++) {
            const double mid = (w[i * TOKENS + j].lo + w[i * TOKENS + j].hi) / 2 - 0.2;
            sum += mid * mid;
        }
        spread[i] = sqrt(sum / TOKENS);
    }
out:
    return status;
}

static attest_status spread_ranges(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const double *printed = claim->data; /* softmax from, to, linear from, to */
    attest_status status;
    double softmax[TOKENS], linear[TOKENS], end[4] = { INFINITY, 0, INFINITY, 0 };
    static const char *const names[4] = { "smallest, softmax", "largest, softmax", "smallest, linear",
                                          "largest, linear" };
    static const double unit[4] = { 0.01, 0.01, 0.001, 0.01 };
    int64_t wrong = 0;
    ATTEST_TRY(row_spread(softmax, SOFTMAX, err));
    ATTEST_TRY(row_spread(linear, ELU, err));
    for (int i = 0; i < TOKENS; i++) {
        end[0] = fmin(end[0], softmax[i]);
        end[1] = fmax(end[1], softmax[i]);
        end[2] = fmin(end[2], linear[i]);
        end[3] = fmax(end[3], linear[i]);
    }
    for (int c = 0; c < 4; c++) {
        attest_note(finding, names[c], end[c]);
        wrong += !(fabs(end[c] - printed[c]) <= unit[c] / 2);
    }
    attest_conclude(finding, wrong == 0, 0);
out:
    return status;
}
static const double printed_spread[4] = { 0.02, 0.11, 0.004, 0.02 };

static attest_status flatness(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const double *printed = claim->data; /* from, to */
    attest_status status;
    double softmax[TOKENS], linear[TOKENS], low = INFINITY, high = 0;
    ATTEST_TRY(row_spread(softmax, SOFTMAX, err));
    ATTEST_TRY(row_spread(linear, ELU, err));
    for (int i = 0; i < TOKENS; i++) {
        low = fmin(low, softmax[i] / linear[i]);
        high = fmax(high, softmax[i] / linear[i]);
    }
    attest_note(finding, "smallest ratio of spreads", low);
    attest_note(finding, "largest", high);
    attest_note(finding, "smallest, rounded", round(low));
    attest_note(finding, "largest, rounded", round(high));
    attest_conclude(finding, round(low) >= printed[0] && round(high) <= printed[1], 0);
out:
    return status;
}
static const double printed_ratio[2] = { 3, 5 };

static const double unlike_keys[TOKENS * WIDTH] = { [4] = 1, [8] = 2, [12] = 4, [16] = 8 }; /* of different sums */

/* A query of zeros over keys of different sums: softmax is uniform, elu+1 weighs keys by their sums. */
static attest_status flatter_always(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const char *const lines[2] = { "variant=softmax scale=0.5", "variant=linear-elu scale=1" };
    attest_status status = ATTEST_OK;
    attest_span w[TOKENS];
    claim_case x = { 0 };
    double spread[2] = { 0, 0 }, softmax[TOKENS], linear[TOKENS];
    int64_t keys;
    int64_t flatter = 0;
    const double *query = claim->data;
    for (int s = 0; s < 2; s++) {
        ATTEST_TRY(claim_case_parse(&x, err, "%s n=1 m=%d d=%d e=%d", lines[s], TOKENS, WIDTH, WIDTH));
        ATTEST_TRY(claim_case_put(&x, ATTEST_Q, query, err));
        ATTEST_TRY(claim_case_put(&x, ATTEST_K, unlike_keys, err));
        ATTEST_TRY(claim_case_put(&x, ATTEST_V, claim_tutorial_v, err));
        ATTEST_TRY(claim_case_ready(&x, err));
        ATTEST_TRY(attest_evidence_weights(w, NULL, TOKENS, &keys, x.truth, (attest_row){ 0, 0, 0 }, err));
        for (int j = 0; j < TOKENS; j++)
            spread[s] = fmax(spread[s], fabs(w[j].lo - 0.2));
        claim_case_close(&x);
    }
    ATTEST_TRY(row_spread(softmax, SOFTMAX, err));
    ATTEST_TRY(row_spread(linear, ELU, err));
    for (int i = 0; i < TOKENS; i++)
        flatter += linear[i] < softmax[i];
    attest_note(finding, "furthest from 1/5 at that query, softmax", spread[0]);
    attest_note(finding, "linear", spread[1]);
    attest_note(finding, "rows of the example where linear is flatter", (double)flatter);
    attest_conclude(finding, spread[1] <= spread[0] && flatter == TOKENS, flatter == TOKENS);
out:
    claim_case_close(&x);
    return status;
}

static const double zero_query[WIDTH] = { 0 };

/* Distance of each output from the mean value 0.3, row by row. */
static attest_status nearer_the_mean(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const claim_printed lines[2] = { { ELU, CLAIM_PRINTED_O, 20, 1, NULL }, { SOFTMAX, CLAIM_PRINTED_O, 20, 1, NULL } };
    attest_status status;
    attest_span value[2][20];
    int64_t nearer = 0;
    double mean = 0, apart = 0;
    (void)claim;
    ATTEST_TRY(true_table(value[0], &lines[0], err));
    ATTEST_TRY(true_table(value[1], &lines[1], err));
    for (int j = 0; j < TOKENS; j++)
        mean += claim_tutorial_v[j * WIDTH] / TOKENS;
    for (int i = 0; i < TOKENS; i++) {
        double far[2] = { 0, 0 };
        for (int s = 0; s < 2; s++)
            for (int c = 0; c < WIDTH; c++)
                far[s] = fmax(far[s], fabs(value[s][i * WIDTH + c].lo - 0.3));
        nearer += far[0] < far[1];
    }
    for (int c = 0; c < 20; c++)
        apart = fmax(apart, fmax(value[0][c].lo - value[1][c].hi, value[1][c].lo - value[0][c].hi));
    attest_note(finding, "mean of a value column", mean);
    attest_note(finding, "rows nearer to it than softmax's", (double)nearer);
    attest_note(finding, "largest distance between the two outputs", apart);
    attest_conclude(finding, nearer == TOKENS && fabs(mean - 0.3) < 0x1p-50, 0);
out:
    return status;
}

/* Largest relative weight error against softmax over keys of different sums, of a query whose first entry is `size`. */
static attest_status error_at(attest_span *error, const char *variant, double size, attest_error *err)
{
    const double query[WIDTH] = { size };
    attest_status status = ATTEST_OK;
    claim_case x[2] = { { .truth = NULL } };
    for (int s = 0; s < 2; s++) {
        ATTEST_TRY(claim_case_parse(&x[s], err, "variant=%s scale=1 n=1 m=%d d=%d e=%d", s ? "softmax" : variant,
                                    TOKENS, WIDTH, WIDTH));
        ATTEST_TRY(claim_case_put(&x[s], ATTEST_Q, query, err));
        ATTEST_TRY(claim_case_put(&x[s], ATTEST_K, unlike_keys, err));
        ATTEST_TRY(claim_case_put(&x[s], ATTEST_V, claim_tutorial_v, err));
        ATTEST_TRY(claim_case_ready(&x[s], err));
    }
    ATTEST_TRY(attest_truth_weight_error(&error->lo, &error->hi, x[0].truth, x[1].truth, (attest_row){ 0, 0, 0 }, err));
out:
    claim_case_close(&x[0]);
    claim_case_close(&x[1]);
    return status;
}

/* A first-order approximation: no error at 0, and error over size falls with the size. */
static attest_status approximates(attest_claim_finding *finding, int *yes, const char *variant, attest_error *err)
{
    attest_status status;
    attest_span zero, wide, narrow;
    char name[56];
    ATTEST_TRY(error_at(&zero, variant, 0, err));
    ATTEST_TRY(error_at(&wide, variant, 0x1p-4, err));
    ATTEST_TRY(error_at(&narrow, variant, 0x1p-8, err));
    snprintf(name, sizeof name, "%s, weight error at q=0", variant);
    attest_note_span(finding, name, zero);
    snprintf(name, sizeof name, "%s, over the size at 2^-4", variant);
    attest_note_span(finding, name, (attest_span){ wide.lo * 0x1p4, wide.hi * 0x1p4 });
    snprintf(name, sizeof name, "%s, over the size at 2^-8", variant);
    attest_note_span(finding, name, (attest_span){ narrow.lo * 0x1p8, narrow.hi * 0x1p8 });
    *yes = zero.lo <= 0 && zero.hi < 0x1p-50 && narrow.hi * 0x1p8 < wide.lo * 0x1p4;
out:
    return status;
}

static attest_status other_mechanism(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    int tutorial, taylor;
    ATTEST_TRY(approximates(finding, &tutorial, claim->data, err));
    ATTEST_TRY(approximates(finding, &taylor, "taylor:1", err));
    attest_conclude(finding, !tutorial && !taylor, !tutorial);
out:
    return status;
}
static const char elu_line[] = "linear-elu";

static attest_status cat_weights(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const double *printed = claim->data; /* percent: softmax to The and itself, linear the same */
    attest_status status;
    attest_span softmax[25], linear[25];
    ATTEST_TRY(weights_of(softmax, SOFTMAX, err));
    ATTEST_TRY(weights_of(linear, ELU, err));
    const attest_span at[4] = { softmax[5], softmax[6], linear[5], linear[6] };
    static const char *const names[4] = { "softmax, to The", "to itself", "linear, to The", "linear, to itself" };
    int64_t wrong = 0;
    for (int c = 0; c < 4; c++) {
        attest_note(finding, names[c], 100 * at[c].lo);
        wrong += !(fabs(100 * at[c].lo - printed[c]) <= 0.05 + 1e-12);
    }
    attest_conclude(finding, wrong == 0, 0);
out:
    return status;
}
static const double printed_cat[4] = { 40.3, 9.0, 23.3, 17.5 };

static attest_status weights_sum(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    attest_span w[25], low = { INFINITY, INFINITY };
    double off = 0;
    (void)claim;
    ATTEST_TRY(weights_of(w, ELU, err));
    for (int i = 0; i < TOKENS; i++) {
        double sum = -1;
        for (int j = 0; j < TOKENS; j++) {
            sum += w[i * TOKENS + j].lo;
            low = w[i * TOKENS + j].lo < low.lo ? w[i * TOKENS + j] : low;
        }
        off = fmax(off, fabs(sum));
    }
    attest_note_span(finding, "smallest weight", low);
    attest_note(finding, "largest abs(sum - 1) of the lower ends", off);
    attest_conclude(finding, low.lo > 0 && off < 0x1p-48, 0);
out:
    return status;
}

static const attest_statement claims[] = {
    { "phi(K)^T V is the printed 4x4 matrix.", "Step 2", "final state of degree 1, exact, against the print",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_printed, &state_table },
    { "The numerators are as printed.", "Step 3", "u, exact, against the print", ATTEST_CLAIM_HOLDS, NULL,
      claim_check_printed, &u_table },
    { "The rows of phi(K) sum to [8, 7, 7.5, 7.5].", "Step 4", "final z-state, exact, against the print",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_printed, &sum_table },
    { "The denominators are as printed.", "Step 4", "z, exact, against the print", ATTEST_CLAIM_HOLDS, NULL,
      claim_check_printed, &z_table },
    { "The outputs are as printed.", "Step 5 and Output Matrix", "o, exact, against the print rounded to 4 digits",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_printed, &o_table },
    { "The implicit linear weights are as printed.", "Interpreting the Weights, first table",
      "weights, enclosed, against "
      "the print rounded to 4 digits",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_printed, &linear_table },
    { "The softmax weights are as printed.", "Interpreting the Weights, second table",
      "weights at scale 1/2, enclosed, "
      "against the print rounded to 4 digits",
      ATTEST_CLAIM_HOLDS, NULL, claim_check_printed, &softmax_table },
    { "The implicit weights of a query are positive and sum to 1.", "Why Normalize?",
      "weights of the example, enclosed, sum within 2^-48 of 1", ATTEST_CLAIM_HOLDS, NULL, weights_sum, NULL },
    { "`cat` gives 40.3% and 9.0% under softmax, 23.3% and 17.5% under linear attention.", "Interpreting the Weights",
      "weights, enclosed, rounded to 0.1%", ATTEST_CLAIM_HOLDS, NULL, cat_weights, printed_cat },
    { "Row standard deviations: softmax 0.02 to 0.11, linear 0.004 to 0.02.", "Interpreting the Weights",
      "standard deviation of the five weights, from enclosures, rounded as printed", ATTEST_CLAIM_HOLDS, NULL,
      spread_ranges, printed_spread },
    { "Linear attention is 3 to 5 times more uniform.", "Interpreting the Weights",
      "ratio of the standard deviations, row by row, rounded as printed like those above: 4 to 5, inside 3 to 5",
      ATTEST_CLAIM_HOLDS, NULL, flatness, printed_ratio },
    { "Linear attention's weights are flatter than softmax's.", "Key Takeaways",
      "the example's rows, and a query of "
      "zeros over keys of different sums, enclosed",
      ATTEST_CLAIM_HOLDS_IF, "the queries are the example's; at q=0 softmax is uniform, linear attention is not",
      flatter_always, zero_query },
    { "Linear outputs are closer to the mean value 0.30.", "Output Matrix",
      "largest distance from 0.3 per row, enclosed", ATTEST_CLAIM_HOLDS, NULL, nearer_the_mean, NULL },
    { "'Linear attention does not approximate softmax attention. It computes a different attention mechanism ...'",
      "Key Takeaways",
      "the limit of small scores, where a first-order approximation becomes exact, over five keys of different sums: "
      "largest relative weight error at q=0, and at q of size 2^-4 and 2^-8 over that size, enclosed",
      ATTEST_CLAIM_HOLDS_IF,
      "the feature map is elu(x)+1, as in the tutorial; the features (1, x), taylor:1, do approximate softmax",
      other_mechanism, elu_line },
};
const attest_claim_source attest_claims_tutorial_tables = { "tutorial-linear-attention.txt", claims,
                                                            sizeof claims / sizeof claims[0] };
