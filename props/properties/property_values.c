/* property_values.c - what o must be by the values alone. */
#include "props/properties/property_list.h"

#include "props/properties/values.h"

#include "kernels/attest_float.h"

#include <math.h>

/* ---- hull ------------------------------------------------------------------------------------------------------- */

#define FEATURES_POSITIVE (1u << ATTEST_FEATURE_ELU1 | 1u << ATTEST_FEATURE_RELU | 1u << ATTEST_FEATURE_COSFORMER)

/* Every score of every input is >= 0: products of features that are not negative, and steps that keep the sign. */
static int scores_nonnegative(const attest_problem *p)
{
    const attest_setting *clamp = &p->axis[ATTEST_AXIS_CLAMP];
    return prop_feature_in(p, FEATURES_POSITIVE) && p->scale >= 0 && !prop_has_bias(p) &&
           !prop_axis(p, ATTEST_AXIS_CENTER) && (!clamp->value || clamp->number >= 0);
}

/* Every weight is >= 0: e^s; T_P of even order, or of x >= 0; even powers; powers of s >= 0. */
static int weights_nonnegative(const attest_problem *p)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const int least = weight->value == ATTEST_WEIGHT_TAYLOR && prop_axis(p, ATTEST_AXIS_CENTER) == ATTEST_CENTER_MIN;
    return weight->value == ATTEST_WEIGHT_EXP || weight->order % 2 == 0 || least || scores_nonnegative(p);
}

/* z + eps, z + e^sink, max(z, F): the rest of the weight 1 is that of a value 0. */
static int zero_in_hull(const attest_problem *p)
{
    return prop_axis(p, ATTEST_AXIS_NORM) != ATTEST_NORM_SUM || prop_axis(p, ATTEST_AXIS_EPS);
}

static int applies_hull(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return prop_axis(p, ATTEST_AXIS_NORM) <= ATTEST_NORM_FLOOR && !prop_axis(p, ATTEST_AXIS_GATES) &&
           !prop_axis(p, ATTEST_AXIS_UPDATE) && !prop_axis(p, ATTEST_AXIS_STATE) && weights_nonnegative(p);
}

/* Least and largest visible value of channel c. */
static void value_range(double *lo, double *hi, const attest_bundle *inputs, const values_row *row, int64_t c)
{
    for (int64_t j = row->first; j < row->last; j++) {
        const double x = values_at(inputs, ATTEST_V, row->b, row->g, j, c);
        *lo = fmin(*lo, x);
        *hi = fmax(*hi, x);
    }
}

static attest_status check_hull(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const double *bound = NULL;
    attest_status status = ATTEST_OK;
    if (!values_decay_nonnegative(p, trial->inputs))
        goto out;
    ATTEST_TRY(attest_trial_bounds(&bound, trial, ATTEST_O, err));
    for (int64_t number = 0; bound && number < values_row_count(p); number++) {
        const values_row row = values_row_of(p, trial->inputs, number);
        for (int64_t c = 0; c < p->e; c++) {
            double lo = zero_in_hull(p) ? 0 : INFINITY, hi = -lo;
            value_range(&lo, &hi, trial->inputs, &row, c);
            const double o = values_output(trial->outputs, ATTEST_O, &row, c);
            const double nearest = !(o >= lo) ? lo : !(o <= hi) ? hi : o;
            values_add(found, ATTEST_O, &row, c, o, nearest, bound[values_index(p, ATTEST_O, &row, c)]);
        }
    }
out:
    return status;
}

/* Weights that do not add to 1. */
static void violate_outside(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O), *v = attest_bundle_role(inputs, ATTEST_V);
    double most = 1;
    (void)p;
    for (int64_t at = 0; at < attest_tensor_count(v); at++)
        most = fmax(most, fabs(attest_load(v, at)));
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++)
        attest_store_bits(o, at, attest_from_f64(o->dtype, attest_load(o, at) + 3 * most));
}

const attest_property attest_property_hull = {
    "hull",
    "each channel of o lies between the least and the largest visible value",
    "norm sum, sink, floor (or 0 on one side) with weights that cannot be negative: exp; even orders; center=min; "
    "features elu1, relu, cosformer with scale >= 0 without alibi and bias; no gates, given states, delta",
    "the run's bound (R-JUDGE)",
    ATTEST_NEEDS_BOUNDS,
    applies_hull,
    check_hull,
    violate_outside
};

/* ---- constant values -------------------------------------------------------------------------------------------- */

static int applies_constant(const attest_problem *p, const attest_prop_kernel *k)
{
    const uint32_t gates = prop_axis(p, ATTEST_AXIS_GATES);
    (void)k;
    return prop_axis(p, ATTEST_AXIS_NORM) == ATTEST_NORM_SUM && !prop_axis(p, ATTEST_AXIS_EPS) &&
           (gates == ATTEST_GATES_NONE || gates == ATTEST_GATES_OUT) && !prop_axis(p, ATTEST_AXIS_STATE) &&
           !prop_axis(p, ATTEST_AXIS_UPDATE);
}

/* The first key's values for all. */
static uint64_t first_values(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                             uint64_t bits, int *inexact)
{
    const attest_tensor *v = attest_bundle_role(trial->inputs, ATTEST_V);
    (void)r;
    (void)inexact;
    return values_is(cell, ATTEST_V) ? attest_load_bits(v, attest_offset(v, cell->at[0], cell->at[1], 0, cell->at[3]))
                                     : bits;
}

static attest_status compare_constant(attest_finding *found, attest_trial *t, attest_error *err)
{
    const attest_problem *p = &t->c.problem;
    const int gated = prop_axis(p, ATTEST_AXIS_GATES) == ATTEST_GATES_OUT;
    const double *bound[3];
    static const attest_role roles[3] = { ATTEST_O, ATTEST_U, ATTEST_Z };
    attest_status status = ATTEST_OK;
    for (int k = 0; k < 3; k++)
        ATTEST_TRY(attest_trial_bounds(&bound[k], t, roles[k], err));
    for (int64_t number = 0; number < values_row_count(p); number++) {
        const values_row row = values_row_of(p, t->inputs, number);
        const double gate = gated ? values_at(t->inputs, ATTEST_GOUT, row.b, row.h, row.i, 0) : 1;
        for (int64_t c = 0; c < p->e; c++) {
            const int64_t at = values_index(p, ATTEST_O, &row, c);
            const double v = values_at(t->inputs, ATTEST_V, row.b, row.g, 0, c), want = gate * v;
            if (bound[0])
                values_add(found, ATTEST_O, &row, c, values_output(t->outputs, ATTEST_O, &row, c), want,
                           bound[0][at] + 0x1p-52 * fabs(want));
            if (!bound[1] || !bound[2])
                continue;
            const double z = values_output(t->outputs, ATTEST_Z, &row, 0);
            values_add(found, ATTEST_U, &row, c, values_output(t->outputs, ATTEST_U, &row, c), v * z,
                       bound[1][at] + fabs(v) * bound[2][values_index(p, ATTEST_Z, &row, 0)] + 0x1p-52 * fabs(v * z));
        }
    }
out:
    return status;
}

static attest_status check_constant(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    values_run run = { 0 };
    int usable;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.value = first_values;
    if (!trial->host->bounds)
        goto out;
    ATTEST_TRY(values_run_make(&run, &usable, found, trial, &r, err));
    if (usable)
        ATTEST_TRY(compare_constant(found, &run.trial, err));
out:
    values_run_clear(&run);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_constant_value = {
    "constant-value",
    "values that are the same for all keys are o (times gout), and u is z times them",
    "norm=sum without eps, any weight and decay, gates none or out; no given states, delta",
    "the run's bounds (R-JUDGE)",
    ATTEST_NEEDS_BOUNDS,
    applies_constant,
    check_constant,
    attest_violate_by_row
};

/* ---- v = a + b -------------------------------------------------------------------------------------------------- */

static int applies_additivity(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return prop_axis(p, ATTEST_AXIS_NORM) <= ATTEST_NORM_LENGTH && !prop_axis(p, ATTEST_AXIS_STATE);
}

/* Part `cut` of the value: all of it and nothing, nothing and all of it, or its upper half of bits and the rest, as the
 * trial says by key and channel.  Exact: both parts are multiples of the value's last bit. */
static uint64_t part_of_value(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                              uint64_t bits, int *inexact)
{
    if (!values_is(cell, ATTEST_V))
        return bits;
    const uint32_t word = values_word(trial, &attest_property_value_additivity, cell) & 3;
    const int half = attest_format_of(cell->dtype).p / 2;
    const uint64_t upper = word < 2 ? (word == 0 ? bits : 0) : bits >> half << half;
    const double x = attest_to_f64(cell->dtype, bits), first = attest_to_f64(cell->dtype, upper);
    return r->cut == 0 ? upper : values_exactly(cell->dtype, x - first, inexact);
}

static attest_status check_additivity(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    values_run part[2] = { { .inputs = NULL }, { .inputs = NULL } };
    int usable = trial->host->bounds != NULL;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.value = part_of_value;
    for (r.cut = 0; usable && r.cut < 2; r.cut++)
        ATTEST_TRY(values_run_make(&part[r.cut], &usable, found, trial, &r, err));
    if (!usable)
        goto out;
    ATTEST_TRY(values_compare_sum(found, trial, &part[0].trial, &part[1].trial, ATTEST_O, err));
    ATTEST_TRY(values_compare_sum(found, trial, &part[0].trial, &part[1].trial, ATTEST_U, err));
out:
    values_run_clear(&part[0]);
    values_run_clear(&part[1]);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_value_additivity = {
    "value-additivity",
    "v = a + b, split exactly: o and u are those of a plus those of b",
    "norms whose divisor does not read v: sum, sink, floor, none, length; the delta rule too; no given states",
    "the bounds of three runs (R-JUDGE)",
    ATTEST_NEEDS_BOUNDS,
    applies_additivity,
    check_additivity,
    attest_violate_by_row
};

/* ---- all keys twice --------------------------------------------------------------------------------------------- */

static int applies_duplicate(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return prop_no_positions(p) && !prop_axis(p, ATTEST_AXIS_LENS) && !prop_axis(p, ATTEST_AXIS_STATE);
}

/* What doubled u and z do to o: 0 the same, 1 doubled, -1 neither. */
static int o_exponent(const attest_problem *p)
{
    const uint32_t norm = prop_axis(p, ATTEST_AXIS_NORM);
    if (norm == ATTEST_NORM_NONE)
        return 1;
    if (norm >= ATTEST_NORM_LENGTH_L2 || norm == ATTEST_NORM_LENGTH)
        return 0; /* of u/t */
    return norm == ATTEST_NORM_SINK || norm == ATTEST_NORM_FLOOR || prop_axis(p, ATTEST_AXIS_EPS) ? -1 : 0;
}

static attest_status check_duplicate(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const int sink = prop_axis(p, ATTEST_AXIS_NORM) == ATTEST_NORM_SINK, o = o_exponent(p);
    attest_relation r;
    int64_t *from = NULL;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = 0;
    r.c.problem.m = 2 * p->m;
    ATTEST_TRY(attest_relation_map(&from, &r, ATTEST_LETTER_M, 2 * p->m, err));
    for (int64_t j = 0; j < 2 * p->m; j++)
        from[j] = j % p->m;
    r.outputs = ATTEST_GIVES_U | ATTEST_GIVES_Z | (o >= 0 ? ATTEST_GIVES_O : 0);
    if (!sink || !(trial->kernel.flags & ATTEST_LSE_WITH_SINK))
        r.outputs |= ATTEST_GIVES_LSE;
    r.exponent[ATTEST_O] = o > 0;
    r.exponent[ATTEST_U] = r.exponent[ATTEST_Z] = 1;
    r.lse_shift = trial->kernel.flags & ATTEST_LSE_BASE2 ? 1 : M_LN2;
    r.lse_slack = 0x1p-53;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

/* As if the last keys were not there. */
static void violate_by_keys(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    static const attest_role roles[] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };
    (void)inputs;
    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++) {
        const attest_tensor *t = attest_bundle_role(outputs, roles[r]);
        for (int64_t at = 0; t && at < attest_tensor_count(t); at++) {
            const double x = attest_load(t, at);
            attest_store_bits(t, at, attest_from_f64(t->dtype, x + (double)p->m * (1 + fabs(x))));
        }
    }
}

const attest_property attest_property_duplicate_keys = {
    "duplicate-keys",
    "all keys twice: the same o (norm=none: doubled), u and z doubled, lse + ln 2",
    "all without positions, lengths and given states; o not with sink, floor, eps",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_duplicate,
    check_duplicate,
    violate_by_keys
};

/* ---- two equal keys --------------------------------------------------------------------------------------------- */

static int applies_equal(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return p->m > 1 && !prop_axis(p, ATTEST_AXIS_ROPE) && !prop_has_bias(p) && !prop_axis(p, ATTEST_AXIS_DECAY) &&
           !prop_axis(p, ATTEST_AXIS_UPDATE) && prop_axis(p, ATTEST_AXIS_FEATURE) != ATTEST_FEATURE_COSFORMER;
}

static void two_keys(int64_t key[2], const attest_trial *trial)
{
    const int64_t m = trial->c.problem.m;
    key[0] = attest_trial_word(trial, &attest_property_equal_keys, 0) % m;
    key[1] = attest_trial_word(trial, &attest_property_equal_keys, 1) % (m - 1);
    key[1] += key[1] >= key[0];
}

/* Two keys that are one, with what belongs to them; their values: m + delta and m - delta (cut 0), m and m (cut 1),
 * all small integers. */
static uint64_t equal_pair(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                           int *inexact)
{
    int64_t key[2];
    const int64_t j = cell->index[ATTEST_LETTER_M];
    two_keys(key, trial);
    if (cell->id.kind != ATTEST_KIND_ROLE || (j != key[0] && j != key[1]))
        return bits;
    if (cell->id.index != ATTEST_V) {
        const attest_tensor *t = attest_bundle_get(trial->inputs, cell->id);
        return attest_load_bits(t, attest_offset(t, cell->at[0], cell->at[1], key[0], cell->at[3]));
    }
    attest_cell first = *cell;
    first.at[2] = key[0];
    const uint32_t word = values_word(trial, &attest_property_equal_keys, &first);
    const double mean = (double)(word % 17) - 8, delta = (double)(word / 32 % 16 + 1);
    return values_exactly(cell->dtype, r->cut ? mean : j == key[0] ? mean + delta : mean - delta, inexact);
}

/* Rows that see both keys, or none. */
static int sees_both(const attest_relation *r, const attest_trial *trial, const attest_cell *cell)
{
    const attest_problem *p = &trial->c.problem;
    int64_t key[2];
    (void)r;
    two_keys(key, trial);
    const values_row row = values_row_of(p, trial->inputs, (cell->at[0] * p->hq + cell->at[1]) * p->n + cell->at[2]);
    const int first = key[0] >= row.first && key[0] < row.last, second = key[1] >= row.first && key[1] < row.last;
    return first == second;
}

static attest_status check_equal(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    values_run run = { .inputs = NULL };
    int usable = trial->host->bounds != NULL;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = 0;
    r.value = equal_pair;
    if (usable)
        ATTEST_TRY(values_run_make(&run, &usable, found, trial, &r, err));
    r.cut = 1;
    r.related = sees_both;
    if (usable)
        ATTEST_TRY(attest_relation_check(found, &run.trial, &r, err));
out:
    values_run_clear(&run);
    attest_relation_clear(&r);
    return status;
}

/* The first visible key counts more in o than in z. */
static void violate_by_a_key(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    for (int64_t number = 0; o && number < values_row_count(p); number++) {
        const values_row row = values_row_of(p, inputs, number);
        for (int64_t c = 0; c < p->e; c++) {
            double x = values_output(outputs, ATTEST_O, &row, c);
            for (int64_t j = row.first; j < row.last; j++)
                x += (double)(2 * j + 1) * values_at(inputs, ATTEST_V, row.b, row.g, j, c);
            attest_store_bits(o, number * p->e + c, attest_from_f64(o->dtype, x));
        }
    }
}

const attest_property attest_property_equal_keys = {
    "equal-keys",
    "of two equal keys only the sum of the values matters: m+d and m-d are m and m",
    "all without rope, alibi, bias, decay, cosformer, delta; rows that see both keys or none",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_equal,
    check_equal,
    violate_by_a_key
};
