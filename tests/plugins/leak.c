/* leak: masked values take part with weight 0, so that a NaN among them spoils the row. */
#include "good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    good_run(p, t, call->workspace, p->n);
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++) {
        const int64_t b = row / p->n / p->hq, h = row / p->n % p->hq, i = row % p->n;
        for (int64_t c = 0; c < p->e; c++)
            good_row(t->role[ATTEST_O], b, h, i)[c] += 0 *
                                                       good_row(t->role[ATTEST_V], b, h * p->hkv / p->hq, p->m - 1)[c];
    }
    return ATTEST_OK;
}

PLUGIN("leak", run)
