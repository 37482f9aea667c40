/* bound_rate.c - the error of efla's rate (R-DELTA). */
#include "reference/bound/bound.h"

/* b r and expm1 lose tiny each, an undeclared 1 - e^-x roundings of 1, and the quotient divides it by the
 * kernel's r, at least half of (|k| - |k^ - k|)^2 - 4 dim 2^emin; infinite where that may vanish.  A key of zeros has
 * b' = b and writes nothing. */
static void lose_in_rate(mag_t shift, const bound_model *m, const mag_t size, const mag_t key, const mag_t wrong)
{
    AUTO_MAG(least, x, unit);
    if (mag_is_zero(size))
        return;
    mag_mul_2exp_si(x, wrong, 1);
    mag_sub_lower(least, key, x); /* key is |k| + |k^ - k| */
    mag_mul_lower(least, least, least);
    mag_mul_ui(x, m->normal, 4 * (ulong)attest_feature_dim(m->p));
    mag_sub_lower(least, least, x);
    mag_mul_2exp_si(least, least, -1);
    mag_mul_2exp_si(x, m->tiny, 3);
    if (!(m->numerics->expm1_error > 0)) { /* e^-x, taken off 1 */
        mag_mul_ui(unit, m->u, 4);
        mag_add(unit, unit, m->u_exp);
        mag_add(x, x, unit);
    }
    mag_div(x, x, least);
    mag_add(shift, shift, x);
}

/* b' = (1-e^(-b r))/r, r = |k|^2.  Both arguments' relative errors pass with a factor of at most 1 where b >= 0,
 * 1 + 2|b r| else; expm1 errs by 4 ulp; an absolute error of r moves b' by at most b^2/2 (e^|b r| where b < 0). */
void bound_efla_rate(mag_t theta, mag_t shift, const bound_model *m, double rate, const mag_t size, const mag_t key,
                     const mag_t wrong)
{
    AUTO_MAG(x, b, g);
    mag_zero(theta);
    mag_zero(shift);
    if (m->p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_EFLA)
        return;
    mag_set_d(b, rate);
    bound_gamma(g, attest_feature_dim(m->p) + 4, m->u);
    mag_zero(x);
    if (rate < 0) {
        mag_mul(x, key, key);
        mag_mul(x, x, b);
        mag_mul_2exp_si(x, x, 1);
    }
    mag_add_ui(x, x, 3);
    mag_mul(x, x, g);
    mag_expm1(theta, x);
    if (m->numerics->expm1_error > 0) {
        mag_set_d(x, m->numerics->expm1_error);
        bound_compose(theta, theta, x);
        bound_gamma(g, 1, m->u);
    } else {
        bound_gamma(g, 10, m->u);
    }
    bound_compose(theta, theta, g);
    bound_compose(theta, theta, m->u_div);
    mag_mul(x, key, wrong); /* r^ - r <= 2 |k^| |k^ - k|, and what its squares lose */
    mag_mul_2exp_si(x, x, 1);
    mag_mul_ui(g, m->normal, 2 * (ulong)attest_feature_dim(m->p));
    mag_add(x, x, g);
    mag_mul(x, x, b);
    mag_mul(shift, x, b);
    lose_in_rate(shift, m, size, key, wrong);
    if (rate < 0) {
        mag_mul(x, key, key);
        mag_mul(x, x, b);
        mag_exp(x, x);
        mag_mul(shift, shift, x);
    }
}
