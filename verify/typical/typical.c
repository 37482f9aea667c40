/* typical.c - see typical.h. */
#include "verify/typical/typical.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/redrawn/redrawn.h"
#include "verify/compare/compare.h"

#define QUANTILE 0.99

/* An element of o that takes part. */
typedef struct sampled {
    int64_t at; /* in C order */
    double truth, abs_scale;
} sampled;

typedef struct sample {
    sampled *element;
    int64_t count;
    double squares, radius; /* of got, in units of abs_scale; largest */
    unsigned char *wanted;  /* of each row */
    int finite;
} sample;

static void __attribute__((format(printf, 2, 3))) leave_out(attest_typical *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    *t = (attest_typical){ .state = ATTEST_TYPICAL_NOT_MODELLED, .rms = NAN, .quantile = NAN, .factor = NAN };
    vsnprintf(t->why, sizeof t->why, format, list);
    va_end(list);
}

/* ---- the elements ------------------------------------------------------------------------------------------------ */
static void add_element(sample *s, const attest_element *el, int64_t at, double got)
{
    const double truth = el->truth_lo / 2 + el->truth_hi / 2;
    if (el->class != ATTEST_CLASS_NORMAL || !isfinite(truth) || !(el->abs_scale > 0) || !isfinite(el->abs_scale))
        return;
    const double off = (got - truth) / el->abs_scale;
    s->finite &= isfinite(off);
    s->squares += off * off;
    s->radius = fmax(s->radius, (el->truth_hi - el->truth_lo) / 2 / el->abs_scale);
    s->element[s->count++] = (sampled){ at, truth, el->abs_scale };
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
    ATTEST_TRY(attest_rows_to_judge(&rows, &count, p, attest_case_hash(c), numerics->tile, err));
    s->element = calloc((size_t)(count * p->e), sizeof *s->element);
    s->wanted = calloc((size_t)(p->b * p->hq * p->n), 1);
    s->finite = 1;
    if (!elements || !s->element || !s->wanted)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld elements", (long long)(count * p->e)));
    for (int64_t k = 0; k < count; k++) {
        const attest_row_index r = rows[k];
        const int64_t row = (r.b * p->hq + r.h) * p->n + r.i;
        ATTEST_TRY(attest_judge_row(elements, &facts, truth, numerics, flags, id, o, r.b, r.h, r.i, err));
        s->wanted[row] = 1;
        for (int64_t e = 0; e < p->e; e++)
            add_element(s, &elements[e], row * p->e + e, attest_load(o, attest_offset(o, r.b, r.h, r.i, e)));
    }
out:
    free(rows);
    free(elements);
    return status;
}

/* Of a tensor in C order. */
static double rms_of(const sample *s, const attest_tensor *o)
{
    double squares = 0;
    for (int64_t k = 0; k < s->count; k++) {
        const sampled *x = &s->element[k];
        const double off = (attest_load(o, x->at) - x->truth) / x->abs_scale;
        squares += off * off;
    }
    return sqrt(squares / (double)s->count);
}

/* ---- the yardstick ----------------------------------------------------------------------------------------------- */
/* r_0 .. r_R. */
static attest_status redraw(double *rms, const attest_redrawn *plain, const sample *s, const attest_case *c,
                            const attest_bundle *inputs, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *outputs = NULL;
    attest_tensor *o;
    ATTEST_TRY(attest_bundle_new(&outputs, err));
    ATTEST_TRY(
        attest_bundle_add(outputs, &c->problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0, &o, err));
    for (uint64_t k = 0; k <= ATTEST_TYPICAL_REDRAWS; k++) {
        const uint64_t seed = k == 0 ? 0 : attest_case_hash(c) + k;
        ATTEST_TRY(attest_redrawn_run(plain, inputs, o, s->wanted, seed ? seed : k, err));
        rms[k] = rms_of(s, o);
    }
out:
    attest_bundle_free(outputs);
    return status;
}

static void conclude(attest_typical *t, const double *rms, double got)
{
    const double n = ATTEST_TYPICAL_REDRAWS, nearest = rms[0];
    double mean = 0, squares = 0;
    for (int k = 1; k <= ATTEST_TYPICAL_REDRAWS; k++)
        mean += log(rms[k]) / n;
    for (int k = 1; k <= ATTEST_TYPICAL_REDRAWS; k++)
        squares += (log(rms[k]) - mean) * (log(rms[k]) - mean);
    const double width = gsl_cdf_tdist_Pinv(QUANTILE, n - 1) * sqrt(squares / (n - 1) * (1 + 1 / n));
    const double above = fmax(exp(mean + width), nearest), below = fmin(exp(mean - width), nearest);
    *t = (attest_typical){ .state = ATTEST_TYPICAL_AS_PLAIN, .rms = got, .quantile = above, .factor = got / above };
    if (t->factor > ATTEST_TYPICAL_FACTOR)
        t->state = ATTEST_TYPICAL_WORSE;
    else if (got < below / ATTEST_TYPICAL_FACTOR)
        t->state = ATTEST_TYPICAL_BETTER;
}

attest_status attest_typical_measure(attest_typical *typical, attest_truth *truth, const attest_case *c,
                                     const attest_bundle *inputs, const attest_tensor *o,
                                     const attest_numerics *numerics, uint32_t flags, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_family_info *family = attest_family_of(c);
    attest_redrawn plain;
    attest_error why = { "" };
    sample s = { NULL };
    double rms[1 + ATTEST_TYPICAL_REDRAWS], least = INFINITY;
    leave_out(typical, "family %s repeats numbers by construction", c->family);
    if (family && (family->constant || family->repeats))
        return ATTEST_OK;
    if (attest_redrawn_find(&plain, &c->problem, numerics, &why) != ATTEST_OK) {
        leave_out(typical, "%s", why.text);
        return ATTEST_OK;
    }
    ATTEST_TRY(take_sample(&s, truth, c, o, numerics, flags, err));
    const double got = sqrt(s.squares / (double)s.count);
    leave_out(typical, "%lld elements, fewer than %d", (long long)s.count, ATTEST_TYPICAL_ELEMENTS);
    if (s.count < ATTEST_TYPICAL_ELEMENTS)
        goto out;
    leave_out(typical, "an element of o is not finite");
    if (!s.finite)
        goto out;
    ATTEST_TRY(redraw(rms, &plain, &s, c, inputs, err));
    for (int k = 0; k <= ATTEST_TYPICAL_REDRAWS; k++)
        least = fmin(least, rms[k]);
    leave_out(typical, "the plain kernel makes no error on these inputs");
    if (!(least > 0))
        goto out;
    leave_out(typical, "the truth is known to %.2g of its scale, not to a part of the error", s.radius);
    if (!(s.radius <= 0x1p-4 * fmin(least, got > 0 ? got : least)))
        goto out;
    conclude(typical, rms, got);
out:
    free(s.element);
    free(s.wanted);
    return status;
}
