/* property_powers.c - what factors of a power of two, and of -1, must do.
 *
 * Every rounding to nearest or toward zero commutes with a sign; with a power of two too, as long as nothing leaves the
 * normal numbers.  (But a kernel may take another path by the sign of its scale.)  So the bits are known, whatever the
 * order of operations, wherever
 *     the changed input is exact in its own type (else the property says nothing),
 *     no product can under- or overflow in either run (range.h; else only both runs' bounds are demanded),
 *     the output is neither below nor beyond the normal numbers of its type, in either run (else it is not compared).
 */
#include "props/properties/property_list.h"

#include "props/properties/range.h"
#include "props/properties/relation.h"

#include "kernels/attest_float.h"

#include <math.h>
#include <stdlib.h>

#define BIT(value) (1u << (value))
/* phi(cx) = c phi(x) for c > 0;  phi(cx) = phi(x) for c > 0;  phi(-x) = -phi(x) */
#define HOMOGENEOUS (BIT(ATTEST_FEATURE_IDENTITY) | BIT(ATTEST_FEATURE_RELU) | BIT(ATTEST_FEATURE_COSFORMER))
#define IGNORES_LENGTH BIT(ATTEST_FEATURE_UNIT)
#define ODD (BIT(ATTEST_FEATURE_IDENTITY) | BIT(ATTEST_FEATURE_UNIT))

#define BITS_IN_RANGE                                                                                                  \
    "bits if the kernel is deterministic and no product can under- or overflow, else both runs' bounds"

/* ---- what all have in common ------------------------------------------------------------------------------------- */

static int is_root_norm(const attest_problem *p)
{
    const uint32_t norm = prop_axis(p, ATTEST_AXIS_NORM);
    return norm == ATTEST_NORM_L2 || norm == ATTEST_NORM_RMS || norm == ATTEST_NORM_LAYERNORM ||
           norm >= ATTEST_NORM_LENGTH_L2;
}

static int is_zero_eps(const attest_problem *p) { return !(p->axis[ATTEST_AXIS_EPS].number > 0); }

static int is_input(const attest_cell *cell, attest_role role)
{
    return cell->id.kind == ATTEST_KIND_ROLE && cell->id.index == role;
}

/* 2^shift x in the same type. */
static uint64_t scaled_bits(uint32_t dtype, uint64_t bits, int shift, int *inexact)
{
    const double x = attest_to_f64(dtype, bits), y = ldexp(x, shift);
    const uint64_t stored = attest_from_f64(dtype, y);
    if (attest_to_f64(dtype, stored) != y || ldexp(y, -shift) != x)
        *inexact = 1;
    return stored;
}

/* Outputs that the factor brings beyond the largest number of their type say nothing, nor does what overflowed, nor a
 * quotient by 0, whose sign is that of the 0. */
static int stays_finite(const attest_relation *r, const attest_trial *trial, const attest_cell *cell)
{
    const attest_tensor *first = attest_bundle_get(trial->outputs, cell->id);
    const double x = attest_load(first, attest_offset(first, cell->at[0], cell->at[1], cell->at[2], cell->at[3]));
    return x == 0 || isnan(x) || cell->id.index == ATTEST_LSE ||
           (isfinite(x) && ilogb(x) + r->exponent[cell->id.index] < attest_format_of(cell->dtype).emax);
}

/* Bits or bounds, for factors up to 2^margin of any product. */
static void demand(attest_relation *r, const attest_trial *trial, double margin)
{
    r->bits = (trial->kernel.flags & ATTEST_DETERMINISTIC) && attest_range_safe(trial, margin);
    r->related = stays_finite;
    if (r->bits) /* under bounds the tolerances know what is tiny; 2^emin itself may be rounded from below */
        r->least = fmax(nextafter(ldexp(1, attest_format_of(trial->c.problem.out).emin), 1), 0x1p-100);
}

/* Is scale 2^shift a normal number of the type that the kernel keeps it in (unknown: f16)? */
static int keeps_scale(const attest_trial *trial, int shift)
{
    const uint32_t kept = trial->kernel.numerics.scale_dtype;
    const attest_format f = attest_format_of(kept ? kept - 1 : ATTEST_F16);
    const int size = trial->c.problem.scale != 0 ? ilogb(trial->c.problem.scale) : 0;
    return size > f.emin && size < f.emax && size + shift > f.emin && size + shift < f.emax;
}

/* Are q and k scaled, and then maybe rounded, in both runs or in none?  A scale of 1 or -1 need not be multiplied. */
static int scales_alike(const attest_trial *trial, int shift)
{
    const double scale = fabs(trial->c.problem.scale);
    const attest_numerics *n = &trial->kernel.numerics;
    const int takes = n->schedule == ATTEST_SCHEDULE_UNKNOWN && !attest_kv_scaled(&trial->c.problem) &&
                      attest_kv_dtype(&trial->c.problem) != trial->c.problem.in;
    const uint32_t type = n->scaled_dtype ? n->scaled_dtype : takes ? 1 + attest_kv_dtype(&trial->c.problem) : 0;
    const int rounds = type && attest_format_of(type - 1).p < attest_format_of(trial->c.problem.in).p;
    return !rounds || (scale == 1) == (ldexp(scale, shift) == 1);
}

/* A shift of 1..most or its negative. */
static int draw_shift(const attest_trial *trial, const attest_property *property, int most)
{
    const uint32_t word = attest_trial_word(trial, property, 0);
    const int size = 1 + (int)((word >> 8) % (uint32_t)most);
    return word & 1 ? -size : size;
}

/* o is off by an amount that follows log2 of `size`, and by an eighth. */
static void spoil_by(const attest_bundle *outputs, double size)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    const double part = 0.125 + (size != 0 && isfinite(size) ? (ilogb(size) + (size < 0)) / 4.0 : 0);
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++) {
        const double x = attest_load(o, at);
        attest_store_bits(o, at, attest_from_f64(o->dtype, x + part * (1 + fabs(x))));
    }
}

/* The largest magnitude of an input. */
static double size_of(const attest_bundle *inputs, attest_role role)
{
    const attest_tensor *t = attest_bundle_role(inputs, role);
    double most = 0;
    for (int64_t at = 0; at < attest_tensor_count(t); at++)
        most = fmax(most, fabs(attest_load(t, at)));
    return most;
}

static void violate_by_values(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    (void)p;
    spoil_by(outputs, size_of(inputs, ATTEST_V));
}

static void violate_by_queries(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    (void)p;
    spoil_by(outputs, size_of(inputs, ATTEST_Q));
}

static void violate_by_scale(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    (void)inputs;
    spoil_by(outputs, p->scale);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static int is_value(const attest_cell *cell) { return is_input(cell, ATTEST_V) || cell->id.kind == ATTEST_KIND_H0; }

static uint64_t scaled_value(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                             uint64_t bits, int *inexact)
{
    (void)trial;
    return is_value(cell) ? scaled_bits(cell->dtype, bits, r->shift, inexact) : bits;
}

static int applies_value_scaling(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return !is_root_norm(p) || is_zero_eps(p);
}

static attest_status check_value_scaling(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_relation_init(&r, trial);
    r.shift = draw_shift(trial, &attest_property_value_scaling, 6);
    if (attest_kv_dtype(&trial->c.problem) == ATTEST_F16 ||
        attest_kv_scaled(&trial->c.problem)) /* smaller values are no normal numbers any more */
        r.shift = abs(r.shift);
    r.value = scaled_value;
    r.exponent[ATTEST_U] = r.shift;
    r.exponent[ATTEST_O] = is_root_norm(&trial->c.problem) ? 0 : r.shift;
    demand(&r, trial, abs(r.shift));
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_value_scaling = {
    "value-scaling",
    "values (and h0) times 2^k: o and u times 2^k; o as it was under l2, rms and layernorm",
    "all; not l2, rms and layernorm with eps > 0, which has a size of its own",
    BITS_IN_RANGE,
    ATTEST_NEEDS_NOTHING,
    applies_value_scaling,
    check_value_scaling,
    violate_by_values
};

/* A factor at q, k or scale meets every degree. */
static double degree_margin(const attest_problem *p, int shift)
{
    const uint32_t order = p->axis[ATTEST_AXIS_WEIGHT].order;
    return (double)abs(shift) * (order > 1 ? order : 1);
}

/* ---- scales of 8 bits -------------------------------------------------------------------------------------------- */

/* k and v times 2^k, k_scale and v_scale times 2^-k. */
static uint64_t moved_scale(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                            int *inexact)
{
    (void)trial;
    if (is_input(cell, ATTEST_K) || is_input(cell, ATTEST_V))
        return scaled_bits(cell->dtype, bits, r->shift, inexact);
    if (is_input(cell, ATTEST_K_SCALE) || is_input(cell, ATTEST_V_SCALE))
        return scaled_bits(cell->dtype, bits, -r->shift, inexact);
    return bits;
}

static int applies_cache_scales(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return attest_kv_scaled(p);
}

/* One power of two: where a number of 8 bits is subnormal it may still be doubled. */
static attest_status check_cache_scales(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_relation_init(&r, trial);
    r.shift = 1;
    r.value = moved_scale;
    demand(&r, trial, 2 * degree_margin(&trial->c.problem, r.shift));
    if (attest_format_of(trial->c.problem.p).emin > attest_format_of(trial->c.problem.acc).emin)
        r.bits = 0; /* v_scale w may be cast: what is subnormal there has fewer bits */
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_cache_scales = {
    "cache-scales",
    "k and v of 8 bits times 2, k_scale and v_scale halved: all as it was",
    "kv=e4m3 and e5m2, where no number leaves its type",
    BITS_IN_RANGE,
    ATTEST_NEEDS_NOTHING,
    applies_cache_scales,
    check_cache_scales,
    violate_by_values
};

static uint64_t negated_value(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                              uint64_t bits, int *inexact)
{
    (void)r;
    (void)trial;
    (void)inexact;
    return is_value(cell) ? attest_flip_sign(cell->dtype, bits) : bits;
}

static int applies_value_sign(const attest_problem *p, const attest_prop_kernel *k)
{
    return (k->flags & ATTEST_DETERMINISTIC) && !prop_axis(p, ATTEST_AXIS_AFFINE);
}

static attest_status check_value_sign(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_relation_init(&r, trial);
    r.value = negated_value;
    r.related = stays_finite;
    r.negative = 1;
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_value_sign = { "value-sign",
                                                     "values (and h0) with the other sign: o and u with the other sign",
                                                     "all without affine, whose shift has a sign of its own",
                                                     "bits",
                                                     ATTEST_NEEDS_NOTHING,
                                                     applies_value_sign,
                                                     check_value_sign,
                                                     attest_violate_by_row };

/* ---- queries, keys, scale ---------------------------------------------------------------------------------------- */

/* q 2^k, k 2^-k; given states of degree n, made of keys, 2^-kn. */
static uint64_t scaled_pair(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                            int *inexact)
{
    const int homogeneous = !prop_feature_in(&trial->c.problem, IGNORES_LENGTH);
    const int state = cell->id.kind == ATTEST_KIND_H0 || cell->id.kind == ATTEST_KIND_Z0;
    int shift = 0;
    if (is_input(cell, ATTEST_Q))
        shift = r->shift;
    else if (is_input(cell, ATTEST_K))
        shift = -r->shift;
    else if (state && homogeneous)
        shift = -r->shift * (int)cell->id.index;
    return shift ? scaled_bits(cell->dtype, bits, shift, inexact) : bits;
}

static int applies_key_query(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return prop_feature_in(p, IGNORES_LENGTH) || (prop_feature_in(p, HOMOGENEOUS) && !prop_axis(p, ATTEST_AXIS_UPDATE));
}

static attest_status check_key_query(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_relation_init(&r, trial);
    r.shift = draw_shift(trial, &attest_property_key_query_scaling, 3);
    r.value = scaled_pair;
    demand(&r, trial, 2 * degree_margin(&trial->c.problem, r.shift));
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_key_query_scaling = {
    "key-query-scaling",
    "q times 2^k and keys (and given states, by degree) times 2^-k: all as it was",
    "feature identity, relu, cosformer, unit; delta and efla, where keys enter alone, with unit only",
    BITS_IN_RANGE,
    ATTEST_NEEDS_NOTHING,
    applies_key_query,
    check_key_query,
    violate_by_queries
};

/* With cut = 1 the sign, else the size. */
static uint64_t folded_query(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                             uint64_t bits, int *inexact)
{
    (void)trial;
    if (!is_input(cell, ATTEST_Q))
        return bits;
    return r->cut ? attest_flip_sign(cell->dtype, bits) : scaled_bits(cell->dtype, bits, -r->shift, inexact);
}

static int applies_folding(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return p->scale != 0 && prop_feature_in(p, HOMOGENEOUS | ODD);
}

static attest_status check_folding(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    const int odd = prop_feature_in(&trial->c.problem, ODD), sized = prop_feature_in(&trial->c.problem, HOMOGENEOUS);
    attest_relation_init(&r, trial);
    r.cut = odd && (!sized || (trial->host->bounds && attest_trial_word(trial, &attest_property_scale_folding, 1) & 1));
    r.shift = r.cut ? 0 : 2 * draw_shift(trial, &attest_property_scale_folding, 1); /* even, as roots of scale want */
    r.value = folded_query;
    r.c.problem.scale = r.cut ? -r.c.problem.scale : ldexp(r.c.problem.scale, r.shift);
    if (r.cut) { /* no bits: where scale > 0 the largest score may be found before the scale, else after it */
        r.related = stays_finite;
        r.bits = 0;
    } else {
        demand(&r, trial, 2 * degree_margin(&trial->c.problem, r.shift));
        r.bits = r.bits && keeps_scale(trial, r.shift) && scales_alike(trial, r.shift);
    }
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_scale_folding = {
    "scale-folding",
    "scale times 2^k and q times 2^-k, or both with the other sign: all as it was",
    "size: feature identity, relu, cosformer; sign: identity, unit; not with scale=0",
    "size: " BITS_IN_RANGE "; sign: both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_folding,
    check_folding,
    violate_by_scale
};

/* ---- homogeneous weights ----------------------------------------------------------------------------------------- */

/* o of degree P in the scale, or of degree 0. */
static int is_quotient(const attest_problem *p)
{
    const uint32_t norm = prop_axis(p, ATTEST_AXIS_NORM);
    return norm == ATTEST_NORM_SUM || is_root_norm(p);
}

static int applies_homogeneity(const attest_problem *p, const attest_prop_kernel *k)
{
    const uint32_t weight = prop_axis(p, ATTEST_AXIS_WEIGHT), norm = prop_axis(p, ATTEST_AXIS_NORM);
    (void)k;
    return (weight == ATTEST_WEIGHT_TERM || weight == ATTEST_WEIGHT_POWER) && p->scale != 0 &&
           norm != ATTEST_NORM_SINK && norm != ATTEST_NORM_FLOOR && (!is_quotient(p) || is_zero_eps(p)) &&
           !prop_axis(p, ATTEST_AXIS_FILTER) && !prop_axis(p, ATTEST_AXIS_CLAMP) && !prop_axis(p, ATTEST_AXIS_CAP) &&
           !prop_has_bias(p);
}

/* Powers are made of products by what these schedules say; a pow() of its own has other roundings at other sizes. */
static int powers_by_products(const attest_prop_kernel *k)
{
    const uint32_t schedule = k->numerics.schedule;
    return schedule == ATTEST_SCHEDULE_DIRECT || schedule == ATTEST_SCHEDULE_RECURRENT ||
           schedule == ATTEST_SCHEDULE_CHUNK;
}

static attest_status check_homogeneity(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const int order = (int)p->axis[ATTEST_AXIS_WEIGHT].order;
    attest_relation r;
    attest_relation_init(&r, trial);
    r.shift = 2 * draw_shift(trial, &attest_property_term_homogeneity, 1); /* even: so may a root of scale be */
    const int degree = r.shift * order;
    r.c.problem.scale = ldexp(p->scale, r.shift);
    r.exponent[ATTEST_U] = r.exponent[ATTEST_Z] = degree;
    r.exponent[ATTEST_O] = is_quotient(p) ? 0 : degree;
    r.lse_shift = degree * (trial->kernel.flags & ATTEST_LSE_BASE2 ? 1 : 0x1.62e42fefa39efp-1);
    r.lse_slack = fabs(r.lse_shift) * 0x1p-52;
    demand(&r, trial, 2 * degree_margin(p, r.shift));
    r.bits = r.bits && keeps_scale(trial, r.shift) && scales_alike(trial, r.shift) &&
             (order <= 1 || powers_by_products(&trial->kernel)) &&
             p->p == p->acc; /* a cast weight may leave its format's normal numbers */
    if (r.bits && degree)    /* a logarithm is shifted, not scaled: its bits are not known */
        r.outputs &= ~(uint32_t)ATTEST_GIVES_LSE;
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_term_homogeneity = {
    "term-homogeneity",
    "scale times 2^k: u and z times 2^(kP), o too, or as it was where a norm divides it out",
    "weight term:P, power:P (delta, efla: P=1) without cap, clamp, alibi, bias, filter, sink, floor, eps",
    BITS_IN_RANGE,
    ATTEST_NEEDS_NOTHING,
    applies_homogeneity,
    check_homogeneity,
    violate_by_scale
};
