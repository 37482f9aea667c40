/* result.c - the table of fields, names of verdicts and reasons, ranks, exit codes. */
#include "reports/results.h"

#include <stdio.h>
#include <string.h>

const char *const attest_verdict_names[ATTEST_VERDICT_COUNT] = { "pass",     "fail",    "undecided", "skip",
                                                                 "crash",    "timeout", "illposed",  "no-evidence",
                                                                 "measured", "partial" };

const char *const attest_reason_names[ATTEST_REASON_COUNT] = {
    "bound",
    "claim",
    "baseline",
    "bias",
    "lse",
    "state",
    "nan-pattern",
    "nondeterministic",
    "wrote-outside",
    "read-outside",
    "wrote-input",
    "unwritten-output",
    "ignored-argument",
    "kernel-error",
    "fp-state",
    "exit",
    "property",
    "property poison",
    "property batch",
    "property alone",
    "property layout",
    "typical",
};

/* Faults of the kernel as a program, not as arithmetic: exit code 3. */
static const int64_t program_faults = ATTEST_REASON_WROTE_OUTSIDE | ATTEST_REASON_READ_OUTSIDE |
                                      ATTEST_REASON_WROTE_INPUT | ATTEST_REASON_FP_STATE | ATTEST_REASON_EXIT;

#define FIELD(member, type, meaning)                                                                                   \
    {                                                                                                                  \
#member, type, offsetof(attest_result, member), sizeof(((attest_result *)0)->member), 0, meaning               \
    }
#define TIMING(member, meaning)                                                                                        \
    {                                                                                                                  \
#member, ATTEST_FIELD_REAL, offsetof(attest_result, member), sizeof(((attest_result *)0)->member), 1, meaning  \
    }
#define TEXT(member, meaning) FIELD(member, ATTEST_FIELD_TEXT, meaning)
#define INT(member, meaning) FIELD(member, ATTEST_FIELD_INT, meaning)
#define REAL(member, meaning) FIELD(member, ATTEST_FIELD_REAL, meaning)

const attest_field attest_result_fields[] = {
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
    TEXT(problem, "the problem line"),
    TEXT(hash, "hash of the problem"),
    TEXT(variant, "the preset that the line names, with its argument"),
    TEXT(weight, "weight"),
    TEXT(mask, "mask"),
    TEXT(norm, "norm"),
    TEXT(update, "update"),
    TEXT(family, "family of the inputs"),
    TEXT(family_argument, "what follows its colon"),
    INT(family_constant, "1: the truth does not depend on every input"),
    INT(family_repeats, "1: scores, weights or values are repeated by construction"),
    INT(seed, "seed"),
    INT(b, "batch entries"),
    INT(hq, "query heads"),
    INT(hkv, "KV heads"),
    INT(n, "queries"),
    INT(m, "keys"),
    INT(d, "channels of q and k"),
    INT(e, "channels of v"),
    TEXT(in, "type of q, k, v"),
    TEXT(acc, "type of the sums"),
    TEXT(p, "type of the weights before the value product"),
    TEXT(out, "type of o"),
    REAL(scale, "scale"),
    INT(rows_judged, "rows (b,h,i) judged"),
    INT(rows_total, "rows (b,h,i) of the problem"),
    INT(rows_negative_weight, "judged rows with a negative weight"),
    INT(rows_negative_sum, "judged rows whose denominator z is negative"),
    INT(rows_vanishing, "judged rows whose divisor vanishes beside its terms: o is not judged there, u and z are"),
    INT(elements_judged, "elements judged, of all wanted outputs"),
    INT(elements_unbounded, "elements left out: no bound covers them"),
    INT(elements_illposed, "elements left out: the divisor vanishes beside its terms"),
    INT(elements_absent, "elements left out: the formula has none, or the kernel declares that it writes anything"),
    INT(elements_without_truth, "elements left out: inputs that are not finite"),
    INT(rows_blind, "judged rows of o whose bounds let zeros pass: each is at least half its element"),
    REAL(telling, "share of the judged elements of o whose bound tells zeros, the mean of v, the last v and another "
                  "head's v from the truth"),
    REAL(keys_seen,
         "share of the visible keys whose loss would be outside a bound in some judged row, of these inputs or "
         "(many keys) of those with one value a key, the larger"),
    REAL(noticed, "smallest bound/abs(o): a smaller relative error passes"),
    REAL(noticed_median, "median of bound/abs(o)"),
    FIELD(verdict, ATTEST_FIELD_VERDICT,
          "pass fail undecided skip crash timeout illposed no-evidence measured partial"),
    FIELD(reasons, ATTEST_FIELD_REASONS, "why not pass, as a set"),
    TEXT(why, "one line in words; of a result that passes, what was not tried"),
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
    REAL(probabilistic_ratio, "largest error of o/(probabilistic bound, lambda = 4): above 1 warns, no verdict"),
    REAL(abs_scale_ratio, "largest error/(u abs_scale), u of out; abs_scale: natural scale of the element's error"),
    REAL(norm_error, "norm of the error / norm of the truth"),
    REAL(bias, "mean of (got-truth)/(u abs_scale)"),
    REAL(outward_bias, "bias in magnitude: mean of (got-truth) sign(truth)/(u abs_scale); positive is too large"),
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
    TEXT(series, "a study point's line; its first word is the chart's panel"),
    INT(point, "a study point's number in its grid"),
    INT(seeds, "of how many seeds a study point is the median, by its ordinate"),
    REAL(ordinate_least, "least ordinate of the seeds, or of the rounds of a time"),
    REAL(ordinate_most, "greatest"),
    REAL(rounding_least, "least rounding of the seeds"),
    REAL(rounding_most, "greatest"),
    REAL(total_lo, "largest abs(got - o of softmax on the same inputs), lower end"),
    REAL(total_hi, "the same, upper end"),
    TEXT(engine, "which engine gave the truth"),
    INT(bits, "largest working precision"),
    TEXT(outputs, "hash of the bits of all outputs"),
    TEXT(fp_state, "floating-point control state after the kernel"),
    TEXT(reproduction, "one command that does this again"),
    TEXT(typical, "the rms error of o beside that of plain arithmetic of the declared kind: as-plain, worse-than-plain "
                  "(beyond 4 times on 3 seeds), better-than-plain, not modelled; empty: not asked (--typical)"),
    REAL(typical_rms, "rms of (got-truth)/abs_scale over the elements of o"),
    REAL(typical_quantile, "upper quantile of the same of plain kernels whose roundings are redrawn"),
    REAL(typical_factor, "typical_rms/typical_quantile; where worse, the least over the seeds"),
    TEXT(predicted,
         "the bits of the outputs beside those predicted for a GPU: equal; the first element that differs; or "
         "not predicted, why; empty: not asked (--predict)"),
    TIMING(seconds_kernel, "seconds of the kernel"),
    TIMING(seconds_truth, "seconds of the truth and the judgement"),
};
const size_t attest_result_field_count = sizeof attest_result_fields / sizeof attest_result_fields[0];

void attest_result_init(attest_result *result)
{
    const double nan = __builtin_nan("");
    memset(result, 0, sizeof *result);
    for (size_t i = 0; i < attest_result_field_count; i++)
        if (attest_result_fields[i].type == ATTEST_FIELD_REAL)
            memcpy((char *)result + attest_result_fields[i].offset, &nan, sizeof nan);
    result->schema = ATTEST_RESULT_SCHEMA;
    snprintf(result->tool, sizeof result->tool, "%s", ATTEST_VERSION);
}

size_t attest_result_pack(char *to, const attest_result *result)
{
    char *at = to;
    for (size_t i = 0; i < attest_result_field_count; i++) {
        const attest_field *f = &attest_result_fields[i];
        const char *from = (const char *)result + f->offset;
        const size_t size = f->type == ATTEST_FIELD_TEXT ? strlen(from) + 1 : f->size;
        memcpy(at, from, size);
        at += size;
    }
    return (size_t)(at - to);
}

int attest_result_unpack(attest_result *result, const char *from, size_t length)
{
    attest_result_init(result);
    for (size_t i = 0; i < attest_result_field_count; i++) {
        const attest_field *f = &attest_result_fields[i];
        const size_t most = length < f->size ? length : f->size;
        const char *end = f->type == ATTEST_FIELD_TEXT ? memchr(from, '\0', most) : from + f->size - 1;
        const size_t size = end ? (size_t)(end - from) + 1 : length + 1;
        if (size > length)
            return 0;
        memcpy((char *)result + f->offset, from, size);
        from += size;
        length -= size;
    }
    return length == 0;
}

double attest_field_real(const attest_result *result, const attest_field *field)
{
    double x;
    memcpy(&x, (const char *)result + field->offset, sizeof x);
    return x;
}

int64_t attest_field_int(const attest_result *result, const attest_field *field)
{
    int64_t x;
    memcpy(&x, (const char *)result + field->offset, sizeof x);
    return x;
}

void attest_field_text(char *text, size_t len, const attest_result *result, const attest_field *field)
{
    const int64_t n = field->type == ATTEST_FIELD_TEXT || field->type == ATTEST_FIELD_REAL
                          ? 0
                          : attest_field_int(result, field);
    switch (field->type) {
    case ATTEST_FIELD_TEXT: snprintf(text, len, "%s", (const char *)result + field->offset); break;
    case ATTEST_FIELD_REAL: snprintf(text, len, "%.17g", attest_field_real(result, field)); break;
    case ATTEST_FIELD_VERDICT:
        snprintf(text, len, "%s", n >= 0 && n < ATTEST_VERDICT_COUNT ? attest_verdict_names[n] : "?");
        break;
    case ATTEST_FIELD_REASONS: attest_reasons_text(text, len, n); break;
    default: snprintf(text, len, "%lld", (long long)n);
    }
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

int attest_result_exit(const attest_result *result, int strict)
{
    if (result->reasons & program_faults)
        return 3;
    switch (result->verdict) {
    case ATTEST_PASS:
    case ATTEST_ILLPOSED:
    case ATTEST_MEASURED: return 0;
    case ATTEST_FAIL: return 1;
    case ATTEST_CRASH:
    case ATTEST_TIMEOUT: return 3;
    case ATTEST_PARTIAL: return strict ? 4 : 0;
    case ATTEST_UNDECIDED:
    case ATTEST_NO_EVIDENCE: return 4;
    case ATTEST_SKIP: return 77;
    default: return 70;
    }
}

int attest_result_judged_good(const attest_result *result)
{
    return result->verdict == ATTEST_PASS || result->verdict == ATTEST_PARTIAL || result->verdict == ATTEST_ILLPOSED ||
           result->verdict == ATTEST_NO_EVIDENCE;
}

const char *const attest_left_names[ATTEST_LEFT_CLASSES] = { "unbounded", "illposed", "absent", "without-truth",
                                                             "blind" };

int attest_result_is_blind(const attest_result *result)
{
    return result->rows_blind * ATTEST_BLIND_PART > result->rows_judged || result->noticed_median > ATTEST_BLIND_MEDIAN;
}

unsigned attest_result_left(const attest_result *result)
{
    const int64_t counts[ATTEST_LEFT_CLASSES] = { result->elements_unbounded, result->elements_illposed,
                                                  result->elements_absent, result->elements_without_truth,
                                                  attest_result_is_blind(result) ||
                                                      result->verdict == ATTEST_NO_EVIDENCE };
    unsigned left = 0;
    for (int i = 0; i < ATTEST_LEFT_CLASSES; i++)
        left |= counts[i] > 0 ? 1u << i : 0;
    return left;
}

void attest_result_allow(attest_result *result, const char *reason)
{
    const size_t used = strlen(result->why);
    if (result->verdict != ATTEST_PARTIAL && result->verdict != ATTEST_NO_EVIDENCE)
        return;
    result->verdict = result->verdict == ATTEST_NO_EVIDENCE ? ATTEST_SKIP
                      : result->rows_vanishing > 0          ? ATTEST_ILLPOSED
                                                            : ATTEST_PASS;
    snprintf(result->why + used, sizeof result->why - used, "; allowed: %s", reason);
}

int attest_result_rank(const attest_result *result)
{
    static const int rank[ATTEST_VERDICT_COUNT] = {
        [ATTEST_PASS] = 4,     [ATTEST_FAIL] = 1,    [ATTEST_UNDECIDED] = 2, [ATTEST_SKIP] = 3,
        [ATTEST_CRASH] = 0,    [ATTEST_TIMEOUT] = 0, [ATTEST_ILLPOSED] = 3,  [ATTEST_NO_EVIDENCE] = 2,
        [ATTEST_MEASURED] = 4, [ATTEST_PARTIAL] = 2
    };
    return rank[result->verdict >= 0 && result->verdict < ATTEST_VERDICT_COUNT ? result->verdict : ATTEST_FAIL];
}

int attest_result_failed(const attest_result *result)
{
    return result->verdict == ATTEST_FAIL || result->verdict == ATTEST_CRASH || result->verdict == ATTEST_TIMEOUT;
}

int attest_field_holds(const attest_field *field, int64_t n)
{
    const int64_t most = (int64_t)1 << 40;
    return field->offset == offsetof(attest_result, seed) || (n <= most && n >= -most);
}

int attest_result_unfinished(const attest_result *result)
{
    return strcmp(result->kernel, ATTEST_RESULT_RUN) == 0 && !*result->problem && result->verdict == ATTEST_UNDECIDED;
}

int attest_result_bad(const attest_result *result) { return attest_result_rank(result) < ATTEST_RANKS_BAD; }

attest_results attest_results_failing_on(const attest_results *results, const char *fail_on)
{
    attest_results view = *results;
    view.no_pass = 0;
    for (unsigned v = 0; v < ATTEST_VERDICT_COUNT; v++)
        if (strcmp(attest_verdict_names[v], fail_on) == 0)
            view.no_pass = 1u << v;
    return view;
}

int attest_results_rank_of(const attest_results *results, const attest_result *result)
{
    const int rank = attest_result_rank(result);
    return rank >= ATTEST_RANKS_BAD && results->no_pass >> result->verdict & 1 ? ATTEST_RANKS_BAD - 1 : rank;
}

int attest_results_bad(const attest_results *results, const attest_result *result)
{
    return attest_results_rank_of(results, result) < ATTEST_RANKS_BAD;
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
