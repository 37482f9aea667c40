/* batched: says that bits do not depend on the batch, and moves o by an ulp where there is more than one entry. */
#define PLUGIN_FLAGS ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT
#include "good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    float *o = good_row(t->role[ATTEST_O], 0, p->hq - 1, p->n - 1);
    good_run(p, t, call->workspace, p->n);
    *o = p->b > 1 ? nextafterf(*o, INFINITY) : *o;
    return ATTEST_OK;
}

PLUGIN("batched", run)
