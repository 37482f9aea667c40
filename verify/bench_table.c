/* bench_table.c - inputs and jobs of a table, and the figures that two jobs make together. */
#include "verify/bench_table.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/plugin.h"
#include "props/family.h"

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
    table->best = table->mpfr = table->naive = table->costs = table->machine = -1;
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

attest_status attest_bench_in_f32(const attest_problem **p, const attest_bundle **in, attest_bench_table *table,
                                  attest_error *err)
{
    const int narrow = table->own.c.problem.in == ATTEST_BF16 || table->own.c.problem.in == ATTEST_F16;
    const attest_bench_inputs *inputs = narrow ? &table->wide : &table->own;
    attest_status status = ATTEST_OK;
    if (narrow && !table->wide.bundle)
        status = widen(&table->wide, &table->own, err);
    if (narrow && status == ATTEST_OK && !table->fresh.bundle) {
        table->fresh.c = table->own.c;
        in_f32(&table->fresh.c);
        status = draw(&table->fresh, err);
    }
    *p = &inputs->c.problem;
    *in = inputs->bundle;
    return status;
}

attest_bench_job *attest_bench_add(attest_bench_table *table, uint32_t kind, const char *name, const char *source)
{
    if (table->count == ATTEST_BENCH_JOBS)
        return NULL;
    attest_bench_job *job = &table->job[table->count++];
    memset(job, 0, sizeof *job);
    job->kind = kind;
    job->p = &table->own.c.problem;
    job->in = table->own.bundle;
    job->error = NAN;
    snprintf(job->name, sizeof job->name, "%s", name);
    snprintf(job->source, sizeof job->source, "%s", source);
    return job;
}

attest_status attest_bench_add_kernel(attest_bench_table *table, const attest_kernel *kernel, const char *name,
                                      const attest_problem *p, const attest_bundle *in, attest_error *err)
{
    const double expected = attest_bench_expected(ATTEST_BENCH_KERNEL, p, table->pairs);
    attest_bench_job *job = attest_bench_add(table, ATTEST_BENCH_KERNEL, name, kernel->source);
    if (!job)
        return attest_fail(err, ATTEST_INTERNAL, "more than %d rows in a table", ATTEST_BENCH_JOBS);
    job->kernel = kernel;
    job->p = p;
    job->in = in;
    if (!kernel->supports(p, job->why, sizeof job->why))
        return ATTEST_OK;
    job->why[0] = '\0';
    if (expected > ATTEST_BENCH_LONGEST)
        snprintf(job->why, sizeof job->why, "a run would take about %.0f s", expected);
    return ATTEST_OK;
}

attest_status attest_bench_add_vendors(attest_bench_table *table, const attest_bench_options *options,
                                       const attest_problem *p, const attest_bundle *in, attest_error *err)
{
    static const char *const names[] = { "vendor-openblas", "vendor-onednn" };
    static const char *const sources[] = { "kernels/vendor/openblas.c", "kernels/vendor/onednn.c" };
    static const attest_host host = { .struct_size = sizeof host, .abi_version = ATTEST_ABI_VERSION };
    attest_status status = ATTEST_OK;
    for (size_t v = 0; v < sizeof names / sizeof names[0]; v++) {
        char path[4200];
        const attest_library *library;
        void *handle;
        attest_error missing;
        if (!attest_bench_wanted(options, names[v]))
            continue;
        snprintf(path, sizeof path, "%s/%s.so", options->plugins ? options->plugins : ".", names[v]);
        if (options->plugins && attest_plugin_open(&library, &handle, path, &host, &missing) == ATTEST_OK) {
            ATTEST_TRY(attest_bench_add_kernel(table, library->kernels[0], names[v], p, in, err));
            continue;
        }
        attest_bench_job *job = attest_bench_add(table, ATTEST_BENCH_KERNEL, names[v], sources[v]);
        if (job)
            snprintf(job->why, sizeof job->why, "not installed when attest was built");
    }
out:
    return status;
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
        ATTEST_TRY(attest_bench_job_prepare(job, table->rounds, err));
        rows += job->kind != ATTEST_BENCH_COSTS && job->kind != ATTEST_BENCH_MACHINE;
        of[count] = n;
        subjects[count++] = (attest_bench_subject){
            .run = attest_bench_job_run, .context = job, .sample = job->sample, .wall = job->options.threads > 1
        };
    }
    if (rows == 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "nothing to time: no row matches '%s' or serves the problem",
                               options->glob ? options->glob : "*"));
    ATTEST_TRY(attest_bench_measure(subjects, count, table->rounds, ATTEST_BENCH_SHORTEST, options->clock, err));
    for (size_t n = 0; n < count; n++) {
        table->job[of[n]].repeats = subjects[n].repeats;
        attest_bench_job_read(&table->job[of[n]]);
    }
out:
    return status;
}

void attest_bench_table_clear(attest_bench_table *table)
{
    for (size_t n = 0; n < table->count; n++)
        attest_bench_job_clear(&table->job[n]);
    attest_bundle_free(table->own.bundle);
    attest_bundle_free(table->wide.bundle);
    attest_bundle_free(table->fresh.bundle);
    free(table->judged);
    table->own.bundle = table->wide.bundle = table->fresh.bundle = NULL;
    table->judged = NULL;
    table->count = 0;
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */
int64_t attest_bench_multiply_adds(const attest_problem *p) { return attest_feature_dim(p) + p->e; }

double attest_bench_call_cost(const attest_bench_table *table, int call)
{
    double cost[ATTEST_BENCH_ROUNDS_MAX];
    if (table->costs < 0)
        return NAN;
    for (int r = 0; r < table->rounds && r < ATTEST_BENCH_ROUNDS_MAX; r++)
        cost[r] = table->job[table->costs].costs[r][call];
    return attest_bench_time(cost, table->rounds).least;
}

double attest_bench_honesty(const attest_bench_table *table)
{
    double sum = 0;
    if (table->costs < 0 || table->mpfr < 0)
        return NAN;
    const attest_bench_job *mpfr = &table->job[table->mpfr];
    for (int call = 0; call < ATTEST_YARD_CALLS; call++)
        sum += (double)mpfr->calls[call] * attest_bench_call_cost(table, call);
    return attest_bench_time(mpfr->sample, table->rounds).least / sum;
}
