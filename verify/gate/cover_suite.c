/* cover_suite.c - see cover_suite.h. */
#include "verify/gate/cover_suite.h"

#include <stdlib.h>
#include <string.h>

#include "props/cover/cover.h"

/* A kernel that is asked what it supports. */
typedef struct asked {
    attest_worker *worker; /* borrowed */
    size_t index;
} asked;

typedef struct kernels {
    attest_worker **worker; /* [library_count] */
    size_t library_count;
    asked *asked; /* [count] */
    attest_cover_kernel *kernel;
    size_t count;
} kernels;

enum { DEFAULT_SEED = 1 };

static int supports(void *context, const attest_problem *p)
{
    const asked *k = context;
    char why[256];
    return attest_worker_supports(k->worker, k->index, p, why, sizeof why) == 1;
}

static void kernels_clear(kernels *all)
{
    for (size_t l = 0; all->worker && l < all->library_count; l++)
        attest_worker_free(all->worker[l]);
    free(all->worker);
    free(all->asked);
    free(all->kernel);
    *all = (kernels){ .worker = NULL };
}

static attest_status kernels_start(kernels *all, const attest_gate *gate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t most = 1;
    *all = (kernels){ .library_count = gate->library_count };
    all->worker = calloc(gate->library_count + 1, sizeof *all->worker);
    if (!all->worker)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for workers");
    for (size_t l = 0; l < gate->library_count; l++) {
        ATTEST_TRY(attest_worker_start(&all->worker[l], gate->libraries[l], gate->options->timeout, err));
        most += attest_worker_kernel_count(all->worker[l]);
    }
    all->asked = calloc(most, sizeof *all->asked);
    all->kernel = calloc(most, sizeof *all->kernel);
    if (!all->asked || !all->kernel) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for kernels");
        goto out;
    }
    for (size_t l = 0; l < gate->library_count; l++)
        for (size_t k = 0; k < attest_worker_kernel_count(all->worker[l]); k++) {
            const attest_kernel_facts *facts = attest_worker_kernel(all->worker[l], k);
            if (!attest_kernel_wanted(gate, facts))
                continue;
            asked *one = &all->asked[all->count];
            *one = (asked){ all->worker[l], k };
            all->kernel[all->count++] = (attest_cover_kernel){
                { facts->form, facts->flags, facts->outputs, facts->numerics }, { .context = one, .supports = supports }
            };
        }
out:
    if (status != ATTEST_OK)
        kernels_clear(all);
    return status;
}

static attest_status cover_start(attest_cover **cover, const kernels *all, const attest_suite *suite,
                                 const attest_gate *gate, int strength, attest_error *err)
{
    const long seed = gate->options->seed >= 0 ? gate->options->seed : DEFAULT_SEED;
    const attest_status status = attest_cover_new(cover, strength, (uint64_t)seed, all->kernel, all->count, err);
    for (size_t i = 0; status == ATTEST_OK && i < suite->case_count; i++)
        attest_cover_add(*cover, &suite->cases[i]);
    return status;
}

attest_status attest_suite_cover(attest_suite *suite, const attest_gate *gate, int strength, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_cover *cover = NULL;
    kernels all;
    int found = 1;
    ATTEST_TRY(kernels_start(&all, gate, err));
    ATTEST_TRY(cover_start(&cover, &all, suite, gate, strength, err));
    while (found) {
        attest_case *cases = realloc(suite->cases, (suite->case_count + 1) * sizeof *cases);
        if (!cases) {
            status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", suite->case_count + 1);
            goto out;
        }
        suite->cases = cases;
        ATTEST_TRY(attest_cover_next(cover, &cases[suite->case_count], &found, err));
        suite->case_count += found != 0;
        suite->drawn += found != 0;
    }
out:
    attest_cover_free(cover);
    kernels_clear(&all);
    return status;
}

attest_status attest_suite_coverage(FILE *out, const attest_suite *suite, const attest_gate *gate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_cover *cover[2] = { NULL, NULL };
    kernels all;
    ATTEST_TRY(kernels_start(&all, gate, err));
    for (int k = 0; k < 2; k++)
        ATTEST_TRY(cover_start(&cover[k], &all, suite, gate, 2 + k, err));
    fprintf(out, "%-24s %16s %18s  the first pair that does not meet\n", "kernel", "pairs that meet",
            "triples that meet");
    for (size_t i = 0; i < all.count; i++) {
        attest_cover_share pairs, triples;
        attest_cover_measure(&pairs, cover[0], i);
        attest_cover_measure(&triples, cover[1], i);
        fprintf(out, "%-24s %6zu/%-6zu%3.0f%% %7zu/%-7zu%3.0f%%  %s\n",
                attest_worker_kernel(all.asked[i].worker, all.asked[i].index)->name, pairs.met, pairs.possible,
                100.0 * (double)pairs.met / (double)(pairs.possible ? pairs.possible : 1), triples.met,
                triples.possible, 100.0 * (double)triples.met / (double)(triples.possible ? triples.possible : 1),
                pairs.first);
    }
out:
    attest_cover_free(cover[0]);
    attest_cover_free(cover[1]);
    kernels_clear(&all);
    return status;
}
