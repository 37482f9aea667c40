/* heads.h - what the float yardsticks and the vendor kernels share: visible keys, and the matrices of one head. */
#ifndef ATTEST_YARDSTICK_HEADS_H
#define ATTEST_YARDSTICK_HEADS_H

#include "attest.h"

/* Keys visible to query i: those below; no axis but mask. */
static inline int64_t yard_visible(const attest_problem *p, int64_t i)
{
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const int64_t last = mask == ATTEST_MASK_FULL ? p->m : i + 1 + (mask == ATTEST_MASK_CAUSAL_BR ? p->m - p->n : 0);
    return last < 0 ? 0 : last < p->m ? last : p->m;
}

static inline int yard_contiguous(const attest_tensor *t)
{
    return t->stride[3] == 1 && t->stride[2] == t->shape[3] && t->stride[1] == t->shape[2] * t->stride[2] &&
           t->stride[0] == t->shape[1] * t->stride[1];
}

/* The matrices of one query head. */
typedef struct yard_head {
    const float *q, *k, *v;
    float *o;
} yard_head;

/* Head number `head` of b * hq; 0: a tensor is not in C order. */
static inline int yard_head_of(yard_head *x, const attest_problem *p, const attest_tensors *t, int64_t head)
{
    const attest_tensor *tq = t->role[ATTEST_Q], *tk = t->role[ATTEST_K], *tv = t->role[ATTEST_V];
    const attest_tensor *to = t->role[ATTEST_O];
    const int64_t g = head / p->hq * p->hkv + head % p->hq * p->hkv / p->hq;
    x->q = (const float *)tq->data + head * p->n * p->d;
    x->k = (const float *)tk->data + g * p->m * p->d;
    x->v = (const float *)tv->data + g * p->m * p->e;
    x->o = (float *)to->data + head * p->n * p->e;
    return yard_contiguous(tq) && yard_contiguous(tk) && yard_contiguous(tv) && yard_contiguous(to);
}

#endif
