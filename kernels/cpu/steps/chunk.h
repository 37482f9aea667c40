/* chunk.h - states between chunks of tokens, pairs inside the open chunk.
 *
 *     sum_(j<=i) D_ij W(s_ij) v_j = sum_n c_n <(D_i,from phi(q_i))^(x n), S_n> + sum_(pairs) D_ij W(s_ij) v_j
 *
 * where S_n holds the tokens before `from`, and the pairs are the tokens of the open chunk that the query sees.  When
 * the chunk is full it is summed by itself and enters the states:  S_n := D S_n + sum_j D_j phi(k_j)^(x n) (x) v_j,
 * D_j the decays from token j to the chunk's last one.  Every product of decays is made forwards, token by token on
 * the way back (heads_back), and never divided: it stays accurate however small it gets.
 * Errors   with t tokens in chunks of C: an entry of a state gamma_(n+1 + C + 2t/C) without decays, t+n+2 more with;
 *          a pair gamma_(dim+1), its decays gamma_t, its weight as in poly.h, the sum over pairs gamma_(C+1).
 */
#ifndef ATTEST_CPU_CHUNK_H
#define ATTEST_CPU_CHUNK_H

#include "degrees.h"

/* The open chunk: tokens [from, from+count) of at most `size`. */
typedef struct chunk {
    degrees s, share; /* the states before `from`; what a full chunk adds to them */
    int64_t size, from, count;
    real *k, *v; /* [size,dim] features, [size,e] values, gated or written */
    real *x, *u; /* dim, e: one row */
} chunk;

static inline int64_t chunk_size(const attest_problem *p) { return step_min(p->chunk, p->m); }

/* Cuts the workspace; with NULL only counts.  Returns the numbers needed.  Without states the one chunk must hold
 * all tokens. */
static inline int64_t chunk_cut(chunk *a, const attest_problem *p, int64_t size, int with_states, real *base)
{
    const int64_t dim = token_dim(p);
    int64_t used = 0;
    *a = (chunk){ .size = size };
    if (with_states) {
        used = degrees_cut(&a->s, p, 0, base);
        used += degrees_cut(&a->share, p, 0, base ? base + used : NULL);
    }
    if (base) {
        a->k = base + used;
        a->v = a->k + size * dim;
        a->x = a->v + size * p->e;
        a->u = a->x + dim;
    }
    return used + (size + 1) * (dim + p->e);
}

static inline void chunk_begin(chunk *a, const row *r)
{
    a->from = a->count = 0;
    if (a->s.dim > 0)
        degrees_load(&a->s, r);
}

/* S_n := D S_n + sum over the chunk, last token first, of D_j phi(k_j)^(x n) (x) v_j. */
static inline void chunk_close(chunk *a, const row *r)
{
    const int64_t dim = a->s.dim, e = r->p->e;
    real f = 1;
    for (int64_t c = 0; c < dim; c++)
        a->x[c] = 1;
    for (uint32_t n = a->s.lowest; n <= a->s.highest; n++)
        state_zero(&a->share.s[n]);
    for (int64_t at = a->count - 1; at >= 0; at--) {
        real *k = a->k + at * dim;
        for (int64_t c = 0; c < dim; c++)
            k[c] *= a->x[c];
        degrees_add(&a->share, k, f, a->v + at * e);
        if (heads_before(r, a->from + at))
            heads_back(&f, a->x, r, a->from + at);
    }
    for (uint32_t n = a->s.lowest; n <= a->s.highest; n++) {
        if (r->p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR)
            state_decay_rows(&a->s.s[n], a->x);
        else
            state_decay(&a->s.s[n], f);
        state_plus(&a->s.s[n], &a->share.s[n]);
    }
    a->from += a->count;
    a->count = 0;
}

/* A place for token t at the end of the open chunk, with phi(k_t) in it; its value is the caller's to write. */
static inline real *chunk_open(chunk *a, const row *r, int64_t t)
{
    const int64_t dim = token_dim(r->p);
    if (a->count == a->size)
        chunk_close(a, r);
    real *k = a->k + a->count * dim;
    heads_copy(k, heads_key(k, r, t), dim);
    return k;
}

/* u = sum_j D W(scale <x, k_j>) v_j over all tokens so far; returns the sum without v.  x, which is used up, and f are
 * the query and its factor as of the last token (heads_query). */
static inline real chunk_read(chunk *a, real *u, real *x, real f, const row *r, double scale)
{
    const int64_t dim = token_dim(r->p), e = r->p->e;
    real z = 0;
    step_zero(u, e);
    for (int64_t at = a->count - 1; at >= 0; at--) {
        const real s = step_score((real)scale, x, a->k + at * dim, dim);
        const real w = f * poly_weight(&r->p->axis[ATTEST_AXIS_WEIGHT], s);
        z = step_sum(z, w);
        step_add_value(u, w, a->v + at * e, e);
        if (heads_before(r, a->from + at))
            heads_back(&f, x, r, a->from + at);
    }
    if (heads_before(r, a->from))
        z += degrees_read(&a->s, u, x, f, r->p, scale);
    return z;
}

static inline void chunk_end(chunk *a, const row *r)
{
    chunk_close(a, r);
    degrees_store(&a->s, r);
}

#endif
