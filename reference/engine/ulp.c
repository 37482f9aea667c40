/* ulp.c - errors in units in the last place, one rounding to a format, outward doubles (R-ULP, R-ROUND).
 *
 * Every comparison is exact: end points of balls and stored numbers are dyadic, and arf keeps them so.
 * What is rounded at all is rounded outward, and said so. */
#include "reference/engine/engine.h"

#include <float.h>
#include <math.h>

#include "kernels/attest_float.h"

/* Bits kept of an end point mid +- rad.  Beyond them (mid and rad lie that far apart) it is rounded outward. */
#define END_BITS 16384

/* floor(|x|) or ceil(|x|) of x * 2^-unit as an unsigned integer; the caller knows that it fits. */
static uint64_t scaled_magnitude(const arf_t x, slong unit, int ceiling)
{
    AUTO_ARF(y);
    AUTO_FMPZ(z);
    arf_abs(y, x);
    arf_mul_2exp_si(y, y, -unit); /* exact */
    arf_get_fmpz(z, y, ceiling ? ARF_RND_CEIL : ARF_RND_FLOOR);
    const uint64_t m = fmpz_get_ui(z);
    return m;
}

/* The double next to x on the asked side: x itself if x is a double. */
static double directed_double(const arf_t x, int up)
{
    if (arf_is_nan(x))
        return up ? INFINITY : -INFINITY;
    if (arf_is_zero(x))
        return 0.0;
    const int negative = arf_sgn(x) < 0;
    if (arf_is_inf(x))
        return negative ? -INFINITY : INFINITY;
    const int away = up != negative; /* away from zero */
    if (arf_cmpabs_2exp_si(x, 1024) >= 0) {
        const double magnitude = away ? INFINITY : DBL_MAX;
        return negative ? -magnitude : magnitude;
    }
    slong unit = -1074;
    if (arf_cmpabs_2exp_si(x, -1022) >= 0) {
        fmpz_t exponent; /* |x| < 2^exponent */
        fmpz_init(exponent);
        arf_abs_bound_lt_2exp_fmpz(exponent, x);
        unit = fmpz_get_si(exponent) - 53;
        fmpz_clear(exponent);
    }
    const uint64_t m = scaled_magnitude(x, unit, away); /* <= 2^53: the next line is exact, or overflows as it should */
    return attest_bits_f64(attest_round_scaled(ATTEST_F64, negative, m, (int)unit, 0));
}

double ref_lower(const arb_t x)
{
    AUTO_ARF(end);
    arb_get_lbound_arf(end, x, 64);
    const double d = directed_double(end, 0);
    return d;
}

double ref_upper(const arb_t x)
{
    AUTO_ARF(end);
    arb_get_ubound_arf(end, x, 64);
    const double d = directed_double(end, 1);
    return d;
}

double ref_mag_upper(const mag_t x)
{
    if (mag_is_zero(x))
        return 0;
    const fmpz exponent = *MAG_EXPREF(x);
    if (!COEFF_IS_MPZ(exponent) && exponent > -900 && exponent < 900) /* 30 bits times a power of two: exact */
        return (double)MAG_MAN(x) * attest_bits_f64((uint64_t)(exponent - MAG_BITS + 1023) << 52);
    AUTO_ARF(y);
    arf_set_mag(y, x);
    const double d = directed_double(y, 1);
    return d;
}

/* ---- rounding --------------------------------------------------------------------------------------------- */

/* Both ends of a finite ball, exact or (see END_BITS) a little outside. */
static void ball_ends(arf_t lo, arf_t hi, const arb_t t)
{
    AUTO_ARF(radius);
    arf_set_mag(radius, arb_radref(t));
    if (arf_is_zero(radius)) {
        arf_set(lo, arb_midref(t));
        arf_set(hi, arb_midref(t));
    } else {
        arf_sub(lo, arb_midref(t), radius, END_BITS, ARF_RND_FLOOR);
        arf_add(hi, arb_midref(t), radius, END_BITS, ARF_RND_CEIL);
    }
}

/* Rounds (-1)^negative * (magnitude + a little if sticky) * 2^exponent once; magnitude > 0, any length. */
static uint64_t round_integer(uint32_t dtype, int negative, const mpz_t magnitude, const fmpz_t exponent, int sticky)
{
    const attest_format f = attest_format_of(dtype);
    const long bits = (long)mpz_sizeinbase(magnitude, 2);
    const long drop = bits > 64 ? bits - 64 : 0;
    AUTO_MPZ(top);
    AUTO_FMPZ(scale);
    uint64_t stored;
    mpz_tdiv_q_2exp(top, magnitude, (mp_bitcnt_t)drop);
    if (drop > 0 && mpz_scan1(magnitude, 0) < (mp_bitcnt_t)drop)
        sticky = 1;
    fmpz_add_si(scale, exponent, drop);
    /* The value lies in [2^(scale+bits-drop-1), 2^(scale+bits-drop)): exponents that no int holds are settled here,
     * as those just outside the format are. */
    if (fmpz_cmp_si(scale, f.emax + 64) > 0)
        stored = attest_round_scaled(dtype, negative, 1, f.emax + 1, 0);
    else if (fmpz_cmp_si(scale, f.emin - f.p - 130) < 0)
        stored = attest_round_scaled(dtype, negative, 1, f.emin - f.p - 1, 0);
    else
        stored = attest_round_scaled(dtype, negative, mpz_get_ui(top), (int)fmpz_get_si(scale), sticky);
    return stored;
}

static uint64_t round_arf(uint32_t dtype, const arf_t x)
{
    if (arf_is_zero(x))
        return 0;
    AUTO_FMPZ(mantissa, exponent);
    AUTO_MPZ(magnitude);
    arf_get_fmpz_2exp(mantissa, exponent, x);
    fmpz_get_mpz(magnitude, mantissa);
    mpz_abs(magnitude, magnitude);
    const uint64_t stored = round_integer(dtype, arf_sgn(x) < 0, magnitude, exponent, 0);
    return stored;
}

/* Rounding is monotone, so one value at both ends is the value of all points (R-ROUND).  The ends of a point
 * are exact: a tie is seen as one.  Zeros of different sign are two values: the sign is not known yet. */
int ref_round_ball(uint64_t *bits, const arb_t t, uint32_t dtype)
{
    *bits = 0;
    if (!arb_is_finite(t))
        return 0;
    AUTO_ARF(lo, hi);
    ball_ends(lo, hi, t);
    const uint64_t low = round_arf(dtype, lo);
    const int decided = low == round_arf(dtype, hi);
    *bits = decided ? low : 0;
    return decided;
}

uint64_t ref_round_quotient(const mpz_t numerator, const mpz_t denominator, long power, uint32_t dtype)
{
    if (mpz_sgn(numerator) == 0)
        return 0;
    const long difference = (long)mpz_sizeinbase(numerator, 2) - (long)mpz_sizeinbase(denominator, 2);
    const long shift = difference < 66 ? 66 - difference : 0; /* the quotient gets 66 bits or more */
    AUTO_MPZ(quotient, rest);
    AUTO_FMPZ(exponent);
    mpz_abs(quotient, numerator);
    mpz_mul_2exp(quotient, quotient, (mp_bitcnt_t)shift);
    mpz_tdiv_qr(quotient, rest, quotient, denominator);
    fmpz_set_si(exponent, power - shift);
    const uint64_t stored = round_integer(dtype, mpz_sgn(numerator) < 0, quotient, exponent, mpz_sgn(rest) != 0);
    return stored;
}

uint64_t ref_round_rational(const mpq_t t, uint32_t dtype)
{
    return ref_round_quotient(mpq_numref(t), mpq_denref(t), 0, dtype);
}

/* ---- ulps -------------------------------------------------------------------------------------------------- */

/* What ref_ulp_interval() works with; all numbers exact but for END_BITS. */
typedef struct ulp_span {
    attest_format f;
    arf_t lo, hi;             /* ends of t */
    arf_t near, far;          /* least and greatest |t| */
    fmpz_t ulp_near, ulp_far; /* ulp(near) = 2^ulp_near, ulp(far) = 2^ulp_far */
} ulp_span;

static void ulp_exponent(fmpz_t exponent, const arf_t magnitude, attest_format f)
{
    if (arf_is_zero(magnitude)) {
        fmpz_set_si(exponent, f.emin);
    } else {
        arf_abs_bound_lt_2exp_fmpz(exponent, magnitude); /* floor(log2) + 1 */
        fmpz_sub_ui(exponent, exponent, 1);
        if (fmpz_cmp_si(exponent, f.emin) < 0)
            fmpz_set_si(exponent, f.emin);
    }
    fmpz_sub_si(exponent, exponent, f.p - 1);
}

static void span_init(ulp_span *s, const arb_t t, uint32_t dtype)
{
    s->f = attest_format_of(dtype);
    arf_init(s->lo);
    arf_init(s->hi);
    arf_init(s->near);
    arf_init(s->far);
    fmpz_init(s->ulp_near);
    fmpz_init(s->ulp_far);
    ball_ends(s->lo, s->hi, t);
    const int wide_below = arf_cmpabs(s->lo, s->hi) < 0;
    arf_abs(s->far, wide_below ? s->hi : s->lo);
    if (arf_sgn(s->lo) * arf_sgn(s->hi) > 0)
        arf_abs(s->near, wide_below ? s->lo : s->hi);
    ulp_exponent(s->ulp_near, s->near, s->f);
    ulp_exponent(s->ulp_far, s->far, s->f);
}

static void span_clear(ulp_span *s)
{
    fmpz_clear(s->ulp_far);
    fmpz_clear(s->ulp_near);
    arf_clear(s->far);
    arf_clear(s->near);
    arf_clear(s->hi);
    arf_clear(s->lo);
}

/* |got - t| / ulp(t) over the span: least distance by the largest ulp, greatest distance by the least. */
static void span_distance(double *lo, double *hi, const ulp_span *s, const arf_t got)
{
    AUTO_ARF(least, greatest, other);
    AUTO_FMPZ(shift);
    arf_sub(least, got, s->hi, 128, ARF_RND_FLOOR); /* each rounded once, outward */
    arf_sub(other, s->lo, got, 128, ARF_RND_FLOOR);
    arf_max(least, least, other);
    if (arf_sgn(least) < 0)
        arf_zero(least);
    arf_sub(greatest, got, s->lo, 128, ARF_RND_CEIL);
    arf_sub(other, s->hi, got, 128, ARF_RND_CEIL);
    arf_max(greatest, greatest, other);
    fmpz_neg(shift, s->ulp_far);
    arf_mul_2exp_fmpz(least, least, shift); /* exact */
    fmpz_neg(shift, s->ulp_near);
    arf_mul_2exp_fmpz(greatest, greatest, shift);
    *lo = directed_double(least, 0);
    *hi = directed_double(greatest, 1);
}

/* An infinity where t is finite: right from (2-2^-p) 2^emax on, 2^(emax+1) below that. */
static void span_infinity(double *lo, double *hi, const ulp_span *s, int negative)
{
    AUTO_ARF(threshold, stand_in);
    arf_set_ui(threshold, (1ul << (s->f.p + 1)) - 1u);
    arf_mul_2exp_si(threshold, threshold, s->f.emax - s->f.p);
    arf_set_si_2exp_si(stand_in, negative ? -1 : 1, s->f.emax + 1);
    const int all_beyond = arf_cmp(s->near, threshold) >= 0; /* then t has one sign */
    const arf_struct *outermost = negative ? s->lo : s->hi;
    const arf_struct *opposite = negative ? s->hi : s->lo;
    const int sign = negative ? -1 : 1;
    const int right = arf_sgn(outermost) == sign && arf_cmpabs(outermost, threshold) >= 0;
    const int wrong = arf_sgn(opposite) == -sign && arf_cmpabs(opposite, threshold) >= 0;
    if (all_beyond) {
        *lo = *hi = right ? 0.0 : INFINITY;
    } else {
        span_distance(lo, hi, s, stand_in);
        if (right)
            *lo = 0.0;
        if (wrong)
            *hi = INFINITY;
    }
}

/* t that is no finite ball: an exact infinity is only itself, anything else may be anything. */
static void infinite_truth(double *lo, double *hi, const arb_t t, double got)
{
    if (mag_is_zero(arb_radref(t)) && arf_is_inf(arb_midref(t))) {
        const int same = isinf(got) && (got < 0) == (arf_sgn(arb_midref(t)) < 0);
        *lo = *hi = same ? 0.0 : INFINITY;
    } else {
        *lo = 0.0;
        *hi = INFINITY;
    }
}

void ref_ulp_interval(double *lo, double *hi, const arb_t t, uint64_t got, uint32_t dtype, int ftz)
{
    const double value = attest_to_f64(dtype, got);
    *lo = *hi = INFINITY;
    if (isnan(value))
        return;
    if (!arb_is_finite(t)) {
        infinite_truth(lo, hi, t, value);
        return;
    }
    ulp_span s;
    span_init(&s, t, dtype);
    if (isinf(value)) {
        span_infinity(lo, hi, &s, value < 0);
    } else {
        arf_t x;
        arf_init(x);
        arf_set_d(x, value);
        span_distance(lo, hi, &s, x);
        arf_clear(x);
        if (ftz && value == 0 && arf_cmpabs_2exp_si(s.near, s.f.emin) < 0)
            *lo = 0.0;
        if (ftz && value == 0 && arf_cmpabs_2exp_si(s.far, s.f.emin) < 0)
            *hi = 0.0;
    }
    span_clear(&s);
}
