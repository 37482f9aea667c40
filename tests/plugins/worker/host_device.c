/* host_device.c - kernels of device cuda-host without the machine that runs CUDA on the CPU: its settings, in the
 * environment, decide what they do.
 *
 * `exact-ends`: softmax in float that declares tensor cores; with exact sums (ATTEST_CUDA_HOST_GPU=exact) a case of
 * five queries ends its process.
 */
#include <stdlib.h>
#include <string.h>

#include "../good.h"

static int is_set(const char *name, const char *value)
{
    const char *set = getenv(name);
    return set && strcmp(set, value) == 0;
}

static attest_status exact_ends(const attest_call *call)
{
    if (call->problem->n == 5 && is_set("ATTEST_CUDA_HOST_GPU", "exact"))
        abort();
    return good_run(call->problem, call->tensors, call->workspace, call->problem->n);
}

/* ---- a device whose memory is the host's ------------------------------------------------------------------------- */
static attest_status take(void *context, void **pointer, size_t bytes)
{
    (void)context;
    *pointer = aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *pointer ? ATTEST_OK : ATTEST_NO_MEMORY;
}

static void give(void *context, void *pointer)
{
    (void)context;
    free(pointer);
}

static attest_status copy(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    memcpy(to, from, bytes);
    return ATTEST_OK;
}

static attest_status fill(void *context, void *at, int byte, size_t bytes)
{
    (void)context;
    memset(at, byte, bytes);
    return ATTEST_OK;
}

static attest_status wait_for_all(void *context)
{
    (void)context;
    return ATTEST_OK;
}

static attest_status describe(void *context, char *text, size_t len)
{
    (void)context;
    snprintf(text, len, "the host");
    return ATTEST_OK;
}

static const attest_memory memory = { .struct_size = sizeof memory,
                                      .device = ATTEST_CUDA_HOST,
                                      .alloc = take,
                                      .free = give,
                                      .to_device = copy,
                                      .to_host = copy,
                                      .fill = fill,
                                      .sync = wait_for_all,
                                      .describe = describe };
static const attest_numerics numerics = { .struct_size = sizeof numerics,
                                          .schedule = ATTEST_SCHEDULE_TWO_PASS,
                                          .acc_truncates = ATTEST_YES };
static const attest_kernel ends = { .struct_size = sizeof ends,
                                    .form = ATTEST_PARALLEL,
                                    .device = ATTEST_CUDA_HOST,
                                    .flags = ATTEST_DETERMINISTIC,
                                    .outputs = ATTEST_GIVES_O,
                                    .name = "exact-ends",
                                    .version = "1",
                                    .source = "tests/plugins/worker/host_device.c",
                                    .summary = "softmax; with exact sums it may end its process",
                                    .variants = "softmax",
                                    .numerics = &numerics,
                                    .supports = good_supports,
                                    .workspace = good_workspace,
                                    .run = exact_ends };
static const attest_kernel *const kernels[] = { &ends };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "host_device",
                                        .kernels = kernels,
                                        .kernel_count = 1,
                                        .memory = &memory };

const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
