/* run.c - runs the kernels of one CUDA library, on the CPU in several orders of threads; and times them.
 *
 * Linked with the library itself, so that a sanitizer sees all of it, or given its file.
 *     cuda-run [--library FILE] [--times EVENTS] [--far] [--without-o] [--order ORDER]... LINE...
 * draws each problem line, gives each tensor device memory of its exact size and runs every kernel that serves it, in
 * each order.  --far: q, k, v and o have batches 2^32 elements apart, in memory of which only the rows exist.
 * --without-o: nobody wants o; the other outputs have the bits that they have beside it.
 * --times EVENTS (tests/kernels/cuda/day/events.cu): instead, the median time of a run by events, with caches as the
 * run before left them, and after they were emptied: `warm=SECONDS cold=SECONDS KERNEL LINE`.
 * Prints a line a run: hash of the outputs, order, kernel, problem.  Exit codes: 0; 2 usage; 3 an order gave other
 * bits, 4 a run failed, with its reason; 5 nothing ran.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/hash.h"
#include "kernels/library/library.h"
#include "kernels/library/plugin.h"
#include "props/draw/draw.h"

enum { ORDERS = 16, TIMED = 21, DIFFERS = 3, FAILED = 4, NOTHING = 5 };
#define FAR_STRIDE ((int64_t)1 << 32)

const attest_library *attest_library_v2(const attest_host *host) __attribute__((weak)); /* where it is linked */

/* events.cu. */
typedef struct events {
    const char *(*clock)(void);
    int (*begin)(void), (*flush)(void);
    double (*end)(void);
} events;

typedef struct setup {
    const char *order[ORDERS], *library, *times;
    events events;
    int orders, far, without_o;
} setup;

/* A tensor on the device. */
typedef struct placed {
    attest_tensor tensor;
    const attest_tensor *host;
    size_t bytes, mapped;
    int output;
} placed;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "cuda-run: %s: %s\n", what, why);
    exit(2);
}

/* ATTEST_GIVES_ of an output, 0 of an input. */
static uint32_t output_bit(attest_tensor_id id)
{
    if (id.kind == ATTEST_KIND_HT || id.kind == ATTEST_KIND_ZT)
        return ATTEST_GIVES_STATE;
    return id.kind == ATTEST_KIND_ROLE && id.index >= ATTEST_O && id.index <= ATTEST_LSE
               ? ATTEST_GIVES_O << (id.index - ATTEST_O)
               : 0;
}

/* Batches far apart: most of it is never touched. */
static void place_far(placed *x)
{
    const attest_tensor *t = x->host;
    const size_t element = attest_dtype_bytes(t->dtype);
    const int64_t inner = t->stride[0];
    x->mapped = (size_t)((t->shape[0] - 1) * FAR_STRIDE + inner) * element;
    char *at = mmap(NULL, x->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        die("mmap", "no room for tensors that lie far apart");
    for (int64_t b = 0; b < t->shape[0]; b++)
        memcpy(at + (size_t)(b * FAR_STRIDE) * element, (const char *)t->data + (size_t)(b * inner) * element,
               (size_t)inner * element);
    x->tensor.data = at;
    x->tensor.stride[0] = FAR_STRIDE;
}

static void place(placed *x, const attest_memory *memory, const attest_tensor *t, int far, int output)
{
    *x = (placed){ .tensor = *t, .host = t, .bytes = attest_tensor_bytes(t), .output = output };
    x->tensor.device = (int32_t)memory->device;
    if (far && t->rank == 4) {
        place_far(x);
        return;
    }
    if (memory->alloc(NULL, &x->tensor.data, x->bytes) != ATTEST_OK)
        die("alloc", "no device memory");
    if (!output)
        memory->to_device(NULL, x->tensor.data, t->data, x->bytes);
}

static uint64_t hash_of(const placed *x, const attest_memory *memory, uint64_t hash)
{
    const size_t element = attest_dtype_bytes(x->tensor.dtype);
    char *copy = malloc(x->bytes);
    if (!copy)
        die("hash", "no memory");
    if (x->mapped == 0)
        memory->to_host(NULL, copy, x->tensor.data, x->bytes);
    else
        for (int64_t b = 0; b < x->tensor.shape[0]; b++)
            memcpy(copy + (size_t)(b * x->host->stride[0]) * element,
                   (const char *)x->tensor.data + (size_t)(b * FAR_STRIDE) * element,
                   (size_t)x->host->stride[0] * element);
    hash = attest_fnv(hash, copy, x->bytes);
    free(copy);
    return hash;
}

static void take_away(placed *x, const attest_memory *memory)
{
    if (x->mapped > 0)
        munmap(x->tensor.data, x->mapped);
    else
        memory->free(NULL, x->tensor.data);
}

static const attest_tensor **slots_of(attest_view *view, uint32_t kind)
{
    switch (kind) {
    case ATTEST_KIND_H0: return view->h0;
    case ATTEST_KIND_Z0: return view->z0;
    case ATTEST_KIND_HT: return view->ht;
    case ATTEST_KIND_ZT: return view->zt;
    default: return view->role;
    }
}

/* Tensors of a run on the device, and its workspace. */
typedef struct call {
    placed x[ATTEST_MAX_TENSORS];
    attest_view view;
    void *workspace;
    size_t count, scratch;
} call;

static void begin_call(call *a, attest_loaded k, const attest_memory *memory, const attest_problem *p,
                       const attest_bundle *bundle, const attest_tensor_id *ids, size_t count, int far)
{
    a->workspace = NULL;
    a->count = count;
    a->scratch = attest_kernel_workspace(k, p);
    memset(&a->view, 0, sizeof a->view);
    for (size_t i = 0; i < count; i++) {
        place(&a->x[i], memory, attest_bundle_get(bundle, ids[i]), far, output_bit(ids[i]) != 0);
        slots_of(&a->view, ids[i].kind)[ids[i].index] = &a->x[i].tensor;
    }
    if (a->scratch > 0 && memory->alloc(NULL, &a->workspace, a->scratch) != ATTEST_OK)
        die("alloc", "no device memory");
}

static void end_call(call *a, const attest_memory *memory)
{
    for (size_t i = 0; i < a->count; i++)
        take_away(&a->x[i], memory);
    if (a->workspace)
        memory->free(NULL, a->workspace);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */
static void open_events(events *e, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        die(path, dlerror());
    e->clock = (const char *(*)(void))(uintptr_t)dlsym(library, "events_clock");
    e->begin = (int (*)(void))(uintptr_t)dlsym(library, "events_begin");
    e->end = (double (*)(void))(uintptr_t)dlsym(library, "events_end");
    e->flush = (int (*)(void))(uintptr_t)dlsym(library, "events_flush");
    if (!e->clock || !e->begin || !e->end || !e->flush)
        die(path, "no library of events.cu");
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of TIMED runs, the caches emptied before each if `cold`. */
static double time_of(call *a, const events *e, attest_loaded k, const attest_problem *p, int cold)
{
    double time[TIMED];
    char why[256] = "";
    for (int i = 0; i < TIMED; i++) {
        if ((cold && e->flush() != 0) || e->begin() != 0)
            die("events", "the device failed");
        if (attest_kernel_run(k, p, &a->view, a->workspace, a->scratch, why, sizeof why) != ATTEST_OK)
            die(k.kernel->name, why);
        time[i] = e->end();
        if (time[i] < 0)
            die("events", "the device failed");
    }
    qsort(time, TIMED, sizeof time[0], by_size);
    return time[TIMED / 2];
}

static void time_line(const setup *s, attest_loaded k, const attest_memory *memory, const attest_problem *p,
                      const attest_bundle *bundle, const attest_tensor_id *ids, size_t count, const char *line)
{
    static call a;
    begin_call(&a, k, memory, p, bundle, ids, count, 0);
    time_of(&a, &s->events, k, p, 0); /* the first runs load code and raise clocks */
    const double warm = time_of(&a, &s->events, k, p, 0), cold = time_of(&a, &s->events, k, p, 1);
    printf("warm=%.3e cold=%.3e %s %s\n", warm, cold, k.kernel->name, line);
    end_call(&a, memory);
}

static int is_o(attest_tensor_id id) { return id.kind == ATTEST_KIND_ROLE && id.index == ATTEST_O; }

/* One run on tensors of its own; the hash of its outputs, of those but o with --without-o. */
static uint64_t run_once(attest_loaded k, const attest_memory *memory, const attest_problem *p,
                         const attest_bundle *bundle, const attest_tensor_id *ids, size_t count, const setup *s)
{
    static call a;
    char why[256] = "";
    uint64_t hash = ATTEST_FNV_START;
    begin_call(&a, k, memory, p, bundle, ids, count, s->far);
    attest_status status = attest_kernel_run(k, p, &a.view, a.workspace, a.scratch, why, sizeof why);
    if (status == ATTEST_OK && memory->sync(NULL) != ATTEST_OK) {
        status = ATTEST_KERNEL_ERROR;
        snprintf(why, sizeof why, "%s", "memory of a tensor was written past its end");
    }
    if (status != ATTEST_OK) {
        printf("failed %s: %s\n", k.kernel->name, why);
        exit(FAILED);
    }
    for (size_t i = 0; i < count; i++)
        if (a.x[i].output && !(s->without_o && is_o(ids[i])))
            hash = hash_of(&a.x[i], memory, hash);
    end_call(&a, memory);
    return hash;
}

static size_t without_o(attest_tensor_id *others, const attest_tensor_id *ids, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_o(ids[i]))
            others[kept++] = ids[i];
    return kept;
}

/* 0 if the kernel does not serve the line. */
static int run_line(const setup *s, attest_loaded k, const attest_memory *memory, const char *line, int *differs)
{
    attest_case c;
    attest_error err = { "" };
    attest_bundle *bundle = NULL;
    attest_tensor_id ids[ATTEST_MAX_TENSORS], wanted[ATTEST_MAX_TENSORS], others[ATTEST_MAX_TENSORS];
    char why[256] = "";
    uint64_t first = 0;
    if (attest_case_parse(&c, line, NULL, NULL, &err) != ATTEST_OK)
        die(line, err.text);
    if (!attest_kernel_supports(k, &c.problem, why, sizeof why))
        return 0;
    const int packed = (k.kernel->flags & ATTEST_PACKED_STATE) != 0;
    if (attest_bundle_new(&bundle, &err) != ATTEST_OK || attest_draw_missing(bundle, &c, 0, packed, &err) != ATTEST_OK)
        die(line, err.text);
    size_t count = attest_problem_inputs(&c.problem, ids, ATTEST_MAX_TENSORS);
    const size_t outputs = attest_problem_outputs(&c.problem, wanted, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < outputs; i++)
        if (k.kernel->outputs & output_bit(wanted[i])) {
            if (attest_bundle_add(bundle, &c.problem, wanted[i], packed, NULL, &err) != ATTEST_OK)
                die(line, err.text);
            ids[count++] = wanted[i];
        }
    if (s->times)
        time_line(s, k, memory, &c.problem, bundle, ids, count, line);
    for (int i = 0; i < s->orders && !s->times; i++) {
        setenv("ATTEST_CUDA_HOST_ORDER", s->order[i], 1);
        const uint64_t hash = run_once(k, memory, &c.problem, bundle, ids, count, s);
        printf("%016" PRIx64 " %s %s %s\n", hash, s->order[i], k.kernel->name, line);
        first = i == 0 ? hash : first;
        *differs |= hash != first || (s->without_o && hash != run_once(k, memory, &c.problem, bundle, others,
                                                                       without_o(others, ids, count), s));
    }
    attest_bundle_free(bundle);
    return 1;
}

int main(int argc, char **argv)
{
    static const attest_host host = { sizeof host, ATTEST_ABI_VERSION, NULL };
    setup s = { .orders = 0 };
    attest_plugin *plugin = NULL;
    attest_error err = { "" };
    int ran = 0, differs = 0, at = 1;
    for (; at < argc && argv[at][0] == '-'; at++)
        if (strcmp(argv[at], "--far") == 0)
            s.far = 1;
        else if (strcmp(argv[at], "--without-o") == 0)
            s.without_o = 1;
        else if (strcmp(argv[at], "--order") == 0 && at + 1 < argc && s.orders < ORDERS)
            s.order[s.orders++] = argv[++at];
        else if (strcmp(argv[at], "--library") == 0 && at + 1 < argc)
            s.library = argv[++at];
        else if (strcmp(argv[at], "--times") == 0 && at + 1 < argc)
            s.times = argv[++at];
        else
            die(argv[at],
                "cuda-run [--library FILE] [--times EVENTS] [--far] [--without-o] [--order ORDER]... LINE...");
    if (s.orders == 0)
        s.order[s.orders++] = "forward";
    if (!s.library && !attest_library_v2)
        die(argv[0], "--library FILE");
    if ((s.library ? attest_plugin_open(&plugin, s.library, &host, &err)
                   : attest_plugin_take(&plugin, attest_library_v2(&host), argv[0], &err)) != ATTEST_OK)
        die(s.library ? s.library : argv[0], err.text);
    if (s.times) {
        open_events(&s.events, s.times);
        printf("# median of %d runs by the %s\n", TIMED, s.events.clock());
    }
    for (; at < argc; at++)
        for (uint32_t i = 0; i < plugin->library.kernel_count; i++)
            ran += run_line(&s, attest_plugin_loaded(plugin, i), &plugin->memory, argv[at], &differs);
    attest_plugin_free(plugin);
    return ran == 0 ? NOTHING : differs ? DIFFERS : 0;
}
