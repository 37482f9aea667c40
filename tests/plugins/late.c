/* late: correct, but never returns from problems with more than 64 keys. */
#include "good.h"

static attest_status run(const attest_problem *p, const attest_tensors *t, void *scratch, void *stream)
{
    volatile int forever = 1;
    (void)stream;
    while (p->m > 64 && forever)
        ;
    good_run(p, t, scratch, p->n);
    return ATTEST_OK;
}

PLUGIN("late", run)
