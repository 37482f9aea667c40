/* dd_products.h - inside reference/: scores and value sums of a block, for the three paths.  Contracts: dd.h. */
#ifndef ATTEST_DD_PRODUCTS_H
#define ATTEST_DD_PRODUCTS_H

#include "reference/dd/dd_real.h"

#define UNROLL _Pragma("GCC unroll 8")
/* The loops behind UNROLL are laid out by hand: clang-format would set their bodies apart. */
// clang-format off

typedef struct tile {
    vec acc[TILE_ROWS][TILE_VECTORS], low[TILE_ROWS][TILE_VECTORS];
} tile;

/* ---- scores ------------------------------------------------------------------------------------------------------ */

/* x = scale (acc + low), low made at most half an ulp. */
static inline void store_score(double *high, double *low, vec h, vec l, int scaled, vec scale)
{
    vec e, x = fast_two_sum(h, l, &e);
    if (scaled) {
        vec p;
        x = two_product(x, scale, &p);
        x = fast_two_sum(x, multiply_add(e, scale, p), &e);
    }
    v_store(high, x);
    v_store(low, e);
}

static inline void score_tile(double *high, double *low, int64_t stride, const double *q, const double *key, int64_t d,
                              const double *big, int scaled, double scale)
{
    tile t;
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            t.acc[r][v] = v_all(big[r]);
            t.low[r][v] = v_all(0);
        }
    for (int64_t c = 0; c < d; c++) {
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            const vec k = v_load(key + c * DD_PANEL + v * LANES);
            UNROLL for (int r = 0; r < TILE_ROWS; r++)
                add_product(&t.acc[r][v], &t.low[r][v], v_all(q[r * d + c]), k);
        }
        if (c % DD_FOLD == DD_FOLD - 1)
            UNROLL for (int r = 0; r < TILE_ROWS; r++)
                UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                    fold(&t.acc[r][v], &t.low[r][v]);
    }
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++)
            store_score(high + r * stride + v * LANES, low + r * stride + v * LANES,
                        v_sub(t.acc[r][v], v_all(big[r])), t.low[r][v], scaled, v_all(scale));
}

static void scores(double *high, double *low, int64_t stride, const double *q, const double *key, int64_t d,
                   int64_t panels, const double *big, double scale)
{
    for (int64_t p = 0; p < panels; p++)
        for (int r = 0; r < DD_ROWS; r += TILE_ROWS)
            for (int v = 0; v < DD_PANEL; v += TILE_VECTORS * LANES) {
                const int64_t at = r * stride + p * DD_PANEL + v;
                score_tile(high + at, low + at, stride, q + r * d, key + p * d * DD_PANEL + v, d, big + r, scale != 1,
                           scale);
            }
}

static inline void exact_score_tile(double *high, double *low, int64_t stride, const double *q, const double *key,
                                    int64_t d, int scaled, double scale)
{
    vec acc[TILE_ROWS][TILE_VECTORS];
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++)
            acc[r][v] = v_all(0);
    for (int64_t c = 0; c < d; c++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            const vec k = v_load(key + c * DD_PANEL + v * LANES);
            UNROLL for (int r = 0; r < TILE_ROWS; r++)
                acc[r][v] = multiply_add(v_all(q[r * d + c]), k, acc[r][v]);
        }
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++)
            store_score(high + r * stride + v * LANES, low + r * stride + v * LANES, acc[r][v], v_all(0), scaled,
                        v_all(scale));
}

static void scores_exact(double *high, double *low, int64_t stride, const double *q, const double *key, int64_t d,
                         int64_t panels, double scale)
{
    for (int64_t p = 0; p < panels; p++)
        for (int r = 0; r < DD_ROWS; r += TILE_ROWS)
            for (int v = 0; v < DD_PANEL; v += TILE_VECTORS * LANES) {
                const int64_t at = r * stride + p * DD_PANEL + v;
                exact_score_tile(high + at, low + at, stride, q + r * d, key + p * d * DD_PANEL + v, d, scale != 1,
                                 scale);
            }
}

static inline void sliced_score_tile(double *high, double *low, int64_t stride, const double *const q[3],
                                     const double *key, const double *key2, int64_t d, int scaled, double scale)
{
    tile t;
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++)
            t.acc[r][v] = t.low[r][v] = v_all(0);
    for (int64_t c = 0; c < d; c++) {
        vec one[TILE_VECTORS], two[TILE_VECTORS];
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            one[v] = v_load(key + c * DD_PANEL + v * LANES);
            two[v] = v_load(key2 + c * DD_PANEL + v * LANES);
        }
        UNROLL for (int r = 0; r < TILE_ROWS; r++) {
            const vec all = v_all(q[0][r * d + c]), first = v_all(q[1][r * d + c]), second = v_all(q[2][r * d + c]);
            UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
                t.acc[r][v] = multiply_add(first, one[v], t.acc[r][v]);
                t.low[r][v] = multiply_add(all, two[v], t.low[r][v]);
                t.low[r][v] = multiply_add(second, one[v], t.low[r][v]);
            }
        }
    }
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++)
            store_score(high + r * stride + v * LANES, low + r * stride + v * LANES, t.acc[r][v], t.low[r][v], scaled,
                        v_all(scale));
}

static void scores_sliced(double *high, double *low, int64_t stride, const double *const q[3], const double *key,
                          const double *key2, int64_t d, int64_t panels, double scale)
{
    for (int64_t p = 0; p < panels; p++)
        for (int r = 0; r < DD_ROWS; r += TILE_ROWS)
            for (int v = 0; v < DD_PANEL; v += TILE_VECTORS * LANES) {
                const int64_t at = r * stride + p * DD_PANEL + v, of = p * d * DD_PANEL + v;
                const double *const rows[3] = { q[0] + r * d, q[1] + r * d, q[2] + r * d };
                sliced_score_tile(high + at, low + at, stride, rows, key + of, key2 + of, d, scale != 1, scale);
            }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static inline void value_tile(double *uh, double *ul, const double *high, const double *low, int64_t stride,
                              const double *value, int64_t from, int64_t to, const double *start, const double *power)
{
    tile t;
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            t.acc[r][v] = v_mul(v_all(start[r]), v_load(power + v * LANES));
            t.low[r][v] = v_all(0);
        }
    for (int64_t chunk = from; chunk < to; chunk += DD_FOLD) {
        const int64_t end = chunk + DD_FOLD < to ? chunk + DD_FOLD : to;
        for (int64_t j = chunk; j < end; j++) {
            vec x[TILE_VECTORS];
            UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                x[v] = v_load(value + j * DD_PANEL + v * LANES);
            UNROLL for (int r = 0; r < TILE_ROWS; r++) {
                const vec p = v_all(high[r * stride + j]), rest = v_all(low[r * stride + j]);
                UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
                    add_product(&t.acc[r][v], &t.low[r][v], p, x[v]);
                    t.low[r][v] = multiply_add(rest, x[v], t.low[r][v]);
                }
            }
        }
        UNROLL for (int r = 0; r < TILE_ROWS; r++)
            UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                fold(&t.acc[r][v], &t.low[r][v]);
    }
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            v_store(uh + r * DD_PANEL + v * LANES,
                    v_sub(t.acc[r][v], v_mul(v_all(start[r]), v_load(power + v * LANES))));
            v_store(ul + r * DD_PANEL + v * LANES, t.low[r][v]);
        }
}

static void values(double *uh, double *ul, const double *high, const double *low, int64_t stride, const double *value,
                   int64_t from, int64_t to, const double *start, const double *power)
{
    for (int r = 0; r < DD_ROWS; r += TILE_ROWS)
        for (int v = 0; v < DD_PANEL; v += TILE_VECTORS * LANES)
            value_tile(uh + r * DD_PANEL + v, ul + r * DD_PANEL + v, high + r * stride, low + r * stride, stride,
                       value + v, from, to, start + r, power + v);
}

static inline void exact_value_tile(double *uh, double *ul, const double *high, const double *low, int64_t stride,
                                    const double *value, int64_t from, int64_t to)
{
    tile t; /* acc: exact; low: the rest */
    vec rest[TILE_ROWS][TILE_VECTORS];
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++)
            t.acc[r][v] = t.low[r][v] = v_all(0);
    for (int64_t chunk = from; chunk < to; chunk += DD_FOLD) {
        const int64_t end = chunk + DD_FOLD < to ? chunk + DD_FOLD : to;
        UNROLL for (int r = 0; r < TILE_ROWS; r++)
            UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                rest[r][v] = v_all(0);
        for (int64_t j = chunk; j < end; j++) {
            vec x[TILE_VECTORS];
            UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                x[v] = v_load(value + j * DD_PANEL + v * LANES);
            UNROLL for (int r = 0; r < TILE_ROWS; r++)
                UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
                    t.acc[r][v] = multiply_add(v_all(high[r * stride + j]), x[v], t.acc[r][v]);
                    rest[r][v] = multiply_add(v_all(low[r * stride + j]), x[v], rest[r][v]);
                }
        }
        UNROLL for (int r = 0; r < TILE_ROWS; r++)
            UNROLL for (int v = 0; v < TILE_VECTORS; v++)
                t.low[r][v] = v_add(t.low[r][v], rest[r][v]);
    }
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            v_store(uh + r * DD_PANEL + v * LANES, t.acc[r][v]);
            v_store(ul + r * DD_PANEL + v * LANES, t.low[r][v]);
        }
}

static void values_exact(double *uh, double *ul, const double *high, const double *low, int64_t stride,
                         const double *value, int64_t from, int64_t to)
{
    for (int r = 0; r < DD_ROWS; r += TILE_ROWS)
        for (int v = 0; v < DD_PANEL; v += TILE_VECTORS * LANES)
            exact_value_tile(uh + r * DD_PANEL + v, ul + r * DD_PANEL + v, high + r * stride, low + r * stride, stride,
                             value + v, from, to);
}

/* Keys from..to, at most DD_FOLD, added to uh (exact) and ul. */
static inline void sliced_value_tile(double *uh, double *ul, const double *kept, const double *high,
                                     const double *low, int64_t stride, const double *value, const double *value2,
                                     int64_t from, int64_t to)
{
    tile t;
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            t.acc[r][v] = v_load(uh + r * DD_PANEL + v * LANES);
            t.low[r][v] = v_all(0);
        }
    for (int64_t j = from; j < to; j++) {
        vec one[TILE_VECTORS], two[TILE_VECTORS];
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            one[v] = v_load(value + j * DD_PANEL + v * LANES);
            two[v] = v_load(value2 + j * DD_PANEL + v * LANES);
        }
        UNROLL for (int r = 0; r < TILE_ROWS; r++) {
            const int64_t at = r * stride + j;
            const vec part = v_all(kept[at]), all = v_all(high[at]), rest = v_all(low[at]);
            UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
                t.acc[r][v] = multiply_add(part, one[v], t.acc[r][v]);
                t.low[r][v] = multiply_add(all, two[v], t.low[r][v]);
                t.low[r][v] = multiply_add(rest, one[v], t.low[r][v]);
            }
        }
    }
    UNROLL for (int r = 0; r < TILE_ROWS; r++)
        UNROLL for (int v = 0; v < TILE_VECTORS; v++) {
            double *sum = ul + r * DD_PANEL + v * LANES;
            v_store(uh + r * DD_PANEL + v * LANES, t.acc[r][v]);
            v_store(sum, v_add(v_load(sum), t.low[r][v]));
        }
}

static void values_sliced(double *uh, double *ul, const double *kept, const double *high, const double *low,
                          int64_t stride, const double *value, const double *value2, int64_t from, int64_t to)
{
    memset(uh, 0, DD_ROWS * DD_PANEL * sizeof *uh);
    memset(ul, 0, DD_ROWS * DD_PANEL * sizeof *ul);
    for (int64_t chunk = from; chunk < to; chunk += DD_FOLD) { /* its values stay in the nearest cache */
        const int64_t end = chunk + DD_FOLD < to ? chunk + DD_FOLD : to;
        for (int r = 0; r < DD_ROWS; r += TILE_ROWS)
            for (int v = 0; v < DD_PANEL; v += TILE_VECTORS * LANES)
                sliced_value_tile(uh + r * DD_PANEL + v, ul + r * DD_PANEL + v, kept + r * stride, high + r * stride,
                                  low + r * stride, stride, value + v, value2 + v, chunk, end);
    }
}

/* o = u/z: a quotient, its remainder, and the remainder's quotient. */
static void divide(double *hi, double *lo, double *bound, const double *uh, const double *ul, double zh, double zl,
                   const double *power, double alpha, double gamma)
{
    const vec z = v_all(zh), low = v_all(zl), inverse = v_all(1 / zh), a = v_all(alpha), g = v_all(gamma);
    for (int c = 0; c < DD_PANEL; c += LANES) {
        vec e, f;
        const vec u = two_sum(v_load(uh + c), v_load(ul + c), &f);
        const vec q = v_mul(u, inverse), p = two_product(q, z, &e);
        const vec rest = v_sub(v_add(v_sub(v_sub(u, p), e), f), v_mul(q, low));
        const vec o = fast_two_sum(q, v_mul(rest, inverse), &e);
        v_store(hi + c, o);
        v_store(lo + c, e);
        v_store(bound + c, multiply_add(g, v_abs(o), v_mul(a, v_load(power + c))));
    }
}
// clang-format on

#endif
