/* busy: right, after 0.15 s of processor time; with d=5 it waits without end and takes none. */
#define _POSIX_C_SOURCE 200809L
#include "../good.h"
#include <time.h>
#include <unistd.h>

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static attest_status run(const attest_call *call)
{
    const double since = processor();
    while (call->problem->d == 5)
        pause();
    while (processor() - since < 0.15)
        ;
    return good_run(call->problem, call->tensors, call->workspace, call->problem->n);
}

PLUGIN("busy", run)
