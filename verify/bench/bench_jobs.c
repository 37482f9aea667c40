/* bench_jobs.c - see bench_jobs.h. */
#include "verify/bench/bench_jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

static int64_t outputs_of(const attest_problem *p) { return p->b * p->hq * p->n * p->e; }

int64_t attest_bench_pairs(const attest_problem *p, const attest_bundle *in)
{
    int64_t pairs = 0;
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t i = 0; i < p->n; i++) {
            int64_t first, last;
            attest_visible(p, attest_bundle_lengths(p, in, b), i, &first, &last);
            pairs += last > first ? last - first : 0;
        }
    return pairs * p->hq;
}

double attest_bench_each(uint32_t kind, const char *path)
{
    static const struct {
        const char *path; /* NULL: any */
        uint32_t kind;
        double each;
    } all[] = {
        { "avx512", ATTEST_BENCH_DD, 0.16e-9 }, { "avx2", ATTEST_BENCH_DD, 0.22e-9 },
        { NULL, ATTEST_BENCH_DD, 0.65e-9 },     { NULL, ATTEST_BENCH_MPFR, 70e-9 },
        { NULL, ATTEST_BENCH_ARB, 9e-9 },       { NULL, ATTEST_BENCH_EXACT, 6e-9 },
        { "cuda", ATTEST_BENCH_KERNEL, 1e-13 }, { "cuda-host", ATTEST_BENCH_KERNEL, 60e-9 },
        { NULL, ATTEST_BENCH_KERNEL, 1.3e-9 },
    };
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        if (all[n].kind == kind && (!all[n].path || (path && strcmp(all[n].path, path) == 0)))
            return all[n].each;
    return 0;
}

double attest_bench_expected(const attest_bench_job *job, int64_t pairs)
{
    return job->each * (double)pairs * (double)(job->p->d + job->p->e);
}

int attest_bench_is_row(const attest_bench_job *job)
{
    return job->kind != ATTEST_BENCH_COSTS && job->kind != ATTEST_BENCH_MACHINE && job->kind != ATTEST_BENCH_READ;
}

/* Of kernels in this process: what OpenMP gives them from now on. */
static void use_threads(int threads)
{
#ifdef _OPENMP
    omp_set_num_threads(threads > 1 ? threads : 1);
#else
    (void)threads;
#endif
}

size_t attest_bench_input_bytes(const attest_bundle *in)
{
    size_t bytes = 0;
    for (int role = 0; role < ATTEST_ROLE_COUNT; role++) {
        const attest_tensor *t = attest_bundle_role(in, (attest_role)role);
        bytes += t ? attest_tensor_bytes(t) : 0;
    }
    return bytes;
}

static attest_status prepare_read(attest_bench_job *job, attest_error *err)
{
    job->workspace_size = (attest_bench_input_bytes(job->in) + 1023) / 1024 * 1024; /* whole turns of its loop */
    job->workspace = aligned_alloc(64, job->workspace_size);
    if (!job->workspace)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory of %zu bytes", job->name, job->workspace_size);
    memset(job->workspace, 1, job->workspace_size);
    return ATTEST_OK;
}

static attest_status prepare_kernel(attest_bench_job *job, attest_error *err)
{
    const attest_problem *p = job->p;
    use_threads(job->options.threads);
    const size_t workspace = attest_kernel_workspace(job->kernel, p);
    attest_bundle_view(job->in, &job->view);
    if (job->pages)
        attest_pages_view(job->pages, &job->view);
    attest_tensor_describe(&job->out, p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0);
    job->out.data = calloc(1, attest_tensor_bytes(&job->out));
    job->view.role[ATTEST_O] = &job->out;
    job->workspace_size = workspace;
    if (!job->out.data)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for the output", job->name);
    if (job->device.memory)
        return attest_bench_device_place(&job->device, &job->view, &job->workspace, workspace, job->name, err);
    job->workspace = workspace ? aligned_alloc(64, (workspace + 63) / 64 * 64) : NULL;
    if (workspace && !job->workspace)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for %zu bytes of workspace", job->name, workspace);
    if (workspace)
        memset(job->workspace, 0, workspace); /* its pages exist before the first turn */
    return ATTEST_OK;
}

attest_status attest_bench_job_prepare(attest_bench_job *job, int rounds, attest_error *err)
{
    attest_status status = ATTEST_OK;
    job->error = NAN;
    job->rounds = rounds;
    job->sample = calloc((size_t)rounds, sizeof *job->sample);
    job->walls = calloc((size_t)rounds, sizeof *job->walls);
    if (job->kind == ATTEST_BENCH_COSTS)
        job->costs = calloc((size_t)rounds, sizeof *job->costs);
    else if (attest_bench_is_row(job))
        job->o = calloc((size_t)outputs_of(job->p), sizeof *job->o);
    if (!job->sample || !job->walls ||
        (job->kind == ATTEST_BENCH_COSTS ? !job->costs : attest_bench_is_row(job) && !job->o))
        status = attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for its results", job->name);
    else if (job->kind == ATTEST_BENCH_KERNEL)
        status = prepare_kernel(job, err);
    else if (job->kind == ATTEST_BENCH_READ)
        status = prepare_read(job, err);
    return status;
}

void attest_bench_job_clear(attest_bench_job *job)
{
    free(job->sample);
    free(job->walls);
    free(job->o);
    free(job->costs);
    free(job->out.data);
    if (job->device.memory)
        attest_bench_device_clear(&job->device, job->workspace);
    else
        free(job->workspace);
    attest_enclosures_free(&job->enclosures);
    job->sample = job->walls = job->o = NULL;
    job->costs = NULL;
    job->out.data = job->workspace = NULL;
}

static attest_status run_dd(attest_bench_job *job, attest_error *err)
{
    return attest_enclose(&job->enclosures, NULL, job->p, job->in, &job->options, err);
}

static attest_status run_mpfr(attest_bench_job *job, attest_error *err)
{
    return attest_yard_mpfr(job->o, job->p, job->in, ATTEST_BENCH_BITS_MPFR, job->product, job->calls, err);
}

static attest_status run_arb(attest_bench_job *job, attest_error *err)
{
    return attest_yard_arb(job->o, job->p, job->in, ATTEST_BENCH_BITS_ARB, err);
}

static attest_status run_exact(attest_bench_job *job, attest_error *err)
{
    return attest_yard_exact(job->o, job->p, job->in, err);
}

static attest_status run_kernel(attest_bench_job *job, attest_error *err)
{
    char why[200];
    use_threads(job->options.threads);
    const attest_status status = attest_kernel_run(job->kernel, job->p, &job->view, job->workspace, job->workspace_size,
                                                   why, sizeof why);
    return status == ATTEST_OK
               ? ATTEST_OK
               : attest_fail(err, ATTEST_KERNEL_ERROR, "%s: run() failed%s%s", job->name, why[0] ? ": " : "", why);
}

/* The last `rounds` runs are the rounds': what came before was to warm up. */
static attest_status run_costs(attest_bench_job *job, attest_error *err)
{
    return attest_yard_mpfr_costs(job->costs[job->runs++ % job->rounds], job->p, job->in, ATTEST_BENCH_BITS_MPFR, err);
}

static attest_status run_machine(attest_bench_job *job, attest_error *err) { return attest_machine_burn(job, err); }

static attest_status run_read(attest_bench_job *job, attest_error *err)
{
    (void)err;
    attest_machine_read(job->workspace, job->workspace_size);
    return ATTEST_OK;
}

attest_status attest_bench_job_run(void *context, attest_error *err)
{
    static attest_status (*const run[])(attest_bench_job *, attest_error *) = {
        [ATTEST_BENCH_DD] = run_dd,           [ATTEST_BENCH_MPFR] = run_mpfr,     [ATTEST_BENCH_ARB] = run_arb,
        [ATTEST_BENCH_EXACT] = run_exact,     [ATTEST_BENCH_KERNEL] = run_kernel, [ATTEST_BENCH_COSTS] = run_costs,
        [ATTEST_BENCH_MACHINE] = run_machine, [ATTEST_BENCH_READ] = run_read,
    };
    attest_bench_job *job = context;
    return run[job->kind](job, err);
}

attest_status attest_bench_job_wait(void *context, attest_error *err)
{
    const attest_bench_job *job = context;
    return attest_bench_device_wait(&job->device, job->name, err);
}

int attest_bench_by_wall(const attest_bench_job *job) { return job->options.threads > 1 || job->device.memory; }

attest_status attest_bench_job_read(attest_bench_job *job, attest_error *err)
{
    const int64_t count = job->o ? outputs_of(job->p) : 0;
    attest_status status = ATTEST_OK;
    if (job->kind == ATTEST_BENCH_KERNEL && job->device.memory)
        status = attest_bench_device_read(&job->device, &job->view, &job->out, job->name, err);
    for (int64_t at = 0; at < count; at++) {
        if (job->kind == ATTEST_BENCH_DD)
            job->o[at] = job->enclosures.hi[at];
        else if (job->kind == ATTEST_BENCH_KERNEL)
            job->o[at] = attest_load(&job->out, at); /* described in C order */
    }
    return status;
}

attest_status attest_bench_job_compare(attest_bench_job *job, const attest_bench_job *dd, attest_error *err)
{
    const attest_enclosures *truth = &dd->enclosures;
    job->compared = 0;
    job->error = NAN;
    for (int64_t at = 0; at < truth->count; at++) {
        if (!(truth->bound[at] < INFINITY))
            continue;
        const double low = job->kind == ATTEST_BENCH_DD ? job->enclosures.lo[at] : 0;
        const double off = fabs((job->o[at] - truth->hi[at]) + (low - truth->lo[at]));
        job->error = job->compared++ == 0 || off > job->error || off != off ? off : job->error;
        /* one rounding to double, which dd's pair does not have, and the roundings of this line */
        const double own = job->kind == ATTEST_BENCH_DD ? job->enclosures.bound[at] + 0x1p-100 * fabs(job->o[at])
                                                        : 0x1p-52 * fabs(job->o[at]);
        if (job->kind != ATTEST_BENCH_KERNEL && !(off <= own + truth->bound[at] + 0x1p-1070))
            return attest_fail(err, ATTEST_INTERNAL, "%s disagrees with %s at output %lld: %a against %a + %a +- %a",
                               job->name, dd->name, (long long)at, job->o[at], truth->hi[at], truth->lo[at],
                               truth->bound[at]);
    }
    return ATTEST_OK;
}
