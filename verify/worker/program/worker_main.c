/* worker_main.c - attest-worker: loads one kernel library and runs its kernels, as its parent asks.
 *
 * The only process in which code of a kernel library runs.  The parent lays out all memory, fills it and inspects it
 * afterwards (worker_protocol.h).  Name, arguments, environment and descriptors do not tell who runs a kernel. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "kernels/library/library.h"
#include "verify/worker/program/worker_confine.h"
#include "verify/worker/program/worker_describe.h"
#include "verify/worker/program/worker_fp.h"
#include "verify/worker/program/worker_images.h"
#include "verify/worker/program/worker_library.h"
#include "verify/worker/program/worker_order.h"
#include "verify/worker/worker_protocol.h"
#include "verify/worker/program/worker_supervise.h"
#include "verify/base/base.h"

#ifdef __SANITIZE_ADDRESS__
/* Where it is built so: what leaks is looked for by ptrace(), which the sandbox refuses. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
#endif

/* ---- what the worker is --------------------------------------------------------------------------------- */
typedef struct served {
    attest_plugin *plugin;
    attest_door *door;
    attest_table table; /* of the request that is served: a copy */
    fp_control fp;      /* state at start, set again before each run */
    int load_changed_fp;
    char load_fp[64];
    char cpu[96], device[96];
    attest_status device_status; /* of describe() */
} served;

/* For the signal handler only: it has no argument of ours.  base[i] is segment i's mapping. */
static struct {
    attest_shared *shared;
    const attest_table *table;
    volatile uint32_t count;
    unsigned char *base[ATTEST_WORKER_SEGMENTS];
    unsigned char *all; /* what they lie in, `bytes` long; NULL: none */
    size_t bytes;
} mapped;

/* ---- faults --------------------------------------------------------------------------------------------- */
/* Threads of a kernel that fault together: the first one is told, and the others wait for the end of the process. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    attest_fault *f = &mapped.shared->fault;
    while (atomic_flag_test_and_set(&told))
        pause();
    const uintptr_t at = (uintptr_t)info->si_addr;
    f->signal = number;
    f->address = at;
#if defined(__x86_64__) /* page-fault error code: bit 1 is write */
    f->access = ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2 ? 2u : 1u;
#else
    (void)context;
#endif
    f->found = 0;
    for (uint32_t i = 0; info->si_code > 0 && i < mapped.count; i++) {
        const attest_segment *s = &mapped.table->segment[i];
        uintptr_t base = (uintptr_t)mapped.base[i];
        if (at < base - ATTEST_WORKER_GUARD || at >= base + attest_segment_reach(s) + ATTEST_WORKER_GUARD)
            continue;
        for (uint64_t k = 1; k < s->islands && at >= base + s->apart - ATTEST_WORKER_GUARD; k++)
            base += s->apart;
        f->found = 1;
        f->segment = i;
        f->place = at < base ? -1 : at < base + s->bytes ? 0 : 1;
        f->distance = (int64_t)at - (int64_t)(base + s->start + (f->place > 0 ? s->size : 0));
    }
    f->valid = 1;
    signal(number, SIG_DFL);
    raise(number); /* blocked here: it ends the process where the handler returns */
}

static void catch_faults(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask); /* a fault of the handler itself ends the process at once */
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* A stack of its own for the handler: the kernel may have used up the other one. */
static int use_signal_stack(void)
{
    static unsigned char room[64 * 1024];
    const stack_t stack = { .ss_sp = room, .ss_size = sizeof room };
    return sigaltstack(&stack, NULL) == 0;
}

/* ---- segments: file pages between two guards, all in one mapping: pieces would be split off and merged ------ */
static size_t room_of(const attest_segment *s) { return (size_t)attest_segment_reach(s) + 2u * ATTEST_WORKER_GUARD; }

static attest_status map_segment(unsigned char *base, const attest_segment *s, int memory)
{
    const int access = s->use == ATTEST_SEGMENT_INPUT ? PROT_READ : PROT_READ | PROT_WRITE;
    for (uint64_t k = 0; k < s->islands; k++)
        if (mmap(base + k * s->apart, (size_t)s->bytes, access, MAP_SHARED | MAP_FIXED, memory,
                 (off_t)(s->offset + k * s->bytes)) == MAP_FAILED)
            return ATTEST_NO_MEMORY;
    return ATTEST_OK;
}

static attest_status map_segments(const attest_table *table, int memory)
{
    attest_status status = ATTEST_OK;
    size_t whole = 0, from = 0;
    for (uint32_t i = 0; i < table->count; i++)
        whole += room_of(&table->segment[i]);
    unsigned char *at = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return ATTEST_NO_MEMORY;
    mapped.all = at;
    mapped.bytes = whole;
    for (uint32_t i = 0; i < table->count && status == ATTEST_OK; i++) {
        mapped.base[i] = at + from + ATTEST_WORKER_GUARD;
        from += room_of(&table->segment[i]);
        status = map_segment(mapped.base[i], &table->segment[i], memory);
        mapped.count = i + 1;
    }
    return status;
}

static void unmap_segments(void)
{
    mapped.count = 0;
    if (mapped.all)
        munmap(mapped.all, mapped.bytes);
    mapped.all = NULL;
}

/* ---- one run -------------------------------------------------------------------------------------------- */
typedef struct run_state {
    attest_loaded kernel;
    attest_images images; /* without a memory: the kernel runs on the segments themselves */
    attest_tensor tensor[ATTEST_WORKER_SEGMENTS];
    attest_view view;
    void *workspace;
    size_t workspace_size;
    unsigned char *before[ATTEST_WORKER_SEGMENTS], *first[ATTEST_WORKER_SEGMENTS]; /* outputs; only of many calls */
} run_state;

/* Puts a tensor of the kernel's view where its identity says. */
static void place_tensor(attest_view *view, const attest_segment *s, const attest_tensor *t)
{
    const attest_tensor **slot[5] = { view->role, view->h0, view->z0, view->ht, view->zt };
    const uint32_t limit = s->kind == ATTEST_KIND_ROLE ? ATTEST_ROLE_COUNT : ATTEST_STATE_SLOTS;
    if (s->kind <= ATTEST_KIND_ZT && s->index < limit)
        slot[s->kind][s->index] = t;
}

static void build_view(run_state *r, const attest_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const attest_segment *s = &table->segment[i];
        unsigned char *base = r->images.memory ? r->images.at[i] : mapped.base[i];
        if (s->use == ATTEST_SEGMENT_WORKSPACE) {
            r->workspace = base + s->start;
            r->workspace_size = (size_t)s->size;
            continue;
        }
        r->tensor[i] = s->tensor;
        r->tensor[i].data = base + s->start;
        r->tensor[i].device = (int32_t)r->kernel.kernel->device;
        place_tensor(&r->view, s, &r->tensor[i]);
    }
}

/* run() itself, in the state of floating point the process started with. */
static attest_status call_kernel(run_state *r, const served *w, const attest_problem *p, attest_packet_answer *answer)
{
    catch_faults(); /* again: a library may have put its own handlers */
    fp_set(w->fp);
    const double start = attest_now_seconds();
    attest_status status = attest_kernel_run(r->kernel, p, &r->view, r->workspace, r->workspace_size, answer->why,
                                             sizeof answer->why);
    if (status == ATTEST_OK)
        answer->why[0] = '\0';
    /* After a failure, too: no copy of a stream may come when its memory is gone. */
    const attest_status synced = r->images.memory ? r->images.memory->sync(r->kernel.context) : ATTEST_OK;
    if (status == ATTEST_OK && (status = synced) != ATTEST_OK)
        snprintf(answer->why, sizeof answer->why, "sync() after run() gave status %d", (int)status);
    answer->seconds = attest_now_seconds() - start;
    answer->fp_changed = (uint32_t)fp_compare(answer->fp_state, sizeof answer->fp_state, "", w->fp, fp_get());
    fp_set(w->fp);
    if (!answer->fp_changed && w->load_changed_fp) {
        answer->fp_changed = 1;
        memcpy(answer->fp_state, w->load_fp, sizeof answer->fp_state);
    }
    return status;
}

/* One call of run() and what it wrote, in the segments. */
static attest_status call_once(run_state *r, const served *w, const attest_problem *p, attest_packet_answer *answer)
{
    const attest_status status = call_kernel(r, w, p, answer);
    if (status != ATTEST_OK || !r->images.memory)
        return status;
    return attest_images_fetch(&r->images, &w->table, mapped.base, &answer->input_changed, answer->why,
                               sizeof answer->why);
}

/* A copy of every output's segment as it is now. */
static attest_status copy_outputs(unsigned char **copy, const attest_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const attest_segment *s = &table->segment[i];
        if (s->use != ATTEST_SEGMENT_OUTPUT)
            continue;
        if (!(copy[i] = malloc((size_t)s->bytes)))
            return ATTEST_NO_MEMORY;
        memcpy(copy[i], mapped.base[i], (size_t)s->bytes);
    }
    return ATTEST_OK;
}

static attest_status reset_outputs(const run_state *r, const attest_table *table)
{
    attest_status status = ATTEST_OK;
    for (uint32_t i = 0; i < table->count && status == ATTEST_OK; i++) {
        if (!r->before[i])
            continue;
        memcpy(mapped.base[i], r->before[i], (size_t)table->segment[i].bytes);
        if (r->images.memory)
            status = r->images.memory->to_device(r->kernel.context, r->images.at[i], mapped.base[i],
                                                 (size_t)table->segment[i].bytes);
    }
    return status;
}

/* All calls of a request but the first; the segments hold what the last one wrote. */
static attest_status call_again(run_state *r, const served *w, const attest_packet_request *request,
                                attest_packet_answer *answer)
{
    const attest_table *table = &w->table;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(copy_outputs(r->first, table));
    for (uint32_t call = 2; call <= request->calls && !answer->differs && !answer->fp_changed; call++) {
        ATTEST_TRY(reset_outputs(r, table));
        ATTEST_TRY(call_once(r, w, &request->problem, answer));
        for (uint32_t i = 0; i < table->count && request->compare; i++)
            if (r->first[i] && memcmp(r->first[i], mapped.base[i], (size_t)table->segment[i].bytes) != 0)
                answer->differs = call;
    }
out:
    return status;
}

static void free_run(run_state *r, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(r->before[i]);
        free(r->first[i]);
    }
    attest_images_free(&r->images, count);
    free(r);
}

/* The list of segments, by a mapping that goes at once. */
static int take_table(attest_table *table, int memory)
{
    const attest_table *at = memory < 0 ? MAP_FAILED : mmap(NULL, sizeof *at, PROT_READ, MAP_SHARED, memory, 0);
    table->count = 0;
    if (at == MAP_FAILED)
        return 0;
    if (at->count <= ATTEST_WORKER_SEGMENTS)
        memcpy(table, at, offsetof(attest_table, segment) + at->count * sizeof at->segment[0]);
    munmap((void *)(uintptr_t)at, sizeof *at);
    return table->count > 0;
}

static void answer_run(served *w, const attest_packet_request *request, int memory, attest_packet_answer *answer)
{
    attest_status status = ATTEST_OK;
    run_state *r = calloc(1, sizeof *r);
    const attest_table *table = &w->table;
    if (!r || !take_table(&w->table, memory)) {
        answer->harness = r ? ATTEST_IO : ATTEST_NO_MEMORY;
        snprintf(answer->why, sizeof answer->why, "cannot take the tensors: %s",
                 memory < 0 ? "no room for a descriptor" : strerror(errno));
        close(memory);
        free(r);
        return;
    }
    r->kernel = attest_plugin_loaded(w->plugin, request->kernel);
    r->images.memory = r->kernel.kernel->device == ATTEST_CPU ? NULL : w->plugin->library.memory;
    r->images.context = r->kernel.context;
    status = map_segments(table, memory);
    close(memory); /* before the kernel runs: it shall find no descriptor of the tensors */
    if (status != ATTEST_OK) {
        answer->harness = status;
        snprintf(answer->why, sizeof answer->why, "cannot map the tensors: %s", strerror(errno));
        goto out;
    }
    if (r->images.memory)
        ATTEST_TRY(attest_images_make(&r->images, table, mapped.base, answer->why, sizeof answer->why));
    if (request->own_stream && request->calls == 1 && r->images.memory && r->images.memory->copy_later) {
        status = attest_images_later(&r->images, table, mapped.base, &r->kernel.stream);
        if (status != ATTEST_OK) {
            snprintf(answer->why, sizeof answer->why, "the library's device memory: status %d", (int)status);
            goto out;
        }
        answer->own_stream = r->kernel.stream != NULL;
    }
    build_view(r, table);
    if (request->calls > 1)
        ATTEST_TRY(copy_outputs(r->before, table));
    ATTEST_TRY(call_once(r, w, &request->problem, answer));
    if (request->calls > 1)
        ATTEST_TRY(call_again(r, w, request, answer));
out:
    answer->returned = attest_is_status((uint32_t)status) ? 0 : (int32_t)status;
    answer->status = answer->returned ? ATTEST_KERNEL_ERROR : status;
    free_run(r, table->count);
    unmap_segments();
}

static void answer_query(const served *w, const attest_packet_request *request, attest_packet_answer *answer)
{
    const attest_loaded k = attest_plugin_loaded(w->plugin, request->kernel);
    const attest_problem *p = &request->problem;
    catch_faults();
    if (w->plugin->opened == ATTEST_NO_DEVICE || (k.kernel->device != ATTEST_CPU && w->device_status != ATTEST_OK)) {
        snprintf(answer->why, sizeof answer->why, "no device");
        return;
    }
    const int serves = attest_kernel_supports(k, p, answer->why, sizeof answer->why);
    mapped.shared->asking = ATTEST_ASKING_NUMERICS;
    answer->supported = serves && attest_declared_of(&answer->declared, k, p, answer->why, sizeof answer->why);
    mapped.shared->asking = ATTEST_ASKING_WORKSPACE;
    if (answer->supported)
        answer->workspace = attest_kernel_workspace(k, p);
    fp_set(w->fp);
}

/* 1 if this process has children, of whichever thread, running or not waited for. */
static uint32_t has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/* Threads of this process; /proc counts them as the links of a folder. */
static uint32_t thread_count(void)
{
    struct stat folder;
    return stat("/proc/self/task", &folder) == 0 ? (uint32_t)folder.st_nlink : 0;
}

/* ---- start ---------------------------------------------------------------------------------------------- */
static void log_line(const char *line) { fprintf(stderr, "%s\n", line ? line : ""); }

static int tell(const void *packet, size_t size)
{
    return send(ATTEST_WORKER_SOCKET, packet, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static void describe_device(served *w)
{
    const attest_memory *memory = w->plugin->library.memory;
    if (!memory)
        return;
    w->device_status = w->plugin->opened == ATTEST_OK
                           ? memory->describe(w->plugin->context, w->device, sizeof w->device)
                           : w->plugin->opened;
    w->device[sizeof w->device - 1] = '\0';
    if (w->device_status != ATTEST_OK)
        snprintf(w->device, sizeof w->device, "no device");
}

/* Loads the library and sends LOADED and FACTS; 0 if the parent is gone or the library is bad. */
static int load(served *w, const char *path)
{
    static const attest_host host = { sizeof host, ATTEST_ABI_VERSION, log_line };
    attest_packet_loaded loaded = { .type = ATTEST_PACKET_LOADED };
    attest_error err = { "" };
    catch_faults();
    loaded.status = attest_worker_library_open(&w->plugin, &w->door, path, &host, &err);
    if (w->plugin)
        describe_device(w);
    w->load_changed_fp = fp_compare(w->load_fp, sizeof w->load_fp, "load: ", w->fp, fp_get());
    fp_set(w->fp);
    memcpy(loaded.text, err.text, sizeof loaded.text);
    loaded.kernel_count = w->plugin ? w->plugin->library.kernel_count : 0;
    loaded.closes = w->plugin && w->plugin->library.close;
    loaded.threads = thread_count();
    if (!tell(&loaded, sizeof loaded) || loaded.status != ATTEST_OK)
        return 0;
    for (uint32_t i = 0; i < loaded.kernel_count; i++) {
        attest_packet_facts packet = { .type = ATTEST_PACKET_FACTS, .index = i };
        attest_describe_kernel(&packet.facts, w->plugin, i, w->cpu, w->device);
        if (!tell(&packet, sizeof packet))
            return 0;
    }
    return 1;
}

/* A request, and the descriptor that comes with it (-1: none); 0: there is nothing more to do. */
static int take_request(attest_packet_request *request, int *memory)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = { request, sizeof *request };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t got;
    do
        got = recvmsg(ATTEST_WORKER_SOCKET, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    *memory = -1;
    if (got != (ssize_t)sizeof *request)
        return 0;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(memory, CMSG_DATA(c), sizeof *memory);
    return 1;
}

static void serve(served *w)
{
    for (;;) {
        attest_packet_request request;
        attest_packet_answer answer = { .type = ATTEST_PACKET_ANSWER };
        int memory;
        if (!take_request(&request, &memory) || request.kernel >= w->plugin->library.kernel_count)
            return;
        answer.number = request.number;
        order_begin(&request);
        if (request.type == ATTEST_PACKET_QUERY)
            answer_query(w, &request, &answer);
        else
            answer_run(w, &request, memory, &answer);
        order_end(&request);
        answer.threads = thread_count();
        answer.children = !w->door && has_children(); /* a program is meant to stay */
        fflush(stdout);
        if (!tell(&answer, sizeof answer))
            return;
    }
}

int main(int argc, char **argv)
{
    static served w;
    attest_packet_hello hello = { .type = ATTEST_PACKET_HELLO,
                                  .abi_version = ATTEST_ABI_VERSION,
                                  .facts_size = sizeof(attest_packet_facts),
                                  .request_size = sizeof(attest_packet_request),
                                  .answer_size = sizeof(attest_packet_answer),
                                  .shared_size = sizeof(attest_table) };
    const int confine = argc > 1 && strcmp(argv[1], "--serve") == 0;
    const char *folder;
    if (argc < 2 || argc > 3 || (!confine && strcmp(argv[1], "--serve-open") != 0)) {
        fprintf(stderr, "attest-worker: started by attest to run kernels in a process of their own\n");
        return 2;
    }
    prctl(PR_SET_NAME, ATTEST_WORKER_NAME); /* exec named it after its file */
    w.fp = fp_get();
    void *at = mmap(NULL, sizeof *mapped.shared, PROT_READ | PROT_WRITE, MAP_SHARED, ATTEST_WORKER_PAGE, 0);
    if (at == MAP_FAILED || !attest_supervise(at, confine || attest_door_is(argv[2]), &folder))
        return 1;
    mapped.shared = at;
    mapped.table = &w.table;
    if (!confine)
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* where Yama lets only parents debug */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    attest_describe_cpu(w.cpu, sizeof w.cpu);
    const int alone = attest_supervise_namespace();
    hello.confined = (confine ? attest_confine(folder, alone) : 0) | (alone ? ATTEST_CONFINED_NAMESPACE : 0);
    if (!use_signal_stack() || !tell(&hello, sizeof hello))
        return 1;
    if (load(&w, argc > 2 ? argv[2] : NULL))
        serve(&w);
    attest_worker_library_free(w.plugin, w.door);
    return 0;
}
