/* kernels_naive.h - attention written down once more, plainly, in double: what the suites of kernels/cpu compare with.
 *
 * A sanity check, not a judge: double arithmetic and libm.  Beside each value stands an estimate of what a kernel may
 * lose on it: its unit roundoff times the number of roundings a term meets in any of the forms, times the sum of the
 * absolute terms.  The certified judgement of the kernels is the gate's.  Own masks, own head map, states as plain
 * formulas; inputs are multiples of 2^-6, which every format holds, addressed by a hash so that the naive code needs
 * no tensor.
 */
#ifndef ATTEST_TEST_KERNELS_NAIVE_H
#define ATTEST_TEST_KERNELS_NAIVE_H

#include "kernels/attest_float.h"
#include "kernels/problem/problem.h"

#include <math.h>
#include <string.h>

#define NAIVE_WIDTH 8 /* largest e */
#define NAIVE_DIM 16  /* largest size of phi */

/* ---- inputs ------------------------------------------------------------------------------------------------- */

enum { NAIVE_LEN = 91, NAIVE_H0 = 100, NAIVE_Z0 = 200 };

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

/* In [-1,1]. */
static inline double naive_value(int64_t tensor, int64_t a, int64_t b, int64_t c, int64_t d)
{
    return ((double)(naive_hash(tensor, a, b, c, d) % 129) - 64) / 64;
}

/* Element (a,b,c,d) of a role's tensor: in (0,1] for decays and gates, in (0,2] for b, in (0,1/2] for slopes. */
static inline double naive_input(int64_t role, int64_t a, int64_t b, int64_t c, int64_t d)
{
    static const double upto[ATTEST_TENSOR_ROLES] = { [ATTEST_DECAY] = 1, [ATTEST_GAMMA] = 1, [ATTEST_GIN] = 1,
                                                      [ATTEST_GOUT] = 1,  [ATTEST_BETA] = 2,  [ATTEST_SLOPE] = 0.5 };
    if (upto[role] > 0)
        return upto[role] * (double)(naive_hash(role, a, b, c, d) % 64 + 1) / 64;
    return naive_value(role, a, b, c, d);
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

/* ---- tokens -------------------------------------------------------------------------------------------------- */

static inline uint32_t naive_is(const attest_problem *p, attest_axis axis) { return p->axis[axis].value; }

static inline int64_t naive_position(const attest_problem *p, int64_t b, int64_t i)
{
    return naive_is(p, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL_BR ? i + naive_length(p, b) - p->n : i;
}

static inline int naive_sees(const attest_problem *p, int64_t b, int64_t i, int64_t j)
{
    const uint32_t mask = naive_is(p, ATTEST_AXIS_MASK);
    const int64_t distance = naive_position(p, b, i) - j;
    if (j >= naive_length(p, b) || (mask != ATTEST_MASK_FULL && distance < 0))
        return 0;
    if (naive_is(p, ATTEST_AXIS_WINDOW) == 0)
        return 1;
    const int64_t w = p->axis[ATTEST_AXIS_WINDOW].order;
    return distance < w && (mask != ATTEST_MASK_FULL || -distance < w);
}

static inline void naive_unit(double *x, int64_t d)
{
    double norm = 0;
    for (int64_t c = 0; c < d; c++)
        norm += x[c] * x[c];
    for (int64_t c = 0; c < d && norm > 0; c++)
        x[c] /= sqrt(norm);
}

/* phi[dim] of row (b,h,i) of q or k at a position; returns sum |x| + sum |phi| + 1: what rotations mix. */
static inline double naive_phi(double *phi, const attest_problem *p, int64_t role, int64_t b, int64_t h, int64_t i,
                               int64_t position)
{
    const uint32_t feature = naive_is(p, ATTEST_AXIS_FEATURE);
    const double angle = acos(-1.0) * (double)position / (2 * fmax((double)p->n, (double)p->m));
    double x[NAIVE_DIM], size = 1;
    for (int64_t c = 0; c < p->d; c++)
        size += fabs(x[c] = naive_value(role, b, h, i, c));
    for (int64_t c = 0; naive_is(p, ATTEST_AXIS_ROPE) && c < p->d / 2; c++) {
        const double a = x[c], z = x[c + p->d / 2];
        const double turn = (double)position / pow(p->axis[ATTEST_AXIS_ROPE].number, 2 * (double)c / (double)p->d);
        x[c] = a * cos(turn) - z * sin(turn);
        x[c + p->d / 2] = a * sin(turn) + z * cos(turn);
    }
    for (int64_t c = 0; c < p->d; c++) {
        const double relu = fmax(x[c], 0), silu = x[c] / (1 + exp(-x[c]));
        const double maps[] = { x[c], x[c] >= 0 ? x[c] + 1 : exp(x[c]), relu, x[c], silu, silu, relu * cos(angle) };
        phi[c] = maps[feature];
        if (feature == ATTEST_FEATURE_COSFORMER)
            phi[p->d + c] = relu * sin(angle);
    }
    if (feature == ATTEST_FEATURE_UNIT || feature == ATTEST_FEATURE_SILU_UNIT)
        naive_unit(phi, p->d);
    for (int64_t c = 0; c < attest_feature_dim(p); c++)
        size += fabs(phi[c]);
    return size;
}

/* a_t, gamma or a_tc; the product over t = from..to. */
static inline double naive_decay(const attest_problem *p, int64_t b, int64_t g, int64_t c, int64_t from, int64_t to)
{
    const uint32_t decay = naive_is(p, ATTEST_AXIS_DECAY);
    double product = 1;
    for (int64_t t = from; decay && t <= to; t++)
        product *= decay == ATTEST_DECAY_RETNET   ? naive_input(ATTEST_GAMMA, g, 0, 0, 0)
                   : decay == ATTEST_DECAY_VECTOR ? naive_input(ATTEST_DECAY, b, g, t, c)
                                                  : naive_input(ATTEST_DECAY, b, g, t, 0);
    return product;
}

/* Softmax over the heads of x[b,:,token], or the gate as given, or 1. */
static inline double naive_gate(const attest_problem *p, int rows, int64_t b, int64_t h, int64_t token)
{
    const uint32_t gates = naive_is(p, ATTEST_AXIS_GATES);
    const int given[2][6] = { { 0, 1, 0, 1, 0, 1 }, { 0, 0, 1, 1, 1, 1 } };
    const int64_t heads = rows ? p->hq : p->hkv;
    double sum = 0;
    if (!given[rows][gates])
        return 1;
    if (gates != ATTEST_GATES_HEADS)
        return naive_input(rows ? ATTEST_GOUT : ATTEST_GIN, b, h, token, 0);
    for (int64_t x = 0; x < heads; x++)
        sum += exp(naive_input(rows ? ATTEST_Q_HEAD_LOGITS : ATTEST_K_HEAD_LOGITS, b, x, token, 0));
    return exp(naive_input(rows ? ATTEST_Q_HEAD_LOGITS : ATTEST_K_HEAD_LOGITS, b, h, token, 0)) / sum;
}

/* ---- scores and weights ---------------------------------------------------------------------------------------- */

/* s_ij; *size: sum of the absolute terms of all its steps. */
static inline double naive_score(double *size, const attest_problem *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const int64_t g = h / (p->hq / p->hkv), position = naive_position(p, b, i);
    const int vector = naive_is(p, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR;
    double q[NAIVE_DIM], k[NAIVE_DIM], s = 0;
    const double mixed = naive_phi(q, p, ATTEST_Q, b, h, i, position) * naive_phi(k, p, ATTEST_K, b, g, j, j);
    *size = 0;
    for (int64_t c = 0; c < attest_feature_dim(p); c++) {
        const double x = p->scale * q[c] * k[c] * (vector ? naive_decay(p, b, g, c, j + 1, i) : 1);
        s += x;
        *size += fabs(x);
    }
    if (naive_is(p, ATTEST_AXIS_ROPE))
        *size = fabs(p->scale) * mixed;
    if (naive_is(p, ATTEST_AXIS_CAP))
        s = p->axis[ATTEST_AXIS_CAP].number * tanh(s / p->axis[ATTEST_AXIS_CAP].number);
    if (naive_is(p, ATTEST_AXIS_ALIBI)) {
        const double bias = naive_input(ATTEST_SLOPE, h, 0, 0, 0) * fabs((double)(position - j));
        s -= bias;
        *size += bias;
    }
    if (naive_is(p, ATTEST_AXIS_CLAMP))
        s = fmin(s, p->axis[ATTEST_AXIS_CLAMP].number);
    *size += fabs(s);
    return s;
}

/* e^x, x^n/n! or x^n; n of taylor running over 0..P. */
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

/* ---- rows ------------------------------------------------------------------------------------------------------ */

typedef struct naive_row {
    int empty;
    int judged;      /* 0: something overflows a float, nothing is compared */
    int regular;     /* 0: the divisor is small against its error, o is not compared */
    int lse_regular; /* 0: z is, lse is not compared */
    int64_t keys;    /* visible */
    double o[NAIVE_WIDTH], u[NAIVE_WIDTH], z, lse;
    double o_error[NAIVE_WIDTH], u_error[NAIVE_WIDTH], z_error, lse_error;
    double center, highest, size; /* size: the largest of a score */
} naive_row;

static inline int naive_exponential(const attest_problem *p)
{
    return naive_is(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP;
}

/* Roundings that a term meets on its way into u or z, and of a score relative to its size. */
static inline double naive_roundings(const attest_problem *p)
{
    const double order = naive_exponential(p) ? 0 : p->axis[ATTEST_AXIS_WEIGHT].order;
    const double rows = naive_exponential(p) ? 0 : pow((double)attest_feature_dim(p), order);
    const double decays = naive_is(p, ATTEST_AXIS_DECAY) ? (double)p->n : 0;
    return (double)(p->m + p->d + p->hq) + rows + 2 * decays + 32 * (order + 1);
}

/* Center and largest score.  Weights exp of norms that do not notice it are shifted by the largest. */
static inline void naive_center(naive_row *row, const attest_problem *p, int64_t b, int64_t h, int64_t i)
{
    const uint32_t norm = naive_is(p, ATTEST_AXIS_NORM);
    double low = INFINITY, size;
    row->highest = -INFINITY;
    for (int64_t j = 0; j < p->m; j++)
        if (naive_sees(p, b, i, j)) {
            const double s = naive_score(&size, p, b, h, i, j);
            low = fmin(low, s);
            row->highest = fmax(row->highest, s);
            row->size = fmax(row->size, size);
            row->keys++;
        }
    const double centers[] = { 0, row->highest, low, (low + row->highest) / 2 };
    const int shifted = naive_exponential(p) && (norm == ATTEST_NORM_SUM || norm == ATTEST_NORM_SINK);
    row->center = row->keys == 0 ? 0 : shifted ? row->highest : centers[naive_is(p, ATTEST_AXIS_CENTER)];
}

static inline void naive_add_key(naive_row *row, const attest_problem *p, int64_t b, int64_t h, int64_t i, int64_t j,
                                 double u)
{
    const int64_t g = h / (p->hq / p->hkv);
    const double D = naive_is(p, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR ? 1 : naive_decay(p, b, g, 0, j + 1, i);
    const double gin = naive_gate(p, 0, b, g, j), few = naive_roundings(p) * u, cast = attest_unit_roundoff(p->p);
    const double tiny = attest_unit_roundoff(p->acc) < 1e-10 ? 0x1p-1022 : 0x1p-126;
    double size;
    const double s = naive_score(&size, p, b, h, i, j), loss = few * (size + row->size);
    const double w = naive_weight(p, s - row->center);
    double error = naive_exponential(p) ? w * (expm1(loss) + few) : few * naive_weight(p, size + row->size);
    const double margin = s - (row->highest - p->axis[ATTEST_AXIS_FILTER].number);
    const int dropped = naive_is(p, ATTEST_AXIS_FILTER) && !(margin > 0);
    if (naive_is(p, ATTEST_AXIS_FILTER) && fabs(margin) <= loss)
        error += fabs(w); /* either choice will do */
    row->z += dropped ? 0 : D * w;
    row->z_error += D * error + few * fabs(D * w) + tiny;
    for (int64_t c = 0; c < p->e; c++) {
        const double v = gin * naive_value(ATTEST_V, b, g, j, c);
        row->u[c] += dropped ? 0 : D * w * v;
        row->u_error[c] += fabs(v) * (D * error + (few + (cast > u ? cast : 0)) * fabs(D * w)) + tiny;
    }
    row->judged &= fabs(D * w) + error < 1e30;
}

/* Adds the given states, read by query i. */
static inline void naive_add_states(naive_row *row, const attest_problem *p, int64_t b, int64_t h, int64_t i, double u)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const int highest = (int)weight->order, lowest = weight->value == ATTEST_WEIGHT_TAYLOR ? 0 : highest;
    const int64_t g = h / (p->hq / p->hkv), dim = attest_feature_dim(p);
    const int vector = naive_is(p, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR;
    const double few = naive_roundings(p) * u;
    double factor = 1, q[NAIVE_DIM];
    int64_t rows = 1;
    const double size = naive_phi(q, p, ATTEST_Q, b, h, i, naive_position(p, b, i));
    for (int n = 0; n <= highest; n++) {
        for (int64_t at = 0; n >= lowest && at < rows; at++) {
            double x = factor * naive_decay(p, b, g, vector ? at : 0, 0, i);
            double error = fabs(x);
            int64_t rest = at;
            for (int k = 0; k < n; k++, rest /= dim) {
                x *= q[rest % dim];
                error *= naive_is(p, ATTEST_AXIS_ROPE) ? size : fabs(q[rest % dim]);
            }
            row->z += x * naive_state_input(NAIVE_Z0, n, b, g, at, dim, 0);
            row->z_error += few * error;
            for (int64_t c = 0; c < p->e; c++) {
                row->u[c] += x * naive_state_input(NAIVE_H0, n, b, g, at, dim, c);
                row->u_error[c] += few * error;
            }
        }
        rows *= dim;
        factor *= weight->value == ATTEST_WEIGHT_POWER ? p->scale : p->scale / (n + 1);
    }
}

/* o and its error through the norm; u here has the gate before Norm already. */
static inline void naive_norm(naive_row *row, const attest_problem *p, int64_t h, double u)
{
    const uint32_t norm = naive_is(p, ATTEST_AXIS_NORM);
    const double eps = p->axis[ATTEST_AXIS_EPS].number * (naive_exponential(p) ? exp(-row->center) : 1);
    const int by_length = norm == ATTEST_NORM_LENGTH || norm >= ATTEST_NORM_LENGTH_L2;
    const double e = (double)p->e, length = by_length ? (double)row->keys : 1;
    const int centered = norm == ATTEST_NORM_LAYERNORM || norm == ATTEST_NORM_LENGTH_LAYERNORM;
    double mean = 0, mean_error = 0, squares = 0, squares_error = 0, divisor = 1, loss = 0;
    for (int64_t c = 0; c < p->e; c++) {
        row->o[c] /= length;
        row->o_error[c] = row->o_error[c] / length + 4 * u * fabs(row->o[c]);
        mean += row->o[c] / e;
        mean_error += row->o_error[c] / e + 4 * u * fabs(row->o[c]);
    }
    for (int64_t c = 0; c < p->e; c++) {
        row->o[c] -= centered ? mean : 0;
        row->o_error[c] += centered ? mean_error + 4 * u * fabs(row->o[c]) : 0;
        squares += row->o[c] * row->o[c];
        squares_error += row->o_error[c] * (2 * fabs(row->o[c]) + row->o_error[c]);
    }
    if (norm <= ATTEST_NORM_FLOOR) {
        const double sink = exp(naive_input(ATTEST_SINK, h, 0, 0, 0) - row->center);
        divisor = norm == ATTEST_NORM_SUM ? row->z + eps : row->z + sink;
        divisor = norm == ATTEST_NORM_FLOOR ? fmax(row->z, p->axis[ATTEST_AXIS_NORM].number) : divisor;
        loss = row->z_error + 8 * u * (1 + row->size) * (fabs(divisor) + fabs(row->z));
    } else if (norm >= ATTEST_NORM_L2) {
        const double count = norm == ATTEST_NORM_L2 || norm == ATTEST_NORM_LENGTH_L2 ? 1 : e;
        divisor = sqrt(squares / count + p->axis[ATTEST_AXIS_EPS].number);
        loss = squares_error / count / divisor + (e + 8) * u * divisor;
    }
    row->regular = 4 * loss < fabs(divisor);
    for (int64_t c = 0; c < p->e; c++) {
        row->o[c] /= divisor;
        row->o_error[c] = (row->o_error[c] + fabs(row->o[c]) * loss) / (fabs(divisor) - loss);
        row->o_error[c] += 4 * u * fabs(row->o[c]);
    }
}

/* o of the row's u and z. */
static inline void naive_finish(naive_row *row, const attest_problem *p, int64_t b, int64_t h, int64_t i, double u)
{
    const attest_format out = attest_format_of(p->out);
    const double gout = naive_gate(p, 1, b, h, i), few = (double)(p->hq + 16) * u;
    const int before = naive_is(p, ATTEST_AXIS_GATES) == ATTEST_GATES_PRE_OUT;
    for (int64_t c = 0; c < p->e; c++) {
        row->o[c] = before ? gout * row->u[c] : row->u[c];
        row->o_error[c] = before ? gout * row->u_error[c] + few * fabs(row->o[c]) : row->u_error[c];
    }
    naive_norm(row, p, h, u);
    for (int64_t c = 0; c < p->e; c++) {
        if (naive_is(p, ATTEST_AXIS_AFFINE)) {
            const double gain = naive_input(ATTEST_GAIN, c, 0, 0, 0), shift = naive_input(ATTEST_SHIFT, c, 0, 0, 0);
            row->o[c] = gain * row->o[c] + shift;
            row->o_error[c] = fabs(gain) * row->o_error[c] + 8 * u * (fabs(row->o[c]) + fabs(shift));
        }
        row->o[c] *= before ? 1 : gout;
        row->o_error[c] = (before ? 1 : gout) * row->o_error[c] + few * fabs(row->o[c]);
        row->o_error[c] += attest_unit_roundoff(p->out) * fabs(row->o[c]) + ldexp(1, out.emin - out.p);
    }
    row->lse_regular = row->z_error * 4 < fabs(row->z);
    row->lse = row->z > 0 ? row->center + log(row->z) : NAN;
    row->lse_error = 2 * row->z_error / fabs(row->z) + few * (1 + row->size + fabs(log(fabs(row->z))));
}

static inline naive_row naive_attention(const attest_problem *p, int64_t b, int64_t h, int64_t i)
{
    const double u = attest_unit_roundoff(p->acc) * (p->acc == ATTEST_F64 ? 4 : 1); /* the naive code's own errors */
    naive_row row;
    memset(&row, 0, sizeof row);
    row.judged = 1;
    naive_center(&row, p, b, h, i);
    row.empty = naive_is(p, ATTEST_AXIS_STATE) == 0 && row.keys == 0;
    row.regular = row.lse_regular = 1;
    row.lse = -INFINITY;
    if (row.empty)
        return row;
    for (int64_t j = 0; j < p->m; j++)
        if (naive_sees(p, b, i, j))
            naive_add_key(&row, p, b, h, i, j, u);
    if (naive_is(p, ATTEST_AXIS_STATE))
        naive_add_states(&row, p, b, h, i, u);
    naive_finish(&row, p, b, h, i, u);
    return row;
}

/* ---- states --------------------------------------------------------------------------------------------------- */

/* Entry (row of dim^n, channel c; c < 0: z-state) after the last key that the last query sees; *error as above. */
static inline double naive_state(double *error, const attest_problem *p, int n, int64_t b, int64_t g, int64_t at,
                                 int64_t c)
{
    const int64_t dim = attest_feature_dim(p);
    const int vector = naive_is(p, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR;
    int64_t end = -1;
    double sum = 0, size = 0;
    for (int64_t j = 0; j < p->m; j++)
        end = naive_sees(p, b, p->n - 1, j) ? j : end;
    if (naive_is(p, ATTEST_AXIS_STATE)) {
        sum = naive_state_input(c < 0 ? NAIVE_Z0 : NAIVE_H0, n, b, g, at, dim, c < 0 ? 0 : c);
        sum *= naive_decay(p, b, g, vector ? at : 0, 0, end);
        size = fabs(sum);
    }
    for (int64_t j = 0; j <= end; j++) {
        double k[NAIVE_DIM], x = c < 0 ? 1 : naive_gate(p, 0, b, g, j) * naive_value(ATTEST_V, b, g, j, c);
        const double mixed = naive_phi(k, p, ATTEST_K, b, g, j, j);
        int64_t rest = at;
        x *= naive_decay(p, b, g, vector ? at : 0, j + 1, end);
        double all = fabs(x);
        for (int l = 0; l < n; l++, rest /= dim) {
            x *= k[rest % dim];
            all *= naive_is(p, ATTEST_AXIS_ROPE) ? mixed : fabs(k[rest % dim]);
        }
        sum += x;
        size += all;
    }
    *error = naive_roundings(p) * attest_unit_roundoff(p->acc) * size + 0x1p-126;
    return sum;
}

#endif
