/* worker_device.c - a library with memory of its own: a make-believe device whose addresses are not the host's.
 *
 * A device pointer is the host pointer plus a fixed amount; only the functions below and run() know it, so
 * a worker that hands a host pointer to run(), or reads a device pointer itself, crashes.
 * chunk=2 writes past o, chunk=3 writes into k, chunk=4 fails in sync(), chunk=5 leaves o[1] alone.
 * ATTEST_TEST_DEVICE=absent in the environment: there is no device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attest.h"

#define SHIFT ((uintptr_t)1 << 56)

static attest_status pending = ATTEST_OK;

static void *host(const void *device) { return (void *)((uintptr_t)device - SHIFT); }

static attest_status dev_alloc(void **pointer, size_t bytes)
{
    void *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!p)
        return ATTEST_NO_MEMORY;
    *pointer = (void *)((uintptr_t)p + SHIFT);
    return ATTEST_OK;
}

static void dev_free(void *pointer) { free(host(pointer)); }

static attest_status to_device(void *device, const void *from, size_t bytes)
{
    memcpy(host(device), from, bytes);
    return ATTEST_OK;
}

static attest_status to_host(void *to, const void *device, size_t bytes)
{
    memcpy(to, host(device), bytes);
    return ATTEST_OK;
}

static attest_status fill(void *device, int byte, size_t bytes)
{
    memset(host(device), byte, bytes);
    return ATTEST_OK;
}

static attest_status sync_device(void) { return pending; }

static attest_status describe(char *text, size_t len)
{
    const char *absent = getenv("ATTEST_TEST_DEVICE");
    if (absent && strcmp(absent, "absent") == 0)
        return ATTEST_NO_DEVICE;
    snprintf(text, len, "make-believe device");
    return ATTEST_OK;
}

static int supports(const attest_problem *p, char *why, size_t len)
{
    (void)p, (void)why, (void)len;
    return 1;
}

static size_t workspace(const attest_problem *p) { return (size_t)p->n; }

static attest_status run(const attest_problem *p, const attest_tensors *t, void *work, void *stream)
{
    const attest_tensor *o = t->role[ATTEST_O];
    float *out = host(o->data);
    const float *v = host(t->role[ATTEST_V]->data);
    const int64_t count = p->b * p->hq * p->n * p->e;
    (void)stream;
    if (o->device != ATTEST_CUDA)
        return ATTEST_INTERNAL;
    memset(host(work), 3, (size_t)p->n);
    for (int64_t i = 0; i < count; i++)
        if (!(p->chunk == 5 && i == 1))
            out[i] = v[0] + (float)i;
    if (p->chunk == 2)
        out[count] = 1;
    if (p->chunk == 3)
        *(float *)host(t->role[ATTEST_K]->data) += 1;
    pending = p->chunk == 4 ? ATTEST_KERNEL_ERROR : ATTEST_OK;
    return ATTEST_OK;
}

static const attest_numerics numerics = { .struct_size = sizeof numerics };
static const attest_kernel kernel = {
    .struct_size = sizeof kernel, .form = ATTEST_PARALLEL, .device = ATTEST_CUDA, .flags = ATTEST_DETERMINISTIC,
    .outputs = ATTEST_GIVES_O, .name = "make-believe", .version = "1", .source = "worker_device.c",
    .summary = "o[i] = v[0] + i", .variants = "softmax", .numerics = &numerics, .supports = supports,
    .workspace = workspace, .run = run
};
static const attest_memory memory = { .struct_size = sizeof memory, .device = ATTEST_CUDA, .alloc = dev_alloc,
                                      .free = dev_free, .to_device = to_device, .to_host = to_host, .fill = fill,
                                      .sync = sync_device, .describe = describe };
static const attest_kernel *const kernels[] = { &kernel };
static const attest_library library = { .struct_size = sizeof library, .abi_version = ATTEST_ABI_VERSION,
                                        .name = "worker_device", .kernels = kernels, .kernel_count = 1,
                                        .memory = &memory };

const attest_library *attest_library_v1(const attest_host *from)
{
    (void)from;
    return &library;
}
