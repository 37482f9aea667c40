/* exit: ends the process with exit code 0 in the middle of its work. */
#include "good.h"
#include <stdlib.h>

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    good_run(p, t, call->workspace, p->n / 2);
    exit(0);
}

PLUGIN("exit", run)
