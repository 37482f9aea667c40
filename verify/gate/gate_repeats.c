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
    const char *variant; /* borrowed from the list */
} pick;

typedef struct picks {
    char name[512];
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
        if (k->loaded[i].work > 0 && strcmp(k->loaded[i].variant, found->variant) == 0) {
            place = &k->loaded[i];
            break;
        }
        if (k->loaded[i].work < place->work)
            place = &k->loaded[i];
    }
    if (found->work > place->work)
        *place = *found;
}

static attest_status pick_all(picks *kernel, size_t count, const attest_results *results, const size_t *of_case,
                              const attest_gate *gate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    for (size_t i = 0; i < results->count; i++) {
        const char *name = attest_results_text(results, i, offsetof(attest_result, kernel));
        const attest_problem *p = &gate->suite->cases[of_case[i]].problem;
        const pick found = { i, attest_case_work(p),
                             attest_results_text(results, i, offsetof(attest_result, variant)) };
        for (size_t k = 0; k < count; k++) {
            if (strcmp(kernel[k].name, name) != 0)
                continue;
            ATTEST_TRY(attest_results_get(&result, results, i, err));
            if (!attest_result_judged_good(&result))
                continue;
            pick_tiny(&kernel[k], &found, p);
            pick_loaded(&kernel[k], &found);
        }
    }
out:
    return status;
}

/* Asks of the results picked, and writes them back. */
static attest_status check(attest_results *results, const size_t *of_case, const attest_gate *gate, const pick *picked,
                           size_t count, int calls, const attest_subject *subject, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const double timeout = gate->options->timeout;
    attest_repeated repeated[LOADED] = { { NULL, NULL } };
    attest_prepared prepared[LOADED];
    attest_result *result = calloc(LOADED, sizeof *result);
    size_t used = 0;
    memset(prepared, 0, sizeof prepared);
    if (!result)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for results");
    for (size_t i = 0; i < count; i++) {
        if (picked[i].work == 0)
            continue;
        ATTEST_TRY(attest_results_get(&result[used], results, picked[i].result, err));
        ATTEST_TRY(attest_prepare_inputs(&prepared[used], &gate->suite->cases[of_case[picked[i].result]], NULL, err));
        repeated[used] = (attest_repeated){ &prepared[used], &result[used] };
        used++;
    }
    if (used > 0)
        ATTEST_TRY(calls ? attest_check_calls(repeated, subject, timeout, err)
                         : attest_check_threads(repeated, used, subject, timeout, err));
    for (size_t i = 0, at = 0; i < count; i++)
        if (picked[i].work > 0)
            ATTEST_TRY(attest_results_replace(results, picked[i].result, &result[at++], err));
out:
    for (size_t i = 0; i < LOADED; i++)
        attest_prepared_clear(&prepared[i]);
    free(result);
    return status;
}

static attest_status check_library(attest_results *results, const size_t *of_case, const attest_gate *gate,
                                   const char *library, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_subject subject = { .library = library, .program = gate->options->program };
    picks *kernel = NULL;
    size_t count = 0;
    ATTEST_TRY(attest_worker_start(&subject.worker, library, gate->options->timeout, err));
    count = attest_worker_kernel_count(subject.worker);
    if (!(kernel = calloc(count + 1, sizeof *kernel)))
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels", count));
    for (subject.index = 0; subject.index < count; subject.index++)
        if (attest_kernel_wanted(gate, attest_worker_kernel(subject.worker, subject.index)))
            attest_subject_name(kernel[subject.index].name, sizeof kernel->name, &subject);
    ATTEST_TRY(pick_all(kernel, count, results, of_case, gate, err));
    for (subject.index = 0; subject.index < count; subject.index++) {
        const picks *k = &kernel[subject.index];
        ATTEST_TRY(check(results, of_case, gate, &k->tiny, 1, 1, &subject, err));
        ATTEST_TRY(check(results, of_case, gate, k->loaded, LOADED, 0, &subject, err));
    }
out:
    attest_worker_free(subject.worker);
    free(kernel);
    return status;
}

attest_status attest_gate_repeats(attest_results *results, const size_t *of_case, const attest_gate *gate,
                                  attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t l = 0; l < gate->library_count; l++)
        ATTEST_TRY(check_library(results, of_case, gate, gate->libraries[l], err));
out:
    return status;
}
