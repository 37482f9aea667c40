/* norms.h - the row's end: o = gout Norm(u,z), and what else is asked for.
 *
 *     sum u/(z+eps)    sink u/(z+e^sink)    floor:F u/max(z,F)    none u    length u/t, t the number of visible keys
 *     l2 u/sqrt(sum u^2+eps)    rms u/sqrt(mean u^2+eps)    layernorm (u-mean)/sqrt(mean (u-mean)^2+eps)
 *     length-l2, length-rms, length-layernorm: the same of u/t
 *     then gain_c x + shift_c (affine), then gout_i; gates=pre-out: gout_i u instead, before Norm
 *
 * So Norm is, as far as the norm has it: a division by t, minus the mean, a division by the norm's divisor.  The sums
 * may come as u e^-m and z e^-m (the softmax kernels subtract the largest score m); the divisors then are those above
 * times e^-m: all Norms are quotients of one degree in u, z and what stands beside them.  Divisors are double, so that
 * e^-m and the squares of floats stay in range; beside the rounding of the quotient their errors are negligible.
 */
#ifndef ATTEST_CPU_NORMS_H
#define ATTEST_CPU_NORMS_H

#include "gates.h"

/* ---- divisors, times e^-m ------------------------------------------------------------------------------------- */

/* u and z are e^-m times the sums. */
typedef double norm_divisor(const row *r, const real *u, real z, real m);

#ifndef norm_by_sum
static inline double norm_by_sum(const row *r, const real *u, real z, real m)
{
    const double eps = r->p->axis[ATTEST_AXIS_EPS].number;
    (void)u;
    return eps > 0 ? (double)z + eps * exp(-(double)m) : (double)z;
}
#endif

#ifndef norm_by_sink
static inline double norm_by_sink(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    (void)u;
    return (double)z + exp((double)step_load(sink, r->h * sink->stride[0]) - (double)m);
}
#endif

#ifndef norm_by_floor
/* A NaN stays one. */
static inline double norm_by_floor(const row *r, const real *u, real z, real m)
{
    const double least = r->p->axis[ATTEST_AXIS_NORM].number * exp(-(double)m);
    (void)u;
    return (double)z < least ? least : (double)z;
}
#endif

/* Nothing but what undoes the shift. */
static inline double norm_by_one(const row *r, const real *u, real z, real m)
{
    (void)r;
    (void)u;
    (void)z;
    return exp(-(double)m);
}

#ifndef norm_by_root
/* sqrt(sum u^2 / count + eps) */
static inline double norm_by_root(const row *r, const real *u, real m, double count)
{
    const double eps = r->p->axis[ATTEST_AXIS_EPS].number;
    double squares = 0;
    for (int64_t c = 0; c < r->p->e; c++)
        squares += (double)u[c] * (double)u[c];
    return sqrt(squares / count + (eps > 0 ? eps * exp(-2 * (double)m) : 0));
}
#endif

static inline double norm_by_l2(const row *r, const real *u, real z, real m)
{
    (void)z;
    return norm_by_root(r, u, m, 1);
}

static inline double norm_by_rms(const row *r, const real *u, real z, real m)
{
    (void)z;
    return norm_by_root(r, u, m, (double)r->p->e);
}

/* ---- Norm --------------------------------------------------------------------------------------------------- */

typedef struct norm_steps {
    int length, mean; /* u/t first; minus the mean next */
    norm_divisor *divisor;
} norm_steps;

static inline const norm_steps *norm_of(const attest_problem *p)
{
    static const norm_steps steps[] = {
        [ATTEST_NORM_SUM] = { 0, 0, norm_by_sum },
        [ATTEST_NORM_SINK] = { 0, 0, norm_by_sink },
        [ATTEST_NORM_FLOOR] = { 0, 0, norm_by_floor },
        [ATTEST_NORM_NONE] = { 0, 0, norm_by_one },
        [ATTEST_NORM_LENGTH] = { 1, 0, norm_by_one },
        [ATTEST_NORM_L2] = { 0, 0, norm_by_l2 },
        [ATTEST_NORM_RMS] = { 0, 0, norm_by_rms },
        [ATTEST_NORM_LAYERNORM] = { 0, 1, norm_by_rms },
        [ATTEST_NORM_LENGTH_L2] = { 1, 0, norm_by_l2 },
        [ATTEST_NORM_LENGTH_RMS] = { 1, 0, norm_by_rms },
        [ATTEST_NORM_LENGTH_LAYERNORM] = { 1, 1, norm_by_rms },
    };
    return &steps[p->axis[ATTEST_AXIS_NORM].value];
}

#ifndef norm_divide
/* One division a channel; a divisor of 0 gives what IEEE 754 gives. */
static inline void norm_divide(real *u, double divisor, int64_t e)
{
    for (int64_t c = 0; c < e; c++)
        u[c] = (real)((double)u[c] / divisor);
}
#endif

#ifndef norm_subtract_mean
/* e-1 additions, one division, one subtraction. */
static inline void norm_subtract_mean(real *u, int64_t e)
{
    real mean = 0;
    for (int64_t c = 0; c < e; c++)
        mean += u[c];
    mean /= (real)e;
    for (int64_t c = 0; c < e; c++)
        u[c] -= mean;
}
#endif

#ifndef norm_length
/* t: the keys that the row sees. */
static inline int64_t norm_length(const row *r)
{
    int hidden = 0; /* counted in 64 bits, clang 14 cannot make the loop into vectors of AVX-512, and ends */
    for (int64_t j = r->first; r->mask && j < r->last; j++)
        hidden += !step_shown(r, j);
    return step_max(0, r->last - r->first) - hidden;
}
#endif

/* u[e] becomes Norm. */
static inline void norm_apply(const row *r, real *u, real z, real m)
{
    const norm_steps *n = norm_of(r->p);
    if (n->length)
        norm_divide(u, (double)norm_length(r), r->p->e);
    if (n->mean)
        norm_subtract_mean(u, r->p->e);
    norm_divide(u, n->divisor(r, u, z, m), r->p->e);
}

#ifndef norm_affine
/* gain_c x + shift_c: two roundings. */
static inline void norm_affine(const row *r, real *u)
{
    const attest_tensor *gain = r->t->role[ATTEST_GAIN], *shift = r->t->role[ATTEST_SHIFT];
    for (int64_t c = 0; c < r->p->e; c++)
        u[c] = u[c] * step_load(gain, c * gain->stride[0]) + step_load(shift, c * shift->stride[0]);
}
#endif

/* u[e] times the row's gate: one rounding a channel; nothing without one. */
static inline void norm_gate(const row *r, real *u)
{
    if (!gate_rows(r->p))
        return;
    const real gout = gate_row(r->p, r->t, r->b, r->h, r->i);
    for (int64_t c = 0; c < r->p->e; c++)
        u[c] *= gout;
}

#ifndef norm_gate_first
/* Does the row's gate come before Norm? */
static inline int norm_gate_first(const attest_problem *p)
{
    return p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_PRE_OUT;
}
#endif

/* o of sums times e^-m; u[e] is used up. */
static inline void norm_write(const row *r, real *u, real z, real m)
{
    const int before = norm_gate_first(r->p);
    if (before)
        norm_gate(r, u);
    norm_apply(r, u, z, m);
    if (r->p->axis[ATTEST_AXIS_AFFINE].value == ATTEST_AFFINE_DRAW)
        norm_affine(r, u);
    if (!before)
        norm_gate(r, u);
    for (int64_t n = 0; n < r->p->e; n++)
        step_store_row(r, ATTEST_O, n, u[n]);
}

/* Writes what is asked for of u, z, lse = c + log z (c: the center) and o; u[e] is used up.  lse is NaN where
 * z <= 0: no such value. */
static inline void norm_finish(const row *r, real *u, real z, real c)
{
    for (int64_t n = 0; n < r->p->e; n++)
        step_store_row(r, ATTEST_U, n, u[n]);
    step_store_row(r, ATTEST_Z, 0, z);
    step_store_row(r, ATTEST_LSE, 0, z > 0 ? c + real_log(z) : (real)NAN);
    norm_write(r, u, z, 0);
}

#endif
