/* ex2_fit.h - 192 integers of kernels/model/ex2.h from the 2^23 outputs of ex2.approx.f32 on the multiples of 2^-23 in
 * [0,1), segment by segment; and where they do not fit.
 *
 * A segment has 2^17 significands y_r.  For a slope and a bend, with t_r = slope r 2^19 + bend sq(r), a base gives all
 * of them iff max(y_r 2^34 - t_r) <= base <= min((y_r + 1) 2^34 - t_r) - 1.  Slope and bend are looked for around the
 * quadratic that fits best, and the pair with the widest range of bases is taken, and of that range the middle.
 */
#ifndef ATTEST_TESTS_EX2_FIT_H
#define ATTEST_TESTS_EX2_FIT_H

#include "kernels/model/ex2.h"

#include <stdlib.h>

enum { EX2_RUN = 1 << EX2_BITS };

/* How a segment fits. */
typedef struct ex2_found {
    int64_t least, most;  /* bases that give all outputs: least > most if none does */
    int64_t wrong, first; /* else: how many outputs the best integers miss, and the first of them */
} ex2_found;

/* y ~ c[0] + c[1] x + c[2] x^2 by least squares over x = r 2^-17 and sq(r) 2^-34 for x^2; 3 equations, solved. */
static inline void ex2_quadratic(double *c, const uint32_t *y, const int64_t *square)
{
    double m[3][4] = { { 0 } };
    for (int r = 0; r < EX2_RUN; r++) {
        const double x[3] = { 1, r * 0x1p-17, (double)square[r] * 0x1p-34 };
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++)
                m[i][j] += x[i] * x[j];
            m[i][3] += x[i] * ((double)y[r] - (double)y[0] + 0.5);
        }
    }
    for (int i = 0; i < 3; i++) /* positive definite: no pivoting */
        for (int k = 0; k < 3; k++)
            if (k != i)
                for (int j = 3; j >= i; j--)
                    m[k][j] -= m[i][j] * (m[k][i] / m[i][i]);
    for (int i = 0; i < 3; i++)
        c[i] = m[i][3] / m[i][i];
}

/* The bases of a slope and a bend. */
static inline void ex2_bases(ex2_found *found, const uint32_t *y, const int64_t *square, int64_t slope, int64_t bend)
{
    int64_t least = INT64_MIN, room = INT64_MAX;
    for (int64_t r = 0; r < EX2_RUN; r++) {
        const int64_t rest = ((int64_t)y[r] << 34) - (slope * r * ((int64_t)1 << EX2_COLUMN) + bend * square[r]);
        least = rest > least ? rest : least;
        room = rest < room ? rest : room;
    }
    found->least = least;
    found->most = room + ((int64_t)1 << 34) - 1;
}

/* One segment; y: its 2^17 significands with the leading bit. */
static inline void ex2_fit_segment(ex2_segment *segment, ex2_found *found, const uint32_t *y, const int64_t *square)
{
    double c[3];
    ex2_quadratic(c, y, square);
    const int64_t slope = llround(c[1] * 0x1p-2), bend = llround(c[2]); /* 2^34 / (2^17 2^19), 2^34 / 2^34 */
    found->least = INT64_MAX;
    found->most = INT64_MIN;
    double best = -INFINITY;
    for (int64_t b = bend - 4; b <= bend + 4; b++)
        for (int64_t s = slope - 3; s <= slope + 3; s++) {
            ex2_found one;
            ex2_bases(&one, y, square, s, b);
            const double width = (double)one.most - (double)one.least;
            if (width > best) {
                best = width;
                *segment = (ex2_segment){ one.least + (one.most - one.least) / 2, s, b };
                found->least = one.least;
                found->most = one.most;
            }
        }
    found->wrong = 0;
    found->first = -1;
    for (int64_t r = 0; r < EX2_RUN && found->least > found->most; r++)
        if ((segment->base + segment->slope * r * ((int64_t)1 << EX2_COLUMN) + segment->bend * square[r]) >> 34 !=
            y[r]) {
            found->first = found->wrong ? found->first : r;
            found->wrong++;
        }
}

/* All segments; outputs: the bits of 2^23 floats.  Returns how many segments fit, or -1 if an output lies outside [1,2)
 * (*where) or there is no memory (*where = -1).  Only if all 64 fit is the table what was measured. */
static inline int ex2_fit(ex2_table *table, ex2_found *found, const uint32_t *outputs, int64_t *where)
{
    int64_t *square = malloc(EX2_RUN * sizeof *square);
    uint32_t *y = malloc(EX2_RUN * sizeof *y);
    int fits = 0;
    *where = -1;
    for (int64_t r = 0; r < EX2_RUN && square; r++)
        square[r] = ex2_square(r);
    for (int s = 0; s < EX2_SEGMENTS && y && square && *where < 0; s++) {
        const uint32_t *of = outputs + (int64_t)s * EX2_RUN;
        for (int64_t r = 0; r < EX2_RUN && *where < 0; r++) {
            *where = of[r] >> 23 == 127 ? -1 : (int64_t)s * EX2_RUN + r;
            y[r] = (of[r] & 0x7fffff) | 1u << 23;
        }
        if (*where < 0)
            ex2_fit_segment(&table->segment[s], &found[s], y, square);
        fits += found[s].least <= found[s].most;
    }
    const int done = y && square && *where < 0;
    free(square);
    free(y);
    return done ? fits : -1;
}

#endif
