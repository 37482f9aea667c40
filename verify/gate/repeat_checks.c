/* repeat_checks.c - see repeat_checks.h. */
#include "verify/gate/repeat_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/compare/compare.h"
#include "verify/gate/case_checks.h"

#define CALLS 1100
#define CALLS_LOADED 5
#define PROCESSORS 2 /* that kernel and load share */
#define BUSY 8       /* processes of the load */
#define SECONDS 20   /* that all calls may take by the judged run's; else the kernel is not called so often */
#define SLOWER 20    /* times the seconds of the judged run that a repeated one may take */
#define CASES_MOST 8 /* of one check of threads */

static const unsigned thread_counts[] = { 1, 2, 3, 8 };
#define THREAD_COUNTS (sizeof thread_counts / sizeof thread_counts[0])

double attest_case_work(const attest_problem *p)
{
    return (double)p->b * (double)p->hq * (double)p->n * (double)p->m * (double)(p->d + p->e);
}

/* ---- load -------------------------------------------------------------------------------------------------------- */
typedef struct load {
    pid_t busy[BUSY]; /* processes that compute nothing */
    int count;
    cpu_set_t before; /* processors of this thread */
    int restricted;
} load;

/* Restricts this thread, and what it starts from now on, to the first processors it has. */
static void restrict_processors(load *l)
{
    cpu_set_t few;
    CPU_ZERO(&few);
    if (sched_getaffinity(0, sizeof l->before, &l->before) != 0)
        return; /* more processors than the set has room for: no restriction, but load all the same */
    for (size_t cpu = 0, taken = 0; cpu < CPU_SETSIZE && taken < PROCESSORS; cpu++)
        if (CPU_ISSET(cpu, &l->before)) {
            CPU_SET(cpu, &few);
            taken++;
        }
    l->restricted = sched_setaffinity(0, sizeof few, &few) == 0;
}

/* A process of the load, until its parent is gone; it has said that it is ready by closing `ready`. */
static void __attribute__((noreturn)) be_busy(pid_t parent, int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid(); /* as a worker: Linux shares a processor between sessions first */
    close(ready);
#ifdef SYS_close_range
    syscall(SYS_close_range, 0u, ~0u, 0); /* locks among them */
#endif
    while (getppid() == parent)
        for (volatile int i = 0; i < 1000000; i++)
            ;
    _exit(0);
}

/* Fewer than BUSY, or none, where the system gives no more: the calls are compared all the same.  Returns when all are
 * ready: a process that is stopped before would never end with us. */
static void load_start(load *l)
{
    const pid_t parent = getpid();
    int ready[2];
    char none;
    l->count = 0;
    l->restricted = 0;
    restrict_processors(l);
    if (pipe2(ready, O_CLOEXEC) != 0)
        return;
    while (l->count < BUSY) {
        const pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0)
            be_busy(parent, ready[1]);
        l->busy[l->count++] = pid;
    }
    close(ready[1]);
    while (read(ready[0], &none, 1) < 0 && errno == EINTR)
        ;
    close(ready[0]);
}

/* SIGSTOP: the load rests until SIGCONT. */
static void load_signal(const load *l, int number)
{
    for (int i = 0; i < l->count; i++)
        kill(l->busy[i], number);
}

static void load_stop(load *l)
{
    while (l->count > 0) {
        const pid_t pid = l->busy[--l->count];
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (l->restricted)
        sched_setaffinity(0, sizeof l->before, &l->before);
}

/* ---- one request of many calls ----------------------------------------------------------------------------------- */
/* Judges the outputs of the last call, of a kernel that need not repeat its bits. */
static attest_status judge(const attest_repeated *x, const attest_subject *subject, const attest_bundle *outputs,
                           const char *what, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_declared declared;
    attest_result judged;
    attest_result_init(&judged);
    ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, &x->prepared->c.problem, &declared, err));
    ATTEST_TRY(attest_compare(&judged, x->prepared->truth, NULL, &x->prepared->c, outputs, &declared.numerics,
                              declared.flags, 0, err));
    if (judged.verdict == ATTEST_FAIL)
        attest_result_find(x->result, judged.reasons, what, judged.why);
out:
    return status;
}

/* Runs the case `calls` times; *first is what the others are compared with, made here if it is NULL. */
static attest_status call_often(attest_bundle **first, const attest_repeated *x, const attest_subject *subject,
                                uint32_t calls, const char *what, double timeout_s, attest_error *err)
{
    const attest_kernel_facts *kernel = attest_worker_kernel(subject->worker, subject->index);
    const int deterministic = (kernel->flags & ATTEST_DETERMINISTIC) != 0;
    const attest_problem *p = &x->prepared->c.problem;
    const double most = timeout_s + calls * SLOWER * x->result->seconds_kernel;
    attest_status status = ATTEST_OK;
    attest_bundle *outputs = NULL;
    attest_run_result run;
    char where[ATTEST_WHERE] = "", text[ATTEST_WHERE];
    ATTEST_TRY(attest_case_bundle(&outputs, x->prepared, kernel, err));
    ATTEST_TRY(attest_worker_run_often(subject->worker, subject->index, p, outputs, calls, most, &run, err));
    if (attest_result_death(x->result, &run, what))
        goto out;
    if (run.state == ATTEST_RUN_UNSUPPORTED) { /* nothing ran: there is nothing to compare */
        snprintf(text, sizeof text, "refused %s: %.120s", what, run.why);
        attest_result_note(x->result, text);
        goto out;
    }
    if (run.status != ATTEST_OK || run.reasons) {
        attest_result_find(x->result, run.reasons ? run.reasons : ATTEST_REASON_NONDETERMINISTIC, what, run.why);
        goto out;
    }
    if (run.differs && *first && !attest_same_outputs(where, p, *first, outputs))
        snprintf(text, sizeof text, "call %u differs: %.150s", run.differs, where);
    else if (run.differs)
        snprintf(text, sizeof text, "call %u has other bits than call 1", run.differs);
    if (run.differs)
        attest_result_find(x->result, ATTEST_REASON_NONDETERMINISTIC, what, text);
    else if (!deterministic)
        ATTEST_TRY(judge(x, subject, outputs, what, err));
    else if (*first && !attest_same_outputs(where, p, *first, outputs))
        attest_result_find(x->result, ATTEST_REASON_NONDETERMINISTIC, what, where);
    if (run.strays && attest_result_judged_good(x->result)) {
        snprintf(text, sizeof text, "run() leaves %u %s in the process", run.strays,
                 run.strays == 1 ? "thread" : "threads");
        attest_result_note(x->result, text);
    }
    if (!*first) {
        *first = outputs;
        outputs = NULL;
    }
out:
    attest_bundle_free(outputs);
    return status;
}

attest_status attest_check_calls(const attest_repeated *repeated, const attest_subject *subject, double timeout_s,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *first = NULL;
    char text[96];
    if (CALLS * repeated->result->seconds_kernel > SECONDS) {
        snprintf(text, sizeof text, "not called %d times: a call takes more than %.2g s", CALLS,
                 (double)SECONDS / CALLS);
        attest_result_note(repeated->result, text);
        return ATTEST_OK;
    }
    ATTEST_TRY(call_often(&first, repeated, subject, 1, "called again", timeout_s, err));
    if (attest_result_judged_good(repeated->result))
        ATTEST_TRY(call_often(&first, repeated, subject, CALLS, "called 1,100 times in a row", timeout_s, err));
out:
    attest_bundle_free(first);
    return status;
}

attest_status attest_check_threads(const attest_repeated *repeated, size_t count, const attest_subject *subject,
                                   double timeout_s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_bundle *first[CASES_MOST] = { NULL };
    char what[64];
    char why[256];
    load l;
    if (attest_worker_kernel(subject->worker, subject->index)->device_type == ATTEST_CUDA_HOST)
        return ATTEST_OK;
    load_start(&l);
    for (size_t t = 0; t < THREAD_COUNTS && count; t++) {
        load_signal(&l, SIGSTOP); /* while a worker ends and another starts: no part of what is asked */
        attest_worker_renew(subject->worker, thread_counts[t]);
        attest_worker_supports(subject->worker, subject->index, &repeated[0].prepared->c.problem, why, sizeof why);
        load_signal(&l, SIGCONT);
        snprintf(what, sizeof what, "under load, with OMP_NUM_THREADS=%u", thread_counts[t]);
        for (size_t i = 0; i < count && i < CASES_MOST; i++)
            if (attest_result_judged_good(repeated[i].result))
                ATTEST_TRY(call_often(&first[i], &repeated[i], subject, CALLS_LOADED, what, SLOWER * timeout_s, err));
    }
out:
    load_stop(&l);
    attest_worker_renew(subject->worker, 0);
    for (size_t i = 0; i < CASES_MOST; i++)
        attest_bundle_free(first[i]);
    return status;
}

attest_status attest_repeat_case(attest_result *result, attest_prepared *prepared, const attest_subject *subject,
                                 double timeout_s, attest_error *err)
{
    const double work = attest_case_work(&prepared->c.problem);
    const attest_repeated repeated = { prepared, result };
    attest_status status = ATTEST_OK;
    if (attest_result_judged_good(result) && work <= ATTEST_CALLS_WORK)
        ATTEST_TRY(attest_check_calls(&repeated, subject, timeout_s, err));
    if (attest_result_judged_good(result) && work <= ATTEST_THREADS_WORK)
        ATTEST_TRY(attest_check_threads(&repeated, 1, subject, timeout_s, err));
out:
    return status;
}
