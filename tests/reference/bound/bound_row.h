/* bound_row.h - a row of three keys with all that a bound is made of, and comparisons with formulas in doubles. */
#ifndef ATTEST_TESTS_BOUND_ROW_H
#define ATTEST_TESTS_BOUND_ROW_H

#include <math.h>

#include "reference/bound/bound.h"
#include "tests/reference/ball/ball_case.h"

#define U 0x1p-24      /* of f32 */
#define ETA 0x1p-150   /* half its least subnormal */
#define LEAST 0x1p-126 /* its least normal number */

static inline double gamma_of(double n, double u) { return n * u / (1 - n * u); }

static inline double both(double x, double y) { return x + y + x * y; }

static inline double value_of(const mag_t x)
{
    return mag_cmp_2exp_si(x, -1000) < 0 ? mag_is_zero(x) ? 0 : 0x1p-1000 : mag_get_d(x);
}

/* An upper bound, and not more than `slack` of itself above the formula. */
static inline void within(const char *line, const char *what, const mag_t got, double want, double slack)
{
    const double x = value_of(got);
    ck_assert_msg(x >= want * (1 - 1e-12) && x <= want * (1 + slack) + 1e-290,
                  "%s: %s is %.12g, the formula says %.12g", line, what, x, want);
}

static inline void is(const char *line, const char *what, const mag_t got, double want)
{
    within(line, what, got, want, 1e-6);
}

/* q = (3, -1), k_j = (1, 2), (-2, 0.5), (0.25, 4); scale 0.5: s = 0.5, -3.25, -1.625; masses 2.5, 3.25, 2.375. */
typedef struct row_case {
    ball_case x;
    bound_model m;
    bound_weights w;
} row_case;

static const double key[3][2] = { { 1, 2 }, { -2, 0.5 }, { 0.25, 4 } }, score[3] = { 0.5, -3.25, -1.625 };
static const double mass[3] = { 2.5, 3.25, 2.375 }, k_sum[3] = { 3, 2.5, 4.25 };

/* Zeros but for q_0 and k_00. */
static inline void row_open(row_case *r, const char *line, double q, double k)
{
    ball_case_start(&r->x, line, 0);
    ball_case_put(&r->x, ATTEST_Q, 0, 0, 0, 0, q);
    ball_case_put(&r->x, ATTEST_K, 0, 0, 0, 0, k);
}

static inline void row_ready(row_case *r, const attest_numerics *numerics, uint32_t flags, int common)
{
    ball_case_row(&r->x, 0, 0, 0, 128);
    bound_model_init(&r->m);
    ck_assert(bound_model_set(&r->m, &r->x.in, numerics, flags));
    MUST(bound_weights_init(&r->w, r->x.row.keys, &r->x.err), &r->x);
    bound_weights_set(&r->w, &r->m, &r->x.row, &r->x.in, (attest_row){ 0, 0, 0 }, common);
}

static inline void row_start(row_case *r, const char *line, const attest_numerics *numerics, uint32_t flags, int common)
{
    row_open(r, line, 3, key[0][0]);
    for (int c = 0; c < 2; c++) {
        ball_case_put(&r->x, ATTEST_Q, 0, 0, 0, c, c ? -1 : 3);
        for (int j = 0; j < 3; j++)
            ball_case_put(&r->x, ATTEST_K, 0, 0, j, c, key[j][c]);
    }
    for (int j = 0; j < 3; j++)
        ball_case_put(&r->x, ATTEST_V, 0, 0, j, 0, j == 1 ? -2 : 1);
    row_ready(r, numerics, flags, common);
}

static inline void row_stop(row_case *r)
{
    bound_weights_clear(&r->w);
    bound_model_clear(&r->m);
    ball_case_stop(&r->x);
}

#endif
