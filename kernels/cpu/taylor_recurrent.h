/* taylor_recurrent.h - attention with a polynomial weight as a recurrence over tokens.
 *
 * Formula    u_i = sum_n c_n <phi(q_i)^(x n), H_n(i)>, z_i likewise with Z_n; taylor:P has n = 0..P, term:P and
 *            power:P only n = P; c_n = scale^n/n! (power: scale^n); states as in states.h; o = u/z or u.
 * Algorithm  for every KV head: load the states; for every query in order: take in the keys it sees and its
 *            predecessor did not (mask=full: all at once), then read the states with all its query heads.
 *            Packed states are read with multinomial coefficients n!/I! on the query's monomials.
 * Errors     with t keys: an entry of a state gamma_(n-1+1+t), readout per degree gamma_(n-1+rows) and, packed,
 *            one more; c_n one rounding, its product one, the sum over degrees gamma_P; one division.
 */
#ifndef ATTEST_CPU_TAYLOR_RECURRENT_H
#define ATTEST_CPU_TAYLOR_RECURRENT_H

#include "serve.h"
#include "states.h"
#include <float.h>

#define RECURRENT_ROWS ((int64_t)1 << 20)    /* of the highest state */
#define RECURRENT_NUMBERS ((int64_t)1 << 26) /* all states of a head together */
#define RECURRENT_EXACT ((int64_t)1 << 24)   /* dim^P: multinomials up to it are exact floats */

/* Degrees and workspace of one problem. */
typedef struct recurrence {
    int packed;
    uint32_t lowest, highest;
    state s[ATTEST_STATE_SLOTS];
    real *monomial, *k, *v, *u, *part;      /* rows of the highest degree; d, e, e, e */
    real *multinomial[ATTEST_STATE_SLOTS];  /* packed only */
} recurrence;

static inline uint32_t recurrent_lowest(const attest_problem *p)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    return weight->value == ATTEST_WEIGHT_TAYLOR ? 0 : weight->order;
}

/* c_n in double (n roundings of 2^-53), to be rounded once to float. */
static inline double recurrent_coefficient(const attest_problem *p, uint32_t n)
{
    double c = 1;
    for (uint32_t i = 1; i <= n; i++)
        c *= p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_POWER ? p->scale : p->scale / i;
    return c;
}

/* Cuts the workspace; with NULL only counts.  Returns the numbers needed. */
static inline int64_t recurrent_layout(recurrence *a, const attest_problem *p, int packed, real *base)
{
    int64_t used = 0;
    *a = (recurrence){ .packed = packed, .lowest = recurrent_lowest(p), .highest = p->axis[ATTEST_AXIS_WEIGHT].order };
    for (uint32_t n = a->lowest; n <= a->highest; n++) {
        const int64_t rows = state_rows(p->d, n, packed, RECURRENT_ROWS);
        if (base) {
            a->s[n] = (state){ .rows = rows, .e = p->e, .h = base + used, .z = base + used + rows * p->e };
            a->multinomial[n] = packed ? base + used + state_size(rows, p->e) : NULL;
        }
        used += state_size(rows, p->e) + (packed ? rows : 0);
    }
    if (base) {
        a->monomial = base + used;
        a->k = a->monomial + a->s[a->highest].rows;
        a->v = a->k + p->d;
        a->u = a->v + p->e;
        a->part = a->u + p->e;
    }
    return used + state_rows(p->d, a->highest, packed, RECURRENT_ROWS) + p->d + 3 * p->e;
}

#ifndef recurrent_multinomials
/* n!/I! of every packed index tuple I of degree n, exactly: value is the multinomial of the first `depth`
 * entries, `run` how often the last of them, `from`, stands at their end. */
static inline real *recurrent_multinomials(real *out, int64_t dim, uint32_t n, uint32_t depth, int64_t from,
                                           int64_t run, int64_t value)
{
    if (depth == n) {
        *out = (real)value;
        return out + 1;
    }
    for (int64_t c = from; c < dim; c++) {
        const int64_t runs = c == from && depth > 0 ? run + 1 : 1;
        out = recurrent_multinomials(out, dim, n, depth + 1, c, runs, value * (int64_t)(depth + 1) / runs);
    }
    return out;
}
#endif

static inline void recurrent_take(recurrence *a, const attest_problem *p, const attest_tensors *t, int64_t b,
                                  int64_t g, int64_t j)
{
    const real *k = poly_feature_row(a->k, p, t->role[ATTEST_K], b, g, j);
    const real *v = step_row(a->v, t->role[ATTEST_V], b, g, j, p->e);
    for (uint32_t n = a->lowest; n <= a->highest; n++) {
        state_monomials(a->monomial, k, p->d, n, a->packed, 0, 1);
        state_add(&a->s[n], a->monomial, v);
    }
}

static inline void recurrent_read(recurrence *a, const row *r)
{
    const real *q = poly_feature_row(a->k, r->p, r->t->role[ATTEST_Q], r->b, r->h, r->i);
    real z = 0;
    step_zero(a->u, r->p->e);
    for (uint32_t n = a->lowest; n <= a->highest; n++) {
        const real c = (real)recurrent_coefficient(r->p, n);
        state_monomials(a->monomial, q, r->p->d, n, a->packed, 0, 1);
        for (int64_t m = 0; a->packed && m < a->s[n].rows; m++)
            a->monomial[m] *= a->multinomial[n][m];
        z += c * state_read(a->part, &a->s[n], a->monomial);
        step_add_value(a->u, c, a->part, r->p->e);
    }
    poly_finish(r, a->u, z, 0);
}

static inline void recurrent_head(recurrence *a, const attest_problem *p, const attest_tensors *t, int64_t b,
                                  int64_t g)
{
    const int64_t group = p->hq / p->hkv, length = step_length(p, t, b);
    const int given = p->axis[ATTEST_AXIS_STATE].value == ATTEST_STATE_DRAW;
    row r = { .p = p, .t = t, .b = b, .g = g, .scale = (real)p->scale };
    int64_t taken = 0;
    for (uint32_t n = a->lowest; n <= a->highest; n++)
        state_load(&a->s[n], given ? t->h0[n] : NULL, given ? t->z0[n] : NULL, b, g);
    for (r.i = 0; r.i < p->n; r.i++) {
        step_visible(p, length, r.i, &r.first, &r.last);
        for (; taken < r.last; taken++)
            recurrent_take(a, p, t, b, g, taken);
        for (r.h = g * group; r.h < (g + 1) * group; r.h++) {
            if (r.last > 0 || given)
                recurrent_read(a, &r);
            else
                step_empty_row(&r);
        }
    }
    for (uint32_t n = a->lowest; n <= a->highest; n++)
        state_store(&a->s[n], t->ht[n], t->zt[n], b, g);
}

static inline attest_status recurrent_run(const attest_problem *p, const attest_tensors *t, void *workspace,
                                          int packed)
{
    recurrence a;
    recurrent_layout(&a, p, packed, (real *)workspace);
    for (uint32_t n = a.lowest; packed && n <= a.highest; n++)
        recurrent_multinomials(a.multinomial[n], p->d, n, 0, 0, 0, 1);
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t g = 0; g < p->hkv; g++)
            recurrent_head(&a, p, t, b, g);
    return ATTEST_OK;
}

static inline size_t recurrent_workspace(const attest_problem *p, int packed)
{
    recurrence a;
    return (size_t)recurrent_layout(&a, p, packed, NULL) * sizeof(real);
}

/* What the states allow beyond the axes. */
static inline int recurrent_fits(const attest_problem *p, int packed, char *why, size_t len)
{
    const uint32_t order = p->axis[ATTEST_AXIS_WEIGHT].order;
    int64_t numbers = 0;
    if (state_rows(p->d, order, packed, RECURRENT_ROWS) < 0)
        return serve_refuse(why, len, "the state of degree %u has more than 2^20 rows with d=%lld", order,
                            (long long)p->d);
    if (packed && state_rows(p->d, order, 0, RECURRENT_EXACT) < 0)
        return serve_refuse(why, len, "d^P > 2^24 with d=%lld, P=%u: multinomials are not exact floats",
                            (long long)p->d, order);
    for (uint32_t n = recurrent_lowest(p); n <= order; n++)
        numbers += state_size(state_rows(p->d, n, packed, RECURRENT_ROWS), p->e);
    if (numbers > RECURRENT_NUMBERS)
        return serve_refuse(why, len, "the states of one head have %lld numbers, more than 2^26", (long long)numbers);
    for (uint32_t n = recurrent_lowest(p); n <= order; n++) {
        const double c = fabs(recurrent_coefficient(p, n));
        if (p->scale != 0 && !(c >= FLT_MIN && c <= FLT_MAX))
            return serve_refuse(why, len, "the coefficient of degree %u, %g, is no normal float", n, c);
    }
    return 1;
}

#define RECURRENT_TABLE                                                                                        \
    {                                                                                                          \
        .axis = { [ATTEST_AXIS_WEIGHT] = SERVE_POLYNOMIAL, [ATTEST_AXIS_FEATURE] = SERVE_FEATURES,             \
                  [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS, [ATTEST_AXIS_LENS] = SERVE_LENS,                       \
                  [ATTEST_AXIS_NORM] = SERVE_SUM_OR_NONE, [ATTEST_AXIS_STATE] = SERVE_STATE },                 \
        .in = SERVE_UP_TO_F32, .acc = SERVE_BIT(ATTEST_F32), .p = SERVE_BIT(ATTEST_F32),                       \
        .out = SERVE_UP_TO_F32                                                                                 \
    }

#endif
