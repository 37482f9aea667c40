/* dropout.h - weights that u leaves out.
 *
 *     u_i = sum_j keep_ij/(1-R) w_ij gin_j v_j, R of dropout=R and keep the tensor; z_i has all weights
 */
#ifndef ATTEST_CPU_DROPOUT_H
#define ATTEST_CPU_DROPOUT_H

#include "step.h"

#ifndef dropout_keep
/* The row's bytes of keep. */
static inline const uint8_t *dropout_keep(const row *r)
{
    const attest_tensor *t = r->t->role[ATTEST_KEEP];
    return (const uint8_t *)t->data + step_offset(t, r->b, r->h, r->i);
}
#endif

#ifndef dropout_factor
/* 1/(1-R): one rounding. */
static inline real dropout_factor(const attest_problem *p)
{
    return (real)(1 / (1 - p->axis[ATTEST_AXIS_DROPOUT].number));
}
#endif

/* What dropout is to the row. */
static inline void dropout_begin(row *r)
{
    r->keep = NULL;
    if (r->p->axis[ATTEST_AXIS_DROPOUT].value == ATTEST_DROPOUT_NONE)
        return;
    r->keep = dropout_keep(r);
    r->keep_step = r->t->role[ATTEST_KEEP]->stride[3];
    r->kept = dropout_factor(r->p);
}

#ifndef dropout_keeps
/* Does u get the weight of key j? */
static inline int dropout_keeps(const row *r, int64_t j) { return r->keep[j * r->keep_step] != 0; }
#endif

#ifndef dropout_weight
/* What u gets of the weight w of key j: w as it is without dropout, else 0, or w/(1-R) by one product. */
static inline real dropout_weight(const row *r, int64_t j, real w)
{
    return !r->keep ? w : dropout_keeps(r, j) ? w * r->kept : 0;
}
#endif

#endif
