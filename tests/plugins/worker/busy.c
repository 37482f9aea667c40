/* busy: right, after 0.15 s of processor time; with d=5 it waits without end and takes none, with d=6 nine threads of
 * it go on without end, with d=7 nine processes. */
#define _POSIX_C_SOURCE 200809L
#include "../good.h"
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *spin(void *unused)
{
    for (volatile unsigned n = 0;; n++)
        ;
    return unused;
}

static attest_status run(const attest_call *call)
{
    const double since = processor();
    pthread_t thread;
    for (int n = 0; n < 8 && call->problem->d == 6; n++)
        if (pthread_create(&thread, NULL, spin, NULL) != 0)
            return ATTEST_NO_MEMORY;
    for (int n = 0; n < 8 && call->problem->d == 7; n++)
        if (fork() == 0) {
            setsid();
            spin(NULL);
        }
    while (call->problem->d == 6 || call->problem->d == 7)
        ;
    while (call->problem->d == 5)
        pause();
    while (processor() - since < 0.15)
        ;
    return good_run(call->problem, call->tensors, call->workspace, call->problem->n);
}

PLUGIN("busy", run)
