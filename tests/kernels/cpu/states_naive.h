/* states_naive.h - recurrent attention in its parallel form, plainly, in double: values, and how far a kernel in float
 * may be from them.
 *
 * A `near` is a value and a bound of the kernel's error.  Errors: `u` = 2^-24; what the CPU kernels'
 * token.h, gates.h and norms.h state for each step; and for a sum K u times the sum of absolute terms, K the number of
 * roundings that one term can meet in any of the forms (R-STATE's count and two for every token's decay): P products of
 * k and q each with their multinomial and coefficient, v, gin, a decay at every token on the key's and on the query's
 * side, additions over tokens, rows of the state, degrees, chunks.  Double's own errors are 2^-29 of these.
 */
#ifndef ATTEST_TEST_STATES_NAIVE_H
#define ATTEST_TEST_STATES_NAIVE_H

#include "tests/kernels/cpu/states_scene.h"

#define NAIVE_U 0x1p-24
#define NAIVE_E 4

typedef struct near {
    double v, e;
} near;

static inline double naive_unit(uint32_t dtype) { return attest_unit_roundoff(dtype); }

static inline uint32_t naive_axis(const scene *s, attest_axis axis) { return s->c.problem.axis[axis].value; }

static inline near naive_times(near a, near b)
{
    return (near){ a.v * b.v, fabs(a.v) * b.e + a.e * (fabs(b.v) + b.e) + NAIVE_U * fabs(a.v * b.v) };
}

static inline double naive_load(const scene *s, attest_role role, int64_t b, int64_t h, int64_t i, int64_t c)
{
    const attest_tensor *t = attest_bundle_role(s->bundle, role);
    return attest_load(t, attest_offset(t, b, h, i, c));
}

static inline int64_t naive_length(const scene *s, int64_t b)
{
    const attest_tensor *len = attest_bundle_role(s->bundle, ATTEST_KV_LENS);
    return len ? attest_load_int(len, b) : s->c.problem.m;
}

/* Position i+off of query i among the keys. */
static inline int64_t naive_position(const scene *s, int64_t b, int64_t i)
{
    return naive_axis(s, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL_BR ? i + naive_length(s, b) - s->c.problem.n : i;
}

static inline int naive_sees(const scene *s, int64_t b, int64_t i, int64_t j)
{
    const int full = naive_axis(s, ATTEST_AXIS_MASK) == ATTEST_MASK_FULL;
    return j < naive_length(s, b) && (full || j <= naive_position(s, b, i));
}

/* ---- features -------------------------------------------------------------------------------------------------- */

static inline void naive_rotate(near *x, const attest_problem *p, int64_t position)
{
    for (int64_t c = 0; p->axis[ATTEST_AXIS_ROPE].value && c < p->d / 2; c++) {
        const double angle = (double)position * pow(p->axis[ATTEST_AXIS_ROPE].number, -2.0 * (double)c / (double)p->d);
        const double a = x[c].v, b = x[c + p->d / 2].v, e = 3 * NAIVE_U * (fabs(a) + fabs(b));
        x[c] = (near){ a * cos(angle) - b * sin(angle), e };
        x[c + p->d / 2] = (near){ a * sin(angle) + b * cos(angle), e };
    }
}

/* x/norm2(x): an entry's own error, and the norm's. */
static inline void naive_make_unit(near *x, int64_t d)
{
    double squares = 0, errors = 0;
    for (int64_t c = 0; c < d; c++) {
        squares += x[c].v * x[c].v;
        errors += x[c].e * x[c].e;
    }
    const double norm = squares > 0 ? sqrt(squares) : 1;
    for (int64_t c = 0; c < d; c++) {
        const double y = x[c].v / norm;
        x[c] = (near){ y, 1.01 * (x[c].e + fabs(y) * sqrt(errors)) / norm + 2 * NAIVE_U * fabs(y) };
    }
}

/* elu1 and silu have slopes of at most 1 and 1.1. */
static inline near naive_map(uint32_t feature, near x)
{
    if (feature == ATTEST_FEATURE_ELU1) {
        const double y = x.v >= 0 ? x.v + 1 : exp(x.v);
        return (near){ y, x.e + 3 * NAIVE_U * y };
    }
    if (feature == ATTEST_FEATURE_RELU || feature == ATTEST_FEATURE_COSFORMER)
        return (near){ fmax(x.v, 0), x.e };
    if (feature == ATTEST_FEATURE_SILU || feature == ATTEST_FEATURE_SILU_UNIT) {
        const double y = x.v / (1 + exp(-x.v));
        return (near){ y, 1.1 * x.e + 6 * NAIVE_U * fabs(y) };
    }
    return x;
}

/* phi of row (b,h,i) of q or k: y[dim]. */
static inline void naive_feature(near *y, const scene *s, attest_role role, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = &s->c.problem;
    const uint32_t feature = p->axis[ATTEST_AXIS_FEATURE].value;
    const int64_t position = role == ATTEST_Q ? naive_position(s, b, i) : i;
    const double angle = acos(-1) * (double)position / (2 * fmax((double)p->n, (double)p->m));
    for (int64_t c = 0; c < p->d; c++)
        y[c] = (near){ naive_load(s, role, b, h, i, c), 0 };
    naive_rotate(y, p, position);
    for (int64_t c = 0; c < p->d; c++)
        y[c] = naive_map(feature, y[c]);
    if (feature == ATTEST_FEATURE_UNIT || feature == ATTEST_FEATURE_SILU_UNIT)
        naive_make_unit(y, p->d);
    for (int64_t c = 0; feature == ATTEST_FEATURE_COSFORMER && c < p->d; c++) {
        const near x = y[c];
        y[p->d + c] = (near){ x.v * sin(angle), x.e + 2 * NAIVE_U * x.v };
        y[c] = (near){ x.v * cos(angle), x.e + 2 * NAIVE_U * x.v };
    }
}

/* ---- gates and decays ------------------------------------------------------------------------------------------ */

/* Softmax of a token's gates over the heads: arguments, two exponentials, the sum, the quotient. */
static inline near naive_heads(const scene *s, attest_role role, int64_t b, int64_t heads, int64_t h, int64_t i)
{
    double sum = 0, own = 0;
    for (int64_t x = 0; x < heads; x++) {
        const double w = exp(naive_load(s, role, b, x, i, 0));
        sum += w;
        own = x == h ? w : own;
    }
    return (near){ own / sum, (double)(heads + 12) * NAIVE_U * own / sum };
}

static inline near naive_gin(const scene *s, int64_t b, int64_t g, int64_t j)
{
    const uint32_t gates = naive_axis(s, ATTEST_AXIS_GATES);
    if (gates == ATTEST_GATES_HEADS)
        return naive_heads(s, ATTEST_K_HEAD_LOGITS, b, s->c.problem.hkv, g, j);
    const int given = gates == ATTEST_GATES_IN || gates == ATTEST_GATES_INOUT;
    return (near){ given ? naive_load(s, ATTEST_GIN, b, g, j, 0) : 1, 0 };
}

static inline near naive_gout(const scene *s, int64_t b, int64_t h, int64_t i)
{
    const uint32_t gates = naive_axis(s, ATTEST_AXIS_GATES);
    if (gates == ATTEST_GATES_HEADS)
        return naive_heads(s, ATTEST_Q_HEAD_LOGITS, b, s->c.problem.hq, h, i);
    const int given = gates != ATTEST_GATES_NONE && gates != ATTEST_GATES_IN;
    return (near){ given ? naive_load(s, ATTEST_GOUT, b, h, i, 0) : 1, 0 };
}

/* a_t as it meets key dimension c. */
static inline double naive_decay(const scene *s, int64_t b, int64_t g, int64_t t, int64_t c)
{
    const uint32_t decay = naive_axis(s, ATTEST_AXIS_DECAY);
    if (decay == ATTEST_DECAY_RETNET)
        return attest_load(attest_bundle_role(s->bundle, ATTEST_GAMMA), g);
    return decay == ATTEST_DECAY_NONE ? 1 : naive_load(s, ATTEST_DECAY, b, g, t, decay == ATTEST_DECAY_VECTOR ? c : 0);
}

/* Product over t = from..to; D_ij is that from j+1 to i. */
static inline double naive_product(const scene *s, int64_t b, int64_t g, int64_t from, int64_t to, int64_t c)
{
    double product = 1;
    for (int64_t t = from; t <= to && naive_axis(s, ATTEST_AXIS_DECAY); t++)
        product *= naive_decay(s, b, g, t, c);
    return product;
}

/* ---- the row's end --------------------------------------------------------------------------------------------- */

static inline int naive_by_length(uint32_t norm) { return norm == ATTEST_NORM_LENGTH || norm >= ATTEST_NORM_LENGTH_L2; }

/* What the norm divides by; squares and errors are the sums of squares of the channels and of their errors. */
static inline near naive_divisor(const scene *s, near z, double squares, double errors, int64_t h)
{
    const attest_problem *p = &s->c.problem;
    const uint32_t norm = p->axis[ATTEST_AXIS_NORM].value;
    const double eps = p->axis[ATTEST_AXIS_EPS].number, least = p->axis[ATTEST_AXIS_NORM].number;
    const double count = norm == ATTEST_NORM_L2 || norm == ATTEST_NORM_LENGTH_L2 ? 1 : (double)p->e;
    if (norm == ATTEST_NORM_SUM)
        return (near){ z.v + eps, z.e + 2 * NAIVE_U * (fabs(z.v) + eps) };
    if (norm == ATTEST_NORM_SINK) {
        const double sink = exp(attest_load(attest_bundle_role(s->bundle, ATTEST_SINK), h));
        return (near){ z.v + sink, z.e + 4 * NAIVE_U * (fabs(z.v) + sink) };
    }
    if (norm == ATTEST_NORM_FLOOR)
        return (near){ fmax(z.v, least), z.e + NAIVE_U * fabs(least) };
    if (norm < ATTEST_NORM_L2)
        return (near){ 1, 0 };
    const double root = sqrt(squares / count + eps);
    return (near){ root, 1.01 * sqrt(errors / count) + 3 * NAIVE_U * root }; /* by Cauchy-Schwarz */
}

/* y = gout Norm(u,z) with all its errors, the rounding to `out` included.  0: the divisor is not told from 0, so that
 * o is not judged. */
static inline int naive_norm(near *y, const scene *s, const near *u, near z, int64_t keys, int64_t b, int64_t h,
                             int64_t i)
{
    const attest_problem *p = &s->c.problem;
    const uint32_t norm = p->axis[ATTEST_AXIS_NORM].value;
    const double e = (double)p->e;
    const int pre = naive_axis(s, ATTEST_AXIS_GATES) == ATTEST_GATES_PRE_OUT;
    const int mean = norm == ATTEST_NORM_LAYERNORM || norm == ATTEST_NORM_LENGTH_LAYERNORM;
    const near gout = naive_gout(s, b, h, i);
    double sum = 0, sum_abs = 0, sum_error = 0, squares = 0, errors = 0;
    for (int64_t c = 0; c < p->e; c++) {
        y[c] = pre ? naive_times(u[c], gout) : u[c];
        if (naive_by_length(norm))
            y[c] = (near){ y[c].v / (double)keys, y[c].e / (double)keys + NAIVE_U * fabs(y[c].v) / (double)keys };
        sum += y[c].v;
        sum_abs += fabs(y[c].v);
        sum_error += y[c].e;
    }
    for (int64_t c = 0; c < p->e; c++) {
        if (mean)
            y[c] = (near){ y[c].v - sum / e, y[c].e + (sum_error + (e + 3) * NAIVE_U * sum_abs) / e };
        squares += y[c].v * y[c].v;
        errors += y[c].e * y[c].e;
    }
    const near d = naive_divisor(s, z, squares, errors, h);
    if (!(fabs(d.v) > 8 * d.e) || (keys == 0 && naive_by_length(norm)))
        return 0;
    for (int64_t c = 0; c < p->e; c++) {
        const double x = y[c].v / d.v;
        y[c] = (near){ x, (y[c].e + fabs(x) * d.e) / (fabs(d.v) - d.e) + 2 * NAIVE_U * fabs(x) };
        if (naive_axis(s, ATTEST_AXIS_AFFINE)) {
            const double gain = attest_load(attest_bundle_role(s->bundle, ATTEST_GAIN), c);
            const double shift = attest_load(attest_bundle_role(s->bundle, ATTEST_SHIFT), c);
            y[c] = (near){ gain * y[c].v + shift,
                           fabs(gain) * y[c].e + 2 * NAIVE_U * (fabs(gain * y[c].v) + fabs(shift)) };
        }
        if (!pre)
            y[c] = naive_times(y[c], gout);
        y[c].e += naive_unit(p->out) * (fabs(y[c].v) + y[c].e);
    }
    return 1;
}

static inline void naive_check(const scene *s, const attest_tensor *t, int64_t at, near want, const char *what)
{
    const double got = attest_load(t, at), least = 0x1p-126; /* underflow of any step */
    ck_assert_msg(fabs(got - want.v) <= want.e + least, "%s: %s[%lld]: got %.9g, want %.9g +- %.3g", s->where, what,
                  (long long)at, got, want.v, want.e);
}

#endif
