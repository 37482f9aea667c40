/* gate.c - the run itself: threads, a worker a library for each, cases; see gate.h. */
#include "verify/gate/gate.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/gate/case_checks.h"
#include "verify/gate/gate_private.h"

#define STARTS 8 /* of a library's worker that fail, in a row and in one thread, before it is given up there */

/* What one thread owns: a worker a library, started when first asked. */
typedef struct workers {
    attest_worker **worker; /* [library_count] */
    int *failed;            /* starts in a row */
    int alone;              /* there are no others */
} workers;

static void workers_clear(workers *w, size_t count)
{
    for (size_t l = 0; w->worker && l < count; l++)
        attest_worker_free(w->worker[l]);
    free(w->worker);
    free(w->failed);
    *w = (workers){ .worker = NULL };
}

static attest_status workers_new(workers *w, size_t count, attest_error *err)
{
    w->worker = calloc(count + 1, sizeof *w->worker);
    w->failed = calloc(count + 1, sizeof *w->failed);
    if (w->worker && w->failed)
        return ATTEST_OK;
    workers_clear(w, count);
    return attest_fail(err, ATTEST_NO_MEMORY, "no memory for workers");
}

static attest_status worker_of(attest_worker **worker, workers *w, const attest_gate *gate, size_t l, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (!w->worker[l] && w->failed[l] >= STARTS)
        return attest_fail(err, ATTEST_IO, "the worker failed to start %d times in a row: given up", STARTS);
    if (!w->worker[l])
        status = attest_plan_start(&w->worker[l], gate->plan, l, gate->options->timeout, err);
    if (w->alone && w->worker[l])
        attest_worker_alone(w->worker[l]);
    w->failed[l] = status == ATTEST_OK ? 0 : w->failed[l] + 1;
    *worker = w->worker[l];
    return status;
}

int attest_gate_wants(const void *context, const attest_kernel_facts *kernel)
{
    const attest_gate *gate = context;
    return (!gate->kernel_glob || fnmatch(gate->kernel_glob, kernel->name, 0) == 0) &&
           (!gate->wanted || gate->wanted(gate->context, kernel->name)) &&
           (!gate->options->device || strcmp(gate->options->device, attest_device_name(kernel->device_type)) == 0);
}

attest_subject attest_gate_subject(const attest_gate *gate, size_t k)
{
    const attest_plan_kernel *kernel = &gate->plan->kernel[k];
    const attest_plan_library *library = &gate->plan->library[kernel->library];
    attest_subject subject = { .index = kernel->index,
                               .facts = &kernel->facts,
                               .library = library->path,
                               .program = gate->options->program,
                               .declare = kernel->declare,
                               .timeout = gate->options->timeout,
                               .suite = gate->asked,
                               .look = gate->look };
    memcpy(subject.file_hash, library->file.hash, sizeof subject.file_hash);
    return subject;
}

/* ---- one pair ---------------------------------------------------------------------------------------------------- */
/* A case, drawn with its truth when the first kernel wants it. */
typedef struct pair_case {
    attest_prepared prepared; /* case, number, line and hash from the start */
    int drawn, remembers;
} pair_case;

/* What ends a pair; ALONE: what else runs may have ended its worker, so it is run again when nothing else does. */
typedef enum pair_end { PAIR_RESULT = 1, PAIR_REFUSED = 2, PAIR_FATAL = 3, PAIR_ALONE = 4 } pair_end;

static attest_status draw(pair_case *c, pair_end *end, attest_error *err)
{
    const size_t index = c->prepared.index;
    const attest_case given = c->prepared.c; /* it stays where it was prepared: the truth borrows it */
    if (c->drawn)
        return ATTEST_OK;
    const attest_status status = attest_prepare(&c->prepared, &given, err);
    c->prepared.index = index;
    c->drawn = status == ATTEST_OK;
    if (c->drawn && c->remembers)
        c->prepared.memo = attest_memo_new();
    if (status != ATTEST_OK && status != ATTEST_NO_MEMORY)
        *end = PAIR_FATAL;
    return status;
}

/* A case for which this machine is too small: a skip. */
static int is_too_large(attest_result *result, const attest_case *c)
{
    const double gib = (double)((uint64_t)1 << 30);
    const uint64_t total = attest_memory_total();
    uint64_t bytes;
    attest_error err;
    if (attest_case_memory(&bytes, &c->problem, &err) != ATTEST_OK || bytes <= total)
        return 0;
    result->verdict = ATTEST_SKIP;
    snprintf(result->why, sizeof result->why, "takes about %.1f GiB, there are %.1f GiB", (double)bytes / gib,
             (double)total / gib);
    return 1;
}

/* What could not be judged of it has no bound, as where large scores may overflow (a NaN there is no evidence either),
 * or no truth, as where a family's inputs overflow a narrow type, or is ill-posed, as where every weight is 0 and the
 * kernel gives neither u nor z; what was judged is inside its bound for certain. */
static int is_beyond_bounds(const attest_result *r)
{
    const int certain = !(r->ratio_hi > 1 || r->u_ratio > 1 || r->z_ratio > 1 || r->lse_ratio > 1 ||
                          r->state_ratio > 1);
    const int64_t left = r->elements_unbounded + r->elements_illposed + r->elements_without_truth;
    return r->verdict == ATTEST_UNDECIDED && left > 0 && certain;
}

/* The truth itself stays open at the last precision: a filter's threshold, or a floor, is met exactly as far as anyone
 * can tell. */
static int is_open(const attest_result *r)
{
    return r->verdict == ATTEST_UNDECIDED && r->elements_judged > 0 && r->bits >= ATTEST_PRECISION_CAP &&
           !(r->ratio_lo > 1);
}

/* No more than ill-posed elements: by them no kernel could be judged. */
static int is_all_illposed(const attest_result *r)
{
    return r->verdict == ATTEST_UNDECIDED && r->elements_judged == 0 && attest_result_left(r) == ATTEST_LEFT_ILLPOSED;
}

void attest_gate_allow(attest_result *result, const attest_suite *suite, const char *kernel, const attest_case *c,
                       int drawn)
{
    const char *illposed = is_all_illposed(result) ? attest_suite_allow(suite, kernel, c, ATTEST_LEFT_ILLPOSED) : NULL;
    if (illposed || (drawn && is_open(result))) /* allowed it is a skip */
        result->verdict = ATTEST_NO_EVIDENCE;
    else if (drawn && is_beyond_bounds(result)) /* or a pass where a part of o was judged */
        result->verdict = isnan(result->ratio_median) ? ATTEST_NO_EVIDENCE : ATTEST_PARTIAL;
    if (result->verdict != ATTEST_PARTIAL && result->verdict != ATTEST_NO_EVIDENCE)
        return;
    const char *reason = illposed ? illposed : attest_suite_allow(suite, kernel, c, attest_result_left(result));
    if (!reason && drawn)
        reason = "a drawn case: it need not tell by every element";
    if (reason)
        attest_result_allow(result, reason);
}

/* Its class by what the kernel declares: a run that ended badly was not compared, and is of a class as well.  None
 * where nobody says. */
static attest_status name_class(attest_result *result, const attest_problem *p, const attest_subject *subject,
                                attest_error *err)
{
    attest_declared declared;
    attest_error unsaid = { "" };
    if (*result->class)
        return ATTEST_OK;
    const attest_status status = attest_worker_declared(subject->worker, subject->index, p, &declared, &unsaid);
    if (status == ATTEST_OK)
        attest_compare_class(result->class, sizeof result->class, p, declared.numerics.schedule);
    return status == ATTEST_NO_MEMORY ? attest_fail(err, status, "%s", unsaid.text) : ATTEST_OK;
}

static attest_status ask(attest_result *result, pair_end *end, attest_gate_state *g, pair_case *c,
                         attest_subject *subject, workers *w, size_t k, attest_error *err)
{
    const attest_gate *gate = g->gate;
    const attest_plan_kernel *kernel = &gate->plan->kernel[k];
    const attest_problem *p = &c->prepared.c.problem;
    const double timeout = gate->options->timeout;
    attest_status status = ATTEST_OK;
    char why[256];
    int supported = 1;
    const int asked = !c->drawn;
    ATTEST_TRY(worker_of(&subject->worker, w, gate, kernel->library, err));
    if (asked && attest_worker_supports(subject->worker, subject->index, p, why, sizeof why) == 0) {
        *end = PAIR_REFUSED;
        return ATTEST_OK;
    }
    if (asked && is_too_large(result, &c->prepared.c))
        return name_class(result, p, subject, err);
    ATTEST_TRY(draw(c, end, err));
    ATTEST_TRY(attest_run_case(result, &supported, &c->prepared, subject, gate->judge, timeout, err));
    *end = supported || asked ? PAIR_RESULT : PAIR_REFUSED;
    if (*end == PAIR_RESULT && !gate->judge)
        ATTEST_TRY(name_class(result, p, subject, err));
    if (!supported && asked)
        attest_result_taken_back(result, result->why);
    if (!supported)
        return ATTEST_OK;
    attest_gate_allow(result, gate->suite, kernel->facts.name, &c->prepared.c,
                      attest_gate_is_drawn(gate->suite, c->prepared.index));
    if (gate->options->typical && !gate->judge)
        ATTEST_TRY(attest_typical_case(result, &c->prepared, subject, gate->options, err));
out:
    return status;
}

/* A worker that gave no answer is not asked again: the next one is new. */
static void drop_worker(workers *w, size_t l)
{
    attest_worker_free(w->worker[l]);
    w->worker[l] = NULL;
}

void attest_gate_end(attest_gate_state *g, const char *why)
{
#pragma omp critical(gate)
    if (!*g->info->ended)
        snprintf(g->info->ended, sizeof g->info->ended, "%s", why);
}

static void tell_alone(attest_result *result)
{
    const size_t n = strlen(result->why);
    if (result->others)
        snprintf(result->why + n, sizeof result->why - n, ", and again while no other kernel of this run did");
    else
        attest_result_note(result, "passed alone: its worker was ended while other kernels ran");
}

/* One kernel on one case, to its end, or to that of the run; what hindered it once may not hinder it again. */
static attest_status end_pair(attest_gate_state *g, pair_case *c, workers *w, size_t k, attest_error *err)
{
    const char *reason = attest_suite_skip(g->gate->suite, g->gate->plan->kernel[k].facts.name, &c->prepared.c);
    attest_subject subject = attest_gate_subject(g->gate, k);
    attest_status status = ATTEST_IO;
    attest_result result;
    pair_end end = PAIR_RESULT;
    attest_result_identify(&result, &subject, &c->prepared);
    if (reason) {
        result.verdict = ATTEST_SKIP;
        snprintf(result.why, sizeof result.why, "%s", reason);
        status = ATTEST_OK;
    }
    for (int attempt = 0; status == ATTEST_IO && attempt < 2; attempt++) {
        status = ask(&result, &end, g, c, &subject, w, k, err);
        if (status == ATTEST_IO)
            drop_worker(w, g->gate->plan->kernel[k].library);
    }
    if (status != ATTEST_OK && end != PAIR_FATAL) {
        attest_result_identify(&result, &subject, &c->prepared);
        const int untold = status == ATTEST_NO_MEMORY && g->gate->take;
        end = !untold && attest_result_settle(&result, status, err) ? PAIR_RESULT : PAIR_FATAL;
    }
    if (end == PAIR_FATAL)
        return attest_fail_prefix(err, status, c->prepared.line);
    unsigned char *ended = attest_gate_ended(g, c->prepared.index, k);
    status = ATTEST_OK;
    if (end == PAIR_RESULT && attest_result_of_stop(&result)) {
        attest_gate_end(g, attest_stop_name());
        return ATTEST_OK;
    }
    if (end == PAIR_RESULT && result.others && !g->alone && !g->gate->take) { /* who takes them wants them in order */
        *ended = PAIR_ALONE;
        return ATTEST_OK;
    }
    if (g->alone)
        tell_alone(&result);
#pragma omp critical(take)
    {
        g->twice += *ended != 0 && *ended != PAIR_ALONE;
        *ended = (unsigned char)end;
        if (end == PAIR_RESULT)
            status = attest_gate_add(g, c->prepared.index, (uint32_t)k, &result, err);
    }
    if (g->gate->options->fail_fast && end == PAIR_RESULT && attest_result_failed(&result))
        attest_gate_end(g, "--fail-fast");
    return status;
}

/* ---- one case ---------------------------------------------------------------------------------------------------- */
int attest_gate_stopped(attest_gate_state *g)
{
    const double limit = g->gate->options->max_time;
    int stop;
#pragma omp critical(gate)
    {
        if (!*g->info->ended && attest_stop_signal())
            snprintf(g->info->ended, sizeof g->info->ended, "%s", attest_stop_name());
        else if (!*g->info->ended && limit >= 0 && attest_now_seconds() - g->started > limit)
            snprintf(g->info->ended, sizeof g->info->ended, "--max-time");
        stop = g->status != ATTEST_OK || *g->info->ended;
    }
    return stop;
}

static int is_unwanted(attest_gate_state *g, size_t index, size_t k)
{
    int unwanted = 0;
    if (!g->gate->unwanted)
        return 0;
#pragma omp critical(take)
    {
        unwanted = g->gate->unwanted(g->gate->context, index, k);
        if (unwanted)
            *attest_gate_ended(g, index, k) = PAIR_REFUSED;
    }
    return unwanted;
}

/* *whole: every kernel was asked. */
static attest_status run_case(attest_gate_state *g, size_t index, workers *w, int *whole, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_gate *gate = g->gate;
    pair_case c = { .drawn = 0, .remembers = gate->remembers };
    *whole = 0;
    attest_suite_case(&c.prepared.c, gate->suite, index);
    c.prepared.index = index;
    c.prepared.hash = attest_case_hash(&c.prepared.c);
    snprintf(c.prepared.line, sizeof c.prepared.line, "%s", attest_suite_line(gate->suite, index));
    for (size_t k = 0; k < gate->plan->kernel_count; k++) {
        if (g->alone ? *attest_gate_ended(g, index, k) != PAIR_ALONE
                     : *attest_gate_ended(g, index, k) || is_unwanted(g, index, k))
            continue;
        if (attest_gate_stopped(g))
            goto out;
        ATTEST_TRY(end_pair(g, &c, w, k, err));
        if (!*attest_gate_ended(g, index, k))
            goto out;
        for (size_t l = 0; g->alone && l < gate->plan->library_count; l++)
            drop_worker(w, l); /* whose memory the next one may need */
    }
    *whole = 1;
out:
    if (c.drawn)
        attest_prepared_clear(&c.prepared);
    return status == ATTEST_OK ? status : attest_fail_prefix(err, status, gate->suite->name);
}

static void progress(const attest_gate_state *g)
{
    const attest_options *options = g->gate->options;
    if (options->quiet || !isatty(2))
        return;
    fprintf(stderr, "\r%zu/%zu cases, %.0f s", g->done, g->gate->suite->case_count, attest_now_seconds() - g->started);
    if (g->done == g->gate->suite->case_count)
        fprintf(stderr, "\r%60s\r", "");
}

/* Keeps the first error. */
static void fail(attest_gate_state *g, attest_status status, const attest_error *err)
{
#pragma omp critical(gate)
    if (status != ATTEST_OK && g->status == ATTEST_OK) {
        g->status = status;
        g->err = *err;
    }
}

static void guarded_case(attest_gate_state *g, size_t index, workers *w)
{
    attest_error err = { "" };
    int whole;
    if (attest_gate_stopped(g))
        return;
    fail(g, run_case(g, index, w, &whole, &err), &err);
#pragma omp critical(gate)
    {
        g->done += whole != 0;
        progress(g);
    }
}

/* The pairs whose workers others may have ended, one at a time; those that are left are no results, and their cases not
 * done. */
static void run_alone(attest_gate_state *g)
{
    const size_t kernels = g->gate->plan->kernel_count, pairs = g->gate->suite->case_count * kernels;
    workers w = { .worker = NULL };
    attest_error err = { "" };
    if (!memchr(g->ended, PAIR_ALONE, pairs))
        return;
    attest_status status = workers_new(&w, g->gate->plan->library_count, &err);
    g->alone = w.alone = 1;
    for (size_t i = 0; i < pairs && status == ATTEST_OK && !attest_gate_stopped(g); i++) {
        int whole;
        if (g->ended[i] == PAIR_ALONE)
            status = run_case(g, i / kernels, &w, &whole, &err);
    }
    fail(g, status, &err);
    for (size_t i = 0; i < pairs; i += kernels) {
        const int open = memchr(g->ended + i, PAIR_ALONE, kernels) != NULL;
        g->done -= open && !memchr(g->ended + i, 0, kernels); /* else it was not counted */
        for (size_t k = 0; open && k < kernels; k++)
            g->ended[i + k] = g->ended[i + k] == PAIR_ALONE ? 0 : g->ended[i + k];
    }
    workers_clear(&w, g->gate->plan->library_count);
    attest_reference_thread_end();
}

static void run_all(attest_gate_state *g)
{
    const attest_gate *gate = g->gate;
    const long count = (long)gate->suite->case_count;
#ifdef _OPENMP
    const int threads = (int)attest_gate_threads(gate);
#pragma omp parallel num_threads(threads)
#endif
    {
        workers w = { .worker = NULL };
        attest_error err = { "" };
        const attest_status status = workers_new(&w, gate->plan->library_count, &err);
        fail(g, status, &err);
#pragma omp for schedule(dynamic, 1)
        for (long i = 0; i < count; i++)
            if (status == ATTEST_OK)
                guarded_case(g, (size_t)i, &w);
        workers_clear(&w, gate->plan->library_count);
        attest_reference_thread_end();
    }
}

attest_status attest_gate_run(attest_results *results, attest_run_info *info, const attest_gate *gate,
                              attest_error *err)
{
    attest_gate_state g = {
        .gate = gate, .info = info, .results = results, .started = gate->began > 0 ? gate->began : attest_now_seconds()
    };
    attest_error late = { "" };
    attest_status status = ATTEST_OK;
    g.ended = calloc(gate->suite->case_count + 1, gate->plan->kernel_count + 1);
    if (!g.ended)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases of %zu kernels", gate->suite->case_count,
                               gate->plan->kernel_count));
    ATTEST_TRY(attest_gate_take_over(&g, err));
    run_all(&g);
    run_alone(&g);
    fail(&g, attest_gate_finish(&g, &late), &late);
    status = g.status;
    if (status != ATTEST_OK)
        *err = g.err;
out:
    free(g.entry);
    free(g.variant);
    free(g.ended);
    return status;
}
