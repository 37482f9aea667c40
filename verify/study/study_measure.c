/* study_measure.c - one seed of one point: a case on every kernel as the gate runs it, or the reference alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/compare/compare.h"
#include "verify/study/study_private.h"

attest_status study_subject(attest_subject *subject, study_run *run, study_thread *thread, size_t k, attest_error *err)
{
    const attest_plan_kernel *kernel = &run->plan.kernel[k];
    const attest_plan_library *library = &run->plan.library[kernel->library];
    attest_worker **worker = &thread->worker[kernel->library];
    attest_status status = ATTEST_OK;
    if (!*worker)
        status = attest_plan_start(worker, &run->plan, kernel->library, run->request->options->timeout, err);
    *subject = (attest_subject){ .worker = *worker,
                                 .index = kernel->index,
                                 .facts = &kernel->facts,
                                 .library = library->path,
                                 .program = run->request->options->program };
    memcpy(subject->file_hash, library->file.hash, sizeof subject->file_hash);
    return status;
}

void study_describe(attest_result *r, const study_run *run, const study_point *p, size_t k)
{
    const attest_study *s = run->request->study;
    snprintf(r->suite, sizeof r->suite, "study-%s", s->name);
    memcpy(r->suite_hash, run->hash, sizeof r->suite_hash);
    memcpy(r->run, run->date, sizeof r->run);
    r->point = (int64_t)p->number;
    snprintf(r->series, sizeof r->series, "%s", p->series);
    if (s->kernels && (s->kernel_is_line || run->kernels > 1)) {
        const size_t n = strlen(r->series);
        snprintf(r->series + n, sizeof r->series - n, " %.60s", run->plan.kernel[k].facts.name);
    }
    if (!(r->abscissa == r->abscissa))
        r->abscissa = p->abscissa;
}

/* The scale at which the largest range of a row's scores is `target`: scores are proportional to it. */
static attest_status scale_for(double *scale, const char *given, double target, uint64_t seed, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_case c;
    attest_row_facts facts;
    double largest = 0;
    ATTEST_TRY(attest_case_parse(&c, given, NULL, NULL, err));
    c.problem.scale = 1;
    c.problem.axis[ATTEST_AXIS_WEIGHT] = (attest_setting){ ATTEST_WEIGHT_TAYLOR, 1, 0 };
    c.seed = seed;
    ATTEST_TRY(attest_prepare_inputs(&prepared, &c, NULL, err));
    for (int64_t i = 0; i < c.problem.n; i++) {
        ATTEST_TRY(attest_truth_facts(&facts, prepared.truth, (attest_row){ 0, 0, i }, err));
        largest = fmax(largest, facts.range_hi);
    }
    if (!(largest > 0) || !(target / largest < INFINITY))
        ATTEST_TRY(
            attest_fail(err, ATTEST_BAD_INPUT, "'%s': all scores are equal, no scale gives them a range", given));
    *scale = target / largest;
out:
    attest_prepared_clear(&prepared);
    return status;
}

/* The case of this seed.  A study with ranges whose family does not take a range reaches it by the scale. */
attest_status study_case_of(attest_case *c, const study_run *run, const study_point *p, uint64_t seed,
                            attest_error *err)
{
    const study_grid *grid = &run->grid;
    double scale = NAN;
    attest_status status = ATTEST_OK;
    if (grid->list[ATTEST_STUDY_RANGES].value && !strstr(p->line, "family=range:"))
        ATTEST_TRY(scale_for(&scale, p->line, study_number(grid, p, ATTEST_STUDY_RANGES), seed, err));
    ATTEST_TRY(attest_case_parse(c, p->line, NULL, NULL, err));
    if (scale == scale)
        c->problem.scale = scale;
    c->seed = seed;
out:
    return status;
}

/* A point that is not a plain measurement says so. */
void study_plain_verdict(attest_result *r)
{
    if (r->verdict == ATTEST_PASS || r->verdict == ATTEST_PARTIAL || r->verdict == ATTEST_NO_EVIDENCE)
        r->verdict = ATTEST_MEASURED;
}

/* o alone: what a state of many dimensions holds is no matter of a study, and dear to judge. */
attest_status study_judge_o(void *context, attest_result *result, attest_prepared *prepared,
                            const attest_bundle *outputs, attest_error *err)
{
    const attest_subject *subject = &((const study_judged *)context)->subject;
    attest_status status = ATTEST_OK;
    attest_declared declared;
    ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, &prepared->c.problem, &declared, err));
    ATTEST_TRY(attest_compare(result, prepared->truth, prepared->exp_truth, &prepared->c, outputs, &declared.numerics,
                              declared.flags, 0, err));
out:
    return status;
}

attest_status study_measure_case(study_answer *answer, study_run *run, study_thread *thread, const study_point *p,
                                 uint64_t seed, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_case c;
    study_judged judged;
    int drawn = 0;
    ATTEST_TRY(study_case_of(&c, run, p, seed, err));
    for (size_t k = 0; k < run->kernels; k++) {
        study_answer *a = &answer[k];
        if (run->slot[k * run->grid.count + p->number])
            continue;
        ATTEST_TRY(study_subject(&judged.subject, run, thread, k, err));
        a->served = attest_worker_supports(judged.subject.worker, judged.subject.index, &c.problem, a->why,
                                           sizeof a->why) != 0;
        if (!a->served)
            continue;
        if (!drawn++)
            ATTEST_TRY(attest_prepare(&prepared, &c, err));
        const attest_judge judge = { ATTEST_GIVES_O, study_judge_o, &judged };
        const int states = (judged.subject.facts->outputs & ATTEST_GIVES_STATE) != 0;
        attest_result_init(&a->result);
        ATTEST_TRY(attest_run_case(&a->result, &a->served, &prepared, &judged.subject, states ? &judge : NULL,
                                   run->request->options->timeout, err));
        snprintf(a->why, sizeof a->why, "%s", a->result.why);
        study_plain_verdict(&a->result);
    }
out:
    attest_prepared_clear(&prepared);
    return status;
}

/* The largest relative error of a normalised weight: the reference alone. */
attest_status study_measure_weights(study_answer *answer, study_run *run, study_thread *thread, const study_point *p,
                                    uint64_t seed, attest_error *err)
{
    (void)thread;
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_row_facts facts;
    attest_result *r = &answer->result;
    attest_case c;
    double lo, hi;
    attest_result_init(r);
    ATTEST_TRY(study_case_of(&c, run, p, seed, err));
    ATTEST_TRY(attest_prepare(&prepared, &c, err));
    ATTEST_TRY(attest_truth_facts(&facts, prepared.truth, (attest_row){ 0, 0, 0 }, err));
    ATTEST_TRY(attest_truth_weight_error(&lo, &hi, prepared.truth, prepared.exp_truth, (attest_row){ 0, 0, 0 }, err));
    attest_result_describe(r, &prepared.c, prepared.line, prepared.hash);
    r->verdict = hi == hi ? ATTEST_MEASURED : ATTEST_ILLPOSED;
    r->range = facts.range_hi;
    r->abs_score = facts.abs_score;
    r->abscissa = strcmp(study_text(&run->grid, p, ATTEST_STUDY_CENTERS), "zero") == 0 ? r->abs_score : r->range;
    r->abs_lo = lo;
    r->abs_hi = hi;
    answer->served = 1;
out:
    attest_prepared_clear(&prepared);
    return status;
}
