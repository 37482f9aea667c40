/* gate_repeats.c - after a suite: a few cases of each kernel are called often, and under load; see gate_private.h. */
#include "verify/gate/gate_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/gate/repeat_checks.h"

#define LOADED 3

/* The results picked for one kernel, by their number; work 0: none yet. */
typedef struct pick {
    size_t result;
    double work;
    uint32_t variant; /* of the kernel */
} pick;

typedef struct picks {
    pick tiny, loaded[LOADED];
} picks;

static void pick_tiny(picks *k, const pick *found, const attest_problem *p)
{
    if (p->n > 1 && p->m > 1 && found->work <= ATTEST_CALLS_WORK && (k->tiny.work == 0 || found->work < k->tiny.work))
        k->tiny = *found;
}

/* The largest of each variant, of the variants with the largest. */
static void pick_loaded(picks *k, const pick *found)
{
    pick *place = &k->loaded[0];
    if (found->work > ATTEST_THREADS_WORK)
        return;
    for (size_t i = 0; i < LOADED; i++) {
        if (k->loaded[i].work > 0 && k->loaded[i].variant == found->variant) {
            place = &k->loaded[i];
            break;
        }
        if (k->loaded[i].work < place->work)
            place = &k->loaded[i];
    }
    if (found->work > place->work)
        *place = *found;
}

/* Of results in the order of their cases; *kernel is malloc'd. */
static attest_status pick_all(picks **kernel, const attest_gate_state *g, attest_error *err)
{
    *kernel = calloc(g->gate->plan->kernel_count + 1, sizeof **kernel);
    if (!*kernel)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels", g->gate->plan->kernel_count);
    for (size_t i = 0; i < g->results->count; i++) {
        const attest_gate_entry *e = &g->entry[i];
        attest_case c;
        if (e->kernel == ATTEST_NO_KERNEL || !e->good)
            continue;
        attest_suite_case(&c, g->gate->suite, e->of_case);
        const pick found = { i, attest_case_work(&c.problem), e->variant };
        pick_tiny(&(*kernel)[e->kernel], &found, &c.problem);
        pick_loaded(&(*kernel)[e->kernel], &found);
    }
    return ATTEST_OK;
}

/* The cases and results that are asked of. */
typedef struct asked {
    attest_repeated repeated[LOADED];
    attest_prepared prepared[LOADED];
    attest_result *result; /* [LOADED] */
    size_t number[LOADED]; /* of each result in the list */
    size_t count;
} asked;

static attest_status read_results(asked *a, const attest_gate_state *g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < a->count && status == ATTEST_OK; i++)
        status = attest_results_get(&a->result[i], g->results, a->number[i], err);
    return status;
}

static attest_status prepare(asked *a, const attest_gate_state *g, const pick *picked, size_t count, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (!(a->result = calloc(LOADED, sizeof *a->result)))
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for results");
    for (size_t i = 0; i < count; i++) {
        attest_case c;
        if (picked[i].work == 0)
            continue;
        attest_suite_case(&c, g->gate->suite, g->entry[picked[i].result].of_case);
        ATTEST_TRY(attest_prepare_inputs(&a->prepared[a->count], &c, NULL, err));
        a->repeated[a->count] = (attest_repeated){ &a->prepared[a->count], &a->result[a->count] };
        a->number[a->count++] = picked[i].result;
    }
    status = read_results(a, g, err);
out:
    return status;
}

/* The result number `number` is this now, where results are counted too. */
static attest_status put_back(attest_gate_state *g, size_t number, const attest_result *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result was;
#pragma omp critical(take)
    {
        if (g->gate->compact)
            status = attest_results_get(&was, g->results, number, err);
        if (g->gate->compact && status == ATTEST_OK)
            attest_compact_change(g->gate->compact, &was, now,
                                  attest_gate_is_drawn(g->gate->suite, g->entry[number].of_case));
        if (status == ATTEST_OK)
            status = attest_results_replace(g->results, number, now, err);
    }
    return status;
}

/* Asks of the results picked, and writes them back.  *worker: NULL, or the library's; a new one where that gives no
 * answer.  *again: NULL, or others run beside it: set where one of these may have ended the worker, and the result
 * before stands. */
static attest_status check(attest_gate_state *g, const pick *picked, size_t count, int calls, size_t k,
                           attest_worker **worker, unsigned char *again, attest_error *err)
{
    const double timeout = g->gate->options->timeout;
    attest_subject subject = attest_gate_subject(g->gate, k);
    attest_status status = ATTEST_OK, asking = ATTEST_IO;
    asked a = { .count = 0 };
    ATTEST_TRY(prepare(&a, g, picked, count, err));
    for (int attempt = 0; a.count > 0 && attempt < 2 && asking == ATTEST_IO; attempt++) {
        asking = ATTEST_OK;
        ATTEST_TRY(read_results(&a, g, err));
        if (!*worker)
            asking = attest_plan_start(worker, g->gate->plan, g->gate->plan->kernel[k].library, timeout, err);
        subject.worker = *worker;
        if (*worker && !again)
            attest_worker_alone(*worker);
        if (asking == ATTEST_OK)
            asking = calls ? attest_check_calls(a.repeated, &subject, timeout, err)
                           : attest_check_threads(a.repeated, a.count, &subject, timeout, err);
        if (asking == ATTEST_IO) {
            attest_worker_free(*worker);
            *worker = NULL;
        }
    }
    for (size_t i = 0; i < a.count; i++) {
        if (asking != ATTEST_OK && !attest_result_settle(&a.result[i], asking, err))
            ATTEST_TRY(asking);
        if (attest_result_of_stop(&a.result[i]))
            attest_gate_end(g, attest_stop_name()); /* the result before stands, of a run that did not end */
        else if (again && a.result[i].others)
            *again = 1;
        else
            ATTEST_TRY(put_back(g, a.number[i], &a.result[i], err));
    }
out:
    for (size_t i = 0; i < LOADED; i++)
        attest_prepared_clear(&a.prepared[i]);
    free(a.result);
    return status;
}

/* The tiny case of one kernel, by a worker of its own. */
static attest_status call_one(attest_gate_state *g, const picks *kernel, size_t k, unsigned char *again,
                              attest_error *err)
{
    attest_worker *worker = NULL;
    const attest_status status = check(g, &kernel[k].tiny, 1, 1, k, &worker, again, err);
    attest_worker_free(worker);
    return status;
}

/* The tiny case of every kernel, side by side; again[kernels]: where it has to be asked again, alone. */
static attest_status call_all(attest_gate_state *g, const picks *kernel, unsigned char *again, attest_error *err)
{
    const long count = (long)g->gate->plan->kernel_count;
    attest_status first = ATTEST_OK;
#ifdef _OPENMP
    const int threads = (int)attest_gate_threads(g->gate);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#endif
    for (long k = 0; k < count; k++) {
        attest_error why;
        if (attest_gate_stopped(g))
            continue;
        const attest_status status = call_one(g, kernel, (size_t)k, &again[k], &why);
#pragma omp critical(gate)
        if (status != ATTEST_OK && first == ATTEST_OK) {
            first = status;
            *err = why;
        }
    }
    return first;
}

attest_status attest_gate_repeats(attest_gate_state *g, attest_error *err)
{
    const attest_plan *plan = g->gate->plan;
    attest_status status = ATTEST_OK;
    attest_worker *worker = NULL;
    picks *kernel = NULL;
    unsigned char *again = NULL;
    ATTEST_TRY(pick_all(&kernel, g, err));
    if (!(again = calloc(plan->kernel_count + 1, 1)))
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels", plan->kernel_count));
    ATTEST_TRY(call_all(g, kernel, again, err));
    for (size_t k = 0; k < plan->kernel_count && !attest_gate_stopped(g); k++)
        if (again[k])
            ATTEST_TRY(call_one(g, kernel, k, NULL, err));
    for (size_t k = 0; k < plan->kernel_count && !attest_gate_stopped(g); k++) { /* each with the whole machine */
        if (k > 0 && plan->kernel[k].library != plan->kernel[k - 1].library) {
            attest_worker_free(worker);
            worker = NULL;
        }
        ATTEST_TRY(check(g, kernel[k].loaded, LOADED, 0, k, &worker, NULL, err));
    }
out:
    attest_worker_free(worker);
    free(again);
    free(kernel);
    return status;
}
