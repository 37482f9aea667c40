/* remembers: right, but it aborts where the run before, in the same process, had the same sizes and other values of v:
 * what is run twice lives, a relation between two inputs does not. */
#include "../good.h"
#include <stdlib.h>

static attest_status run(const attest_call *call)
{
    static double before;
    static int64_t size;
    const attest_problem *p = call->problem;
    double sum = 0;
    for (int64_t j = 0; j < p->m; j++)
        for (int64_t c = 0; c < p->e; c++)
            sum += (double)(j * p->e + c + 1) * (double)good_row(call->tensors->role[ATTEST_V], 0, 0, j)[c];
    if (size == p->m * p->e && before != sum)
        abort();
    before = sum;
    size = p->m * p->e;
    return good_run(p, call->tensors, call->workspace, p->n);
}

PLUGIN("remembers", run)
