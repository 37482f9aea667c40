/* worker_process.c - one supervisor and its worker: packets with a deadline, what they may say, and their end. */
#include "verify/worker/worker_private.h"
#include "verify/base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/text.h"
#include "verify/worker/worker_memory.h"

/* Seconds that a supervisor may take to end what the worker started. */
#define END_TIME 2.0

/* Seconds between two looks at the memory that a worker uses. */
#define WATCH_TIME 0.1

/* Seconds that a call has left once a signal asks for the end of the run. */
#define STOP_TIME 1.0

/* A busy machine makes no kernel late: a time limit grows by the time in which the worker was ready to run and the
 * machine ran others, to this many limits at most. */
#define LATE_MOST 30.0

/* Seconds after which a wait that lasts longer than it was to is a stop of us all (SIGSTOP, a frozen group), unless the
 * worker ran meanwhile. */
#define STALLED 0.5 /* a shorter stop counts as the kernel's */

static int is_over(pid_t pid)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno != EINTR)
        return 1;
    return info.si_pid == pid;
}

/* Milliseconds until the deadline, at most `most` seconds; at least 1 before it. */
static int wait_time(double deadline, double most)
{
    const double left = deadline - attest_now_seconds(), wait = left < most ? left : most;
    return !(left > 0) ? 0 : (int)(wait * 1000) + 1;
}

/* Waits until the process has ended or `deadline`; leaves the zombie, so that its id stays its own. */
static int has_ended(pid_t pid, double deadline)
{
    int fd = -1;
#ifdef SYS_pidfd_open
    fd = is_over(pid) || !(attest_now_seconds() < deadline) ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
#endif
    struct pollfd p = { .fd = fd, .events = POLLIN };
    while (!is_over(pid) && attest_now_seconds() < deadline)
        poll(&p, fd >= 0, wait_time(deadline, fd >= 0 ? 1000 : 0.001));
    if (fd >= 0)
        close(fd);
    return is_over(pid);
}

/* What the supervisor says of the worker's end, else its own end. */
static int end_status(const attest_process *process, int own)
{
    const attest_end end = process->shared ? process->shared->end : (attest_end){ 0, 0 };
    const int said = own == 0 && end.valid == 1 && (WIFEXITED(end.status) || WIFSIGNALED(end.status));
    return said ? end.status : own;
}

int attest_process_kill(attest_process *process)
{
    const pid_t pid = process->pid;
    int status = -1;
    if (pid > 0) {
        if (!process->namespace && !is_over(pid) && kill(pid, SIGTERM) == 0)
            has_ended(pid, attest_now_seconds() + END_TIME);
        kill(pid, SIGKILL);
        kill(-pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        status = end_status(process, status);
    }
    process->pid = -1;
    process->inner = 0;
    if (process->socket >= 0)
        close(process->socket);
    process->socket = -1;
    return status;
}

void attest_process_clear(attest_process *process)
{
    attest_process_kill(process);
    attest_printed_close(process);
    free(process->printed);
    process->printed = NULL;
    process->printed_length = 0;
    if (process->shared)
        munmap(process->shared, sizeof *process->shared);
    process->shared = NULL;
}

void attest_process_shut(attest_process *process)
{
    if (process->socket >= 0)
        shutdown(process->socket, SHUT_WR);
}

void attest_process_await(attest_process *process, double deadline)
{
    do
        attest_printed_take(process);
    while (process->pid > 0 && !has_ended(process->pid, fmin(deadline, attest_now_seconds() + WATCH_TIME)) &&
           attest_now_seconds() < deadline);
}

int attest_process_broken(attest_process *process)
{
    struct pollfd p = { .fd = process->socket, .events = POLLIN };
    return process->pid <= 0 || is_over(process->pid) || poll(&p, 1, 0) != 0;
}

/* The start of a small file of /proc, "" where it cannot be read.  Without a stream: it is read at each answer. */
static void read_start(char *text, size_t size, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, text, size - 1) : 0;
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

/* The first two children of the supervisor, which has one thread; how many there are of them. */
static int list_children(const attest_process *process, int pid[2])
{
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process->pid, (int)process->pid);
    read_start(text, sizeof text, path);
    const int count = sscanf(text, "%d %d", &pid[0], &pid[1]);
    return count > 0 ? count : 0;
}

pid_t attest_process_child(const attest_process *process)
{
    int pid[2];
    return list_children(process, pid) > 0 ? pid[0] : 0;
}

int attest_process_orphans(const attest_process *process)
{
    int pid[2];
    return list_children(process, pid) > 1;
}

/* How a look at the worker's memory ends the exchange; ATTEST_EXCHANGE_LATE: it does not. */
static attest_exchange memory_end(const attest_process *process)
{
    if (process->inner <= 0)
        return ATTEST_EXCHANGE_LATE;
    switch (attest_memory_is_over(process->inner, process->memory_most)) {
    case ATTEST_MEMORY_OVER: return ATTEST_EXCHANGE_MEMORY;
    case ATTEST_MEMORY_SHORT: return process->alone ? ATTEST_EXCHANGE_LATE : ATTEST_EXCHANGE_SHORT;
    default: return ATTEST_EXCHANGE_LATE;
    }
}

/* The worker can answer no more: its end is waited for, as an answer would be. */
static attest_exchange ended(attest_process *process, double deadline, int *wait_status)
{
    attest_exchange end = ATTEST_EXCHANGE_LATE;
    int stopping = 0;
    do {
        if (!stopping && attest_stop_signal()) {
            stopping = 1;
            deadline = fmin(deadline, attest_now_seconds() + STOP_TIME);
        }
        attest_printed_take(process);
        if (has_ended(process->pid, fmin(deadline, attest_now_seconds() + WATCH_TIME)))
            end = ATTEST_EXCHANGE_ENDED;
        else
            end = memory_end(process);
    } while (end == ATTEST_EXCHANGE_LATE && attest_now_seconds() < deadline);
    *wait_status = attest_process_kill(process);
    return end;
}

/* What recv() gives as 0 bytes is the end of the socket, or a packet with nothing in it. */
static int is_empty_packet(const attest_process *process)
{
    struct pollfd p = { .fd = process->socket, .events = POLLRDHUP };
    return poll(&p, 1, 0) == 0;
}

double attest_process_starved(const attest_process *process)
{
    char path[64], text[96] = "";
    long long ran = 0, waited = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process->inner);
    if (process->inner > 0)
        read_start(text, sizeof text, path);
    return sscanf(text, "%lld %lld", &ran, &waited) == 2 && waited > 0 ? 1e-9 * (double)waited : 0;
}

/* Clocks of a worker at one moment. */
typedef struct moment {
    double now, starved, cpu;
} moment;

static moment moment_of(const attest_process *process)
{
    return (moment){ attest_now_seconds(), attest_process_starved(process), attest_process_cpu(process) };
}

/* Processors that the worker may run on. */
static int processors(const attest_process *process)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(process->inner, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
}

/* 1: a thread of the worker has started a process, or somebody whom one started is an orphan now. */
static int has_children(const attest_process *process)
{
    char path[320], text[8];
    int some = attest_process_orphans(process);
    snprintf(path, sizeof path, "/proc/%d/task", (int)process->inner);
    DIR *folder = process->inner > 0 ? opendir(path) : NULL;
    for (struct dirent *e = folder ? readdir(folder) : NULL; e && !some; e = readdir(folder)) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)process->inner, e->d_name);
        read_start(text, sizeof text, path);
        some = text[0] != '\0';
    }
    if (folder)
        closedir(folder);
    return some;
}

/* When an answer that was asked for at `since` is late: by the time until now in which the worker waited for a
 * processor, without what its own threads had of them; who has processes at work waits for these. */
static double late_at(const attest_process *process, const moment *since, double timeout_s)
{
    if (has_children(process))
        return since->now + timeout_s;
    const moment now = moment_of(process);
    const double others = processors(process) * (now.now - since->now) - (now.cpu - since->cpu);
    const double waited = now.starved - since->starved, most = (LATE_MOST - 1) * timeout_s;
    const double more = waited < others ? waited : others;
    return since->now + timeout_s + (more > most ? most : more > 0 ? more : 0);
}

/* Until the socket has a packet or its end: 1; `deadline`: 0; a signal: below 0.  Takes meanwhile what is printed. */
static int await_packet(attest_process *process, double deadline)
{
    for (;;) {
        struct pollfd p[] = { { .fd = process->socket, .events = POLLIN },
                              { .fd = process->output, .events = POLLIN } };
        const int ready = poll(p, 2, wait_time(deadline, 1e6));
        if (ready <= 0 || p[0].revents)
            return ready < 0 ? -1 : ready > 0;
        attest_printed_take(process);
        if (attest_now_seconds() >= deadline)
            return 0;
    }
}

/* Of a wait that was to end at `until`: seconds beyond it, STALLED or more, in which the worker did not run either, but
 * for what it may have run of WATCH_TIME before; 0 where it has processes at work, which may keep us from running.
 * *cpu: its processor time before and, here, now. */
static double time_lost(const attest_process *process, double until, double *cpu)
{
    const double before = *cpu, beyond = attest_now_seconds() - until;
    *cpu = attest_process_cpu(process);
    const double ran = *cpu - before - WATCH_TIME * processors(process), lost = ran > 0 ? beyond - ran : beyond;
    return lost > STALLED && !has_children(process) ? lost : 0;
}

attest_exchange attest_process_receive(attest_process *process, void *packet, size_t size, uint32_t type,
                                       double timeout_s, int *wait_status)
{
    moment since = moment_of(process);
    double deadline = since.now + timeout_s, cpu = since.cpu;
    int stopping = 0;
    for (;;) {
        const double until = fmin(deadline, attest_now_seconds() + WATCH_TIME);
        const int ready = await_packet(process, until);
        const double lost = time_lost(process, until, &cpu);
        since.now += lost;
        deadline += lost;
        if (!stopping && attest_stop_signal()) {
            stopping = 1;
            deadline = fmin(deadline, attest_now_seconds() + STOP_TIME);
        }
        if (ready < 0 && errno == EINTR)
            continue;
        const attest_exchange memory = ready == 0 ? memory_end(process) : ATTEST_EXCHANGE_LATE;
        if (memory != ATTEST_EXCHANGE_LATE) {
            *wait_status = attest_process_kill(process);
            return memory;
        }
        if (ready == 0 && !stopping && attest_now_seconds() >= deadline)
            deadline = late_at(process, &since, timeout_s);
        if (ready == 0 && attest_now_seconds() < deadline)
            continue;
        if (ready <= 0) {
            *wait_status = attest_process_kill(process);
            return ATTEST_EXCHANGE_LATE;
        }
        const ssize_t got = recv(process->socket, packet, size, MSG_TRUNC);
        uint32_t got_type = 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || (got == 0 && !is_empty_packet(process)))
            return ended(process, deadline, wait_status);
        if ((size_t)got >= sizeof got_type)
            memcpy(&got_type, packet, sizeof got_type);
        if ((size_t)got == size && got_type == type)
            return ATTEST_EXCHANGE_OK;
        *wait_status = attest_process_kill(process);
        return ATTEST_EXCHANGE_GARBLED;
    }
}

/* The request, and the descriptor of the tensors' memfd beside it. */
static int send_request(int socket_fd, const attest_packet_request *request, int memory)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = { { 0 } };
    struct iovec part = { (void *)(uintptr_t)request, sizeof *request };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    ssize_t sent;
    if (memory >= 0) {
        message.msg_control = control.room;
        message.msg_controllen = sizeof control.room;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof memory);
        memcpy(CMSG_DATA(c), &memory, sizeof memory);
    }
    do
        sent = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof *request;
}

/* Whoever wrote it: an answer to this request, with values that an answer has.  Ends its texts. */
static int is_answer(attest_packet_answer *a, const attest_packet_request *request)
{
    char why[200];
    attest_text_clean_own(a->why, sizeof a->why);
    attest_text_clean_own(a->fp_state, sizeof a->fp_state);
    return a->number == request->number && attest_is_status(a->status) && attest_is_status(a->harness) &&
           a->supported <= 1 && a->fp_changed <= 1 && a->children <= 1 && a->differs <= request->calls &&
           isfinite(a->seconds) && a->seconds >= 0 &&
           (!a->supported || attest_numerics_check(&a->declared.numerics, why, sizeof why));
}

attest_exchange attest_process_ask(attest_process *process, attest_packet_request *request, int memory,
                                   attest_packet_answer *answer, double timeout_s, int *wait_status)
{
    request->number = ++process->number;
    if (process->shared)
        process->shared->asking = ATTEST_ASKING_SUPPORTS;
    if (!send_request(process->socket, request, memory))
        return ended(process, attest_now_seconds() + timeout_s, wait_status);
    const attest_exchange x = attest_process_receive(process, answer, sizeof *answer, ATTEST_PACKET_ANSWER, timeout_s,
                                                     wait_status);
    if (x != ATTEST_EXCHANGE_OK)
        return x;
    if (!is_answer(answer, request)) {
        *wait_status = attest_process_kill(process);
        return ATTEST_EXCHANGE_GARBLED;
    }
    process->strays = answer->threads > process->threads_start ? answer->threads - process->threads_start : 0;
    process->left = answer->children || attest_process_orphans(process);
    return x;
}

const char *attest_process_asking(const attest_process *process)
{
    switch (process->shared ? process->shared->asking : ATTEST_ASKING_SUPPORTS) {
    case ATTEST_ASKING_NUMERICS: return "numerics_of()";
    case ATTEST_ASKING_WORKSPACE: return "workspace()";
    default: return "supports()";
    }
}

double attest_process_cpu(const attest_process *process)
{
    clockid_t clock;
    struct timespec t = { 0, 0 };
    if (process->inner <= 0 || clock_getcpuclockid(process->inner, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void attest_worker_death_text(char *text, size_t len, int wait_status)
{
    if (WIFSIGNALED(wait_status))
        snprintf(text, len, "signal %d (%s)", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    else
        snprintf(text, len, "exit code %d", WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1);
}
