/* study_kernels.c - one seed of one point on every kernel, o alone judged: what length, dim and the like ask. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/study/study_private.h"

/* What o is compared with beside its own formula: result->truncation. */
static attest_status add_against(attest_prepared *prepared, const attest_study *study, attest_error *err)
{
    if (!study->against)
        return ATTEST_OK;
    prepared->exp_problem = prepared->c.problem;
    study->against(&prepared->exp_problem);
    return attest_truth_new(&prepared->exp_truth, &prepared->exp_problem, prepared->inputs, ATTEST_ENGINE_AUTO, err);
}

static attest_status every_kernel(study_answer *answer, study_run *run, study_thread *thread, const study_point *p,
                                  uint64_t seed, attest_judge *judge, study_judged *judged, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_case c;
    int drawn = 0;
    ATTEST_TRY(study_case_of(&c, run, p, seed, err));
    for (size_t k = 0; k < run->kernels; k++) {
        study_answer *a = &answer[k];
        if (run->slot[k * run->grid.count + p->number])
            continue;
        ATTEST_TRY(study_subject(&judged->subject, run, thread, k, err));
        a->served = attest_worker_supports(judged->subject.worker, judged->subject.index, &c.problem, a->why,
                                           sizeof a->why) != 0;
        if (!a->served)
            continue;
        if (!drawn++) {
            ATTEST_TRY(attest_prepare_inputs(&prepared, &c, NULL, err));
            ATTEST_TRY(add_against(&prepared, run->request->study, err));
        }
        attest_result_init(&a->result);
        ATTEST_TRY(attest_run_case(&a->result, &a->served, &prepared, &judged->subject, judge,
                                   run->request->options->timeout, err));
        snprintf(a->why, sizeof a->why, "%s", a->result.why);
        study_plain_verdict(&a->result);
    }
out:
    attest_prepared_clear(&prepared);
    return status;
}

attest_status study_measure_o(study_answer *answer, study_run *run, study_thread *thread, const study_point *p,
                              uint64_t seed, attest_error *err)
{
    study_judged judged = { .position = -1 };
    attest_judge judge = { ATTEST_GIVES_O, study_judge_o, &judged };
    return every_kernel(answer, run, thread, p, seed, &judge, &judged, err);
}

/* ---- one row ----------------------------------------------------------------------------------------------------- */
/* The row at the position: largest error and largest error/(u abs_scale). */
static attest_status judge_row(void *context, attest_result *r, attest_prepared *prepared, const attest_bundle *outputs,
                               attest_error *err)
{
    const study_judged *judged = context;
    const attest_subject *s = &judged->subject;
    const attest_problem *p = &prepared->c.problem;
    const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_O };
    const double u = attest_unit_roundoff(p->out);
    attest_status status = ATTEST_OK;
    attest_row_facts facts;
    attest_declared declared;
    attest_element *e = calloc((size_t)p->e, sizeof *e);
    if (!e)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a row");
    ATTEST_TRY(attest_worker_declared(s->worker, s->index, p, &declared, err));
    ATTEST_TRY(attest_judge_row(e, &facts, prepared->truth, &declared.numerics, declared.flags, id,
                                attest_bundle_get(outputs, id), (attest_row){ 0, 0, judged->position }, err));
    r->verdict = ATTEST_MEASURED;
    r->rows_judged = 1;
    r->rows_total = p->n;
    r->rounding = r->abs_scale_ratio = 0;
    r->range = facts.range_hi;
    r->abs_score = facts.abs_score;
    for (int64_t c = 0; c < p->e; c++) {
        r->rounding = fmax(r->rounding, e[c].error_hi);
        r->abs_scale_ratio = fmax(r->abs_scale_ratio, e[c].error_hi / (u * e[c].abs_scale));
        r->verdict = e[c].class == ATTEST_CLASS_ILLPOSED ? ATTEST_ILLPOSED
                     : e[c].ratio_lo > 1                 ? ATTEST_FAIL
                                                         : r->verdict;
    }
out:
    free(e);
    return status;
}

attest_status study_measure_position(study_answer *answer, study_run *run, study_thread *thread, const study_point *p,
                                     uint64_t seed, attest_error *err)
{
    study_judged judged = { .position = (int64_t)p->abscissa - 1 };
    attest_judge judge = { ATTEST_GIVES_O, judge_row, &judged };
    return every_kernel(answer, run, thread, p, seed, &judge, &judged, err);
}
