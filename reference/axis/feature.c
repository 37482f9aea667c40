/* feature.c - phi, of queries and keys (R-FEATURE, R-UNIT, R-ROTATE). */
#include "reference/axis/rows.h"

#include "kernels/attest_float.h"

/* ---- identity ---------------------------------------------------------------------------------------------------- */
/* Stored values are points; behind rope they are balls, and a ball may hold both signs. */
static void ball_identity(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    (void)position;
    (void)prec;
    for (int64_t c = 0; c < p->d; c++)
        arb_set(y + c, x + c);
}

static int span_identity(exact_span *s)
{
    (void)s;
    return 1;
}

static void integer_identity(mpz_t x, long low)
{
    (void)x;
    (void)low;
}

static int64_t word_identity(int64_t x, long low)
{
    (void)low;
    return x;
}

static const axis_exact_feature exact_identity = { span_identity, integer_identity, word_identity };

static double size_identity(double x) { return __builtin_fabs(x); }

/* ---- elu1 -------------------------------------------------------------------------------------------------------- */
/* x+1 for x >= 0, e^x below; where the sign is open, max(x, 0) + e^min(x, 0). */
static void elu1(arb_t y, const arb_t x, slong prec)
{
    AUTO_ARB(above);
    if (arb_is_nonnegative(x)) {
        arb_add_ui(y, x, 1, prec);
        return;
    }
    if (arb_is_negative(x)) {
        arb_exp(y, x, prec);
        return;
    }
    arb_nonnegative_part(above, x);
    arb_neg(y, x);
    arb_nonnegative_part(y, y);
    arb_neg(y, y);
    arb_exp(y, y, prec);
    arb_add(y, y, above, prec);
}

static void ball_elu1(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    (void)position;
    for (int64_t c = 0; c < p->d; c++) {
        if (arb_is_finite(x + c))
            elu1(y + c, x + c, prec);
        else /* a NaN or an infinity has no feature: e^-inf = 0 would hide it */
            arb_indeterminate(y + c);
    }
}

/* x+1, for x >= 0 only. */
static int span_elu1(exact_span *s)
{
    if (s->negative)
        return 0;
    s->low = s->low < 0 ? s->low : 0;
    s->top = (s->top > 1 ? s->top : 1) + 1;
    return 1;
}

static void integer_elu1(mpz_t x, long low)
{
    AUTO_MPZ(one);
    exact_integer(one, 1.0, low);
    mpz_add(x, x, one);
}

static int64_t word_elu1(int64_t x, long low) { return x + ((int64_t)1 << -low); }

static const axis_exact_feature exact_elu1 = { span_elu1, integer_elu1, word_elu1 };

static double size_elu1(double x)
{
    AUTO_MAG(y);
    if (x >= 0)
        return (1 + x) * (1 + 0x1p-52);
    mag_set_d_lower(y, x);
    mag_expinv(y, y);
    return ref_mag_upper(y);
}

static void error_elu1(mag_t relative, mag_t absolute, const axis_arithmetic *a)
{
    bound_compose(relative, a->u_exp, a->u);
    if (a->exp_declared)
        mag_mul_ui(absolute, a->u, a->log2_domain ? 2 : 0);
    else
        mag_mul_ui(absolute, a->u, 12);
    mag_add(absolute, absolute, a->normal);
    if (a->narrows)
        mag_add(absolute, absolute, a->u); /* e^x of a rounded x: u |x| e^x < 0.37 u */
    if (!a->stored || a->exp_declared)
        return;
    bound_compose(absolute, absolute, a->u_stored); /* expm1(x), at most 1, is stored before 1 is added */
    mag_add(absolute, absolute, a->tiny_stored);
    if (attest_format_of(a->p->in).p > attest_format_of(a->stored - 1).p) /* x above 0 is no number of that type */
        bound_compose(relative, relative, a->u_stored);
}

/* ---- relu -------------------------------------------------------------------------------------------------------- */
static void ball_relu(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    (void)position;
    (void)prec;
    for (int64_t c = 0; c < p->d; c++) {
        if (!arb_is_finite(x + c))
            arb_indeterminate(y + c);
        else
            arb_nonnegative_part(y + c, x + c);
    }
}

static void integer_relu(mpz_t x, long low)
{
    (void)low;
    if (mpz_sgn(x) < 0)
        mpz_set_ui(x, 0);
}

static int64_t word_relu(int64_t x, long low)
{
    (void)low;
    return x < 0 ? 0 : x;
}

static const axis_exact_feature exact_relu = { span_identity, integer_relu, word_relu };

static double size_relu(double x) { return x > 0 ? x : 0; }

/* ---- unit -------------------------------------------------------------------------------------------------------- */
/* x / norm2(x), 0 at 0.  Points that are not 0, or balls around such (rope, silu): the norm is surely positive in the
 * end; rope and silu keep a 0 exactly. */
static void unit(arb_ptr y, arb_srcptr x, slong d, slong prec)
{
    int zero = 1;
    AUTO_ARB(norm);
    for (slong c = 0; c < d; c++)
        zero &= arb_is_zero(x + c) != 0;
    arb_dot(norm, NULL, 0, x, 1, x, 1, d, prec);
    arb_sqrt(norm, norm, prec);
    for (slong c = 0; c < d; c++) {
        if (zero)
            arb_zero(y + c);
        else if (!arb_is_finite(norm)) /* every entry reads every other */
            arb_indeterminate(y + c);
        else
            arb_div(y + c, x + c, norm, prec);
    }
}

static void ball_unit(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    (void)position;
    unit(y, x, (slong)p->d, prec);
}

/* R-UNIT: d squares and their sum, the root, the division or a reciprocal and a product. */
static void error_unit(mag_t relative, mag_t absolute, const axis_arithmetic *a)
{
    bound_gamma(relative, a->p->d + 4 + (a->narrows ? 2 : 0), a->u_most);
    bound_compose(relative, relative, a->u_div);
    bound_compose(relative, relative, a->u_div);
    bound_compose(relative, relative, a->u_stored); /* the norm, where it is stored */
    mag_set_ui_2exp_si(absolute, 1, attest_format_of(a->p->acc).emin / 2 + 5);
}

/* ---- silu -------------------------------------------------------------------------------------------------------- */
/* x/(1 + e^-x) = x e^x/(e^x + 1), true for both signs: the midpoint's sign picks the one whose exponential does not
 * overflow. */
static void ball_silu(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    AUTO_ARB(power, sum);
    (void)position;
    for (int64_t c = 0; c < p->d; c++) {
        const int negative = arf_sgn(arb_midref(x + c)) < 0;
        if (!arb_is_finite(x + c)) {
            arb_indeterminate(y + c);
            continue;
        }
        arb_neg(power, x + c);
        arb_exp(power, negative ? x + c : power, prec);
        arb_add_ui(sum, power, 1, prec);
        if (negative)
            arb_mul(y + c, x + c, power, prec);
        else
            arb_set(y + c, x + c);
        arb_div(y + c, y + c, sum, prec);
    }
}

ulong axis_silu_lost(uint32_t type)
{
    return type ? (ulong)(attest_format_of(type - 1).p - attest_format_of(type - 1).emin) : 0;
}

/* x/(1 + e^-x) or x e^x/(1 + e^x): an exponential, an addition, a division, a product. */
static void error_silu(mag_t relative, mag_t absolute, const axis_arithmetic *a)
{
    AUTO_MAG(lost);
    bound_gamma(relative, a->narrows ? 5 : 2, a->u);
    bound_compose(relative, relative, a->u_exp);
    bound_compose(relative, relative, a->u_div);
    mag_mul_ui(absolute, a->u, a->log2_domain ? 2 : 0);
    if (a->narrows)
        mag_add(absolute, absolute, a->u);
    mag_mul_2exp_si(lost, a->normal, 10); /* |x| e^x where e^-x overflows or e^x underflows */
    mag_add(absolute, absolute, lost);
    bound_compose(relative, relative, a->u_stored); /* the sigmoid, where it is stored before x meets it */
    mag_addmul(absolute, absolute, a->u_stored);
    mag_mul_ui(lost, a->tiny_stored, axis_silu_lost(a->stored));
    mag_add(absolute, absolute, lost);
}

/* ---- silu-unit --------------------------------------------------------------------------------------------------- */
static void ball_silu_unit(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    ball_silu(y, x, p, position, prec);
    unit(y, y, (slong)p->d, prec);
}

/* The relative error of silu, which may be stored, counts in the entry and in the norm; |x| e^x moves by u |x|
 * relatively. */
static void error_silu_unit(mag_t relative, mag_t absolute, const axis_arithmetic *a)
{
    AUTO_MAG(x);
    error_silu(relative, absolute, a);
    if (a->log2_domain || a->narrows) {
        mag_mul_ui(x, a->u, 3 * (ulong)attest_format_of(a->p->acc).emax);
        mag_expm1(x, x);
        bound_compose(relative, relative, x);
    }
    bound_compose(relative, relative, a->u_stored);
    bound_gamma(x, 2, relative);
    error_unit(relative, absolute, a);
    bound_compose(relative, relative, x);
}

/* ---- cosformer --------------------------------------------------------------------------------------------------- */
/* relu(x_c) cos(pi pos/(2 max(N,M))) and, d entries later, relu(x_c) sin(the same). */
static void ball_cosformer(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec)
{
    AUTO_ARB(sine, cosine);
    AUTO_FMPQ(turn); /* the angle over pi */
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
}

/* ---- the rows ---------------------------------------------------------------------------------------------------- */
/* identity and relu have loops of their own in dd/; the yardsticks know no feature. */
static const axis_feature features[] = {
    [ATTEST_FEATURE_IDENTITY] = { .serves = AXIS_DD | AXIS_YARD,
                                  .ball = ball_identity,
                                  .stored = 1,
                                  .exact = &exact_identity,
                                  .size = size_identity,
                                  .slope = 1 },
    [ATTEST_FEATURE_ELU1] = { .lemma = "R-FEATURE",
                              .ball = ball_elu1,
                              .exact = &exact_elu1,
                              .size = size_elu1,
                              .error = error_elu1,
                              .lift = 1,
                              .slope = 1 },
    [ATTEST_FEATURE_RELU] = { .serves = AXIS_DD,
                              .ball = ball_relu,
                              .stored = 1,
                              .exact = &exact_relu,
                              .size = size_relu,
                              .slope = 1 },
    [ATTEST_FEATURE_UNIT] = { .lemma = "R-UNIT", .ball = ball_unit, .error = error_unit, .divides = 1, .slope = 1 },
    [ATTEST_FEATURE_SILU] = { .lemma = "R-FEATURE",
                              .ball = ball_silu,
                              .size = size_identity, /* |silu x| <= |x| */
                              .error = error_silu,
                              .slope = 1.125 },
    [ATTEST_FEATURE_SILU_UNIT] = { .lemma = "R-UNIT",
                                   .ball = ball_silu_unit,
                                   .error = error_silu_unit,
                                   .divides = 1,
                                   .inner = ball_silu,
                                   .slope = 1.125 },
    [ATTEST_FEATURE_COSFORMER] = { .lemma = "R-ROTATE", .ball = ball_cosformer, .images = 1, .slope = 1 },
};

const axis_feature *axis_feature_row(uint32_t value)
{
    return value < AXIS_ROWS(features) && features[value].ball ? &features[value] : NULL;
}

axis_entry axis_feature_entry(uint32_t value)
{
    const axis_feature *f = axis_feature_row(value);
    if (!f)
        return (axis_entry){ 0, NULL };
    return (axis_entry){ f->serves | AXIS_BALL | (f->exact ? AXIS_RATIONAL | AXIS_TIE : 0), f->lemma };
}

const axis_feature *axis_feature_of(const attest_problem *p) { return &features[p->axis[ATTEST_AXIS_FEATURE].value]; }

int axis_feature_span(exact_span *s, const axis_feature *f) { return f->exact && s->finite && f->exact->span(s); }

void axis_feature_integer(mpz_t out, double x, const axis_feature *f, long low)
{
    exact_integer(out, x, low);
    f->exact->integer(out, low);
}
