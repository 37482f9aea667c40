/* fragile: right, but dies of a NaN in the last query. */
#include "good.h"
#include <stdlib.h>

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    if (isnan(good_row(t->role[ATTEST_Q], 0, 0, p->n - 1)[0]))
        abort();
    return good_run(p, t, call->workspace, p->n);
}

PLUGIN("fragile", run)
