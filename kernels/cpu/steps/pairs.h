/* pairs.h - a row pair by pair: what the parallel, tiled and split kernels share.
 *
 *     s_ij = min(clamp, cap tanh(scale <phi(q_i), phi(k_j)>/cap) - slope_h abs(i+off-j) + bias_ij)
 *                                                                                            each step if it is set
 *     D_ij, gin_j v_j                                                                        decay.h, gates.h
 *
 * phi(k_j) and gin_j v_j are made once a KV head where they cost more than a load.  decay=vector is inside the product:
 * the row's query, multiplied by a_t at every step back, meets the keys from the last to the first.
 */
#ifndef ATTEST_CPU_PAIRS_H
#define ATTEST_CPU_PAIRS_H

#include "decay.h"
#include "dropout.h"
#include "gates.h"
#include "rows.h"
#include "scores.h"
#include "token.h"

/* Where things lie in the workspace, in reals; `rest` is the kernel's own. */
typedef struct pairs_layout {
    int64_t keys, values, q, k, v, past, a, D, rest;
} pairs_layout;

static inline pairs_layout pairs_lay_out(const attest_problem *p)
{
    const int64_t dim = token_dim(p), vector = p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR ? p->d : 0;
    pairs_layout at = { .keys = 0 };
    at.values = token_plain(p) ? 0 : p->m * dim;
    at.q = at.values + (gate_values(p) ? p->m * p->e : 0);
    at.k = at.q + dim;
    at.v = at.k + dim;
    at.past = at.v + p->e;
    at.a = at.past + vector;
    at.D = at.a + vector;
    at.rest = at.D + (decay_keys(p) ? p->m : 0);
    return at;
}

/* Bytes, with `rest` reals of the kernel's own. */
static inline size_t pairs_workspace(const attest_problem *p, int64_t rest)
{
    return (size_t)(pairs_lay_out(p).rest + rest) * sizeof(real);
}

#ifndef pairs_query
/* phi(q_i), in place or in buffer. */
static inline const real *pairs_query(const row *r, real *buffer)
{
    const int64_t position = step_position(r->p, step_length(r->p, r->t, r->b), r->i);
    return token_row(buffer, r->p, r->t->role[ATTEST_Q], r->b, r->h, r->i, position);
}
#endif

#ifndef pairs_token
/* phi(k_j), in place or in buffer. */
static inline const real *pairs_token(real *buffer, const row *r, int64_t j)
{
    const real factor = step_factor(r->p, r->t, ATTEST_K_SCALE, r->b, r->g);
    int64_t b = r->b, at = j;
    step_key_place(r->p, r->t, &b, &at);
    const attest_tensor *k = r->t->role[ATTEST_K];
    return factor == 1 ? token_row(buffer, r->p, k, b, r->g, at, j)
                       : token_scaled(buffer, r->p, k, factor, b, r->g, at, j);
}
#endif

/* For step_each_row: phi(k_j) and gin_j v_j of the KV head's keys j < len_b. */
static inline void pairs_head(row *r)
{
    const attest_problem *p = r->p;
    const pairs_layout at = pairs_lay_out(p);
    const int64_t dim = token_dim(p), keys = step_length(p, r->t, r->b);
    real *k = r->scratch + at.keys, *v = r->scratch + at.values;
    for (int64_t j = 0; j < keys && !token_plain(p); j++)
        pairs_token(k + j * dim, r, j);
    for (int64_t j = 0; j < keys && gate_values(p); j++)
        gate_value_row(v + j * p->e, p, r->t, r->b, r->g, j);
    r->keys = token_plain(p) ? NULL : k;
    r->values = gate_values(p) ? v : NULL;
}

/* One row under way. */
typedef struct pairs {
    const row *r;
    const real *q;  /* phi(q_i) [dim] */
    const real *D;  /* D_ij of the row's keys, [last-first]; NULL: all are 1 */
    real *k, *v;    /* buffers of one key and one value */
    real *past, *a; /* decay=vector: phi(q_i) times D_ij, and a buffer for a_t */
    real *rest;
} pairs;

static inline pairs pairs_begin(const row *r)
{
    const attest_problem *p = r->p;
    const pairs_layout at = pairs_lay_out(p);
    real *base = r->scratch, *D = base + at.D;
    if (decay_keys(p))
        decay_row(D, r);
    return (pairs){ .r = r,
                    .q = pairs_query(r, base + at.q),
                    .D = decay_keys(p) ? D : NULL,
                    .k = base + at.k,
                    .v = base + at.v,
                    .past = base + at.past,
                    .a = base + at.a,
                    .rest = base + at.rest };
}

#ifndef pairs_key
/* phi(k_j). */
static inline const real *pairs_key(const pairs *x, int64_t j)
{
    const row *r = x->r;
    return r->keys ? r->keys + j * token_dim(r->p) : pairs_token(x->k, r, j);
}
#endif

#ifndef pairs_value
/* gin_j v_j. */
static inline const real *pairs_value(const pairs *x, int64_t j)
{
    const row *r = x->r;
    return r->values ? r->values + j * r->p->e : gate_value_row(x->v, r->p, r->t, r->b, r->g, j);
}
#endif

#ifndef pairs_decay
/* D_ij w: one rounding where there is a decay. */
static inline real pairs_decay(const pairs *x, int64_t j, real w) { return x->D ? x->D[j - x->r->first] * w : w; }
#endif

#ifndef dropout_weight
/* What u gets of the weight w of key j: w as it is without dropout, else 0, or w/(1-R) by one product. */
static inline real dropout_weight(const row *r, int64_t j, real w)
{
    return !r->keep ? w : dropout_keeps(r, j) ? w * r->kept : 0;
}
#endif

/* scale sum_c D_ijc q_c k_jc of the keys [first,last): from the query back, one product a token and channel more. */
static inline void pairs_vector_products(real *s, const pairs *x, int64_t first, int64_t last)
{
    const row *r = x->r;
    for (int64_t c = 0; c < r->p->d; c++)
        x->past[c] = x->q[c];
    for (int64_t j = r->i; j >= first; j--) {
        if (j < last)
            s[j - first] = step_score(r->scale, x->past, pairs_key(x, j), r->p->d);
        const real *a = decay_vector(x->a, r->p, r->t, r->b, r->g, j);
        for (int64_t c = 0; c < r->p->d; c++)
            x->past[c] *= a[c];
    }
}

/* s[last-first) = s_ij of the keys [first,last). */
static inline void pairs_scores(real *s, const pairs *x, int64_t first, int64_t last)
{
    const row *r = x->r;
    if (r->p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR)
        pairs_vector_products(s, x, first, last);
    else
        for (int64_t j = first; j < last; j++)
            s[j - first] = step_score(r->scale, x->q, pairs_key(x, j), token_dim(r->p));
    score_steps(s, r, first, last);
    score_hide(s, r, first, last);
}

#endif
