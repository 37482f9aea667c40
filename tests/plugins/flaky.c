/* flaky: other bits on every run: the first element of o moves by an ulp from one run to the next. */
#include "good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    static unsigned runs;
    float *o = good_row(t->role[ATTEST_O], 0, 0, 0);
    good_run(p, t, call->workspace, p->n);
    *o = runs++ % 2 ? nextafterf(*o, INFINITY) : *o;
    return ATTEST_OK;
}

PLUGIN("flaky", run)
