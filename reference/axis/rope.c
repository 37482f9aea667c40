/* rope.c - one token: stored values, turned by rope, mapped by the feature (R-ROTATE, R-ROTATE-BALL).
 *
 * rope: (x_c, x_{c+d/2}) turned by the angle pos BASE^(-2c/d).
 */
#include "reference/axis/rows.h"

static const axis_entry ropes[] = {
    [ATTEST_ROPE_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_ROPE_BASE] = { AXIS_BALL, "R-ROTATE" },
};

axis_entry axis_rope_entry(uint32_t value) { return AXIS_ENTRY(ropes, value); }

int axis_turns(const attest_problem *p) { return p->axis[ATTEST_AXIS_ROPE].value != ATTEST_ROPE_NONE; }

/* Decodes `d` stored values exactly; returns 0 if one is not finite. */
static int decode(arb_ptr x, int64_t d, const attest_tensor *t, int64_t offset, int64_t step)
{
    int finite = 1;
    for (int64_t c = 0; c < d; c++) {
        arb_set_d(x + c, attest_load(t, offset + c * step));
        finite &= arb_is_finite(x + c) != 0;
    }
    return finite;
}

/* ratio = BASE^(-2/d): the frequencies are its powers. */
static void frequency_ratio(arb_t ratio, const attest_problem *p, slong prec)
{
    AUTO_FMPQ(exponent);
    fmpq_set_si(exponent, -2, (ulong)p->d);
    arb_set_d(ratio, p->axis[ATTEST_AXIS_ROPE].number);
    arb_pow_fmpq(ratio, ratio, exponent, prec);
}

/* (x, y) -> (x cos - y sin, x sin + y cos) */
static void turn_pair(arb_t x, arb_t y, const arb_t angle, slong prec)
{
    AUTO_ARB(sine, cosine, old);
    arb_sin_cos(sine, cosine, angle, prec);
    arb_swap(old, x);
    arb_mul(x, old, cosine, prec);
    arb_submul(x, y, sine, prec);
    arb_mul(y, y, cosine, prec);
    arb_addmul(y, old, sine, prec);
}

/* The angle's absolute error counts: 64 bits more than the row for positions and frequencies above 1. */
static void rope(arb_ptr x, const attest_problem *p, int64_t position, slong prec)
{
    const int64_t half = p->d / 2;
    AUTO_ARB(ratio, angle);
    frequency_ratio(ratio, p, prec + 64);
    arb_set_si(angle, (slong)position);
    for (int64_t c = 0; c < half; c++) {
        turn_pair(x + c, x + c + half, angle, prec);
        arb_mul(angle, angle, ratio, prec + 64);
    }
}

/* y = phi or its inner function of the stored vector. */
static int map_token(arb_ptr y, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step,
                     int64_t position, int inner, slong prec)
{
    const attest_problem *p = in->p;
    const axis_feature *f = axis_feature_of(p);
    const int finite = decode(y, p->d, t, offset, step);
    if (axis_turns(p))
        rope(y, p, position, prec);
    (inner ? f->inner : f->ball)(y, y, p, position, prec); /* features may work in place */
    return finite;
}

int axis_phi(arb_ptr y, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step, int64_t position,
             slong prec)
{
    return map_token(y, in, t, offset, step, position, 0, prec);
}

int axis_phi_inner(arb_ptr y, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step,
                   int64_t position, slong prec)
{
    return map_token(y, in, t, offset, step, position, 1, prec);
}

int axis_phi_stored(const attest_problem *p) { return axis_feature_of(p)->stored && !axis_turns(p); }

int64_t axis_pairs(const attest_problem *p) { return axis_turns(p) ? p->d / 2 : axis_feature_of(p)->images ? p->d : 0; }

void axis_pair_sums(mag_ptr sum, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step)
{
    const int64_t pairs = axis_pairs(in->p);
    AUTO_MAG(x);
    for (int64_t c = 0; c < pairs; c++)
        mag_zero(sum + c);
    for (int64_t c = 0; pairs && c < in->p->d; c++) {
        const double value = attest_load(t, offset + c * step);
        if (pairs == in->p->d && value < 0) /* cosformer alone: relu comes before the angle */
            continue;
        mag_set_d(x, value);
        mag_add(sum + c % pairs, sum + c % pairs, x);
    }
}

/* ---- error ------------------------------------------------------------------------------------------------------- */
/* R-ROTATE: the angle pos BASE^(-2c/d) from a power, or from a logarithm and an exponential; that of pair 0 is pos.
 * |pos| (f g + sup f x L g), f the largest frequency, x >= 2/d the power's exponent, L = |ln BASE|, g = gamma_12. */
void axis_angle_error(mag_t slope, const attest_problem *p, const mag_t u)
{
    const double base = p->axis[ATTEST_AXIS_ROPE].number;
    AUTO_ARB(size, log, x);
    AUTO_MAG(g, y);
    bound_gamma(g, 12, u);
    arb_set_d(x, base);
    arb_log(log, x, 64);
    arb_mul_si(x, log, base >= 1 ? -2 : -(slong)p->d, 64);
    arb_div_si(x, x, (slong)p->d, 64); /* of the largest frequency: c = 1, or c < d/2 */
    arb_exp(size, x, 64);
    arb_abs(x, x);
    if (base >= 1 && mag_cmp_2exp_si(arb_radref(x), -30) < 0 && arf_cmp_si(arb_midref(x), 1) < 0)
        arb_set_d(x, 0.375); /* f x L = y e^-y <= 1/e where y >= 1 is not sure at c = 1 */
    else
        arb_mul(x, x, size, 64);
    arb_add(x, x, size, 64);
    arb_get_mag(y, x);
    mag_mul(y, y, g);
    arb_get_mag(slope, log);
    mag_mul(g, g, slope);
    mag_set_d(slope, 1.03125); /* e^(L g) <= 1.03 */
    mag_mul(slope, slope, y);
    if (mag_cmp_2exp_si(g, -6) > 0)
        mag_inf(slope);
}
