/* gates.h - gates on values and rows.
 *
 *     gates=in, inout          gin_j as given          gates=out, inout, pre-out   gout_i as given
 *     gates=heads              gin_j = softmax of sk[b,:,j] over the KV heads, gout_i = softmax of sq[b,:,i] over the
 *                              query heads; both then as inout
 *     any other                1
 */
#ifndef ATTEST_CPU_GATES_H
#define ATTEST_CPU_GATES_H

#include "step.h"

/* Do gates multiply the values? */
static inline int gate_values(const attest_problem *p)
{
    const uint32_t gates = p->axis[ATTEST_AXIS_GATES].value;
    return gates == ATTEST_GATES_IN || gates == ATTEST_GATES_INOUT || gates == ATTEST_GATES_HEADS;
}

/* Do gates multiply the rows? */
static inline int gate_rows(const attest_problem *p)
{
    const uint32_t gates = p->axis[ATTEST_AXIS_GATES].value;
    return gates != ATTEST_GATES_NONE && gates != ATTEST_GATES_IN;
}

#ifndef gate_heads
/* e^(x_h - m)/sum e^(x - m) over the heads of x = t[b,:,token], m their maximum: two exponentials with the roundings
 * of their arguments, heads-1 additions, one division. */
static inline real gate_heads(const attest_tensor *t, int64_t b, int64_t heads, int64_t h, int64_t token)
{
    const int64_t at = b * t->stride[0] + token * t->stride[2];
    real m = -(real)INFINITY, sum = 0;
    for (int64_t x = 0; x < heads; x++)
        m = step_larger(m, step_load(t, at + x * t->stride[1]));
    for (int64_t x = 0; x < heads; x++)
        sum += real_exp(step_load(t, at + x * t->stride[1]) - m);
    return real_exp(step_load(t, at + h * t->stride[1]) - m) / sum;
}
#endif

#ifndef gate_given
static inline real gate_given(const attest_tensor *t, int64_t b, int64_t h, int64_t token)
{
    return step_load(t, b * t->stride[0] + h * t->stride[1] + token * t->stride[2]);
}
#endif

/* gin_j of KV head g; 1 where no gate is on the values. */
static inline real gate_value(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t g, int64_t j)
{
    if (!gate_values(p))
        return 1;
    if (p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_HEADS)
        return gate_heads(t->role[ATTEST_K_HEAD_LOGITS], b, p->hkv, g, j);
    return gate_given(t->role[ATTEST_GIN], b, g, j);
}

/* gout_i of query head h; 1 where no gate is on the rows. */
static inline real gate_row(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t h, int64_t i)
{
    if (!gate_rows(p))
        return 1;
    if (p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_HEADS)
        return gate_heads(t->role[ATTEST_Q_HEAD_LOGITS], b, p->hq, h, i);
    return gate_given(t->role[ATTEST_GOUT], b, h, i);
}

/* gin_j v_j: one rounding a channel, of 8 bits one more; in place where no gate is on the values and v is stored as
 * reals. */
static inline const real *gate_value_row(real *buffer, const attest_problem *p, const attest_tensors *t, int64_t b,
                                         int64_t g, int64_t j)
{
    int64_t entry = b, at = j;
    step_key_place(p, t, &entry, &at);
    const real *stored = step_row(buffer, t->role[ATTEST_V], entry, g, at, p->e);
    const real *v = step_scaled(buffer, stored, step_factor(p, t, ATTEST_V_SCALE, b, g), p->e);
    if (!gate_values(p))
        return v;
    const real gin = gate_value(p, t, b, g, j);
    for (int64_t c = 0; c < p->e; c++)
        buffer[c] = gin * v[c];
    return buffer;
}

#endif
