/* unwritten: correct, but leaves the last row of every head as it was. */
#include "good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    return good_run(p, t, call->workspace, p->n - 1);
}

PLUGIN("unwritten", run)
