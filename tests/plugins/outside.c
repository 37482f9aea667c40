/* outside: correct, but also writes the element after the last one of o. */
#include "good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    const attest_tensor *o = t->role[ATTEST_O];
    good_run(p, t, call->workspace, p->n);
    *(volatile float *)(good_row(o, p->b - 1, p->hq - 1, p->n - 1) + p->e * o->stride[3]) = 1.0f;
    return ATTEST_OK;
}

PLUGIN("outside", run)
