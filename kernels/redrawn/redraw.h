/* redraw.h - the steps that are redrawn (redrawn.h): included before a kernel's source, they take the place of its own.
 *
 * The steps have no argument for a stream of draws, so each thread has one; it holds nothing from one run to the next.
 * REDRAW_CARRIED, defined before: compensated sums.  `real` is double then; sums are not rounded, products are, to
 * float.  Products of two floats are exact in double, and sums to 2^-53: what is rounded at random is rounded once.
 */
#ifndef ATTEST_REDRAW_H
#define ATTEST_REDRAW_H

#include <stdint.h>
#include <string.h>

/* One run under way. */
typedef struct redraw_run {
    uint64_t stream; /* 0: to nearest */
    int score_digits, sum_digits, state_digits;
    int64_t tile;
    double exp_error; /* of an exponential, beyond its rounding */
    const unsigned char *wanted;
} redraw_run;

extern _Thread_local redraw_run redraw_now;

#define REDRAW_FLOAT 24  /* digits of a float */
#define REDRAW_TILE 1024 /* the longest tile */
#define ONLINE_TILE REDRAW_TILE

#ifdef REDRAW_CARRIED
#define ATTEST_STEP_F64
#endif
#include "cpu/steps/step.h"

/* xorshift64*: the next 64 bits of the run. */
static inline uint64_t redraw_bits(void)
{
    uint64_t x = redraw_now.stream;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    redraw_now.stream = x;
    return x * 0x2545f4914f6cdd1dull;
}

/* x with `digits` binary digits.  Up to a carry the bits of a double are a number, so that adding what is drawn below
 * the last digit kept, and cutting there, rounds up as often as it should; to nearest
 * even, half of that place, or a unit less where the last digit is even.  Infinities stay, and so do NaNs. */
static inline double redraw_digits(double x, int digits)
{
    const int drop = 53 - digits;
    uint64_t bits;
    if (drop <= 0)
        return x;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t below = (UINT64_C(1) << drop) - 1;
    const uint64_t draw = redraw_now.stream ? redraw_bits() >> (64 - drop) : (below >> 1) + (bits >> drop & 1);
    bits = (bits + draw) & ~below;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline real redraw_product(double x, double y) { return (real)redraw_digits(x * y, REDRAW_FLOAT); }

/* A sum of that many digits; compensated, it is not rounded. */
static inline real redraw_add(double x, double y, int digits)
{
#ifdef REDRAW_CARRIED
    (void)digits;
    return x + y;
#else
    return (real)redraw_digits(x + y, digits);
#endif
}

/* Sums are not rounded by a factor of 1. */
static inline real redraw_scaled(real x, real factor) { return factor == 1 ? x : redraw_product(x, factor); }

/* e^x, off by up to exp_error. */
static inline real redraw_exp(double x)
{
    const double off = redraw_now.stream ? (double)(int64_t)redraw_bits() * 0x1p-63 : 0;
    return (real)redraw_digits(exp(x) * (1 + off * redraw_now.exp_error), REDRAW_FLOAT);
}

/* ---- steps of step.h --------------------------------------------------------------------------------------------- */
static inline real redraw_sum(real sum, real x) { return redraw_add(sum, x, redraw_now.sum_digits); }

static inline int redraw_wanted(const row *r)
{
    return !redraw_now.wanted || redraw_now.wanted[(r->b * r->p->hq + r->h) * r->rows + r->i];
}

static inline real redraw_score(real scale, const real *q, const real *k, int64_t d)
{
    real sum = 0;
    for (int64_t c = 0; c < d; c++)
        sum = redraw_add(sum, redraw_product(q[c], k[c]), redraw_now.score_digits);
    return redraw_product(scale, sum);
}

static inline void redraw_add_value(real *u, real w, const real *v, int64_t e)
{
    for (int64_t c = 0; c < e; c++)
        u[c] = redraw_add(u[c], redraw_product(w, v[c]), redraw_now.sum_digits);
}

/* Below f16's normal numbers, 2^-14, its numbers are 2^-24 apart. */
static inline real redraw_cast(uint32_t dtype, real x)
{
    static const int digits[] = { [ATTEST_F32] = 24, [ATTEST_F64] = 53, [ATTEST_F16] = 11, [ATTEST_BF16] = 8 };
    if (dtype == REAL_DTYPE)
        return x;
    if (dtype == ATTEST_F16 && fabs((double)x) < 0x1p-14)
        return (real)attest_to_f64(dtype, attest_from_f64(dtype, (double)x));
    return (real)redraw_digits(x, digits[dtype]);
}

static inline real redraw_dropped(const row *r, int64_t j, real w)
{
    return !r->keep ? w : r->keep[j * r->keep_step] ? redraw_product(w, r->kept) : 0;
}

#define dropout_weight redraw_dropped
#define step_sum redraw_sum
#define step_row_wanted redraw_wanted
#define step_score redraw_score
#define step_add_value redraw_add_value
#define step_round redraw_cast

/* ---- softmax.h, softmax_online.h --------------------------------------------------------------------------------- */
static inline real redraw_exponent(real s, real m) { return (real)redraw_digits((double)s - (double)m, REDRAW_FLOAT); }
static inline real redraw_weight(real x) { return redraw_exp(x); }

static inline real redraw_rescale(real m, real new_m)
{
    return m == -(real)INFINITY ? 0 : m == new_m ? 1 : redraw_exp(redraw_exponent(m, new_m));
}

static inline real redraw_join(real u, real alpha, real part)
{
    return redraw_add(redraw_scaled(u, alpha), part, redraw_now.sum_digits);
}

static inline int64_t redraw_tile(const attest_problem *p)
{
    (void)p;
    return redraw_now.tile;
}

#define softmax_exponent redraw_exponent
#define softmax_weight redraw_weight
#define softmax_rescale redraw_rescale
#define softmax_join_l redraw_join
#define softmax_join_u redraw_join
#define online_tile redraw_tile

/* ---- norms.h ----------------------------------------------------------------------------------------------------- */
static inline void redraw_divide(real *u, double divisor, int64_t e)
{
    for (int64_t c = 0; c < e; c++)
        u[c] = (real)redraw_digits((double)u[c] / divisor, REDRAW_FLOAT);
}

#define norm_divide redraw_divide

/* ---- scores.h ---------------------------------------------------------------------------------------------------- */
/* Rounded beside compensated sums too: no sum of many terms. */
static inline real redraw_biased(const row *r, real s, real bias)
{
    (void)r;
    return (real)redraw_digits((double)s + (double)bias, REDRAW_FLOAT);
}

#define score_biased redraw_biased

/* ---- states.h ---------------------------------------------------------------------------------------------------- */
#include "cpu/steps/states.h"

static inline void redraw_state_add(const state *s, const real *monomial, const real *v)
{
    for (int64_t row_of = 0; row_of < s->rows; row_of++) {
        if (s->z)
            s->z[row_of] = redraw_add(s->z[row_of], monomial[row_of], redraw_now.state_digits);
        for (int64_t c = 0; c < s->e; c++) {
            real *h = &s->h[row_of * s->e + c];
            *h = redraw_add(*h, redraw_product(monomial[row_of], v[c]), redraw_now.state_digits);
        }
    }
}

static inline real redraw_decayed(real x, real a)
{
    return a == 1 ? x : (real)redraw_digits((double)x * (double)a, redraw_now.state_digits);
}

static inline void redraw_state_decay_rows(const state *s, const real *a)
{
    for (int64_t row_of = 0; row_of < s->rows; row_of++) {
        if (s->z)
            s->z[row_of] = redraw_decayed(s->z[row_of], a[row_of]);
        for (int64_t c = 0; c < s->e; c++)
            s->h[row_of * s->e + c] = redraw_decayed(s->h[row_of * s->e + c], a[row_of]);
    }
}

static inline void redraw_state_decay(const state *s, real a)
{
    for (int64_t at = 0; at < s->rows * s->e; at++)
        s->h[at] = redraw_decayed(s->h[at], a);
    for (int64_t row_of = 0; s->z && row_of < s->rows; row_of++)
        s->z[row_of] = redraw_decayed(s->z[row_of], a);
}

static inline void redraw_state_plus(const state *s, const state *other)
{
    for (int64_t at = 0; at < s->rows * s->e; at++)
        s->h[at] = redraw_add(s->h[at], other->h[at], redraw_now.state_digits);
    for (int64_t row_of = 0; s->z && row_of < s->rows; row_of++)
        s->z[row_of] = redraw_add(s->z[row_of], other->z[row_of], redraw_now.state_digits);
}

#define state_add redraw_state_add
#define state_plus redraw_state_plus
#define state_decay redraw_state_decay
#define state_decay_rows redraw_state_decay_rows

#endif
