/* property_dyadic.c - the bit-exact lane.  Inputs are small integers, scale and decays powers of two, so
 * that every product and sum of every order of evaluation is a number of acc, and u, z and the states are known to the
 * bit.
 *
 * With |q|, |k| <= a, |v| <= a_v, S = d a^2 >= |<q,k>| and N keys (and a given state, that of two keys more), all that
 * a kernel can form is a multiple of one unit and below N W G a_v such units: W the largest weight over the unit of
 * weights and decays, G the largest gate.  That has to be below 1/(unit roundoff of acc, and of the states).  As it is
 * below 2^53 too, what is wanted is summed here in double without a rounding.
 */
#include "props/properties/property_list.h"

#include "props/properties/values.h"

#include "kernels/attest_float.h"

#include <math.h>
#include <stdlib.h>

#define HALVES 2 /* tokens whose decay is 1/2 */
#define RETNET 8 /* most keys with gamma = 1/2 */
#define GATE 2   /* largest gate */

static int applies_dyadic(const attest_problem *p, const attest_prop_kernel *k)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const uint32_t features = 1u << ATTEST_FEATURE_IDENTITY | 1u << ATTEST_FEATURE_RELU;
    static const uint32_t unused[] = { ATTEST_AXIS_CENTER, ATTEST_AXIS_FILTER, ATTEST_AXIS_ROPE,  ATTEST_AXIS_UPDATE,
                                       ATTEST_AXIS_CLAMP,  ATTEST_AXIS_CAP,    ATTEST_AXIS_ALIBI, ATTEST_AXIS_BIAS };
    const uint32_t schedule = k->numerics.schedule;
    /* Roots of 1/2 and of multinomials may be factors of both features: only states, and pairs, know these themselves.
     * An unknown schedule may take a library power (R-POLY). */
    const int pairs = schedule == ATTEST_SCHEDULE_DIRECT || schedule == ATTEST_SCHEDULE_SPLIT;
    const int known = pairs || (schedule != ATTEST_SCHEDULE_UNKNOWN && k->outputs & ATTEST_GIVES_STATE);
    if (weight->order >= 2 && !known)
        return 0;
    if (prop_axis(p, ATTEST_AXIS_DECAY) && (!prop_decays_multiplied(k) || attest_log_decays(p)))
        return 0; /* no e^g but 1 is exact */
    for (size_t n = 0; n < sizeof unused / sizeof unused[0]; n++)
        if (p->axis[unused[n]].value)
            return 0;
    return weight->value != ATTEST_WEIGHT_EXP && (weight->value == ATTEST_WEIGHT_POWER || weight->order <= 2) &&
           prop_feature_in(p, features) && prop_axis(p, ATTEST_AXIS_GATES) != ATTEST_GATES_HEADS;
}

/* ---- the inputs ------------------------------------------------------------------------------------------------- */

typedef struct lane {
    int a, a_v, shift; /* scale = 2^shift: 1/4, 1, 4, whose roots are exact too, on q and on k */
    int fits;
} lane;

/* x^n without a rounding. */
static double power_of(double x, int n)
{
    double power = 1;
    for (int k = 0; k < n; k++)
        power *= x;
    return power;
}

/* c_n scale^n of the weight's degree n. */
static double coefficient(const attest_problem *p, double scale, int degree)
{
    const uint32_t weight = p->axis[ATTEST_AXIS_WEIGHT].value;
    return (degree == 2 && weight != ATTEST_WEIGHT_POWER ? 0.5 : 1) * power_of(scale, degree);
}

static int lowest_degree(const attest_problem *p)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    return weight->value == ATTEST_WEIGHT_TAYLOR ? 0 : (int)weight->order;
}

/* The largest weight over the unit of all degrees. */
static double largest_weight(const attest_problem *p, double scale, double score)
{
    double largest = 0, unit = INFINITY;
    for (int n = lowest_degree(p); n <= (int)p->axis[ATTEST_AXIS_WEIGHT].order; n++) {
        largest += coefficient(p, scale, n) * power_of(score, n);
        unit = fmin(unit, coefficient(p, scale, n));
    }
    return largest / unit;
}

static int decay_exponent(const attest_problem *p)
{
    const uint32_t decay = prop_axis(p, ATTEST_AXIS_DECAY);
    return decay == ATTEST_DECAY_NONE ? 0 : decay != ATTEST_DECAY_RETNET ? HALVES : p->m <= RETNET ? (int)p->m : 0;
}

static lane lane_of(const attest_trial *trial)
{
    const attest_problem *p = &trial->c.problem;
    lane l = { .shift = 2 * (int)(attest_trial_word(trial, &attest_property_dyadic, 0) % 3) - 2 };
    const double room = values_room(p, &trial->kernel.numerics);
    for (l.a = 2; l.a > 0; l.a--)
        for (l.a_v = 8; l.a_v > 0; l.a_v /= 2) {
            const double weight = ldexp(largest_weight(p, ldexp(1, l.shift), (double)(p->d * l.a * l.a)),
                                        decay_exponent(p));
            const double all = (double)(p->m + 2) * weight * GATE * l.a_v;
            if (all < room && weight < 1 / attest_unit_roundoff(p->p)) {
                l.fits = 1;
                return l;
            }
        }
    return l;
}

static int integer_of(uint32_t word, int most) { return (int)(word % (2 * (uint32_t)most + 1)) - most; }

/* 1, or 1/2 for the tokens that the trial says (vector: in half of the channels). */
static double decay_of(const attest_trial *trial, const attest_cell *cell)
{
    const int64_t token = cell->index[ATTEST_LETTER_M], m = trial->c.problem.m;
    const int retnet = cell->id.index == ATTEST_GAMMA;
    if (retnet)
        return m <= RETNET && values_word(trial, &attest_property_dyadic, cell) & 1 ? 0.5 : 1;
    for (uint64_t h = 0; h < HALVES; h++) {
        const uint64_t index = (h + 1) << 32 | (uint64_t)cell->at[1];
        if (attest_trial_word(trial, &attest_property_dyadic, index) % m != token)
            continue;
        if (cell->rank < 4 || values_word(trial, &attest_property_dyadic, cell) & 1)
            return 0.5;
    }
    return 1;
}

/* Given states: one integer a degree and channel for all rows, so that they are symmetric. */
static double state_of(const attest_trial *trial, const attest_cell *cell)
{
    attest_cell first = *cell;
    first.at[2] = 0;
    return integer_of(values_word(trial, &attest_property_dyadic, &first), 1);
}

static uint64_t dyadic_value(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                             uint64_t bits, int *inexact)
{
    static const double gates[] = { 1, GATE, -1, 0 };
    const uint32_t word = values_word(trial, &attest_property_dyadic, cell);
    double x;
    (void)inexact;
    if (cell->id.kind != ATTEST_KIND_ROLE)
        x = state_of(trial, cell);
    else if (cell->id.index == ATTEST_Q || cell->id.index == ATTEST_K)
        x = integer_of(word, (int)r->cut);
    else if (cell->id.index == ATTEST_V)
        x = integer_of(word, r->shift);
    else if (cell->id.index == ATTEST_GIN || cell->id.index == ATTEST_GOUT)
        x = gates[word % 4];
    else if (cell->id.index == ATTEST_DECAY || cell->id.index == ATTEST_GAMMA)
        x = decay_of(trial, cell);
    else
        return bits;
    return attest_from_f64(cell->dtype, x);
}

/* ---- what must come out ----------------------------------------------------------------------------------------- */

static double phi(const attest_problem *p, double x)
{
    return prop_axis(p, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_RELU ? fmax(x, 0) : x;
}

/* Of (b, g, token), channel c: 1 where channels have no decay of their own (c < 0: the token's). */
static double decay_at(const attest_trial *t, int64_t b, int64_t g, int64_t token, int64_t c)
{
    switch (prop_axis(&t->c.problem, ATTEST_AXIS_DECAY)) {
    case ATTEST_DECAY_RETNET: return c < 0 ? values_at(t->inputs, ATTEST_GAMMA, g, 0, 0, 0) : 1;
    case ATTEST_DECAY_SCALAR: return c < 0 ? values_at(t->inputs, ATTEST_DECAY, b, g, token, 0) : 1;
    case ATTEST_DECAY_VECTOR: return c < 0 ? 1 : values_at(t->inputs, ATTEST_DECAY, b, g, token, c);
    default: return 1;
    }
}

/* What one row, or a final state, is made of: D of every key up to token i, and D W(s). */
typedef struct history {
    const attest_trial *t;
    double *decay;  /* [(j+1)(d+1) + c+1]: product over the tokens after j up to i; j = -1: of a given state */
    double *weight; /* [j] */
} history;

static double decay_since(const history *past, int64_t j, int64_t c)
{
    return past->decay ? past->decay[(j + 1) * (past->t->c.problem.d + 1) + c + 1] : 1;
}

static void fill_decays(history *past, int64_t b, int64_t g, int64_t i)
{
    const int64_t width = past->t->c.problem.d + 1;
    for (int64_t c = 0; past->decay && c < width; c++) {
        past->decay[(i + 1) * width + c] = 1;
        for (int64_t j = i; j >= 0; j--)
            past->decay[j * width + c] = past->decay[(j + 1) * width + c] * decay_at(past->t, b, g, j, c - 1);
    }
}

static void fill_weights(history *past, const values_row *row)
{
    const attest_trial *t = past->t;
    const attest_problem *p = &t->c.problem;
    for (int64_t j = row->first; j < row->last; j++) {
        double dot = 0, weight = 0;
        for (int64_t c = 0; c < p->d; c++)
            dot += phi(p, values_at(t->inputs, ATTEST_Q, row->b, row->h, row->i, c)) *
                   phi(p, values_at(t->inputs, ATTEST_K, row->b, row->g, j, c)) * decay_since(past, j, c);
        for (int n = lowest_degree(p); n <= (int)p->axis[ATTEST_AXIS_WEIGHT].order; n++)
            weight += coefficient(p, p->scale, n) * power_of(dot, n);
        past->weight[j] = weight * decay_since(past, j, -1);
    }
}

/* What the given states add to channel c of u, or (c < 0) to z: their rows are all alike. */
static double given_part(const history *past, const values_row *row, int64_t c)
{
    const attest_trial *t = past->t;
    const attest_problem *p = &t->c.problem;
    double sum = 0, part = 0;
    if (!prop_axis(p, ATTEST_AXIS_STATE))
        return 0;
    for (int64_t x = 0; x < p->d; x++)
        sum += phi(p, values_at(t->inputs, ATTEST_Q, row->b, row->h, row->i, x)) * decay_since(past, -1, x);
    for (int n = lowest_degree(p); n <= (int)p->axis[ATTEST_AXIS_WEIGHT].order; n++) {
        const attest_tensor_id id = { c < 0 ? ATTEST_KIND_Z0 : ATTEST_KIND_H0, (uint32_t)n };
        const attest_tensor *state = attest_bundle_get(t->inputs, id);
        part += coefficient(p, p->scale, n) * power_of(sum, n) *
                attest_load(state, attest_offset(state, row->b, row->g, 0, c < 0 ? 0 : c));
    }
    return part * decay_since(past, -1, -1);
}

static double gate_of(const attest_trial *t, attest_role role, int64_t b, int64_t h, int64_t at)
{
    return attest_bundle_role(t->inputs, role) ? values_at(t->inputs, role, b, h, at, 0) : 1;
}

static void compare_row(attest_finding *found, history *past, const values_row *row)
{
    const attest_trial *t = past->t;
    const attest_problem *p = &t->c.problem;
    const uint32_t norm = prop_axis(p, ATTEST_AXIS_NORM);
    const int o_known = norm != ATTEST_NORM_SINK && norm <= ATTEST_NORM_LENGTH && !prop_axis(p, ATTEST_AXIS_EPS);
    const double gate = gate_of(t, ATTEST_GOUT, row->b, row->h, row->i);
    fill_decays(past, row->b, row->g, row->i);
    fill_weights(past, row);
    double z = given_part(past, row, -1);
    for (int64_t j = row->first; j < row->last; j++)
        z += past->weight[j];
    const double divisor = values_divisor(p, z, (double)(row->last - row->first));
    if (attest_bundle_role(t->outputs, ATTEST_Z))
        values_add_interval(found, t->outputs, ATTEST_Z, row, 0, z, 0);
    for (int64_t c = 0; c < p->e; c++) {
        double u = given_part(past, row, c);
        for (int64_t j = row->first; j < row->last; j++)
            u += past->weight[j] * gate_of(t, ATTEST_GIN, row->b, row->g, j) *
                 values_at(t->inputs, ATTEST_V, row->b, row->g, j, c);
        if (attest_bundle_role(t->outputs, ATTEST_U))
            values_add_interval(found, t->outputs, ATTEST_U, row, c, u, 0);
        if (o_known && divisor != 0)
            values_add_interval(found, t->outputs, ATTEST_O, row, c, gate * u / divisor,
                                fabs(gate) * values_quotient_radius(p, &t->kernel, u, divisor));
    }
}

/* ---- states ----------------------------------------------------------------------------------------------------- */

/* The multi-index of a state's row moves on: every index (full), or the non-decreasing ones (packed). */
static void next_index(int64_t index[ATTEST_MAX_ORDER], int degree, int64_t dim, int packed)
{
    int at = degree - 1;
    while (at >= 0 && index[at] == dim - 1)
        at--;
    if (at < 0)
        return;
    index[at]++;
    for (int k = at + 1; k < degree; k++)
        index[k] = packed ? index[at] : 0;
}

/* Row `index` of degree n, channel c of h (or z: c < 0), after the last key that `row` sees. */
static double state_after(const history *past, const int64_t *index, int n, const values_row *row, int64_t c)
{
    const attest_trial *t = past->t;
    const attest_problem *p = &t->c.problem;
    const int64_t b = row->b, g = row->g;
    const attest_tensor *given = attest_bundle_get(
        t->inputs, (attest_tensor_id){ c < 0 ? ATTEST_KIND_Z0 : ATTEST_KIND_H0, (uint32_t)n });
    double sum = 0;
    for (int64_t j = given ? -1 : 0; j < row->last; j++) {
        double x = decay_since(past, j, -1);
        if (j < 0)
            x *= attest_load(given, attest_offset(given, b, g, 0, c < 0 ? 0 : c));
        else if (c >= 0)
            x *= gate_of(t, ATTEST_GIN, b, g, j) * values_at(t->inputs, ATTEST_V, b, g, j, c);
        for (int k = 0; k < n; k++)
            x *= (j < 0 ? 1 : phi(p, values_at(t->inputs, ATTEST_K, b, g, j, index[k]))) *
                 decay_since(past, j, index[k]);
        sum += x;
    }
    return sum;
}

static void compare_state(attest_finding *found, history *past, attest_tensor_id id, const attest_tensor *got)
{
    const attest_trial *t = past->t;
    const attest_problem *p = &t->c.problem;
    const int n = (int)id.index, packed = (t->kernel.flags & ATTEST_PACKED_STATE) != 0;
    const int64_t width = id.kind == ATTEST_KIND_HT ? got->shape[3] : 1;
    for (int64_t head = 0; head < p->b * p->hkv; head++) {
        const int64_t b = head / p->hkv, g = head % p->hkv;
        values_row row = values_row_of(p, t->inputs, (b * p->hq + 1) * p->n - 1); /* its last query */
        row.g = g;
        int64_t index[ATTEST_MAX_ORDER] = { 0 };
        fill_decays(past, b, g, row.last - 1);
        for (int64_t r = 0; row.last > row.first && r < got->shape[2]; r++) {
            for (int64_t c = 0; c < width; c++) {
                const int64_t at[4] = { b, g, r, c };
                const double want = state_after(past, index, n, &row, id.kind == ATTEST_KIND_HT ? c : -1);
                attest_finding_add(found, id, at, attest_load(got, attest_offset(got, b, g, r, c)), want, -1);
            }
            next_index(index, n, p->d, packed);
        }
    }
}

static void compare_states(attest_finding *found, history *past)
{
    const attest_trial *t = past->t;
    static const uint32_t kinds[] = { ATTEST_KIND_HT, ATTEST_KIND_ZT };
    for (uint32_t n = 0; n <= t->c.problem.axis[ATTEST_AXIS_WEIGHT].order; n++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            const attest_tensor_id id = { kinds[k], n };
            const attest_tensor *got = attest_bundle_get(t->outputs, id);
            if (got)
                compare_state(found, past, id, got);
        }
}

static attest_status compare_all(attest_finding *found, const attest_trial *t, attest_error *err)
{
    const attest_problem *p = &t->c.problem;
    const size_t keys = (size_t)(p->m > p->n ? p->m : p->n) + 1;
    history past = { .t = t, .weight = calloc(keys, sizeof *past.weight) };
    if (prop_axis(p, ATTEST_AXIS_DECAY))
        past.decay = calloc(keys * (size_t)(p->d + 1), sizeof *past.decay);
    const int ready = past.weight && (past.decay || !prop_axis(p, ATTEST_AXIS_DECAY));
    for (int64_t number = 0; ready && number < values_row_count(p); number++) {
        const values_row row = values_row_of(p, t->inputs, number);
        if (row.last > row.first)
            compare_row(found, &past, &row);
    }
    if (ready)
        compare_states(found, &past);
    free(past.weight);
    free(past.decay);
    return ready ? ATTEST_OK : attest_fail(err, ATTEST_NO_MEMORY, "no memory for weights and decays");
}

static attest_status check_dyadic(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const lane l = lane_of(trial);
    attest_relation r;
    values_run run = { .inputs = NULL };
    int usable = l.fits;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.c.problem.scale = ldexp(1, l.shift);
    r.cut = l.a;
    r.shift = l.a_v;
    r.value = dyadic_value;
    if (usable)
        ATTEST_TRY(values_run_make(&run, &usable, found, trial, &r, err));
    if (usable)
        ATTEST_TRY(compare_all(found, &run.trial, err));
out:
    values_run_clear(&run);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_dyadic = {
    "dyadic",
    "small integers, scale and decays powers of two: u, z, o and final states are the integer sums",
    "power:P, term and taylor up to P=2 (from 2: declared, by pairs or with states given); features identity, relu; "
    "any mask, window, lens, decay (declared as multiplied), given state, gates but heads; no "
    "center, filter, rope, cap, alibi, bias, clamp, delta; o of norms sum, floor, none, length",
    "exact, whatever the order: N (d a^2)^n a_v below 1/u; o up to the declared division",
    ATTEST_NEEDS_NOTHING,
    applies_dyadic,
    check_dyadic,
    attest_violate_by_row
};
