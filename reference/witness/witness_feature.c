/* witness_feature.c - the witness's rope and feature maps, from the formulas.
 *
 * A channel is an exact number unless rope turned it.  elu1 and relu grow by at most 1 for 1, so an error of their
 * argument passes through unchanged, also where the argument may have either sign.
 */
#include "reference/witness/witness.h"

static void feature_identity(wit *x) { (void)x; }

/* x+1 for x >= 0, e^x below: |elu1 X - elu1 x| <= |X - x|. */
static void feature_elu1(wit *x)
{
    wit exact, one;
    if (!mpfr_number_p(x->v))
        return;
    wit_init(&exact, mpfr_get_prec(x->v));
    wit_init(&one, mpfr_get_prec(x->v));
    mpfr_set(exact.v, x->v, MPFR_RNDN); /* the same precision: exact */
    wit_set_ui(&one, 1);
    if (mpfr_sgn(x->v) < 0)
        wit_exp(&exact, &exact);
    else
        wit_add(&exact, &exact, &one);
    mpfr_set(x->v, exact.v, MPFR_RNDN);
    mpfr_add(x->e, x->e, exact.e, MPFR_RNDU);
    wit_clear(&exact);
    wit_clear(&one);
}

static void feature_relu(wit *x)
{
    wit zero;
    if (!mpfr_number_p(x->v))
        return; /* -inf stays unknown: it was read */
    wit_init(&zero, mpfr_get_prec(x->v));
    if (!wit_may_be_zero(x) && mpfr_sgn(x->v) < 0)
        wit_set_ui(x, 0);
    else
        wit_max(x, x, &zero);
    wit_clear(&zero);
}

/* x/(1+e^-x) */
static void feature_silu(wit *x)
{
    wit one, y;
    wit_init(&one, mpfr_get_prec(x->v));
    wit_init(&y, mpfr_get_prec(x->v));
    wit_sub(&y, &y, x);
    wit_exp(&y, &y);
    wit_set_ui(&one, 1);
    wit_add(&y, &y, &one);
    wit_div(x, x, &y);
    wit_clear(&one);
    wit_clear(&y);
}

/* x / norm2(x); the vector 0 stays 0. */
static void to_unit(wit *x, const wit_case *w)
{
    wit norm, t;
    int zero = 1;
    wit_init(&norm, w->bits);
    wit_init(&t, w->bits);
    for (int64_t c = 0; c < w->p->d; c++) {
        zero = zero && wit_is_zero(&x[c]);
        wit_mul(&t, &x[c], &x[c]);
        wit_add(&norm, &norm, &t);
    }
    wit_sqrt(&norm, &norm);
    for (int64_t c = 0; c < w->p->d && !zero; c++)
        wit_div(&x[c], &x[c], &norm);
    wit_clear(&norm);
    wit_clear(&t);
}

/* The angle pos BASE^(-2c/d) by which rope turns the pair (c, c+d/2). */
static void rope_angle(wit *r, const wit_case *w, int64_t c, int64_t pos)
{
    wit t;
    wit_init(&t, w->bits);
    wit_set_double(r, (double)(-2 * c));
    wit_set_ui(&t, (unsigned long)w->p->d);
    wit_div(r, r, &t);
    wit_set_double(&t, w->p->axis[ATTEST_AXIS_ROPE].number);
    wit_pow(r, &t, r);
    wit_set_double(&t, (double)pos);
    wit_mul(r, r, &t);
    wit_clear(&t);
}

/* (x, y) becomes (x cos - y sin, x sin + y cos) for every pair (c, c+d/2). */
static void rope(wit *x, const wit_case *w, int64_t pos)
{
    const int64_t half = w->p->d / 2;
    wit angle, cosine, sine, t[4];
    wit *const all[] = { &angle, &cosine, &sine, &t[0], &t[1], &t[2], &t[3] };
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        wit_init(all[n], w->bits);
    for (int64_t c = 0; c < half; c++) {
        rope_angle(&angle, w, c, pos);
        wit_cos(&cosine, &angle);
        wit_sin(&sine, &angle);
        wit_mul(&t[0], &x[c], &cosine);
        wit_mul(&t[1], &x[c + half], &sine);
        wit_mul(&t[2], &x[c], &sine);
        wit_mul(&t[3], &x[c + half], &cosine);
        wit_sub(&x[c], &t[0], &t[1]);
        wit_add(&x[c + half], &t[2], &t[3]);
    }
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        wit_clear(all[n]);
}

int64_t wit_dim(const attest_problem *p)
{
    return p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_COSFORMER ? 2 * p->d : p->d;
}

static void (*const map[])(wit *) = {
    [ATTEST_FEATURE_IDENTITY] = feature_identity, [ATTEST_FEATURE_ELU1] = feature_elu1,
    [ATTEST_FEATURE_RELU] = feature_relu,         [ATTEST_FEATURE_UNIT] = feature_identity,
    [ATTEST_FEATURE_SILU] = feature_silu,         [ATTEST_FEATURE_SILU_UNIT] = feature_silu,
    [ATTEST_FEATURE_COSFORMER] = feature_relu,
};

uint32_t wit_features(void)
{
    uint32_t bits = 0;
    for (uint32_t value = 0; value < sizeof map / sizeof map[0]; value++)
        bits |= (map[value] ? 1u : 0u) << value;
    return bits;
}

void wit_map(wit *x, const wit_case *w, const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t pos)
{
    const uint32_t feature = w->p->axis[ATTEST_AXIS_FEATURE].value;
    for (int64_t c = 0; c < w->p->d; c++)
        wit_set_double(&x[c], wit_stored(w, t, i0, i1, i2, c));
    if (w->p->axis[ATTEST_AXIS_ROPE].value != ATTEST_ROPE_NONE)
        rope(x, w, pos);
    for (int64_t c = 0; c < w->p->d; c++)
        map[feature](&x[c]);
    if (feature == ATTEST_FEATURE_UNIT || feature == ATTEST_FEATURE_SILU_UNIT)
        to_unit(x, w);
}

void wit_cosformer_angle(wit *r, const wit_case *w, int64_t pos)
{
    wit t;
    wit_init(&t, w->bits);
    wit_set_pi(r);
    wit_set_double(&t, (double)pos);
    wit_mul(r, r, &t);
    wit_set_ui(&t, 2 * (unsigned long)(w->p->n > w->p->m ? w->p->n : w->p->m));
    wit_div(r, r, &t);
    wit_clear(&t);
}

/* cosformer: entry c is relu(x_c) cos(angle), entry d+c is relu(x_c) sin(angle) */
void wit_feature(wit *phi, const wit_case *w, const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t pos)
{
    const int64_t d = w->p->d;
    wit angle, cosine, sine;
    wit_map(phi, w, t, i0, i1, i2, pos);
    if (wit_dim(w->p) == d)
        return;
    wit_init(&angle, w->bits);
    wit_init(&cosine, w->bits);
    wit_init(&sine, w->bits);
    wit_cosformer_angle(&angle, w, pos);
    wit_cos(&cosine, &angle);
    wit_sin(&sine, &angle);
    for (int64_t c = 0; c < d; c++) {
        wit_mul(&phi[d + c], &phi[c], &sine);
        wit_mul(&phi[c], &phi[c], &cosine);
    }
    wit_clear(&angle);
    wit_clear(&cosine);
    wit_clear(&sine);
}
