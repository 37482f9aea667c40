/* worker_device.c - a library with memory of its own: a make-believe device whose addresses are not the host's.
 *
 * A device pointer is the host pointer plus a fixed amount; only the functions below and run() know it, so
 * a worker that hands a host pointer to run(), or reads a device pointer itself, crashes.
 * chunk=2 writes past o, chunk=3 writes into k, chunk=4 fails in sync(), and so does all that this process asks of the
 * device afterwards, chunk=5 leaves o[1] alone, chunk=6 works on the default stream whichever it is asked for, chunk=7
 * never returns.
 * What is copied later is copied when work is put on that stream, or by sync().
 * WORKER_MEMORY=old in the environment: its attest_memory ends before copy_later(); =full: no allocation after the
 * images; =refuses: copy_later() fails after one copy.
 * WORKER_DEVICE=absent in the environment: there is no device; =cuda-host: it is that.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attest.h"

#define SHIFT ((uintptr_t)1 << 56)
#define IMAGES 6 /* of a run: q, k, v, o, workspace; and one more */

/* What open() makes: every function must get it back. */
typedef struct session {
    uint32_t magic;
    attest_status pending;
    struct {
        void *to;
        const void *from;
        size_t bytes;
    } later[16];
    int waits, images;
} session;

static int memory_is(const char *how)
{
    const char *set = getenv("WORKER_MEMORY");
    return set && strcmp(set, how) == 0;
}

static session *session_of(void *context)
{
    session *s = context;
    if (!s || s->magic != 0x5e55u)
        abort();
    return s;
}

static attest_status open_session(const attest_host *from, void **context, char *why, size_t len)
{
    const char *how = getenv("WORKER_OPEN");
    if (how && strcmp(how, "fails") == 0) {
        snprintf(why, len, "no licence");
        return ATTEST_KERNEL_ERROR;
    }
    if (how && strcmp(how, "absent") == 0)
        return ATTEST_NO_DEVICE;
    session *s = calloc(1, sizeof *s);
    if (!s || !from)
        return ATTEST_NO_MEMORY;
    s->magic = 0x5e55u;
    *context = s;
    return ATTEST_OK;
}

/* Leaves a file behind, for the test to see. */
static void close_session(void *context)
{
    const char *path = getenv("WORKER_CLOSED");
    FILE *mark = path ? fopen(path, "w") : NULL;
    if (mark)
        fclose(mark);
    free(session_of(context));
}

static void *host(const void *device) { return (void *)((uintptr_t)device - SHIFT); }

static attest_status dev_alloc(void *context, void **pointer, size_t bytes)
{
    if (session_of(context)->pending != ATTEST_OK)
        return ATTEST_KERNEL_ERROR;
    if (memory_is("full") && session_of(context)->images >= IMAGES)
        return ATTEST_NO_MEMORY;
    session_of(context)->images++;
    void *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!p)
        return ATTEST_NO_MEMORY;
    *pointer = (void *)((uintptr_t)p + SHIFT);
    return ATTEST_OK;
}

static void dev_free(void *context, void *pointer)
{
    session_of(context)->images--;
    free(host(pointer));
}

static attest_status to_device(void *context, void *device, const void *from, size_t bytes)
{
    session_of(context);
    memcpy(host(device), from, bytes);
    return ATTEST_OK;
}

static attest_status to_host(void *context, void *to, const void *device, size_t bytes)
{
    session_of(context);
    memcpy(to, host(device), bytes);
    return ATTEST_OK;
}

static attest_status fill(void *context, void *device, int byte, size_t bytes)
{
    session_of(context);
    memset(host(device), byte, bytes);
    return ATTEST_OK;
}

static void copy_all(session *s)
{
    for (int i = 0; i < s->waits; i++)
        memcpy(host(s->later[i].to), host(s->later[i].from), s->later[i].bytes);
    s->waits = 0;
}

static attest_status copy_later(void *context, void **stream, void *to, const void *from, size_t bytes)
{
    session *s = session_of(context);
    if (memory_is("refuses") && s->waits > 0)
        return ATTEST_KERNEL_ERROR;
    *stream = s;
    s->later[s->waits].to = to;
    s->later[s->waits].from = from;
    s->later[s->waits++].bytes = bytes;
    return ATTEST_OK;
}

static attest_status sync_device(void *context)
{
    copy_all(session_of(context));
    return session_of(context)->pending;
}

static attest_status describe(void *context, char *text, size_t len)
{
    session_of(context);
    const char *absent = getenv("WORKER_DEVICE");
    if (absent && strcmp(absent, "absent") == 0)
        return ATTEST_NO_DEVICE;
    snprintf(text, len, "make-believe device");
    return ATTEST_OK;
}

static attest_memory memory = { .struct_size = sizeof memory,
                                .device = ATTEST_CUDA,
                                .alloc = dev_alloc,
                                .free = dev_free,
                                .to_device = to_device,
                                .to_host = to_host,
                                .fill = fill,
                                .sync = sync_device,
                                .describe = describe,
                                .copy_later = copy_later };

static int supports(const attest_call *call) { return session_of(call->context)->magic != 0; }

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (size_t)p->n;
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    const attest_tensor *o = t->role[ATTEST_O];
    float *out = host(o->data);
    const float *v = host(t->role[ATTEST_V]->data);
    const int64_t count = p->b * p->hq * p->n * p->e;
    if (o->device != (int32_t)memory.device)
        return ATTEST_INTERNAL;
    while (p->chunk == 7)
        pause();
    if (call->stream && p->chunk != 6)
        copy_all(call->stream);
    memset(host(call->workspace), 3, (size_t)p->n);
    for (int64_t i = 0; i < count; i++)
        if (!(p->chunk == 5 && i == 1))
            out[i] = v[0] + (float)i;
    if (p->chunk == 2)
        out[count] = 1;
    if (p->chunk == 3)
        *(float *)host(t->role[ATTEST_K]->data) += 1;
    if (p->chunk == 4)
        session_of(call->context)->pending = ATTEST_KERNEL_ERROR;
    return ATTEST_OK;
}

static const attest_numerics numerics = { .struct_size = sizeof numerics };
static attest_kernel kernel = { .struct_size = sizeof kernel,
                                .form = ATTEST_PARALLEL,
                                .device = ATTEST_CUDA,
                                .flags = ATTEST_DETERMINISTIC,
                                .outputs = ATTEST_GIVES_O,
                                .name = "make-believe",
                                .version = "1",
                                .source = "worker_device.c",
                                .summary = "o[i] = v[0] + i",
                                .variants = "softmax",
                                .numerics = &numerics,
                                .supports = supports,
                                .workspace = workspace,
                                .run = run };
static const attest_kernel *const kernels[] = { &kernel };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "worker_device",
                                        .kernels = kernels,
                                        .kernel_count = 1,
                                        .memory = &memory,
                                        .open = open_session,
                                        .close = close_session };

const attest_library *attest_library_v2(const attest_host *from)
{
    (void)from;
    if (memory_is("old"))
        memory.struct_size = offsetof(attest_memory, copy_later);
    const char *device = getenv("WORKER_DEVICE");
    if (device && strcmp(device, "cuda-host") == 0)
        kernel.device = memory.device = ATTEST_CUDA_HOST;
    return &library;
}
