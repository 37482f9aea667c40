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

/* Those of the plan whose worker can be had. */
static attest_status kernels_start(kernels *all, const attest_gate *gate, attest_error *err)
{
    const attest_plan *plan = gate->plan;
    attest_error why;
    *all = (kernels){ .library_count = plan->library_count };
    all->worker = calloc(plan->library_count + 1, sizeof *all->worker);
    all->asked = calloc(plan->kernel_count + 1, sizeof *all->asked);
    all->kernel = calloc(plan->kernel_count + 1, sizeof *all->kernel);
    if (!all->worker || !all->asked || !all->kernel) {
        kernels_clear(all);
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for kernels");
    }
    for (size_t k = 0; k < plan->kernel_count; k++) {
        const attest_kernel_facts *facts = &plan->kernel[k].facts;
        attest_worker **worker = &all->worker[plan->kernel[k].library];
        if (!*worker &&
            attest_plan_start(worker, plan, plan->kernel[k].library, gate->options->timeout, &why) != ATTEST_OK)
            continue;
        asked *one = &all->asked[all->count];
        *one = (asked){ *worker, plan->kernel[k].index };
        all->kernel[all->count++] = (attest_cover_kernel){ { facts->form, facts->flags, facts->outputs, facts->numerics,
                                                             facts->limits },
                                                           { .context = one, .supports = supports } };
    }
    return ATTEST_OK;
}

static attest_status cover_start(attest_cover **cover, const kernels *all, const attest_suite *suite,
                                 const attest_gate *gate, int strength, int wide, attest_error *err)
{
    const long seed = gate->options->seed >= 0 ? gate->options->seed : DEFAULT_SEED;
    const attest_status status = attest_cover_new(cover, strength, wide, (uint64_t)seed, all->kernel, all->count, err);
    for (size_t i = 0; status == ATTEST_OK && i < suite->case_count; i++) {
        attest_case c;
        attest_suite_case(&c, suite, i);
        attest_cover_add(*cover, &c);
    }
    return status;
}

attest_status attest_suite_cover(attest_suite *suite, const attest_gate *gate, int strength, int wide,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_cover *cover = NULL;
    kernels all;
    int found = 1;
    ATTEST_TRY(kernels_start(&all, gate, err));
    ATTEST_TRY(cover_start(&cover, &all, suite, gate, strength, wide, err));
    for (;;) {
        attest_case c;
        ATTEST_TRY(attest_cover_next(cover, &c, &found, err));
        if (!found)
            break;
        ATTEST_TRY(attest_suite_add(suite, &c, err));
        suite->drawn++;
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
        ATTEST_TRY(cover_start(&cover[k], &all, suite, gate, 2 + k, 0, err));
    fprintf(out, "%-24s %16s %18s  the first pairs that do not meet\n", "kernel", "pairs that meet",
            "triples that meet");
    for (size_t i = 0; i < all.count; i++) {
        attest_cover_share pairs, triples;
        attest_cover_measure(&pairs, cover[0], i);
        attest_cover_measure(&triples, cover[1], i);
        fprintf(out, "%-24s %6zu/%-6zu%3.0f%% %7zu/%-7zu%3.0f%%  %s\n",
                attest_worker_kernel(all.asked[i].worker, all.asked[i].index)->name, pairs.met, pairs.possible,
                100.0 * (double)pairs.met / (double)(pairs.possible ? pairs.possible : 1), triples.met,
                triples.possible, 100.0 * (double)triples.met / (double)(triples.possible ? triples.possible : 1),
                pairs.first[0]);
        for (int n = 1; n < ATTEST_COVER_FIRST && *pairs.first[n]; n++)
            fprintf(out, "%62s%s\n", "", pairs.first[n]);
    }
out:
    attest_cover_free(cover[0]);
    attest_cover_free(cover[1]);
    kernels_clear(&all);
    return status;
}
