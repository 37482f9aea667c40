/* late: correct, but never returns from problems with more than 64 keys. */
#include "good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    volatile int forever = 1;
    while (p->m > 64 && forever)
        ;
    good_run(p, t, call->workspace, p->n);
    return ATTEST_OK;
}

PLUGIN("late", run)
