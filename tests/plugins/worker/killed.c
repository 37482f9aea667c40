/* killed: right, but its process gets SIGKILL, as where a system is short of memory: once for the file that
 * $KILL_ONCE names, which it removes before; with d=5, in each run with a NaN in the last query. */
#define _POSIX_C_SOURCE 200809L
#include "../good.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const char *file = getenv("KILL_ONCE");
    const int doomed = p->d == 5 && isnan(good_row(call->tensors->role[ATTEST_Q], 0, 0, p->n - 1)[0]);
    if (doomed || (file && unlink(file) == 0))
        kill(getpid(), SIGKILL);
    return good_run(p, call->tensors, call->workspace, p->n);
}

PLUGIN("killed", run)
