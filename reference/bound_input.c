/* bound_input.c - sizes of inputs, features, given states and divisors, as upper bounds. */
#include "reference/ball.h"
#include "reference/bound.h"

static int divide_by_sum(arb_t x, const ref_row *row, const ref_inputs *in, int64_t h)
{
    arb_t eps;
    (void)h;
    arb_init(eps);
    if (in->p->axis[ATTEST_AXIS_EPS].value == ATTEST_EPS_SET)
        arb_set_d(eps, in->p->axis[ATTEST_AXIS_EPS].number);
    arb_add(x, row->z, eps, row->prec);
    arb_clear(eps);
    return 1;
}

static int divide_by_sink(arb_t x, const ref_row *row, const ref_inputs *in, int64_t h)
{
    const attest_tensor *sink = in->role[ATTEST_SINK];
    arb_set_d(x, attest_load(sink, attest_offset(sink, h, 0, 0, 0)));
    arb_exp(x, x, row->prec);
    arb_add(x, row->z, x, row->prec);
    return 1;
}

static int divide_by_one(arb_t x, const ref_row *row, const ref_inputs *in, int64_t h)
{
    (void)row;
    (void)in;
    (void)h;
    arb_one(x);
    return 1;
}

static int divide_by_floor(arb_t x, const ref_row *row, const ref_inputs *in, int64_t h)
{
    (void)h;
    arb_set_d(x, in->p->axis[ATTEST_AXIS_NORM].number);
    arb_max(x, x, row->z, row->prec);
    return 1;
}

static int divide_by_length(arb_t x, const ref_row *row, const ref_inputs *in, int64_t h)
{
    (void)in;
    (void)h;
    arb_set_si(x, (slong)row->keys);
    return 1;
}

int bound_divisor(arb_t divisor, const ref_row *row, const ref_inputs *in, int64_t h)
{
    static int (*const table[])(arb_t, const ref_row *, const ref_inputs *, int64_t) = {
        [ATTEST_NORM_SUM] = divide_by_sum,
        [ATTEST_NORM_SINK] = divide_by_sink,
        [ATTEST_NORM_FLOOR] = divide_by_floor,
        [ATTEST_NORM_NONE] = divide_by_one,
        [ATTEST_NORM_LENGTH] = divide_by_length,
    };
    const uint32_t norm = in->p->axis[ATTEST_AXIS_NORM].value;
    if (norm >= sizeof table / sizeof table[0] || !table[norm])
        return 0;
    return table[norm](divisor, row, in, h);
}

static void feature_identity(mag_t y, double x)
{
    mag_set_d(y, x);
}

static void feature_relu(mag_t y, double x)
{
    mag_set_d(y, x > 0 ? x : 0.0);
}

static void feature_elu1(mag_t y, double x)
{
    mag_set_d(y, x);
    if (x >= 0) {
        mag_add_ui(y, y, 1);
    } else {
        mag_set_d_lower(y, x);
        mag_expinv(y, y);
    }
}

int bound_feature(mag_t y, double x, uint32_t feature)
{
    static void (*const table[])(mag_t, double) = {
        [ATTEST_FEATURE_IDENTITY] = feature_identity,
        [ATTEST_FEATURE_ELU1] = feature_elu1,
        [ATTEST_FEATURE_RELU] = feature_relu,
    };
    if (feature >= sizeof table / sizeof table[0])
        return 0;
    table[feature](y, x);
    return 1;
}

void bound_token_size(mag_t sum, mag_t max, const ref_inputs *in, attest_role role, int64_t b, int64_t head,
                      int64_t token)
{
    const attest_tensor *t = in->role[role];
    const uint32_t feature = in->p->axis[ATTEST_AXIS_FEATURE].value;
    mag_t y;
    mag_init(y);
    mag_zero(sum);
    mag_zero(max);
    for (int64_t c = 0; c < in->p->d; c++) {
        if (!bound_feature(y, attest_load(t, attest_offset(t, b, head, token, c)), feature))
            mag_inf(y);
        mag_add(sum, sum, y);
        mag_max(max, max, y);
    }
    mag_clear(y);
}

/* |q|-monomial of Kronecker row r (base-dim digits of r). */
static void monomial(mag_t y, mag_srcptr q, int64_t dim, int n, int64_t r)
{
    mag_one(y);
    for (; n > 0; n--, r /= dim)
        mag_mul(y, y, q + r % dim);
}

static void add_degree(mag_ptr u, mag_t z, const ref_inputs *in, mag_srcptr q, const mag_t coef, int n, int64_t b,
                       int64_t g)
{
    const attest_tensor *h0 = in->h0[n], *z0 = in->z0[n];
    const int64_t dim = attest_feature_dim(in->p), rows = attest_state_rows(dim, n, 0);
    mag_t m, x;
    mag_init(m);
    mag_init(x);
    for (int64_t r = 0; r < rows; r++) {
        monomial(m, q, dim, n, r);
        mag_mul(m, m, coef);
        for (int64_t c = 0; u && h0 && c < in->p->e; c++) {
            mag_set_d(x, attest_load(h0, attest_offset(h0, b, g, r, c)));
            mag_addmul(u + c, m, x);
        }
        if (z0) {
            mag_set_d(x, attest_load(z0, attest_offset(z0, b, g, r, 0)));
            mag_addmul(z, m, x);
        }
    }
    mag_clear(x);
    mag_clear(m);
}

void bound_state_mass(mag_ptr u, mag_t z, const ref_inputs *in, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = in->p;
    const attest_tensor *q = in->role[ATTEST_Q];
    mag_zero(z);
    for (int64_t c = 0; u && c < p->e; c++)
        mag_zero(u + c);
    if (p->axis[ATTEST_AXIS_STATE].value != ATTEST_STATE_DRAW)
        return;
    mag_t coef, scale;
    mag_init(coef);
    mag_init(scale);
    mag_ptr size = _mag_vec_init((slong)p->d);
    arb_ptr phi = _arb_vec_init((slong)p->d);
    ref_ball_phi(phi, in, q, attest_offset(q, b, h, i, 0), q->stride[3], 128);
    for (int64_t c = 0; c < p->d; c++)
        if (!bound_feature(size + c, attest_load(q, attest_offset(q, b, h, i, c)), p->axis[ATTEST_AXIS_FEATURE].value))
            arb_get_mag(size + c, phi + c); /* a map of the whole vector, or without a bound of its own */
    _arb_vec_clear(phi, (slong)p->d);
    mag_set_d(scale, p->scale);
    for (int n = in->lowest; n <= in->highest; n++) {
        mag_pow_ui(coef, scale, (ulong)n);
        if (p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_POWER) {
            mag_t inverse;
            mag_init(inverse);
            mag_rfac_ui(inverse, (ulong)n);
            mag_mul(coef, coef, inverse);
            mag_clear(inverse);
        }
        add_degree(u, z, in, size, coef, n, b, attest_kv_head(p, h));
    }
    _mag_vec_clear(size, (slong)p->d);
    mag_clear(scale);
    mag_clear(coef);
}

void bound_weight_mass(mag_t y, const mag_t x, const attest_setting *weight, int less)
{
    const ulong p = weight->order;
    mag_t term, f;
    if (less && p == 0) {
        mag_zero(y);
        return;
    }
    mag_init(term);
    mag_init(f);
    if (weight->value == ATTEST_WEIGHT_TAYLOR) {
        const ulong top = less ? p - 1 : p; /* T_p' = T_{p-1} */
        mag_one(term);
        mag_one(y);
        for (ulong k = 1; k <= top; k++) {
            mag_mul(term, term, x);
            mag_div_ui(term, term, k);
            mag_add(y, y, term);
        }
    } else {
        mag_pow_ui(y, x, less ? p - 1 : p);
        if (weight->value == ATTEST_WEIGHT_TERM) {
            mag_rfac_ui(f, less ? p - 1 : p);
            mag_mul(y, y, f);
        } else if (less) {
            mag_mul_ui(y, y, p);
        }
    }
    mag_clear(f);
    mag_clear(term);
}
