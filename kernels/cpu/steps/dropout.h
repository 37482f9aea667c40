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

#ifndef dropout_keeps
/* Does u get the weight of key j? */
static inline int dropout_keeps(const row *r, int64_t j) { return r->keep[j * r->keep_step] != 0; }
#endif

#endif
