/* ball_token.c - one token in balls: stored values, turned by rope, mapped by the feature (R-ROTATE-BALL).
 *
 * rope: (x_c, x_{c+d/2}) turned by the angle pos BASE^(-2c/d).
 * cosformer: relu(x_c) cos(pi pos/(2 max(N,M))) and, d entries later, relu(x_c) sin(the same).
 */
#include "reference/ball/ball.h"

static double rope_base(const attest_problem *p)
{
    const attest_setting *rope = &p->axis[ATTEST_AXIS_ROPE];
    return rope->value == ATTEST_ROPE_BASE ? rope->number : 0.0;
}

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
    fmpq_t exponent;
    fmpq_init(exponent);
    fmpq_set_si(exponent, -2, (ulong)p->d);
    arb_set_d(ratio, rope_base(p));
    arb_pow_fmpq(ratio, ratio, exponent, prec);
    fmpq_clear(exponent);
}

/* (x, y) -> (x cos - y sin, x sin + y cos) */
static void turn_pair(arb_t x, arb_t y, const arb_t angle, slong prec)
{
    arb_t sine, cosine, old;
    arb_init(sine);
    arb_init(cosine);
    arb_init(old);
    arb_sin_cos(sine, cosine, angle, prec);
    arb_swap(old, x);
    arb_mul(x, old, cosine, prec);
    arb_submul(x, y, sine, prec);
    arb_mul(y, y, cosine, prec);
    arb_addmul(y, old, sine, prec);
    arb_clear(old);
    arb_clear(cosine);
    arb_clear(sine);
}

/* The angle's absolute error counts: 64 bits more than the row for positions and frequencies above 1. */
static void rope(arb_ptr x, const attest_problem *p, int64_t position, slong prec)
{
    const int64_t half = p->d / 2;
    arb_t ratio, angle;
    arb_init(ratio);
    arb_init(angle);
    frequency_ratio(ratio, p, prec + 64);
    arb_set_si(angle, (slong)position);
    for (int64_t c = 0; c < half; c++) {
        turn_pair(x + c, x + c + half, angle, prec);
        arb_mul(angle, angle, ratio, prec + 64);
    }
    arb_clear(angle);
    arb_clear(ratio);
}

void ref_ball_cosformer(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    arb_t sine, cosine;
    fmpq_t turn; /* the angle over pi */
    arb_init(sine);
    arb_init(cosine);
    fmpq_init(turn);
    fmpq_set_si(turn, (slong)position, 2 * (ulong)(p->n > p->m ? p->n : p->m));
    arb_sin_cos_pi_fmpq(sine, cosine, turn, prec);
    for (int64_t c = 0; c < p->d; c++) {
        if (arb_is_finite(x + c))
            arb_nonnegative_part(y + c, x + c);
        else
            arb_indeterminate(y + c);
        arb_mul(y + p->d + c, y + c, sine, prec);
        arb_mul(y + c, y + c, cosine, prec);
    }
    fmpq_clear(turn);
    arb_clear(cosine);
    arb_clear(sine);
}

int ref_ball_phi(arb_ptr y, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step,
                 int64_t position, slong prec)
{
    const attest_problem *p = in->p;
    const int finite = decode(y, p->d, t, offset, step);
    if (rope_base(p) > 0)
        rope(y, p, position, prec);
    ref_ball_feature_of(p)->apply(y, y, p, position, prec); /* features may work in place */
    return finite;
}

int ref_ball_phi_exact(const attest_problem *p) { return ref_ball_feature_of(p)->exact && !(rope_base(p) > 0); }

int64_t ref_ball_pairs(const attest_problem *p)
{
    if (rope_base(p) > 0)
        return p->d / 2;
    return attest_axis_value_of(p, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_COSFORMER ? p->d : 0;
}

void ref_ball_pair_sums(mag_ptr sum, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step)
{
    const int64_t pairs = ref_ball_pairs(in->p);
    mag_t x;
    mag_init(x);
    for (int64_t c = 0; c < pairs; c++)
        mag_zero(sum + c);
    for (int64_t c = 0; pairs && c < in->p->d; c++) {
        const double value = attest_load(t, offset + c * step);
        if (pairs == in->p->d && value < 0) /* cosformer alone: relu comes before the angle */
            continue;
        mag_set_d(x, value);
        mag_add(sum + c % pairs, sum + c % pairs, x);
    }
    mag_clear(x);
}
