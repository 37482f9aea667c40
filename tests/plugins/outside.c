/* outside: correct, but also writes the element after the last one of o. */
#include "good.h"

static attest_status run(const attest_problem *p, const attest_tensors *t, void *scratch, void *stream)
{
    (void)stream;
    const attest_tensor *o = t->role[ATTEST_O];
    good_run(p, t, scratch, p->n);
    *(volatile float *)(good_row(o, p->b - 1, p->hq - 1, p->n - 1) + p->e * o->stride[3]) = 1.0f;
    return ATTEST_OK;
}

PLUGIN("outside", run)
