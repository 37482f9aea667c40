/* unwritten: correct, but leaves the last row of every head as it was. */
#include "good.h"

static attest_status run(const attest_problem *p, const attest_tensors *t, void *scratch, void *stream)
{
    (void)stream;
    return good_run(p, t, scratch, p->n - 1);
}

PLUGIN("unwritten", run)
