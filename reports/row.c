/* row.c - the field table of the one row type, verdict and reason names, exit codes. */
#include "reports/row.h"

#include <stdio.h>
#include <string.h>

const char *const attest_verdict_names[ATTEST_VERDICT_COUNT] = { "pass",     "fail",       "undecided",
                                                                 "skip",     "crash",      "timeout",
                                                                 "illposed", "mistrusted", "measured" };

const char *const attest_reason_names[ATTEST_REASON_COUNT] = {
    "bound",        "claim",        "baseline",         "bias",          "lse",
    "state",        "nan-pattern",  "nondeterministic", "wrote-outside", "read-outside",
    "wrote-input",  "unwritten-output", "ignored-argument", "kernel-error", "fp-state",
    "exit",         "property",     "property poison",  "property batch",
    "property alone", "property layout",
};

/* Faults of the kernel as a program, not as arithmetic: exit code 3. */
static const int64_t program_faults = ATTEST_REASON_WROTE_OUTSIDE | ATTEST_REASON_READ_OUTSIDE |
                                      ATTEST_REASON_WROTE_INPUT | ATTEST_REASON_FP_STATE | ATTEST_REASON_EXIT;

#define FIELD(member, type, meaning)                                                                                   \
    {                                                                                                                  \
#member, type, offsetof(attest_row, member), sizeof(((attest_row *)0)->member), 0, meaning                     \
    }
#define TIMING(member, meaning)                                                                                        \
    {                                                                                                                  \
#member, ATTEST_FIELD_REAL, offsetof(attest_row, member), sizeof(((attest_row *)0)->member), 1, meaning        \
    }
#define TEXT(member, meaning) FIELD(member, ATTEST_FIELD_TEXT, meaning)
#define INT(member, meaning)  FIELD(member, ATTEST_FIELD_INT, meaning)
#define REAL(member, meaning) FIELD(member, ATTEST_FIELD_REAL, meaning)

const attest_field attest_row_fields[] = {
    INT(schema, "version of this list"),
    TEXT(tool, "attest's version"),
    TEXT(suite, "suite or study"),
    TEXT(suite_hash, "hash of the suite's text"),
    TEXT(run, "start of the run, UTC"),
    TEXT(kernel, "kernel, or library:kernel"),
    TEXT(kernel_version, "as the kernel states it"),
    TEXT(file, "source file, as the kernel states it"),
    TEXT(file_hash, "hash of the binary that ran"),
    TEXT(flags, "build flags, as the library states them"),
    TEXT(device, "where it ran"),
    TEXT(class, "kind of weights, declared schedule, types: cases whose bounds are alike"),
    TEXT(line, "the problem line"),
    TEXT(hash, "hash of the problem"),
    INT(rows_judged, "rows (b,h,i) judged"),
    INT(rows_total, "rows (b,h,i) of the problem"),
    INT(rows_negative_weight, "judged rows with a negative weight"),
    INT(rows_negative_sum, "judged rows whose denominator z is negative"),
    INT(rows_vanishing, "judged rows whose divisor may be 0: o is not judged there, u and z are"),
    FIELD(verdict, ATTEST_FIELD_VERDICT, "pass fail undecided skip crash timeout illposed mistrusted measured"),
    FIELD(reasons, ATTEST_FIELD_REASONS, "why not pass, as a set"),
    TEXT(why, "one line in words; of a row that passes, what was not tried"),
    TEXT(worst, "the element with the largest ratio"),
    TEXT(got, "what the kernel gave there, hex float"),
    TEXT(truth, "the truth there: nearest double in hex, decimal"),
    REAL(abs_lo, "abs(got-truth) at the worst element, lower end"),
    REAL(abs_hi, "the same, upper end"),
    REAL(ulp_lo, "largest error in ulps of out, lower end"),
    REAL(ulp_hi, "the same, upper end"),
    REAL(ratio_lo, "largest error/bound, lower end: above 1 fails"),
    REAL(ratio_hi, "the same, upper end"),
    REAL(bound, "derived bound at the worst element"),
    REAL(ratio_median, "median error/bound (upper ends) of the elements of o whose bound is not 0"),
    REAL(probable_ratio, "largest error of o/(probable error, lambda = 4): above 1 warns, no verdict"),
    REAL(gauge_ratio, "largest error/(u gauge), u of out"),
    REAL(norm_error, "norm of the error / norm of the truth"),
    REAL(bias, "mean of (got-truth)/(u gauge)"),
    REAL(drift, "the same, its sign turned where truth < 0: above 0, o is too far from 0"),
    REAL(u_ratio, "largest error/bound of u"),
    REAL(z_ratio, "of z"),
    REAL(lse_ratio, "of lse"),
    REAL(state_ratio, "of the final states"),
    REAL(truncation, "largest abs(o_P - o_exp): Taylor against exp, pure reference"),
    REAL(rounding, "largest abs(got - o) against the kernel's own formula"),
    REAL(term_score, "the bound's share: scores"),
    REAL(term_exp, "exp, or the polynomial weight"),
    REAL(term_cast, "weights cast to p"),
    REAL(term_accumulation, "sums"),
    REAL(term_division, "division and rounding to out"),
    REAL(range, "largest max-min of the scores of a judged row"),
    REAL(abs_score, "largest abs(score)"),
    REAL(abscissa, "a study point's x"),
    REAL(ordinate, "a study point's y"),
    TEXT(series, "a study point's line"),
    TEXT(engine, "which engine gave the truth"),
    INT(bits, "largest working precision"),
    TEXT(outputs, "hash of the bits of all outputs"),
    TEXT(fp_state, "floating-point control state after the kernel"),
    TEXT(reproduction, "one command that does this again"),
    TIMING(seconds_kernel, "seconds of the kernel"),
    TIMING(seconds_truth, "seconds of the truth and the judgement"),
};
const size_t attest_row_field_count = sizeof attest_row_fields / sizeof attest_row_fields[0];

void attest_row_init(attest_row *row)
{
    const double nan = __builtin_nan("");
    memset(row, 0, sizeof *row);
    for (size_t i = 0; i < attest_row_field_count; i++)
        if (attest_row_fields[i].type == ATTEST_FIELD_REAL)
            memcpy((char *)row + attest_row_fields[i].offset, &nan, sizeof nan);
    row->schema = ATTEST_ROW_SCHEMA;
    snprintf(row->tool, sizeof row->tool, "%s", ATTEST_VERSION);
}

void attest_reasons_text(char *text, size_t len, int64_t reasons)
{
    size_t at = 0;
    if (len > 0)
        text[0] = '\0';
    for (int i = 0; i < ATTEST_REASON_COUNT && at < len; i++)
        if (reasons >> i & 1)
            at += (size_t)snprintf(text + at, len - at, "%s%s", at ? "," : "", attest_reason_names[i]);
}

int attest_row_exit(const attest_row *row)
{
    if (row->reasons & program_faults)
        return 3;
    switch (row->verdict) {
    case ATTEST_PASS:
    case ATTEST_ILLPOSED:
    case ATTEST_MEASURED: return 0;
    case ATTEST_FAIL: return 1;
    case ATTEST_CRASH:
    case ATTEST_TIMEOUT: return 3;
    case ATTEST_UNDECIDED:
    case ATTEST_MISTRUSTED: return 4;
    case ATTEST_SKIP: return 77;
    default: return 70;
    }
}

/* Most urgent first. */
static const int urgency[6] = { 70, 2, 3, 1, 4, 0 };

void attest_exit_add(attest_exit *x, int code)
{
    if (code == 77)
        return;
    x->judged = 1;
    int known = 0;
    for (int i = 0; i < 6; i++)
        if (urgency[i] == code)
            x->seen[i] = known = 1;
    if (!known)
        x->seen[0] = 1;
}

int attest_exit_code(const attest_exit *x)
{
    for (int i = 0; i < 6; i++)
        if (x->seen[i])
            return urgency[i];
    return 77;
}
