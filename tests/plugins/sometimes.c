/* sometimes: right but for every 50th run, whatever the inputs: the first element of o is an ulp off. */
#include "good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    static unsigned runs;
    float *o = good_row(t->role[ATTEST_O], 0, 0, 0);
    good_run(p, t, call->workspace, p->n);
    *o = runs++ % 50 == 49 ? nextafterf(*o, INFINITY) : *o;
    return ATTEST_OK;
}

PLUGIN("sometimes", run)
