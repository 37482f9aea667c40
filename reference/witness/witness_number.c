/* witness_number.c - numbers with a running error bound, in plain MPFR.
 *
 * Capital letters are the real numbers, small ones what is stored: |X - x| <= ex, |Y - y| <= ey.  The stored
 * result r is one MPFR operation on x and y rounded to nearest, wrong by at most
 *     rho = 0 if MPFR reports the result exact, else half an ulp, 2^(exponent(r) - bits - 1), and 2^emin if it
 *     underflowed (to 0 or to the least positive number).
 * The error bound of the result is rho plus what the operands' errors do (R-WITNESS):
 *   add, sub  |(X+-Y) - (x+-y)| <= ex + ey
 *   mul       XY - xy = x(Y-y) + y(X-x) + (X-x)(Y-y):             <= |x| ey + |y| ex + ex ey
 *   div       X/Y - x/y = ((X-x) y - x (Y-y)) / (Y y), |Y| >= |y|-ey > 0:
 *                                                                 <= (ex |y| + |x| ey) / (|y| (|y|-ey))
 *   exp       |e^X - e^x| = e^x |e^(X-x) - 1|                     <= (|r| + rho)(e^ex - 1)
 *   log       mean value theorem, the derivative is at most 1/(x-ex) on the interval, x > ex:
 *                                                                 <= ex / (x-ex)
 *   expm1     the same difference:                                <= (|r + 1| + rho)(e^ex - 1)
 *   pow       b exact, > 0: |b^X - b^x| = b^x |e^((X-x) ln b) - 1| <= (|r| + rho)(e^(ex |ln b|) - 1)
 *   tanh, cos, sin  mean value theorem, derivatives between -1 and 1: <= ex
 *   sqrt      |sqrt X - sqrt x| = |X-x| / (sqrt X + sqrt x), X > 0: <= ex / sqrt x
 *   max, min  |max(X,Y) - max(x,y)| <= max(ex, ey), and so for min
 * All of these are evaluated at 64 bits, upward (differences in a divisor downward).
 */
#include "reference/witness/witness.h"

#include <stdlib.h>

void wit_init(wit *x, mpfr_prec_t bits)
{
    mpfr_init2(x->v, bits);
    mpfr_init2(x->e, WIT_ERROR_BITS);
    mpfr_set_zero(x->v, 1);
    mpfr_set_zero(x->e, 1);
}

void wit_clear(wit *x)
{
    mpfr_clear(x->v);
    mpfr_clear(x->e);
}

wit *wit_array(int64_t count, mpfr_prec_t bits, attest_error *err)
{
    const int fits = count >= 0 && (uint64_t)count <= SIZE_MAX / sizeof(wit);
    wit *x = fits ? malloc((size_t)(count ? count : 1) * sizeof *x) : NULL;
    if (!x)
        attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld numbers of the witness", (long long)count);
    for (int64_t n = 0; x && n < count; n++)
        wit_init(&x[n], bits);
    return x;
}

void wit_array_free(wit *x, int64_t count)
{
    for (int64_t n = 0; x && n < count; n++)
        wit_clear(&x[n]);
    free(x);
}

void wit_set_unknown(wit *r)
{
    mpfr_set_nan(r->v);
    mpfr_set_inf(r->e, 1);
}

/* r->e = propagated + rho; then NaN +- inf if the result is not a number with a finite error. */
static void finish(wit *r, mpfr_t propagated, int inexact)
{
    MPFR_DECL_INIT(rho, WIT_ERROR_BITS);
    mpfr_set_zero(rho, 1);
    if (inexact && mpfr_regular_p(r->v) && mpfr_get_exp(r->v) > mpfr_get_emin())
        mpfr_set_ui_2exp(rho, 1, mpfr_get_exp(r->v) - mpfr_get_prec(r->v) - 1, MPFR_RNDU);
    else if (inexact)
        mpfr_set_ui_2exp(rho, 1, mpfr_get_emin(), MPFR_RNDU);
    mpfr_add(r->e, propagated, rho, MPFR_RNDU);
    if (!mpfr_number_p(r->v) || !mpfr_number_p(r->e))
        wit_set_unknown(r);
}

/* t = |a| * b, upward, b >= 0. */
static void upper_product(mpfr_t t, const mpfr_t a, const mpfr_t b)
{
    mpfr_mul(t, a, b, MPFR_RNDA);
    mpfr_abs(t, t, MPFR_RNDU);
}

void wit_set(wit *r, const wit *x)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_set(t, x->e, MPFR_RNDU);
    finish(r, t, mpfr_set(r->v, x->v, MPFR_RNDN));
}

void wit_set_double(wit *r, double x)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_set_zero(t, 1);
    finish(r, t, mpfr_set_d(r->v, x, MPFR_RNDN));
}

void wit_set_ui(wit *r, unsigned long x)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_set_zero(t, 1);
    finish(r, t, mpfr_set_ui(r->v, x, MPFR_RNDN));
}

void wit_set_pi(wit *r)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_set_zero(t, 1);
    finish(r, t, mpfr_const_pi(r->v, MPFR_RNDN));
}

void wit_add(wit *r, const wit *x, const wit *y)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_add(t, x->e, y->e, MPFR_RNDU);
    finish(r, t, mpfr_add(r->v, x->v, y->v, MPFR_RNDN));
}

void wit_sub(wit *r, const wit *x, const wit *y)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_add(t, x->e, y->e, MPFR_RNDU);
    finish(r, t, mpfr_sub(r->v, x->v, y->v, MPFR_RNDN));
}

void wit_mul(wit *r, const wit *x, const wit *y)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    MPFR_DECL_INIT(part, WIT_ERROR_BITS);
    upper_product(t, x->v, y->e);
    upper_product(part, y->v, x->e);
    mpfr_add(t, t, part, MPFR_RNDU);
    mpfr_mul(part, x->e, y->e, MPFR_RNDU);
    mpfr_add(t, t, part, MPFR_RNDU);
    finish(r, t, mpfr_mul(r->v, x->v, y->v, MPFR_RNDN));
}

void wit_div(wit *r, const wit *x, const wit *y)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    MPFR_DECL_INIT(part, WIT_ERROR_BITS);
    MPFR_DECL_INIT(size, WIT_ERROR_BITS);
    if (wit_may_be_zero(y)) {
        mpfr_set_inf(t, 1);
    } else {
        upper_product(t, y->v, x->e);
        upper_product(part, x->v, y->e);
        mpfr_add(t, t, part, MPFR_RNDU);
        mpfr_abs(size, y->v, MPFR_RNDD);
        mpfr_sub(part, size, y->e, MPFR_RNDD); /* may round to 0: then t becomes inf (or NaN), both "not known" */
        mpfr_mul(part, part, size, MPFR_RNDD);
        mpfr_div(t, t, part, MPFR_RNDU);
    }
    finish(r, t, mpfr_div(r->v, x->v, y->v, MPFR_RNDN));
}

/* On entry r->e = rho.  r->e = rho + (size + rho) growth, size an upper bound of the e^x that grows. */
static void finish_growth(wit *r, mpfr_t size, const mpfr_t growth)
{
    mpfr_add(size, size, r->e, MPFR_RNDU);
    mpfr_mul(size, size, growth, MPFR_RNDU);
    mpfr_add(size, size, r->e, MPFR_RNDU);
    finish(r, size, 0);
}

void wit_exp(wit *r, const wit *x)
{
    MPFR_DECL_INIT(growth, WIT_ERROR_BITS);
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_expm1(growth, x->e, MPFR_RNDU);
    mpfr_set_zero(t, 1);
    finish(r, t, mpfr_exp(r->v, x->v, MPFR_RNDN));
    mpfr_set(t, r->v, MPFR_RNDU);
    finish_growth(r, t, growth);
}

void wit_expm1(wit *r, const wit *x)
{
    MPFR_DECL_INIT(growth, WIT_ERROR_BITS);
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_expm1(growth, x->e, MPFR_RNDU);
    mpfr_set_zero(t, 1);
    finish(r, t, mpfr_expm1(r->v, x->v, MPFR_RNDN));
    mpfr_add_ui(t, r->v, 1, MPFR_RNDU);
    finish_growth(r, t, growth);
}

void wit_pow(wit *r, const wit *base, const wit *x)
{
    MPFR_DECL_INIT(growth, WIT_ERROR_BITS);
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    if (!wit_surely_positive(base) || !mpfr_zero_p(base->e)) {
        wit_set_unknown(r);
        return;
    }
    mpfr_log(growth, base->v, MPFR_RNDA);
    upper_product(growth, growth, x->e);
    mpfr_expm1(growth, growth, MPFR_RNDU);
    mpfr_set_zero(t, 1);
    finish(r, t, mpfr_pow(r->v, base->v, x->v, MPFR_RNDN));
    mpfr_set(t, r->v, MPFR_RNDU);
    finish_growth(r, t, growth);
}

void wit_log(wit *r, const wit *x)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    if (!wit_surely_positive(x)) {
        mpfr_set_inf(t, 1);
    } else {
        mpfr_sub(t, x->v, x->e, MPFR_RNDD);
        mpfr_div(t, x->e, t, MPFR_RNDU);
    }
    finish(r, t, mpfr_log(r->v, x->v, MPFR_RNDN));
}

void wit_tanh(wit *r, const wit *x)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_set(t, x->e, MPFR_RNDU);
    finish(r, t, mpfr_tanh(r->v, x->v, MPFR_RNDN));
}

void wit_cos(wit *r, const wit *x)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_set(t, x->e, MPFR_RNDU);
    finish(r, t, mpfr_cos(r->v, x->v, MPFR_RNDN));
}

void wit_sin(wit *r, const wit *x)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_set(t, x->e, MPFR_RNDU);
    finish(r, t, mpfr_sin(r->v, x->v, MPFR_RNDN));
}

void wit_sqrt(wit *r, const wit *x)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    if (!wit_surely_positive(x)) {
        mpfr_set_inf(t, 1);
    } else {
        mpfr_sqrt(t, x->v, MPFR_RNDD);
        mpfr_div(t, x->e, t, MPFR_RNDU);
    }
    finish(r, t, mpfr_sqrt(r->v, x->v, MPFR_RNDN));
}

void wit_max(wit *r, const wit *x, const wit *y)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_max(t, x->e, y->e, MPFR_RNDU);
    finish(r, t, mpfr_max(r->v, x->v, y->v, MPFR_RNDN));
}

void wit_min(wit *r, const wit *x, const wit *y)
{
    MPFR_DECL_INIT(t, WIT_ERROR_BITS);
    mpfr_max(t, x->e, y->e, MPFR_RNDU);
    finish(r, t, mpfr_min(r->v, x->v, y->v, MPFR_RNDN));
}

int wit_may_be_zero(const wit *x) { return !mpfr_number_p(x->v) || mpfr_cmpabs(x->v, x->e) <= 0; }

int wit_surely_positive(const wit *x) { return mpfr_number_p(x->v) && mpfr_cmp(x->v, x->e) > 0; }

int wit_surely_not_negative(const wit *x) { return mpfr_number_p(x->v) && mpfr_cmp(x->v, x->e) >= 0; }

int wit_is_zero(const wit *x) { return mpfr_zero_p(x->v) && mpfr_zero_p(x->e); }
