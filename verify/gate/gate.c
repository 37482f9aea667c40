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

#include "props/draw/draw.h"
#include "verify/gate/runner.h"
#include "verify/base/base.h"
#include "verify/gate/trust.h"

/* What one thread owns: a worker per library. */
typedef struct crew {
    attest_worker **worker; /* [library_count] */
} crew;

typedef struct gate_state {
    const attest_gate *gate;
    attest_rows *of_case; /* [case_count]: rows of each case, in kernel order */
    char (*file_hash)[20];
    double started;
    size_t done;
    attest_status status; /* first error of ours */
    attest_error err;
} gate_state;

static void crew_clear(crew *c, size_t count)
{
    for (size_t i = 0; c->worker && i < count; i++)
        attest_worker_free(c->worker[i]);
    free(c->worker);
    c->worker = NULL;
}

static attest_status crew_start(crew *c, const attest_gate *gate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    c->worker = calloc(gate->library_count, sizeof *c->worker);
    if (!c->worker)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for workers");
    for (size_t i = 0; i < gate->library_count; i++)
        ATTEST_TRY(attest_worker_start(&c->worker[i], gate->libraries[i], gate->options->timeout, err));
out:
    if (status != ATTEST_OK)
        crew_clear(c, gate->library_count);
    return status;
}

int attest_kernel_wanted(const attest_gate *gate, const attest_kernel_facts *kernel)
{
    const char *device = kernel->device_type == ATTEST_CUDA ? "cuda" : "cpu";
    return (!gate->kernel_glob || fnmatch(gate->kernel_glob, kernel->name, 0) == 0) &&
           (!gate->wanted || gate->wanted(gate->context, kernel->name)) &&
           (!gate->options->device || strcmp(gate->options->device, device) == 0);
}

static attest_status add_row(gate_state *g, size_t index, const attest_row *row, attest_error *err)
{
    attest_status status;
    if (!g->gate->take)
        return attest_rows_add(&g->of_case[index], row, err);
#pragma omp critical(take)
    status = g->gate->take(g->gate->context, index, row, err);
    return status;
}

/* One kernel on one case; adds a row unless the kernel does not serve the case. */
static attest_status run_one(gate_state *g, size_t index, attest_prepared *prepared, const attest_subject *subject,
                             attest_error *err)
{
    attest_row row;
    int supported = 1;
    const char *kernel = attest_worker_kernel(subject->worker, subject->index)->name;
    const char *reason = attest_suite_skip(g->gate->suite, kernel, &prepared->c);
    if (reason) {
        attest_row_identify(&row, subject, prepared->line, prepared->hash);
        row.verdict = ATTEST_SKIP;
        snprintf(row.why, sizeof row.why, "%s", reason);
        return add_row(g, index, &row, err);
    }
    const attest_status status = attest_run_case(&row, &supported, prepared, subject, g->gate->judge,
                                                  g->gate->options->timeout, err);
    if (status != ATTEST_OK)
        return attest_fail_prefix(err, status, prepared->line);
    return supported ? add_row(g, index, &row, err) : ATTEST_OK;
}

static attest_status run_case(gate_state *g, size_t index, crew *c, attest_error *err)
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
static void guarded_case(gate_state *g, size_t index, crew *c)
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
        crew c = { NULL };
        attest_error err = { "" };
        const attest_status status = crew_start(&c, gate, &err);
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
        crew_clear(&c, gate->library_count);
        attest_reference_thread_end();
    }
}

/* How many cases of the suite the kernel served, and why not the first other one. */
static void tell_coverage(const gate_state *g, const attest_subject *subject, const char *kernel)
{
    const attest_suite *suite = g->gate->suite;
    size_t served = 0, first = suite->case_count;
    char why[256] = "";
    for (size_t i = 0; i < suite->case_count; i++) {
        int found = 0;
        for (size_t r = 0; r < g->of_case[i].count; r++)
            found |= strcmp(g->of_case[i].row[r].kernel, kernel) == 0;
        served += (size_t)found;
        first = !found && i < first ? i : first;
    }
    if (first < suite->case_count)
        attest_worker_supports(subject->worker, subject->index, &suite->cases[first].problem, why, sizeof why);
    fprintf(stderr, "%s: served %zu of the %zu %s of suite %s%s%s\n", kernel, served, suite->case_count,
            attest_plural((int64_t)suite->case_count, "case", "cases"), suite->name,
            *why ? "; not the first other one: " : "", why);
}

/* Cases that --max-time left out, and kernels that served nothing, are rows too. */
static attest_status add_leftovers(attest_rows *rows, gate_state *g, crew *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_gate *gate = g->gate;
    for (size_t l = 0; l < gate->library_count; l++)
        for (size_t k = 0; k < attest_worker_kernel_count(c->worker[l]); k++) {
            attest_subject subject = {
                .worker = c->worker[l], .index = k, .library = gate->libraries[l], .program = gate->options->program
            };
            attest_row row;
            int served = 0;
            if (!attest_kernel_wanted(gate, attest_worker_kernel(c->worker[l], k)))
                continue;
            memcpy(subject.file_hash, g->file_hash[l], sizeof subject.file_hash);
            attest_row_identify(&row, &subject, "", 0);
            for (size_t i = 0; i < rows->count && !served; i++)
                served = strcmp(rows->row[i].kernel, row.kernel) == 0;
            if (gate->tell_coverage && !gate->options->quiet)
                tell_coverage(g, &subject, row.kernel);
            if (served || g->done < gate->suite->case_count)
                continue; /* a kernel whose cases were not all run has not refused them */
            row.verdict = ATTEST_SKIP;
            row.reproduction[0] = row.hash[0] = '\0';
            if (attest_worker_supports(c->worker[l], k, &gate->suite->cases[0].problem, row.why, sizeof row.why) == 0 &&
                strstr(row.why, "no device"))
                ; /* the device's own reason stays */
            else
                snprintf(row.why, sizeof row.why, "serves no case of suite %s", gate->suite->name);
            ATTEST_TRY(attest_rows_add(rows, &row, err));
        }
    if (g->done < gate->suite->case_count) {
        attest_row row;
        attest_row_init(&row);
        row.verdict = ATTEST_SKIP;
        snprintf(row.kernel, sizeof row.kernel, "*");
        snprintf(row.why, sizeof row.why, "--max-time: %zu of %zu %s not run", gate->suite->case_count - g->done,
                 gate->suite->case_count, attest_plural((int64_t)gate->suite->case_count, "case", "cases"));
        ATTEST_TRY(attest_rows_add(rows, &row, err));
    }
out:
    return status;
}

/* Rows of one kernel and preset (a row's line starts with `variant=PRESET`). */
typedef struct group {
    const attest_row *first;
    int evidence;
} group;

static int same_group(const attest_row *a, const attest_row *b)
{
    const size_t len = strcspn(a->line, " ");
    return strcmp(a->kernel, b->kernel) == 0 && strcspn(b->line, " ") == len && strncmp(a->line, b->line, len) == 0;
}

/* Nothing judged was wrong; of an ill-posed row u and z passed. */
static int is_good(const attest_row *row)
{
    return row->verdict == ATTEST_PASS || row->verdict == ATTEST_ILLPOSED;
}

static int is_evidence(const attest_row *row)
{
    attest_case c;
    attest_error err;
    const int judged = is_good(row) || row->verdict == ATTEST_FAIL; /* one that failed shows that a case can */
    if (!judged || attest_case_parse(&c, row->line, NULL, NULL, &err) != ATTEST_OK)
        return 0;
    const attest_family_info *family = attest_family_of(&c);
    const int scores = attest_axis_value_of(&c.problem, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_ADD;
    return family && !family->constant && (scores ? row->range > 0 : c.problem.n > 1 && c.problem.m > 1);
}

static group *find_group(group *groups, size_t *count, const attest_row *row)
{
    for (size_t i = 0; i < *count; i++)
        if (same_group(groups[i].first, row))
            return &groups[i];
    groups[*count] = (group){ row, 0 };
    return &groups[(*count)++];
}

/* No judged case of a kernel and preset had a truth that moves with each input: its passes prove nothing. */
static attest_status mark_mistrusted(attest_rows *rows, attest_error *err)
{
    size_t count = 0;
    group *groups = calloc(rows->count + 1, sizeof *groups);
    if (!groups)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the groups of rows");
    for (size_t i = 0; i < rows->count; i++) {
        group *g = find_group(groups, &count, &rows->row[i]);
        g->evidence = g->evidence || is_evidence(&rows->row[i]);
    }
    for (size_t i = 0; i < rows->count; i++) {
        attest_row *row = &rows->row[i];
        if (!is_good(row) || find_group(groups, &count, row)->evidence)
            continue;
        row->verdict = ATTEST_MISTRUSTED;
        snprintf(row->why, sizeof row->why,
                 "no case of this kernel and variant has a truth that moves with its inputs");
    }
    free(groups);
    return ATTEST_OK;
}

/* The rows in their order, also those judged before an error of ours stopped the run. */
static attest_status collect(attest_rows *rows, const gate_state *g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < g->gate->suite->case_count; i++)
        for (size_t r = 0; r < g->of_case[i].count; r++)
            ATTEST_TRY(attest_rows_add(rows, &g->of_case[i].row[r], err));
    ATTEST_TRY(mark_mistrusted(rows, err));
out:
    return status;
}

static attest_status collect_leftovers(attest_rows *rows, gate_state *g, attest_error *err)
{
    crew c = { NULL };
    attest_status status = crew_start(&c, g->gate, err);
    if (status == ATTEST_OK)
        status = add_leftovers(rows, g, &c, err);
    crew_clear(&c, g->gate->library_count);
    return status;
}

static void date_rows(attest_rows *rows, const attest_suite *suite)
{
    char run[32];
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    const time_t start = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm utc;
    strftime(run, sizeof run, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &utc));
    for (size_t i = 0; i < rows->count; i++) {
        snprintf(rows->row[i].run, sizeof rows->row[i].run, "%s", run);
        snprintf(rows->row[i].suite, sizeof rows->row[i].suite, "%s", suite->name);
        snprintf(rows->row[i].suite_hash, sizeof rows->row[i].suite_hash, "%016llx", (unsigned long long)suite->hash);
    }
}

static void hash_libraries(gate_state *g)
{
    for (size_t l = 0; l < g->gate->library_count; l++)
        attest_library_hash(g->file_hash[l], g->gate->libraries[l]);
}

attest_status attest_gate_run(attest_rows *rows, const attest_gate *gate, attest_error *err)
{
    gate_state g = { .gate = gate, .started = attest_now_seconds() };
    g.of_case = calloc(gate->suite->case_count + 1, sizeof *g.of_case);
    g.file_hash = calloc(gate->library_count + 1, sizeof *g.file_hash);
    if (g.of_case && g.file_hash) {
        hash_libraries(&g);
        run_all(&g);
        attest_error late = { "" };
        attest_status status = collect(rows, &g, &late);
        if (status == ATTEST_OK && g.status == ATTEST_OK && !gate->take)
            status = collect_leftovers(rows, &g, &late);
        date_rows(rows, gate->suite);
        if (g.status == ATTEST_OK && status != ATTEST_OK) {
            g.status = status;
            g.err = late;
        }
    } else {
        g.status = attest_fail(&g.err, ATTEST_NO_MEMORY, "no memory for %zu cases", gate->suite->case_count);
    }
    for (size_t i = 0; g.of_case && i < gate->suite->case_count; i++)
        attest_rows_clear(&g.of_case[i]);
    free(g.of_case);
    free(g.file_hash);
    if (g.status != ATTEST_OK)
        *err = g.err;
    return g.status;
}

attest_status attest_gate_write(const attest_rows *rows, const char *dir, attest_error *err)
{
    static const struct {
        const char *name;
        attest_status (*write)(const attest_rows *, const char *, attest_error *);
    } files[] = { { "rows.jsonl", attest_rows_write_jsonl },
                  { "rows.csv", attest_rows_write_csv },
                  { "junit.xml", attest_rows_write_junit } };
    attest_status status = ATTEST_OK;
    attest_facts facts = { 0 };
    char path[4096];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (snprintf(path, sizeof path, "%s/%s", dir, files[i].name) >= (int)sizeof path - 16)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", dir);
        ATTEST_TRY(files[i].write(rows, path, err));
    }
    ATTEST_TRY(attest_trust_collect(&facts, err));
    snprintf(path, sizeof path, "%s/trust.json", dir);
    ATTEST_TRY(attest_facts_write(&facts, path, err));
    snprintf(path, sizeof path, "%s/summary.md", dir);
    ATTEST_TRY(attest_rows_write_summary(rows, &facts, path, err));
out:
    attest_facts_clear(&facts);
    return status;
}

int attest_gate_tell(const attest_options *options, const attest_rows *rows)
{
    attest_exit code = { 0 };
    const char *fail_on = options->fail_on ? options->fail_on : "";
    for (size_t i = 0; i < rows->count; i++) {
        const attest_row *row = &rows->row[i];
        const int named =
            row->verdict < ATTEST_VERDICT_COUNT && strcmp(attest_verdict_names[row->verdict], fail_on) == 0;
        attest_exit_add(&code, named ? 4 : attest_row_exit(row));
    }
    if (options->format && strcmp(options->format, "json") == 0) {
        for (size_t i = 0; i < rows->count; i++)
            attest_row_print_json(stdout, &rows->row[i]);
    } else if (!options->quiet) {
        attest_rows_print_console(stdout, rows, attest_want_colour(stdout));
    }
    return attest_exit_code(&code);
}
