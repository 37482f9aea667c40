/* killed: right, but its process gets SIGKILL, as where a system is short of memory: once for each file $KILL_ONCE,
 * $KILL_ONCE.2, which it removes before (with d=6 not before its 40th call); with d=5, in each run with a NaN in the
 * last query. */
#define _POSIX_C_SOURCE 200809L
#include "../good.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const char *file = getenv("KILL_ONCE");
    char second[4096];
    snprintf(second, sizeof second, "%s.2", file ? file : "");
    const int doomed = p->d == 5 && isnan(good_row(call->tensors->role[ATTEST_Q], 0, 0, p->n - 1)[0]);
    static int calls;
    calls++;
    if (p->d == 6 && calls <= 40)
        file = NULL;
    if (doomed || (file && (unlink(file) == 0 || unlink(second) == 0)))
        kill(getpid(), SIGKILL);
    return good_run(p, call->tensors, call->workspace, p->n);
}

PLUGIN("killed", run)
