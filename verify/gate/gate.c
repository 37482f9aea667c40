/* gate.c - see gate.h. */
#include "verify/gate/gate.h"

#include <fnmatch.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verify/gate/gate_repeats.h"
#include "verify/gate/runner.h"
#include "verify/base/base.h"
#include "verify/gate/trust.h"

/* What one thread owns: a worker per library. */
typedef struct workers {
    attest_worker **worker; /* [library_count] */
} workers;

typedef struct gate_state {
    const attest_gate *gate;
    attest_results *results; /* in the order in which they came */
    size_t *of_case;         /* the case of each */
    size_t capacity;
    char (*file_hash)[20];
    double started;
    size_t done;
    attest_status status; /* first error of ours */
    attest_error err;
} gate_state;

static void workers_clear(workers *c, size_t count)
{
    for (size_t i = 0; c->worker && i < count; i++)
        attest_worker_free(c->worker[i]);
    free(c->worker);
    c->worker = NULL;
}

static attest_status workers_start(workers *c, const attest_gate *gate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    c->worker = calloc(gate->library_count, sizeof *c->worker);
    if (!c->worker)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for workers");
    for (size_t i = 0; i < gate->library_count; i++)
        ATTEST_TRY(attest_worker_start(&c->worker[i], gate->libraries[i], gate->options->timeout, err));
out:
    if (status != ATTEST_OK)
        workers_clear(c, gate->library_count);
    return status;
}

int attest_kernel_wanted(const attest_gate *gate, const attest_kernel_facts *kernel)
{
    const char *device = kernel->device_type == ATTEST_CUDA ? "cuda" : "cpu";
    return (!gate->kernel_glob || fnmatch(gate->kernel_glob, kernel->name, 0) == 0) &&
           (!gate->wanted || gate->wanted(gate->context, kernel->name)) &&
           (!gate->options->device || strcmp(gate->options->device, device) == 0);
}

/* One thread at a time: a case's results come from one thread, in the order of its kernels. */
static attest_status keep_result(gate_state *g, size_t index, const attest_result *result, attest_error *err)
{
    if (g->gate->take)
        return g->gate->take(g->gate->context, index, result, err);
    if (g->results->count == g->capacity) {
        const size_t capacity = g->capacity ? 2 * g->capacity : 64;
        size_t *grown = realloc(g->of_case, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu results", capacity);
        g->of_case = grown;
        g->capacity = capacity;
    }
    g->of_case[g->results->count] = index;
    return attest_results_add(g->results, result, err);
}

static attest_status add_result(gate_state *g, size_t index, const attest_result *result, attest_error *err)
{
    attest_status status;
#pragma omp critical(take)
    status = keep_result(g, index, result, err);
    return status;
}

static int is_drawn(const attest_suite *suite, size_t index) { return index >= suite->case_count - suite->drawn; }

/* One kernel on one case; adds a result unless the kernel does not serve the case. */
static attest_status run_one(gate_state *g, size_t index, attest_prepared *prepared, const attest_subject *subject,
                             attest_error *err)
{
    attest_result result;
    int supported = 1;
    const char *kernel = attest_worker_kernel(subject->worker, subject->index)->name;
    const char *reason = attest_suite_skip(g->gate->suite, kernel, &prepared->c);
    if (reason) {
        attest_result_identify(&result, subject, prepared);
        result.verdict = ATTEST_SKIP;
        snprintf(result.why, sizeof result.why, "%s", reason);
        return add_result(g, index, &result, err);
    }
    const attest_status status = attest_run_case(&result, &supported, prepared, subject, g->gate->judge,
                                                 g->gate->options->timeout, err);
    if (status != ATTEST_OK)
        return attest_fail_prefix(err, status, prepared->line);
    if (result.verdict == ATTEST_PARTIAL || result.verdict == ATTEST_NO_EVIDENCE) {
        reason = is_drawn(g->gate->suite, index)
                     ? "a drawn case: it need not tell by every element"
                     : attest_suite_allow(g->gate->suite, kernel, &prepared->c, attest_result_left(&result));
        if (reason)
            attest_result_allow(&result, reason);
    }
    if (supported && g->gate->options->typical && !g->gate->judge &&
        attest_typical_case(&result, prepared, subject, g->gate->options, err) != ATTEST_OK)
        return attest_fail_prefix(err, ATTEST_INTERNAL, prepared->line);
    return supported ? add_result(g, index, &result, err) : ATTEST_OK;
}

static attest_status run_case(gate_state *g, size_t index, workers *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared;
    const attest_gate *gate = g->gate;
    memset(&prepared, 0, sizeof prepared);
    status = attest_prepare(&prepared, &gate->suite->cases[index], err);
    if (status != ATTEST_OK)
        return attest_fail_prefix(err, status, gate->suite->name);
    prepared.index = index;
    for (size_t l = 0; l < gate->library_count; l++)
        for (size_t k = 0; k < attest_worker_kernel_count(c->worker[l]); k++) {
            attest_subject subject = {
                .worker = c->worker[l], .index = k, .library = gate->libraries[l], .program = gate->options->program
            };
            memcpy(subject.file_hash, g->file_hash[l], sizeof subject.file_hash);
            if (attest_kernel_wanted(gate, attest_worker_kernel(c->worker[l], k)))
                ATTEST_TRY(run_one(g, index, &prepared, &subject, err));
        }
out:
    attest_prepared_clear(&prepared);
    return status;
}

static void progress(const gate_state *g, size_t done)
{
    const attest_options *options = g->gate->options;
    if (options->quiet || !isatty(2))
        return;
    fprintf(stderr, "\r%zu/%zu cases, %.0f s", done, g->gate->suite->case_count, attest_now_seconds() - g->started);
    if (done == g->gate->suite->case_count)
        fprintf(stderr, "\r%60s\r", "");
}

/* One case in one thread: keeps the first error, counts, tells. */
static void guarded_case(gate_state *g, size_t index, workers *c)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    int stop;
#pragma omp critical(gate)
    stop = g->status != ATTEST_OK;
    const double limit = g->gate->options->max_time;
    if (stop || (limit >= 0 && attest_now_seconds() - g->started > limit))
        return;
    status = run_case(g, index, c, &err);
#pragma omp critical(gate)
    {
        if (status != ATTEST_OK && g->status == ATTEST_OK) {
            g->status = status;
            g->err = err;
        }
        progress(g, ++g->done);
    }
}

static void run_all(gate_state *g)
{
    const attest_gate *gate = g->gate;
    const long count = (long)gate->suite->case_count;
#ifdef _OPENMP
    const int threads = gate->options->jobs > 0 ? (int)gate->options->jobs : omp_get_num_procs();
#pragma omp parallel num_threads(threads)
#endif
    {
        workers c = { NULL };
        attest_error err = { "" };
        const attest_status status = workers_start(&c, gate, &err);
        if (status != ATTEST_OK) {
#pragma omp critical(gate)
            if (g->status == ATTEST_OK) {
                g->status = status;
                g->err = err;
            }
        }
#pragma omp for schedule(dynamic, 1)
        for (long i = 0; i < count; i++)
            if (status == ATTEST_OK)
                guarded_case(g, (size_t)i, &c);
        workers_clear(&c, gate->library_count);
        attest_reference_thread_end();
    }
}

static const char *kernel_of(const attest_results *results, size_t index)
{
    return attest_results_text(results, index, offsetof(attest_result, kernel));
}

/* How many cases of the suite the kernel served, and why not the first other one. */
static void tell_coverage(const gate_state *g, const attest_subject *subject, const char *kernel)
{
    const attest_suite *suite = g->gate->suite;
    size_t served = 0, first = 0;
    char why[256] = "";
    for (size_t i = 0; i < g->results->count; i++) { /* in the order of their cases */
        if (strcmp(kernel_of(g->results, i), kernel) != 0)
            continue;
        served++;
        first += g->of_case[i] == first;
    }
    if (first < suite->case_count)
        attest_worker_supports(subject->worker, subject->index, &suite->cases[first].problem, why, sizeof why);
    fprintf(stderr, "%s: served %zu of the %zu %s of suite %s%s%s\n", kernel, served, suite->case_count,
            attest_plural((int64_t)suite->case_count, "case", "cases"), suite->name,
            *why ? "; not the first other one: " : "", why);
}

/* A kernel that refused every case gets a result that says so. */
static attest_status add_unserved(gate_state *g, const attest_subject *subject, size_t judged, attest_error *err)
{
    const attest_gate *gate = g->gate;
    attest_result result;
    int served = 0;
    attest_result_identify(&result, subject, NULL);
    for (size_t i = 0; i < judged && !served; i++)
        served = strcmp(kernel_of(g->results, i), result.kernel) == 0;
    if (served || g->done < gate->suite->case_count)
        return ATTEST_OK; /* a kernel whose cases were not all run has not refused them */
    result.verdict = ATTEST_SKIP;
    if (attest_worker_supports(subject->worker, subject->index, &gate->suite->cases[0].problem, result.why,
                               sizeof result.why) == 0 &&
        strstr(result.why, "no device"))
        ; /* the device's own reason stays */
    else
        snprintf(result.why, sizeof result.why, "serves no case of suite %s", gate->suite->name);
    return attest_results_add(g->results, &result, err);
}

/* Cases that --max-time left out, and kernels that served nothing, are results too. */
static attest_status add_leftovers(gate_state *g, workers *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_gate *gate = g->gate;
    const size_t judged = g->results->count;
    for (size_t l = 0; l < gate->library_count; l++)
        for (size_t k = 0; k < attest_worker_kernel_count(c->worker[l]); k++) {
            attest_subject subject = {
                .worker = c->worker[l], .index = k, .library = gate->libraries[l], .program = gate->options->program
            };
            char name[512];
            if (!attest_kernel_wanted(gate, attest_worker_kernel(c->worker[l], k)))
                continue;
            memcpy(subject.file_hash, g->file_hash[l], sizeof subject.file_hash);
            attest_subject_name(name, sizeof name, &subject);
            if (gate->tell_coverage && !gate->options->quiet)
                tell_coverage(g, &subject, name);
            ATTEST_TRY(add_unserved(g, &subject, judged, err));
        }
    if (g->done < gate->suite->case_count) {
        attest_result result;
        attest_result_init(&result);
        result.verdict = ATTEST_SKIP;
        snprintf(result.kernel, sizeof result.kernel, "*");
        snprintf(result.why, sizeof result.why, "--max-time: %zu of %zu %s not run", gate->suite->case_count - g->done,
                 gate->suite->case_count, attest_plural((int64_t)gate->suite->case_count, "case", "cases"));
        ATTEST_TRY(attest_results_add(g->results, &result, err));
    }
out:
    return status;
}

/* The results of one kernel and variant. */
typedef struct group {
    const char *kernel, *variant; /* borrowed from the list, which keeps equal texts once */
    int evidence;
} group;

static int is_evidence(const attest_result *result)
{
    const int judged = (attest_result_judged_good(result) && result->verdict != ATTEST_NO_EVIDENCE) ||
                       result->verdict == ATTEST_FAIL; /* one that failed shows that a case can */
    const int scores = strcmp(result->update, "add") == 0;
    return judged && *result->family && !result->family_constant &&
           (scores ? result->range > 0 : result->n > 1 && result->m > 1);
}

static group *find_group(group *groups, size_t *count, const attest_results *results, size_t index)
{
    const char *kernel = kernel_of(results, index);
    const char *variant = attest_results_text(results, index, offsetof(attest_result, variant));
    for (size_t i = *count; i-- > 0;)
        if (groups[i].kernel == kernel && groups[i].variant == variant)
            return &groups[i];
    groups[*count] = (group){ kernel, variant, 0 };
    return &groups[(*count)++];
}

/* No judged case of a kernel and variant had a truth that depends on each input: its passes prove nothing; but for
 * drawn cases, whose variants are met by chance. */
static attest_status mark_no_evidence(const gate_state *g, attest_error *err)
{
    attest_results *results = g->results;
    attest_status status = ATTEST_OK;
    attest_result result;
    size_t count = 0;
    group *groups = calloc(results->count + 1, sizeof *groups);
    if (!groups)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the groups of results");
    for (size_t i = 0; i < results->count; i++) {
        group *of = find_group(groups, &count, results, i);
        ATTEST_TRY(attest_results_get(&result, results, i, err));
        of->evidence = of->evidence || is_evidence(&result);
    }
    for (size_t i = 0; i < results->count; i++) {
        if (find_group(groups, &count, results, i)->evidence || is_drawn(g->gate->suite, g->of_case[i]))
            continue;
        ATTEST_TRY(attest_results_get(&result, results, i, err));
        if (!attest_result_judged_good(&result) || result.verdict == ATTEST_NO_EVIDENCE)
            continue;
        result.verdict = ATTEST_NO_EVIDENCE;
        snprintf(result.why, sizeof result.why,
                 "no case of this kernel and variant has a truth that moves with its inputs");
        ATTEST_TRY(attest_results_replace(results, i, &result, err));
    }
out:
    free(groups);
    return status;
}

/* The results in the order of their cases, also those judged before an error of ours stopped the run. */
static attest_status collect(const gate_state *g, attest_error *err)
{
    const attest_gate *gate = g->gate;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_results_sort(g->results, g->of_case, err));
    if (g->status == ATTEST_OK && !gate->judge && g->done == gate->suite->case_count)
        ATTEST_TRY(attest_gate_repeats(g->results, g->of_case, gate, err));
    ATTEST_TRY(mark_no_evidence(g, err));
out:
    return status;
}

static attest_status collect_leftovers(gate_state *g, attest_error *err)
{
    workers c = { NULL };
    attest_status status = workers_start(&c, g->gate, err);
    if (status == ATTEST_OK)
        status = add_leftovers(g, &c, err);
    workers_clear(&c, g->gate->library_count);
    return status;
}

static attest_status date_results(attest_results *results, const attest_suite *suite, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    const time_t start = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    attest_result result;
    struct tm utc;
    char run[32];
    strftime(run, sizeof run, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &utc));
    for (size_t i = 0; i < results->count; i++) {
        ATTEST_TRY(attest_results_get(&result, results, i, err));
        snprintf(result.run, sizeof result.run, "%s", run);
        snprintf(result.suite, sizeof result.suite, "%s", suite->name);
        snprintf(result.suite_hash, sizeof result.suite_hash, "%016llx", (unsigned long long)suite->hash);
        ATTEST_TRY(attest_results_replace(results, i, &result, err));
    }
out:
    return status;
}

static void hash_libraries(gate_state *g)
{
    for (size_t l = 0; l < g->gate->library_count; l++)
        attest_library_hash(g->file_hash[l], g->gate->libraries[l]);
}

/* What is done with the results once every case has run or an error has stopped them. */
static attest_status finish(gate_state *g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (g->gate->take)
        return ATTEST_OK;
    ATTEST_TRY(collect(g, err));
    if (g->status == ATTEST_OK)
        ATTEST_TRY(collect_leftovers(g, err));
    ATTEST_TRY(date_results(g->results, g->gate->suite, err));
out:
    return status;
}

attest_status attest_gate_run(attest_results *results, const attest_gate *gate, attest_error *err)
{
    gate_state g = { .gate = gate, .results = results, .started = attest_now_seconds() };
    attest_error late = { "" };
    g.file_hash = calloc(gate->library_count + 1, sizeof *g.file_hash);
    if (!g.file_hash)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu libraries", gate->library_count);
    hash_libraries(&g);
    run_all(&g);
    const attest_status status = finish(&g, &late);
    if (g.status == ATTEST_OK && status != ATTEST_OK) {
        g.status = status;
        g.err = late;
    }
    free(g.of_case);
    free(g.file_hash);
    if (g.status != ATTEST_OK)
        *err = g.err;
    return g.status;
}

attest_status attest_gate_write(const attest_results *results, const char *dir, attest_error *err)
{
    static const struct {
        const char *name;
        attest_status (*write)(const attest_results *, const char *, attest_error *);
    } files[] = { { "results.jsonl", attest_results_write_jsonl },
                  { "results.csv", attest_results_write_csv },
                  { "junit.xml", attest_results_write_junit } };
    attest_status status = ATTEST_OK;
    attest_facts facts = { 0 };
    char path[4096];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (snprintf(path, sizeof path, "%s/%s", dir, files[i].name) >= (int)sizeof path - 16)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", dir);
        ATTEST_TRY(files[i].write(results, path, err));
    }
    ATTEST_TRY(attest_trust_collect(&facts, err));
    snprintf(path, sizeof path, "%s/trust.json", dir);
    ATTEST_TRY(attest_facts_write(&facts, path, err));
    snprintf(path, sizeof path, "%s/summary.md", dir);
    ATTEST_TRY(attest_results_write_summary(results, &facts, path, err));
out:
    attest_facts_clear(&facts);
    return status;
}

/* What attest_gate_tell() does with each. */
typedef struct telling {
    const char *fail_on;
    int json, strict;
    attest_exit code;
} telling;

static attest_status tell_one(void *state, const attest_result *result, attest_error *err)
{
    telling *t = state;
    const int named = strcmp(attest_verdict_names[result->verdict], t->fail_on) == 0;
    attest_exit_add(&t->code, named ? 4 : attest_result_exit(result, t->strict));
    if (t->json && attest_result_print_json(stdout, result) != ATTEST_OK)
        return attest_fail(err, ATTEST_IO, "cannot write the results");
    return ATTEST_OK;
}

int attest_gate_tell(const attest_options *options, const attest_results *results)
{
    attest_error err;
    telling t = { .fail_on = options->fail_on ? options->fail_on : "",
                  .strict = options->strict,
                  .json = options->format && strcmp(options->format, "json") == 0 };
    const attest_status status = attest_results_pass(results, &(attest_accumulator){ tell_one, &t }, 1, &err);
    if (status != ATTEST_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 70;
    }
    if (!t.json && !options->quiet)
        attest_results_print_console(stdout, results, attest_want_colour(stdout));
    return attest_exit_code(&t.code);
}
