/* worker_run.c - one case of one kernel: lay the tensors out, run, look what the kernel did to them.
 *
 * The two runs in C order differ in everything that must not matter.  In the first, data ends as near to the guard
 * after it as alignment allows; in the second it starts right at the guard before it.  Outputs are filled with
 * another NaN, workspace with other bytes; on a device it is on a stream of its own, where the library has one, and on
 * cuda-host its threads go in another order.
 * On some cases the first looks like use and not like a test
 * (worker_disguise.h).  The run by strides is one, like the first, but never in disguise.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "kernels/door/door.h"
#include "reports/result.h"
#include "verify/base/base.h"
#include "verify/worker/worker_look.h"

#define NEAR_NULL 65536

/* ---- the end of a worker -------------------------------------------------------------------------------- */
/* The reason that a fault's address gives, with the words.  The worker wrote it: every field may be anything. */
static void explain_fault(attest_run_result *result, const attest_fault *f, const attest_layout *l)
{
    char name[32], text[160];
    const size_t n = strlen(result->why);
    if (f->valid && !f->found)
        snprintf(result->why + n, sizeof result->why - n, "%s",
                 f->address < NEAR_NULL ? ": at an address near NULL" : ": at an address of no tensor");
    if (!f->valid || !f->found || !l || f->segment >= l->table.count)
        return;
    const attest_segment *s = &l->table.segment[f->segment];
    const int write = f->access == 2 || (f->access == 0 && s->use != ATTEST_SEGMENT_INPUT);
    const unsigned long long far = f->distance < 0 ? 0 - (unsigned long long)f->distance
                                                   : (unsigned long long)f->distance;
    attest_segment_name(name, sizeof name, s);
    if (f->place == 0) {
        snprintf(text, sizeof text, "%s %s", write ? "wrote into" : "fault inside", name);
        if (s->use == ATTEST_SEGMENT_INPUT)
            result->reasons |= ATTEST_REASON_WROTE_INPUT;
    } else {
        snprintf(text, sizeof text, "%s %llu bytes %s %s", write ? "wrote" : "read", far,
                 f->place < 0 ? "before" : "past the end of", name);
        result->reasons |= write ? ATTEST_REASON_WROTE_OUTSIDE : ATTEST_REASON_READ_OUTSIDE;
    }
    snprintf(result->why + n, sizeof result->why - n, ": %s", text);
}

/* One question to a kernel, and all that goes with it. */
typedef struct asked {
    attest_worker *worker;
    attest_process *process;
    const attest_bundle *bundle;
    attest_packet_request request;
    uint64_t workspace, room;
    double timeout_s;
    int failed; /* the worker itself could not go on, as where the kernel has lowered a limit */
} asked;

static void explain_death(attest_run_result *result, const asked *a, const attest_layout *l, int wait_status,
                          const char *during)
{
    char death[96];
    attest_worker_death_text(death, sizeof death, wait_status);
    snprintf(result->why, sizeof result->why, "%s ended the process with %s", during, death);
    if (WIFSIGNALED(wait_status)) {
        attest_fault fault = a->process->shared->fault;
        fault.valid &= fault.signal ==
                       WTERMSIG(wait_status); /* else it is told of an earlier end, of a process of its */
        result->state = ATTEST_RUN_CRASH;
        result->signal = WTERMSIG(wait_status);
        result->others = result->signal == SIGKILL;
        explain_fault(result, &fault, l);
    } else {
        result->state = ATTEST_RUN_EXIT;
        result->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
        result->reasons |= ATTEST_REASON_EXIT;
    }
    attest_process_tell_printed(result->why, sizeof result->why, a->process);
}

/* Fills the result when the worker did not answer. */
static void explain_end(attest_run_result *result, const asked *a, const attest_layout *l, attest_exchange x,
                        int wait_status, const char *during)
{
    result->state = x == ATTEST_EXCHANGE_LATE ? ATTEST_RUN_TIMEOUT : ATTEST_RUN_CRASH;
    result->others = x == ATTEST_EXCHANGE_SHORT;
    switch (x) {
    case ATTEST_EXCHANGE_GARBLED: /* only code of the library can have written to the socket */
        snprintf(result->why, sizeof result->why, "%s wrote to the worker's descriptor %d", during,
                 ATTEST_WORKER_SOCKET);
        break;
    case ATTEST_EXCHANGE_LATE:
        snprintf(result->why, sizeof result->why, "%s did not return within %g s", during, a->timeout_s);
        break;
    case ATTEST_EXCHANGE_MEMORY:
        snprintf(result->why, sizeof result->why, "%s used more than %.3g GiB of memory", during,
                 (double)a->process->memory_most / (double)(1u << 30));
        break;
    case ATTEST_EXCHANGE_SHORT:
        snprintf(result->why, sizeof result->why,
                 "%s ran while memory became short, and used more than %.3g GiB of it, or what cannot be read", during,
                 (double)a->process->memory_most / 4 / (double)(1u << 30));
        break;
    default: explain_death(result, a, l, wait_status, during);
    }
}

/* ---- running -------------------------------------------------------------------------------------------- */
/* What one answer to RUN says beside the outputs. */
static void take_answer(attest_run_result *result, const attest_packet_answer *answer, const attest_layout *l, int run)
{
    char name[32];
    const double seconds = answer->seconds < result->seconds_seen ? answer->seconds : result->seconds_seen;
    result->status = (attest_status)answer->status;
    if (run == 0 || seconds < result->seconds)
        result->seconds = seconds;
    if (answer->returned)
        attest_run_blame(result, ATTEST_REASON_KERNEL_ERROR, "run() returned %d, which is no status%s%s",
                         answer->returned, answer->why[0] ? ": " : "", answer->why);
    else if (answer->status != ATTEST_OK)
        attest_run_blame(result, ATTEST_REASON_KERNEL_ERROR, "run() returned status %u%s%s", answer->status,
                         answer->why[0] ? ": " : "", answer->why);
    if (answer->fp_changed) {
        snprintf(result->fp_state, sizeof result->fp_state, "%s", answer->fp_state);
        attest_run_blame(result, ATTEST_REASON_FP_STATE, "left the floating-point state changed: %s", answer->fp_state);
    }
    if (answer->input_changed && answer->input_changed <= l->table.count)
        attest_run_blame(result, ATTEST_REASON_WROTE_INPUT, "wrote into %s",
                         attest_segment_name(name, sizeof name, &l->table.segment[answer->input_changed - 1]));
}

static void explain_strays(attest_run_result *result, uint32_t strays)
{
    const size_t n = strlen(result->why);
    if (strays)
        snprintf(result->why + n, sizeof result->why - n, " (%u %s that its earlier calls left %s there)", strays,
                 strays == 1 ? "thread" : "threads", strays == 1 ? "was" : "were");
}

/* One run on a layout, up to its canaries.  An error status is a fault of ours, or (asked->failed) of the worker. */
static attest_status run_once(attest_run_result *result, asked *a, attest_layout *l, int run, attest_error *err)
{
    attest_packet_answer answer;
    int wait_status = 0;
    attest_layout_fill(l, run);
    const uint32_t strays = a->process->strays;
    const double cpu = attest_process_cpu(a->process), start = attest_now_seconds();
    const attest_exchange x = attest_process_ask(a->process, &a->request, l->memory, &answer, a->timeout_s,
                                                 &wait_status);
    result->seconds_seen = attest_now_seconds() - start;
    if (x != ATTEST_EXCHANGE_OK) {
        explain_end(result, a, l, x, wait_status, "run()");
        explain_strays(result, strays);
        return ATTEST_OK;
    }
    a->failed = answer.harness != ATTEST_OK;
    if (a->failed)
        return attest_fail(err, (attest_status)answer.harness, "attest-worker: %s", answer.why);
    take_answer(result, &answer, l, run);
    if (answer.status == ATTEST_KERNEL_ERROR && attest_door_is(a->worker->library)) /* a program's own words */
        attest_process_tell_printed(result->why, sizeof result->why, a->process);
    result->differs = answer.differs;
    result->own_stream = answer.own_stream != 0;
    result->strays = a->process->strays;
    result->left = a->process->left;
    result->seconds_cpu = attest_process_cpu(a->process) - cpu;
    attest_look_canaries(result, l);
    attest_look_inputs(result, l);
    return ATTEST_OK;
}

static int finished(const attest_run_result *result)
{
    return result->state == ATTEST_RUN_DONE && result->status == ATTEST_OK;
}

static const attest_kernel_facts *kernel_of(const asked *a) { return &a->worker->kernel[a->request.kernel]; }

static attest_status make_layout(attest_layout *l, const asked *a, attest_spread how, attest_error *err)
{
    const attest_status status = attest_layout_make(l, a->worker->page, &a->request.problem, a->bundle, a->workspace,
                                                    a->room, how, err);
    l->order = attest_disguise_of(&a->request.problem, a->bundle).seed;
    l->finite = (kernel_of(a)->flags & ATTEST_MASKED_FINITE) != 0; /* what is no key has weight 0 there */
    return status;
}

static void put_on_disguise(attest_layout *l, const asked *a)
{
    l->alignment = kernel_of(a)->alignment;
    l->disguise = attest_disguise_of(&a->request.problem, a->bundle);
    l->disguise.shift = l->disguise.shift && l->alignment < ATTEST_WORKER_ALIGN;
}

/* The first run in C order, and its outputs.  The layout is made, and cleared by the caller. */
static attest_status run_disguised(attest_run_result *result, asked *a, attest_layout *l, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(make_layout(l, a, ATTEST_SPREAD_NONE, err));
    put_on_disguise(l, a);
    ATTEST_TRY(run_once(result, a, l, 0, err));
    if (result->status == ATTEST_UNSUPPORTED && result->state == ATTEST_RUN_DONE && l->disguise.shift) {
        l->disguise.shift = 0; /* it needs 64 bytes, and says so */
        const double seen = result->seconds_seen, cpu = result->seconds_cpu;
        *result = (attest_run_result){ .fp_state = "ok", .unshifted = 1 };
        ATTEST_TRY(run_once(result, a, l, 0, err));
        result->seconds_seen += seen; /* it had the inputs all that time */
        result->seconds_cpu += cpu;
    }
    attest_disguise_text(result->disguise, sizeof result->disguise, &l->disguise);
    if (finished(result))
        attest_layout_keep(l);
out:
    return status;
}

/* The order of a second run on cuda-host; "": the caller has chosen one for all runs, or there are no such threads.
 * Of those that the machine has, this one shows every missing barrier of tests/kernels/cuda/defects.txt. */
static const char *other_order(const asked *a)
{
    return kernel_of(a)->device_type == ATTEST_CUDA_HOST && !getenv(ATTEST_WORKER_ORDER) ? "greedy-reverse" : "";
}

static void order_text(char *text, size_t len, const asked *a)
{
    const char *order = other_order(a);
    snprintf(text, len, *order ? ", the second with another order of threads (%s)" : "%s", order);
}

static attest_status run_on(attest_run_result *result, asked *a, attest_layout *l, int own_stream, attest_error *err)
{
    a->request.own_stream = (uint32_t)own_stream;
    snprintf(a->request.order, sizeof a->request.order, "%s", other_order(a));
    const attest_status status = run_once(result, a, l, 1, err);
    a->request.own_stream = 0;
    a->request.order[0] = '\0';
    return status;
}

/* On a device on a stream of its own.  NaN there are of the stream if they come again, and on the default one do not:
 * then the outputs that lie in the layout are of the default one. */
static attest_status run_second(attest_run_result *result, asked *a, attest_layout *l, attest_error *err)
{
    char where[160], other[160];
    attest_status status = ATTEST_OK;
    ATTEST_TRY(run_on(result, a, l, kernel_of(a)->device_type != ATTEST_CPU, err));
    int early = finished(result) && result->own_stream && attest_look_early(where, sizeof where, l);
    if (!early)
        goto out;
    for (int own = 1; own >= 0 && early; own--) {
        ATTEST_TRY(run_on(result, a, l, own, err));
        early = finished(result) && attest_look_early(other, sizeof other, l) == own;
    }
    if (early)
        attest_run_blame(result, ATTEST_REASON_NAN_PATTERN,
                         "%s is NaN on a stream of its own: not all work is put on attest_call.stream", where);
out:
    return status;
}

static attest_status run_twice(attest_run_result *result, asked *a, attest_error *err)
{
    attest_layout l;
    char order[80];
    attest_status status = run_disguised(result, a, &l, err);
    if (status == ATTEST_OK && finished(result)) {
        order_text(order, sizeof order, a);
        status = run_second(result, a, &l, err);
        if (status == ATTEST_OK && finished(result))
            attest_look_outputs(result, &l, (kernel_of(a)->flags & ATTEST_DETERMINISTIC) != 0, order);
        else if (status == ATTEST_OK) /* it failed, the first did not */
            snprintf(result->why + strlen(result->why), sizeof result->why - strlen(result->why), "%s", order);
    }
    attest_layout_clear(&l);
    return status;
}

static attest_status run_alone(attest_run_result *result, asked *a, attest_error *err)
{
    attest_layout l;
    const attest_status status = run_disguised(result, a, &l, err);
    attest_layout_clear(&l);
    return status;
}

/* As many calls as the request says; the outputs of the last one. */
static attest_status run_often(attest_run_result *result, asked *a, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_layout l;
    ATTEST_TRY(make_layout(&l, a, ATTEST_SPREAD_NONE, err));
    ATTEST_TRY(run_once(result, a, &l, 0, err));
    if (finished(result))
        attest_layout_keep(&l);
out:
    attest_layout_clear(&l);
    return status;
}

/* Far apart where that can be; else near each other, with the reason in `why`. */
static attest_status run_spread(attest_run_result *result, asked *a, attest_error *err)
{
    const int host = kernel_of(a)->device_type == ATTEST_CPU;
    attest_status status = ATTEST_OK;
    attest_layout l = { .memory = -1 };
    for (attest_spread how = host ? ATTEST_SPREAD_FAR : ATTEST_SPREAD_NEAR; how != ATTEST_SPREAD_NONE; how--) {
        attest_layout_clear(&l);
        ATTEST_TRY(make_layout(&l, a, how, err));
        status = run_once(result, a, &l, 0, err);
        if (status != ATTEST_NO_MEMORY || !l.far)
            break;
        result->near = 1;
    }
    if (status == ATTEST_OK && finished(result)) {
        attest_layout_keep(&l);
        attest_look_gaps(result, &l);
    }
out:
    attest_layout_clear(&l);
    return status;
}

typedef attest_status runs(attest_run_result *result, asked *a, attest_error *err);

/* A worker that cannot serve, for a reason that a kernel may have made: its result. */
static void tell_no_worker(attest_run_result *result, const char *what, const attest_error *err)
{
    *result = (attest_run_result){ .state = ATTEST_RUN_CRASH, .others = 1, .fp_state = "ok" };
    snprintf(result->why, sizeof result->why, "%s: %.200s", what, err->text);
}

/* Asks supports(); fills the result unless run() is to be called. */
static void ask_supports(attest_run_result *result, asked *a)
{
    attest_packet_answer answer;
    int wait_status = 0;
    const uint32_t strays = a->process->strays;
    a->request.type = ATTEST_PACKET_QUERY;
    const attest_exchange x = attest_process_ask(a->process, &a->request, -1, &answer, a->timeout_s, &wait_status);
    if (x != ATTEST_EXCHANGE_OK) {
        explain_end(result, a, NULL, x, wait_status, attest_process_asking(a->process));
        explain_strays(result, strays);
        return;
    }
    if (!answer.supported) {
        result->state = ATTEST_RUN_UNSUPPORTED;
        snprintf(result->why, sizeof result->why, "%s", answer.why);
        return;
    }
    a->workspace = answer.workspace;
    if (answer.workspace > a->process->memory_most) {
        result->status = ATTEST_NO_MEMORY;
        attest_run_blame(result, ATTEST_REASON_KERNEL_ERROR,
                         "asks for %llu bytes of workspace: more than half of the memory",
                         (unsigned long long)answer.workspace);
    }
}

static attest_status try_case(asked *a, runs *how, attest_run_result *result, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *result = (attest_run_result){ .fp_state = "ok" };
    a->failed = 0;
    if (how == run_spread && kernel_of(a)->needs & ATTEST_NEEDS_C_ORDER) {
        result->status = ATTEST_UNSUPPORTED;
        snprintf(result->why, sizeof result->why, "the kernel needs tensors in C order");
        return ATTEST_OK;
    }
    if (attest_worker_alive(&a->process, a->worker, a->request.kernel, err) != ATTEST_OK) {
        tell_no_worker(result, "the worker did not start again", err);
        return ATTEST_OK;
    }
    ask_supports(result, a);
    if (finished(result)) {
        a->request.type = ATTEST_PACKET_RUN;
        status = how(result, a, err);
    }
    if (a->failed && status != ATTEST_OK) {
        tell_no_worker(result, "the worker could not go on", err);
        attest_process_kill(a->process);
        status = ATTEST_OK;
    }
    if (a->process->left || (kernel_of(a)->device_type != ATTEST_CPU && result->reasons & ATTEST_REASON_KERNEL_ERROR))
        attest_process_kill(a->process); /* after an error a device may refuse all that follows, of any kernel */
    attest_worker_keep_output(a->worker, a->process);
    return status;
}

/* SIGKILL comes from outside, as a rule (a system short of memory), little memory may be what others left, and what
 * keeps a worker from going on may be of an earlier case: such an end is believed the second time. */
static attest_status run_case(attest_worker *worker, size_t index, const attest_problem *p, const attest_bundle *bundle,
                              runs *how, uint32_t calls, uint32_t pages, double timeout_s, attest_run_result *result,
                              attest_error *err)
{
    asked a = { .worker = worker, .bundle = bundle, .room = pages * worker->page, .timeout_s = timeout_s };
    if (index < worker->kernel_count && worker->kernel[index].device_type == ATTEST_CUDA_HOST)
        a.timeout_s *= ATTEST_CUDA_HOST_LONGER;
    if (index >= worker->kernel_count) {
        memset(result, 0, sizeof *result);
        return attest_fail(err, ATTEST_INTERNAL, "kernel %zu of %zu asked for", index, worker->kernel_count);
    }
    a.request = (attest_packet_request){
        .kernel = (uint32_t)index,
        .calls = calls,
        .compare = (worker->kernel[index].flags & ATTEST_DETERMINISTIC) != 0,
        .problem = *p,
    };
    attest_status status = try_case(&a, how, result, err);
    if (status != ATTEST_OK || !result->others)
        return status;
    char first[sizeof result->why];
    memcpy(first, result->why, sizeof first);
    status = try_case(&a, how, result, err);
    const size_t n = strlen(result->why);
    if (status == ATTEST_OK && result->others && strcmp(first, result->why) == 0)
        snprintf(result->why + n, sizeof result->why - n, ", twice");
    return status;
}

attest_status attest_worker_run(attest_worker *worker, size_t index, const attest_problem *p,
                                const attest_bundle *bundle, double timeout_s, attest_run_result *result,
                                attest_error *err)
{
    return run_case(worker, index, p, bundle, run_twice, 1, 0, timeout_s, result, err);
}

attest_status attest_worker_run_strided(attest_worker *worker, size_t index, const attest_problem *p,
                                        const attest_bundle *bundle, double timeout_s, attest_run_result *result,
                                        attest_error *err)
{
    return run_case(worker, index, p, bundle, run_spread, 1, 0, timeout_s, result, err);
}

attest_status attest_worker_run_often(attest_worker *worker, size_t index, const attest_problem *p,
                                      const attest_bundle *bundle, uint32_t calls, double timeout_s,
                                      attest_run_result *result, attest_error *err)
{
    return run_case(worker, index, p, bundle, run_often, calls, 0, timeout_s, result, err);
}

attest_status attest_worker_run_once(attest_worker *worker, size_t index, const attest_problem *p,
                                     const attest_bundle *bundle, uint32_t pages, double timeout_s,
                                     attest_run_result *result, attest_error *err)
{
    return run_case(worker, index, p, bundle, run_alone, 1, pages, timeout_s, result, err);
}
