/* states.h - steps of the kernels with states: monomials, one token more, readout, loading and storing.
 *
 *     H_n = h0_n + sum_j k_j^(x n) (x) v_j  [rows,e],   Z_n = z0_n + sum_j k_j^(x n)  [rows]
 *
 * A state of degree n has one row a monomial of degree n in the dim entries of k: all dim^n index tuples in
 * row-major order (Kronecker), or packed: the C(dim+n-1,n) non-decreasing tuples in lexicographic order.
 * The delta rule keeps H_1 alone: z is NULL.
 */
#ifndef ATTEST_CPU_STATES_H
#define ATTEST_CPU_STATES_H

#include "poly.h"

typedef struct state {
    int64_t rows, e;
    real *h, *z; /* [rows,e], [rows] or NULL */
} state;

/* Numbers a state takes. */
static inline int64_t state_size(int64_t rows, int64_t e) { return rows * (e + 1); }

/* Rows of degree n, or -1 if more than `most`. */
static inline int64_t state_rows(int64_t dim, uint32_t n, int packed, int64_t most)
{
    int64_t rows = 1;
    for (uint32_t c = 1; c <= n; c++) {
        if (rows > most) /* dim < 2^16, so that no product overflows */
            return -1;
        rows = packed ? rows * (dim + (int64_t)c - 1) / (int64_t)c : rows * dim;
    }
    return rows > most ? -1 : rows;
}

#ifndef state_monomials
/* Writes value * x^I for every index tuple I of length n, entries >= `from` and non-decreasing if packed; returns
 * the end.  n products each, the first of them exact when value is 1: gamma_(n-1). */
static inline real *state_monomials(real *out, const real *x, int64_t dim, uint32_t n, int packed, int64_t from,
                                    real value)
{
    if (n == 0) {
        *out = value;
        return out + 1;
    }
    for (int64_t c = packed ? from : 0; c < dim; c++)
        out = state_monomials(out, x, dim, n - 1, packed, c, value * x[c]);
    return out;
}
#endif

#ifndef state_add
/* One token: two roundings an entry of h, one of z. */
static inline void state_add(const state *s, const real *monomial, const real *v)
{
    for (int64_t row_of = 0; row_of < s->rows; row_of++) {
        if (s->z)
            s->z[row_of] = step_sum(s->z[row_of], monomial[row_of]);
        step_add_value(s->h + row_of * s->e, monomial[row_of], v, s->e);
    }
}
#endif

#ifndef state_decay
/* S := a S: one rounding an entry. */
static inline void state_decay(const state *s, real a)
{
    for (int64_t at = 0; at < s->rows * s->e; at++)
        s->h[at] *= a;
    for (int64_t row_of = 0; s->z && row_of < s->rows; row_of++)
        s->z[row_of] *= a;
}
#endif

#ifndef state_decay_rows
/* S := diag(a) S, one factor a row: one rounding an entry. */
static inline void state_decay_rows(const state *s, const real *a)
{
    for (int64_t row_of = 0; row_of < s->rows; row_of++) {
        if (s->z)
            s->z[row_of] *= a[row_of];
        for (int64_t c = 0; c < s->e; c++)
            s->h[row_of * s->e + c] *= a[row_of];
    }
}
#endif

#ifndef state_read
/* u[e] = sum_rows x h, returns sum_rows x z (0 without z): rows products and rows-1 additions. */
static inline real state_read(real *u, const state *s, const real *x)
{
    real z = 0;
    step_zero(u, s->e);
    for (int64_t row_of = 0; row_of < s->rows; row_of++) {
        if (s->z)
            z = step_sum(z, x[row_of] * s->z[row_of]);
        step_add_value(u, x[row_of], s->h + row_of * s->e, s->e);
    }
    return z;
}
#endif

static inline void state_zero(const state *s)
{
    step_zero(s->h, s->rows * s->e);
    if (s->z)
        step_zero(s->z, s->rows);
}

#ifndef state_plus
/* S += other: one rounding an entry. */
static inline void state_plus(const state *s, const state *other)
{
    for (int64_t at = 0; at < s->rows * s->e; at++)
        s->h[at] = step_sum(s->h[at], other->h[at]);
    for (int64_t row_of = 0; s->z && row_of < s->rows; row_of++)
        s->z[row_of] = step_sum(s->z[row_of], other->z[row_of]);
}
#endif

/* State of KV head (b,g) from the tensors h0 and z0; zero where they are NULL. */
static inline void state_load(const state *s, const attest_tensor *h0, const attest_tensor *z0, int64_t b, int64_t g)
{
    for (int64_t n = 0; n < s->rows; n++) {
        if (s->z)
            s->z[n] = z0 ? step_load(z0, b * z0->stride[0] + g * z0->stride[1] + n * z0->stride[2]) : 0;
        for (int64_t c = 0; c < s->e; c++)
            s->h[n * s->e + c] = h0 ? step_load(h0, b * h0->stride[0] + g * h0->stride[1] + n * h0->stride[2] +
                                                        c * h0->stride[3])
                                    : 0;
    }
}

/* To the tensors ht and zt, where they are not NULL. */
static inline void state_store(const state *s, const attest_tensor *ht, const attest_tensor *zt, int64_t b, int64_t g)
{
    for (int64_t n = 0; n < s->rows; n++) {
        if (zt)
            step_store(zt, b * zt->stride[0] + g * zt->stride[1] + n * zt->stride[2], s->z[n]);
        for (int64_t c = 0; ht && c < s->e; c++)
            step_store(ht, b * ht->stride[0] + g * ht->stride[1] + n * ht->stride[2] + c * ht->stride[3],
                       s->h[n * s->e + c]);
    }
}

#endif
