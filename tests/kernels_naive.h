/* kernels_naive.h - attention written down once more, plainly, in double: what tests/test_kernels.c compares with.
 *
 * A sanity check, not a judge: double arithmetic and libm, with a generous tolerance.  The certified judgement of
 * the kernels is the gate's.  Own masks, own head map, states as plain formulas; inputs are multiples of 2^-6 in
 * [-1,1], which every format holds, addressed by a hash so that the naive code needs no tensor.
 */
#ifndef ATTEST_TEST_KERNELS_NAIVE_H
#define ATTEST_TEST_KERNELS_NAIVE_H

#include "kernels/problem.h"

#include <math.h>
#include <string.h>

#define NAIVE_ORDER 4 /* highest order of a given state */
#define NAIVE_WIDTH 8 /* largest e */

/* ---- inputs ------------------------------------------------------------------------------------------------- */

enum { NAIVE_SINK = 90, NAIVE_LEN = 91, NAIVE_H0 = 100, NAIVE_Z0 = 200 };

static inline uint64_t naive_hash(int64_t tensor, int64_t a, int64_t b, int64_t c, int64_t d)
{
    uint64_t x = (uint64_t)tensor;
    const int64_t part[4] = { a, b, c, d };
    for (int i = 0; i < 4; i++) {
        x = (x + (uint64_t)part[i] + 1) * 0x9e3779b97f4a7c15ull;
        x ^= x >> 29;
        x *= 0xbf58476d1ce4e5b9ull;
        x ^= x >> 32;
    }
    return x;
}

static inline double naive_value(int64_t tensor, int64_t a, int64_t b, int64_t c, int64_t d)
{
    return ((double)(naive_hash(tensor, a, b, c, d) % 129) - 64) / 64;
}

static inline int64_t naive_length(const attest_problem *p, int64_t b)
{
    return p->axis[ATTEST_AXIS_LENS].value ? (int64_t)(naive_hash(NAIVE_LEN, b, 0, 0, 0) % (uint64_t)(p->m + 1)) : p->m;
}

/* h0.n (kind NAIVE_H0, channel c) or z0.n at index tuple number `row` of dim^n: symmetric, so that it does not
 * depend on the order of the tuple's entries. */
static inline double naive_state_input(int64_t kind, int n, int64_t b, int64_t g, int64_t row, int64_t dim, int64_t c)
{
    int64_t code = 0; /* counts of each entry: the sorted tuple */
    for (int i = 0; i < n; i++, row /= dim) {
        int64_t place = 1;
        for (int64_t k = 0; k < row % dim; k++)
            place *= 16;
        code += place;
    }
    return naive_value(kind + n, b, g, code, c);
}

/* ---- the formula ---------------------------------------------------------------------------------------------- */

static inline int naive_sees(const attest_problem *p, int64_t length, int64_t i, int64_t j)
{
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const int64_t distance = i + (mask == ATTEST_MASK_CAUSAL_BR ? length - p->n : 0) - j;
    if (j >= length || (mask != ATTEST_MASK_FULL && distance < 0))
        return 0;
    if (p->axis[ATTEST_AXIS_WINDOW].value == 0)
        return 1;
    const int64_t w = p->axis[ATTEST_AXIS_WINDOW].order;
    return distance < w && (mask != ATTEST_MASK_FULL || -distance < w);
}

static inline double naive_phi(const attest_problem *p, double x)
{
    const uint32_t feature = p->axis[ATTEST_AXIS_FEATURE].value;
    if (feature == ATTEST_FEATURE_ELU1)
        return x >= 0 ? x + 1 : exp(x);
    return feature == ATTEST_FEATURE_RELU && x < 0 ? 0 : x;
}

/* *s = <phi(q), phi(k)> scale, *size its sum of absolute terms. */
static inline void naive_score(double *s, double *size, const attest_problem *p, int64_t b, int64_t h, int64_t i,
                               int64_t j)
{
    const int64_t g = h / (p->hq / p->hkv);
    *s = *size = 0;
    for (int64_t c = 0; c < p->d; c++) {
        const double x = naive_phi(p, naive_value(ATTEST_Q, b, h, i, c)) *
                         naive_phi(p, naive_value(ATTEST_K, b, g, j, c));
        *s += p->scale * x;
        *size += fabs(p->scale * x);
    }
}

/* x^n/n! or x^n, n of taylor running over 0..P. */
static inline double naive_weight(const attest_problem *p, double x)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    double term = 1, sum = 1;
    if (weight->value == ATTEST_WEIGHT_EXP)
        return exp(x);
    for (uint32_t n = 1; n <= weight->order; n++) {
        term *= weight->value == ATTEST_WEIGHT_POWER ? x : x / n;
        sum += term;
    }
    return weight->value == ATTEST_WEIGHT_TAYLOR ? sum : term;
}

typedef struct naive_row {
    int empty;
    double o[NAIVE_WIDTH], u[NAIVE_WIDTH], z, lse;
    double o_gauge[NAIVE_WIDTH], u_gauge[NAIVE_WIDTH], z_gauge; /* what errors are measured against */
    double divisor;
    int regular; /* 0: z is small against its terms, o and lse amplify errors */
} naive_row;

static inline double naive_center(const attest_problem *p, int64_t b, int64_t h, int64_t i)
{
    double low = INFINITY, high = -INFINITY, s, size;
    for (int64_t j = 0; j < p->m; j++)
        if (naive_sees(p, naive_length(p, b), i, j)) {
            naive_score(&s, &size, p, b, h, i, j);
            low = fmin(low, s);
            high = fmax(high, s);
        }
    if (p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP)
        return high; /* cancels in o and lse, and nothing overflows */
    const double centers[] = { 0, high, low, (low + high) / 2 };
    return centers[p->axis[ATTEST_AXIS_CENTER].value];
}

/* Adds the given states, read by query i. */
static inline void naive_add_states(naive_row *row, const attest_problem *p, int64_t b, int64_t h, int64_t i)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const int highest = (int)weight->order, lowest = weight->value == ATTEST_WEIGHT_TAYLOR ? 0 : highest;
    const int64_t g = h / (p->hq / p->hkv);
    double factor = 1;
    int64_t rows = 1;
    for (int n = 0; n <= highest; n++) {
        for (int64_t at = 0; n >= lowest && at < rows; at++) {
            double x = factor;
            int64_t rest = at;
            for (int k = 0; k < n; k++, rest /= p->d)
                x *= naive_phi(p, naive_value(ATTEST_Q, b, h, i, rest % p->d));
            row->z += x * naive_state_input(NAIVE_Z0, n, b, g, at, p->d, 0);
            row->z_gauge += fabs(x);
            for (int64_t c = 0; c < p->e; c++) {
                row->u[c] += x * naive_state_input(NAIVE_H0, n, b, g, at, p->d, c);
                row->u_gauge[c] += fabs(x);
            }
        }
        rows *= p->d;
        factor *= weight->value == ATTEST_WEIGHT_POWER ? p->scale : p->scale / (n + 1);
    }
}

static inline naive_row naive_attention(const attest_problem *p, int64_t b, int64_t h, int64_t i)
{
    const int64_t g = h / (p->hq / p->hkv);
    const double center = naive_center(p, b, h, i);
    naive_row row;
    memset(&row, 0, sizeof row);
    row.empty = p->axis[ATTEST_AXIS_STATE].value == 0;
    for (int64_t j = 0; j < p->m; j++) {
        double s, size;
        if (!naive_sees(p, naive_length(p, b), i, j))
            continue;
        row.empty = 0;
        naive_score(&s, &size, p, b, h, i, j);
        const int exponential = p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP;
        const double w = naive_weight(p, s - center);
        const double a = exponential ? w * (1 + size) : naive_weight(p, size + fabs(center));
        row.z += w;
        row.z_gauge += a;
        for (int64_t c = 0; c < p->e; c++) {
            const double v = naive_value(ATTEST_V, b, g, j, c);
            row.u[c] += w * v;
            row.u_gauge[c] += a * fabs(v);
        }
    }
    if (p->axis[ATTEST_AXIS_STATE].value)
        naive_add_states(&row, p, b, h, i);
    row.lse = row.empty ? -INFINITY : row.z > 0 ? center + log(row.z) : NAN;
    row.divisor = row.z;
    row.regular = row.empty || p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP ||
                  p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE ||
                  fabs(row.z) > 0.02 * row.z_gauge;
    if (p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_SINK)
        row.divisor += exp(naive_value(NAIVE_SINK, h, 0, 0, 0) - center);
    if (p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE)
        row.divisor = 1;
    for (int64_t c = 0; c < p->e; c++) {
        row.o[c] = row.empty ? 0 : row.u[c] / row.divisor;
        row.o_gauge[c] = row.empty ? 0 : (row.u_gauge[c] + fabs(row.o[c]) * row.z_gauge) / fabs(row.divisor);
    }
    return row;
}

/* ---- states --------------------------------------------------------------------------------------------------- */

/* Entry (row of dim^n, channel c; c < 0: z-state) after the last key that the last query sees. */
static inline double naive_state(const attest_problem *p, int n, int64_t b, int64_t g, int64_t at, int64_t c)
{
    double sum = 0;
    if (p->axis[ATTEST_AXIS_STATE].value)
        sum = naive_state_input(c < 0 ? NAIVE_Z0 : NAIVE_H0, n, b, g, at, p->d, c < 0 ? 0 : c);
    for (int64_t j = 0; j < p->m; j++) {
        if (!naive_sees(p, naive_length(p, b), p->n - 1, j))
            continue;
        double x = c < 0 ? 1 : naive_value(ATTEST_V, b, g, j, c);
        int64_t rest = at;
        for (int k = 0; k < n; k++, rest /= p->d)
            x *= naive_phi(p, naive_value(ATTEST_K, b, g, j, rest % p->d));
        sum += x;
    }
    return sum;
}

#endif
