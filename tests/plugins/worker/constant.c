/* constant: o is 1% too large where all values of a head, two or more, are one power of two above 1: no case of suite
 * smoke has such values; those of family=ones, doubled by the property value-scaling, are.
 */
#define PLUGIN_SMALL 24
#include "../good.h"

static int is_constant(const attest_problem *p, const attest_tensor *v, int64_t b, int64_t g)
{
    const float first = good_row(v, b, g, 0)[0];
    int exponent, constant = p->m * p->e > 1 && first > 1 && frexpf(first, &exponent) == 0.5F;
    for (int64_t j = 0; j < p->m; j++)
        for (int64_t c = 0; c < p->e; c++)
            constant &= good_row(v, b, g, j)[c * v->stride[3]] == first;
    return constant;
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensor *o = call->tensors->role[ATTEST_O];
    const attest_status status = good_run(p, call->tensors, call->workspace, p->n);
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t h = 0; h < p->hq; h++)
            for (int64_t i = 0; is_constant(p, call->tensors->role[ATTEST_V], b, h * p->hkv / p->hq) && i < p->n; i++)
                for (int64_t c = 0; c < p->e; c++)
                    good_row(o, b, h, i)[c * o->stride[3]] *= 1.01F;
    return status;
}

PLUGIN("constant", run)
