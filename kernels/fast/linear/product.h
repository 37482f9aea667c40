/* product.h - small matrix products in registers: what the kernels of this room spend their time in.
 *
 *     u[r][c] = keep[r] u[r][c] + sum_(k < count) a[r,k] b[k][c]        (keep NULL: the sum alone; u is not read)
 *
 * Rows r go in tiles of ROWS, 4, 2 and 1, columns in panels.  An element is one sum over k in order from 0, one
 * rounding a term where multiply-adds are fused, and one more where it is added to keep u: its bits depend neither on
 * the tile nor on the width of vectors.
 */
#ifndef ATTEST_FAST_PRODUCT_H
#define ATTEST_FAST_PRODUCT_H

#include "fast/simd.h"

typedef struct product {
    float *u; /* [rows][u_row] */
    int64_t u_row;
    const float *a; /* a[r,k] = a[r a_row + k a_step] */
    int64_t a_row, a_step;
    const float *b; /* [count][b_row] */
    int64_t b_row, count;
    const float *keep; /* [rows] or NULL */
    int64_t width;     /* columns, rounded up to whole panels by the caller's buffers */
} product;

static inline __attribute__((always_inline)) void product_panel(const product *x, int64_t at, int64_t c, const int rows)
{
    vec sum[ROWS][2];
    const float *a = x->a + at * x->a_row, *b = x->b + c;
    const int64_t a_row = x->a_row, a_step = x->a_step, b_row = x->b_row, count = x->count;
    for (int r = 0; r < rows; r++)
        sum[r][0] = sum[r][1] = vec_of(0);
    for (int64_t k = 0; k < count; k++) {
        const vec b0 = vec_load(b + k * b_row), b1 = vec_load(b + k * b_row + LANES);
        for (int r = 0; r < rows; r++) {
            const vec factor = vec_of(a[r * a_row + k * a_step]);
            sum[r][0] = vec_fma(factor, b0, sum[r][0]);
            sum[r][1] = vec_fma(factor, b1, sum[r][1]);
        }
    }
    for (int r = 0; r < rows; r++) {
        float *u = x->u + (at + r) * x->u_row + c;
        for (int half = 0; half < 2; half++) {
            const vec all = sum[r][half] + vec_of(0); /* a sum of -0 is +0, whether or not terms of weight 0 follow */
            vec_store(u + half * LANES,
                      x->keep ? vec_fma(vec_of(x->keep[at + r]), vec_load(u + half * LANES), all) : all);
        }
    }
}

static inline __attribute__((always_inline)) void product_tile(const product *x, int64_t at, const int rows)
{
    for (int64_t c = 0; c < x->width; c += PANEL)
        product_panel(x, at, c, rows);
}

/* Rows [first, last). */
static inline void product_rows(const product *x, int64_t first, int64_t last)
{
    int64_t at = first;
    for (; last - at >= ROWS; at += ROWS)
        product_tile(x, at, ROWS);
    for (; last - at >= 4; at += 4)
        product_tile(x, at, 4);
    for (; last - at >= 2; at += 2)
        product_tile(x, at, 2);
    if (last > at)
        product_tile(x, at, 1);
}

/* to[count][to_row], columns: to[c][j] = from[j][c] for j < rows; rows and count multiples of 4. */
static inline void product_transpose(float *to, int64_t to_row, const float *from, int64_t from_row, int64_t rows,
                                     int64_t count)
{
    for (int64_t j = 0; j < rows; j += 4)
        for (int64_t c = 0; c < count; c += 4) {
            quad x[4];
            for (int r = 0; r < 4; r++)
                x[r] = quad_load(from + (j + r) * from_row + c);
            quad_transpose(x);
            for (int r = 0; r < 4; r++)
                quad_store(to + (c + r) * to_row + j, x[r]);
        }
}

#endif
