/* degrees.h - the states of all degrees of a polynomial weight, and how a query reads them.
 *
 *     sum_j W(s_j) v_j = sum_n c_n <phi(q)^(x n), H_n>,   taylor:P n = 0..P, term:P and power:P n = P only
 *     c_n = scale^n/n!  (power: scale^n)
 *
 * since <q,k>^n = <q^(x n), k^(x n)>.  Packed states are read with multinomials n!/I! on the query's monomials.
 * Errors   a monomial gamma_(n-1), readout of a degree gamma_rows and, packed, one more; c_n one rounding, its product
 *          with f one and with the degree's sum one; the sum over degrees gamma_P.
 */
#ifndef ATTEST_CPU_DEGREES_H
#define ATTEST_CPU_DEGREES_H

#include "heads.h"
#include "serve.h"
#include <float.h>

#define DEGREES_ROWS ((int64_t)1 << 20)    /* of the highest state */
#define DEGREES_NUMBERS ((int64_t)1 << 26) /* all states of a head together */
#define DEGREES_EXACT ((int64_t)1 << 24)   /* dim^P: multinomials up to it are exact floats */

typedef struct degrees {
    int packed;
    int64_t dim;
    uint32_t lowest, highest;
    state s[ATTEST_STATE_SLOTS];
    real *monomial, *sum;                  /* rows of the highest degree; e */
    real *multinomial[ATTEST_STATE_SLOTS]; /* packed only */
} degrees;

static inline uint32_t degrees_lowest(const attest_problem *p)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    return weight->value == ATTEST_WEIGHT_TAYLOR ? 0 : weight->order;
}

#ifndef degrees_coefficient
/* c_n in double (n roundings of 2^-53), to be rounded once to float. */
static inline double degrees_coefficient(const attest_problem *p, double scale, uint32_t n)
{
    double c = 1;
    for (uint32_t i = 1; i <= n; i++)
        c *= p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_POWER ? scale : scale / i;
    return c;
}
#endif

/* Cuts the workspace; with NULL only counts.  Returns the numbers needed.  The delta rule has no z-states. */
static inline int64_t degrees_cut(degrees *a, const attest_problem *p, int packed, real *base)
{
    const int with_z = p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_ADD;
    int64_t used = 0, rows = 0;
    *a = (degrees){
        .packed = packed, .dim = token_dim(p), .lowest = degrees_lowest(p), .highest = p->axis[ATTEST_AXIS_WEIGHT].order
    };
    for (uint32_t n = a->lowest; n <= a->highest; n++) {
        rows = state_rows(a->dim, n, packed, DEGREES_ROWS);
        if (base) {
            real *z = with_z ? base + used + rows * p->e : NULL;
            a->s[n] = (state){ .rows = rows, .e = p->e, .h = base + used, .z = z };
            a->multinomial[n] = packed ? base + used + state_size(rows, p->e) : NULL;
        }
        used += state_size(rows, p->e) + (packed ? rows : 0);
    }
    if (base) {
        a->monomial = base + used;
        a->sum = a->monomial + rows;
    }
    return used + rows + p->e;
}

#ifndef degrees_multinomials
/* n!/I! of every packed index tuple I of degree n, exactly: value is the multinomial of the first `depth`
 * entries, `run` how often the last of them, `from`, stands at their end. */
static inline real *degrees_multinomials(real *out, int64_t dim, uint32_t n, uint32_t depth, int64_t from, int64_t run,
                                         int64_t value)
{
    if (depth == n) {
        *out = (real)value;
        return out + 1;
    }
    for (int64_t c = from; c < dim; c++) {
        const int64_t runs = c == from && depth > 0 ? run + 1 : 1;
        out = degrees_multinomials(out, dim, n, depth + 1, c, runs, value * (int64_t)(depth + 1) / runs);
    }
    return out;
}
#endif

/* From h0 and z0 of KV head (r->b, r->g), or zero. */
static inline void degrees_load(const degrees *a, const row *r)
{
    const int given = heads_given(r->p);
    for (uint32_t n = a->lowest; n <= a->highest; n++)
        state_load(&a->s[n], given ? r->t->h0[n] : NULL, given ? r->t->z0[n] : NULL, r->b, r->g);
}

static inline void degrees_store(const degrees *a, const row *r)
{
    for (uint32_t n = a->lowest; n <= a->highest; n++)
        state_store(&a->s[n], r->t->ht[n], r->t->zt[n], r->b, r->g);
}

/* S_n += f x^(x n) (x) v in every degree: one product more than states.h says where f is not 1. */
static inline void degrees_add(const degrees *a, const real *x, real f, const real *v)
{
    for (uint32_t n = a->lowest; n <= a->highest; n++) {
        state_monomials(a->monomial, x, a->dim, n, a->packed, 0, f);
        state_add(&a->s[n], a->monomial, v);
    }
}

/* u[e] += sum_n f c_n <x^(x n), H_n>; returns the same of Z_n. */
static inline real degrees_read(const degrees *a, real *u, const real *x, real f, const attest_problem *p, double scale)
{
    real z = 0;
    for (uint32_t n = a->lowest; n <= a->highest; n++) {
        const real c = f * (real)degrees_coefficient(p, scale, n);
        state_monomials(a->monomial, x, a->dim, n, a->packed, 0, 1);
        for (int64_t m = 0; a->packed && m < a->s[n].rows; m++)
            a->monomial[m] *= a->multinomial[n][m];
        z += c * state_read(a->sum, &a->s[n], a->monomial);
        step_add_value(u, c, a->sum, p->e);
    }
    return z;
}

/* What the states allow beyond the axes. */
static inline int degrees_fit(const attest_call *call, int packed)
{
    const attest_problem *p = call->problem;
    const uint32_t order = p->axis[ATTEST_AXIS_WEIGHT].order;
    const long long dim = token_dim(p);
    int64_t numbers = 0;
    if (state_rows(dim, order, packed, DEGREES_ROWS) < 0)
        return serve_refuse(call, "the state of degree %u has more than 2^20 rows with %lld features", order, dim);
    if (packed && state_rows(dim, order, 0, DEGREES_EXACT) < 0)
        return serve_refuse(call, "dim^P > 2^24 with %lld features, P=%u: multinomials are not exact floats", dim,
                            order);
    for (uint32_t n = degrees_lowest(p); n <= order; n++)
        numbers += state_size(state_rows(dim, n, packed, DEGREES_ROWS), p->e);
    if (numbers > DEGREES_NUMBERS)
        return serve_refuse(call, "the states of one head have %lld numbers, more than 2^26", (long long)numbers);
    for (uint32_t n = degrees_lowest(p); n <= order; n++) {
        const double c = fabs(degrees_coefficient(p, p->scale, n));
        if (p->scale != 0 && !(c >= FLT_MIN && c <= FLT_MAX))
            return serve_refuse(call, "the coefficient of degree %u, %g, is no normal float", n, c);
    }
    return 1;
}

/* Every polynomial variant with a recurrence. */
#define DEGREES_TABLE(sequences)                                                                                       \
    {                                                                                                                  \
        .axis = { [ATTEST_AXIS_WEIGHT] = SERVE_POLYNOMIAL, SERVE_STATEFUL(sequences) }, .in = SERVE_UP_TO_F32,         \
        .acc = SERVE_BIT(ATTEST_F32), .p = SERVE_BIT(ATTEST_F32), .out = SERVE_UP_TO_F32                               \
    }

#endif
