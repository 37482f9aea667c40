/* study_run.c - a run of a study: its grid and kernels, threads, the order of results. */
#include "verify/study/study_private.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "verify/study/study_part.h"

#define REFUSED SIZE_MAX
#define SECONDS_CASE 4e-3  /* of a kernel on a small case: two runs and the checks */
#define SECONDS_WORK 25e-9 /* of the truth, a product */
#define SECONDS_STATE 4e-9 /* of a recurrent kernel, a number of its state and token; it runs twice */

/* ---- what is there ----------------------------------------------------------------------------------------------- */
/* Kernels by their names: globs separated by `|`, any of them. */
static int wanted(const void *context, const attest_kernel_facts *kernel)
{
    char glob[256];
    for (const char *at = context; *at; at += *at == '|') {
        const size_t len = strcspn(at, "|");
        snprintf(glob, sizeof glob, "%.*s", (int)(len < sizeof glob ? len : sizeof glob - 1), at);
        if (fnmatch(glob, kernel->name, 0) == 0)
            return 1;
        at += len;
    }
    return 0;
}

static attest_status plan_kernels(study_run *run, attest_error *err)
{
    const attest_study_request *q = run->request;
    const char *const libraries[] = { q->library };
    const char *glob = q->kernels ? q->kernels : q->library ? "*" : q->study->kernels;
    attest_status status = ATTEST_OK;
    run->kernels = 1;
    if (!q->study->kernels && (q->kernels || q->library))
        return attest_fail(err, ATTEST_BAD_INPUT, "--kernel=%s: study %s is of the reference alone, no kernel runs",
                           q->kernels ? q->kernels : q->library, q->study->name);
    if (!q->study->kernels)
        return ATTEST_OK;
    if (q->library && q->study->all)
        return attest_fail(err, ATTEST_BAD_INPUT, "--kernel=%s: study %s times the built-in kernels only", q->library,
                           q->study->name);
    ATTEST_TRY(attest_plan_make(&run->plan, libraries, 1, wanted, glob, q->options->timeout, err));
    run->kernels = run->plan.kernel_count;
    if (run->kernels == 0)
        ATTEST_TRY(attest_plan_no_kernel(&run->plan, glob, q->options->timeout, err));
out:
    return status;
}

/* Who resumes must ask the same: the study, its values, kernels and their files. */
static void hash_request(study_run *run)
{
    uint64_t hash = attest_fnv(ATTEST_FNV_START, run->request->study->name, strlen(run->request->study->name));
    for (int a = 0; a < ATTEST_STUDY_AXES; a++)
        for (size_t i = 0; i < run->grid.list[a].count; i++)
            hash = attest_fnv(hash, run->grid.list[a].value[i].text, strlen(run->grid.list[a].value[i].text) + 1);
    for (size_t k = 0; k < run->plan.kernel_count; k++) {
        const attest_plan_kernel *kernel = &run->plan.kernel[k];
        const char *file = run->plan.library[kernel->library].file.hash;
        hash = attest_fnv(hash, kernel->name, strlen(kernel->name) + 1);
        hash = attest_fnv(hash, file, strlen(file) + 1);
    }
    if (run->request->study->all)
        hash = attest_fnv(hash, &run->request->rounds, sizeof run->request->rounds);
    snprintf(run->hash, sizeof run->hash, "%016llx", (unsigned long long)hash);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */
attest_status study_add(study_run *run, size_t k, const study_point *p, const attest_result *r, attest_error *err)
{
    if (attest_result_of_stop(r))
        return ATTEST_OK;
    const attest_status status = attest_results_add(run->results, r, err);
    if (status == ATTEST_OK) {
        run->slot[k * run->grid.count + p->number] = run->results->count;
        run->end->done++;
    }
    return status;
}

void study_refuse(study_run *run, size_t k, const study_point *p, const char *why)
{
    run->slot[k * run->grid.count + p->number] = REFUSED;
    run->end->done++;
    run->end->refused++;
    snprintf(run->end->why, sizeof run->end->why, "%.60s: %.250s",
             run->plan.kernel_count ? run->plan.kernel[k].facts.name : "", why);
}

int study_ends(study_run *run)
{
    const double limit = run->request->options->max_time;
    const int number = attest_stop_signal();
    if (number) {
        run->end->signal = number;
        snprintf(run->end->ended, sizeof run->end->ended, "%s", attest_stop_name());
    } else if (limit >= 0 && attest_now_seconds() - run->started >= limit) {
        snprintf(run->end->ended, sizeof run->end->ended, "--max-time");
    }
    return run->end->ended[0] != '\0';
}

/* Kernel by kernel, each in the order of the grid. */
static attest_status order_results(study_run *run, attest_error *err)
{
    const size_t pairs = run->kernels * run->grid.count;
    attest_status status = ATTEST_OK;
    size_t *order = calloc(run->results->count + 1, sizeof *order), count = 0;
    if (!order)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory to order %zu results", run->results->count);
    for (size_t i = 0; i < pairs; i++)
        if (run->slot[i] && run->slot[i] != REFUSED)
            order[count++] = run->slot[i] - 1;
    if (count != run->results->count)
        status = attest_fail(err, ATTEST_INTERNAL, "%zu results of %zu points", run->results->count, count);
    else
        status = attest_results_order(run->results, order, err);
    free(order);
    return status;
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */
static void tell_estimate(const study_run *run)
{
    const size_t pairs = run->kernels * run->grid.count - run->end->kept;
    const double seeds = (double)run->grid.list[ATTEST_STUDY_SEEDS].count;
    double seconds = 0;
    size_t recurrent = 0;
    for (size_t k = 0; k < run->plan.kernel_count; k++)
        recurrent += run->plan.kernel[k].facts.form == ATTEST_RECURRENT ||
                     run->plan.kernel[k].facts.form == ATTEST_CHUNK;
    if (run->request->options->quiet || run->request->study->all)
        return;
    for (size_t i = 0; i < run->grid.count; i++)
        seconds += (run->grid.point[i].work * SECONDS_WORK +
                    run->grid.point[i].states * (double)recurrent * SECONDS_STATE) *
                   seeds;
    seconds += (double)pairs * seeds * SECONDS_CASE * (run->request->study->kernels != NULL);
    fprintf(stderr, "attest study %s: %zu points", run->request->study->name, run->grid.count);
    if (run->plan.kernel_count > 1)
        fprintf(stderr, " on %zu kernels", run->plan.kernel_count);
    if (seeds > 1)
        fprintf(stderr, ", %.0f seeds", seeds);
    if (run->end->kept > 0)
        fprintf(stderr, ", %zu results there already", run->end->kept);
    fprintf(stderr, ", about %.0f s on one core\n", ceil(seconds));
}

void study_progress(const study_run *run)
{
    const double spent = attest_now_seconds() - run->started;
    const size_t done = run->end->done - run->end->kept, all = run->end->points - run->end->kept;
    if (!run->request->progress)
        return;
    fprintf(stderr, "\r\033[K");
    if (done < all)
        fprintf(stderr, "attest study %s: %zu of %zu, %.0f s left", run->request->study->name, run->end->done,
                run->end->points, spent / (double)(done ? done : 1) * (double)(all - done));
    fflush(stderr);
}

/* ---- points ------------------------------------------------------------------------------------------------------ */
/* Of one kernel: all seeds served, or the point is refused. */
static attest_status end_pair(study_run *run, study_answer *answers, const study_point *p, size_t k, size_t seeds,
                              attest_error *err)
{
    study_answer *of[STUDY_VALUES];
    attest_result r;
    for (size_t s = 0; s < seeds; s++) {
        of[s] = &answers[s * run->kernels + k];
        if (!of[s]->served) {
            study_refuse(run, k, p, of[s]->why);
            return ATTEST_OK;
        }
    }
    study_spread(&r, run->request->study, of, seeds);
    study_describe(&r, run, p, k);
    return study_add(run, k, p, &r, err);
}

static attest_status one_point(study_run *run, study_thread *thread, const study_point *p, attest_error *err)
{
    const study_list *seeds = &run->grid.list[ATTEST_STUDY_SEEDS];
    attest_status status = ATTEST_OK;
    size_t left = 0;
    study_answer *answers = calloc(seeds->count * run->kernels, sizeof *answers);
    if (!answers)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu seeds", seeds->count);
    for (size_t k = 0; k < run->kernels; k++)
        left += !run->slot[k * run->grid.count + p->number];
    for (size_t s = 0; left > 0 && s < seeds->count; s++)
        ATTEST_TRY(run->request->study->measure(&answers[s * run->kernels], run, thread, p,
                                                (uint64_t)seeds->value[s].number, err));
#pragma omp critical(attest_study)
    {
        for (size_t k = 0; status == ATTEST_OK && k < run->kernels; k++)
            if (!run->slot[k * run->grid.count + p->number])
                status = end_pair(run, answers, p, k, seeds->count, err);
        study_progress(run);
    }
out:
    free(answers);
    return status;
}

/* One thread: points from a common counter until there is none left, a limit is reached, or one fails. */
static void work(study_run *run, size_t *next, attest_status *status, attest_error *err)
{
    study_thread thread = { .worker = calloc(run->plan.library_count + 1, sizeof *thread.worker) };
    attest_error own = { "" };
    attest_status mine = thread.worker ? ATTEST_OK
                                       : attest_fail(&own, ATTEST_NO_MEMORY, "no memory for the workers of a thread");
    while (mine == ATTEST_OK) {
        size_t index;
        int ends;
#pragma omp critical(attest_study)
        {
            index = (*next)++;
            ends = *status != ATTEST_OK || study_ends(run);
        }
        if (ends || index >= run->grid.count)
            break;
        mine = one_point(run, &thread, &run->grid.point[index], &own);
    }
#pragma omp critical(attest_study)
    if (mine != ATTEST_OK && *status == ATTEST_OK) {
        *status = mine;
        *err = own;
    }
    for (size_t l = 0; thread.worker && l < run->plan.library_count; l++)
        attest_worker_free(thread.worker[l]);
    free(thread.worker);
    attest_reference_thread_end();
}

static attest_status all_points(study_run *run, attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t next = 0;
#ifdef _OPENMP
    const long jobs = run->request->options->jobs > 0 ? run->request->options->jobs : omp_get_num_procs();
#pragma omp parallel num_threads((int)jobs)
#endif
    work(run, &next, &status, err);
    return status;
}

static void clear(study_run *run)
{
    free(run->slot);
    attest_plan_clear(&run->plan);
    study_grid_clear(&run->grid);
}

attest_status attest_study_measure(attest_results *results, attest_study_end *end, const attest_study_request *request,
                                   attest_error *err)
{
    attest_status status = ATTEST_OK;
    study_run run = { .request = request, .results = results, .end = end, .started = attest_now_seconds() };
    *end = (attest_study_end){ .points = 0 };
    ATTEST_TRY(study_grid_make(&run.grid, request, err));
    ATTEST_TRY(plan_kernels(&run, err));
    hash_request(&run);
    ATTEST_TRY(attest_run_date(run.date, err));
    end->points = run.kernels * run.grid.count;
    run.slot = calloc(end->points + 1, sizeof *run.slot);
    if (!run.slot)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu points", end->points));
    if (request->out)
        ATTEST_TRY(study_part_open(&run, err));
    tell_estimate(&run);
    status = request->study->all ? request->study->all(&run, err) : all_points(&run, err);
    if (status == ATTEST_OK && end->done == end->points)
        end->ended[0] = '\0';
    if (status == ATTEST_OK)
        status = order_results(&run, err);
    if (status == ATTEST_OK && request->study->mark)
        status = request->study->mark(results, err);
out:
    clear(&run);
    return status;
}
