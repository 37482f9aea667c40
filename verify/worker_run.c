/* worker_run.c - one case of one kernel: lay the tensors out, run twice, look what the kernel did to them.
 *
 * The two runs differ in everything that must not matter.  In the first, data ends as near to the guard
 * after it as alignment allows; in the second it starts right at the guard before it.  Outputs are filled
 * with another NaN, workspace with other bytes.  What stays around the data is canary: 0xff beside inputs
 * (a NaN in every format, so that what is read past the end spoils the result), 0xa5 beside the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reports/row.h"
#include "verify/worker_private.h"

#define RUNS 2
#define NEAR_NULL 65536

/* NaN patterns of untouched output elements, per run and dtype: quiet, with a payload no kernel makes. */
static const uint64_t poison[RUNS][ATTEST_DTYPE_COUNT] = {
    { [ATTEST_F32] = 0x7fc0dead, [ATTEST_F64] = 0x7ff8dead0badcafe, [ATTEST_F16] = 0x7e5d, [ATTEST_BF16] = 0x7fdd },
    { [ATTEST_F32] = 0xffd5beef, [ATTEST_F64] = 0xfffbbeef0ddba115, [ATTEST_F16] = 0xff2b, [ATTEST_BF16] = 0xffeb }
};

static const unsigned char workspace_fill[RUNS] = { 0xff, 0x7b };

typedef struct layout {
    attest_tensor_id id[ATTEST_MAX_TENSORS];
    attest_tensor *tensor[ATTEST_MAX_TENSORS]; /* of the bundle; NULL for the workspace */
    uint32_t count;                            /* segments */
    uint64_t bytes;                            /* of the memfd */
    unsigned char *base;                       /* the whole memfd, mapped */
} layout;

static uint64_t round_up(uint64_t x, uint64_t unit) { return (x + unit - 1) / unit * unit; }

static unsigned char canary(uint32_t use) { return use == ATTEST_SEGMENT_INPUT ? 0xff : 0xa5; }

/* ---- layout --------------------------------------------------------------------------------------------- */
static void add_segment(layout *l, attest_shared *shared, size_t page, uint32_t use, attest_tensor_id id,
                        attest_tensor *t, uint64_t size)
{
    attest_segment *s = &shared->segment[l->count];
    memset(s, 0, sizeof *s);
    s->use = use;
    s->kind = id.kind;
    s->index = id.index;
    s->size = size;
    s->bytes = round_up(size ? size : 1, page);
    s->offset = l->bytes;
    if (t) {
        s->tensor = *t;
        s->tensor.data = NULL;
        int64_t stride = 1;
        for (int axis = t->rank - 1; axis >= 0; axis--) {
            s->tensor.stride[axis] = stride;
            stride *= t->shape[axis];
        }
        l->id[l->count] = id;
        l->tensor[l->count] = t;
    }
    l->bytes += s->bytes;
    l->count++;
}

/* Lists the inputs that the problem uses, then the outputs that the bundle holds, then the workspace. */
static attest_status make_layout(layout *l, attest_worker *worker, const attest_problem *p,
                                 const attest_bundle *bundle, uint64_t workspace, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    char name[32];
    memset(l, 0, sizeof *l);
    l->bytes = round_up(sizeof(attest_shared), worker->page);
    const size_t inputs = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    const size_t outputs = attest_problem_outputs(p, ids + inputs, ATTEST_MAX_TENSORS - inputs);
    for (size_t i = 0; i < inputs + outputs; i++) {
        attest_tensor *t = attest_bundle_get(bundle, ids[i]);
        if (!t && i < inputs) {
            attest_tensor_id_print(name, sizeof name, ids[i]);
            return attest_fail(err, ATTEST_INTERNAL, "the kernel's input %s is not in the bundle", name);
        }
        if (t)
            add_segment(l, worker->shared, worker->page, i < inputs ? ATTEST_SEGMENT_INPUT : ATTEST_SEGMENT_OUTPUT,
                        ids[i], t, attest_tensor_bytes(t));
    }
    const attest_tensor_id none = { UINT32_MAX, 0 };
    if (workspace)
        add_segment(l, worker->shared, worker->page, ATTEST_SEGMENT_WORKSPACE, none, NULL, workspace);
    worker->shared->segment_count = l->count;
    return ATTEST_OK;
}

static attest_status map_layout(layout *l, const attest_worker *worker, attest_error *err)
{
    const size_t header = (size_t)round_up(sizeof(attest_shared), worker->page);
    int failed = 0;
    if (ftruncate(worker->memory, (off_t)header) < 0 || ftruncate(worker->memory, (off_t)l->bytes) < 0)
        return attest_fail(err, ATTEST_IO, "cannot size shared memory: %s", strerror(errno));
    do /* takes the pages now, so that a lack of memory is an error and not a SIGBUS */
        failed = posix_fallocate(worker->memory, 0, (off_t)l->bytes);
    while (failed == EINTR);
    if (failed)
        return attest_fail(err, ATTEST_NO_MEMORY, "%llu bytes of shared memory: %s", (unsigned long long)l->bytes,
                           strerror(failed));
    void *at = mmap(NULL, (size_t)l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, worker->memory, 0);
    if (at == MAP_FAILED)
        return attest_fail(err, ATTEST_NO_MEMORY, "cannot map %llu bytes: %s", (unsigned long long)l->bytes,
                           strerror(errno));
    l->base = at;
    return ATTEST_OK;
}

static void clear_layout(layout *l)
{
    if (l->base)
        munmap(l->base, (size_t)l->bytes);
    l->base = NULL;
}

/* A tensor in the memfd. */
static attest_tensor view_of(const layout *l, const attest_segment *s)
{
    attest_tensor t = s->tensor;
    t.data = l->base + s->offset + s->start;
    return t;
}

/* ---- filling and looking -------------------------------------------------------------------------------- */
static int same_strides(const attest_tensor *a, const attest_tensor *b)
{
    for (int axis = 0; axis < a->rank; axis++)
        if (a->shape[axis] > 1 && a->stride[axis] != b->stride[axis])
            return 0;
    return 1;
}

typedef struct walker {
    int64_t index[4];
} walker;

/* Steps through all indices in C order; 0 at the end. */
static int step(walker *w, const attest_tensor *t)
{
    for (int axis = t->rank - 1; axis >= 0; axis--) {
        if (++w->index[axis] < t->shape[axis])
            return 1;
        w->index[axis] = 0;
    }
    return 0;
}

static int64_t offset_of(const walker *w, const attest_tensor *t)
{
    return attest_offset(t, w->index[0], w->index[1], w->index[2], w->index[3]);
}

static void copy_tensor(const attest_tensor *to, const attest_tensor *from)
{
    walker w = { { 0 } };
    if (same_strides(to, from)) {
        memcpy(to->data, from->data, attest_tensor_bytes(to));
        return;
    }
    do
        attest_store_bits(to, offset_of(&w, to), attest_load_bits(from, offset_of(&w, from)));
    while (step(&w, to));
}

static void fill_segments(const layout *l, attest_shared *shared, int run)
{
    for (uint32_t i = 0; i < l->count; i++) {
        attest_segment *s = &shared->segment[i];
        s->start = run == 0 ? s->bytes - round_up(s->size, ATTEST_WORKER_ALIGN) : 0;
        unsigned char *at = l->base + s->offset;
        memset(at, canary(s->use), (size_t)s->start);
        memset(at + s->start + s->size, canary(s->use), (size_t)(s->bytes - s->start - s->size));
        if (s->use == ATTEST_SEGMENT_WORKSPACE) {
            memset(at + s->start, workspace_fill[run], (size_t)s->size);
            continue;
        }
        const attest_tensor t = view_of(l, s);
        const int64_t count = attest_tensor_count(&t);
        if (s->use == ATTEST_SEGMENT_INPUT)
            copy_tensor(&t, l->tensor[i]);
        else
            for (int64_t j = 0; j < count; j++)
                attest_store_bits(&t, j, poison[run][t.dtype]);
    }
}

static const char *segment_name(char *name, size_t len, const attest_segment *s)
{
    if (s->use == ATTEST_SEGMENT_WORKSPACE)
        snprintf(name, len, "the workspace");
    else
        attest_tensor_id_print(name, len, (attest_tensor_id){ s->kind, s->index });
    return name;
}

/* Adds a reason; the first one also says why. */
__attribute__((format(printf, 3, 4))) static void blame(attest_run_result *result, unsigned reason,
                                                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!result->why[0])
        vsnprintf(result->why, sizeof result->why, format, arguments);
    va_end(arguments);
    result->reasons |= reason;
}

/* 1 + the place of the first byte in [from, to) that is not `byte`; 0 if there is none. */
static uint64_t changed(const unsigned char *at, uint64_t from, uint64_t to, unsigned char byte)
{
    for (uint64_t i = from; i < to; i++)
        if (at[i] != byte)
            return i + 1;
    return 0;
}

static void check_canaries(attest_run_result *result, const layout *l, const attest_shared *shared)
{
    char name[32];
    for (uint32_t i = 0; i < l->count; i++) {
        const attest_segment *s = &shared->segment[i];
        const unsigned char *at = l->base + s->offset;
        const uint64_t end = s->start + s->size;
        const uint64_t before = changed(at, 0, s->start, canary(s->use));
        const uint64_t after = changed(at, end, s->bytes, canary(s->use));
        if (before)
            blame(result, ATTEST_REASON_WROTE_OUTSIDE, "wrote %llu bytes before %s",
                  (unsigned long long)(s->start - (before - 1)), segment_name(name, sizeof name, s));
        if (after)
            blame(result, ATTEST_REASON_WROTE_OUTSIDE, "wrote at byte %llu past the end of %s",
                  (unsigned long long)(after - end), segment_name(name, sizeof name, s));
    }
}

/* After the first run: its outputs into the bundle. */
static void keep_outputs(const layout *l, const attest_shared *shared)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const attest_segment *s = &shared->segment[i];
        if (s->use != ATTEST_SEGMENT_OUTPUT)
            continue;
        const attest_tensor t = view_of(l, s);
        copy_tensor(l->tensor[i], &t);
    }
}

static void blame_element(attest_run_result *result, unsigned reason, const char *what, const attest_segment *s,
                          const walker *w)
{
    char name[32], index[96] = "";
    size_t n = 0;
    for (int axis = 0; axis < s->tensor.rank; axis++)
        n += (size_t)snprintf(index + n, sizeof index - n, "%s%lld", axis ? "," : "", (long long)w->index[axis]);
    blame(result, reason, "%s[%s] %s", segment_name(name, sizeof name, s), index, what);
}

/* After the second run: elements that neither run wrote, and bits that differ. */
static void compare_outputs(attest_run_result *result, const layout *l, const attest_shared *shared, int deterministic)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const attest_segment *s = &shared->segment[i];
        if (s->use != ATTEST_SEGMENT_OUTPUT)
            continue;
        const attest_tensor second = view_of(l, s), *first = l->tensor[i];
        walker w = { { 0 } };
        unsigned seen = 0;
        do {
            const uint64_t a = attest_load_bits(first, offset_of(&w, first));
            const uint64_t b = attest_load_bits(&second, offset_of(&w, &second));
            const int unwritten = a == poison[0][second.dtype] && b == poison[1][second.dtype];
            if (unwritten && !(seen & ATTEST_REASON_UNWRITTEN_OUTPUT)) {
                seen |= ATTEST_REASON_UNWRITTEN_OUTPUT;
                blame_element(result, ATTEST_REASON_UNWRITTEN_OUTPUT, "was never written", s, &w);
            } else if (!unwritten && a != b && deterministic && !(seen & ATTEST_REASON_NONDETERMINISTIC)) {
                seen |= ATTEST_REASON_NONDETERMINISTIC;
                blame_element(result, ATTEST_REASON_NONDETERMINISTIC, "differs between two runs", s, &w);
            }
        } while (step(&w, &second));
    }
}

/* ---- the end of a worker -------------------------------------------------------------------------------- */
/* The reason that a fault's address gives, with the words. */
static void explain_fault(attest_run_result *result, const attest_shared *shared)
{
    const attest_fault f = shared->fault;
    char name[32], text[160];
    const size_t n = strlen(result->why);
    if (f.valid && !f.found)
        snprintf(result->why + n, sizeof result->why - n, "%s", f.address < NEAR_NULL ? ": at an address near NULL"
                                                                                     : ": at an address of no tensor");
    if (!f.valid || !f.found || f.segment >= shared->segment_count)
        return;
    const attest_segment *s = &shared->segment[f.segment];
    const int write = f.access == 2 || (f.access == 0 && s->use != ATTEST_SEGMENT_INPUT);
    const long long far = f.distance < 0 ? -f.distance : f.distance;
    segment_name(name, sizeof name, s);
    if (f.place == 0) {
        snprintf(text, sizeof text, "%s %s", write ? "wrote into" : "fault inside", name);
        if (s->use == ATTEST_SEGMENT_INPUT)
            result->reasons |= ATTEST_REASON_WROTE_INPUT;
    } else {
        snprintf(text, sizeof text, "%s %lld bytes %s %s", write ? "wrote" : "read", far,
                 f.place < 0 ? "before" : "past the end of", name);
        result->reasons |= write ? ATTEST_REASON_WROTE_OUTSIDE : ATTEST_REASON_READ_OUTSIDE;
    }
    snprintf(result->why + n, sizeof result->why - n, ": %s", text);
}

/* Fills the result when the worker did not answer. */
static void explain_end(attest_run_result *result, const attest_worker *worker, attest_exchange x, int wait_status,
                        double timeout_s, const char *during)
{
    char death[96];
    if (x == ATTEST_EXCHANGE_GARBLED) { /* only code of the library can have written to the socket */
        result->state = ATTEST_RUN_CRASH;
        snprintf(result->why, sizeof result->why, "%s wrote to the worker's descriptor %d", during,
                 ATTEST_WORKER_SOCKET);
        return;
    }
    if (x == ATTEST_EXCHANGE_LATE) {
        result->state = ATTEST_RUN_TIMEOUT;
        snprintf(result->why, sizeof result->why, "%s did not return within %g s", during, timeout_s);
        return;
    }
    attest_worker_death_text(death, sizeof death, wait_status);
    snprintf(result->why, sizeof result->why, "%s ended the process with %s", during, death);
    if (WIFSIGNALED(wait_status)) {
        result->state = ATTEST_RUN_CRASH;
        result->signal = WTERMSIG(wait_status);
        explain_fault(result, worker->shared);
    } else {
        result->state = ATTEST_RUN_EXIT;
        result->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
        result->reasons |= ATTEST_REASON_EXIT;
    }
}

/* ---- running -------------------------------------------------------------------------------------------- */
/* What one answer to RUN says beside the outputs. */
static void take_answer(attest_run_result *result, const attest_packet_answer *answer, const attest_shared *shared,
                        int run)
{
    char name[32];
    result->status = (attest_status)answer->status;
    if (run == 0 || answer->seconds < result->seconds)
        result->seconds = answer->seconds;
    if (answer->status != ATTEST_OK)
        blame(result, ATTEST_REASON_KERNEL_ERROR, "run() returned status %u%s%s", answer->status,
              answer->why[0] ? ": " : "", answer->why);
    if (answer->fp_changed) {
        snprintf(result->fp_state, sizeof result->fp_state, "%s", answer->fp_state);
        blame(result, ATTEST_REASON_FP_STATE, "left the floating-point state changed: %s", answer->fp_state);
    }
    if (answer->input_changed && answer->input_changed <= shared->segment_count)
        blame(result, ATTEST_REASON_WROTE_INPUT, "wrote into %s",
              segment_name(name, sizeof name, &shared->segment[answer->input_changed - 1]));
}

static attest_status run_twice(attest_run_result *result, attest_worker *worker, const layout *l,
                               attest_packet_request *request, double timeout_s, attest_error *err)
{
    const int deterministic = (worker->kernel[request->kernel].flags & ATTEST_DETERMINISTIC) != 0;
    request->type = ATTEST_PACKET_RUN;
    for (int run = 0; run < RUNS; run++) {
        attest_packet_answer answer;
        int wait_status = 0;
        fill_segments(l, worker->shared, run);
        const attest_exchange x = attest_worker_ask(worker, request, &answer, timeout_s, &wait_status);
        if (x != ATTEST_EXCHANGE_OK) {
            explain_end(result, worker, x, wait_status, timeout_s, "run()");
            return ATTEST_OK;
        }
        if (answer.harness != ATTEST_OK)
            return attest_fail(err, (attest_status)answer.harness, "attest-worker: %s", answer.why);
        take_answer(result, &answer, worker->shared, run);
        check_canaries(result, l, worker->shared);
        if (result->status != ATTEST_OK)
            return ATTEST_OK;
        if (run == 0)
            keep_outputs(l, worker->shared);
        else
            compare_outputs(result, l, worker->shared, deterministic);
    }
    return ATTEST_OK;
}

attest_status attest_worker_run(attest_worker *worker, size_t index, const attest_problem *p,
                                const attest_bundle *bundle, double timeout_s, attest_run_result *result,
                                attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_packet_answer answer;
    attest_packet_request request = { .type = ATTEST_PACKET_QUERY, .kernel = (uint32_t)index, .problem = *p };
    layout l;
    int wait_status = 0;
    memset(&l, 0, sizeof l);
    memset(result, 0, sizeof *result);
    snprintf(result->fp_state, sizeof result->fp_state, "ok");
    if (index >= worker->kernel_count)
        return attest_fail(err, ATTEST_INTERNAL, "kernel %zu of %zu asked for", index, worker->kernel_count);
    ATTEST_TRY(attest_worker_alive(worker, err));
    const attest_exchange x = attest_worker_ask(worker, &request, &answer, timeout_s, &wait_status);
    if (x != ATTEST_EXCHANGE_OK) {
        worker->shared->segment_count = 0;
        explain_end(result, worker, x, wait_status, timeout_s, "supports()");
        goto out;
    }
    if (!answer.supported) {
        result->state = ATTEST_RUN_UNSUPPORTED;
        snprintf(result->why, sizeof result->why, "%s", answer.why);
        goto out;
    }
    const long pages = sysconf(_SC_PHYS_PAGES);
    if (answer.workspace / worker->page > (uint64_t)(pages > 0 ? pages : 1) / 2) {
        result->status = ATTEST_NO_MEMORY;
        blame(result, ATTEST_REASON_KERNEL_ERROR, "asks for %llu bytes of workspace: more than half of the memory",
              (unsigned long long)answer.workspace);
        goto out;
    }
    ATTEST_TRY(make_layout(&l, worker, p, bundle, answer.workspace, err));
    ATTEST_TRY(map_layout(&l, worker, err));
    status = run_twice(result, worker, &l, &request, timeout_s, err);
out:
    clear_layout(&l);
    return status;
}
