/* restarts: right, but from the first case with n=7 on the process ends in run(), and no other can be started while the
 * file that $RESTARTS names is there, which run() makes. */
#define _POSIX_C_SOURCE 200809L
#include "../good.h"
#include <stdlib.h>
#include <unistd.h>

static const char *file(void)
{
    const char *name = getenv("RESTARTS");
    return name ? name : "/nowhere/at-all";
}

__attribute__((constructor)) static void start(void)
{
    if (access(file(), F_OK) == 0)
        abort();
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (p->n == 7) {
        FILE *out = fopen(file(), "w");
        if (out)
            fclose(out);
        abort();
    }
    return good_run(p, call->tensors, call->workspace, p->n);
}

PLUGIN("restarts", run)
