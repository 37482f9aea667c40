/* bench_reference.c - the rows of `attest bench reference` and of `attest bench kernels`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library/library.h"
#include "kernels/yardstick/yardstick.h"
#include "verify/bench/bench_table.h"
#include "verify/compare/compare.h"

/* ---- dd ---------------------------------------------------------------------------------------------------------- */
static attest_status add_dd(attest_bench_table *table, const attest_bench_options *options, const char *path,
                            int threads, const attest_bench_inputs *fresh, attest_error *err)
{
    char name[48], source[96], why[256];
    attest_bench_job *job;
    attest_status status = ATTEST_OK;
    snprintf(name, sizeof name, "dd-%s%s", path, fresh ? "-on-f32" : "");
    if (threads > 1)
        snprintf(name, sizeof name, "dd-%s-%d-threads", path, threads);
    snprintf(source, sizeof source, "reference/dd_%s.c", path);
    if (!attest_bench_wanted(options, name))
        return ATTEST_OK;
    ATTEST_TRY(attest_bench_add(&job, table, ATTEST_BENCH_DD, name, source, err));
    job->options = (attest_enclose_options){ .path = path, .threads = threads };
    job->each = attest_bench_each(ATTEST_BENCH_DD, path);
    if (fresh) {
        job->p = &fresh->c.problem;
        job->in = fresh->bundle;
    }
    attest_bench_refuse_long(job, table, options);
    if (!attest_enclose_serves(job->p, why, sizeof why))
        snprintf(job->why, sizeof job->why, "%s", why);
    int *at = fresh ? &table->on_f32 : threads > 1 ? &table->threaded : &table->best;
    if (*at < 0 && !job->why[0])
        *at = (int)table->count - 1;
out:
    return status;
}

/* All paths on one thread, the fastest on more; bf16 and f16: the fastest on f32 numbers too. */
static attest_status add_dd_rows(attest_bench_table *table, const attest_bench_options *options, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int n = 0; attest_enclose_path(n); n++)
        ATTEST_TRY(add_dd(table, options, attest_enclose_path(n), 1, NULL, err));
    if (options->threads > 1)
        ATTEST_TRY(add_dd(table, options, attest_enclose_path(0), options->threads, NULL, err));
    if (attest_bench_narrow(table))
        ATTEST_TRY(attest_bench_draw_fresh(table, err));
    if (table->fresh.bundle)
        ATTEST_TRY(add_dd(table, options, attest_enclose_path(0), 1, &table->fresh, err));
out:
    return status;
}

/* ---- arbitrary precision ----------------------------------------------------------------------------------------- */
/* Appends the row, not timed because of `why` (unless that is empty) or where it would take too long. */
static attest_status add_yardstick(attest_bench_job **job, attest_bench_table *table,
                                   const attest_bench_options *options, uint32_t kind, const char *name,
                                   const char *source, const char *why, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *job = NULL;
    if (!attest_bench_wanted(options, name))
        return ATTEST_OK;
    ATTEST_TRY(attest_bench_add(job, table, kind, name, source, err));
    attest_bench_refuse_long(*job, table, options);
    if (why[0])
        snprintf((*job)->why, sizeof(*job)->why, "%s", why);
out:
    return status;
}

/* The faster of mpfr_fma and mpfr_mul with mpfr_add, as measured here and now. */
static attest_status choose_product(attest_bench_job *job, attest_error *err)
{
    double cost[ATTEST_YARD_CALLS];
    const attest_status status = attest_yard_mpfr_costs(cost, job->p, job->in, ATTEST_BENCH_BITS_MPFR, err);
    if (status == ATTEST_OK && cost[ATTEST_YARD_FMA] < cost[ATTEST_YARD_MUL] + cost[ATTEST_YARD_ADD])
        job->product = ATTEST_YARD_FUSED;
    return status;
}

static attest_status add_yardsticks(attest_bench_table *table, const attest_bench_options *options, attest_error *err)
{
    const attest_problem *p = &table->own.c.problem;
    attest_status status = ATTEST_OK;
    attest_bench_job *mpfr, *arb, *exact = NULL, *costs;
    char why[256] = "";
    if (attest_yard_serves(p, why, sizeof why) && attest_yard_in_range(p, table->own.bundle, why, sizeof why))
        why[0] = '\0';
    ATTEST_TRY(add_yardstick(&mpfr, table, options, ATTEST_BENCH_MPFR, "mpfr-128", "reference/yardstick/yard_mpfr.c",
                             why, err));
    ATTEST_TRY(add_yardstick(&arb, table, options, ATTEST_BENCH_ARB, "arb-mat-96", "reference/yardstick/yard_arb.c",
                             why, err));
    if (p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP)
        ATTEST_TRY(add_yardstick(&exact, table, options, ATTEST_BENCH_EXACT, "exact",
                                 "reference/yardstick/yard_exact.c", "", err));
    if (exact && !exact->why[0] && !attest_yard_exact_serves(p, table->own.bundle))
        snprintf(exact->why, sizeof exact->why, "a row is not rational, or too large");
    if (!mpfr || mpfr->why[0])
        return ATTEST_OK;
    table->mpfr = (int)(mpfr - table->job);
    ATTEST_TRY(choose_product(mpfr, err));
    ATTEST_TRY(
        attest_bench_add(&costs, table, ATTEST_BENCH_COSTS, "mpfr-calls", "reference/yardstick/yard_mpfr.c", err));
    table->costs = (int)(costs - table->job);
out:
    return status;
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */
static attest_status add_floats(attest_bench_table *table, const attest_bench_options *options, attest_error *err)
{
    const attest_problem *p;
    const attest_bundle *in;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_bench_in_f32(&p, &in, table, err));
    if (attest_bench_wanted(options, attest_kernel_naive_f32.name)) {
        ATTEST_TRY(attest_bench_add_kernel(table, options, attest_own(&attest_kernel_naive_f32), NULL,
                                           ATTEST_BENCH_PLAIN, p, in, err));
        if (!table->job[table->count - 1].why[0])
            table->naive = (int)table->count - 1;
    }
    if (!options->device)
        ATTEST_TRY(attest_bench_add_vendors(table, options, p, in, err));
out:
    return status;
}

attest_status attest_bench_reference(attest_bench_table *table, const char *line, const attest_bench_options *options,
                                     attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_bench_table_start(table, line, options->rounds, err));
    ATTEST_TRY(add_dd_rows(table, options, err));
    ATTEST_TRY(add_yardsticks(table, options, err));
    ATTEST_TRY(add_floats(table, options, err));
    if (table->count > 0)
        ATTEST_TRY(attest_bench_add_machine(table, ATTEST_BENCH_MACHINE, err));
    ATTEST_TRY(attest_bench_time_all(table, options, err));
    for (size_t n = 0; table->best >= 0 && n < table->count; n++) {
        attest_bench_job *job = &table->job[n];
        if (!job->why[0] && job->o && job->in != table->fresh.bundle)
            ATTEST_TRY(attest_bench_job_compare(job, &table->job[table->best], err));
    }
out:
    if (status != ATTEST_OK)
        attest_bench_table_clear(table);
    return status;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */
/* Verdict and ratios of what a job computed on the inputs of the line. */
static attest_status judge(attest_result *result, attest_truth *truth, const attest_case *c,
                           const attest_bench_job *job, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *bundle = NULL;
    attest_declared declared;
    attest_tensor *o;
    if (!attest_declared_of(&declared, job->kernel, job->p, result->why, sizeof result->why))
        return ATTEST_OK;
    ATTEST_TRY(attest_bundle_new(&bundle, err));
    ATTEST_TRY(attest_bundle_add(bundle, job->p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0, &o, err));
    memcpy(o->data, job->out.data, attest_tensor_bytes(o));
    ATTEST_TRY(attest_compare(result, truth, NULL, c, bundle, &declared.numerics, declared.flags, 0, err));
out:
    attest_bundle_free(bundle);
    return status;
}

#define BALLS_A_SECOND 3e7 /* products that the truth does, about */

/* Nothing where the truth would take longer than a run may. */
static attest_status judge_all(attest_bench_table *table, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_truth *truth = NULL;
    table->judged = calloc(table->count, sizeof *table->judged);
    if (!table->judged)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu rows", table->count);
    for (size_t n = 0; n < table->count; n++) {
        attest_result_init(&table->judged[n]);
        table->judged[n].verdict = ATTEST_SKIP;
    }
    const double seconds = (double)table->pairs * (double)(table->own.c.problem.d + table->own.c.problem.e) /
                           BALLS_A_SECOND;
    table->unjudged = seconds > ATTEST_BENCH_LONGEST ? seconds : 0;
    if (table->unjudged > 0)
        return ATTEST_OK;
    ATTEST_TRY(attest_truth_new(&truth, &table->own.c.problem, table->own.bundle, ATTEST_ENGINE_AUTO, err));
    for (size_t n = 0; n < table->count; n++)
        if (table->job[n].kernel.kernel && !table->job[n].why[0] && table->job[n].in == table->own.bundle)
            ATTEST_TRY(judge(&table->judged[n], truth, &table->own.c, &table->job[n], err));
out:
    attest_truth_free(truth);
    return status;
}

/* A kernel that is wanted and serves the problem: on one thread, and once more on several where these are asked for. */
static attest_status add_with_threads(attest_bench_table *table, const attest_bench_options *options,
                                      attest_loaded kernel, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char why[256];
    if (!attest_bench_wanted(options, kernel.kernel->name) ||
        !attest_kernel_supports(kernel, &table->own.c.problem, why, sizeof why))
        return ATTEST_OK;
    for (int row = 0; row < (options->threads > 1 ? 2 : 1); row++) {
        const int threads = row ? options->threads : 1;
        ATTEST_TRY(
            attest_bench_add_kernel(table, options, kernel, NULL, 0, &table->own.c.problem, table->own.bundle, err));
        attest_bench_job *job = &table->job[table->count - 1];
        job->options.threads = threads;
        if (threads > 1)
            snprintf(job->name, sizeof job->name, "%.28s-%u-threads", kernel.kernel->name, (unsigned)threads & 0xffff);
    }
out:
    return status;
}

/* Kernels of the wanted device in a library. */
static attest_status add_library(attest_bench_table *table, const attest_bench_options *options,
                                 const attest_plugin *plugin, attest_error *err)
{
    const attest_problem *p = &table->own.c.problem;
    attest_status status = ATTEST_OK;
    char why[256];
    for (uint32_t k = 0; k < plugin->library.kernel_count; k++) {
        const attest_loaded kernel = attest_plugin_loaded(plugin, k);
        if (kernel.kernel->device == options->device && attest_bench_wanted(options, kernel.kernel->name) &&
            attest_kernel_supports(kernel, p, why, sizeof why))
            ATTEST_TRY(attest_bench_add_kernel(table, options, kernel, &plugin->memory, 0, p, table->own.bundle, err));
    }
out:
    return status;
}

attest_status attest_bench_kernels(attest_bench_table *table, const char *line, const attest_bench_options *options,
                                   attest_error *err)
{
    const attest_library *library = attest_builtin_library();
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_bench_table_start(table, line, options->rounds, err));
    for (uint32_t k = 0; !options->device && k < library->kernel_count; k++)
        ATTEST_TRY(add_with_threads(table, options, attest_own(library->kernels[k]), err));
    for (size_t l = 0; l < options->library_count; l++)
        ATTEST_TRY(add_library(table, options, options->libraries[l], err));
    if (table->count == 0 && options->device)
        ATTEST_TRY(attest_fail(err, ATTEST_UNSUPPORTED,
                               "nothing to time: no kernel of device %s that matches '%s' serves %s",
                               attest_device_name(options->device), options->glob ? options->glob : "*", table->line));
    attest_bench_options all = *options;
    all.glob = NULL;                    /* yardsticks stand beside whatever was chosen */
    if (options->device != ATTEST_CUDA) /* a GPU would wait for them */
        ATTEST_TRY(add_floats(table, &all, err));
    ATTEST_TRY(attest_bench_add_machine(table, ATTEST_BENCH_MACHINE, err));
    ATTEST_TRY(attest_bench_add_machine(table, ATTEST_BENCH_READ, err));
    ATTEST_TRY(attest_bench_time_all(table, options, err));
    ATTEST_TRY(judge_all(table, err));
out:
    if (status != ATTEST_OK)
        attest_bench_table_clear(table);
    return status;
}
