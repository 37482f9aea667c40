/* delta_wy.h - the delta rule by pairs (WY form): the written values w_t as unknowns of a triangular system.
 *
 * With the state S before the chunk, D_tj = a_(j+1) .. a_t, and D_t the product from the chunk's first token on,
 *
 *     S_t = D_t S + sum_(j<=t) D_tj phi(k_j)^T w_j                                      (in the chunk)
 *     w_t = b_t (gin_t v_t - D_t phi(k_t) S - sum_(j<t) D_tj <phi(k_t), phi(k_j)> w_j)
 *     o_i = gout_i scale (D_i phi(q_i) S + sum_(j<=i) D_ij <phi(q_i), phi(k_j)> w_j)
 *
 * (by induction on t, R-WY): the second line is the recurrence's b_t (gin_t v_t - phi(k_t) S'), solved by forward
 * substitution, token by token; it and the output are the same reading of what was written, by a key or by a query:
 * chunk_read() of power:1.  With decay=vector the decays are inside the products.
 * Errors   a Gram product gamma_dim, its decays gamma_C, the sum over a chunk of C tokens gamma_(C+1), S gamma_(dim+2);
 *          the written value two roundings and b_t's own (delta.h); an error of w_j enters all later w_t by
 *          D <k_t, k_j> b.
 */
#ifndef ATTEST_CPU_DELTA_WY_H
#define ATTEST_CPU_DELTA_WY_H

#include "chunk.h"
#include "delta.h"

static inline void wy_begin(void *self, const row *r) { chunk_begin((chunk *)self, r); }

/* w_t, at the end of the open chunk. */
static inline void wy_take(void *self, const row *r, int64_t t)
{
    chunk *a = (chunk *)self;
    const real *k = chunk_open(a, r, t);
    real f = 1, *w = a->v + a->count * r->p->e;
    heads_copy(a->x, k, token_dim(r->p));
    if (heads_before(r, t))
        heads_back(&f, a->x, r, t);
    chunk_read(a, w, a->x, f, r, 1);
    delta_write(w, a->u, r, k, t);
    a->count++;
}

static inline void wy_read(void *self, const row *r)
{
    chunk *a = (chunk *)self;
    real f;
    heads_query(&f, a->x, r);
    chunk_read(a, a->u, a->x, f, r, r->p->scale);
    norm_finish(r, a->u, 0, 0);
}

#endif
