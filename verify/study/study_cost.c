/* study_cost.c - time against error: every variant and kernel on the same q, k, v, side by side.
 *
 * A group is one (length, dim, range, type): its kernels of all variants take turns in the rounds of verify/bench, in
 * this process and on one thread.  The error is that of STUDY_ROWS rows, evenly apart, of the last run's o: against
 * softmax (total) and against the variant itself (rounding).
 */
#include "verify/study/study_cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/library/library.h"
#include "reference/evidence/evidence.h"
#include "verify/bench/bench.h"

#define STUDY_ROWS 4
#define SHORTEST 0.005 /* seconds of a turn: a median over rounds needs no longer one */
#define LONGEST 0.25   /* seconds a run may be expected to take */

/* One variant of a group, with the truth of its rows. */
typedef struct cost_variant {
    const study_point *point;
    attest_prepared prepared;
    attest_span *o; /* [STUDY_ROWS*e] */
    double truncation;
    attest_truth *softmax; /* of the same inputs */
    attest_problem exp_problem;
} cost_variant;

/* One kernel on one variant. */
typedef struct cost_job {
    cost_variant *variant;
    size_t kernel;
    attest_bench_job job;
} cost_job;

typedef struct cost_group {
    cost_variant *variant;
    cost_job *job;
    attest_bench_subject *subject;
    size_t variants, jobs;
    attest_span *o; /* of softmax */
} cost_group;

/* ---- how long a run may take ------------------------------------------------------------------------------------- */
/* Numbers of a state: all monomials of degree up to P, or the distinct ones. */
static double state_size(const attest_problem *p, int distinct)
{
    int lowest, highest;
    double all = 0, monomials = 1, power = 1;
    if (!attest_variant_degrees(p->axis, &lowest, &highest))
        return INFINITY;
    for (int n = 0; n <= highest; n++) {
        all += distinct ? monomials : power;
        monomials *= (double)(p->d + n) / (n + 1);
        power *= (double)p->d;
    }
    return all;
}

/* Seconds a run may take, roughly: for a choice and an estimate, no promise. */
static double expected(const attest_kernel *k, const attest_problem *p)
{
    const int fast = strstr(k->name, "fast") || strstr(k->name, "flash");
    const double n = (double)p->n, pairs = n * n / 2;
    if (k->form == ATTEST_RECURRENT || k->form == ATTEST_CHUNK)
        return 2 * n * state_size(p, fast || strstr(k->name, "packed") != NULL) * (double)p->e *
                   (fast ? 0.06e-9 : 0.5e-9) +
               (k->form == ATTEST_CHUNK ? n * 64 * (double)(p->d + p->e) * 0.5e-9 : 0);
    return pairs * ((double)(p->d + p->e) * (fast ? 0.06e-9 : 0.6e-9) + (fast ? 0.3e-9 : 4e-9));
}

/* The built-in kernel of the plan's name. */
static attest_loaded loaded(const study_run *run, size_t k)
{
    return attest_own(attest_builtin_library()->kernels[run->plan.kernel[k].index]);
}

/* 1 if kernel k is to be timed on the problem; else 0 with the reason. */
static int timed(const study_run *run, size_t k, const attest_problem *p, char *why, size_t len)
{
    const attest_loaded kernel = loaded(run, k);
    if (!attest_kernel_supports(kernel, p, why, len))
        return 0;
    const double seconds = expected(kernel.kernel, p);
    if (seconds > LONGEST)
        snprintf(why, len, "a run would take about %.2g s", seconds);
    return seconds <= LONGEST;
}

/* ---- a group ----------------------------------------------------------------------------------------------------- */
static int same_group(const study_point *a, const study_point *b)
{
    for (int axis = 0; axis < ATTEST_STUDY_AXES; axis++)
        if (axis != ATTEST_STUDY_VARIANT && a->at[axis] != b->at[axis])
            return 0;
    return 1;
}

static attest_row row_of(const attest_problem *p, int row)
{
    return (attest_row){ 0, 0, p->n * (row + 1) / STUDY_ROWS - (p->n * (row + 1) / STUDY_ROWS > 0) };
}

/* Softmax on the inputs of the variant. */
static attest_status softmax_of(cost_variant *v, attest_error *err)
{
    v->exp_problem = v->prepared.c.problem;
    v->exp_problem.axis[ATTEST_AXIS_WEIGHT] = (attest_setting){ ATTEST_WEIGHT_EXP, 0, 0 };
    v->exp_problem.axis[ATTEST_AXIS_CENTER] = (attest_setting){ ATTEST_CENTER_ZERO, 0, 0 };
    return attest_truth_new(&v->softmax, &v->exp_problem, v->prepared.inputs, ATTEST_ENGINE_AUTO, err);
}

static attest_status add_truth(cost_variant *v, attest_span *softmax, attest_error *err)
{
    const attest_problem *p = &v->prepared.c.problem;
    attest_status status = ATTEST_OK;
    double *distance = calloc((size_t)(2 * p->e), sizeof *distance);
    v->o = calloc((size_t)(STUDY_ROWS * p->e), sizeof *v->o);
    v->truncation = 0;
    if (!distance || !v->o)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %d rows", STUDY_ROWS));
    ATTEST_TRY(softmax_of(v, err));
    for (int row = 0; row < STUDY_ROWS; row++) {
        const attest_row at = row_of(p, row);
        ATTEST_TRY(attest_evidence_row(v->o + row * p->e, v->prepared.truth, ATTEST_O, at, err));
        ATTEST_TRY(attest_evidence_row(softmax + row * p->e, v->softmax, ATTEST_O, at, err));
        ATTEST_TRY(attest_truth_distance(distance, distance + p->e, v->prepared.truth, v->softmax, at, err));
        for (int64_t c = 0; c < p->e; c++)
            v->truncation = fmax(v->truncation, distance[p->e + c]);
    }
out:
    free(distance);
    return status;
}

static attest_status add_job(cost_group *g, study_run *run, cost_variant *v, size_t k, attest_error *err)
{
    cost_job *to = &g->job[g->jobs++];
    *to = (cost_job){ .variant = v, .kernel = k };
    to->job = (attest_bench_job){
        .kind = ATTEST_BENCH_KERNEL, .p = &v->prepared.c.problem, .in = v->prepared.inputs, .kernel = loaded(run, k)
    };
    snprintf(to->job.name, sizeof to->job.name, "%s", to->job.kernel.kernel->name);
    const attest_status status = attest_bench_job_prepare(&to->job, run->request->rounds, err);
    g->subject[g->jobs - 1] = (attest_bench_subject){
        .run = attest_bench_job_run, .context = &to->job, .sample = to->job.sample, .walls = to->job.walls
    };
    return status;
}

/* The variants and kernels of the group of `first` that are left; refuses what is not to be timed. */
static attest_status make_group(cost_group *g, study_run *run, const study_point *first, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const study_grid *grid = &run->grid;
    const size_t variants = grid->list[ATTEST_STUDY_VARIANT].count;
    char why[256];
    *g = (cost_group){ .variant = calloc(variants, sizeof *g->variant),
                       .job = calloc(variants * run->kernels, sizeof *g->job),
                       .subject = calloc(variants * run->kernels, sizeof *g->subject) };
    if (!g->variant || !g->job || !g->subject)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu variants", variants));
    for (size_t i = 0; i < grid->count; i++) {
        const study_point *p = &grid->point[i];
        cost_variant *v = &g->variant[g->variants];
        attest_case c;
        int wanted = 0;
        if (!same_group(first, p))
            continue;
        ATTEST_TRY(attest_case_parse(&c, p->line, NULL, NULL, err));
        c.seed = (uint64_t)grid->list[ATTEST_STUDY_SEEDS].value[0].number;
        for (size_t k = 0; k < run->kernels; k++) {
            if (run->slot[k * grid->count + p->number])
                continue;
            if (!timed(run, k, &c.problem, why, sizeof why)) {
                study_refuse(run, k, p, why);
                continue;
            }
            if (!wanted++) {
                v->point = p;
                g->variants++;
                ATTEST_TRY(attest_prepare_inputs(&v->prepared, &c, NULL, err));
            }
            ATTEST_TRY(add_job(g, run, v, k, err));
        }
    }
out:
    return status;
}

static void clear_group(cost_group *g)
{
    for (size_t j = 0; j < g->jobs; j++)
        attest_bench_job_clear(&g->job[j].job);
    for (size_t v = 0; v < g->variants; v++) {
        attest_truth_free(g->variant[v].softmax);
        attest_prepared_clear(&g->variant[v].prepared);
        free(g->variant[v].o);
    }
    free(g->variant);
    free(g->job);
    free(g->subject);
    free(g->o);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */
/* Largest |got - truth| over the rows as an interval: the truth is known to the last bits of a double. */
static void error_of(double *lo, double *hi, const cost_job *j, const attest_span *truth)
{
    const attest_problem *p = j->job.p;
    *lo = *hi = 0;
    for (int row = 0; row < STUDY_ROWS; row++)
        for (int64_t c = 0; c < p->e; c++) {
            const attest_span t = truth[row * p->e + c];
            const double got = j->job.o[row_of(p, row).i * p->e + c], low = got - t.hi, high = got - t.lo;
            const double slack = 0x1p-51 * fabs(got) + 0x1p-1070;
            const double far = fmax(fabs(low), fabs(high)) + slack;
            const double near = (low <= 0 && high >= 0 ? 0 : fmin(fabs(low), fabs(high))) - slack;
            *hi = far <= *hi ? *hi : far; /* NaN stays */
            *lo = fmax(*lo, near);
        }
}

static void result_of(attest_result *r, study_run *run, const cost_group *g, const cost_job *j)
{
    const attest_plan_kernel *kernel = &run->plan.kernel[j->kernel];
    const double tokens = (double)j->job.p->n;
    const attest_bench_spread time = attest_bench_time(j->job.sample, run->request->rounds);
    attest_subject subject = { .facts = &kernel->facts, .program = run->request->options->program };
    double lo;
    memcpy(subject.file_hash, run->plan.library[kernel->library].file.hash, sizeof subject.file_hash);
    attest_result_identify(r, &subject, &j->variant->prepared);
    error_of(&r->total_lo, &r->total_hi, j, g->o);
    error_of(&lo, &r->rounding, j, j->variant->o);
    r->truncation = attest_variant_polynomial(j->job.p->axis) ? j->variant->truncation : NAN;
    r->rows_judged = STUDY_ROWS;
    r->rows_total = j->job.p->n;
    r->verdict = r->total_hi == r->total_hi ? ATTEST_MEASURED : ATTEST_ILLPOSED;
    r->ordinate = time.median * 1e9 / tokens;
    r->ordinate_least = time.least * 1e9 / tokens;
    r->ordinate_most = time.most * 1e9 / tokens;
    r->seconds_kernel = time.median;
    r->seeds = 1;
    study_describe(r, run, j->variant->point, j->kernel);
}

static attest_status measure_group(study_run *run, cost_group *g, attest_error *err)
{
    const attest_bench_clock clock = { attest_bench_wall, attest_bench_thread, NULL, NULL };
    attest_status status = ATTEST_OK;
    g->o = calloc((size_t)(STUDY_ROWS * g->job[0].job.p->e), sizeof *g->o);
    if (!g->o)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %d rows", STUDY_ROWS));
    ATTEST_TRY(attest_bench_measure(g->subject, g->jobs, run->request->rounds, SHORTEST, &clock, err));
    for (size_t v = 0; v < g->variants; v++)
        ATTEST_TRY(add_truth(&g->variant[v], g->o, err));
    for (size_t j = 0; j < g->jobs; j++) {
        attest_result r;
        ATTEST_TRY(attest_bench_job_read(&g->job[j].job, err));
        result_of(&r, run, g, &g->job[j]);
        ATTEST_TRY(study_add(run, g->job[j].kernel, g->job[j].variant->point, &r, err));
    }
out:
    return status;
}

/* Kernels that would be timed, and about how many seconds they take. */
static attest_status tell_cost(const study_run *run, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double seconds = 0, rounds = 2 * run->request->rounds + 2;
    size_t count = 0;
    char why[256];
    if (run->request->options->quiet)
        return ATTEST_OK;
    for (size_t i = 0; i < run->grid.count; i++) {
        attest_case c;
        ATTEST_TRY(attest_case_parse(&c, run->grid.point[i].line, NULL, NULL, err));
        seconds += (double)STUDY_ROWS / (double)c.problem.n * run->grid.point[i].work * 100e-9;
        for (size_t k = 0; k < run->kernels; k++)
            if (!run->slot[k * run->grid.count + i] && timed(run, k, &c.problem, why, sizeof why)) {
                const double once = expected(loaded(run, k).kernel, &c.problem);
                seconds += once > SHORTEST ? once * (run->request->rounds + 1) : SHORTEST * rounds;
                count++;
            }
    }
    fprintf(stderr, "attest study %s: %zu points, %zu timings of %d rounds, about %.0f s\n", run->request->study->name,
            run->grid.count, count, run->request->rounds, ceil(seconds));
out:
    return status;
}

attest_status study_measure_cost(study_run *run, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (run->grid.list[ATTEST_STUDY_SEEDS].count > 1)
        return attest_fail(err, ATTEST_BAD_INPUT, "--seeds: study %s takes one: its spread is that of the rounds",
                           run->request->study->name);
    ATTEST_TRY(tell_cost(run, err));
    for (size_t i = 0; i < run->grid.count && !study_ends(run); i++) {
        cost_group g = { .jobs = 0 };
        int first = 1;
        for (size_t before = 0; before < i; before++)
            first &= !same_group(&run->grid.point[before], &run->grid.point[i]);
        if (!first)
            continue;
        status = make_group(&g, run, &run->grid.point[i], err);
        if (status == ATTEST_OK && g.jobs > 0)
            status = measure_group(run, &g, err);
        clear_group(&g);
        if (status != ATTEST_OK)
            goto out;
        study_progress(run);
    }
out:
    return status;
}
