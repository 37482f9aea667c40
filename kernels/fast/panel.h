/* panel.h - the product of ROWS rows and a panel of columns in registers. */
#ifndef ATTEST_FAST_PANEL_H
#define ATTEST_FAST_PANEL_H

#include "fast/simd.h"

/* s[ROWS][stride] = sum_c q[c][ROWS] k[c][PANEL], the terms in the order of c, one fma each. */
static inline void fast_panel(float *s, int64_t stride, const float *q, const float *k, int64_t dim)
{
    vec sum[ROWS][2];
    for (int r = 0; r < ROWS; r++)
        sum[r][0] = sum[r][1] = vec_of(0);
    for (int64_t c = 0; c < dim; c++) {
        const vec k0 = vec_load(k + c * PANEL), k1 = vec_load(k + c * PANEL + LANES);
        for (int r = 0; r < ROWS; r++) {
            const vec a = vec_of(q[c * ROWS + r]);
            sum[r][0] = vec_fma(a, k0, sum[r][0]);
            sum[r][1] = vec_fma(a, k1, sum[r][1]);
        }
    }
    for (int r = 0; r < ROWS; r++) {
        vec_store(s + r * stride, sum[r][0]);
        vec_store(s + r * stride + LANES, sum[r][1]);
    }
}

#endif
