/* search_run.c - see search.h. */
#include "verify/search/search.h"

#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/draw/draw.h"
#include "props/search/search.h"

const char *const attest_strategy_names[ATTEST_STRATEGY_COUNT] = { "anneal", "random" };

/* No element has a figure; and what stands for an infinite one. */
#define LEAST (-4096.0)
#define MOST 4096.0

/* One chain, one thread. */
typedef struct chain {
    const attest_search_request *request;
    attest_subject subject;
    attest_evaluator ev;
    attest_latent latent;
    attest_bundle *scratch; /* a start's draws */
    attest_search_result best;
    attest_status status;
    attest_error err;
} chain;

/* ---- values -------------------------------------------------------------------------------------------------- */
/* log2 of the figure, kept finite: what a search adds and compares. */
static attest_status value_of(double *value, chain *c, attest_error *err)
{
    double figure;
    const attest_status status = attest_evaluate(&figure, &c->ev, err);
    *value = fmin(fmax(log2(figure), LEAST), MOST);
    return status;
}

static attest_status latent_value(double *value, void *self, const double *x, attest_error *err)
{
    chain *c = self;
    const attest_status status = attest_latent_write(&c->latent, x, c->ev.prepared.inputs, err);
    return status == ATTEST_OK ? value_of(value, c, err) : status;
}

/* Draws all inputs of the line, or of its next family. */
static attest_status draw_inputs(attest_bundle *bundle, const attest_case *c, uint32_t number, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < count; i++)
        ATTEST_TRY(attest_draw_tensor(bundle, c, ids[i], number, 0, err));
out:
    return status;
}

/* Every other start is a draw, by one family after another. */
static attest_status family_start(double *x, int *given, void *self, long number, attest_error *err)
{
    chain *c = self;
    attest_case drawn = c->request->c;
    *given = number % 2 == 0;
    if (!*given)
        return ATTEST_OK;
    snprintf(drawn.family, sizeof drawn.family, "%s", attest_families[(size_t)(number / 2) % attest_family_drawn].name);
    drawn.seed = c->request->seed;
    const attest_status status = draw_inputs(c->scratch, &drawn, (uint32_t)(number * ATTEST_SEARCH_CHAINS + 1), err);
    if (status == ATTEST_OK)
        attest_latent_read(&c->latent, x, c->scratch);
    return status;
}

/* ---- chains --------------------------------------------------------------------------------------------------- */
static long share_of(const attest_search_request *request, uint32_t number)
{
    return (request->evaluations + ATTEST_SEARCH_CHAINS - 1 - (long)number) / ATTEST_SEARCH_CHAINS;
}

static attest_status anneal(chain *c, uint32_t number, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_search_options options = { c->request->seed, number, share_of(c->request, number) };
    ATTEST_TRY(attest_latent_init(&c->latent, &c->ev.prepared.c.problem, err));
    ATTEST_TRY(attest_bundle_new(&c->scratch, err));
    const attest_search_problem problem = { c->latent.count, c->latent.coordinates, c->latent.groups, c,
                                            latent_value,    family_start };
    ATTEST_TRY(attest_search(&c->best, &problem, &options, err));
    ATTEST_TRY(attest_latent_write(&c->latent, c->best.x, c->ev.prepared.inputs, err));
out:
    return status;
}

/* Draws number chain+1, chain+1+CHAINS, ..: together draws 1 to N. */
static attest_status draw_only(chain *c, uint32_t number, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_case drawn = c->request->c;
    uint32_t at = number + 1, best = at;
    drawn.seed = c->request->seed;
    c->best.value = -INFINITY;
    for (long left = share_of(c->request, number); left > 0; left--, at += ATTEST_SEARCH_CHAINS) {
        double value;
        ATTEST_TRY(draw_inputs(c->ev.prepared.inputs, &drawn, at, err));
        ATTEST_TRY(value_of(&value, c, err));
        if (value > c->best.value) {
            c->best.value = value;
            best = at;
        }
    }
    ATTEST_TRY(draw_inputs(c->ev.prepared.inputs, &drawn, best, err));
out:
    return status;
}

static attest_status (*const strategies[ATTEST_STRATEGY_COUNT])(chain *c, uint32_t number, attest_error *err) = {
    [ATTEST_STRATEGY_ANNEAL] = anneal, [ATTEST_STRATEGY_RANDOM] = draw_only
};

static attest_status run_chain(chain *c, uint32_t number, attest_error *err)
{
    const attest_search_request *request = c->request;
    attest_status status = ATTEST_OK;
    c->subject = (attest_subject){ .library = request->library, .program = request->program };
    ATTEST_TRY(attest_worker_start(&c->subject.worker, request->library, request->timeout_s, err));
    ATTEST_TRY(attest_find_kernel(&c->subject, request->kernel, err));
    ATTEST_TRY(
        attest_evaluator_init(&c->ev, &request->c, NULL, &c->subject, request->objective, request->timeout_s, err));
    if (share_of(request, number) > 0)
        ATTEST_TRY(strategies[request->strategy](c, number, err));
out:
    attest_truth_free(c->ev.prepared.truth); /* on the thread that made it */
    c->ev.prepared.truth = NULL;
    return status;
}

static void clear_chain(chain *c)
{
    free(c->best.x);
    attest_bundle_free(c->scratch);
    attest_latent_clear(&c->latent);
    attest_evaluator_clear(&c->ev);
    attest_worker_free(c->subject.worker);
}

static void run_chains(chain chains[ATTEST_SEARCH_CHAINS], const attest_search_request *request)
{
#ifdef _OPENMP
    const int threads = request->jobs > 0 ? (int)request->jobs : omp_get_num_procs();
#pragma omp parallel num_threads(threads)
#endif
    {
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
        for (int k = 0; k < ATTEST_SEARCH_CHAINS; k++) {
            chains[k].request = request;
            chains[k].status = run_chain(&chains[k], (uint32_t)k, &chains[k].err);
        }
        attest_reference_thread_end();
    }
}

/* The best of the chains; of equal ones the first. */
static void take_best(attest_search_found *found, chain chains[ATTEST_SEARCH_CHAINS])
{
    for (uint32_t k = 0; k < ATTEST_SEARCH_CHAINS; k++) {
        const attest_evaluator *ev = &chains[k].ev;
        found->evaluations += ev->evaluations;
        if (found->refuted + found->crashed == 0)
            snprintf(found->why, sizeof found->why, "%s", ev->why);
        found->refuted += ev->refuted;
        found->crashed += ev->crashed;
        if (ev->evaluations > 0 && chains[k].best.value > chains[found->chain].best.value)
            found->chain = k;
    }
    chain *best = &chains[found->chain];
    for (int k = 0; k < ATTEST_PHASE_COUNT; k++)
        found->reached[k] = exp2(best->best.reached[k]);
    found->inputs = best->ev.prepared.inputs;
    best->ev.prepared.inputs = NULL;
}

attest_status attest_search_find(attest_search_found *found, const attest_search_request *request, attest_error *err)
{
    attest_status status = ATTEST_OK;
    chain *chains = calloc(ATTEST_SEARCH_CHAINS, sizeof *chains);
    memset(found, 0, sizeof *found);
    if (!chains)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the chains of a search");
    run_chains(chains, request);
    for (int k = 0; k < ATTEST_SEARCH_CHAINS; k++)
        if (chains[k].status != ATTEST_OK) {
            *err = chains[k].err;
            ATTEST_TRY(chains[k].status);
        }
    take_best(found, chains);
out:
    for (int k = 0; k < ATTEST_SEARCH_CHAINS; k++)
        clear_chain(&chains[k]);
    free(chains);
    return status;
}

void attest_search_found_clear(attest_search_found *found)
{
    attest_bundle_free(found->inputs);
    found->inputs = NULL;
}
