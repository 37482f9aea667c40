/* monomials.h - the monomials of many tokens at once, in the packed order of states: what the Taylor kernels share.
 *
 *     row I of degree n:  x^I = x_c x^J,  c the first index of I, J the rest of it
 *
 * The non-decreasing tuples in lexicographic order that begin with c are c before each tuple of degree n-1 that begins
 * with c or more, and these are the last ones of their degree.  Rows of all degrees from 0 on lie one after the other,
 * [rows][UNIT] with a token in each lane, so that a row is a product of two rows.
 * Errors     x^I gamma_(n-1), none of degree 1.  The query's, times n!/I! and c_n f: two more; c_n f as in degrees.h.
 */
#ifndef ATTEST_FAST_MONOMIALS_H
#define ATTEST_FAST_MONOMIALS_H

#include "cpu/steps/degrees.h"
#include "fast/rows.h"

typedef struct monomials {
    int64_t dim;
    uint32_t lowest, highest;              /* degrees of the states */
    int64_t first[ATTEST_STATE_SLOTS + 1]; /* of each degree up to highest + 1, its first row */
    int64_t rows;                          /* of the degrees 0..highest, and of 1 at least: rows of degree 1 are phi */
} monomials;

static inline monomials monomials_of(const attest_problem *p)
{
    monomials a = { .dim = token_dim(p), .lowest = degrees_lowest(p), .highest = p->axis[ATTEST_AXIS_WEIGHT].order };
    for (uint32_t n = 0; n <= a.highest; n++)
        a.first[n + 1] = a.first[n] + state_rows(a.dim, n, 1, DEGREES_ROWS);
    a.rows = step_max(a.first[a.highest + 1], 1 + a.dim);
    return a;
}

/* The rows that have a state: the first one, and how many. */
static inline int64_t monomials_first(const monomials *a) { return a->first[a->lowest]; }
static inline int64_t monomials_states(const monomials *a) { return a->first[a->highest + 1] - monomials_first(a); }

#ifndef monomials_rest
/* How many tuples of degree n begin with c or more. */
static inline int64_t monomials_rest(int64_t dim, uint32_t n, int64_t c)
{
    return state_rows(dim - c, n, 1, DEGREES_ROWS);
}
#endif

/* From the rows of degree 1, [dim][unit] at x + unit, all others. */
static inline void monomials_make(float *x, const monomials *a, int64_t unit)
{
    for (int64_t lane = 0; lane < unit; lane++)
        x[lane] = 1;
    for (uint32_t n = 2; n <= a->highest; n++) {
        float *to = x + a->first[n] * unit;
        for (int64_t c = 0; c < a->dim; c++) {
            const float *factor = x + (1 + c) * unit, *end = x + a->first[n] * unit;
            for (const float *from = end - monomials_rest(a->dim, n - 1, c) * unit; from < end;
                 from += unit, to += unit)
                for (int64_t lane = 0; lane < unit; lane += LANES)
                    vec_store(to + lane, vec_load(factor + lane) * vec_load(from + lane));
        }
    }
}

/* n!/I! of all rows. */
static inline void monomials_counts(float *counts, const monomials *a)
{
    for (uint32_t n = 0; n <= a->highest; n++)
        degrees_multinomials(counts + a->first[n], a->dim, n, 0, 0, 0, 1);
}

#ifndef monomials_coefficient
static inline float monomials_coefficient(const attest_problem *p, uint32_t n)
{
    return (float)degrees_coefficient(p, p->scale, n);
}
#endif

/* The rows that have a state become those of queries with factors f[unit]: x^I n!/I! c_n f. */
static inline void monomials_weigh(float *x, const monomials *a, const float *counts, const float *f,
                                   const attest_problem *p, int64_t unit)
{
    for (uint32_t n = a->lowest; n <= a->highest; n++) {
        const vec coefficient = vec_of(monomials_coefficient(p, n));
        for (int64_t row_of = a->first[n]; row_of < a->first[n + 1]; row_of++)
            for (int64_t lane = 0; lane < unit; lane += LANES) {
                float *to = x + row_of * unit + lane;
                vec_store(to, vec_load(to) * vec_of(counts[row_of]) * (vec_load(f + lane) * coefficient));
            }
    }
}

#endif
