/* trial.c - see trial.h. */
#include "props/properties/trial.h"

#include "kernels/attest_float.h"
#include "props/draw/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const end_names[] = { "ended",        "refused",           "crashed",
                                         "was too late", "reported an error", "broke a rule of the harness" };

attest_status attest_trial_init(attest_trial *trial, const attest_prop_host *host, const attest_prop_kernel *kernel,
                                const attest_case *c, uint32_t number, const attest_bundle *inputs,
                                const attest_property *violated, attest_error *err)
{
    *trial = (attest_trial){
        .host = host, .kernel = *kernel, .c = *c, .number = number, .inputs = inputs, .violated = violated
    };
    const attest_status status = host->run(host->context, c, inputs, UINT32_MAX, 0, &trial->outputs, &trial->first,
                                           err);
    if (status == ATTEST_OK && violated && trial->outputs)
        violated->violate(&c->problem, inputs, trial->outputs);
    return status;
}

void attest_trial_clear(attest_trial *trial)
{
    attest_bundle_free(trial->outputs);
    trial->outputs = NULL;
    for (int r = 0; r < ATTEST_TENSOR_ROLES; r++) {
        free(trial->bound[r]);
        trial->bound[r] = NULL;
    }
}

attest_status attest_trial_run(attest_bundle **outputs, int *usable, attest_finding *found, const attest_trial *trial,
                               const attest_case *c, const attest_bundle *inputs, uint32_t wanted, int strided,
                               attest_error *err)
{
    attest_prop_run run = { 0, "" };
    *usable = 0;
    *outputs = NULL;
    const attest_status status = trial->host->run(trial->host->context, c, inputs, wanted, strided, outputs, &run, err);
    if (status != ATTEST_OK)
        return status;
    *usable = run.end == ATTEST_PROP_DONE;
    if (*usable && trial->violated)
        trial->violated->violate(&c->problem, inputs, *outputs);
    if (*usable || run.end == ATTEST_PROP_REFUSED)
        return ATTEST_OK;
    attest_bundle_free(*outputs);
    *outputs = NULL;
    found->broken = 1;
    found->compared++;
    found->end = run.end;
    found->ratio = INFINITY;
    snprintf(found->what, sizeof found->what, "asked again, the kernel %s: %.190s", end_names[run.end], run.why);
    return ATTEST_OK;
}

attest_status attest_trial_bounds(const double **bound, attest_trial *trial, attest_role role, attest_error *err)
{
    const attest_tensor_id id = { ATTEST_KIND_ROLE, role };
    const attest_tensor *got = attest_bundle_get(trial->outputs, id);
    *bound = NULL;
    if (!trial->host->bounds || !got)
        return ATTEST_OK;
    if (!trial->bound[role]) {
        double *made = calloc((size_t)attest_tensor_count(got) + 1, sizeof *made);
        if (!made)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for bounds");
        const attest_status status = trial->host->bounds(trial->host->context, made, NULL, &trial->c, trial->inputs, id,
                                                         got, err);
        if (status != ATTEST_OK) {
            free(made);
            return status;
        }
        trial->bound[role] = made;
    }
    *bound = trial->bound[role];
    return ATTEST_OK;
}

/* Tensor numbers of draws end at 80 + 64 (tensor.h); choices have numbers of their own behind them. */
#define CHOICES 0x1000u

uint32_t attest_trial_word(const attest_trial *trial, const attest_property *property, uint64_t index)
{
    uint32_t words[4], name = 0;
    for (const char *at = property->name; *at; at++)
        name = name * 31 + (unsigned char)*at;
    const attest_stream stream = { trial->c.seed, trial->number, CHOICES | (name & 0xfff) };
    attest_draw_words(words, &stream, 0, index);
    return words[0];
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

void attest_finding_add(attest_finding *found, attest_tensor_id id, const int64_t at[4], double got, double want,
                        double tolerance)
{
    char name[32];
    if (isnan(tolerance) || isinf(tolerance))
        return; /* no bound is claimed */
    found->compared++;
    const int same = got == want || (tolerance < 0 && isnan(got) && isnan(want));
    double ratio = INFINITY;
    if (same)
        ratio = 0;
    else if (tolerance > 0 && isfinite(got) && isfinite(want))
        ratio = fabs(got - want) / tolerance;
    if (ratio <= found->ratio)
        return;
    found->ratio = ratio;
    /* The difference of two doubles and the quotient err by 2^-52 together: nothing next to how a bound is rounded. */
    if (!(ratio > 1 + 0x1p-40))
        return;
    found->broken = 1;
    attest_tensor_id_print(name, sizeof name, id);
    const int n = snprintf(found->what, sizeof found->what,
                           "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "] is %a (%.9g), must be %a (%.9g)", name,
                           at[0], at[1], at[2], at[3], got, got, want, want);
    if (isnan(got) && isnan(want)) /* under a bound, which is of a finite truth */
        snprintf(found->what, sizeof found->what,
                 "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "] is NaN in both runs, where the truth is finite",
                 name, at[0], at[1], at[2], at[3]);
    else if (tolerance >= 0 && n > 0 && (size_t)n < sizeof found->what)
        snprintf(found->what + n, sizeof found->what - (size_t)n, " within %.3g", tolerance);
}

int attest_may_overflow(uint32_t dtype, double x, double tolerance)
{
    return isinf(attest_to_f64(dtype, attest_from_f64(dtype, fabs(x) + tolerance)));
}

static void spoil(const attest_tensor *t, int64_t offset, double x)
{
    attest_store_bits(t, offset, attest_from_f64(t->dtype, x));
}

void attest_violate_by_row(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    static const attest_role roles[] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };
    (void)inputs;
    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++) {
        const attest_tensor *t = attest_bundle_role(outputs, roles[r]);
        for (int64_t at = 0; t && at < attest_tensor_count(t); at++) {
            const int64_t row = t->rank == 4 ? at / t->shape[3] : at;
            const double x = attest_load(t, at);
            spoil(t, at, x + 0.125 + fabs(x) * (double)(row % p->n + 1) / 8);
        }
    }
}
