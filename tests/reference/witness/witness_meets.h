/* witness_meets.h - does the witness's interval v +- e meet what another engine says? */
#ifndef ATTEST_WITNESS_MEETS_H
#define ATTEST_WITNESS_MEETS_H

#include "reference/witness/witness.h"

enum { BITS = 512 };

static inline int meets_ball(mpfr_srcptr v, mpfr_srcptr e, const arb_t ball)
{
    arb_t x;
    arf_t radius;
    arb_init(x);
    arf_init(radius);
    arf_set_mpfr(arb_midref(x), v);
    arf_set_mpfr(radius, e);
    arb_add_error_arf(x, radius);
    const int meets = arb_overlaps(x, ball);
    arb_clear(x);
    arf_clear(radius);
    return meets;
}

static inline int meets_rational(mpfr_srcptr v, mpfr_srcptr e, const mpq_t q)
{
    mpfr_t t;
    mpfr_init2(t, 2 * BITS);
    mpfr_sub_q(t, v, q, MPFR_RNDZ);
    const int meets = mpfr_number_p(t) && mpfr_cmpabs(t, e) <= 0;
    mpfr_clear(t);
    return meets;
}

static inline int meets_decimal(mpfr_srcptr v, mpfr_srcptr e, const char *mid, const char *rad)
{
    mpfr_t m, r;
    mpfr_inits2(2 * BITS, m, r, (mpfr_ptr)0);
    int meets = mpfr_set_str(m, mid, 10, MPFR_RNDN) == 0 && mpfr_set_str(r, rad, 10, MPFR_RNDU) == 0;
    mpfr_add(r, r, e, MPFR_RNDU);
    mpfr_nextabove(r); /* the decimal mid is not a binary number: 2^-1024 of it is allowed for reading it */
    mpfr_sub(m, m, v, MPFR_RNDZ);
    meets = meets && (mpfr_cmpabs(m, r) <= 0 || mpfr_get_exp(m) < mpfr_get_exp(v) - 2 * BITS + 4);
    mpfr_clears(m, r, (mpfr_ptr)0);
    return meets;
}

static inline int meets_number(mpfr_srcptr v, mpfr_srcptr e, mpfr_srcptr v2, mpfr_srcptr e2)
{
    mpfr_t t, r;
    mpfr_inits2(2 * BITS, t, r, (mpfr_ptr)0);
    mpfr_sub(t, v, v2, MPFR_RNDZ);
    mpfr_add(r, e, e2, MPFR_RNDU);
    const int meets = mpfr_cmpabs(t, r) <= 0;
    mpfr_clears(t, r, (mpfr_ptr)0);
    return meets;
}

/* error <= 2^-k abs_scale, or 2^-400: where the truth is 0 by the cancellation of irrational numbers (two unit vectors
 * at right angles) the abs_scale is no more than the error of finding that 0, and shrinks with the precision. */
static inline int below_abs_scale(mpfr_srcptr error, const mag_t abs_scale, slong k)
{
    arf_t e, g;
    arf_init(e);
    arf_init(g);
    arf_set_mpfr(e, error);
    arf_set_mag(g, abs_scale);
    arf_mul_2exp_si(g, g, -k);
    const int below = arf_cmp(e, g) <= 0 || arf_cmpabs_2exp_si(e, -400) <= 0;
    arf_clear(e);
    arf_clear(g);
    return below;
}

static inline int rad_below_abs_scale(const char *rad, const mag_t abs_scale, slong k)
{
    mpfr_t r;
    mpfr_init2(r, BITS);
    const int below = mpfr_set_str(r, rad, 10, MPFR_RNDD) == 0 && below_abs_scale(r, abs_scale, k);
    mpfr_clear(r);
    return below;
}

#endif
