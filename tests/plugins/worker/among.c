/* among: right alone; what it does in the second head of the third batch entry is said by `chunk`: 1 a crash, 2 a wrong
 * row, 3 an ulp, 5 a byte written past o; 4: it refuses more than two entries. */
#define PLUGIN_SUPPORTS supports
#include "../good.h"

static int supports(const attest_call *call)
{
    return call->problem->chunk == 4 && call->problem->b > 2 ? attest_refuse(call, "b at most 2") : good_supports(call);
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    good_run(p, call->tensors, call->workspace, p->n);
    if (p->b < 3 || p->hq < 2)
        return ATTEST_OK;
    float *o = good_row(call->tensors->role[ATTEST_O], 2, 1, p->n - 1);
    if (p->chunk == 5)
        ((char *)good_row(call->tensors->role[ATTEST_O], p->b - 1, p->hq - 1, p->n - 1))[4 * p->e] = 1;
    if (p->chunk == 1)
        *(volatile int *)16 = 1;
    *o = p->chunk == 2 ? 2 * *o + 1 : nextafterf(*o, INFINITY);
    return ATTEST_OK;
}

PLUGIN("among", run)
