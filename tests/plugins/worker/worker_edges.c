/* worker_edges.c - a kernel library that misbehaves as `chunk` says: what the worker has to notice, one by one.
 *
 * The good case (chunk=1) writes o[i] = i.  The numbers are those of the table in tests/verify/worker/test_worker.c.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attest.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define WORKSPACE 100

static size_t elements(const attest_tensor *t)
{
    size_t count = 1;
    for (int axis = 0; axis < t->rank; axis++)
        count *= (size_t)t->shape[axis];
    return count;
}

static int dive(volatile const char *above, int depth)
{
    volatile char room[4096];
    room[0] = above[0];
    return depth < 0 ? room[0] : dive(room, depth + 1) + room[0];
}

/* THREADS threads that write four bytes before o together. */
enum { THREADS = 4 };
typedef struct herd {
    volatile unsigned char *at;
    atomic_int ready;
} herd;

static void *write_together(void *state)
{
    herd *h = state;
    atomic_fetch_add(&h->ready, 1);
    while (atomic_load(&h->ready) < THREADS)
        ;
    *h->at = 1;
    return NULL;
}

static int stampede(volatile unsigned char *at)
{
    herd h = { at, 0 };
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, write_together, &h) != 0)
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

static int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (p->chunk == 31)
        abort();
    if (p->chunk != 30)
        return 1;
    snprintf(call->why, call->why_size, "chunk=30 is refused");
    return 0;
}

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return p->chunk == 18 ? SIZE_MAX : WORKSPACE;
}

/* Misdeeds with pointers; each returns what it read, so that no read is dropped. */
static int misuse(int64_t what, const attest_tensor *q, const attest_tensor *o, unsigned char *work)
{
    volatile const unsigned char *in = q->data;
    volatile unsigned char *out = o->data;
    const size_t in_size = elements(q) * 4, out_size = elements(o) * 4;
    const size_t to_guard = (in_size + 63) / 64 * 64;
    switch (what) {
    case 2: return in[to_guard];
    case 3: return in[-1];
    case 4: out[out_size] = 1; return 0;
    case 5: out[(out_size + 63) / 64 * 64] = 1; return 0;
    case 6: out[-4] = 1; return 0;
    case 7: work[WORKSPACE] = 1; return 0;
    case 12: abort();
    case 14: return *(volatile int *)(uintptr_t)16;
    case 15:
        printf("a kernel talks\n");
        fflush(stdout);
        return 0;
    case 16: return dive((const char *)work, 0);
    case 21: return write(3, "hello", 5) < 0;
    case 22: return stampede(out - 4);
    case 19: ((unsigned char *)(uintptr_t)q->data)[0] = 1; return 0;
    default: return 0;
    }
}

static void change_fp(int64_t what)
{
    (void)what;
#if defined(__x86_64__)
    if (what == 11)
        _mm_setcsr((_mm_getcsr() & ~0x6000u) | 0x4000u);
    if (what == 20) {
        unsigned short word;
        __asm__ volatile("fnstcw %0" : "=m"(word));
        word = (unsigned short)(word & ~0x300u);
        __asm__ volatile("fldcw %0" : : "m"(word));
    }
    if (what == 23)
        __asm__ volatile("pxor %mm3, %mm3"); /* and no emms */
    if (what == 24)
        __asm__ volatile("fldz");
#endif
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    static int calls;
    const attest_tensor *q = t->role[ATTEST_Q], *o = t->role[ATTEST_O];
    float *out = o->data;
    const uint32_t equal_nan = 0x7fc0dead;
    const size_t count = elements(o);
    if (p->chunk == 10)
        return ATTEST_KERNEL_ERROR;
    calls++;
    for (size_t i = 0; i < count; i++) {
        if (p->chunk == 8 && i == 3)
            continue;
        out[i] = p->chunk == 9 && i == 7 ? (float)calls : (float)i;
        if (p->chunk == 13 && i == 2)
            memcpy(&out[i], call->workspace, sizeof out[i]);
        if (p->chunk == 17)
            memcpy(&out[i], &equal_nan, sizeof out[i]);
    }
    if (t->role[ATTEST_LSE])
        for (size_t i = 0; i < elements(t->role[ATTEST_LSE]); i++)
            ((float *)t->role[ATTEST_LSE]->data)[i] = 1;
    memset(call->workspace, 0x11, WORKSPACE);
    change_fp(p->chunk);
    if (misuse(p->chunk, q, o, call->workspace) == 0x7fffffff)
        out[0] = 0;
    return (uintptr_t)q->data % 64 || (uintptr_t)o->data % 64 || (uintptr_t)call->workspace % 64 ? ATTEST_INTERNAL
                                                                                                 : ATTEST_OK;
}

static const attest_numerics numerics = { .struct_size = sizeof numerics };
static const attest_claim claim = { .struct_size = sizeof claim, .max_ulp = 2.5, .domain = "nowhere" };

static const attest_kernel strict = { .struct_size = sizeof strict,
                                      .form = ATTEST_PARALLEL,
                                      .device = ATTEST_CPU,
                                      .flags = ATTEST_DETERMINISTIC,
                                      .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
                                      .name = "strict",
                                      .version = "1",
                                      .source = "worker_edges.c",
                                      .summary = "o[i] = i",
                                      .variants = "softmax",
                                      .numerics = &numerics,
                                      .claim = &claim,
                                      .alignment = 64,
                                      .supports = supports,
                                      .workspace = workspace,
                                      .run = run };
static const attest_kernel loose = { .struct_size = sizeof loose,
                                     .form = ATTEST_PARALLEL,
                                     .device = ATTEST_CPU,
                                     .outputs = ATTEST_GIVES_O,
                                     .alignment = 64,
                                     .name = "loose",
                                     .version = "1",
                                     .source = "worker_edges.c",
                                     .summary = "o[i] = i",
                                     .variants = "softmax",
                                     .numerics = &numerics,
                                     .supports = supports,
                                     .workspace = workspace,
                                     .run = run };
static const attest_kernel *const kernels[] = { &strict, &loose };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "worker_edges",
                                        .kernels = kernels,
                                        .kernel_count = 2 };

const attest_library *attest_library_v2(const attest_host *host)
{
    (void)host;
    return &library;
}
