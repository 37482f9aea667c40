/* compare.c - combines the judged elements of a case into one result: figures, worst element, verdict.
 *
 * An element passes when the upper end of its error/bound is at most 1, fails when the lower end is above 1
 * (or is no number), and is undecided in between.  Every comparison is written so that a NaN fails.
 */
#include "verify/compare/compare.h"
#include "verify/base/base.h"
#include "verify/compare/power.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/problem/problem.h"

#define CLASS_COUNT 7

/* A sum of squares that does not overflow: scale^2 * sum. */
typedef struct square_sum {
    double scale, sum;
} square_sum;

typedef struct worst_element {
    int found;
    attest_element element;
    attest_tensor_id id;
    int64_t index[4];
    int rank;
    uint32_t dtype;
} worst_element;

typedef struct tally {
    attest_result *result;
    double claim_ulp, unit; /* unit roundoff of out */
    int64_t judged, failed, undecided, nan_pattern;
    int64_t others_tell; /* elements of other outputs that zeros would fail, and of o where a NaN must stand */
    int64_t of_class[CLASS_COUNT]; /* elements left out */
    int64_t unbounded_o;
    worst_element o, other, failing_other;
    square_sum error, truth;
    double bias, outward_bias;
    int64_t bias_count, normed;
    double *ratio; /* of the elements of o with a bound above 0; room for every element judged */
    int64_t ratio_count;
    int outside_norm; /* an error of o is no finite number */
    uint32_t engine;
    int facts_seen;
    int silent; /* the kernel declares nothing of its arithmetic */
    power_tally power;
} tally;

/* How an output takes part: its reason and its column of largest ratios. */
typedef struct output_rule {
    attest_tensor_id id;
    unsigned reason;
    size_t column; /* of attest_result; SIZE_MAX: ratio_lo and ratio_hi, filled from the worst element */
} output_rule;

static const output_rule row_outputs[] = {
    { { ATTEST_KIND_ROLE, ATTEST_O }, ATTEST_REASON_BOUND, SIZE_MAX },
    { { ATTEST_KIND_ROLE, ATTEST_U }, ATTEST_REASON_BOUND, offsetof(attest_result, u_ratio) },
    { { ATTEST_KIND_ROLE, ATTEST_Z }, ATTEST_REASON_BOUND, offsetof(attest_result, z_ratio) },
    { { ATTEST_KIND_ROLE, ATTEST_LSE }, ATTEST_REASON_LSE, offsetof(attest_result, lse_ratio) },
};

static int is_o(attest_tensor_id id) { return id.kind == ATTEST_KIND_ROLE && id.index == ATTEST_O; }

/* The larger one; a NaN in `x` wins over any number, a NaN in `now` means nothing yet. */
static double larger(double now, double x) { return isnan(now) || isnan(x) || x > now ? x : now; }

/* ---- sums --------------------------------------------------------------------------------------------- */
static void add_square(square_sum *s, double x)
{
    if (!(x > 0))
        return;
    if (x > s->scale) {
        s->sum = 1 + s->sum * (s->scale / x) * (s->scale / x);
        s->scale = x;
    } else {
        s->sum += (x / s->scale) * (x / s->scale);
    }
}

/* Each of the two sums is off by less than (4 count + 4) 2^-53 relatively; the factor covers both. */
static double norm_error(const tally *t)
{
    if (t->outside_norm)
        return INFINITY;
    if (t->error.scale == 0)
        return 0;
    if (t->truth.scale == 0)
        return INFINITY;
    const double ratio = t->error.scale / t->truth.scale * sqrt(t->error.sum / t->truth.sum);
    return ratio * (1 + (double)(t->normed + 4) * 0x1p-49);
}

/* ---- elements ------------------------------------------------------------------------------------------ */
static void keep_worst(worst_element *w, const attest_element *el, attest_tensor_id id, const int64_t index[4],
                       int rank, uint32_t dtype)
{
    if (w->found && !(el->ratio_hi > w->element.ratio_hi) && !(isnan(el->ratio_hi) && !isnan(w->element.ratio_hi)))
        return;
    *w = (worst_element){ 1, *el, id, { index[0], index[1], index[2], index[3] }, rank, dtype };
}

/* The sign of the truth; 0 where it is not proved. */
static int sign_of(const attest_element *el) { return (el->truth_lo > 0) - (el->truth_hi < 0); }

/* An element of o that has a truth. */
static void add_norm(tally *t, const attest_element *el)
{
    add_square(&t->error, el->error_hi);
    add_square(&t->truth, attest_element_size(el));
    t->normed++;
    t->outside_norm |= !isfinite(el->error_hi);
}

/* Columns that only o has. */
static void add_o_figures(tally *t, const attest_element *el)
{
    attest_result *result = t->result;
    const double unit = t->unit * el->abs_scale; /* an error that is not proved counts as 0 in the means */
    const double bias = el->error_lo > 0 ? (el->signed_lo / 2 + el->signed_hi / 2) / unit : 0;
    result->ulp_lo = larger(result->ulp_lo, el->ulp_lo);
    result->ulp_hi = larger(result->ulp_hi, el->ulp_hi);
    result->rounding = larger(result->rounding, el->error_hi);
    result->abs_scale_ratio = larger(result->abs_scale_ratio, el->error_hi == 0 ? 0 : el->error_hi / unit);
    if (!isnan(el->probable))
        result->probabilistic_ratio = larger(result->probabilistic_ratio,
                                             el->error_hi == 0 ? 0 : el->error_hi / el->probable);
    add_norm(t, el);
    if (el->bound > 0)
        t->ratio[t->ratio_count++] = el->error_lo > 0 ? el->ratio_hi : 0; /* 0: no error is proved */
    if (unit > 0 && isfinite(bias)) {
        t->bias += bias;
        t->outward_bias += sign_of(el) * bias;
        t->bias_count++;
    }
}

/* 1 if the element is judged; else it is counted under its class. */
static int is_judged(tally *t, const attest_element *el, attest_tensor_id id)
{
    if (el->class == ATTEST_CLASS_NORMAL || el->class == ATTEST_CLASS_EMPTY ||
        el->class == ATTEST_CLASS_PREMATURE_OVERFLOW)
        return 1;
    t->of_class[el->class < CLASS_COUNT ? el->class : ATTEST_CLASS_UNBOUNDED]++;
    t->unbounded_o += el->class == ATTEST_CLASS_UNBOUNDED && is_o(id);
    t->undecided += el->class == ATTEST_CLASS_UNBOUNDED && !(el->error_hi < (double)INFINITY); /* a NaN: no evidence */
    if (el->class == ATTEST_CLASS_UNBOUNDED && is_o(id))                                       /* it has a truth */
        add_norm(t, el);
    return 0;
}

/* A row that reads a NaN: only the place of the NaN is judged.  1 if this was such an element. */
static int add_nan_pattern(tally *t, const output_rule *rule, const attest_element *el, const int64_t index[4],
                           int rank, uint32_t dtype)
{
    if (el->class != ATTEST_CLASS_NO_TRUTH || isnan(el->ratio_hi))
        return 0;
    t->judged++;
    t->others_tell++;
    if (el->ratio_hi <= 1)
        return 1;
    t->failed++;
    t->nan_pattern++;
    t->result->reasons |= rule->reason | ATTEST_REASON_NAN_PATTERN;
    keep_worst(is_o(rule->id) ? &t->o : &t->other, el, rule->id, index, rank, dtype);
    if (!is_o(rule->id))
        keep_worst(&t->failing_other, el, rule->id, index, rank, dtype);
    return 1;
}

static void add_element(tally *t, const output_rule *rule, const attest_element *el, const int64_t index[4], int rank,
                        uint32_t dtype)
{
    attest_result *result = t->result;
    double *column = rule->column == SIZE_MAX ? NULL : (double *)(void *)((char *)result + rule->column);
    if (add_nan_pattern(t, rule, el, index, rank, dtype) || !is_judged(t, el, rule->id))
        return;
    const int failed = !(el->ratio_lo <= 1);
    t->judged++;
    t->undecided += !failed && !(el->ratio_hi <= 1);
    keep_worst(is_o(rule->id) ? &t->o : &t->other, el, rule->id, index, rank, dtype);
    if (column)
        *column = larger(*column, el->ratio_hi);
    if (is_o(rule->id))
        add_o_figures(t, el);
    else
        t->others_tell += !(el->bound >= attest_element_size(el) / 2);
    if (!failed)
        return;
    t->failed++;
    result->reasons |= rule->reason;
    if (isnan(attest_to_f64(dtype, el->got))) {
        t->nan_pattern++;
        result->reasons |= ATTEST_REASON_NAN_PATTERN;
    }
    if (!is_o(rule->id))
        keep_worst(&t->failing_other, el, rule->id, index, rank, dtype);
}

/* Once a row: what its weights and its divisor are like. */
static void add_signs(tally *t, const attest_row_facts *f, int vanishing)
{
    t->result->rows_negative_weight += f->negative_weight;
    t->result->rows_negative_sum += f->sum_sign < 0;
    t->result->rows_vanishing += vanishing;
}

static void add_facts(tally *t, const attest_row_facts *f)
{
    attest_result *result = t->result;
    if (f->visible > 0) {
        result->range = larger(result->range, f->range_hi);
        result->abs_score = larger(result->abs_score, f->abs_score);
    }
    result->bits = f->bits > result->bits ? f->bits : result->bits;
    t->engine = !t->facts_seen || t->engine == f->engine ? f->engine : ATTEST_ENGINE_MIXED;
    t->facts_seen = 1;
}

/* ---- tensors ------------------------------------------------------------------------------------------- */
typedef struct judge {
    attest_truth *truth, *exp_truth;
    const attest_problem *p;
    const attest_bundle *outputs;
    const attest_numerics *numerics;
    uint32_t flags;
    attest_element *elements; /* [e] */
    double *distance;         /* [2e] */
} judge;

static attest_status judge_row(tally *t, const judge *j, attest_row_index r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t e = j->p->e;
    for (size_t k = 0; k < sizeof row_outputs / sizeof row_outputs[0]; k++) {
        const output_rule *rule = &row_outputs[k];
        const attest_tensor *got = attest_bundle_get(j->outputs, rule->id);
        attest_row_facts facts;
        if (!got)
            continue;
        ATTEST_TRY(attest_judge_row(j->elements, &facts, j->truth, j->numerics, j->flags, rule->id, got,
                                    (attest_row){ r.b, r.h, r.i }, err));
        add_facts(t, &facts);
        if (is_o(rule->id))
            add_signs(t, &facts, j->elements[0].class == ATTEST_CLASS_ILLPOSED);
        const int64_t count = got->rank == 4 ? e : 1;
        for (int64_t c = 0; c < count; c++)
            add_element(t, rule, &j->elements[c], (int64_t[4]){ r.b, r.h, r.i, c }, got->rank, got->dtype);
        if (is_o(rule->id))
            ATTEST_TRY(power_add(&t->power, j->truth, j->elements, r.b, r.h, r.i, err));
    }
    if (j->exp_truth) {
        ATTEST_TRY(attest_truth_distance(j->distance, j->distance + e, j->truth, j->exp_truth,
                                         (attest_row){ r.b, r.h, r.i }, err));
        for (int64_t c = 0; c < e; c++)
            if (!isnan(j->distance[e + c]))
                t->result->truncation = larger(t->result->truncation, j->distance[e + c]);
    }
out:
    return status;
}

static attest_status judge_states(tally *t, const judge *j, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_element *elements = NULL;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(j->p, ids, ATTEST_MAX_TENSORS);
    const int packed = (j->flags & ATTEST_PACKED_STATE) != 0;
    for (size_t k = 0; k < count; k++) {
        const output_rule rule = { ids[k], ATTEST_REASON_STATE, offsetof(attest_result, state_ratio) };
        const attest_tensor *got = attest_bundle_get(j->outputs, ids[k]);
        if (!got || ids[k].kind == ATTEST_KIND_ROLE)
            continue;
        const int64_t width = got->rank == 4 ? got->shape[3] : 1, size = got->shape[2] * width;
        free(elements);
        elements = calloc((size_t)size, sizeof *elements);
        if (!elements) {
            status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld state elements", (long long)size);
            goto out;
        }
        for (int64_t bg = 0; bg < j->p->b * j->p->hkv; bg++) {
            const int64_t b = bg / j->p->hkv, g = bg % j->p->hkv;
            ATTEST_TRY(attest_judge_state(elements, j->truth, j->numerics, j->flags, ids[k], packed, got, b, g, err));
            for (int64_t x = 0; x < size; x++)
                add_element(t, &rule, &elements[x], (int64_t[4]){ b, g, x / width, x % width }, got->rank, got->dtype);
        }
    }
out:
    free(elements);
    return status;
}

/* ---- the result --------------------------------------------------------------------------------------------- */
static void name_element(char *text, size_t len, const worst_element *w)
{
    char name[16], index[4][24] = { "", "", "", "" };
    attest_tensor_id_print(name, sizeof name, w->id);
    for (int axis = 0; axis < w->rank; axis++)
        snprintf(index[axis], sizeof index[axis], "%s%lld", axis ? "," : "", (long long)w->index[axis]);
    snprintf(text, len, "%s[%s%s%s%s]", name, index[0], index[1], index[2], index[3]);
}

static void fill_worst(attest_result *result, const worst_element *w)
{
    const attest_element *el = &w->element;
    const double middle = el->truth_lo == el->truth_hi ? el->truth_lo : el->truth_lo / 2 + el->truth_hi / 2;
    if (!w->found)
        return;
    name_element(result->worst, sizeof result->worst, w);
    snprintf(result->got, sizeof result->got, "%a", attest_to_f64(w->dtype, el->got));
    snprintf(result->truth, sizeof result->truth, "%a (%.17g)", middle, middle);
    result->abs_lo = el->error_lo;
    result->abs_hi = el->error_hi;
    result->ratio_lo = el->ratio_lo;
    result->ratio_hi = el->ratio_hi;
    result->bound = el->bound;
    result->term_score = el->term[ATTEST_TERM_SCORE];
    result->term_exp = el->term[ATTEST_TERM_EXP];
    result->term_cast = el->term[ATTEST_TERM_CAST];
    result->term_accumulation = el->term[ATTEST_TERM_ACCUMULATION];
    result->term_division = el->term[ATTEST_TERM_DIVISION];
}

/* The ceil(n/2)-th smallest; NAN if there is none. */
static double median(double *x, int64_t count)
{
    gsl_sort(x, 1, (size_t)count);
    return count ? x[(count - 1) / 2] : NAN;
}

/* `2 elements ill-posed, 1 without bound`, and rows that let zeros pass. */
static void text_left_out(char *text, size_t len, const tally *t)
{
    static const char *const names[CLASS_COUNT] = { [ATTEST_CLASS_ILLPOSED] = "ill-posed (the divisor vanishes)",
                                                    [ATTEST_CLASS_ABSENT] = "absent",
                                                    [ATTEST_CLASS_NO_TRUTH] = "without truth (non-finite inputs)",
                                                    [ATTEST_CLASS_UNBOUNDED] = "without a bound" };
    size_t n = 0;
    text[0] = '\0';
    for (int k = 0; k < CLASS_COUNT; k++)
        if (names[k] && t->of_class[k] && n < len)
            n += (size_t)snprintf(text + n, len - n, "%s%lld %s %s", n ? ", " : "", (long long)t->of_class[k],
                                  attest_plural(t->of_class[k], "element", "elements"), names[k]);
    if (t->power.rows_blind * ATTEST_BLIND_PART > t->power.rows && n < len)
        snprintf(text + n, len - n, "%szeros would pass in %lld of %lld %s of o", n ? ", " : "",
                 (long long)t->power.rows_blind, (long long)t->power.rows, attest_plural(t->power.rows, "row", "rows"));
    else if (attest_result_is_blind(t->result) && n < len)
        snprintf(text + n, len - n, "%sthe median bound of an element of o is %.2g times the element", n ? ", " : "",
                 t->result->noticed_median);
}

/* o was asked for, and no element of it tells a simple wrong kernel from a right one.  Other outputs do not vouch for o
 * that was judged; where none of it was (each row empty, ill-posed or NaN), one that zeros would fail does. */
static int tells_nothing(const tally *t)
{
    return t->power.rows > 0 && (t->power.elements > 0 ? t->power.telling == 0 : t->others_tell == 0);
}

static void set_verdict(tally *t)
{
    attest_result *result = t->result;
    char left_out[160], times[32] = "where it is 0";
    const int claim_broken = t->claim_ulp > 0 && t->o.found && !(result->ulp_lo <= t->claim_ulp);
    text_left_out(left_out, sizeof left_out, t);
    if (claim_broken)
        result->reasons |= ATTEST_REASON_CLAIM;
    if (t->failed) {
        result->verdict = ATTEST_FAIL;
        if (isfinite(result->ratio_lo))
            snprintf(times, sizeof times, "at least %.4g times it", result->ratio_lo);
        snprintf(result->why, sizeof result->why, "%lld of %lld %s bound%s; %s %s", (long long)t->failed,
                 (long long)t->judged, attest_plural(t->judged, "element outside its", "elements outside their"),
                 t->nan_pattern ? ", some NaN" : "", result->worst,
                 isfinite(result->ratio_lo) || result->bound == 0 ? times : "differs in kind (number, inf or NaN)");
    } else if (claim_broken) {
        result->verdict = ATTEST_FAIL;
        snprintf(result->why, sizeof result->why, "%.6g ulp, %.6g claimed", result->ulp_lo, t->claim_ulp);
    } else if (t->judged == 0) {
        result->verdict = ATTEST_UNDECIDED;
        snprintf(result->why, sizeof result->why, "nothing could be judged%s%s", left_out[0] ? ": " : "", left_out);
    } else if (t->unbounded_o && !t->o.found) { /* other outputs do not vouch for o */
        result->verdict = ATTEST_UNDECIDED;
        snprintf(result->why, sizeof result->why, "no element of o could be judged: %s", left_out);
    } else if (t->undecided) {
        result->verdict = ATTEST_UNDECIDED;
        snprintf(result->why, sizeof result->why, "%lld %s undecided at %lld bits%s%s", (long long)t->undecided,
                 attest_plural(t->undecided, "element", "elements"), (long long)result->bits, left_out[0] ? "; " : "",
                 left_out);
    } else if (tells_nothing(t)) {
        result->verdict = ATTEST_NO_EVIDENCE;
        snprintf(result->why, sizeof result->why,
                 "no element of o tells zeros, the mean of v, the last v or another head's v from the truth%s%s",
                 left_out[0] ? "; " : "", left_out);
    } else {
        result->verdict = left_out[0] ? ATTEST_PARTIAL : ATTEST_PASS;
        snprintf(result->why, sizeof result->why, "%s", left_out);
    }
}

/* Of what has no bound, or one too wide, where the loosest arithmetic of all was assumed. */
static void advise(const tally *t)
{
    attest_result *result = t->result;
    const size_t at = strlen(result->why);
    const int open = result->verdict == ATTEST_PARTIAL || result->verdict == ATTEST_UNDECIDED ||
                     result->verdict == ATTEST_NO_EVIDENCE;
    if (t->silent && open && (t->of_class[ATTEST_CLASS_UNBOUNDED] > 0 || attest_result_is_blind(result)))
        snprintf(result->why + at, sizeof result->why - at,
                 "; the kernel declares nothing: --declare, or audit --infer, may bound more");
}

/* But for what its empty rows hold, which is no arithmetic. */
static int declares_nothing(const attest_numerics *numerics)
{
    attest_numerics said = *numerics, nothing = attest_numerics_init();
    said.struct_size = nothing.struct_size;
    said.empty_row = 0;
    return memcmp(&said, &nothing, sizeof said) == 0;
}

static void finish(tally *t)
{
    attest_result *result = t->result;
    power_finish(result, &t->power);
    const int o_fails = t->o.found && !(t->o.element.ratio_lo <= 1);
    fill_worst(result, !t->o.found ? &t->other : t->failing_other.found && !o_fails ? &t->failing_other : &t->o);
    if (t->o.found) {
        result->norm_error = norm_error(t);
        result->ratio_median = median(t->ratio, t->ratio_count);
        result->bias = t->bias_count ? t->bias / (double)t->bias_count : 0;
        result->outward_bias = t->bias_count ? t->outward_bias / (double)t->bias_count : 0;
    }
    if (t->facts_seen)
        snprintf(result->engine, sizeof result->engine, "%s", attest_engine_name(t->engine));
    result->elements_judged = t->judged;
    result->elements_unbounded = t->of_class[ATTEST_CLASS_UNBOUNDED];
    result->elements_illposed = t->of_class[ATTEST_CLASS_ILLPOSED];
    result->elements_absent = t->of_class[ATTEST_CLASS_ABSENT];
    result->elements_without_truth = t->of_class[ATTEST_CLASS_NO_TRUTH];
    set_verdict(t);
    advise(t);
}

attest_status attest_compare(attest_result *result, attest_truth *truth, attest_truth *exp_truth, const attest_case *c,
                             const attest_bundle *outputs, const attest_numerics *numerics, uint32_t flags,
                             double claim_ulp, attest_error *err)
{
    return attest_compare_keys(result, truth, exp_truth, c, outputs, numerics, flags, claim_ulp, NULL, err);
}

attest_status attest_compare_keys(attest_result *result, attest_truth *truth, attest_truth *exp_truth,
                                  const attest_case *c, const attest_bundle *outputs, const attest_numerics *numerics,
                                  uint32_t flags, double claim_ulp, unsigned char *keys, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_row_index *rows = NULL;
    int64_t count = 0;
    const attest_problem *p = &c->problem;
    judge j = { truth, exp_truth, p, outputs, numerics, flags, NULL, NULL };
    tally t = { .result = result,
                .claim_ulp = claim_ulp,
                .unit = attest_unit_roundoff(p->out),
                .silent = declares_nothing(numerics) };
    j.elements = calloc((size_t)p->e, sizeof *j.elements);
    j.distance = calloc((size_t)p->e * 2, sizeof *j.distance);
    if (!j.elements || !j.distance) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld elements", (long long)p->e);
        goto out;
    }
    attest_compare_class(result->class, sizeof result->class, p, numerics->schedule);
    ATTEST_TRY(attest_rows_to_judge(&rows, &count, p, attest_case_hash(c), numerics->tile, err));
    count = attest_rows_present(rows, count, truth);
    ATTEST_TRY(power_init(&t.power, p, count, keys, err));
    t.ratio = calloc((size_t)(count * p->e), sizeof *t.ratio);
    if (!t.ratio)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld ratios", (long long)(count * p->e)));
    for (int64_t k = 0; k < count; k++)
        ATTEST_TRY(judge_row(&t, &j, rows[k], err));
    ATTEST_TRY(judge_states(&t, &j, err));
    result->rows_judged = count;
    result->rows_total = attest_rows_all(p, truth);
    finish(&t);
out:
    free(rows);
    free(t.ratio);
    power_clear(&t.power);
    free(j.elements);
    free(j.distance);
    return status;
}
