/* dropout.c - weights that keep leaves out of u; those that stay are multiplied by 1/(1-R) (R-DROPOUT). */
#include "reference/axis/rows.h"

#include "kernels/attest_float.h"

static const axis_entry rates[] = {
    [ATTEST_DROPOUT_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_DROPOUT_R] = { AXIS_BALL | AXIS_EXACT, "R-DROPOUT" },
};

axis_entry axis_dropout_entry(uint32_t value) { return AXIS_ENTRY(rates, value); }

int axis_keeps(const ref_inputs *in, attest_row at, int64_t j)
{
    return attest_keeps(in->role[ATTEST_KEEP], at.b, at.h, at.i, j);
}

static double rate_of(const attest_problem *p) { return p->axis[ATTEST_AXIS_DROPOUT].number; /* 0 without */ }

void axis_dropout_ball(arb_t c, const attest_problem *p, slong prec)
{
    arb_set_d(c, rate_of(p));
    arb_neg(c, c);
    arb_add_ui(c, c, 1, prec);
    arb_inv(c, c, prec);
}

void axis_dropout_exact(mpq_t c, const attest_problem *p)
{
    AUTO_MPQ(rate);
    mpq_set_d(rate, rate_of(p)); /* exact */
    mpq_set_ui(c, 1, 1);
    mpq_sub(c, c, rate);
    mpq_inv(c, c);
}

void axis_dropout_size(mag_t c, const attest_problem *p)
{
    AUTO_ARB(x);
    axis_dropout_ball(x, p, 64);
    arb_get_mag(c, x);
}

void axis_dropout_error(mag_t theta, const attest_problem *p, const mag_t u, const mag_t u_div)
{
    const double rate = rate_of(p);
    AUTO_MAG(x);
    mag_zero(theta);
    if (!attest_drops(p))
        return;
    axis_dropout_size(x, p);
    mag_mul(x, x, u);
    mag_set_d(theta, rate);
    mag_mul(x, x, theta); /* u R/(1-R) */
    if (attest_to_f64(p->acc, attest_from_f64(p->acc, rate)) == rate)
        mag_zero(x);
    bound_gamma(theta, 1, x);
    bound_gamma(x, 3, u); /* 1-R, its reciprocal where that is one rounding, the product */
    bound_compose(theta, theta, x);
    bound_gamma(x, 1, u_div);
    bound_compose(theta, theta, x);
}
