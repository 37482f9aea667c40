/* worker.c - a worker's processes, one for each kernel of the host; its kernel list, supports(), numerics. */
#include "verify/worker/worker_private.h"
#include "verify/base/base.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void free_process(attest_process *process)
{
    if (process)
        attest_process_clear(process);
    free(process);
}

/* Ends all processes; those of a library with a close() get time for it, all at once. */
static void end_processes(attest_worker *worker)
{
    const double deadline = attest_now_seconds() + ATTEST_WORKER_CLOSE;
    attest_process *const spare = worker->spare;
    for (size_t i = 0; worker->closes && i <= worker->kernel_count; i++) {
        attest_process *p = i < worker->kernel_count && worker->process ? worker->process[i] : spare;
        if (p)
            attest_process_shut(p);
    }
    for (size_t i = 0; i <= worker->kernel_count; i++) {
        attest_process *p = i == worker->kernel_count ? spare : worker->process ? worker->process[i] : NULL;
        if (p && worker->closes)
            attest_process_await(p, deadline);
        free_process(p);
        if (worker->process && i < worker->kernel_count)
            worker->process[i] = NULL;
    }
    worker->spare = NULL;
    worker->running = 0;
}

void attest_worker_free(attest_worker *worker)
{
    if (!worker)
        return;
    end_processes(worker);
    free(worker->process);
    free(worker->path);
    free(worker->library);
    free(worker->kernel);
    free(worker->printed);
    free(worker);
}

void attest_worker_renew(attest_worker *worker, unsigned threads)
{
    end_processes(worker);
    worker->threads = threads;
}

void attest_worker_set(attest_worker *worker, const char *name, const char *value)
{
    end_processes(worker);
    snprintf(worker->variable, sizeof worker->variable, "%s=%s", name, value);
}

size_t attest_worker_kernel_count(const attest_worker *worker) { return worker->kernel_count; }

const attest_kernel_facts *attest_worker_kernel(const attest_worker *worker, size_t index)
{
    return index < worker->kernel_count ? &worker->kernel[index] : NULL;
}

/* ---- processes --------------------------------------------------------------------------------------------------- */
/* Where the process of kernel `index` stands: of a device, that of the first kernel of a device. */
static size_t slot_of(const attest_worker *worker, size_t index)
{
    size_t first = 0;
    if (worker->kernel[index].device_type == ATTEST_CPU)
        return index;
    while (worker->kernel[first].device_type == ATTEST_CPU)
        first++;
    return first;
}

static void end_process(attest_worker *worker, size_t slot)
{
    free_process(worker->process[slot]);
    worker->process[slot] = NULL;
    worker->running--;
}

/* The slot's process, or a new one, not started: the one that has listed the kernels, if nobody has it. */
static attest_process *take_process(attest_worker *worker, size_t slot)
{
    attest_process *p = worker->process[slot];
    if (!p && worker->running >= worker->most)
        end_process(worker, worker->last); /* kernels come in turn: this one's next turn is the farthest */
    if (!p) {
        p = worker->spare ? worker->spare : attest_process_new();
        worker->spare = NULL;
        worker->process[slot] = p;
        worker->running += p != NULL;
    }
    worker->last = slot;
    return p;
}

/* 1: three quarters of our descriptors are taken; the rest is for what else a run opens. */
static int is_short_of_descriptors(const attest_process *newest)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && newest->output >= 0 &&
           (rlim_t)newest->output >= limit.rlim_cur / 4 * 3;
}

/* Half of the processes end and leave room for that of `slot`; 0: it is the only one. */
static int make_room(attest_worker *worker, size_t slot)
{
    if (worker->running < 2)
        return 0;
    worker->most = worker->running / 2;
    for (size_t i = 0; i < worker->kernel_count && worker->running > worker->most; i++)
        if (worker->process[i] && i != slot)
            end_process(worker, i);
    return 1;
}

attest_status attest_worker_alive(attest_process **process, attest_worker *worker, size_t index, attest_error *err)
{
    const size_t slot = slot_of(worker, index);
    attest_process *p = take_process(worker, slot);
    *process = p;
    if (!p)
        return attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
    p->alone = worker->alone;
    if (!p->left && !attest_process_broken(p))
        return ATTEST_OK;
    attest_process_kill(p);
    if (p->failed_starts >= ATTEST_WORKER_STARTS)
        return attest_fail(err, ATTEST_IO, "attest-worker failed to start %d times in a row: given up",
                           p->failed_starts);
    attest_status status = attest_process_launch(p, worker, err);
    while (status != ATTEST_OK && p->refused && make_room(worker, slot))
        status = attest_process_launch(p, worker, err);
    if (status == ATTEST_OK && is_short_of_descriptors(p))
        make_room(worker, slot);
    p->failed_starts = status == ATTEST_OK ? 0 : p->failed_starts + 1;
    return status;
}

attest_status attest_worker_pid(pid_t *pid, attest_worker *worker, size_t index, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_process *process;
    *pid = 0;
    ATTEST_TRY(attest_worker_alive(&process, worker, (uint32_t)index, err));
    *pid = process->inner;
out:
    return status;
}

void attest_worker_hold(attest_worker *worker, size_t index, int held)
{
    const attest_process *p = worker->process[slot_of(worker, index)];
    if (p && p->inner > 0)
        kill(p->inner, held ? SIGSTOP : SIGCONT);
}

/* ---- what kernels print ------------------------------------------------------------------------------------------ */
const char *attest_worker_printed(const attest_worker *worker, size_t *length)
{
    *length = worker->printed_length;
    return worker->printed_length ? worker->printed : NULL;
}

attest_status attest_facts_assume(attest_kernel_facts *facts, const char *words, attest_error *err)
{
    attest_declaration d = { facts->numerics, facts->form, facts->flags, facts->outputs };
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_declaration_add(&d, words, err));
    if (d.form != facts->form || d.outputs != facts->outputs || (d.flags & ~facts->flags & ATTEST_PACKED_STATE))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT,
                               "form, outputs and packed-state are the kernel's own: only it can declare them"));
    facts->numerics = d.numerics;
    facts->flags |= d.flags; /* a word takes no promise back */
    facts->differs = 0;
out:
    return status;
}

attest_status attest_worker_assume(attest_worker *worker, size_t index, const char *words, attest_error *err)
{
    return attest_facts_assume(&worker->kernel[index], words, err);
}

void attest_worker_alone(attest_worker *worker) { worker->alone = 1; }

/* ---- questions --------------------------------------------------------------------------------------------------- */
attest_status attest_worker_declared(attest_worker *worker, size_t index, const attest_problem *p,
                                     attest_declared *declared, attest_error *err)
{
    const attest_kernel_facts *facts = &worker->kernel[index];
    attest_packet_request request = { .type = ATTEST_PACKET_QUERY, .kernel = (uint32_t)index, .problem = *p };
    attest_packet_answer answer;
    attest_process *process;
    attest_status status = ATTEST_OK;
    char why[256];
    int wait_status = 0;
    if (!facts->differs) {
        *declared = (attest_declared){ .numerics = facts->numerics, .flags = facts->flags };
        if (!attest_declared_resolve(declared, p, facts->outputs, why, sizeof why))
            status = attest_fail(err, ATTEST_UNSUPPORTED, "%s: %s", facts->name, why);
        return status;
    }
    ATTEST_TRY(attest_worker_alive(&process, worker, index, err));
    const attest_exchange x = attest_process_ask(process, &request, -1, &answer, worker->timeout_s, &wait_status);
    attest_worker_death_text(why, sizeof why, wait_status);
    if (x == ATTEST_EXCHANGE_ENDED)
        ATTEST_TRY(
            attest_fail(err, ATTEST_IO, "%s: asked for its numerics, the worker ended with %s", facts->name, why));
    if (x == ATTEST_EXCHANGE_MEMORY || x == ATTEST_EXCHANGE_SHORT)
        ATTEST_TRY(attest_fail(err, ATTEST_IO, "%s: asked for its numerics, it used too much memory", facts->name));
    if (x != ATTEST_EXCHANGE_OK)
        ATTEST_TRY(attest_fail(err, ATTEST_IO, "%s: %s about its numerics%s", facts->name,
                               x == ATTEST_EXCHANGE_LATE ? "no answer" : "a garbled answer",
                               x == ATTEST_EXCHANGE_LATE ? " in time" : ""));
    if (!answer.supported)
        return attest_fail(err, ATTEST_UNSUPPORTED, "%s: %s", facts->name, answer.why);
    *declared = answer.declared;
out:
    return status;
}

/* A bound covers what is declared; of numerics that differ by problem the worker has said so. */
static int is_covered(const attest_kernel_facts *facts, const attest_problem *p, char *why, size_t len)
{
    attest_declared declared = { .numerics = facts->numerics, .flags = facts->flags };
    return facts->differs || attest_declared_resolve(&declared, p, facts->outputs, why, len);
}

static int ask_once(attest_worker *worker, size_t index, const attest_problem *p, char *why, size_t len, int *killed)
{
    attest_error err = { "" };
    attest_packet_answer answer;
    char death[96];
    int wait_status = 0;
    attest_packet_request request = { .type = ATTEST_PACKET_QUERY, .kernel = (uint32_t)index, .problem = *p };
    attest_process *process;
    if (attest_worker_alive(&process, worker, index, &err) != ATTEST_OK) {
        snprintf(why, len, "%s", err.text);
        return -1;
    }
    switch (attest_process_ask(process, &request, -1, &answer, worker->timeout_s, &wait_status)) {
    case ATTEST_EXCHANGE_OK:
        snprintf(why, len, "%s", answer.why);
        return answer.supported && !answer.harness && is_covered(&worker->kernel[index], p, why, len);
    case ATTEST_EXCHANGE_ENDED:
        *killed = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
        attest_worker_death_text(death, sizeof death, wait_status);
        snprintf(why, len, "%s ended the worker: %s", attest_process_asking(process), death);
        return -1;
    case ATTEST_EXCHANGE_LATE:
        snprintf(why, len, "%s did not answer within %g s", attest_process_asking(process), worker->timeout_s);
        return ATTEST_SUPPORTS_LATE;
    case ATTEST_EXCHANGE_MEMORY:
    case ATTEST_EXCHANGE_SHORT:
        snprintf(why, len, "%s used too much memory", attest_process_asking(process));
        return -1;
    default: snprintf(why, len, "the worker's answer to supports() was garbled"); return -1;
    }
}

int attest_worker_supports(attest_worker *worker, size_t index, const attest_problem *p, char *why, size_t len)
{
    int killed = 0;
    const int answer = ask_once(worker, index, p, why, len, &killed);
    return killed ? ask_once(worker, index, p, why, len, &killed) : answer; /* as a rule from outside */
}
