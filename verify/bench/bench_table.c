/* bench_table.c - inputs and jobs of a table, and the figures that two jobs make together. */
#include "verify/bench/bench_table.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/attest_float.h"
#include "kernels/library/library.h"
#include "kernels/tensor/packed.h"
#include "props/draw/draw.h"

int attest_bench_wanted(const attest_bench_options *options, const char *name)
{
    return !options->glob || fnmatch(options->glob, name, 0) == 0;
}

static attest_status draw(attest_bench_inputs *inputs, attest_error *err)
{
    attest_status status = ATTEST_OK;
    uint64_t bytes;
    ATTEST_TRY(attest_problem_memory(&inputs->c.problem, &bytes, err));
    ATTEST_TRY(attest_bundle_new(&inputs->bundle, err));
    ATTEST_TRY(attest_draw_missing(inputs->bundle, &inputs->c, 0, 0, err));
out:
    return status;
}

attest_status attest_bench_table_start(attest_bench_table *table, const char *line, int rounds, attest_error *err)
{
    attest_status status = ATTEST_OK;
    memset(table, 0, sizeof *table);
    table->rounds = rounds;
    table->best = table->threaded = table->on_f32 = -1;
    table->mpfr = table->naive = table->costs = table->machine = table->reading = -1;
    ATTEST_TRY(attest_case_parse(&table->own.c, line, NULL, NULL, err));
    ATTEST_TRY(attest_case_print(table->line, sizeof table->line, &table->own.c, err));
    ATTEST_TRY(draw(&table->own, err));
    table->pairs = attest_bench_pairs(&table->own.c.problem, table->own.bundle);
out:
    return status;
}

/* The case with q, k, v in f32; acc, p and out too. */
static void in_f32(attest_case *c) { c->problem.in = c->problem.acc = c->problem.p = c->problem.out = ATTEST_F32; }

/* own's values, stored as f32: exact from bf16 and f16. */
static attest_status widen(attest_bench_inputs *wide, const attest_bench_inputs *own, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&own->c.problem, ids, ATTEST_MAX_TENSORS);
    attest_tensor *to;
    wide->c = own->c;
    in_f32(&wide->c);
    ATTEST_TRY(attest_bundle_new(&wide->bundle, err));
    for (size_t t = 0; t < count; t++) {
        const attest_tensor *from = attest_bundle_get(own->bundle, ids[t]);
        ATTEST_TRY(attest_bundle_add(wide->bundle, &wide->c.problem, ids[t], 0, &to, err));
        for (int64_t at = 0; at < attest_tensor_count(from); at++) {
            const uint64_t bits = attest_load_bits(from, at);
            const int same = from->dtype == to->dtype;
            attest_store_bits(to, at, same ? bits : attest_from_f64(to->dtype, attest_load(from, at)));
        }
    }
out:
    return status;
}

int attest_bench_narrow(const attest_bench_table *table)
{
    return table->own.c.problem.in == ATTEST_BF16 || table->own.c.problem.in == ATTEST_F16;
}

attest_status attest_bench_in_f32(const attest_problem **p, const attest_bundle **in, attest_bench_table *table,
                                  attest_error *err)
{
    const int narrow = attest_bench_narrow(table);
    const attest_bench_inputs *inputs = narrow ? &table->wide : &table->own;
    attest_status status = ATTEST_OK;
    if (narrow && !table->wide.bundle)
        status = widen(&table->wide, &table->own, err);
    *p = &inputs->c.problem;
    *in = inputs->bundle;
    return status;
}

attest_status attest_bench_draw_fresh(attest_bench_table *table, attest_error *err)
{
    table->fresh.c = table->own.c;
    in_f32(&table->fresh.c);
    return draw(&table->fresh, err);
}

attest_status attest_bench_add(attest_bench_job **job, attest_bench_table *table, uint32_t kind, const char *name,
                               const char *source, attest_error *err)
{
    *job = NULL;
    if (table->count == ATTEST_BENCH_JOBS)
        return attest_fail(err, ATTEST_INTERNAL, "more than %d rows in a table", ATTEST_BENCH_JOBS);
    *job = &table->job[table->count++];
    **job = (attest_bench_job){ .kind = kind,
                                .p = &table->own.c.problem,
                                .in = table->own.bundle,
                                .error = NAN,
                                .each = attest_bench_each(kind, NULL) };
    snprintf((*job)->name, sizeof(*job)->name, "%s", name);
    snprintf((*job)->source, sizeof(*job)->source, "%s", source);
    return ATTEST_OK;
}

attest_status attest_bench_add_machine(attest_bench_table *table, uint32_t kind, attest_error *err)
{
    attest_bench_job *job;
    const attest_status status = attest_bench_add(&job, table, kind, kind == ATTEST_BENCH_READ ? "memory" : "machine",
                                                  "verify/bench/bench_machine.c", err);
    *(kind == ATTEST_BENCH_READ ? &table->reading : &table->machine) = (int)table->count - 1;
    return status;
}

void attest_bench_refuse_long(attest_bench_job *job, const attest_bench_table *table,
                              const attest_bench_options *options)
{
    const double expected = attest_bench_expected(job, table->pairs);
    if (expected > ATTEST_BENCH_LONGEST && !options->glob)
        snprintf(job->why, sizeof job->why, "a run would take about %.0f s; asked for by name it is timed", expected);
}

/* The pages of these inputs, which all rows share as they share what is in none. */
static attest_status lay_in_pages(const attest_pages **pages, attest_bench_inputs *inputs, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (attest_pages_are(&inputs->c.problem) && !inputs->pages.table.data)
        status = attest_pages_make(&inputs->pages, &inputs->c.problem, inputs->bundle, 0, err);
    *pages = attest_pages_are(&inputs->c.problem) ? &inputs->pages : NULL;
    return status;
}

attest_status attest_bench_add_kernel(attest_bench_table *table, const attest_bench_options *options,
                                      attest_loaded kernel, const attest_memory *memory, double each,
                                      const attest_problem *p, const attest_bundle *in, attest_error *err)
{
    attest_bench_job *job;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_bench_add(&job, table, ATTEST_BENCH_KERNEL, kernel.kernel->name, kernel.kernel->source, err));
    job->kernel = kernel;
    job->p = p;
    job->in = in;
    ATTEST_TRY(lay_in_pages(&job->pages, in == table->own.bundle ? &table->own : &table->wide, err));
    job->device = (attest_bench_device){ .memory = memory, .context = kernel.context };
    job->each = each > 0 ? each : attest_bench_each(ATTEST_BENCH_KERNEL, attest_device_name(kernel.kernel->device));
    if (attest_packed_are(p)) /* no room for packed tensors is made here */
        snprintf(job->why, sizeof job->why, "packed problems are not timed");
    else if (attest_kernel_supports(kernel, p, job->why, sizeof job->why))
        attest_bench_refuse_long(job, table, options);
out:
    return status;
}

attest_status attest_bench_add_vendors(attest_bench_table *table, const attest_bench_options *options,
                                       const attest_problem *p, const attest_bundle *in, attest_error *err)
{
    static const char *const names[ATTEST_BENCH_VENDORS] = { "vendor-openblas", "vendor-onednn" };
    static const char *const sources[ATTEST_BENCH_VENDORS] = { "kernels/vendor/openblas.c", "kernels/vendor/onednn.c" };
    static const attest_host host = { .struct_size = sizeof host, .abi_version = ATTEST_ABI_VERSION };
    attest_status status = ATTEST_OK;
    for (size_t v = 0; v < ATTEST_BENCH_VENDORS; v++) {
        char path[4200];
        attest_bench_job *job;
        attest_error missing;
        if (!attest_bench_wanted(options, names[v]))
            continue;
        snprintf(path, sizeof path, "%s/%s.so", options->plugins ? options->plugins : ".", names[v]);
        if (options->plugins && attest_plugin_open(&table->vendor[v], path, &host, &missing) == ATTEST_OK) {
            ATTEST_TRY(attest_bench_add_kernel(table, options, attest_plugin_loaded(table->vendor[v], 0), NULL,
                                               ATTEST_BENCH_PLAIN, p, in, err));
            continue;
        }
        ATTEST_TRY(attest_bench_add(&job, table, ATTEST_BENCH_KERNEL, names[v], sources[v], err));
        snprintf(job->why, sizeof job->why, "%.255s",
                 options->plugins && access(path, F_OK) == 0 ? missing.text : "not installed when attest was built");
    }
out:
    return status;
}

/* Why no row that is wanted is timed: the first one's own reason. */
static attest_status nothing_to_time(const attest_bench_table *table, const attest_bench_options *options,
                                     attest_error *err)
{
    for (size_t n = 0; n < table->count; n++)
        if (table->job[n].why[0] && attest_bench_wanted(options, table->job[n].name))
            return attest_fail(err, ATTEST_UNSUPPORTED, "nothing to time: %s: %s: %s", table->line, table->job[n].name,
                               table->job[n].why);
    return attest_fail(err, ATTEST_UNSUPPORTED, "nothing to time: no row that matches '%s' serves %s",
                       options->glob ? options->glob : "*", table->line);
}

/* Prepares a job.  Of a kernel on a device, which is run once, what fails is told in its row: the others are timed. */
static attest_status prepare(attest_bench_job *job, int rounds, attest_error *err)
{
    attest_status status = attest_bench_job_prepare(job, rounds, err);
    if (!job->device.memory)
        return status;
    if (status == ATTEST_OK)
        status = attest_bench_job_run(job, err);
    if (status == ATTEST_OK)
        status = attest_bench_job_wait(job, err);
    if (status != ATTEST_OK) {
        snprintf(job->why, sizeof job->why, "%.*s", (int)sizeof job->why - 1, err->text);
        attest_bench_job_clear(job);
    }
    return ATTEST_OK;
}

attest_status attest_bench_time_all(attest_bench_table *table, const attest_bench_options *options, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bench_subject subjects[ATTEST_BENCH_JOBS];
    size_t of[ATTEST_BENCH_JOBS], count = 0, rows = 0;
    for (size_t n = 0; n < table->count; n++) {
        attest_bench_job *job = &table->job[n];
        if (job->why[0])
            continue;
        ATTEST_TRY(prepare(job, table->rounds, err));
        if (job->why[0])
            continue;
        rows += attest_bench_is_row(job) && attest_bench_wanted(options, job->name);
        of[count] = n;
        subjects[count++] = (attest_bench_subject){ .run = attest_bench_job_run,
                                                    .wait = job->device.memory ? attest_bench_job_wait : NULL,
                                                    .context = job,
                                                    .sample = job->sample,
                                                    .walls = job->walls,
                                                    .wall = attest_bench_by_wall(job) };
    }
    if (rows == 0)
        ATTEST_TRY(nothing_to_time(table, options, err));
    ATTEST_TRY(attest_bench_measure(subjects, count, table->rounds, ATTEST_BENCH_SHORTEST, options->clock, err));
    for (size_t n = 0; n < count; n++) {
        table->job[of[n]].repeats = subjects[n].repeats;
        ATTEST_TRY(attest_bench_job_read(&table->job[of[n]], err));
    }
out:
    return status;
}

void attest_bench_table_clear(attest_bench_table *table)
{
    for (size_t n = 0; n < table->count; n++)
        attest_bench_job_clear(&table->job[n]);
    for (size_t v = 0; v < ATTEST_BENCH_VENDORS; v++)
        attest_plugin_free(table->vendor[v]);
    memset(table->vendor, 0, sizeof table->vendor);
    attest_pages_clear(&table->own.pages);
    attest_pages_clear(&table->wide.pages);
    attest_bundle_free(table->own.bundle);
    attest_bundle_free(table->wide.bundle);
    attest_bundle_free(table->fresh.bundle);
    free(table->judged);
    table->own.bundle = table->wide.bundle = table->fresh.bundle = NULL;
    table->judged = NULL;
    table->count = 0;
}
