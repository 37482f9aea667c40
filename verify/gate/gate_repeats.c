/* gate_repeats.c - see gate_repeats.h. */
#include "verify/gate/gate_repeats.h"

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

/* Asks of the results picked, and writes them back. */
static attest_status check(attest_gate_state *g, const pick *picked, size_t count, int calls,
                           const attest_subject *subject, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double timeout = g->gate->options->timeout;
    attest_repeated repeated[LOADED] = { { NULL, NULL } };
    attest_prepared prepared[LOADED];
    attest_result *result = calloc(LOADED, sizeof *result);
    size_t used = 0;
    memset(prepared, 0, sizeof prepared);
    if (!result)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for results");
    for (size_t i = 0; i < count; i++) {
        attest_case c;
        if (picked[i].work == 0)
            continue;
        attest_suite_case(&c, g->gate->suite, g->entry[picked[i].result].of_case);
        ATTEST_TRY(attest_results_get(&result[used], g->results, picked[i].result, err));
        ATTEST_TRY(attest_prepare_inputs(&prepared[used], &c, NULL, err));
        repeated[used] = (attest_repeated){ &prepared[used], &result[used] };
        used++;
    }
    if (used > 0)
        status = calls ? attest_check_calls(repeated, subject, timeout, err)
                       : attest_check_threads(repeated, used, subject, timeout, err);
    for (size_t i = 0; status != ATTEST_OK && i < used; i++)
        if (!attest_result_settle(&result[i], status, err))
            goto out;
    status = ATTEST_OK;
    for (size_t i = 0, at = 0; i < count; i++)
        if (picked[i].work > 0)
            ATTEST_TRY(attest_results_replace(g->results, picked[i].result, &result[at++], err));
out:
    for (size_t i = 0; i < LOADED; i++)
        attest_prepared_clear(&prepared[i]);
    free(result);
    return status;
}

static attest_status check_library(attest_gate_state *g, size_t l, const picks *kernel, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_worker *worker = NULL;
    attest_error why;
    if (g->gate->plan->library[l].failed[0])
        return ATTEST_OK;
    if (attest_plan_start(&worker, g->gate->plan, l, g->gate->options->timeout, &why) != ATTEST_OK)
        return attest_gate_library_failed(g, l, why.text, err);
    for (size_t k = 0; k < g->gate->plan->kernel_count; k++) {
        attest_subject subject = attest_gate_subject(g->gate, k);
        if (g->gate->plan->kernel[k].library != l)
            continue;
        subject.worker = worker;
        ATTEST_TRY(check(g, &kernel[k].tiny, 1, 1, &subject, err));
        ATTEST_TRY(check(g, kernel[k].loaded, LOADED, 0, &subject, err));
    }
out:
    attest_worker_free(worker);
    return status;
}

attest_status attest_gate_repeats(attest_gate_state *g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    picks *kernel = NULL;
    ATTEST_TRY(pick_all(&kernel, g, err));
    for (size_t l = 0; l < g->gate->plan->library_count; l++)
        ATTEST_TRY(check_library(g, l, kernel, err));
out:
    free(kernel);
    return status;
}
