/* segfault: computes, then reads address 0. */
#include "good.h"

static attest_status run(const attest_problem *p, const attest_tensors *t, void *scratch, void *stream)
{
    (void)stream;
    good_run(p, t, scratch, p->n);
    return *(volatile attest_status *)NULL;
}

PLUGIN("segfault", run)
