/* claims_tutorial_costs.c - the tutorial on linear attention: the table of costs and the crossovers.  Operations of
 * the crossovers are counted while both forms run (attest_evidence_work), at small shapes; exponentials and feature
 * maps are not counted, and no time is taken.
 */
#include "verify/claims/claims_case.h"

#include <math.h>

/* ---- the table of the quadratic wall ----------------------------------------------------------------------------- */
typedef struct wall_row {
    double length, entries, entries_unit, bytes, bytes_unit, operations,
        operations_unit; /* printed; unit of the last digit */
} wall_row;

#define KIB 1024.0
static const wall_row wall[] = {
    { 512, 262e3, 1e3, 1, 1, 16.8e6, 0.1e6 },
    { 2048, 4.2e6, 0.1e6, 16, 1, 268e6, 1e6 },
    { 4096, 16.8e6, 0.1e6, 64, 1, 1.1e9, 0.1e9 },
    { 32768, 1.07e9, 0.01e9, 4096, 1, 68.7e9, 0.1e9 },
    { 100000, 10e9, 1e9, 40000, 1000, 640e9, 1e9 },
    { 1e6, 1e12, 1e12, 4e6, 1e6, 64e12, 1e12 },
    { 0, 0, 0, 0, 0, 0, 0 },
};
/* as printed: MB for the first three, GB, GB, TB */

static int rounds_to(double value, double printed, double unit) { return fabs(value - printed) <= unit / 2; }

static attest_status wall_entries(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    int64_t rows = 0, wrong = 0;
    (void)err;
    for (const wall_row *r = claim->data; r->length > 0; r++, rows++)
        wrong += !rounds_to(r->length * r->length, r->entries, r->entries_unit);
    attest_note(finding, "rows", (double)rows);
    attest_note(finding, "not N^2 rounded", (double)wrong);
    attest_conclude(finding, rows > 0 && wrong == 0, 0);
    return ATTEST_OK;
}

/* 4 N^2 bytes in binary and in decimal megabytes. */
static attest_status wall_memory(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    int64_t rows = 0, binary = 0, decimal = 0, either = 0;
    (void)err;
    for (const wall_row *r = claim->data; r->length > 0; r++, rows++) {
        const double bytes = 4 * r->length * r->length;
        const int b = rounds_to(bytes / KIB / KIB, r->bytes, r->bytes_unit);
        const int d = rounds_to(bytes / 1e6, r->bytes, r->bytes_unit);
        binary += b;
        decimal += d;
        either += b || d;
    }
    attest_note(finding, "rows", (double)rows);
    attest_note(finding, "right in units of 2^20 bytes", (double)binary);
    attest_note(finding, "right in units of 10^6 bytes", (double)decimal);
    attest_note(finding, "GiB at N=100000", 4e10 / KIB / KIB / KIB);
    attest_conclude(finding, binary == rows || decimal == rows, either == rows);
    return ATTEST_OK;
}

static attest_status wall_operations(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    int64_t rows = 0, scores = 0, all = 0;
    (void)err;
    for (const wall_row *r = claim->data; r->length > 0; r++, rows++) {
        const double once = r->length * r->length * 64;
        scores += rounds_to(once, r->operations, r->operations_unit);
        all += rounds_to(4 * once, r->operations,
                         r->operations_unit); /* QK^T and PV, a multiplication and an addition */
    }
    attest_note(finding, "rows", (double)rows);
    attest_note(finding, "equal to the multiply-adds of QK^T", (double)scores);
    attest_note(finding, "equal to the FLOPs of QK^T and PV", (double)all);
    attest_note(finding, "FLOPs at N=4096, d=64", 4.0 * 4096 * 4096 * 64);
    attest_conclude(finding, all == rows, scores == rows);
    return ATTEST_OK;
}

static attest_status model_memory(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const double *printed = claim->data; /* 2^30 bytes */
    const double bytes = 4.0 * 4096 * 4096 * 32 * 40;
    (void)err;
    attest_note(finding, "2^30 bytes", bytes / KIB / KIB / KIB);
    attest_note(finding, "10^9 bytes", bytes / 1e9);
    attest_conclude(finding, bytes / KIB / KIB / KIB == *printed && bytes > 80e9, 0);
    return ATTEST_OK;
}
static const double printed_model = 80;

/* Work of a form on drawn inputs; its outputs must be the truth's. */
static attest_status count_work(attest_work *work, const char *form, const char *variant, int n, int m, int d,
                                attest_error *err)
{
    attest_status status = ATTEST_OK;
    claim_case x = { 0 };
    attest_match match = { 0 };
    int equal;
    ATTEST_TRY(claim_case_open(&x, err, "variant=%s n=%d m=%d d=%d e=%d", variant, n, m, d, d));
    ATTEST_TRY(attest_evidence_work(work, &match, form, x.truth, err));
    ATTEST_TRY(attest_match_decide(&equal, &match, n * d, err));
    if (!equal)
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "form '%s' gives other outputs", form));
out:
    claim_case_close(&x);
    return status;
}
#define LINEAR "linear norm=sum"

static int64_t operations(const attest_work *w)
{
    return w->products + w->of_denominators + w->additions + w->divisions;
}

typedef struct shape {
    int n, d;
} shape;

/* Softmax by a running maximum, sum and numerator: what it holds against the matrix. */
static attest_status streaming(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const shape *c = claim->data;
    attest_status status;
    attest_work work;
    ATTEST_TRY(count_work(&work, "streaming", "softmax", c->n, c->n, c->d, err));
    attest_note(finding, "N", c->n);
    attest_note(finding, "numbers held", (double)work.held);
    attest_note(finding, "numbers of the matrix", (double)c->n * c->n);
    attest_conclude(finding, work.held >= (int64_t)c->n * c->n, 0);
out:
    return status;
}
static const shape sixteen_tokens = { 16, 4 };

/* ---- crossovers -------------------------------------------------------------------------------------------------- */
typedef struct crossover {
    int width, above; /* linear is claimed to be cheaper for N > above */
} crossover;

static attest_status time_crossover(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int good = 1;
    for (const crossover *c = claim->data; c->width; c++) {
        int first = 0;
        char name[56];
        for (int n = 1; n <= 3 * c->width; n++) {
            attest_work pairs, state;
            ATTEST_TRY(count_work(&pairs, "pairs", LINEAR, n, n, c->width, err));
            ATTEST_TRY(count_work(&state, "state", LINEAR, n, n, c->width, err));
            const int cheaper = operations(&state) < operations(&pairs);
            first = first == 0 && cheaper ? n : first;
            good = good && cheaper == (n > c->above);
        }
        snprintf(name, sizeof name, "linear takes fewer from N, d=%d", c->width);
        attest_note(finding, name, first);
    }
    attest_conclude(finding, good, 0);
out:
    return status;
}
static const crossover at_width[] = { { 2, 2 }, { 4, 4 }, { 6, 6 }, { 0, 0 } };

static attest_status memory_crossover(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int counted = 1;
    for (const crossover *c = claim->data; c->width; c++) {
        int first = 0, first_printed = 0;
        char name[56];
        for (int n = 1; n <= 3 * c->width; n++) {
            attest_work pairs, state;
            ATTEST_TRY(count_work(&pairs, "pairs", LINEAR, n, n, c->width, err));
            ATTEST_TRY(count_work(&state, "state", LINEAR, n, n, c->width, err));
            const int less = state.held < pairs.held, as_printed = n * c->width + c->width * c->width < pairs.held;
            first = first == 0 && less ? n : first;
            first_printed = first_printed == 0 && as_printed ? n : first_printed;
            counted = counted && less == (n > c->above);
        }
        snprintf(name, sizeof name, "S and z are fewer numbers from N, d=%d", c->width);
        attest_note(finding, name, first);
        snprintf(name, sizeof name, "N d + d^2 from N, d=%d", c->width);
        attest_note(finding, name, first_printed);
    }
    attest_conclude(finding, counted, 0);
out:
    return status;
}

/* One token: attention over a cache of t keys against an update and a read of the state. */
static attest_status token_crossover(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const crossover *c = claim->data; /* claimed for caches of more than `above` keys */
    attest_status status;
    attest_work pairs, state;
    int first = 0, always = 1;
    ATTEST_TRY(count_work(&state, "state", LINEAR, 1, 1, c->width, err));
    for (int t = 1; t <= 3 * c->width; t++) {
        ATTEST_TRY(count_work(&pairs, "pairs", LINEAR, 1, t, c->width, err));
        const int cheaper = operations(&state) < operations(&pairs);
        first = first == 0 && cheaper ? t : first;
        always = always && (cheaper || t <= c->above);
    }
    attest_note(finding, "d", c->width);
    attest_note(finding, "operations a token, linear", (double)operations(&state));
    attest_note(finding, "linear takes fewer from t", first);
    attest_conclude(finding, always, 0);
out:
    return status;
}
static const crossover any_cache = { 4, 0 };

typedef struct speed_case {
    double length, width, printed;
    shape counted[4];
} speed_case;

static attest_status speedup(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    const speed_case *c = claim->data;
    attest_status status = ATTEST_OK;
    int all = c->length == c->printed * c->width, numerators = all;
    attest_work pairs, state;
    attest_note(finding, "printed", c->printed);
    attest_note(finding, "N/d of the print", c->length / c->width);
    for (const shape *at = c->counted; at->n; at++) {
        char name[56];
        ATTEST_TRY(count_work(&pairs, "pairs", LINEAR, at->n, at->n, at->d, err));
        ATTEST_TRY(count_work(&state, "state", LINEAR, at->n, at->n, at->d, err));
        all = all && operations(&pairs) * at->d == operations(&state) * at->n;
        numerators = numerators && pairs.products * at->d == state.products * at->n;
        snprintf(name, sizeof name, "numerators alone, N=%d, d=%d", at->n, at->d);
        attest_note(finding, name, (double)pairs.products / (double)state.products);
        snprintf(name, sizeof name, "all operations, N=%d, d=%d", at->n, at->d);
        attest_note(finding, name, (double)operations(&pairs) / (double)operations(&state));
    }
    ATTEST_TRY(count_work(&pairs, "pairs", LINEAR " mask=causal", 16, 16, 4, err));
    ATTEST_TRY(count_work(&state, "state", LINEAR " mask=causal", 16, 16, 4, err));
    attest_note(finding, "all operations, causal, N=16, d=4", (double)operations(&pairs) / (double)operations(&state));
    attest_note(finding, "N/(d+1), multiply-adds with z in the state, at N=4096, d=64", c->length / (c->width + 1));
    attest_conclude(finding, all, numerators);
out:
    return status;
}
static const speed_case printed_speedup = { 4096, 64, 64, { { 8, 4 }, { 16, 4 }, { 12, 2 }, { 0, 0 } } };

/* Numbers in the tensors: weights of all rows, and the final S and z, of linear attention without a mask. */
static attest_status count_numbers(double *weights, double *state, int n, int d, int e, attest_error *err)
{
    attest_status status;
    claim_case x = { 0 };
    attest_span weight[64];
    *weights = *state = 0;
    ATTEST_TRY(claim_case_open(&x, err, "variant=linear-elu n=%d d=%d e=%d hq=2 hkv=2 family=uniform", n, d, e));
    for (int64_t hi = 0; hi < 2 * n; hi++) {
        int64_t keys;
        ATTEST_TRY(attest_evidence_weights(weight, NULL, 64, &keys, x.truth, (attest_row){ 0, hi / n, hi % n }, err));
        *weights += (double)keys;
    }
    for (int z = 0; z < 2; z++) {
        attest_decimals decimals;
        const attest_tensor_id id = { z ? ATTEST_KIND_ZT : ATTEST_KIND_HT, 1 };
        ATTEST_TRY(attest_truth_decimals(&decimals, x.truth, id, 6, 0, err));
        *state += (double)decimals.count;
        attest_decimals_free(&decimals);
    }
out:
    claim_case_close(&x);
    return status;
}

typedef struct reduction_case {
    int n, d, e;
} reduction_case;

static attest_status reduction(attest_claim_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int good = 1;
    for (const reduction_case *c = claim->data; c->n; c++) {
        const double n = c->n, d = c->d;
        double weights, state;
        char name[56];
        ATTEST_TRY(count_numbers(&weights, &state, c->n, c->d, c->e, err));
        snprintf(name, sizeof name, "weights of 2 heads, N=%d, d=%d", c->n, c->d);
        attest_note(finding, name, weights);
        snprintf(name, sizeof name, "numbers in S and z, N=%d, d=%d", c->n, c->d);
        attest_note(finding, name, state);
        good = good && weights * d * (d + 1) == state * n * n;
    }
    attest_note(finding, "N^2/(d(d+1)) at N=100000, d=64", 1e10 / (64 * 65));
    attest_conclude(finding, good, 0);
out:
    return status;
}
static const reduction_case small_shapes[] = { { 5, 4, 4 }, { 32, 2, 2 }, { 48, 8, 8 }, { 0, 0, 0 } };

static const attest_statement claims[] = {
    { "The score matrix has the printed numbers of entries.", "The Quadratic Wall, table",
      "N^2 rounded to the printed "
      "digits",
      ATTEST_CLAIM_HOLDS, NULL, wall_entries, wall },
    { "It takes the printed memory in FP32.", "The Quadratic Wall, table", "4 N^2 bytes in 2^20 and in 10^6 bytes",
      ATTEST_CLAIM_HOLDS_IF, "MB and GB mean 2^20 and 2^30 up to N=32768 and 10^9, 10^12 bytes above", wall_memory,
      wall },
    { "It takes the printed FLOPs at d=64.", "The Quadratic Wall, table",
      "multiply-adds of QK^T and FLOPs of QK^T and PV "
      "counted",
      ATTEST_CLAIM_HOLDS_IF, "multiply-adds of QK^T alone are counted; attention takes 4 N^2 d FLOPs", wall_operations,
      wall },
    { "At N=4096 a model of 32 heads and 40 layers needs 80 GB for scores, more than an A100 has.",
      "The Quadratic Wall", "4 N^2 heads layers bytes", ATTEST_CLAIM_HOLDS, NULL, model_memory, &printed_model },
    { "Every standard attention must compute and store the full N x N matrix.", "The Quadratic Wall",
      "softmax by a running maximum, sum and numerator: outputs against the truth to 2^-100, N=16, d=4; numbers it "
      "held",
      ATTEST_CLAIM_FALSE, NULL, streaming, &sixteen_tokens },
    { "Linear attention is faster for N > d.", "Complexity Analysis",
      "operations (multiply-adds, additions, divisions; no time) counted in runs of both forms, N 1..3d, d=2, 4, 6: "
      "fewer "
      "exactly for N > d",
      ATTEST_CLAIM_HOLDS, NULL, time_crossover, at_width },
    { "It needs less memory for N > d.", "Complexity Analysis",
      "numbers held counted in runs of both forms, N 1..3d, d=2, 4, 6: S and z are fewer than the weights exactly for "
      "N > d; the table's O(N d + d^2) and O(N^2) have no constants and so no crossover (taken as numbers: 1.618 d)",
      ATTEST_CLAIM_HOLDS, NULL, memory_crossover, at_width },
    { "Per token it is always cheaper than attention over a cache.", "Complexity Analysis",
      "operations of one token counted in runs of both forms, t 1..3d, d=4", ATTEST_CLAIM_FALSE, NULL, token_crossover,
      &any_cache },
    { "The speedup is N/d, 64 at N=4096 and d=64.", "Complexity Analysis; exercise 4",
      "operations counted in runs of both forms at three small shapes, against N/d exactly; the print by division; no "
      "time: `attest bench kernels --problem 'variant=linear n=1024 d=64'` puts taylor-direct-f32 (pairs) beside "
      "linear-recurrent-f32 (state); once measured, 34 times on x86-64, where N/d is 16",
      ATTEST_CLAIM_HOLDS_IF, "only the multiply-adds of the numerators are counted, without a mask", speedup,
      &printed_speedup },
    { "The memory of score matrices over that of the state is N^2/(d(d+1)).", "exercise 5",
      "weights of all rows and numbers of the final S and z counted at three shapes, 2 heads", ATTEST_CLAIM_HOLDS, NULL,
      reduction, small_shapes },
};
const attest_claim_source attest_claims_tutorial_costs = { "tutorial-linear-attention.txt", claims,
                                                           sizeof claims / sizeof claims[0] };
