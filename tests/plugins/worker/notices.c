/* notices: kernels that are right as long as they see that they are tested, one sign each; and what threads may do.
 *
 *     notices-poison   right where o holds NaN before the run
 *     notices-bases    right where all data begins at a multiple of 64 bytes
 *     notices-name     right in a process that says `attest`: argv[0], comm, environment, the name of shared memory
 *     notices-calls    right in its first 1,000 calls
 *     aligned          right, where data begins at 32 bytes, as it declares; else it gives up
 *     refuses          right, where data begins at 64 bytes; else it says ATTEST_UNSUPPORTED
 *     races            where OMP_NUM_THREADS is above 1, the last row is written by a thread that is not waited for
 *                      longer than WAIT_NS: an ulp is lost where it comes too late
 *     late-and-free    the same, but it promises no bits
 *     pairs-of-threads right; supports() refuses where OMP_NUM_THREADS is 1
 *     undecided        right; its supports() says yes and no in turn
 *     slow-calls       right, in 3 ms
 *     stays            right in its first 50 calls, then it does not return
 *     stays-with-two   right; it does not return where OMP_NUM_THREADS is 2
 *     goes-first       right where the system, short of memory, would end this process before any other
 *     parks            right; a thread of it waits for ever
 *     strays           right, but a thread of it goes on and soon writes to address 16
 *     beside           right
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../good.h"

#ifndef WAIT_NS
#define WAIT_NS 2000000
#endif

/* Right, or 3 more in the first element. */
static attest_status answer(const attest_call *call, int right)
{
    good_run(call->problem, call->tensors, call->workspace, call->problem->n);
    if (!right)
        *good_row(call->tensors->role[ATTEST_O], 0, 0, 0) += 3;
    return ATTEST_OK;
}

static attest_status run_poison(const attest_call *call)
{
    const float before = *good_row(call->tensors->role[ATTEST_O], 0, 0, 0);
    return answer(call, before != before);
}

/* All data lies at multiples of `bytes`. */
static int lies_at(const attest_call *call, size_t bytes)
{
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V, ATTEST_O };
    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++)
        if ((uintptr_t)call->tensors->role[roles[r]]->data % bytes != 0)
            return 0;
    return 1;
}

static attest_status run_bases(const attest_call *call) { return answer(call, lies_at(call, 64)); }

/* 1 if the file begins with bytes that say `attest`. */
static int file_says(const char *path)
{
    char text[64] = "";
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return strstr(text, "attest") != NULL;
}

static int link_says(const char *path)
{
    char text[64] = "";
    return readlink(path, text, sizeof text - 1) > 0 && strstr(text, "memfd:attest") != NULL;
}

extern char **environ;

static attest_status run_name(const attest_call *call)
{
    int tells = file_says("/proc/self/comm") || file_says("/proc/self/cmdline");
    char path[32];
    for (int fd = 0; fd < 16; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        tells = tells || link_says(path);
    }
    for (char **e = environ; *e; e++)
        tells = tells || strncmp(*e, "ATTEST", 6) == 0 || (strncmp(*e, "_=", 2) == 0 && strstr(*e, "attest"));
    return answer(call, tells);
}

static attest_status run_calls(const attest_call *call)
{
    static unsigned calls;
    return answer(call, ++calls <= 1000);
}

static attest_status run_aligned(const attest_call *call)
{
    return lies_at(call, 32) ? answer(call, 1) : ATTEST_KERNEL_ERROR;
}

static attest_status run_refuses(const attest_call *call)
{
    return lies_at(call, 64) ? answer(call, 1) : ATTEST_UNSUPPORTED;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */
typedef struct job {
    const attest_call *call;
    float *scratch;
    atomic_int state; /* 0 nobody, 1 the thread writes, 2 it has written, 3 it is too late */
} job;

static void *write_last_row(void *state)
{
    job *j = state;
    int nobody = 0;
    if (atomic_compare_exchange_strong(&j->state, &nobody, 1)) {
        good_softmax_row(j->call->problem, j->call->tensors, j->scratch, 0, 0, j->call->problem->n - 1);
        atomic_store(&j->state, 2);
    }
    return NULL;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static attest_status run_races(const attest_call *call)
{
    const attest_problem *p = call->problem;
    job j = { call, malloc((size_t)p->m * sizeof(float)), 0 };
    pthread_t thread;
    const int64_t start = now_ns();
    int nobody = 0;
    const char *threads = getenv("OMP_NUM_THREADS");
    float *last = good_row(call->tensors->role[ATTEST_O], 0, 0, p->n - 1);
    good_run(p, call->tensors, call->workspace, p->n);
    if (!threads || atoi(threads) < 2)
        goto out;
    *last = nextafterf(*last, INFINITY); /* the thread mends it */
    if (!j.scratch || pthread_create(&thread, NULL, write_last_row, &j) != 0)
        return ATTEST_NO_MEMORY;
    while (atomic_load(&j.state) != 2 && now_ns() - start < WAIT_NS)
        ;
    atomic_compare_exchange_strong(&j.state, &nobody, 3);
    pthread_join(thread, NULL);
out:
    free(j.scratch);
    return ATTEST_OK;
}

static void *write_later(void *state)
{
    const struct timespec later = { 0, (int64_t)(intptr_t)state * 1000000 };
    nanosleep(&later, NULL);
    *(volatile int *)(uintptr_t)16 = 1;
    return NULL;
}

/* Each call leaves a thread that faults `chunk` milliseconds later; the third one waits for that. */
static attest_status run_strays(const attest_call *call)
{
    static int calls;
    const struct timespec longer = { 1, 0 };
    pthread_t thread;
    if (++calls == 3)
        nanosleep(&longer, NULL);
    void *chunk = (void *)(intptr_t)call->problem->chunk;
    if (pthread_create(&thread, NULL, write_later, chunk) != 0 || pthread_detach(thread) != 0)
        return ATTEST_NO_MEMORY;
    return answer(call, 1);
}

static void *wait_for_ever(void *state)
{
    for (;;)
        pause();
    return state;
}

static attest_status run_parks(const attest_call *call)
{
    static pthread_t thread;
    static int parked;
    if (!parked && pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
        return ATTEST_NO_MEMORY;
    parked = 1;
    return answer(call, 1);
}

/* Takes longer than a stray thread of another kernel would wait. */
static attest_status run_beside(const attest_call *call)
{
    const struct timespec longer = { 0, 100000000 };
    nanosleep(&longer, NULL);
    return answer(call, 1);
}

/* Serves any number of threads but one. */
static int supports_threads(const attest_call *call)
{
    const char *threads = getenv("OMP_NUM_THREADS");
    return threads && strcmp(threads, "1") == 0 ? attest_refuse(call, "needs two threads") : good_supports(call);
}

static int supports_in_turn(const attest_call *call)
{
    static unsigned asked;
    return asked++ % 2 ? attest_refuse(call, "not now") : good_supports(call);
}

static attest_status run_right(const attest_call *call) { return answer(call, 1); }

static attest_status run_slow(const attest_call *call)
{
    const struct timespec long_enough = { 0, 3000000 };
    nanosleep(&long_enough, NULL);
    return answer(call, 1);
}

static attest_status run_stays(const attest_call *call)
{
    static int calls;
    while (calls >= 50)
        pause();
    calls++;
    return answer(call, 1);
}

static attest_status run_stays_with_two(const attest_call *call)
{
    const char *threads = getenv("OMP_NUM_THREADS");
    while (threads && strcmp(threads, "2") == 0)
        pause();
    return answer(call, 1);
}

static attest_status run_goes_first(const attest_call *call)
{
    int adjustment = 0;
    FILE *f = fopen("/proc/self/oom_score_adj", "r");
    const int read = f && fscanf(f, "%d", &adjustment) == 1;
    if (f)
        fclose(f);
    return answer(call, read && adjustment == 1000);
}

static const attest_numerics plain = { .struct_size = sizeof plain, .schedule = ATTEST_SCHEDULE_TWO_PASS };

#define KERNEL(id, NAME, ...)                                                                                          \
    static const attest_kernel kernel_##id = { .struct_size = sizeof(attest_kernel),                                   \
                                               .form = ATTEST_PARALLEL,                                                \
                                               .device = ATTEST_CPU,                                                   \
                                               .outputs = ATTEST_GIVES_O,                                              \
                                               .name = NAME,                                                           \
                                               .version = "1",                                                         \
                                               .source = "tests/plugins/worker/notices.c",                             \
                                               .summary = NAME,                                                        \
                                               .variants = "softmax",                                                  \
                                               .numerics = &plain,                                                     \
                                               .workspace = good_workspace,                                            \
                                               __VA_ARGS__ };
KERNEL(poison, "notices-poison", .supports = good_supports, .run = run_poison, .flags = ATTEST_DETERMINISTIC)
KERNEL(bases, "notices-bases", .supports = good_supports, .run = run_bases, .flags = ATTEST_DETERMINISTIC)
KERNEL(name, "notices-name", .supports = good_supports, .run = run_name, .flags = ATTEST_DETERMINISTIC)
KERNEL(calls, "notices-calls", .supports = good_supports, .run = run_calls, .flags = ATTEST_DETERMINISTIC)
KERNEL(aligned, "aligned", .supports = good_supports, .run = run_aligned, .flags = ATTEST_DETERMINISTIC,
       .alignment = 32)
KERNEL(refuses, "refuses", .supports = good_supports, .run = run_refuses, .flags = ATTEST_DETERMINISTIC)
KERNEL(races, "races", .supports = good_supports, .run = run_races, .flags = ATTEST_DETERMINISTIC)
KERNEL(free, "late-and-free", .supports = good_supports, .run = run_races)
KERNEL(parks, "parks", .supports = good_supports, .run = run_parks, .flags = ATTEST_DETERMINISTIC)
KERNEL(strays, "strays", .supports = good_supports, .run = run_strays, .flags = ATTEST_DETERMINISTIC)
KERNEL(beside, "beside", .supports = good_supports, .run = run_beside, .flags = ATTEST_DETERMINISTIC)
KERNEL(pairs, "pairs-of-threads", .supports = supports_threads, .run = run_right, .flags = ATTEST_DETERMINISTIC)
KERNEL(turn, "undecided", .supports = supports_in_turn, .run = run_right, .flags = ATTEST_DETERMINISTIC)
KERNEL(slow, "slow-calls", .supports = good_supports, .run = run_slow, .flags = ATTEST_DETERMINISTIC)
KERNEL(stays, "stays", .supports = good_supports, .run = run_stays, .flags = ATTEST_DETERMINISTIC)
KERNEL(two, "stays-with-two", .supports = good_supports, .run = run_stays_with_two, .flags = ATTEST_DETERMINISTIC)
KERNEL(first, "goes-first", .supports = good_supports, .run = run_goes_first, .flags = ATTEST_DETERMINISTIC)

static const attest_kernel *const kernels[] = { &kernel_poison,  &kernel_bases,   &kernel_name,  &kernel_calls,
                                                &kernel_aligned, &kernel_refuses, &kernel_races, &kernel_free,
                                                &kernel_pairs,   &kernel_slow,    &kernel_turn,  &kernel_parks,
                                                &kernel_strays,  &kernel_beside,  &kernel_stays, &kernel_first,
                                                &kernel_two };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "notices",
                                        .kernels = kernels,
                                        .kernel_count = sizeof kernels / sizeof kernels[0] };

const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
