/* token.h - a token's row of q or k as the product takes it: loaded, rotated (rope), mapped (feature).
 *
 *     rope       pairs (c, c+d/2), angle a = position BASE^(-2c/d): (x, y) -> (x cos a - y sin a, x sin a + y cos a)
 *     feature    identity; elu1: x+1 or e^x; relu; unit: x/norm2(x); silu: x/(1+e^-x); silu-unit: unit(silu(x));
 *                cosformer, 2d entries: relu(x_c) cos a in entry c, relu(x_c) sin a in entry d+c,
 *                a = pi position/(2 max(N,M)), so that products give cos of the difference of the positions
 *
 * Angles, their sines and cosines, and the norm of unit are formed in double, where float's squares are exact and
 * neither overflow nor vanish, and rounded once to `real`.
 */
#ifndef ATTEST_CPU_TOKEN_H
#define ATTEST_CPU_TOKEN_H

#include "step.h"

#define TOKEN_PI 0x1.921fb54442d18p+1 /* below 2^-53 relative */

/* Entries of phi: d, or 2d for cosformer. */
static inline int64_t token_dim(const attest_problem *p)
{
    return p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_COSFORMER ? 2 * p->d : p->d;
}

/* ---- rope ----------------------------------------------------------------------------------------------- */

#ifndef token_angle
/* position BASE^(-2c/d): pow below 1 ulp, its exponent and the product one rounding each, all in double. */
static inline double token_angle(const attest_problem *p, int64_t position, int64_t c)
{
    return (double)position * pow(p->axis[ATTEST_AXIS_ROPE].number, -2.0 * (double)c / (double)p->d);
}
#endif

#ifndef token_rotate
/* sine and cosine one rounding each; two products and one sum an entry: 3u (|x| + |y|) in all. */
static inline void token_rotate(real *x, real *y, double angle)
{
    const real cosine = (real)cos(angle), sine = (real)sin(angle), a = *x, b = *y;
    *x = a * cosine - b * sine;
    *y = a * sine + b * cosine;
}
#endif

/* ---- features -------------------------------------------------------------------------------------------- */

#ifndef token_elu1
/* x+1 for x >= 0 (one rounding), else e^x (at most 2u relative).  A NaN stays one. */
static inline real token_elu1(real x) { return x >= 0 ? x + 1 : real_exp(x); }
#endif

#ifndef token_relu
/* Exact.  A NaN stays one. */
static inline real token_relu(real x) { return x < 0 ? 0 : x; }
#endif

#ifndef token_silu
/* x/(1+e^-x), below 0 as x e^x/(1+e^x) so that nothing overflows: exponential 2u, three roundings. */
static inline real token_silu(real x)
{
    if (x < 0) {
        const real y = real_exp(x);
        return x * y / (1 + y);
    }
    return x / (1 + real_exp(-x));
}
#endif

static inline void token_map_elu1(real *y, const real *x, const attest_problem *p, int64_t position)
{
    (void)position;
    for (int64_t c = 0; c < p->d; c++)
        y[c] = token_elu1(x[c]);
}

static inline void token_map_relu(real *y, const real *x, const attest_problem *p, int64_t position)
{
    (void)position;
    for (int64_t c = 0; c < p->d; c++)
        y[c] = token_relu(x[c]);
}

#ifndef token_map_unit
/* The squares of floats are exact in double: norm and quotient together one rounding of `real` and d+3 of double.
 * A row of zeros stays as it is; a NaN makes every entry one. */
static inline void token_map_unit(real *y, const real *x, const attest_problem *p, int64_t position)
{
    double squares = 0;
    (void)position;
    for (int64_t c = 0; c < p->d; c++)
        squares += (double)x[c] * (double)x[c];
    const double norm = squares == 0 ? 1 : sqrt(squares);
    for (int64_t c = 0; c < p->d; c++)
        y[c] = (real)((double)x[c] / norm);
}
#endif

static inline void token_map_silu(real *y, const real *x, const attest_problem *p, int64_t position)
{
    (void)position;
    for (int64_t c = 0; c < p->d; c++)
        y[c] = token_silu(x[c]);
}

/* Relative error of an entry: silu's, and once more its largest, through the norm. */
static inline void token_map_silu_unit(real *y, const real *x, const attest_problem *p, int64_t position)
{
    token_map_silu(y, x, p, position);
    token_map_unit(y, y, p, position);
}

#ifndef token_map_cosformer
/* sine and cosine one rounding each, one product an entry.  Entry d+c first: y may be x. */
static inline void token_map_cosformer(real *y, const real *x, const attest_problem *p, int64_t position)
{
    const double angle = TOKEN_PI * (double)position / (2.0 * (double)step_max(p->n, p->m));
    const real cosine = (real)cos(angle), sine = (real)sin(angle);
    for (int64_t c = 0; c < p->d; c++) {
        const real z = token_relu(x[c]);
        y[p->d + c] = z * sine;
        y[c] = z * cosine;
    }
}
#endif

/* Those with a row in token_feature(), as a serve_table states it. */
enum { TOKEN_LAST_FEATURE = ATTEST_FEATURE_COSFORMER };
#define SERVE_ALL_FEATURES SERVE_THROUGH(TOKEN_LAST_FEATURE)

/* y[dim] = phi(x[d]); y may be x.  NULL: phi(x) = x. */
typedef void token_map(real *y, const real *x, const attest_problem *p, int64_t position);

static inline token_map *token_feature(const attest_problem *p)
{
    static token_map *const maps[] = {
        [ATTEST_FEATURE_IDENTITY] = NULL,
        [ATTEST_FEATURE_ELU1] = token_map_elu1,
        [ATTEST_FEATURE_RELU] = token_map_relu,
        [ATTEST_FEATURE_UNIT] = token_map_unit,
        [ATTEST_FEATURE_SILU] = token_map_silu,
        [ATTEST_FEATURE_SILU_UNIT] = token_map_silu_unit,
        [ATTEST_FEATURE_COSFORMER] = token_map_cosformer,
    };
    _Static_assert(sizeof maps / sizeof maps[0] == TOKEN_LAST_FEATURE + 1, "SERVE_ALL_FEATURES names the rows");
    return maps[p->axis[ATTEST_AXIS_FEATURE].value];
}

/* ---- the row ---------------------------------------------------------------------------------------------- */

/* 1 if rows are used as they are stored: neither rotated nor mapped. */
static inline int token_plain(const attest_problem *p)
{
    return p->axis[ATTEST_AXIS_ROPE].value == ATTEST_ROPE_NONE && !token_feature(p);
}

#ifndef token_pair
/* The entries of pair c. */
static inline void token_pair(const attest_problem *p, int64_t c, int64_t *first, int64_t *second)
{
    *first = c;
    *second = c + p->d / 2;
}
#endif

/* phi(rope(factor row (b,h,i) of t)) for a token at `position` (q: step_position, k: its index): token_dim entries, in
 * place for plain rows stored as reals, else in buffer[token_dim].  factor: 1, or that of keys of 8 bits. */
static inline const real *token_scaled(real *buffer, const attest_problem *p, const attest_tensor *t, real factor,
                                       int64_t b, int64_t h, int64_t i, int64_t position)
{
    const real *x = step_scaled(buffer, step_row(buffer, t, b, h, i, p->d), factor, p->d);
    token_map *const map = token_feature(p);
    if (p->axis[ATTEST_AXIS_ROPE].value == ATTEST_ROPE_BASE) {
        for (int64_t c = 0; c < p->d; c++)
            buffer[c] = x[c];
        for (int64_t c = 0; c < p->d / 2; c++) {
            int64_t x_at, y_at;
            token_pair(p, c, &x_at, &y_at);
            token_rotate(&buffer[x_at], &buffer[y_at], token_angle(p, position, c));
        }
        x = buffer;
    }
    if (!map)
        return x;
    map(buffer, x, p, position);
    return buffer;
}

static inline const real *token_row(real *buffer, const attest_problem *p, const attest_tensor *t, int64_t b, int64_t h,
                                    int64_t i, int64_t position)
{
    return token_scaled(buffer, p, t, 1, b, h, i, position);
}

#endif
