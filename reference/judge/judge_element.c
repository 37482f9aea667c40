/* judge_element.c - error, ulps and ratio of one element, rounded outward (R-JUDGE). */
#include "reference/judge/judge.h"

#include <math.h>
#include <string.h>

/* The stored value as a ball; an infinity stands for 2^(emax+1) (derivations.md, section 0). */
static void stand_in(arb_t x, double got, uint32_t dtype)
{
    if (isinf(got)) {
        arb_one(x);
        arb_mul_2exp_si(x, x, attest_format_of(dtype).emax + 1);
        if (got < 0)
            arb_neg(x, x);
    } else {
        arb_set_d(x, got);
    }
}

/* Does t round to the infinity `got` has the sign of?  1 yes, 0 no, -1 open; *finite: t surely rounds to a
 * finite value. */
static int infinity_is_right(const arb_t t, double got, uint32_t dtype, int *finite)
{
    const attest_format f = attest_format_of(dtype);
    AUTO_ARB(limit, size, last);
    int right = -1;
    arb_one(limit);
    arb_mul_2exp_si(limit, limit, f.emax + 1);
    arb_one(last);
    arb_mul_2exp_si(last, last, f.emax - f.p);
    arb_sub(limit, limit, last, ARF_PREC_EXACT); /* (2 - 2^-p) 2^emax */
    arb_abs(size, t);
    *finite = arb_lt(size, limit);
    if (*finite)
        right = 0;
    else if (arb_ge(size, limit))
        right = got < 0 ? arb_is_negative(t) : arb_is_positive(t);
    return right;
}

static double bound_lower(const arb_t x, int absolute)
{
    double d;
    if (absolute) {
        arb_t y;
        arb_init(y);
        arb_get_abs_lbound_arf(arb_midref(y), x, 64);
        d = ref_lower(y);
        arb_clear(y);
    } else {
        d = ref_lower(x);
    }
    return d;
}

static double abs_upper(const arb_t x)
{
    AUTO_ARB(y);
    arb_get_abs_ubound_arf(arb_midref(y), x, 64);
    const double d = ref_upper(y);
    return d;
}

/* error/bound with 0/0 = 0; `up` chooses the side. */
static double quotient(double error, double bound, int up)
{
    if (error == 0)
        return 0;
    if (isinf(error) || !(bound > 0))
        return INFINITY;
    if (isinf(bound))
        return 0;
    AUTO_ARB(x, y);
    arb_set_d(x, error);
    arb_set_d(y, bound);
    arb_div(x, x, y, 64);
    const double q = up ? ref_upper(x) : ref_lower(x);
    return q > 0 ? q : 0;
}

static void set_errors(attest_element *element, const arb_t truth, double value, uint32_t dtype)
{
    AUTO_ARB(x);
    int finite = 1, right = 0;
    if (isnan(value)) {
        element->error_lo = element->error_hi = INFINITY;
        element->signed_lo = -INFINITY;
        element->signed_hi = INFINITY;
        return;
    }
    if (isinf(value))
        right = infinity_is_right(truth, value, dtype, &finite);
    if (isinf(value) && right == 1) /* error 0: nothing nearer can be stored */
        return;
    stand_in(x, value, dtype);
    arb_sub(x, x, truth, 4096); /* beyond the truth's own bits: the rounding joins the radius */
    element->error_lo = bound_lower(x, 1);
    element->error_hi = abs_upper(x);
    element->signed_lo = ref_lower(x);
    element->signed_hi = ref_upper(x);
    if (isinf(value)) {
        if (right == -1)
            element->error_lo = 0;
        else if (!finite) /* the wrong sign where the truth rounds to infinity */
            element->error_lo = element->error_hi = INFINITY;
        if (right == 0 && finite)
            element->class = ATTEST_CLASS_PREMATURE_OVERFLOW;
    }
}

void judge_element(attest_element *element, const arb_t truth, const ref_bound *bound, const mag_t abs_scale,
                   uint64_t got, uint32_t dtype, int ftz)
{
    AUTO_MAG(radius);
    memset(element, 0, sizeof *element);
    element->class = ATTEST_CLASS_NORMAL;
    element->probable = NAN;
    element->got = got;
    element->truth_lo = ref_lower(truth);
    element->truth_hi = ref_upper(truth);
    set_errors(element, truth, attest_to_f64(dtype, got), dtype);
    ref_ulp_interval(&element->ulp_lo, &element->ulp_hi, truth, got, dtype, ftz);
    element->abs_scale = ref_mag_upper(abs_scale);
    if (bound->unbounded) {
        element->class = ATTEST_CLASS_UNBOUNDED;
        element->bound = INFINITY;
        element->decided = 1;
        return;
    }
    element->bound = ref_mag_upper(bound->total);
    if (bound->likely)
        element->probable = ref_mag_upper(bound->probable);
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        element->term[t] = ref_mag_upper(bound->term[t]);
    element->ratio_lo = quotient(element->error_lo, element->bound, 0);
    element->ratio_hi = quotient(element->error_hi, element->bound, 1);
    mag_mul_2exp_si(radius, arb_radref(truth), 10);
    element->decided = mag_cmp(radius, bound->total) <= 0 && (element->ratio_hi <= 1 || element->ratio_lo > 1);
    if (element->error_lo == (double)INFINITY) /* a NaN or a wrong infinity stays one */
        element->decided = 1;
}

void judge_without_truth(attest_element *element, uint32_t class, uint64_t got)
{
    memset(element, 0, sizeof *element);
    element->class = class;
    element->probable = NAN;
    element->got = got;
    element->decided = 1;
    element->truth_lo = element->truth_hi = NAN;
}

void judge_nan_pattern(attest_element *element, int must_be_nan, uint64_t got, uint32_t dtype)
{
    judge_without_truth(element, ATTEST_CLASS_NO_TRUTH, got);
    const int is_nan = isnan(attest_to_f64(dtype, got));
    element->ratio_lo = element->ratio_hi = !must_be_nan ? NAN : is_nan ? 0 : INFINITY;
}

void judge_exactly(attest_element *element, double want, uint64_t got, uint32_t dtype, int nan_allowed)
{
    const double value = attest_to_f64(dtype, got);
    memset(element, 0, sizeof *element);
    element->class = ATTEST_CLASS_EMPTY;
    element->probable = NAN;
    element->got = got;
    element->decided = 1;
    element->truth_lo = element->truth_hi = want;
    if (value == want || (isnan(value) && nan_allowed))
        return;
    AUTO_ARB(truth);
    arb_set_d(truth, want);
    ref_ulp_interval(&element->ulp_lo, &element->ulp_hi, truth, got, dtype, 0);
    if (isfinite(want)) {
        set_errors(element, truth, value, dtype);
        element->class = ATTEST_CLASS_EMPTY;
    } else {
        element->error_lo = element->error_hi = INFINITY;
        element->signed_lo = isnan(value) || value < want ? -INFINITY : INFINITY;
        element->signed_hi = isnan(value) || value > want ? INFINITY : -INFINITY;
    }
    element->ratio_lo = element->ratio_hi = INFINITY;
}
