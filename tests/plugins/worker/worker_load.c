/* worker_load.c - a library that misbehaves while it is loaded, as $WORKER_LOAD says: crash, hang, exit,
 * ftz (flushes subnormals from then on).  Otherwise a good kernel that writes zeros.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attest.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static int supports(const attest_call *call)
{
    (void)call;
    return 1;
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    memset(t->role[ATTEST_O]->data, 0, (size_t)(p->b * p->hq * p->n * p->e) * 4);
    return ATTEST_OK;
}

static const attest_numerics numerics = { .struct_size = sizeof numerics };
static const attest_kernel kernel = { .struct_size = sizeof kernel,
                                      .form = ATTEST_PARALLEL,
                                      .device = ATTEST_CPU,
                                      .flags = ATTEST_DETERMINISTIC,
                                      .outputs = ATTEST_GIVES_O,
                                      .name = "zeros",
                                      .version = "1",
                                      .source = "worker_load.c",
                                      .summary = "o = 0",
                                      .variants = "softmax",
                                      .numerics = &numerics,
                                      .supports = supports,
                                      .run = run };
static const attest_kernel *const kernels[] = { &kernel };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "worker_load",
                                        .kernels = kernels,
                                        .kernel_count = 1 };

static int asked(const char *what)
{
    const char *how = getenv("WORKER_LOAD");
    return how && strcmp(how, what) == 0;
}

__attribute__((constructor)) static void start(void)
{
    volatile int forever = 1;
    if (asked("crash"))
        raise(SIGSEGV);
    if (asked("exit"))
        exit(5);
    while (asked("hang") && forever)
        ;
#if defined(__x86_64__)
    if (asked("ftz"))
        _mm_setcsr(_mm_getcsr() | 0x8040u);
#endif
}

const attest_library *attest_library_v2(const attest_host *host)
{
    (void)host;
    return &library;
}
