/* writeinput: correct, but writes to its input q. */
#include "good.h"

static attest_status run(const attest_problem *p, const attest_tensors *t, void *scratch, void *stream)
{
    (void)stream;
    good_run(p, t, scratch, p->n);
    *(volatile float *)good_row(t->role[ATTEST_Q], 0, 0, 0) = 1.0f;
    return ATTEST_OK;
}

PLUGIN("writeinput", run)
