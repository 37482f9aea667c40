/* weight.c - W(x): exp, and the polynomials taylor:P, term:P, power:P (R-EXP, R-POLY). */
#include "reference/axis/rows.h"

static void ball_exp(arb_t w, const arb_t x, uint32_t order, slong prec)
{
    (void)order;
    arb_exp(w, x, prec);
}

/* T_P(x) by Horner: ((x/P + 1) x/(P-1) + 1) ... ; three roundings of 2^-prec a step, all inside the ball. */
static void ball_taylor(arb_t w, const arb_t x, uint32_t order, slong prec)
{
    AUTO_ARB(sum);
    arb_one(sum);
    for (uint32_t n = order; n > 0; n--) {
        arb_mul(sum, sum, x, prec);
        arb_div_ui(sum, sum, n, prec);
        arb_add_ui(sum, sum, 1, prec);
    }
    arb_swap(w, sum);
}

static void mass_taylor(mag_t y, const mag_t x, ulong order, int less)
{
    AUTO_MAG(term);
    const ulong top = less ? order - 1 : order; /* T_p' = T_{p-1} */
    if (less && order == 0) {
        mag_zero(y);
        return;
    }
    mag_one(term);
    mag_one(y);
    for (ulong k = 1; k <= top; k++) {
        mag_mul(term, term, x);
        mag_div_ui(term, term, k);
        mag_add(y, y, term);
    }
}

/* Horner: a product with x, one with the reciprocal, one addition a degree; the division or the reciprocal apart. */
static int64_t roundings_taylor(int64_t order, int unknown)
{
    (void)unknown;
    return 3 * order;
}

static int64_t divisions_taylor(int64_t order) { return order; }

static void lost_taylor(mag_t y, const mag_t x, ulong order) { mass_taylor(y, x, order, 0); }

static void ball_term(arb_t w, const arb_t x, uint32_t order, slong prec)
{
    AUTO_ARB(factorial);
    arb_fac_ui(factorial, order, 2 * prec + 512); /* 64! < 2^296: exact */
    arb_pow_ui(w, x, order, prec);
    arb_div(w, w, factorial, prec);
}

static void mass_term(mag_t y, const mag_t x, ulong order, int less)
{
    AUTO_MAG(inverse);
    if (less && order == 0) {
        mag_zero(y);
        return;
    }
    mag_pow_ui(y, x, less ? order - 1 : order);
    mag_rfac_ui(inverse, less ? order - 1 : order);
    mag_mul(y, y, inverse);
}

static int64_t roundings_term(int64_t order, int unknown) { return order < 2 ? 0 : 2 * order + 2 + (unknown ? 9 : 0); }

static int64_t divisions_term(int64_t order) { return order < 2 ? 0 : order; }

/* sum over l <= P of x^l (P-l)!/P!: lost in degree P-l, then multiplied by x/(P-l+1) ... x/P. */
static void lost_term(mag_t y, const mag_t x, ulong order)
{
    AUTO_MAG(term);
    mag_one(term);
    mag_one(y);
    for (ulong k = order; k > 0; k--) {
        mag_mul(term, term, x);
        mag_div_ui(term, term, k);
        mag_add(y, y, term);
    }
}

static void ball_power(arb_t w, const arb_t x, uint32_t order, slong prec)
{
    arb_pow_ui(w, x, order, prec); /* x^0 = 1, also at 0 */
}

static void mass_power(mag_t y, const mag_t x, ulong order, int less)
{
    if (less && order == 0) {
        mag_zero(y);
        return;
    }
    mag_pow_ui(y, x, less ? order - 1 : order);
    if (less)
        mag_mul_ui(y, y, order);
}

static int64_t roundings_power(int64_t order, int unknown) { return order < 2 ? 0 : 2 * order + (unknown ? 9 : 0); }

static int64_t divisions_power(int64_t order)
{
    (void)order;
    return 0;
}

static void lost_power(mag_t y, const mag_t x, ulong order)
{
    AUTO_MAG(term);
    mag_one(term);
    mag_one(y);
    for (ulong k = 0; k < order; k++) {
        mag_mul(term, term, x);
        mag_add(y, y, term);
    }
}

/* The exact engine goes by `series` and `factorial`. */
static const axis_weight weights[] = {
    [ATTEST_WEIGHT_EXP] = { .lemma = "R-EXP", .serves = AXIS_TIE | AXIS_DD | AXIS_YARD, .ball = ball_exp },
    [ATTEST_WEIGHT_TAYLOR] = { .lemma = "R-POLY",
                               .serves = AXIS_RATIONAL | AXIS_DD | AXIS_YARD,
                               .ball = ball_taylor,
                               .mass = mass_taylor,
                               .roundings = roundings_taylor,
                               .divisions = divisions_taylor,
                               .lost = lost_taylor,
                               .series = 1,
                               .factorial = 1 },
    [ATTEST_WEIGHT_TERM] = { .lemma = "R-POLY",
                             .serves = AXIS_RATIONAL | AXIS_DD,
                             .ball = ball_term,
                             .mass = mass_term,
                             .roundings = roundings_term,
                             .divisions = divisions_term,
                             .lost = lost_term,
                             .factorial = 1 },
    [ATTEST_WEIGHT_POWER] = { .lemma = "R-POLY",
                              .serves = AXIS_RATIONAL | AXIS_DD,
                              .ball = ball_power,
                              .mass = mass_power,
                              .roundings = roundings_power,
                              .divisions = divisions_power,
                              .lost = lost_power },
};

axis_entry axis_weight_entry(uint32_t value)
{
    if (value >= AXIS_ROWS(weights))
        return (axis_entry){ 0, NULL };
    const axis_weight *w = &weights[value];
    return (axis_entry){ w->serves | (w->ball ? AXIS_BALL : 0), w->lemma };
}

const axis_weight *axis_weight_of(const attest_problem *p) { return &weights[p->axis[ATTEST_AXIS_WEIGHT].value]; }

/* ---- coefficients of the states ---------------------------------------------------------------------------------- */
void axis_degree_ball(arb_t coefficient, const attest_problem *p, int n, slong prec)
{
    AUTO_ARB(factorial);
    arb_set_d(coefficient, p->scale);
    arb_pow_ui(coefficient, coefficient, (ulong)n, prec);
    if (axis_weight_of(p)->factorial) {
        arb_fac_ui(factorial, (ulong)n, 2 * prec + 512);
        arb_div(coefficient, coefficient, factorial, prec);
    }
}

void axis_degree_exact(mpq_t coefficient, const attest_problem *p, int n)
{
    mpz_t factorial;
    AUTO_MPQ(scale);
    mpz_init_set_ui(factorial, 1);
    mpq_set_d(scale, p->scale); /* exact */
    mpq_set_ui(coefficient, 1, 1);
    for (int k = 0; k < n; k++)
        mpq_mul(coefficient, coefficient, scale);
    if (axis_weight_of(p)->factorial)
        mpz_fac_ui(factorial, (unsigned long)n);
    mpq_set_z(scale, factorial);
    mpq_div(coefficient, coefficient, scale);
    mpz_clear(factorial);
}

void axis_degree_size(mag_t coefficient, const attest_problem *p, int n)
{
    AUTO_MAG(x);
    mag_set_d(x, p->scale);
    mag_pow_ui(coefficient, x, (ulong)n);
    if (axis_weight_of(p)->factorial) {
        mag_rfac_ui(x, (ulong)n);
        mag_mul(coefficient, coefficient, x);
    }
}
