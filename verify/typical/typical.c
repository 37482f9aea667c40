/* typical.c - see typical.h. */
#include "verify/typical/typical.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/attest_float.h"
#include "kernels/hash.h"
#include "kernels/redrawn/redrawn.h"
#include "verify/compare/compare.h"

#define QUANTILE 0.99

#define RUNS (1 + ATTEST_TYPICAL_REDRAWS) /* of the plain kernel: to nearest, then drawn */

/* An element of o that takes part. */
typedef struct sampled {
    int64_t row, at; /* in C order */
    double truth, abs_scale;
} sampled;

typedef struct sample {
    sampled *element;
    int64_t count;
    double radius;             /* the largest, in units of abs_scale */
    double least;              /* the smallest abs_scale */
    unsigned char *wanted;     /* of each row */
    double *got, *plain[RUNS]; /* [count] errors in units of abs_scale, from scale_rows() on in those of their row */
} sample;

static void sample_clear(sample *s)
{
    free(s->element);
    free(s->wanted);
    free(s->got);
    for (int run = 0; run < RUNS; run++)
        free(s->plain[run]);
}

static void __attribute__((format(printf, 2, 3))) leave_out(attest_typical *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    *t = (attest_typical){ .state = ATTEST_TYPICAL_NOT_MODELLED, .rms = NAN, .quantile = NAN, .factor = NAN };
    vsnprintf(t->why, sizeof t->why, format, list);
    va_end(list);
}

/* ---- the elements ------------------------------------------------------------------------------------------------ */
static void add_element(sample *s, const attest_element *el, int64_t row, int64_t at, double got)
{
    const double truth = el->truth_lo / 2 + el->truth_hi / 2;
    if (el->class != ATTEST_CLASS_NORMAL || !isfinite(truth) || !(el->abs_scale > 0) || !isfinite(el->abs_scale))
        return;
    s->radius = fmax(s->radius, (el->truth_hi - el->truth_lo) / 2 / el->abs_scale);
    s->least = s->count == 0 ? el->abs_scale : fmin(s->least, el->abs_scale);
    s->got[s->count] = (got - truth) / el->abs_scale;
    s->element[s->count++] = (sampled){ row, at, truth, el->abs_scale };
}

static attest_status sample_room(sample *s, const attest_problem *p, int64_t rows, attest_error *err)
{
    const size_t most = (size_t)(rows * p->e);
    int room = 1;
    s->element = calloc(most, sizeof *s->element);
    s->wanted = calloc((size_t)(p->b * p->hq * p->n), 1);
    s->got = calloc(most, sizeof *s->got);
    for (int run = 0; run < RUNS; run++)
        room &= (s->plain[run] = calloc(most, sizeof *s->got)) != NULL;
    if (!room || !s->element || !s->wanted || !s->got)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the errors of %zu elements", most);
    return ATTEST_OK;
}

static attest_status take_sample(sample *s, attest_truth *truth, const attest_case *c, const attest_tensor *o,
                                 const attest_numerics *numerics, uint32_t flags, attest_error *err)
{
    const attest_problem *p = &c->problem;
    const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_O };
    attest_status status = ATTEST_OK;
    attest_row_index *rows = NULL;
    attest_element *elements = calloc((size_t)p->e, sizeof *elements);
    attest_row_facts facts;
    int64_t count;
    if (!elements)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld elements", (long long)p->e);
    ATTEST_TRY(attest_rows_to_judge(&rows, &count, p, attest_case_hash(c), numerics->tile, err));
    ATTEST_TRY(sample_room(s, p, count, err));
    for (int64_t k = 0; k < count; k++) {
        const attest_row_index r = rows[k];
        const int64_t row = (r.b * p->hq + r.h) * p->n + r.i;
        ATTEST_TRY(
            attest_judge_row(elements, &facts, truth, numerics, flags, id, o, (attest_row){ r.b, r.h, r.i }, err));
        s->wanted[row] = 1;
        for (int64_t x = 0; x < p->e; x++)
            add_element(s, &elements[x], row, row * p->e + x, attest_load(o, attest_offset(o, r.b, r.h, r.i, x)));
    }
out:
    free(rows);
    free(elements);
    return status;
}

/* ---- the plain kernel -------------------------------------------------------------------------------------------- */
static attest_status run_plain(sample *s, const attest_redrawn *plain, const attest_case *c,
                               const attest_bundle *inputs, attest_error *err)
{
    const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_O };
    attest_status status = ATTEST_OK;
    attest_bundle *outputs = NULL;
    attest_tensor *o;
    ATTEST_TRY(attest_bundle_new(&outputs, err));
    ATTEST_TRY(attest_bundle_add(outputs, &c->problem, id, 0, &o, err));
    for (int run = 0; run < RUNS; run++) {
        const uint64_t seed = run == 0 ? 0 : attest_mix64(attest_case_hash(c) + (uint64_t)run) | 1;
        ATTEST_TRY(attest_redrawn_run(plain, inputs, o, s->wanted, seed, err));
        for (int64_t k = 0; k < s->count; k++) {
            const sampled *x = &s->element[k];
            s->plain[run][k] = (attest_load(o, x->at) - x->truth) / x->abs_scale;
        }
    }
out:
    attest_bundle_free(outputs);
    return status;
}

static double rms_of(const double *off, int64_t count)
{
    double squares = 0;
    for (int64_t k = 0; k < count; k++)
        squares += off[k] * off[k];
    return sqrt(squares / (double)count);
}

/* rms over the elements [first,end) of all draws. */
static double rms_of_draws(const sample *s, int64_t first, int64_t end)
{
    double squares = 0;
    for (int run = 1; run < RUNS; run++)
        for (int64_t k = first; k < end; k++)
            squares += s->plain[run][k] * s->plain[run][k];
    return sqrt(squares / (double)((end - first) * ATTEST_TYPICAL_REDRAWS));
}

/* All errors in units of what the draws err in their row. */
static void scale_rows(sample *s)
{
    const double least = ATTEST_TYPICAL_FLOOR * rms_of_draws(s, 0, s->count);
    for (int64_t first = 0, end; first < s->count; first = end) {
        for (end = first; end < s->count && s->element[end].row == s->element[first].row;)
            end++;
        const double unit = fmax(least, rms_of_draws(s, first, end));
        for (int64_t k = first; k < end; k++)
            s->got[k] /= unit;
        for (int run = 0; run < RUNS; run++)
            for (int64_t k = first; k < end; k++)
                s->plain[run][k] /= unit;
    }
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */
static void conclude(attest_typical *t, const sample *s)
{
    const double n = ATTEST_TYPICAL_REDRAWS, nearest = rms_of(s->plain[0], s->count), got = rms_of(s->got, s->count);
    double mean = 0, squares = 0;
    for (int run = 1; run < RUNS; run++)
        mean += log(rms_of(s->plain[run], s->count)) / n;
    for (int run = 1; run < RUNS; run++)
        squares += pow(log(rms_of(s->plain[run], s->count)) - mean, 2);
    const double width = gsl_cdf_tdist_Pinv(QUANTILE, n - 1) * sqrt(squares / (n - 1) * (1 + 1 / n));
    const double above = fmax(exp(mean + width) / M_SQRT2, nearest);
    const double below = fmin(exp(mean - width) / M_SQRT2, nearest);
    *t = (attest_typical){ .state = ATTEST_TYPICAL_AS_PLAIN, .rms = got, .quantile = above, .factor = got / above };
    if (t->factor > ATTEST_TYPICAL_FACTOR)
        t->state = ATTEST_TYPICAL_WORSE;
    else if (got < below / ATTEST_TYPICAL_FACTOR)
        t->state = ATTEST_TYPICAL_BETTER;
}

/* Says why the sample tells nothing; 1: it does tell. */
static int is_sound(attest_typical *t, const sample *s)
{
    const double got = rms_of(s->got, s->count);
    double least = got > 0 ? got : INFINITY;
    int errs = 1;
    for (int run = 0; run < RUNS; run++) {
        const double rms = rms_of(s->plain[run], s->count);
        errs &= run == 0 || rms > 0;
        least = rms > 0 ? fmin(least, rms) : least;
    }
    if (!isfinite(got))
        leave_out(t, "an element of o is not finite");
    else if (!errs || !isfinite(least))
        leave_out(t, "the plain kernel makes no error on these inputs");
    else if (!(s->radius <= 0x1p-4 * least))
        leave_out(t, "the truth is known to %.2g of its scale, not to a part of the error", s->radius);
    else
        return 1;
    return 0;
}

/* 1: a tensor [b][h][tokens][channels] of more than one element that holds one number only. */
static int is_one_number(const attest_tensor *t)
{
    const double first = attest_load(t, attest_offset(t, 0, 0, 0, 0));
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t i = 0; i < t->shape[2]; i++)
                for (int64_t c = 0; c < t->shape[3]; c++)
                    if (attest_load(t, attest_offset(t, b, h, i, c)) != first)
                        return 0;
    return attest_tensor_count(t) > 1;
}

/* 1, and why: equal terms are rounded alike, and no redrawn rounding tells how wrong their sum may be. */
static int repeats_numbers(attest_typical *typical, const attest_case *c, const attest_bundle *inputs)
{
    const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    const attest_family_info *family = attest_family_of(c);
    if (family && (family->constant || family->repeats)) {
        leave_out(typical, "family %.64s repeats numbers by construction", c->family);
        return 1;
    }
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        const attest_tensor *t = attest_bundle_role(inputs, roles[i]);
        if (t && is_one_number(t)) {
            leave_out(typical, "tensor %c repeats one number", "qkv"[i]);
            return 1;
        }
    }
    return 0;
}

attest_status attest_typical_measure(attest_typical *typical, attest_truth *truth, const attest_case *c,
                                     const attest_bundle *inputs, const attest_tensor *o,
                                     const attest_numerics *numerics, uint32_t flags, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_redrawn plain;
    attest_error why = { "" };
    sample s = { .element = NULL };
    if (repeats_numbers(typical, c, inputs))
        return ATTEST_OK;
    if (attest_redrawn_find(&plain, &c->problem, numerics, &why) != ATTEST_OK) {
        leave_out(typical, "%.150s", why.text);
        return ATTEST_OK;
    }
    ATTEST_TRY(take_sample(&s, truth, c, o, numerics, flags, err));
    leave_out(typical, "%lld elements with a bound, fewer than %d", (long long)s.count, ATTEST_TYPICAL_ELEMENTS);
    if (s.count < ATTEST_TYPICAL_ELEMENTS)
        goto out;
    leave_out(typical, "numbers whose roundings are below the normal numbers, and may be flushed");
    if (s.least < ldexp(1, attest_format_of(c->problem.acc).emin + attest_format_of(c->problem.acc).p))
        goto out;
    ATTEST_TRY(run_plain(&s, &plain, c, inputs, err));
    if (is_sound(typical, &s)) {
        scale_rows(&s);
        conclude(typical, &s);
    }
out:
    sample_clear(&s);
    return status;
}
