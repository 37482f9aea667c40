/* claims_tutorial_costs.c - the tutorial on linear attention: the table of costs and the crossovers.  Operations are
 * multiply-adds, counted; divisions and additions alone are not.
 */
#include "verify/claims.h"

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

static int rounds_to(double value, double printed, double unit)
{
    return fabs(value - printed) <= unit / 2;
}

static attest_status wall_entries(attest_finding *finding, const attest_statement *claim, attest_error *err)
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
static attest_status wall_memory(attest_finding *finding, const attest_statement *claim, attest_error *err)
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

static attest_status wall_operations(attest_finding *finding, const attest_statement *claim, attest_error *err)
{
    int64_t rows = 0, scores = 0, all = 0;
    (void)err;
    for (const wall_row *r = claim->data; r->length > 0; r++, rows++) {
        const double once = r->length * r->length * 64;
        scores += rounds_to(once, r->operations, r->operations_unit);
        all +=
            rounds_to(4 * once, r->operations, r->operations_unit); /* QK^T and PV, a multiplication and an addition */
    }
    attest_note(finding, "rows", (double)rows);
    attest_note(finding, "equal to the multiply-adds of QK^T", (double)scores);
    attest_note(finding, "equal to the FLOPs of QK^T and PV", (double)all);
    attest_note(finding, "FLOPs at N=4096, d=64", 4.0 * 4096 * 4096 * 64);
    attest_conclude(finding, all == rows, scores == rows);
    return ATTEST_OK;
}

static attest_status model_memory(attest_finding *finding, const attest_statement *claim, attest_error *err)
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

/* softmax over three keys by a running maximum, sum and numerator, against the whole row */
static attest_status streaming(attest_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    attest_span apart;
    const int64_t e = 64;
    (void)claim;
    ATTEST_TRY(attest_note_value(finding, &apart, "difference of the two forms, 3 keys", err,
                                 "abs((exp(1)*2+exp(3)*5+exp(2)*7)/(exp(1)+exp(3)+exp(2))-"
                                 "((1*exp(1-3)*2+5)+exp(2-3)*7)/((1*exp(1-3)+1)+exp(2-3)))"));
    attest_note(finding, "numbers kept a row, N=4096, e=64", (double)(e + 2));
    attest_note(finding, "numbers of a row of the matrix", 4096);
    attest_conclude(finding, !(apart.hi < 0x1p-100) || e + 2 >= 4096, 0);
out:
    return status;
}

/* ---- crossovers -------------------------------------------------------------------------------------------------- */
/* Multiply-adds of N rows: standard 2 N^2 d; linear N (2 d^2 + 2 d): k^T v, q S, sum of k, q z. */
static double standard_cost(double n, double d)
{
    return 2 * n * n * d;
}
static double causal_cost(double n, double d)
{
    return n * (n + 1) * d;
}
static double linear_cost(double n, double d)
{
    return n * (2 * d * d + 2 * d);
}

static attest_status speedup(attest_finding *finding, const attest_statement *claim, attest_error *err)
{
    const double *printed = claim->data;
    const double full = standard_cost(4096, 64) / linear_cost(4096, 64);
    const double causal = causal_cost(4096, 64) / linear_cost(4096, 64);
    (void)err;
    attest_note(finding, "N/d", 4096.0 / 64);
    attest_note(finding, "counted, no mask", full);
    attest_note(finding, "N/(d+1)", 4096.0 / 65);
    attest_note(finding, "counted, causal", causal);
    attest_conclude(finding, full == *printed && causal == *printed, 0);
    return ATTEST_OK;
}
static const double printed_speedup = 64;

static attest_status time_crossover(attest_finding *finding, const attest_statement *claim, attest_error *err)
{
    const double d = 64;
    int64_t first = 0, without = 0;
    (void)claim;
    (void)err;
    for (int64_t n = 1; n <= 256; n++) {
        const double standard = standard_cost((double)n, d);
        first = !first && standard > linear_cost((double)n, d) ? n : first;
        without = !without && standard > 2 * (double)n * d * d ? n : without;
    }
    attest_note(finding, "d", d);
    attest_note(finding, "linear cheaper from N", (double)first);
    attest_note(finding, "without its denominator", (double)without);
    attest_conclude(finding, first == 65, without == 65);
    return ATTEST_OK;
}

static attest_status memory_crossover(attest_finding *finding, const attest_statement *claim, attest_error *err)
{
    attest_status status;
    attest_span golden;
    int64_t first = 0;
    (void)claim;
    for (int64_t n = 1; n <= 256 && !first; n++)
        first = n * n > n * 64 + 64 * 64 ? n : 0;
    attest_note(finding, "d", 64);
    attest_note(finding, "N^2 > N d + d^2 from N", (double)first);
    ATTEST_TRY(attest_note_value(finding, &golden, "64 (1+sqrt 5)/2", err, "64*(1+sqrt(5))/2"));
    attest_conclude(finding, first == 65, 0);
out:
    return status;
}

static attest_status token_crossover(attest_finding *finding, const attest_statement *claim, attest_error *err)
{
    int64_t first = 0;
    const int64_t d = 64;
    (void)claim;
    (void)err;
    for (int64_t t = 1; t <= 256 && !first; t++)
        first = 2 * t * d > 2 * d * d + 2 * d ? t : 0;
    attest_note(finding, "d", (double)d);
    attest_note(finding, "multiply-adds a token, linear", (double)(2 * d * d + 2 * d));
    attest_note(finding, "with t=16 cached keys", (double)(2 * 16 * d));
    attest_note(finding, "linear cheaper from t", (double)first);
    attest_conclude(finding, first <= 1, 0);
    return ATTEST_OK;
}

static attest_status reduction(attest_finding *finding, const attest_statement *claim, attest_error *err)
{
    const double n = 100000, d = 64, heads = 32.0 * 40, scores = heads * n * n * 4, state = heads * d * d * 4,
                 both = heads * (d * d + d) * 4;
    (void)claim;
    (void)err;
    attest_note(finding, "score matrices, 10^9 bytes", scores / 1e9);
    attest_note(finding, "KV matrices, 10^6 bytes", state / 1e6);
    attest_note(finding, "S and z, 10^6 bytes", both / 1e6);
    attest_note(finding, "reduction factor", scores / both);
    attest_note(finding, "N^2/(d(d+1))", n * n / (d * (d + 1)));
    attest_conclude(finding, fabs(scores / both * d * (d + 1) / (n * n) - 1) < 0x1p-40, 0);
    return ATTEST_OK;
}

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
      "a running maximum, sum and numerator against the whole row, enclosed", ATTEST_CLAIM_FALSE, NULL, streaming,
      NULL },
    { "Linear attention is faster for N > d.", "Complexity Analysis", "multiply-adds counted for N 1..256, d=64",
      ATTEST_CLAIM_HOLDS_IF, "its denominator is not counted (with it N > d+1)", time_crossover, NULL },
    { "It needs less memory for N > d.", "Complexity Analysis", "N^2 against N d + d^2, N 1..256, d=64",
      ATTEST_CLAIM_FALSE, NULL, memory_crossover, NULL },
    { "Per token it is always cheaper than attention over a cache.", "Complexity Analysis",
      "multiply-adds of a token "
      "counted, t 1..256, d=64",
      ATTEST_CLAIM_FALSE, NULL, token_crossover, NULL },
    { "The speedup is N/d, 64 at N=4096 and d=64.", "Complexity Analysis; exercise 4",
      "multiply-adds counted, with the "
      "denominator, with and without a causal mask",
      ATTEST_CLAIM_FALSE, NULL, speedup, &printed_speedup },
    { "The memory of score matrices over that of the state is N^2/(d(d+1)).", "exercise 5",
      "bytes counted for 32 heads, "
      "40 layers, N=100000, d=64",
      ATTEST_CLAIM_HOLDS, NULL, reduction, NULL },
};
const attest_claim_source attest_claims_tutorial_costs = { "tutorial-linear-attention.txt", claims,
                                                           sizeof claims / sizeof claims[0] };
