/* writeinput: correct, but writes to its input q. */
#include "good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    good_run(p, t, call->workspace, p->n);
    *(volatile float *)good_row(t->role[ATTEST_Q], 0, 0, 0) = 1.0f;
    return ATTEST_OK;
}

PLUGIN("writeinput", run)
