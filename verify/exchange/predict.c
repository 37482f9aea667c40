/* predict.c - runs cuda-host kernels under a GPU's model and keeps what they give; see predict.h. */
#include "verify/exchange/predict.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/model/mma.h"
#include "verify/compare/compare.h"
#include "verify/exchange/predict_private.h"

#define VARIABLE "ATTEST_CUDA_HOST_GPU" /* kernels/cuda/host/machine.h */

/* Kernels of attest every operation of which is named.  `make fingerprints` finds kernels that do not belong here. */
static const char *const named[] = {
    "softmax-flash-cuda-bf16", "softmax-flash-cuda-f16", "softmax-flash-cuda-f32", "softmax-decode-cuda-f32",
    "linear-chunk-cuda-f32",   "taylor-packed-cuda-f32", "taylor-chunk-cuda-bf16", "delta-chunk-cuda-f32",
};

static const char nobody_looked[] = "it is not known whether every operation of this kernel is named";

/* Kernels whose bits no model here knows.  `make fingerprints` finds kernels that belong here. */
static const struct {
    const char *kernel, *why;
} beyond[] = {
    { "softmax-online-cuda-f32",
      "it calls expf and logf of CUDA's library, and leaves nvcc which products and sums are contracted" },
};

int attest_predict_wants(const void *context, const attest_kernel_facts *kernel)
{
    const char *glob = context;
    return kernel->device_type == ATTEST_CUDA_HOST && (!glob || fnmatch(glob, kernel->name, 0) == 0);
}

typedef struct predicting {
    const attest_predict_request *request;
    attest_predicted *done;
    attest_output list; /* predictions.jsonl */
    const attest_plan_kernel *kernel;
    attest_worker *model, *exact; /* the kernel under the GPU's rule; with exact sums, NULL: it has no tensor cores */
    size_t number;                /* of its cases so far */
    unsigned char *again;         /* of each case of the suite: 1: an earlier one has its line */
} predicting;

/* The file lies in the folder of attest's own libraries. */
static int is_own(const char *library, const char *plugins)
{
    char folder[ATTEST_PREDICT_PATH];
    struct stat theirs, ours;
    const char *slash = strrchr(library, '/');
    const int len = slash ? (int)(slash - library) : 0;
    return plugins && snprintf(folder, sizeof folder, "%.*s/", len, len ? library : ".") < (int)sizeof folder &&
           stat(folder, &theirs) == 0 && stat(plugins, &ours) == 0 && theirs.st_dev == ours.st_dev &&
           theirs.st_ino == ours.st_ino;
}

static const char *unsure_of(const predicting *s)
{
    const attest_plan *plan = s->request->plan;
    int known = 0;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        known |= strcmp(named[i], s->kernel->facts.name) == 0;
    return known && is_own(plan->library[s->kernel->library].path, s->request->plugins) ? NULL : nobody_looked;
}

static attest_status give(predicting *s, const attest_prediction *p, attest_error *err)
{
    const attest_predict_request *request = s->request;
    attest_status status = ATTEST_OK;
    s->done->not_predicted += p->cannot[0] != '\0';
    s->done->cases += p->cannot[0] == '\0';
    s->done->unsure += p->cannot[0] == '\0' && p->unsure;
    if (request->dir)
        status = attest_predict_write(s->list.file, request->dir, p, err);
    if (status == ATTEST_OK && request->tell)
        request->tell(request->context, p);
    return status;
}

static void begin(attest_prediction *p, const predicting *s)
{
    const attest_kernel_facts *facts = &s->kernel->facts;
    memset(p, 0, sizeof *p);
    snprintf(p->kernel, sizeof p->kernel, "%s", facts->name);
    snprintf(p->version, sizeof p->version, "%s", facts->version);
    snprintf(p->gpu, sizeof p->gpu, "%s", s->request->gpu);
    const attest_plan_library *library = &s->request->plan->library[s->kernel->library];
    const char *slash = strrchr(library->path, '/');
    snprintf(p->library, sizeof p->library, "%s", slash ? slash + 1 : library->path);
    snprintf(p->file_hash, sizeof p->file_hash, "%s", library->file.hash);
    p->unsure = unsure_of(s);
    p->tensor_cores = facts->numerics.acc_truncates == ATTEST_YES;
    attest_result_init(&p->result);
}

/* ---- one case ---------------------------------------------------------------------------------------------------- */
/* *outputs is the caller's, NULL: the run ended badly, and how. */
static attest_status run(attest_bundle **outputs, attest_run_result *run, attest_worker *worker, const predicting *s,
                         const attest_prepared *prepared, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_case_bundle(outputs, prepared, &s->kernel->facts, err));
    status = attest_worker_run(worker, s->kernel->index, &prepared->c.problem, *outputs, s->request->timeout_s, run,
                               err);
    if (status == ATTEST_OK && (run->state != ATTEST_RUN_DONE || run->status != ATTEST_OK || run->reasons)) {
        attest_bundle_free(*outputs);
        *outputs = NULL;
    }
out:
    return status;
}

static attest_status compare(attest_result *result, predicting *s, const attest_prepared *prepared,
                             const attest_bundle *outputs, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_declared declared;
    ATTEST_TRY(attest_worker_declared(s->model, s->kernel->index, &prepared->c.problem, &declared, err));
    status = attest_compare(result, prepared->truth, NULL, &prepared->c, outputs, &declared.numerics, declared.flags, 0,
                            err);
out:
    return status;
}

/* An end of the run with exact sums costs `hardware`, and nothing of the prediction. */
static attest_status ask_exact(attest_prediction *p, predicting *s, const attest_prepared *prepared, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *outputs = NULL;
    attest_run_result ended;
    attest_result *result = NULL;
    if (!s->exact)
        return ATTEST_OK;
    ATTEST_TRY(run(&outputs, &ended, s->exact, s, prepared, err));
    result = malloc(sizeof *result);
    if (!result)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for a result"));
    attest_result_init(result);
    if (!outputs) {
        s->done->died += attest_result_death(result, &ended, "");
        s->done->no_hardware++;
        snprintf(p->no_hardware, sizeof p->no_hardware, "with exact sums: %.230s", ended.why);
        goto out;
    }
    ATTEST_TRY(compare(result, s, prepared, outputs, err));
    attest_predict_measure(&p->hardware, attest_bundle_role(p->outputs, ATTEST_O),
                           attest_bundle_role(outputs, ATTEST_O));
    p->hardware.norm_error = result->norm_error;
out:
    free(result);
    attest_bundle_free(outputs);
    return status;
}

static attest_status predict_case(predicting *s, const attest_case *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { .index = 0 };
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_bundle *outputs = NULL;
    attest_run_result ended;
    attest_prediction p;
    begin(&p, s);
    ATTEST_TRY(attest_prepare_inputs(&prepared, c, NULL, err));
    attest_result_describe(&p.result, c, prepared.line, prepared.hash);
    attest_predict_hash(p.inputs, prepared.inputs, ids, attest_problem_inputs(&c->problem, ids, ATTEST_MAX_TENSORS));
    snprintf(p.folder, sizeof p.folder, "%s/%04zu", p.kernel, ++s->number);
    ATTEST_TRY(run(&outputs, &ended, s->model, s, &prepared, err));
    p.outputs = outputs;
    if (outputs) {
        ATTEST_TRY(compare(&p.result, s, &prepared, outputs, err));
        attest_predict_hash(p.result.outputs, outputs, ids,
                            attest_problem_outputs(&c->problem, ids, ATTEST_MAX_TENSORS));
        ATTEST_TRY(ask_exact(&p, s, &prepared, err));
    } else {
        s->done->died += attest_result_death(&p.result, &ended, "");
        snprintf(p.cannot, sizeof p.cannot, "%.250s", ended.why);
    }
    status = give(s, &p, err);
out:
    attest_bundle_free(outputs);
    attest_prepared_clear(&prepared);
    return status;
}

/* ---- a kernel ---------------------------------------------------------------------------------------------------- */
/* *worker runs the kernel under this name's tensor cores. */
static attest_status start(attest_worker **worker, const predicting *s, const char *gpu, attest_error *err)
{
    const attest_status status = attest_plan_start(worker, s->request->plan, s->kernel->library, s->request->timeout_s,
                                                   err);
    if (status == ATTEST_OK)
        attest_worker_set(*worker, VARIABLE, gpu);
    return status;
}

static attest_status predict_kernel(predicting *s, attest_error *err)
{
    const attest_suite *suite = s->request->suite;
    attest_status status = ATTEST_OK;
    attest_prediction p;
    char why[256];
    begin(&p, s);
    s->number = 0;
    s->done->kernels++;
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        if (strcmp(beyond[i].kernel, p.kernel) == 0) {
            snprintf(p.cannot, sizeof p.cannot, "%s", beyond[i].why);
            return give(s, &p, err);
        }
    ATTEST_TRY(start(&s->model, s, s->request->gpu, err));
    if (p.tensor_cores)
        ATTEST_TRY(start(&s->exact, s, "exact", err));
    for (size_t i = 0; i < suite->case_count; i++) {
        attest_case c;
        if (s->again[i])
            continue;
        attest_suite_case(&c, suite, i);
        /* No answer is no refusal: the run then tells what kind of end that is. */
        if (attest_worker_supports(s->model, s->kernel->index, &c.problem, why, sizeof why) != 0)
            ATTEST_TRY(predict_case(s, &c, err));
    }
out:
    attest_worker_free(s->model);
    attest_worker_free(s->exact);
    s->model = s->exact = NULL;
    return status;
}

int attest_predict_knows(const char *gpu) { return mma_core_of(gpu) != NULL; }

static attest_status check(const attest_predict_request *request, attest_error *err)
{
    char path[ATTEST_PREDICT_PATH];
    attest_status status = ATTEST_OK;
    if (!attest_predict_knows(request->gpu))
        return attest_fail(err, ATTEST_BAD_INPUT, "--gpu=%.80s: v100, a100, a2, ada, l40s, h100, h200 or b200",
                           request->gpu);
    if (request->plan->kernel_count == 0)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "no kernel of device cuda-host has that name (`attest list kernels`)");
    if (!request->dir)
        return ATTEST_OK;
    ATTEST_TRY(attest_output_dir(request->dir, err));
    ATTEST_TRY(attest_predict_path(path, request->dir, NULL, ATTEST_PREDICTIONS, err));
    if (access(path, F_OK) == 0)
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: there already; predictions go into a new folder", path);
out:
    return status;
}

typedef struct place {
    const char *line;
    size_t index;
} place;

static int by_line(const void *a, const void *b)
{
    const place *x = a, *y = b;
    const int order = strcmp(x->line, y->line);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Two predictions of one case would be refused where they are read. */
static attest_status find_again(predicting *s, attest_error *err)
{
    const attest_suite *suite = s->request->suite;
    const size_t count = suite->case_count;
    place *sorted = malloc((count + 1) * sizeof *sorted);
    s->again = calloc(count + 1, 1);
    if (!sorted || !s->again) {
        free(sorted);
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", count);
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = (place){ attest_suite_line(suite, i), i };
    qsort(sorted, count, sizeof *sorted, by_line);
    for (size_t i = 1; i < count; i++)
        s->again[sorted[i].index] = strcmp(sorted[i].line, sorted[i - 1].line) == 0;
    free(sorted);
    return ATTEST_OK;
}

/* Of its name: predictions are found by it. */
static int is_first(const attest_plan *plan, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (strcmp(plan->kernel[i].facts.name, plan->kernel[k].facts.name) == 0)
            return 0;
    return 1;
}

attest_status attest_predict(attest_predicted *done, const attest_predict_request *request, attest_error *err)
{
    attest_status status = ATTEST_OK;
    predicting s = { .request = request, .done = done };
    char path[ATTEST_PREDICT_PATH];
    *done = (attest_predicted){ 0 };
    ATTEST_TRY(check(request, err));
    ATTEST_TRY(find_again(&s, err));
    if (request->dir) {
        ATTEST_TRY(attest_predict_path(path, request->dir, NULL, ATTEST_PREDICTIONS, err));
        ATTEST_TRY(attest_output_open(&s.list, path, err));
    }
    for (size_t k = 0; k < request->plan->kernel_count; k++) {
        s.kernel = &request->plan->kernel[k];
        if (is_first(request->plan, k))
            ATTEST_TRY(predict_kernel(&s, err));
    }
out:
    if (s.list.file)
        status = attest_output_close(&s.list, status, err);
    free(s.again);
    return status;
}
