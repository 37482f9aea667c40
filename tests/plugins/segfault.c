/* segfault: computes, then reads address 0. */
#include "good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    good_run(p, t, call->workspace, p->n);
    return *(volatile attest_status *)NULL;
}

PLUGIN("segfault", run)
