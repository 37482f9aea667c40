/* strides.h - right for tensors in C order; for others, wrong as `chunk` says (tests/verify/worker/test_worker.c has
 * the table).
 *
 * 1 right; 2 refuses; 3 gives up; 4 writes behind a row; 5 reads v at offsets of 32 bits; 6 moves o by an ulp; 7 reads
 * behind the keys of the first batch entry; 8 gives up where the strides are not what verify/worker/worker_layout.h
 * says; 9 moves o by 1; 10 writes behind the last row; 11 reads before the keys of the last batch entry; 12 reads v by
 * k's strides.
 */
#ifndef ATTEST_TEST_STRIDES_H
#define ATTEST_TEST_STRIDES_H

#include "good.h"

static int in_order(const attest_tensor *t)
{
    return t->stride[3] == 1 && t->stride[2] == t->shape[3] && t->stride[1] == t->shape[2] * t->stride[2];
}

/* Tensor `number` of f32 rows of d channels, b entries of h heads: heads inside tokens, or outside where there is one
 * entry. */
static int as_told(const attest_tensor *t, int64_t number, int64_t b, int64_t h, int64_t d)
{
    const int64_t row = d + (1 + number) * (d % 16 == 0 ? 16 : d & -d), far = (int64_t)1 << 32;
    const int inside = t->stride[2] == row * h && t->stride[1] == row;
    if (t->stride[3] != 1 || (uintptr_t)t->data % 64)
        return 0;
    return b > 1   ? inside && (b - 1) * t->stride[0] > far
           : h > 1 ? t->stride[2] == row && (h - 1) * t->stride[1] > far
                   : inside;
}

static attest_status misdeed(const attest_problem *p, const attest_tensors *t, int64_t what)
{
    const attest_tensor *q = t->role[ATTEST_Q], *k = t->role[ATTEST_K], *v = t->role[ATTEST_V];
    const attest_tensor *to = t->role[ATTEST_O];
    float *o = good_row(to, p->b - 1, p->hq - 1, p->n - 1);
    switch (what) {
    case 2: return ATTEST_UNSUPPORTED;
    case 3: return ATTEST_KERNEL_ERROR;
    case 4: good_row(to, 0, 0, 0)[p->e] = 1; return ATTEST_OK;
    case 5: *o += ((const float *)v->data)[(int32_t)((p->b - 1) * v->stride[0])]; return ATTEST_OK;
    case 6: *o = nextafterf(*o, INFINITY); return ATTEST_OK;
    case 7: *o += good_row(k, 0, p->hkv - 1, p->m - 1)[p->d + 16]; return ATTEST_OK;
    case 8:
        return as_told(q, 0, p->b, p->hq, p->d) && as_told(k, 1, p->b, p->hkv, p->d) &&
                       as_told(v, 2, p->b, p->hkv, p->e) && as_told(to, 3, p->b, p->hq, p->e)
                   ? ATTEST_OK
                   : ATTEST_INTERNAL;
    case 9: *o += 1; return ATTEST_OK;
    case 10: o[p->e] = 1; return ATTEST_OK;
    case 11: *o += good_row(k, p->b - 1, 0, 0)[-2048]; return ATTEST_OK;
    case 12: *o += ((const float *)v->data)[k->stride[2]] - good_row(v, 0, 0, 1)[0]; return ATTEST_OK;
    default: return ATTEST_OK;
    }
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    good_run(p, t, call->workspace, p->n);
    return in_order(t->role[ATTEST_K]) ? ATTEST_OK : misdeed(p, t, p->chunk);
}

#endif
