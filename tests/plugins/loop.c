/* loop: computes, then never returns. */
#include "good.h"

static volatile int forever = 1;

static attest_status run(const attest_problem *p, const attest_tensors *t, void *scratch, void *stream)
{
    (void)stream;
    good_run(p, t, scratch, p->n);
    while (forever)
        ;
    return ATTEST_OK;
}

PLUGIN("loop", run)
