/* bound_token.c - features of a token: the errors of one, their sizes, and how far computed ones are off beside a
 * relative error of each (R-FEATURE, R-ROTATE, R-UNIT). */
#include "reference/bound/bound.h"

#include <math.h>

/* ---- the model's constants -------------------------------------------------------------------------------- */
/* R-FEATURE, R-ROTATE: what rope and a feature make may be stored in a narrower type, and so may rope's sines, cosines
 * and products.  A rotated number is stored once more before the feature reads it; relu of a stored number is one. */
static void store_features(bound_model *m, uint32_t type)
{
    const int turns = axis_turns(m->p), stored = axis_feature_of(m->p)->stored;
    if (!type || (stored && !turns))
        return;
    m->stores_features = 1;
    m->stored_type = type;
    mag_set_d(m->stored, attest_unit_roundoff(type - 1));
    const int flushes = attest_format_of(type - 1).emin == attest_format_of(m->p->acc).emin;
    bound_tiny(m->stored_tiny, type - 1, flushes ? m->flags : 0);
    if (!turns)
        return;
    mag_set(m->turned, m->stored);
    if (!stored)
        bound_compose(m->turned, m->turned, m->stored);
    mag_mul_ui(m->turned_tiny, m->stored_tiny, stored ? 2 : 3);
}

/* What an entry loses by underflow before the feature and where its image is stored. */
static void lose_stored(bound_model *m)
{
    AUTO_MAG(x);
    mag_mul_2exp_si(x, m->turned_tiny, 1); /* times the feature's slope */
    mag_add(m->feature_tiny, m->feature_tiny, x);
    bound_compose(m->feature, m->feature, m->stored);
    mag_addmul(m->feature_tiny, m->feature_tiny, m->stored);
    mag_add(m->feature_tiny, m->feature_tiny, m->stored_tiny);
}

/* R-KV-SCALE: k_scale k may be stored in the narrower type before its feature; |x f'(x)| is at most |f(x)|, and 1/2
 * more for elu1 and silu. */
static void lose_scaled(bound_model *m)
{
    const uint32_t feature = m->p->axis[ATTEST_AXIS_FEATURE].value;
    if (!attest_kv_scaled(m->p) || feature == ATTEST_FEATURE_IDENTITY)
        return;
    mag_add(m->feature, m->feature, m->stored);
    mag_add(m->feature_tiny, m->feature_tiny, m->stored_tiny);
    if (feature == ATTEST_FEATURE_ELU1 || feature == ATTEST_FEATURE_SILU)
        mag_add(m->feature_tiny, m->feature_tiny, m->stored);
    if (feature == ATTEST_FEATURE_SILU_UNIT)
        mag_add(m->turned_tiny, m->turned_tiny, m->stored);
}

static void set_feature(bound_model *m)
{
    const axis_feature *feature = axis_feature_of(m->p);
    const axis_arithmetic arithmetic = bound_arithmetic(m);
    AUTO_MAG(root);
    if (feature->error)
        feature->error(m->feature, m->feature_tiny, &arithmetic);
    if (m->narrows) {
        mag_add(m->feature, m->feature, m->u);
        mag_add(m->feature_tiny, m->feature_tiny, m->tiny);
    }
    if (m->flags & ATTEST_FTZ)
        mag_add(m->feature_tiny, m->feature_tiny, m->normal);
    lose_scaled(m);
    lose_stored(m);
    if (feature->inner) { /* R-UNIT: silu and its sigmoid */
        mag_mul_ui(root, m->stored_tiny, 1 + axis_silu_lost(m->stored_type));
        mag_add(m->turned_tiny, m->turned_tiny, root);
    }
    mag_set_ui(root, (ulong)attest_feature_dim(m->p));
    mag_sqrt(root, root);
    mag_mul(m->feature_norm, m->feature_tiny, root);
    mag_add_ui(m->feature_lift, m->feature_tiny, feature->lift);
}

static void set_turns(bound_model *m)
{
    const axis_feature *feature = axis_feature_of(m->p);
    AUTO_MAG(x);
    mag_mul_ui(m->u_wave, m->u, 9); /* sin and cos: 4.5 ulp, at most 1 */
    bound_compose(m->u_wave, m->u_wave, m->stored);
    mag_add(m->u_wave, m->u_wave, m->stored_tiny);
    if (axis_turns(m->p))
        axis_angle_error(m->turn_slope, m->p, m->u);
    if (feature->images) { /* an angle of at most pi/2, four roundings; then one product */
        bound_gamma(x, 4, m->u);
        mag_set_d(m->wave, 1.5708);
        mag_mul(x, x, m->wave);
        mag_add(x, x, m->u_wave);
        bound_compose(m->wave, x, m->u);
    }
    m->turns = axis_turns(m->p) || feature->images || feature->divides;
}

void bound_model_features(bound_model *m, uint32_t type)
{
    store_features(m, type);
    set_feature(m);
    set_turns(m);
}

/* ---- sizes ------------------------------------------------------------------------------------------------ */
/* A channel after rope is at most the length of its pair. */
static double turned_size(const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t c)
{
    const int64_t half = in->p->d / 2;
    const double x = attest_load(t, offset + c * t->stride[3]),
                 y = attest_load(t, offset + (c < half ? c + half : c - half) * t->stride[3]);
    AUTO_MAG(pair, z);
    mag_set_d(pair, x);
    mag_set_d(z, y);
    mag_hypot(pair, pair, z);
    return ref_mag_upper(pair);
}

/* |phi_c| of one channel, upward. */
static double channel_size(const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t c)
{
    const axis_feature *feature = axis_feature_of(in->p);
    if (feature->divides)
        return 1; /* no entry of a vector of length 1 is larger */
    if (axis_turns(in->p) && feature->slope > 0)
        return (turned_size(in, t, offset, c) + feature->lift) * (1 + 0x1p-52);
    const double x = attest_load(t, offset + c * t->stride[3]);
    if (feature->images)
        return __builtin_fabs(x);
    return !axis_turns(in->p) && feature->size ? feature->size(x) : INFINITY;
}

void bound_token_size(mag_t sum, mag_t max, const ref_inputs *in, attest_role role, int64_t b, int64_t head,
                      int64_t token)
{
    const attest_tensor *t = in->role[role];
    const axis_feature *feature = axis_feature_of(in->p);
    const int64_t offset = attest_offset(t, b, head, token, 0), d = in->p->d;
    double total = 0, top = 0;
    for (int64_t c = 0; c < d; c++) {
        const double size = channel_size(in, t, offset, c);
        total += size;
        top = size > top ? size : top;
    }
    mag_set_d(max, isnan(total) ? INFINITY : top);
    mag_set_d(sum, total * (1 + (double)(d + 2) * 0x1p-52)); /* d additions of numbers >= 0, and this product */
    if (isinf(total))
        mag_mul_ui(sum, max, (ulong)d); /* of finite numbers, maybe */
    if (feature->divides)
        mag_sqrt(sum, sum); /* |x|_1 <= sqrt(d) |x|_2 */
    if (feature->images)
        mag_mul_2exp_si(sum, sum, 1); /* |cos| + |sin| < 2 */
}

void bound_stored_size(mag_t sum, mag_t norm, const ref_inputs *in, attest_role role, int64_t b, int64_t head,
                       int64_t token)
{
    const attest_tensor *t = in->role[role];
    AUTO_MAG(x);
    mag_zero(sum);
    mag_zero(norm);
    for (int64_t c = 0; c < in->p->d; c++) {
        mag_set_d(x, attest_load(t, attest_offset(t, b, head, token, c)));
        mag_add(sum, sum, x);
        mag_addmul(norm, x, x);
    }
    mag_sqrt(norm, norm);
}

/* ---- R-ROTATE --------------------------------------------------------------------------------------------- */
void bound_turn(mag_t rho, const bound_model *m, int64_t position)
{
    const axis_feature *feature = axis_feature_of(m->p);
    AUTO_MAG(x, one);
    mag_zero(rho);
    if (axis_turns(m->p)) {
        mag_mul_ui(x, m->turn_slope, (ulong)(position < 0 ? -position : position));
        mag_add(x, x, m->u_wave);
        bound_gamma(one, m->narrows ? 3 : 2, m->u);
        bound_compose(rho, x, one);
        bound_compose(rho, rho, m->turned);
        if (!(feature->slope > 0))
            mag_inf(rho);
        if (feature->slope > 1) {
            mag_set_d(x, feature->slope);
            mag_mul(rho, rho, x);
        }
        bound_compose(x, m->feature, m->feature); /* the feature of a computed number: (1+F) */
        bound_compose(x, x, m->u);
        mag_addmul(rho, rho, x);
    }
    if (feature->images) {
        bound_compose(rho, rho, m->wave);
        mag_addmul(rho, rho, m->feature); /* of an image that is stored: its own error, F, is not in rho */
    }
}

/* Lower bound of the norm2 that the feature divides by, x after rope. */
static void inner_norm(mag_t low, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t position)
{
    const slong d = (slong)in->p->d;
    AUTO_ARB(norm);
    arb_ptr x = _arb_vec_init(d);
    axis_phi_inner(x, in, t, offset, t->stride[3], position, 64);
    arb_dot(norm, NULL, 0, x, 1, x, 1, d, 64);
    arb_sqrt(norm, norm, 64);
    mag_zero(low);
    if (arb_is_finite(norm))
        arb_get_mag_lower(low, norm);
    _arb_vec_clear(x, d);
}

/* Lower bound of norm2(x): no rotation changes it. */
static void stored_norm(mag_t low, const ref_inputs *in, const attest_tensor *t, int64_t offset)
{
    AUTO_MAG(x);
    mag_zero(low);
    for (int64_t c = 0; c < in->p->d; c++) {
        mag_set_d_lower(x, attest_load(t, offset + c * t->stride[3]));
        mag_mul_lower(x, x, x);
        mag_add_lower(low, low, x);
    }
    mag_sqrt_lower(low, low);
}

/* R-UNIT near underflow: each of the squares loses `tiny`, a flushed entry 2^emin; the vector of length 1 moves by at
 * most sigma.  0: too near. */
static int small_squares(mag_t sigma, const bound_model *m, const mag_t low)
{
    AUTO_MAG(x, y);
    mag_mul_lower(y, low, low);
    mag_mul_ui(x, m->tiny, (ulong)m->p->d + 2);
    mag_div(x, x, y);
    if (!(mag_cmp_2exp_si(x, -2) <= 0))
        return 0;
    mag_mul_2exp_si(sigma, x, 1);
    if (m->flags & ATTEST_FTZ) {
        mag_set_ui(x, (ulong)m->p->d);
        mag_sqrt(x, x);
        mag_mul(x, x, m->normal);
        mag_mul_2exp_si(x, x, 1);
        mag_div(x, x, low);
        mag_add(sigma, sigma, x);
    }
    return 1;
}

/* Squares of a vector with norm2 in [low, high] neither overflow nor lose more than u of the norm. */
static int squares_fit(const bound_model *m, const mag_t low, const mag_t high)
{
    AUTO_MAG(x, y);
    int good;
    mag_mul(x, high, high);
    good = mag_cmp(x, m->limit) <= 0;
    mag_mul_lower(x, low, low);
    mag_mul_lower(x, x, m->u);
    mag_mul_ui(y, m->normal, (ulong)m->p->d + 2);
    mag_mul_2exp_si(y, y, 8);
    good = good && mag_cmp(x, y) >= 0;
    return good;
}

/* What is stored before the norm divides it is in its type's range, and so is the norm, far above its underflow. */
static int stores_norm(const bound_model *m, const mag_t low, const mag_t high)
{
    AUTO_MAG(x);
    mag_mul_2exp_si(x, m->stored_tiny, 3);
    return mag_cmp(high, m->scaled_limit) <= 0 && mag_cmp(low, x) > 0;
}

int bound_unit(mag_t sigma, const bound_model *m, const ref_inputs *in, attest_role role, int64_t b, int64_t head,
               int64_t token, int64_t position)
{
    const attest_tensor *t = in->role[role];
    const int64_t offset = attest_offset(t, b, head, token, 0);
    AUTO_MAG(low, norm, x);
    int good = 1;
    mag_zero(sigma);
    if (!axis_feature_of(m->p)->divides)
        return 1;
    bound_stored_size(x, norm, in, role, b, head, token);
    if (mag_is_zero(norm)) /* the vector 0 is its own unit, exactly */
        goto out;
    if (axis_feature_of(m->p)->inner)
        inner_norm(low, in, t, offset, position);
    else
        stored_norm(low, in, t, offset);
    good = squares_fit(m, low, norm);
    if (!good && !axis_feature_of(m->p)->inner && !axis_turns(m->p)) {
        mag_mul(x, norm, norm);
        good = mag_cmp(x, m->limit) <= 0 && small_squares(sigma, m, low);
    }
    if (m->stored_type)
        good = good && stores_norm(m, low, norm);
    if ((!axis_turns(m->p) && !m->stored_type) || !good)
        goto out;
    bound_turn(x, m, position);
    mag_mul(x, x, norm);
    mag_set_ui(norm, (ulong)m->p->d);
    mag_sqrt(norm, norm);
    mag_addmul(x, norm, m->turned_tiny);
    mag_add(x, x, m->stored_tiny);
    mag_mul_2exp_si(x, x, 1);
    mag_div(x, x, low); /* eta = 2 (rho |x| + sqrt(d) t + eta_q) / |silu(x)|, t what each entry loses by underflow */
    if (mag_cmp_2exp_si(x, -1) > 0) {
        mag_set_ui(sigma, 3); /* vectors of norm 1 and at most 8/7 are no further apart */
    } else {
        mag_mul(sigma, x, x);
        mag_add(sigma, sigma, x); /* eta/(1 - eta/2) <= eta + eta^2 for eta <= 1/2 */
    }
out:
    return good;
}

/* (a rho_q + a rho_k + b rho_q rho_k) turn */
static void turn_of_pairs(mag_t y, const bound_model *m, const mag_t rho_q, const mag_t rho_k, const mag_t turn)
{
    const int both = axis_turns(m->p) && axis_feature_of(m->p)->images;
    AUTO_MAG(x);
    mag_set_d(x, both ? 2.8285 : 1.41425); /* sqrt 2 */
    mag_add(y, rho_q, rho_k);
    mag_mul(y, y, x);
    mag_mul(x, rho_q, rho_k);
    mag_mul_ui(x, x, both ? 4 : 2);
    mag_add(y, y, x);
    mag_mul(y, y, turn);
}

void bound_turned_score(mag_t y, const bound_model *m, const bound_turned *q, const bound_turned *k, const mag_t turn)
{
    AUTO_MAG(x);
    mag_zero(y);
    if (!m->turns)
        return;
    if (axis_feature_of(m->p)->divides) {
        bound_compose(y, q->sigma, k->sigma);
        mag_mul(y, y, m->scale);
        bound_compose(x, m->feature, m->feature_norm); /* (1 + F + t sqrt d) */
        mag_addmul(y, y, x);
    } else {
        turn_of_pairs(y, m, q->rho, k->rho, turn);
        mag_mul(x, q->rho, q->sum); /* 2 (rho_q |q| + rho_k |k|) (1 + t): elu1 <= 1 + |y|, t of the other side */
        mag_addmul(x, k->rho, k->sum);
        mag_mul_2exp_si(x, x, 1);
        mag_mul(x, x, m->scale);
        mag_mul(x, x, m->feature_lift);
        mag_add(y, y, x);
    }
}

void bound_turned_init(bound_turned *t)
{
    mag_init(t->rho);
    mag_init(t->sigma);
    mag_init(t->sum);
}

void bound_turned_clear(bound_turned *t)
{
    mag_clear(t->rho);
    mag_clear(t->sigma);
    mag_clear(t->sum);
}

int bound_turned_set(bound_turned *t, const bound_model *m, const ref_inputs *in, attest_role role, int64_t b,
                     int64_t head, int64_t token, int64_t position)
{
    AUTO_MAG(norm);
    bound_turn(t->rho, m, position);
    mag_zero(t->sum);
    if (!mag_is_zero(m->feature_lift))
        bound_stored_size(t->sum, norm, in, role, b, head, token);
    return bound_unit(t->sigma, m, in, role, b, head, token, position);
}

void bound_entry_error(mag_t t, const bound_model *m, const ref_inputs *in, attest_role role, int64_t b, int64_t head,
                       int64_t token, int64_t position)
{
    AUTO_MAG(sum, norm, x);
    mag_set(t, m->feature_tiny);
    if (m->turns && axis_feature_of(m->p)->divides) {
        if (!bound_unit(sum, m, in, role, b, head, token, position))
            mag_inf(sum);
        bound_compose(x, m->feature, m->u);
        mag_addmul(sum, sum, x);
        mag_add(t, t, sum);
    } else if (m->turns) {
        bound_stored_size(sum, norm, in, role, b, head, token);
        bound_turn(x, m, position);
        mag_mul(x, x, norm);
        mag_mul_ui(x, x, 3); /* the sum of a pair is at most sqrt 2 norm2 */
        mag_mul_2exp_si(x, x, -1);
        mag_add(t, t, x);
    }
}

int bound_token_error(mag_t y, const bound_model *m, const ref_inputs *in, attest_role role, const mag_t size,
                      int64_t b, int64_t head, int64_t token, int64_t position)
{
    AUTO_MAG(x, norm);
    int good = 1;
    mag_mul(y, size, m->feature);
    mag_add(y, y, m->feature_norm);
    if (m->turns && axis_feature_of(m->p)->divides) {
        good = bound_unit(x, m, in, role, b, head, token, position);
        mag_addmul(y, x, m->feature);
        mag_add(y, y, x);
    } else if (m->turns) {
        bound_stored_size(x, norm, in, role, b, head, token);
        bound_turn(x, m, position);
        mag_mul_ui(x, x, 3);
        mag_addmul(y, x, norm);
    }
    return good;
}
