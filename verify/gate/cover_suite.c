/* cover_suite.c - see cover_suite.h. */
#include "verify/gate/cover_suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "props/cover/cover.h"
#include "verify/gate/gate_private.h"

/* Problems of one kernel without an answer that become cases; after so many, or the first one that is late, a kernel is
 * asked no more while cases are drawn. */
enum { KEPT = 3, MISSING_MOST = 8 };

/* A kernel that is asked what it supports. */
typedef struct asked {
    attest_worker *worker; /* of whoever asks */
    size_t index;
    double until; /* when the time of the run is over; INFINITY: never */
    int missing, late, kept;
    attest_problem problem[KEPT]; /* the first that it gave no answer to */
    char why[256];                /* of the last one */
} asked;

typedef struct kernels {
    attest_worker **worker; /* [library_count] */
    size_t library_count;
    asked *asked; /* [count] */
    attest_cover_kernel *kernel;
    size_t count;
} kernels;

enum { DEFAULT_SEED = 1 };

static int is_over(void *context)
{
    const asked *k = context;
    return k->late || k->missing >= MISSING_MOST || attest_stop_signal() || attest_now_seconds() > k->until;
}

static int supports(void *context, const attest_problem *p)
{
    asked *k = context;
    char why[256];
    if (is_over(k))
        return 0;
    const int answer = attest_worker_supports(k->worker, k->index, p, why, sizeof why);
    if (answer >= 0 || attest_stop_signal()) /* a signal leaves it no time */
        return answer == 1;
    k->missing++;
    k->late |= answer == ATTEST_SUPPORTS_LATE;
    snprintf(k->why, sizeof k->why, "%s", why);
    if (k->kept < KEPT)
        k->problem[k->kept++] = *p;
    return 0;
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

static attest_cover_kernel cover_kernel_of(const attest_kernel_facts *facts, asked *one)
{
    return (attest_cover_kernel){ { facts->form, facts->flags, facts->outputs, facts->numerics, facts->limits },
                                  { .context = one, .supports = supports },
                                  is_over };
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
        *one = (asked){ .worker = *worker, .index = plan->kernel[k].index, .until = attest_gate_until(gate) };
        all->kernel[all->count++] = cover_kernel_of(facts, one);
    }
    return ATTEST_OK;
}

static uint64_t seed_of(const attest_gate *gate)
{
    return (uint64_t)(gate->options->seed >= 0 ? gate->options->seed : DEFAULT_SEED);
}

static void add_cases(attest_cover *cover, const attest_suite *suite)
{
    for (size_t i = 0; i < suite->case_count; i++) {
        attest_case c;
        attest_suite_case(&c, suite, i);
        attest_cover_add(cover, &c);
    }
}

static int is_listed(const attest_suite *suite, const char *line)
{
    size_t i = 0;
    while (i < suite->case_count && strcmp(attest_suite_line(suite, i), line) != 0)
        i++;
    return i < suite->case_count;
}

/* What a kernel gave no answer to becomes cases, which tell how it ended: what does not answer has not refused. */
static attest_status add_missing(attest_suite *suite, const attest_gate *gate, const kernels *all, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t k = 0; k < all->count; k++) {
        const asked *one = &all->asked[k];
        const char *name = attest_worker_kernel(one->worker, one->index)->name;
        if (one->missing && !gate->options->quiet)
            fprintf(stderr, "%s: gave no answer while cases were drawn (%s)%s\n", name, one->why,
                    one->late || one->missing >= MISSING_MOST ? ", and was asked no more" : "");
        for (int i = 0; i < one->kept; i++) {
            attest_case c = { .problem = one->problem[i], .preset = "softmax", .family = "normal" };
            char line[ATTEST_LINE];
            ATTEST_TRY(attest_case_print(line, sizeof line, &c, err));
            ATTEST_TRY(attest_case_parse(&c, line, NULL, NULL, err)); /* by its own preset */
            ATTEST_TRY(attest_case_print(line, sizeof line, &c, err));
            if (is_listed(suite, line))
                continue;
            ATTEST_TRY(attest_suite_add(suite, &c, err));
            suite->drawn++;
        }
    }
out:
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
    ATTEST_TRY(attest_cover_new(&cover, strength, wide, seed_of(gate), all.kernel, all.count, err));
    add_cases(cover, suite);
    for (;;) {
        attest_case c;
        ATTEST_TRY(attest_cover_next(cover, &c, &found, err));
        if (!found)
            break;
        ATTEST_TRY(attest_suite_add(suite, &c, err));
        suite->drawn++;
    }
    ATTEST_TRY(add_missing(suite, gate, &all, err));
out:
    attest_cover_free(cover);
    kernels_clear(&all);
    return status;
}

/* ---- what a suite meets ------------------------------------------------------------------------------------------ */

enum { PAIRS, TRIPLES, STRENGTHS };

/* Of one kernel, by a worker of its own. */
typedef struct met {
    attest_cover_share share[STRENGTHS];
    int asked; /* 0: its worker cannot be had */
} met;

static attest_status measure(met *m, const attest_suite *suite, const attest_gate *gate, size_t number,
                             attest_error *err)
{
    const attest_plan_kernel *kernel = &gate->plan->kernel[number];
    attest_status status = ATTEST_OK;
    attest_cover *cover = NULL;
    asked one = { .index = kernel->index, .until = attest_gate_until(gate) };
    attest_error why;
    m->asked = attest_plan_start(&one.worker, gate->plan, kernel->library, gate->options->timeout, &why) == ATTEST_OK;
    if (!m->asked)
        return ATTEST_OK;
    const attest_cover_kernel covered = cover_kernel_of(&kernel->facts, &one);
    ATTEST_TRY(attest_cover_new(&cover, 2, 0, seed_of(gate), &covered, 1, err));
    for (int k = 0; k < STRENGTHS; k++) {
        if (k > 0)
            ATTEST_TRY(attest_cover_restart(cover, 2 + k, err));
        add_cases(cover, suite);
        attest_cover_measure(&m->share[k], cover, 0);
    }
out:
    attest_cover_free(cover);
    attest_worker_free(one.worker);
    return status;
}

static double percent(const attest_cover_share *share)
{
    return 100.0 * (double)share->met / (double)(share->possible ? share->possible : 1);
}

static void print_met(FILE *out, const met *m, const char *name)
{
    const attest_cover_share *pairs = &m->share[PAIRS], *triples = &m->share[TRIPLES];
    if (!m->asked)
        return;
    fprintf(out, "%-24s %6zu/%-6zu%3.0f%% %7zu/%-7zu%3.0f%%  %s\n", name, pairs->met, pairs->possible, percent(pairs),
            triples->met, triples->possible, percent(triples), pairs->first[0]);
    for (int n = 1; n < ATTEST_COVER_FIRST && *pairs->first[n]; n++)
        fprintf(out, "%62s%s\n", "", pairs->first[n]);
    fflush(out);
}

attest_status attest_suite_coverage(FILE *out, const attest_suite *suite, const attest_gate *gate, attest_error *err)
{
    const long count = (long)gate->plan->kernel_count;
    attest_status first = ATTEST_OK;
    fprintf(out, "%-24s %16s %18s  the first pairs that do not meet\n", "kernel", "pairs that meet",
            "triples that meet");
#ifdef _OPENMP
    const int threads = (int)attest_gate_threads(gate);
#pragma omp parallel for schedule(dynamic, 1) ordered num_threads(threads)
#endif
    for (long k = 0; k < count; k++) {
        attest_error why;
        met m = { .asked = 0 };
        const attest_status status = measure(&m, suite, gate, (size_t)k, &why);
#pragma omp ordered
        {
            if (status != ATTEST_OK && first == ATTEST_OK) {
                first = status;
                *err = why;
            }
            print_met(out, &m, gate->plan->kernel[k].facts.name);
        }
    }
    return first;
}
