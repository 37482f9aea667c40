/* search_eval.c - see search.h. */
#include "verify/search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const attest_objective_names[ATTEST_OBJECTIVE_COUNT] = { "ratio", "ulp", "kappa", "state" };

static double size_of(const attest_element *el) { return fmax(fabs(el->truth_lo), fabs(el->truth_hi)); }

/* What an element of o adds to the objective; 0: nothing. */
static double figure_ratio(const attest_element *el) { return el->ratio_hi; }
static double figure_ulp(const attest_element *el) { return el->ulp_hi; }
static double figure_kappa(const attest_element *el)
{
    const double size = size_of(el);
    return size > 0 && isfinite(size) ? el->abs_scale / size : 0;
}

static double (*const figures[ATTEST_OBJECTIVE_COUNT])(const attest_element *el) = {
    [ATTEST_OBJECTIVE_RATIO] = figure_ratio,
    [ATTEST_OBJECTIVE_ULP] = figure_ulp,
    [ATTEST_OBJECTIVE_KAPPA] = figure_kappa,
};

/* The final state of the highest degree that the kernel gives and the variant has, or {ATTEST_KIND_ROLE}. */
static attest_tensor_id state_of(const attest_problem *p, const attest_kernel_facts *facts)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS], found = { ATTEST_KIND_ROLE, 0 };
    const size_t count = attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count && (facts->outputs & ATTEST_GIVES_STATE); i++)
        if (ids[i].kind == ATTEST_KIND_HT)
            found = ids[i];
    return found;
}

/* Room for a row of o and for the largest state. */
static attest_status make_room(attest_evaluator *ev, const attest_kernel_facts *facts, attest_error *err)
{
    const attest_problem *p = &ev->prepared.c.problem;
    const attest_tensor_id state = state_of(p, facts);
    attest_tensor t;
    int64_t count = p->e;
    if (ev->objective == ATTEST_OBJECTIVE_STATE) {
        if (state.kind != ATTEST_KIND_HT)
            return attest_fail(err, ATTEST_BAD_INPUT, "--objective=state: %s gives no final state here", facts->name);
        attest_tensor_describe(&t, p, state, 0);
        count = t.shape[2] * t.shape[3] > count ? t.shape[2] * t.shape[3] : count;
    }
    ev->elements = calloc((size_t)count, sizeof *ev->elements);
    return ev->elements ? ATTEST_OK : attest_fail(err, ATTEST_NO_MEMORY, "no memory for a row of elements");
}

attest_status attest_evaluator_init(attest_evaluator *ev, const attest_case *c, attest_bundle *given,
                                    const attest_subject *subject, uint32_t objective, double timeout_s,
                                    attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_kernel_facts *facts = attest_worker_kernel(subject->worker, subject->index);
    char why[256];
    *ev = (attest_evaluator){ .subject = subject, .objective = objective, .timeout_s = timeout_s };
    ATTEST_TRY(attest_prepare_inputs(&ev->prepared, c, given, err));
    if (!attest_worker_supports(subject->worker, subject->index, &c->problem, why, sizeof why))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s does not serve this problem: %s", facts->name, why));
    ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, &c->problem, &ev->declared, err));
    ATTEST_TRY(make_room(ev, facts, err));
out:
    if (status != ATTEST_OK)
        attest_evaluator_clear(ev);
    return status;
}

void attest_evaluator_clear(attest_evaluator *ev)
{
    attest_prepared_clear(&ev->prepared);
    free(ev->elements);
    ev->elements = NULL;
}

/* `count`: one of ev's. */
static void note(attest_evaluator *ev, long *count, const char *why)
{
    if (ev->refuted + ev->crashed == 0)
        snprintf(ev->why, sizeof ev->why, "%s", why);
    ++*count;
}

/* The largest figure over the elements of o; a proved error above the bound is counted whatever the figure. */
static attest_status judge_output(double *most, attest_evaluator *ev, const attest_bundle *outputs, attest_error *err)
{
    const attest_problem *p = &ev->prepared.c.problem;
    const attest_tensor_id o = { ATTEST_KIND_ROLE, ATTEST_O };
    const attest_tensor *got = attest_bundle_get(outputs, o);
    attest_status status = ATTEST_OK;
    double worst = 0;
    for (int64_t row = 0; got && row < p->b * p->hq * p->n; row++) {
        const int64_t b = row / (p->hq * p->n), h = row / p->n % p->hq, i = row % p->n;
        ATTEST_TRY(attest_judge_row(ev->elements, NULL, ev->prepared.truth, &ev->declared.numerics, ev->declared.flags,
                                    o, got, (attest_row){ b, h, i }, err));
        for (int64_t c = 0; c < p->e; c++) {
            const attest_element *el = &ev->elements[c];
            if (el->class != ATTEST_CLASS_NORMAL && el->class != ATTEST_CLASS_PREMATURE_OVERFLOW)
                continue;
            worst = fmax(worst, isnan(el->ratio_lo) ? INFINITY : el->ratio_lo);
            if (figures[ev->objective])
                *most = fmax(*most, figures[ev->objective](el));
        }
    }
    if (worst > 1) {
        char why[64] = "no finite number, or an error where the bound is 0";
        if (isfinite(worst))
            snprintf(why, sizeof why, "an error of at least %.4g times the bound", worst);
        note(ev, &ev->refuted, why);
        if (isinf(worst))
            *most = INFINITY;
    }
out:
    return status;
}

/* Largest |value| of an input; 0 where the problem has none. */
static double largest(const attest_tensor *t)
{
    double most = 0;
    for (int64_t at = 0; t && at < attest_tensor_count(t); at++)
        most = fmax(most, fabs(attest_load(t, at)));
    return most;
}

static attest_status judge_states(double *most, attest_evaluator *ev, const attest_bundle *outputs, attest_error *err)
{
    const attest_problem *p = &ev->prepared.c.problem;
    const attest_kernel_facts *facts = attest_worker_kernel(ev->subject->worker, ev->subject->index);
    const double k = fmax(1, largest(attest_bundle_role(ev->prepared.inputs, ATTEST_K)));
    const double v = largest(attest_bundle_role(ev->prepared.inputs, ATTEST_V));
    const int packed = (facts->flags & ATTEST_PACKED_STATE) != 0;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS);
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *got = attest_bundle_get(outputs, ids[i]);
        if (!got || ids[i].kind != ATTEST_KIND_HT)
            continue;
        const double unit = v * pow(k, ids[i].index);
        for (int64_t head = 0; head < p->b * p->hkv; head++) {
            ATTEST_TRY(attest_judge_state(ev->elements, ev->prepared.truth, &ev->declared.numerics, ev->declared.flags,
                                          ids[i], packed, got, head / p->hkv, head % p->hkv, err));
            for (int64_t x = 0; unit > 0 && x < got->shape[2] * got->shape[3]; x++)
                if (ev->elements[x].class == ATTEST_CLASS_NORMAL)
                    *most = fmax(*most, size_of(&ev->elements[x]) / unit);
        }
    }
out:
    return status;
}

attest_status attest_evaluate(double *figure, attest_evaluator *ev, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared *prepared = &ev->prepared;
    const attest_subject *subject = ev->subject;
    attest_bundle *bundle = NULL;
    attest_run_result run;
    double most = 0;
    *figure = 0;
    ev->evaluations++;
    attest_truth_free(prepared->truth);
    prepared->truth = NULL;
    ATTEST_TRY(attest_truth_new(&prepared->truth, &prepared->c.problem, prepared->inputs, ATTEST_ENGINE_AUTO, err));
    ATTEST_TRY(attest_case_bundle(&bundle, prepared, attest_worker_kernel(subject->worker, subject->index), err));
    ATTEST_TRY(
        attest_worker_run(subject->worker, subject->index, &prepared->c.problem, bundle, ev->timeout_s, &run, err));
    if (run.state != ATTEST_RUN_DONE || run.status != ATTEST_OK || run.reasons != 0) {
        note(ev, run.state == ATTEST_RUN_DONE || run.state == ATTEST_RUN_UNSUPPORTED ? &ev->refuted : &ev->crashed,
             run.why);
        most = INFINITY;
    } else
        ATTEST_TRY(judge_output(&most, ev, bundle, err));
    if (ev->objective == ATTEST_OBJECTIVE_STATE && isfinite(most))
        ATTEST_TRY(judge_states(&most, ev, bundle, err));
    *figure = most;
out:
    attest_bundle_free(bundle);
    return status;
}
