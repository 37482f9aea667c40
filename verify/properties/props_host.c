/* props_host.c - see props_host.h. */
#include "verify/properties/props_host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const attest_kernel_facts *facts_of(const attest_subject *subject)
{
    return attest_worker_kernel(subject->worker, subject->index);
}

static int supports(void *context, const attest_problem *p)
{
    attest_props_world *world = context;
    char why[256];
    if (world->unanswered)
        return 0;
    const int answer = attest_worker_supports(world->subject.worker, world->subject.index, p, why, sizeof why);
    if (answer < 0 && !attest_stop_signal()) { /* a signal leaves it no time */
        world->unanswered = answer == ATTEST_SUPPORTS_LATE ? ATTEST_PROP_TIMEOUT : ATTEST_PROP_CRASH;
        world->problem = *p;
        snprintf(world->why, sizeof world->why, "%s", why);
    }
    return answer == 1;
}

int attest_props_unanswered(attest_case *c, attest_finding *found, const attest_props_world *world, uint64_t seed)
{
    char line[ATTEST_LINE];
    attest_error err;
    *c = (attest_case){ .problem = world->problem, .preset = "softmax", .family = "normal", .seed = seed };
    if (!world->unanswered || attest_case_print(line, sizeof line, c, &err) != ATTEST_OK ||
        attest_case_parse(c, line, NULL, NULL, &err) != ATTEST_OK) /* by its own preset */
        return 0;
    *found = (attest_finding){ .compared = 1, .broken = 1, .end = world->unanswered, .ratio = INFINITY };
    snprintf(found->what, sizeof found->what, "%s", world->why);
    return 1;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static uint32_t end_of(const attest_run_result *run)
{
    switch (run->state) {
    case ATTEST_RUN_UNSUPPORTED: return ATTEST_PROP_REFUSED;
    case ATTEST_RUN_CRASH:
    case ATTEST_RUN_EXIT: return ATTEST_PROP_CRASH;
    case ATTEST_RUN_TIMEOUT: return ATTEST_PROP_TIMEOUT;
    default: break;
    }
    if (run->status == ATTEST_UNSUPPORTED)
        return ATTEST_PROP_REFUSED;
    if (run->status != ATTEST_OK)
        return ATTEST_PROP_ERROR;
    return run->reasons ? ATTEST_PROP_FAULT : ATTEST_PROP_DONE;
}

static attest_status run_kernel(void *context, const attest_case *c, const attest_bundle *inputs, uint32_t wanted,
                                int strided, attest_bundle **outputs, attest_prop_run *end, attest_error *err)
{
    attest_props_world *world = context;
    attest_kernel_facts facts = *facts_of(&world->subject);
    /* attest_case_bundle() copies the inputs, which it only reads */
    attest_prepared prepared = { .c = *c };
    attest_status status = ATTEST_OK;
    attest_bundle *bundle = NULL;
    attest_run_result run;
    memset(&run, 0, sizeof run);
    *outputs = NULL;
    facts.outputs &= wanted | ATTEST_TAKES_STATE;
    prepared.inputs = (attest_bundle *)(uintptr_t)inputs;
    ATTEST_TRY(attest_case_bundle(&bundle, &prepared, &facts, err));
    world->runs++;
    ATTEST_TRY((strided ? attest_worker_run_strided : attest_worker_run)(
        world->subject.worker, world->subject.index, &c->problem, bundle, world->timeout_s, &run, err));
    end->end = end_of(&run);
    snprintf(end->why, sizeof end->why, "%s", run.why);
    if (end->end == ATTEST_PROP_DONE || end->end == ATTEST_PROP_FAULT) {
        *outputs = bundle;
        bundle = NULL;
    }
out:
    attest_bundle_free(bundle);
    return status;
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

static void take_bounds(double *bound, double *ratio, const attest_element *elements, int64_t count)
{
    for (int64_t x = 0; x < count; x++) {
        const int judged = elements[x].class == ATTEST_CLASS_NORMAL ||
                           elements[x].class == ATTEST_CLASS_PREMATURE_OVERFLOW;
        bound[x] = judged ? elements[x].bound : (double)NAN;
        if (ratio)
            ratio[x] = judged ? elements[x].ratio_lo : (double)NAN;
    }
}

/* Of o, u, z, lse: row by row; of states: one KV head at a time. */
static attest_status judge_all(double *bound, double *ratio, attest_element *elements, attest_truth *truth,
                               const attest_declared *declared, const attest_problem *p, attest_tensor_id id,
                               const attest_tensor *got, attest_error *err)
{
    const int state = id.kind != ATTEST_KIND_ROLE;
    const int64_t heads = got->shape[1], rows = state ? 1 : p->n;
    const int64_t width = attest_tensor_count(got) / (got->shape[0] * heads * rows);
    attest_status status = ATTEST_OK;
    for (int64_t row = 0; row < got->shape[0] * heads * rows; row++) {
        const int64_t b = row / (heads * rows), h = row / rows % heads, i = row % rows;
        if (state)
            ATTEST_TRY(attest_judge_state(elements, truth, &declared->numerics, declared->flags, id,
                                          (declared->flags & ATTEST_PACKED_STATE) != 0, got, b, h, err));
        else
            ATTEST_TRY(attest_judge_row(elements, NULL, truth, &declared->numerics, declared->flags, id, got,
                                        (attest_row){ b, h, i }, err));
        take_bounds(bound + row * width, ratio ? ratio + row * width : NULL, elements, width);
    }
out:
    return status;
}

static attest_status bounds(void *context, double *bound, double *ratio, const attest_case *c,
                            const attest_bundle *inputs, attest_tensor_id id, const attest_tensor *got,
                            attest_error *err)
{
    const attest_props_world *world = context;
    attest_status status = ATTEST_OK;
    attest_truth *truth = NULL;
    attest_declared declared;
    attest_element *elements = calloc((size_t)attest_tensor_count(got) + 1, sizeof *elements);
    if (!elements)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for bounds");
    ATTEST_TRY(attest_truth_new(&truth, &c->problem, inputs, ATTEST_ENGINE_AUTO, err));
    ATTEST_TRY(attest_worker_declared(world->subject.worker, world->subject.index, &c->problem, &declared, err));
    ATTEST_TRY(judge_all(bound, ratio, elements, truth, &declared, &c->problem, id, got, err));
out:
    attest_truth_free(truth);
    free(elements);
    return status;
}

attest_prop_host attest_props_host(attest_props_world *world)
{
    return (attest_prop_host){ world, supports, run_kernel, world->reference ? bounds : NULL };
}

attest_prop_kernel attest_props_kernel(const attest_subject *subject)
{
    const attest_kernel_facts *facts = facts_of(subject);
    return (attest_prop_kernel){ facts->form, facts->flags, facts->outputs, facts->numerics, facts->limits };
}

attest_status attest_props_facts(attest_case_facts *facts, const attest_case *c, const attest_bundle *inputs,
                                 attest_error *err)
{
    const attest_problem *p = &c->problem;
    attest_status status = ATTEST_OK;
    attest_truth *truth = NULL;
    char line[ATTEST_LINE];
    *facts = (attest_case_facts){ .rows = p->b * p->hq * p->n, .range = NAN, .abs_score = NAN };
    ATTEST_TRY(attest_case_print(line, sizeof line, c, err));
    attest_reference_case(line);
    ATTEST_TRY(attest_truth_new(&truth, p, inputs, ATTEST_ENGINE_AUTO, err));
    for (int64_t row = 0; row < facts->rows; row++) {
        attest_row_facts one;
        ATTEST_TRY(
            attest_truth_facts(&one, truth, (attest_row){ row / (p->hq * p->n), row / p->n % p->hq, row % p->n }, err));
        facts->empty += one.visible < 1;
        facts->negative_sum += one.visible >= 1 && one.sum_sign < 0;
        facts->vanishing += one.visible >= 1 && one.sum_sign == 0;
        facts->negative_weight += one.negative_weight;
        facts->range = fmax(facts->range, one.range_hi);
        facts->abs_score = fmax(facts->abs_score, one.abs_score);
    }
out:
    attest_truth_free(truth);
    return status;
}
