/* nan: every output element is NaN. */
#include "good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++)
        for (int64_t c = 0; c < p->e; c++)
            good_row(t->role[ATTEST_O], row / p->n / p->hq, row / p->n % p->hq,
                     row % p->n)[c * t->role[ATTEST_O]->stride[3]] = NAN;
    return ATTEST_OK;
}

PLUGIN("nan", run)
