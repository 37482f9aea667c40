/* props_run.c - see props_run.h. */
#include "verify/properties/props_private.h"

#include <fnmatch.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The smallest problems of each kind, asked of every kernel that serves them. */
static const char *const edges[] = {
    "n=1 d=1",
    "n=1 m=2 d=1 e=3",
    "n=2 m=1 d=3",
    "n=2 d=2 mask=causal",
    "n=3 m=3 d=2 family=flat",
    "n=5 m=2 d=2 mask=causal-br",
    "b=2 n=4 d=2 lens=draw",
    "hq=4 hkv=2 n=3 d=2 e=1",
    "n=4 d=2 mask=causal window=1",
    "variant=taylor:1 n=3 d=2 mask=causal",
    "variant=taylor:0 n=2 d=1",
    "variant=linear n=3 d=2 mask=causal state=draw",
    "variant=deltanet mask=causal n=2 d=2",
    "variant=softmax in=bf16 n=3 d=2",
    "n=2 d=2 in=f64",
};
enum { EDGES = sizeof edges / sizeof edges[0] };

enum { MOST_REDRAWS = 16, CASES_A_REDRAW = 125 };
#define REDRAW_STEP 0x1000000u /* case numbers of redraws lie behind those of any run */

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* Of each property. */
static size_t redraws_of(const props_state *s)
{
    const size_t share = (size_t)s->request->cases / CASES_A_REDRAW;
    return share < 1 ? 1 : share > MOST_REDRAWS ? MOST_REDRAWS : share;
}

attest_status attest_props_start(attest_worker **worker, const attest_props_request *request, attest_error *err)
{
    return request->plan ? attest_plan_start(worker, request->plan, 0, request->timeout_s, err)
                         : attest_worker_start(worker, request->library, request->timeout_s, err);
}

static attest_status hand_start(props_hand *h, const attest_props_request *request, attest_error *err)
{
    *h = (props_hand){ .worker = NULL };
    const attest_status status = attest_props_start(&h->worker, request, err);
    h->world = (attest_props_world){
        .subject = { .worker = h->worker, .library = request->library, .program = request->program },
        .timeout_s = request->timeout_s,
        .reference = request->reference
    };
    h->host = attest_props_host(&h->world);
    return status;
}

static void keep_error(props_state *s, attest_status status, const attest_error *err)
{
#pragma omp critical(props_failure)
    if (status != ATTEST_OK && s->status == ATTEST_OK) {
        s->status = status;
        s->err = *err;
    }
}

static int halted(props_state *s)
{
    int stop;
#pragma omp critical(props_failure)
    stop = s->stop || s->status != ATTEST_OK;
    return stop;
}

/* Is there no time for another case, or does a signal ask for the end?  Cases, but not plantings, are counted. */
static int is_late(props_state *s, int planting)
{
    if (!(attest_now_seconds() > s->until) && !attest_stop_signal())
        return 0;
    if (!planting) {
#pragma omp critical(props_progress)
        s->result->left_out++;
    }
    return 1;
}

static void tell_progress(props_state *s, size_t total)
{
#pragma omp critical(props_progress)
    {
        s->done++;
        if (s->request->progress)
            s->request->progress(s->request->context, (long)s->done, (long)total);
    }
}

/* Jobs first..jobs-1, or with `planting` every property's violation. */
static attest_status run_all(props_state *s, size_t first, int planting, attest_error *err)
{
    const size_t count = planting ? s->request->property_count : s->jobs;
    const size_t total = s->jobs + s->request->property_count * (1 + redraws_of(s));
#ifdef _OPENMP
    const int threads = s->request->jobs > 0 ? (int)s->request->jobs : omp_get_num_procs();
#pragma omp parallel num_threads(threads)
#endif
    {
        props_hand h;
        attest_error mine = { "" };
        attest_status status = hand_start(&h, s->request, &mine);
        keep_error(s, status, &mine);
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
        for (size_t i = first; i < count; i++) {
            if (halted(s) || is_late(s, planting))
                continue;
            status = planting ? props_plant(s, i, &h, &mine) : props_run_job(s, &s->job[i], &h, &mine);
            keep_error(s, status, &mine);
            tell_progress(s, total);
        }
        attest_reference_thread_end();
        attest_worker_free(h.worker);
    }
    if (s->status != ATTEST_OK)
        *err = s->err;
    return s->status;
}

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

static attest_status choose_kernels(props_state *s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_worker *worker = NULL;
    const attest_props_request *request = s->request;
    char why[256] = "";
    size_t matched = 0;
    ATTEST_TRY(attest_props_start(&worker, request, err));
    const size_t count = attest_worker_kernel_count(worker);
    s->kernel = calloc(count + 1, sizeof *s->kernel);
    if (!s->kernel)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels", count));
    for (size_t k = 0; k < count; k++) {
        const attest_kernel_facts *facts = attest_worker_kernel(worker, k);
        const int here = facts->device_type == ATTEST_CPU || facts->device_type == ATTEST_CUDA_HOST;
        if (!here || (request->kernel_glob && fnmatch(request->kernel_glob, facts->name, 0) != 0))
            continue;
        matched++;
        ATTEST_TRY(attest_device_settings(facts->device_type, err));
        if (request->problem && attest_worker_supports(worker, k, &request->problem->problem, why, sizeof why) == 0)
            continue;
        s->kernel[s->kernels++] = k;
        ATTEST_TRY(attest_name_fits(request->library, facts->name, err));
    }
    if (s->kernels == 0 && matched > 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "--problem: no kernel serves it; the last one: %s", why));
    if (s->kernels == 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "--kernel=%s: no kernel that runs on the CPU matches",
                               request->kernel_glob ? request->kernel_glob : "*"));
out:
    attest_worker_free(worker);
    return status;
}

/* The request with its properties: all where it names none. */
static attest_props_request resolve(const attest_props_request *asked)
{
    attest_props_request request = *asked;
    if (!request.property) {
        request.property = attest_properties;
        request.property_count = attest_property_count;
    }
    return request;
}

static attest_status choose(props_state *s, attest_error *err)
{
    const attest_props_request *request = s->request;
    size_t chosen = 0;
    for (size_t k = 0; k < request->property_count; k++)
        chosen += props_selected(request, request->property[k]) != 0;
    if (chosen == 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--property=%s: no property matches (`attest list properties`)",
                           request->property_glob);
    return choose_kernels(s, err);
}

attest_status attest_props_check(const attest_props_request *asked, attest_error *err)
{
    const attest_props_request request = resolve(asked);
    props_state s = { .request = &request };
    const attest_status status = choose(&s, err);
    free(s.kernel);
    return status;
}

static attest_status grow(props_state *s, size_t more, attest_error *err)
{
    const size_t jobs = s->jobs + more;
    props_job *j = realloc(s->job, jobs * sizeof *j);
    if (j)
        s->job = j;
    props_verdict *v = realloc(s->verdict, jobs * s->request->property_count * sizeof *v);
    if (v)
        s->verdict = v;
    unsigned char *l = realloc(s->label, jobs * attest_label_count + 1);
    if (l)
        s->label = l;
    if (!j || !v || !l)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", jobs);
    memset(s->job + s->jobs, 0, more * sizeof *j);
    memset(s->verdict + s->jobs * s->request->property_count, 0, more * s->request->property_count * sizeof *v);
    memset(s->label + s->jobs * attest_label_count, 0, more * attest_label_count);
    s->jobs = jobs;
    return ATTEST_OK;
}

static attest_status add_cases(props_state *s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const size_t cases = (size_t)s->request->cases, at_edges = s->request->problem ? 0 : s->kernels * EDGES;
    ATTEST_TRY(grow(s, at_edges + cases, err));
    for (size_t i = 0; i < s->jobs; i++) {
        props_job *j = &s->job[i];
        const size_t drawn = i - at_edges;
        if (i < at_edges)
            *j = (props_job){ .kernel = i / EDGES, .line = edges[i % EDGES], .number = (uint32_t)(i % EDGES) };
        else
            *j = (props_job){ .kernel = drawn % s->kernels, .number = (uint32_t)drawn, .given = s->request->problem };
    }
out:
    return status;
}

/* Redraws of each property's largest ratio; `cases` holds their problems. */
static attest_status add_redraws(props_state *s, attest_case *cases, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const size_t jobs = s->jobs, redraws = redraws_of(s);
    props_hand h;
    ATTEST_TRY(hand_start(&h, s->request, err));
    for (size_t k = 0; k < s->request->property_count; k++) {
        size_t best = jobs;
        float ratio = 0;
        for (size_t i = 0; i < jobs; i++) {
            const props_verdict *v = &s->verdict[i * s->request->property_count + k];
            if (!v->broken && v->ratio > ratio) {
                ratio = v->ratio;
                best = i;
            }
        }
        if (best == jobs)
            continue;
        int starved; /* not so: it has been judged */
        const props_job from = s->job[best];
        h.world.subject.index = s->kernel[from.kernel];
        ATTEST_TRY(props_make_case(&cases[k], &starved, &from, s, &h, err));
        ATTEST_TRY(grow(s, redraws, err));
        for (size_t i = s->jobs - redraws; i < s->jobs; i++)
            s->job[i] = (props_job){ .kernel = from.kernel,
                                     .given = &cases[k],
                                     .number = from.number + (uint32_t)(i + 1) * REDRAW_STEP };
    }
out:
    attest_worker_free(h.worker);
    return status;
}

static int by_order(const void *a, const void *b)
{
    const size_t x = ((const attest_props_failure *)a)->order, y = ((const attest_props_failure *)b)->order;
    return (x > y) - (x < y);
}

/* Floors that are missed count unless no kernel of the run can meet them. */
static attest_status set_floors(props_state *s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_props_result *r = s->result;
    props_hand h;
    ATTEST_TRY(hand_start(&h, s->request, err));
    for (size_t k = 0; k < attest_label_count; k++) {
        int possible = 0;
        r->floor[k] = attest_label_floor(&attest_labels[k], s->request->cases);
        if (s->request->library && r->floor[k] > 1)
            r->floor[k] = 1; /* the others are those of the mix of built-in kernels */
        for (size_t i = 0; r->label[k] < r->floor[k] && i < s->kernels && !possible; i++) {
            h.world.subject.index = s->kernel[i];
            const attest_prop_kernel kernel = attest_props_kernel(&h.world.subject);
            possible = attest_label_possible(&attest_labels[k], s->request->seed, &kernel, &h.host);
        }
        if (r->label[k] < r->floor[k] && !possible)
            r->floor[k] = 0;
    }
out:
    attest_worker_free(h.worker);
    return status;
}

static void count_all(props_state *s)
{
    attest_props_result *r = s->result;
    r->kernels = (int64_t)s->kernels;
    if (r->failure_count > 0)
        qsort(r->failure, r->failure_count, sizeof *r->failure, by_order);
    for (size_t i = 0; i < s->jobs; i++) {
        const props_job *j = &s->job[i];
        r->cases += j->ran;
        r->edges += j->ran && j->line;
        r->redraws += j->ran && j->given && j->given != s->request->problem;
        r->starved += j->starved && !j->line;
        r->refused += j->refused;
        r->runs += j->runs;
        r->elements += j->elements;
        for (size_t k = 0; k < attest_label_count; k++)
            r->label[k] += s->label[i * attest_label_count + k];
        for (size_t k = 0; k < s->request->property_count; k++) {
            const props_verdict *v = &s->verdict[i * s->request->property_count + k];
            r->count[k].asked += v->asked;
            r->count[k].compared += v->compared;
            r->count[k].broken += v->broken;
            if (!v->broken && (double)v->ratio > r->count[k].ratio)
                r->count[k].ratio = (double)v->ratio;
        }
    }
}

attest_status attest_props_run(attest_props_result *result, const attest_props_request *asked, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_props_request resolved = resolve(asked), *request = &resolved;
    props_state s = { .request = request,
                      .result = result,
                      .until = request->seconds > 0 ? attest_now_seconds() + request->seconds : INFINITY };
    const size_t count = resolved.property_count;
    attest_case *redrawn = calloc(count, sizeof *redrawn);
    *result = (attest_props_result){ .property = resolved.property, .property_count = count };
    result->count = calloc(count, sizeof *result->count);
    result->label = calloc(attest_label_count + 1, sizeof *result->label);
    result->floor = calloc(attest_label_count + 1, sizeof *result->floor);
    if (!redrawn || !result->count || !result->label || !result->floor)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the counts of properties"));
    ATTEST_TRY(choose(&s, err));
    for (size_t k = 0; k < count; k++)
        result->count[k].selected = props_selected(request, resolved.property[k]);
    ATTEST_TRY(add_cases(&s, err));
    ATTEST_TRY(run_all(&s, 0, 0, err));
    const size_t cases = s.jobs;
    if (!s.stop && request->reference && !(attest_now_seconds() > s.until)) {
        ATTEST_TRY(add_redraws(&s, redrawn, err));
        ATTEST_TRY(run_all(&s, cases, 0, err));
    }
    if (!request->stop)
        ATTEST_TRY(run_all(&s, 0, 1, err));
    count_all(&s);
    if (request->floors)
        ATTEST_TRY(set_floors(&s, err));
out:
    free(redrawn);
    free(s.job);
    free(s.verdict);
    free(s.label);
    free(s.kernel);
    return status;
}

void attest_props_result_clear(attest_props_result *result)
{
    free(result->count);
    free(result->label);
    free(result->floor);
    free(result->failure);
    memset(result, 0, sizeof *result);
}
