/* taylor_recurrent.h - attention with a polynomial weight as a recurrence over tokens.
 *
 * Formula    S_n(t) = a_t S_n(t-1) + phi(k_t)^(x n) (x) gin_t v_t,    Z_n(t) = a_t Z_n(t-1) + phi(k_t)^(x n)
 *            u_i = sum_n c_n <phi(q_i)^(x n), S_n(i)>, z_i the same of Z_n;  o = gout Norm(u, z)
 *            taylor:P has n = 0..P, term:P and power:P only n = P; c_n = scale^n/n! (power: scale^n); a_t = 1, gamma,
 *            a scalar, or with decay=vector one factor for each row of S_1.
 * Algorithm  the loop is in heads.h, states and readout in degrees.h; below: one token, one query.
 * Errors     with t keys: an entry of a state gamma_(n-1 + 2 + 2t) with decays, gamma_(n+1+t) without; readout as in
 *            degrees.h; features: token.h; the row's end: norms.h.
 */
#ifndef ATTEST_CPU_TAYLOR_RECURRENT_H
#define ATTEST_CPU_TAYLOR_RECURRENT_H

#include "degrees.h"
#include "norms.h"

typedef struct recurrence {
    degrees s;
    real *x, *v, *u; /* dim, e, e */
} recurrence;

/* S_n := a_t S_n + phi(k_t)^(x n) (x) gin_t v_t. */
static inline void recurrent_take(void *self, const row *r, int64_t t)
{
    const recurrence *a = (const recurrence *)self;
    for (uint32_t n = a->s.lowest; n <= a->s.highest; n++)
        heads_decay(&a->s.s[n], a->x, r, t);
    degrees_add(&a->s, heads_key(a->x, r, t), 1, heads_value(a->v, r, t));
}

/* u = sum_n c_n <phi(q_i)^(x n), S_n>. */
static inline void recurrent_read(void *self, const row *r)
{
    const recurrence *a = (const recurrence *)self;
    real f;
    heads_query(&f, a->x, r);
    step_zero(a->u, r->p->e);
    const real z = degrees_read(&a->s, a->u, a->x, f, r->p, r->p->scale);
    norm_finish(r, a->u, z, 0);
}

static inline void recurrent_begin(void *self, const row *r) { degrees_load(&((const recurrence *)self)->s, r); }
static inline void recurrent_end(void *self, const row *r) { degrees_store(&((const recurrence *)self)->s, r); }

static inline int64_t recurrent_cut(recurrence *a, const attest_problem *p, int packed, real *base)
{
    const int64_t used = degrees_cut(&a->s, p, packed, base), dim = a->s.dim;
    if (base) {
        a->x = base + used;
        a->v = a->x + dim;
        a->u = a->v + p->e;
    }
    return used + dim + 2 * p->e;
}

static inline attest_status recurrent_run(const attest_call *call, int packed)
{
    static const heads_steps steps = { recurrent_begin, recurrent_take, recurrent_read, recurrent_end };
    recurrence a;
    recurrent_cut(&a, call->problem, packed, (real *)call->workspace);
    for (uint32_t n = a.s.lowest; packed && n <= a.s.highest; n++)
        degrees_multinomials(a.s.multinomial[n], a.s.dim, n, 0, 0, 0, 1);
    return heads_run(call->problem, call->tensors, &a, &steps);
}

static inline size_t recurrent_workspace(const attest_call *call, int packed)
{
    recurrence a;
    return (size_t)recurrent_cut(&a, call->problem, packed, NULL) * sizeof(real);
}

static inline int recurrent_supports(const attest_call *call, int packed)
{
    static const serve_table table = DEGREES_TABLE(1);
    return serve_check(&table, call) && degrees_fit(call, packed);
}

#endif
