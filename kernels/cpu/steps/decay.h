/* decay.h - what a key is worth at a later query.
 *
 *     D_ij = gamma^(i-j) (retnet), product of a_t over t = j+1..i (scalar), both as serial products: with i-j factors
 *     gamma_(i-j-1).  vector: a_t has one entry a key dimension, inside the product <q,k>; D_ij itself is then 1.
 *     decay_input=log: a_t is an exponential, 2u, of what is stored, which is then a factor as any other.
 */
#ifndef ATTEST_CPU_DECAY_H
#define ATTEST_CPU_DECAY_H

#include "step.h"

#ifndef decay_factor
/* a_t of what the tensor a holds. */
static inline real decay_factor(const attest_problem *p, real stored)
{
    return p->axis[ATTEST_AXIS_DECAY_INPUT].value == ATTEST_DECAY_INPUT_LOG ? real_exp(stored) : stored;
}
#endif

#ifndef decay_token
/* What all older keys of KV head g are multiplied by when token t comes: gamma, a_t, or 1 (none, vector). */
static inline real decay_token(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t g, int64_t token)
{
    const uint32_t decay = p->axis[ATTEST_AXIS_DECAY].value;
    const attest_tensor *gamma = t->role[ATTEST_GAMMA], *a = t->role[ATTEST_DECAY];
    if (decay == ATTEST_DECAY_RETNET)
        return step_load(gamma, g * gamma->stride[0]);
    if (decay == ATTEST_DECAY_SCALAR)
        return decay_factor(p, step_load(a, b * a->stride[0] + g * a->stride[1] + token * a->stride[2]));
    return 1;
}
#endif

/* The d entries of a_t of decay=vector: in place where stored as they are, as reals, else in buffer[d]. */
static inline const real *decay_vector(real *buffer, const attest_problem *p, const attest_tensors *t, int64_t b,
                                       int64_t g, int64_t token)
{
    const real *stored = step_row(buffer, t->role[ATTEST_DECAY], b, g, token, p->d);
    if (p->axis[ATTEST_AXIS_DECAY_INPUT].value == ATTEST_DECAY_INPUT_FACTOR)
        return stored;
    for (int64_t c = 0; c < p->d; c++)
        buffer[c] = decay_factor(p, stored[c]);
    return buffer;
}

/* Do keys have a weight D_ij of their own? */
static inline int decay_keys(const attest_problem *p)
{
    const uint32_t decay = p->axis[ATTEST_AXIS_DECAY].value;
    return decay == ATTEST_DECAY_RETNET || decay == ATTEST_DECAY_SCALAR;
}

#ifndef decay_row
/* D[j-first] = D_ij of the row's keys, from the query backwards: one product a token. */
static inline void decay_row(real *D, const row *r)
{
    real product = 1;
    for (int64_t j = r->i; j >= r->first; j--) {
        if (j < r->last)
            D[j - r->first] = product;
        product *= decay_token(r->p, r->t, r->b, r->g, j);
    }
}
#endif

#endif
