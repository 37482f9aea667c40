/* worker.c - talking to a worker: packets with a deadline, its end, its kernel list, supports(). */
#include "verify/worker/worker_private.h"
#include "verify/base/base.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Waits until the worker has ended or `deadline`; leaves the zombie, so that its group id stays its own. */
static int has_ended(pid_t pid, double deadline)
{
    const struct timespec pause = { 0, 1000000 };
    for (;;) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno != EINTR)
            return 1;
        if (info.si_pid == pid)
            return 1;
        if (!(attest_now_seconds() < deadline))
            return 0;
        nanosleep(&pause, NULL);
    }
}

int attest_worker_kill(attest_worker *worker)
{
    int status = -1;
    if (worker->pid > 0) {
        kill(-worker->pid, SIGKILL);
        kill(worker->pid, SIGKILL);
        while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    worker->pid = -1;
    if (worker->socket >= 0)
        close(worker->socket);
    worker->socket = -1;
    return status;
}

static attest_exchange ended(attest_worker *worker, double deadline, int *wait_status)
{
    const int by_itself = has_ended(worker->pid, deadline);
    *wait_status = attest_worker_kill(worker);
    return by_itself ? ATTEST_EXCHANGE_ENDED : ATTEST_EXCHANGE_LATE;
}

attest_exchange attest_worker_receive(attest_worker *worker, void *packet, size_t size, uint32_t type, double timeout_s,
                                      int *wait_status)
{
    const double deadline = attest_now_seconds() + timeout_s;
    for (;;) {
        const double left = deadline - attest_now_seconds();
        struct pollfd p = { .fd = worker->socket, .events = POLLIN };
        const int ready = poll(&p, 1, !(left > 0) ? 0 : left > 1e6 ? 1000000000 : (int)(left * 1000) + 1);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0 && left > 0)
            continue;
        if (ready <= 0) {
            *wait_status = attest_worker_kill(worker);
            return ATTEST_EXCHANGE_LATE;
        }
        const ssize_t got = recv(worker->socket, packet, size, MSG_TRUNC);
        uint32_t got_type = 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return ended(worker, deadline, wait_status);
        if ((size_t)got >= sizeof got_type)
            memcpy(&got_type, packet, sizeof got_type);
        if ((size_t)got == size && got_type == type)
            return ATTEST_EXCHANGE_OK;
        *wait_status = attest_worker_kill(worker);
        return ATTEST_EXCHANGE_GARBLED;
    }
}

attest_exchange attest_worker_ask(attest_worker *worker, const attest_packet_request *request,
                                  attest_packet_answer *answer, double timeout_s, int *wait_status)
{
    memset(&worker->shared->fault, 0, sizeof worker->shared->fault);
    ssize_t sent;
    do
        sent = send(worker->socket, request, sizeof *request, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent != (ssize_t)sizeof *request)
        return ended(worker, attest_now_seconds() + timeout_s, wait_status);
    const attest_exchange x = attest_worker_receive(worker, answer, sizeof *answer, ATTEST_PACKET_ANSWER, timeout_s,
                                                    wait_status);
    if (x == ATTEST_EXCHANGE_OK) { /* the worker's memory is at the kernel's mercy: end its texts here */
        worker->ran = request->kernel;
        worker->strays = answer->threads > worker->threads_start ? answer->threads - worker->threads_start : 0;
        answer->why[sizeof answer->why - 1] = '\0';
        answer->fp_state[sizeof answer->fp_state - 1] = '\0';
    }
    return x;
}

void attest_worker_death_text(char *text, size_t len, int wait_status)
{
    if (WIFSIGNALED(wait_status))
        snprintf(text, len, "signal %d (%s)", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    else
        snprintf(text, len, "exit code %d", WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1);
}

void attest_worker_free(attest_worker *worker)
{
    if (!worker)
        return;
    if (worker->closes && worker->pid > 0 && shutdown(worker->socket, SHUT_WR) == 0)
        has_ended(worker->pid, attest_now_seconds() + ATTEST_WORKER_CLOSE);
    attest_worker_kill(worker);
    if (worker->shared)
        munmap(worker->shared, sizeof *worker->shared);
    if (worker->memory >= 0)
        close(worker->memory);
    free(worker->path);
    free(worker->library);
    free(worker->kernel);
    free(worker);
}

void attest_worker_renew(attest_worker *worker, unsigned threads)
{
    attest_worker_kill(worker);
    worker->threads = threads;
}

size_t attest_worker_kernel_count(const attest_worker *worker) { return worker->kernel_count; }

const attest_kernel_facts *attest_worker_kernel(const attest_worker *worker, size_t index)
{
    return index < worker->kernel_count ? &worker->kernel[index] : NULL;
}

attest_status attest_worker_alive(attest_worker *worker, size_t index, attest_error *err)
{
    if (worker->strays && worker->ran != index && worker->kernel[worker->ran].device_type == ATTEST_CPU)
        attest_worker_kill(worker);
    if (worker->pid > 0 && !has_ended(worker->pid, 0))
        return ATTEST_OK;
    attest_worker_kill(worker);
    if (worker->failed_starts >= ATTEST_WORKER_STARTS)
        return attest_fail(err, ATTEST_IO, "attest-worker failed to start %d times in a row: given up",
                           worker->failed_starts);
    const attest_status status = attest_worker_launch(worker, err);
    worker->failed_starts = status == ATTEST_OK ? 0 : worker->failed_starts + 1;
    return status;
}

attest_status attest_worker_declared(attest_worker *worker, size_t index, const attest_problem *p,
                                     attest_declared *declared, attest_error *err)
{
    const attest_kernel_facts *facts = &worker->kernel[index];
    const attest_packet_request request = { .type = ATTEST_PACKET_QUERY, .kernel = (uint32_t)index, .problem = *p };
    attest_packet_answer answer;
    attest_status status = ATTEST_OK;
    char why[256];
    int wait_status = 0;
    if (!facts->differs) {
        *declared = (attest_declared){ .numerics = facts->numerics, .flags = facts->flags };
        if (!attest_declared_resolve(declared, p, facts->outputs, why, sizeof why))
            status = attest_fail(err, ATTEST_UNSUPPORTED, "%s: %s", facts->name, why);
        return status;
    }
    ATTEST_TRY(attest_worker_alive(worker, index, err));
    if (attest_worker_ask(worker, &request, &answer, worker->timeout_s, &wait_status) != ATTEST_EXCHANGE_OK)
        return attest_fail(err, ATTEST_IO, "%s: no answer about its numerics", facts->name);
    if (!answer.supported)
        return attest_fail(err, ATTEST_UNSUPPORTED, "%s: %s", facts->name, answer.why);
    *declared = answer.declared;
out:
    return status;
}

int attest_worker_supports(attest_worker *worker, size_t index, const attest_problem *p, char *why, size_t len)
{
    attest_error err = { "" };
    attest_packet_answer answer;
    char death[96];
    int wait_status = 0;
    const attest_packet_request request = { .type = ATTEST_PACKET_QUERY, .kernel = (uint32_t)index, .problem = *p };
    if (attest_worker_alive(worker, index, &err) != ATTEST_OK) {
        snprintf(why, len, "%s", err.text);
        return -1;
    }
    switch (attest_worker_ask(worker, &request, &answer, worker->timeout_s, &wait_status)) {
    case ATTEST_EXCHANGE_OK: snprintf(why, len, "%s", answer.why); return answer.supported && !answer.harness;
    case ATTEST_EXCHANGE_ENDED:
        attest_worker_death_text(death, sizeof death, wait_status);
        snprintf(why, len, "supports() ended the worker: %s", death);
        return -1;
    case ATTEST_EXCHANGE_LATE:
        snprintf(why, len, "supports() did not answer within %g s", worker->timeout_s);
        return -1;
    default: snprintf(why, len, "the worker's answer to supports() was garbled"); return -1;
    }
}
