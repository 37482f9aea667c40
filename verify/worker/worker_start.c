/* worker_start.c - starting attest-worker: process, descriptors, limits, the library and its kernel list.
 *
 * A kernel that looks around finds a process `main` with a socket, nameless memory and the environment of attest
 * without what starts with ATTEST (but for ATTEST_CUDA_HOST_*, which only the machine of kernels/cuda/host reads: what
 * the caller has set and, in a second run on cuda-host, the order of threads).  What it can still find out: the file of
 * the executable, its symbols and its parent.
 */
#include "verify/worker/worker_private.h"
#include "verify/worker/worker_memory.h"
#include "verify/worker/worker_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/door/door.h"
#include "kernels/text.h"
#include "verify/base/base.h"

/* $ATTEST_WORKER, else `attest-worker` in the folder of this executable. */
attest_status attest_worker_path(char **path, attest_error *err)
{
    static const char name[] = "attest-worker";
    const char *given = getenv("ATTEST_WORKER");
    char self[4096 + sizeof name];
    *path = NULL;
    if (given && *given) {
        *path = strdup(given);
    } else {
        const ssize_t n = readlink("/proc/self/exe", self, 4096);
        if (n <= 0 || n >= 4096)
            return attest_fail(err, ATTEST_IO, "cannot find my own executable: %s",
                               strerror(n < 0 ? errno : ENAMETOOLONG));
        self[n] = '\0';
        char *slash = strrchr(self, '/');
        memcpy(slash ? slash + 1 : self, name, sizeof name);
        *path = strdup(self);
    }
    if (!*path)
        return attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
    if (access(*path, X_OK) == 0)
        return ATTEST_OK;
    attest_fail(err, ATTEST_IO, "%s: cannot run the worker: %s (set ATTEST_WORKER to its path)", *path,
                strerror(errno));
    free(*path);
    *path = NULL;
    return ATTEST_IO;
}

/* Kernels of a library, as kernels/library/plugin.c allows them. */
#define KERNELS_MOST 4096

/* Seconds that a worker on the built-in kernels may take to tell what holds it back. */
#define SANDBOX_TIME 10.0

/* Moves a descriptor to a number >= 10, closed on exec, so that dup2() to 3 and 4 cannot hit it. */
static int move_up(int fd)
{
    const int up = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    const int saved = errno;
    close(fd);
    errno = saved;
    return up;
}

extern char **environ;

/* Every runtime that kernels make threads with asks one of these. */
static const char *const thread_variables[] = { "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                                "BLIS_NUM_THREADS", "RAYON_NUM_THREADS" };
#define THREAD_VARIABLES (sizeof thread_variables / sizeof thread_variables[0])

typedef struct environment {
    const char **entry; /* malloc'd, NULL at the end; the texts are borrowed */
    char threads[THREAD_VARIABLES][48];
} environment;

/* Settings of the machine that CUDA kernels run on without a GPU. */
#define CUDA_HOST "ATTEST_CUDA_HOST_"

/* 1 for what tells a kernel who runs it (`_` is the command that the shell started), and for what is set below. */
static int is_kept_back(const char *entry, const attest_worker *worker)
{
    for (size_t i = 0; worker->threads && i < THREAD_VARIABLES; i++)
        if (strncmp(entry, thread_variables[i], strlen(thread_variables[i])) == 0)
            return 1;
    if (worker->variable[0] && strncmp(entry, worker->variable, strcspn(worker->variable, "=") + 1) == 0)
        return 1;
    return (strncmp(entry, "ATTEST", 6) == 0 && strncmp(entry, CUDA_HOST, strlen(CUDA_HOST)) != 0) ||
           strncmp(entry, "_=", 2) == 0;
}

/* Our environment without ATTEST*, and with the number of threads and the variable that are asked for. */
static attest_status make_environment(environment *env, const attest_worker *worker, attest_error *err)
{
    const unsigned threads = worker->threads;
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    env->entry = calloc(count + THREAD_VARIABLES + 3, sizeof *env->entry);
    if (!env->entry)
        return attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!is_kept_back(environ[i], worker) &&
            !(worker->sandbox.namespaces && strncmp(environ[i], "TMPDIR=", 7) == 0))
            env->entry[kept++] = environ[i];
    if (worker->sandbox.namespaces)
        env->entry[kept++] = "TMPDIR=" ATTEST_SANDBOX_FOLDER;
    if (worker->variable[0])
        env->entry[kept++] = worker->variable;
    for (size_t i = 0; threads && i < THREAD_VARIABLES; i++) {
        snprintf(env->threads[i], sizeof env->threads[i], "%s=%u", thread_variables[i], threads);
        env->entry[kept++] = env->threads[i];
    }
    return ATTEST_OK;
}

/* In the child, between fork and exec: async-signal-safe calls only. */
static void become_worker(const attest_worker *worker, const char *const *env, const int fds[3],
                          const attest_sandbox_ids *ids)
{
    const struct rlimit no_core = { 0, 0 };
    const char *const argv[] = { ATTEST_WORKER_NAME,
                                 worker->sandbox.mode == ATTEST_SANDBOX_OFF ? "--serve-open" : "--serve",
                                 worker->library, NULL };
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGCHLD, SIG_DFL); /* who ignores it is not told of a worker's end */
    setsid();                 /* a group of its own, and no terminal */
    prctl(PR_SET_PDEATHSIG, worker->sandbox.namespaces ? SIGKILL : SIGTERM);
    setrlimit(RLIMIT_CORE, &no_core);
    const int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) < 0 || dup2(fds[2], 1) < 0 || dup2(fds[2], 2) < 0 ||
        dup2(fds[0], ATTEST_WORKER_SOCKET) < 0 || dup2(fds[1], ATTEST_WORKER_PAGE) < 0)
        _exit(127);
#ifdef SYS_close_range
    syscall(SYS_close_range, ATTEST_WORKER_PAGE + 1, ~0u, 0);
#endif
    if (!attest_sandbox_enter(&worker->sandbox, ids))
        _exit(ATTEST_SANDBOX_REFUSED);
    execve(worker->path, (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
    _exit(127);
}

/* A memfd of a size that nobody can change. */
static attest_status make_memory(int *fd, size_t size, attest_error *err)
{
    *fd = memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || (*fd = move_up(*fd)) < 0)
        return attest_fail(err, ATTEST_IO, "cannot make shared memory: %s", strerror(errno));
    if (ftruncate(*fd, (off_t)size) < 0 || fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return attest_fail(err, ATTEST_IO, "cannot size shared memory: %s", strerror(errno));
    return ATTEST_OK;
}

/* Socket pair, page and output; `fds`: the child's three, `own` our end of the pair. */
static attest_status make_descriptors(attest_process *process, int fds[3], int *own, size_t page, attest_error *err)
{
    int pair[2] = { -1, -1 };
    attest_status status = ATTEST_OK;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return attest_fail(err, ATTEST_IO, "cannot make a socket pair: %s", strerror(errno));
    *own = move_up(pair[0]);
    fds[0] = move_up(pair[1]);
    if (*own < 0 || fds[0] < 0)
        return attest_fail(err, ATTEST_IO, "cannot duplicate a descriptor: %s", strerror(errno));
    ATTEST_TRY(make_memory(&fds[1], page, err));
    ATTEST_TRY(attest_printed_open(&process->output, &fds[2], err));
    process->output = move_up(process->output);
    fds[2] = move_up(fds[2]);
    if (process->output < 0 || fds[2] < 0)
        return attest_fail(err, ATTEST_IO, "cannot duplicate a descriptor: %s", strerror(errno));
    void *at = mmap(NULL, sizeof *process->shared, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
    if (at == MAP_FAILED)
        return attest_fail(err, ATTEST_IO, "cannot map shared memory: %s", strerror(errno));
    process->shared = at;
out:
    return status;
}

static attest_status start_process(attest_process *process, const attest_worker *worker, attest_error *err)
{
    int fds[3] = { -1, -1, -1 }, own = -1;
    attest_status status = ATTEST_OK;
    environment env = { NULL, { "" } };
    const attest_sandbox_ids ids = attest_sandbox_ids_of(&worker->sandbox);
    if (access("/dev/null", R_OK) != 0)
        return attest_fail(err, ATTEST_IO, "no worker can be started: /dev/null: %s", strerror(errno));
    ATTEST_TRY(make_environment(&env, worker, err));
    ATTEST_TRY(make_descriptors(process, fds, &own, worker->page, err));
    const pid_t pid = attest_sandbox_fork(&worker->sandbox);
    if (pid < 0) {
        status = attest_fail(err, ATTEST_IO, "cannot start a process: %s", strerror(errno));
        goto out;
    }
    if (pid == 0)
        become_worker(worker, env.entry, fds, &ids);
    process->pid = pid;
    process->namespace = worker->sandbox.namespaces;
    process->socket = own;
    process->memory_most = attest_memory_total() / 2;
    process->number = 0;
    process->strays = 0;
    process->left = 0;
    own = -1;
out:
    free(env.entry);
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (own >= 0)
        close(own);
    return status;
}

/* Seconds that a program has at least for what it imports and compiles. */
#define PROGRAM_TIME 60.0

/* Who asks for a number of threads does so under load. */
static double start_timeout(const attest_worker *worker)
{
    const double most = attest_door_is(worker->library) && worker->timeout_s < PROGRAM_TIME ? PROGRAM_TIME
                                                                                            : worker->timeout_s;
    return (worker->threads ? 20 : 1) * most;
}

/* What went wrong while `doing`, in words. */
static attest_status start_failure(const attest_worker *worker, attest_exchange x, int wait_status, const char *doing,
                                   attest_error *err)
{
    char death[96];
    const char *what = worker->library ? worker->library : "built-in kernels";
    switch (x) {
    case ATTEST_EXCHANGE_LATE:
        return attest_fail(err, ATTEST_IO, "%s: no answer within %g s while %s", what, start_timeout(worker), doing);
    case ATTEST_EXCHANGE_ENDED:
        attest_worker_death_text(death, sizeof death, wait_status);
        return attest_fail(err, ATTEST_IO, "%s: the worker ended with %s while %s", what, death, doing);
    case ATTEST_EXCHANGE_MEMORY:
    case ATTEST_EXCHANGE_SHORT: return attest_fail(err, ATTEST_IO, "%s: it used too much memory while %s", what, doing);
    default: return attest_fail(err, ATTEST_IO, "%s: the worker's answer was garbled while %s", what, doing);
    }
}

static attest_status receive_hello(attest_process *process, attest_worker *worker, attest_error *err)
{
    attest_packet_hello hello;
    int wait_status = 0;
    const attest_exchange x = attest_process_receive(process, &hello, sizeof hello, ATTEST_PACKET_HELLO,
                                                     start_timeout(worker), &wait_status);
    if (x != ATTEST_EXCHANGE_OK) {
        attest_error why;
        start_failure(worker, x, wait_status, "starting", &why);
        return attest_fail(err, ATTEST_IO, "%s: not a working attest-worker: %s", worker->path, why.text);
    }
    if (hello.abi_version == ATTEST_ABI_VERSION && hello.facts_size == sizeof(attest_packet_facts) &&
        hello.request_size == sizeof(attest_packet_request) && hello.answer_size == sizeof(attest_packet_answer) &&
        hello.shared_size == sizeof(attest_table)) {
        worker->confined = hello.confined;
        process->inner = attest_process_child(process);
        return attest_sandbox_satisfied(&worker->sandbox, hello.confined, err);
    }
    return attest_fail(err, ATTEST_IO, "%s: attest-worker is of another build than attest", worker->path);
}

static void clean_texts(attest_kernel_facts *f)
{
    attest_text_clean_own(f->name, sizeof f->name);
    attest_text_clean_own(f->version, sizeof f->version);
    attest_text_clean_own(f->source, sizeof f->source);
    attest_text_clean_own(f->summary, sizeof f->summary);
    attest_text_clean_own(f->variants, sizeof f->variants);
    attest_text_clean_own(f->build_flags, sizeof f->build_flags);
    attest_text_clean_own(f->device, sizeof f->device);
    attest_text_clean_own(f->claim_domain, sizeof f->claim_domain);
}

/* The worker has checked them (kernels/library/plugin.c) before code of the library could run; or so it says. */
static attest_status check_facts(const attest_kernel_facts *f, size_t index, attest_error *err)
{
    char why[200];
    const uint32_t known[] = { ATTEST_FLAGS_KNOWN, ATTEST_OUTPUTS_KNOWN, ATTEST_NEEDS_KNOWN };
    const uint32_t given[] = { f->flags, f->outputs, f->needs };
    int fits = *f->name && strspn(f->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(f->name) &&
               f->form >= ATTEST_PARALLEL && f->form <= ATTEST_CHUNK &&
               (f->device_type == ATTEST_CPU || f->device_type == ATTEST_CUDA || f->device_type == ATTEST_CUDA_HOST) &&
               f->alignment <= ATTEST_WORKER_ALIGN && attest_numerics_check(&f->numerics, why, sizeof why);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        fits = fits && (given[i] & ~known[i]) == 0;
    const attest_limits *l = &f->limits;
    const attest_limit limits[] = { l->b, l->hq, l->hkv, l->n, l->m, l->d, l->e };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        fits = fits && limits[i].least >= 0 && limits[i].most >= 0 && limits[i].multiple >= 0;
    if (!fits)
        return attest_fail(err, ATTEST_IO, "the worker described kernel %zu in values that no kernel has", index);
    return ATTEST_OK;
}

static attest_status receive_facts(attest_process *process, attest_worker *worker, size_t count, attest_error *err)
{
    attest_packet_facts packet;
    attest_status status = ATTEST_OK;
    const int again = worker->kernel != NULL;
    if (again && count != worker->kernel_count)
        return attest_fail(err, ATTEST_IO, "%s: gave %zu kernels when started again, %zu before",
                           worker->library ? worker->library : "built-in kernels", count, worker->kernel_count);
    if (count == 0 || count > KERNELS_MOST)
        return attest_fail(err, ATTEST_IO, "the worker gave %zu kernels", count);
    if (!again && (!(worker->kernel = calloc(count, sizeof *worker->kernel)) ||
                   !(worker->process = calloc(count, sizeof(attest_process *)))))
        return attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        int wait_status = 0;
        const attest_exchange x = attest_process_receive(process, &packet, sizeof packet, ATTEST_PACKET_FACTS,
                                                         start_timeout(worker), &wait_status);
        if (x != ATTEST_EXCHANGE_OK) {
            status = start_failure(worker, x, wait_status, "listing its kernels", err);
            break;
        }
        clean_texts(&packet.facts);
        status = check_facts(&packet.facts, i, err);
        if (status == ATTEST_OK && again && strcmp(packet.facts.name, worker->kernel[i].name) != 0)
            status = attest_fail(err, ATTEST_IO, "kernel %zu is `%s` when started again, `%s` before", i,
                                 packet.facts.name, worker->kernel[i].name);
        if (status != ATTEST_OK)
            break;
        if (!again) /* what it said first stands, and what it is taken to declare besides */
            worker->kernel[i] = packet.facts;
    }
    if (status == ATTEST_OK)
        worker->kernel_count = count;
    return status;
}

static const char *file_of(const attest_worker *worker) { return worker->library ? worker->library : worker->path; }

/* Who exchanges the file during a run would have two kernels judged as one. */
static attest_status check_file(const attest_worker *worker, attest_error *err)
{
    return attest_file_is(&worker->file, file_of(worker))
               ? ATTEST_OK
               : attest_fail(err, ATTEST_IO, "%s: the file has changed during the run", file_of(worker));
}

attest_status attest_worker_expect(attest_worker *worker, const attest_file_seen *seen, attest_error *err)
{
    worker->file = *seen;
    return check_file(worker, err);
}

attest_status attest_process_launch(attest_process *process, attest_worker *worker, attest_error *err)
{
    attest_packet_loaded loaded;
    attest_status status = ATTEST_OK;
    int wait_status = 0;
    attest_process_clear(process);
    process->refused = 1;
    ATTEST_TRY(start_process(process, worker, err));
    ATTEST_TRY(receive_hello(process, worker, err));
    process->refused = 0;
    const attest_exchange x = attest_process_receive(process, &loaded, sizeof loaded, ATTEST_PACKET_LOADED,
                                                     start_timeout(worker), &wait_status);
    if (x != ATTEST_EXCHANGE_OK) {
        status = start_failure(worker, x, wait_status, "loading", err);
        attest_process_tell_printed(err->text, sizeof err->text, process);
        goto out;
    }
    if (loaded.status != ATTEST_OK) {
        attest_text_clean_own(loaded.text, sizeof loaded.text);
        status = attest_fail(err, loaded.status == ATTEST_NO_MEMORY ? ATTEST_NO_MEMORY : ATTEST_BAD_INPUT, "%s",
                             loaded.text);
        attest_process_tell_printed(err->text, sizeof err->text, process);
        goto out;
    }
    worker->closes = loaded.closes != 0;
    process->threads_start = loaded.threads;
    ATTEST_TRY(receive_facts(process, worker, loaded.kernel_count, err));
    ATTEST_TRY(check_file(worker, err)); /* as it was when it was loaded, or before */
out:
    if (status != ATTEST_OK)
        attest_process_kill(process);
    return status;
}

attest_process *attest_process_new(void)
{
    attest_process *process = calloc(1, sizeof *process);
    if (process)
        process->pid = process->socket = process->output = -1;
    return process;
}

/* A worker takes two descriptors for each kernel.  Returns how many there may be. */
static rlim_t raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return RLIM_INFINITY;
    const struct rlimit raised = { limit.rlim_max, limit.rlim_max };
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

/* With fewer, starts of workers were seen to fail. */
enum { FILES_OURS = 32, FILES_OF_A_THREAD = 16, FILES_OF_A_WORKER = 4 };

size_t attest_worker_files(size_t libraries) { return FILES_OURS + FILES_OF_A_THREAD + FILES_OF_A_WORKER * libraries; }

long attest_worker_room(size_t libraries, unsigned long long *limit)
{
    const rlim_t most = raise_descriptors();
    const rlim_t room = most < FILES_OURS ? 0 : (most - FILES_OURS) / (attest_worker_files(libraries) - FILES_OURS);
    *limit = most;
    return room < INT_MAX ? (long)room : INT_MAX;
}

attest_status attest_worker_start(attest_worker **out_worker, const char *library, double timeout_s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_worker *worker = calloc(1, sizeof *worker);
    *out_worker = NULL;
    if (!worker)
        return attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
    worker->timeout_s = timeout_s;
    worker->most = ATTEST_WORKER_PROCESSES;
    worker->page = (size_t)sysconf(_SC_PAGESIZE);
    if (library && !(worker->library = strdup(library))) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
        goto out;
    }
    ATTEST_TRY(attest_worker_path(&worker->path, err));
    ATTEST_TRY(attest_sandbox_choose(&worker->sandbox, library, err));
    if (!(worker->spare = attest_process_new())) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
        goto out;
    }
    raise_descriptors();
    if (!library || !attest_door_is(library)) /* a program of a door is no file */
        attest_file_see(&worker->file, file_of(worker));
    ATTEST_TRY(attest_process_launch(worker->spare, worker, err));
    *out_worker = worker;
    worker = NULL;
out:
    attest_worker_free(worker);
    return status;
}

attest_status attest_worker_sandbox(char *text, size_t len, attest_error *err)
{
    attest_worker *worker = NULL;
    const attest_status status = attest_worker_start(&worker, NULL, SANDBOX_TIME, err);
    if (status == ATTEST_OK)
        attest_sandbox_text(text, len, &worker->sandbox, worker->confined);
    attest_worker_free(worker);
    return status;
}
