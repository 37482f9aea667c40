/* claims_norms.c - "On the Expressiveness of Softmax Attention ...": how stable the norm is, what its shapes and sizes
 * are; what it says of training beside them.
 */
#include "verify/claims/claims_tables.h"

#include <math.h>
#include <stdio.h>

/* ---- a running maximum ------------------------------------------------------------------------------------------- */
enum { KEYS = 4, VALUES = 2 };
static const double values[KEYS][VALUES] = { { 1, 2 }, { -1, 0.5 }, { 0.25, 1 }, { 2, -2 } };

static attest_status four_keys(claim_case *x, const char *variant, const double score[KEYS], attest_error *err)
{
    static const double one[1] = { 1 };
    attest_status status;
    ATTEST_TRY(claim_case_parse(x, err, "variant=%s n=1 m=%d d=1 e=%d scale=1 in=f64", variant, KEYS, VALUES));
    ATTEST_TRY(claim_case_put(x, ATTEST_Q, one, err));
    ATTEST_TRY(claim_case_put(x, ATTEST_K, score, err));
    ATTEST_TRY(claim_case_put(x, ATTEST_V, values[0], err));
    ATTEST_TRY(claim_case_ready(x, err));
out:
    return status;
}

/* Component c of the numerator in two tiles of two keys: each tile less its own maximum, then rescaled to that of
 * both. */
static void tiled_numerator(char *text, size_t len, const double score[KEYS], int c)
{
    size_t at = 0;
    const double both = fmax(fmax(score[0], score[1]), fmax(score[2], score[3]));
    for (int tile = 0; tile < 2; tile++) {
        const double *s = score + 2 * tile, most = fmax(s[0], s[1]);
        at += (size_t)snprintf(text + at, len - at, "%s(exp(%g)*(%g)+exp(%g)*(%g))*exp(%g)", tile ? "+" : "",
                               s[0] - most, values[2 * tile][c], s[1] - most, values[2 * tile + 1][c], most - both);
    }
}

/* Does the online form give the row?  Spans are as wide as two roundings of a double. */
static attest_status online_row(int *same, claim_case *x, const double score[KEYS], int mean, attest_error *err)
{
    attest_status status;
    attest_span o[VALUES], tiled;
    char u[VALUES][160];
    for (int c = 0; c < VALUES; c++)
        tiled_numerator(u[c], sizeof u[c], score, c);
    ATTEST_TRY(attest_evidence_row(o, x->truth, ATTEST_O, (attest_row){ 0, 0, 0 }, err));
    *same = 1;
    for (int c = 0; c < VALUES; c++) {
        ATTEST_TRY(
            attest_evidence_value(&tiled, err, "(%s)/sqrt(((%s)^2+(%s)^2)/%d)", u[c], u[0], u[1], mean ? VALUES : 1));
        *same = *same && tiled.lo <= o[c].hi && o[c].lo <= tiled.hi && tiled.hi - tiled.lo < 0x1p-50;
    }
out:
    return status;
}

static attest_status stable_norm(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    static const char *const norms[2] = { "l2norm", "rmsnorm" };
    const double top = *(const double *)claim->data, score[KEYS] = { top - 29, top, top - 1, top - 59 };
    const double moved[KEYS] = { -29, 0, -1, -59 };
    attest_status status = ATTEST_OK;
    claim_case x = { 0 }, y = { 0 };
    attest_span share;
    int all = 1;
    attest_note(finding, "largest score", top);
    ATTEST_TRY(attest_note_value(finding, &share, "e^s over the largest f32", err, "exp(%g)/((2-2^-23)*2^127)", top));
    for (int n = 0; n < 2; n++) {
        attest_match match = { 0 };
        char name[56];
        int equal, online;
        ATTEST_TRY(four_keys(&x, norms[n], score, err));
        ATTEST_TRY(four_keys(&y, norms[n], moved, err));
        ATTEST_TRY(attest_evidence_same(&match, ATTEST_O, x.truth, (attest_row){ 0, 0, 0 }, y.truth,
                                        (attest_row){ 0, 0, 0 }, err));
        ATTEST_TRY(attest_match_decide(&equal, &match, VALUES, err));
        ATTEST_TRY(online_row(&online, &x, score, n, err));
        claim_case_close(&x);
        claim_case_close(&y);
        snprintf(name, sizeof name, "%s, less the maximum:", norms[n]);
        attest_note_match(finding, name, &match, 1);
        snprintf(name, sizeof name, "%s, two tiles give the row", norms[n]);
        attest_note(finding, name, online);
        all = all && equal && online;
    }
    attest_conclude(finding, all && share.hi <= 1, all);
out:
    claim_case_close(&x);
    claim_case_close(&y);
    return status;
}
static const double out_of_range = 89;

/* ---- shapes and sizes -------------------------------------------------------------------------------------------- */
/* Numbers of denominators in N rows, against N and N d. */
static attest_status gate_shape(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    enum { ROWS = 4 };
    const int width = *(const int *)claim->data;
    attest_status status;
    claim_case x = { 0 };
    attest_decimals z;
    ATTEST_TRY(claim_case_open(&x, err, "variant=softmax n=%d d=%d mask=causal", ROWS, width));
    ATTEST_TRY(attest_truth_decimals(&z, x.truth, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_Z }, 6, 0, err));
    const int64_t count = z.count;
    attest_decimals_free(&z);
    attest_note(finding, "denominators of 4 rows", (double)count);
    attest_note(finding, "numbers in R^N", ROWS);
    attest_note(finding, "numbers in N of R^d", ROWS * width);
    attest_conclude(finding, count == ROWS && count == ROWS * width, 0);
out:
    claim_case_close(&x);
    return status;
}
static const int three_wide = 3;

typedef struct model_size {
    int64_t hidden, mlp, layers, vocabulary;
    double printed, unit; /* unit of the printed digit; hidden = 0 ends the table */
} model_size;

/* Llama 2: four matrices hidden x hidden and three hidden x mlp a layer, two gains a layer and one at the end, input
 * and output embeddings apart. */
static attest_status model_sizes(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    int64_t wrong = 0;
    (void)err;
    for (const model_size *m = claim->data; m->hidden; m++) {
        const int64_t layer = 4 * m->hidden * m->hidden + 3 * m->hidden * m->mlp + 2 * m->hidden;
        const int64_t body = m->layers * layer + m->hidden, embedding = m->vocabulary * m->hidden;
        char name[56];
        snprintf(name, sizeof name, "parameters, hidden size %d", (int)m->hidden);
        attest_note(finding, name, (double)(body + 2 * embedding));
        snprintf(name, sizeof name, "with one embedding, hidden size %d", (int)m->hidden);
        attest_note(finding, name, (double)(body + embedding));
        wrong += round((double)(body + 2 * embedding) / m->unit) * m->unit != m->printed;
    }
    attest_note(finding, "not the printed size rounded", (double)wrong);
    attest_conclude(finding, wrong == 0, 0);
    return ATTEST_OK;
}
static const model_size sizes[] = {
    { 1024, 2048, 20, 32000, 300e6, 100e6 },
    { 3072, 6144, 20, 32000, 2e9, 1e9 },
    { .hidden = 0 },
};

static const attest_statement claims[] = {
    { "'We employ the L2 vector norm for this analysis and find that it is numerically stable.'", "section 4.1, eq. 6",
      "of arithmetic, not of training: e^s of a score of 89 against the largest f32; rows under l2 and rms with the "
      "maximum subtracted and without, enclosed to 2^-100, and in two tiles with a running maximum",
      ATTEST_CLAIM_HOLDS_IF,
      "a (running) maximum is subtracted, which the norm does not see at eps=0: so the form tiled serves it; e^s as "
      "printed leaves f32 above s = 88.7",
      stable_norm, &out_of_range },
    { "G is in R^N and each G_t in R^d.", "section 3.1, after the derivation",
      "numbers of the denominators of four causal rows at d=3: one a row, as R^N has it", ATTEST_CLAIM_FALSE, NULL,
      gate_shape, &three_wide },
    { "The models have 'about 300 million' and 'about 2B' parameters.", "sections 4.1 and 4.2, App. D",
      "matrices of Llama 2 at the printed sizes, 20 layers, 32000 tokens, counted and rounded as printed",
      ATTEST_CLAIM_HOLDS, NULL, model_sizes, sizes },
    CLAIM_TRAINED(
        "In the ablation of norms 'any type of normalization, with or without learnable parameters, works just as well "
        "as softmax'.",
        "section 4.5, Norm, fig. 6"),
    CLAIM_TRAINED("The authors 'note that cosine attention does not gain any benefit from additional terms'.",
                  "section 4.4, fig. 5"),
    CLAIM_TRAINED(
        "The authors 'find that detaching the denominator from the computation graph significantly hurts downstream "
        "performance'.",
        "section 4.5, figs. 6 and 9"),
};
const attest_claim_source attest_claims_norms = { "paper-expressiveness-of-softmax-attention.txt", claims,
                                                  sizeof claims / sizeof claims[0] };
