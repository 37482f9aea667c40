/* fragile: right, but dies of a NaN in the last query. */
#include "good.h"
#include <stdlib.h>

static attest_status run(const attest_problem *p, const attest_tensors *t, void *scratch, void *stream)
{
    (void)stream;
    if (isnan(good_row(t->role[ATTEST_Q], 0, 0, p->n - 1)[0]))
        abort();
    return good_run(p, t, scratch, p->n);
}

PLUGIN("fragile", run)
