/* props_case.c - one case of a run of properties; and each property against its own violation. */
#include "verify/properties/props_private.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANTED_TRIES = 16 }; /* cases, spread evenly over those that a property held for */

/* ---- one case --------------------------------------------------------------------------------------------------- */

int props_selected(const attest_props_request *request, const attest_property *property)
{
    return (request->reference || property->needs == ATTEST_NEEDS_NOTHING) &&
           (!request->property_glob || fnmatch(request->property_glob, property->name, 0) == 0);
}

attest_status props_make_case(attest_case *c, int *starved, const props_job *j, const props_state *s, props_hand *h,
                              attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_prop_kernel kernel = attest_props_kernel(&h->world.subject);
    attest_generated made;
    *starved = 0;
    if (j->given) {
        *c = *j->given;
        return ATTEST_OK;
    }
    if (j->line) {
        ATTEST_TRY(attest_case_parse(c, j->line, NULL, NULL, err));
        c->seed = s->request->seed;
        *starved = !h->host.supports(h->host.context, &c->problem);
        return ATTEST_OK;
    }
    ATTEST_TRY(attest_generate(&made, s->request->seed, j->number, &kernel, &h->host, err));
    *starved = !made.found;
    *c = made.c;
out:
    return status;
}

/* Keeps the first failure of each kernel and property, by the number of its job; deaths of a kernel are one. */
static attest_status keep_failure(props_state *s, const props_job *j, const attest_property *asked,
                                  const attest_case *c, const attest_finding *found, props_hand *h, attest_error *err)
{
    const attest_property *property = attest_finding_ended(found) ? NULL : asked;
    attest_props_result *r = s->result;
    char name[512];
    attest_subject_name(name, sizeof name, &h->world.subject);
    size_t k = 0;
    while (k < r->failure_count && (r->failure[k].property != property || strcmp(r->failure[k].kernel, name) != 0))
        k++;
    if (k == r->failure_count) {
        attest_props_failure *more = realloc(r->failure, (k + 1) * sizeof *more);
        if (!more)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a failure");
        r->failure = more;
        r->failure_count++;
        r->failure[k] = (attest_props_failure){ .property = property };
        snprintf(r->failure[k].kernel, sizeof r->failure[k].kernel, "%s", name);
    }
    r->failure[k].cases++;
    size_t order = 0;
    while (asked && order < s->request->property_count && s->request->property[order] != asked)
        order++;
    order += (size_t)(j - s->job) * (s->request->property_count + 1);
    if (r->failure[k].cases == 1 || order < r->failure[k].order) {
        r->failure[k].order = order;
        r->failure[k].asked = asked;
        r->failure[k].c = *c;
        r->failure[k].number = j->number;
        r->failure[k].found = *found;
    }
    return ATTEST_OK;
}

static attest_status note_failure(props_state *s, const props_job *j, const attest_property *asked,
                                  const attest_case *c, const attest_finding *found, props_hand *h, attest_error *err)
{
    attest_status status;
#pragma omp critical(props_failure)
    {
        status = keep_failure(s, j, asked, c, found, h, err);
        s->stop = s->stop || s->request->stop;
    }
    return status;
}

/* The case's own run did not end well: broken, whatever the properties are. */
static int ended_badly(attest_finding *found, const attest_trial *trial)
{
    if (trial->first.end == ATTEST_PROP_DONE || trial->first.end == ATTEST_PROP_REFUSED)
        return 0;
    *found = (attest_finding){ .compared = 1, .broken = 1, .end = trial->first.end, .ratio = INFINITY };
    snprintf(found->what, sizeof found->what, "%s", trial->first.why);
    return 1;
}

static attest_status ask_all(props_state *s, props_job *j, attest_trial *trial, props_hand *h, attest_error *err)
{
    attest_status status = ATTEST_OK;
    props_verdict *of_job = s->verdict + (size_t)(j - s->job) * s->request->property_count;
    for (size_t k = 0; k < s->request->property_count; k++) {
        const attest_property *property = s->request->property[k];
        attest_finding found = { 0 };
        if (!props_selected(s->request, property) ||
            !attest_property_applies(property, &trial->c.problem, &trial->kernel))
            continue;
        status = property->check(&found, trial, err);
        if (status != ATTEST_OK)
            return attest_fail_prefix(err, status, property->name);
        if (attest_finding_ended(&found))
            of_job[k] = (props_verdict){ .asked = 1 };
        else
            of_job[k] = (props_verdict){ 1, found.compared > 0, found.broken != 0, (float)found.ratio };
        j->elements += found.compared;
        if (found.broken)
            ATTEST_TRY(note_failure(s, j, property, &trial->c, &found, h, err));
    }
out:
    return status;
}

static attest_status label_case(props_state *s, const props_job *j, const attest_trial *trial, attest_error *err)
{
    attest_case_facts facts;
    unsigned char *of_job = s->label + (size_t)(j - s->job) * attest_label_count;
    const attest_status status = attest_props_facts(&facts, &trial->c, trial->inputs, err);
    for (size_t k = 0; status == ATTEST_OK && k < attest_label_count; k++)
        of_job[k] = attest_labels[k].has(&trial->c, &trial->kernel, trial->inputs, &facts) != 0;
    return status;
}

static attest_status draw_case(attest_bundle **inputs, const attest_case *c, uint32_t number, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_bundle_new(inputs, err));
    ATTEST_TRY(attest_draw_missing(*inputs, c, number, 0, err));
out:
    return status;
}

attest_status props_run_job(props_state *s, props_job *j, props_hand *h, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_case c;
    attest_bundle *inputs = NULL;
    attest_trial trial = { .host = NULL };
    attest_finding found;
    h->world.subject.index = s->kernel[j->kernel];
    const attest_prop_kernel kernel = attest_props_kernel(&h->world.subject);
    h->world.runs = 0;
    h->world.unanswered = 0;
    ATTEST_TRY(props_make_case(&c, &j->starved, j, s, h, err));
    if (j->starved)
        goto out;
    ATTEST_TRY(draw_case(&inputs, &c, j->number, err));
    ATTEST_TRY(attest_trial_init(&trial, &h->host, &kernel, &c, j->number, inputs, NULL, err));
    j->refused = trial.first.end == ATTEST_PROP_REFUSED;
    j->ran = !j->refused;
    if (ended_badly(&found, &trial))
        ATTEST_TRY(note_failure(s, j, NULL, &c, &found, h, err));
    else if (j->ran) {
        ATTEST_TRY(ask_all(s, j, &trial, h, err));
        if (s->request->reference)
            ATTEST_TRY(label_case(s, j, &trial, err));
    }
    j->runs = h->world.runs;
out:
    if (status == ATTEST_OK && attest_props_unanswered(&c, &found, &h->world, s->request->seed))
        status = note_failure(s, j, NULL, &c, &found, h, err);
    attest_trial_clear(&trial);
    attest_bundle_free(inputs);
    return status;
}

attest_status attest_props_try(attest_finding *found, attest_props_world *world, const attest_property *property,
                               const attest_case *c, uint32_t number, const attest_bundle *inputs, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_trial trial = { .host = NULL };
    const attest_prop_host host = attest_props_host(world);
    const attest_prop_kernel kernel = attest_props_kernel(&world->subject);
    attest_case asked;
    *found = (attest_finding){ 0 };
    world->unanswered = 0;
    if (!host.supports(host.context, &c->problem) ||
        (property && !attest_property_applies(property, &c->problem, &kernel))) {
        if (!property) /* else another failure than the property's */
            attest_props_unanswered(&asked, found, world, c->seed);
        return ATTEST_OK;
    }
    ATTEST_TRY(attest_trial_init(&trial, &host, &kernel, c, number, inputs, NULL, err));
    if (ended_badly(found, &trial))
        found->broken = property == NULL; /* another failure than the property's */
    else if (property && trial.first.end == ATTEST_PROP_DONE)
        ATTEST_TRY(property->check(found, &trial, err));
out:
    attest_trial_clear(&trial);
    return status;
}

/* ---- the property's own violation ------------------------------------------------------------------------------- */

/* *seen = 1: with its violation planted the property is broken on this job's case. */
static attest_status plant(int *seen, const props_state *s, const props_job *j, const attest_property *property,
                           props_hand *h, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_case c;
    attest_bundle *inputs = NULL;
    attest_trial trial = { .host = NULL };
    attest_finding found = { 0 };
    int starved; /* not so: the property held for this job */
    h->world.subject.index = s->kernel[j->kernel];
    const attest_prop_kernel kernel = attest_props_kernel(&h->world.subject);
    ATTEST_TRY(props_make_case(&c, &starved, j, s, h, err));
    ATTEST_TRY(draw_case(&inputs, &c, j->number, err));
    ATTEST_TRY(attest_trial_init(&trial, &h->host, &kernel, &c, j->number, inputs, property, err));
    if (trial.first.end == ATTEST_PROP_DONE)
        ATTEST_TRY(property->check(&found, &trial, err));
    *seen = found.broken && found.end == ATTEST_PROP_DONE;
out:
    attest_trial_clear(&trial);
    attest_bundle_free(inputs);
    return status;
}

static int holds(const props_state *s, size_t job, size_t k)
{
    const props_verdict *v = &s->verdict[job * s->request->property_count + k];
    return v->compared && !v->broken;
}

attest_status props_plant(props_state *s, size_t k, props_hand *h, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_props_count *count = &s->result->count[k];
    size_t held = 0, at = 0;
    for (size_t i = 0; i < s->jobs; i++)
        held += (size_t)holds(s, i, k);
    for (size_t i = 0; i < s->jobs && count->planted != ATTEST_PLANTED_SEEN; i++) {
        int seen = 0;
        if (!holds(s, i, k))
            continue;
        const int taken = at * PLANTED_TRIES / held != (at + 1) * PLANTED_TRIES / held;
        at++;
        if (!taken)
            continue;
        ATTEST_TRY(plant(&seen, s, &s->job[i], s->request->property[k], h, err));
        count->planted = seen ? ATTEST_PLANTED_SEEN : ATTEST_PLANTED_MISSED;
    }
out:
    return status;
}
