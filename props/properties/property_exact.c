/* property_exact.c - equal weights and single keys; no reference.
 *
 * Where all weights of a row are equal in the formula (q = 0; one key), o is a mean of values that are known.
 * Polynomial weights are 1 or 0 there by every order of evaluation, and o errs by its division alone.  Those of
 * weight=exp are e^0, computed: with N keys, B tiles, S parts and the declared errors of exp (E), of the cast to p (U),
 * of sums (A), of the division (D, of which a running mean has one a key), both sums are sum of (1+x) v with
 * |x| <= (1+B+S) E + U and N+B+S+4 roundings A.  Parts may be merged one after another by their lse, each of an error M
 * (R-MERGE: the logarithm, of 1 + ln(N+1), and 12 roundings of ln(N+1)) and by a sigmoid G, and stored with an error T,
 * so that
 *
 *     |o - mean v| <= mean |v| (2 ((1+B+S) E + U + min(S,N) (M+G+T)) + 2 (N+B+S+4) A + D) (1 + 1/4), if below 1/4,
 *
 * then one rounding to o's type: o lies between the roundings of both ends.  What is not declared has its ceiling.
 */
#include "props/properties/property_list.h"

#include "props/properties/values.h"

#include "kernels/attest_float.h"

#include <math.h>

/* The factor above; infinite where it is not small. */
static double equal_weights_error(const attest_problem *p, const attest_prop_kernel *k, int64_t keys)
{
    const attest_numerics *n = &k->numerics;
    const double count = (double)keys;
    const double tiles = n->schedule == ATTEST_SCHEDULE_TWO_PASS ? 0
                         : n->tile > 0                           ? ceil(count / (double)n->tile) + 1
                                                                 : count + 1;
    const double parts = n->schedule == ATTEST_SCHEDULE_SPLIT || n->schedule == ATTEST_SCHEDULE_UNKNOWN
                             ? (double)(n->splits > 0 ? n->splits : p->splits) + 1
                             : 0;
    const double cast = p->p == p->acc ? 0 : 2 * attest_unit_roundoff(p->p);
    const double sums = 2 * (n->acc_unit > 0 ? n->acc_unit : attest_unit_roundoff(p->acc));
    const double exp_error = values_declared(n->exp_error), log_error = n->log_error > 0 ? n->log_error : 4.5 * sums;
    const double merge = log_error * (1 + log1p(count)) + 6 * sums * log1p(count) + fmax(n->sigmoid_error, exp_error) +
                         (n->state_dtype > 0 ? attest_unit_roundoff(n->state_dtype - 1) : 0);
    const double divisions = n->division == ATTEST_DIVISION_RUNNING ? count : 1;
    const double factor = 2 * ((1 + tiles + parts) * exp_error + cast + fmin(parts, count) * merge) +
                          2 * (count + tiles + parts + 4) * sums + divisions * values_declared(n->div_error);
    return factor < 0.25 ? 1.25 * factor : INFINITY;
}

/* A value that the property makes: an integer of -8..8. */
static double small_value(const attest_trial *trial, const attest_property *property, const attest_cell *cell)
{
    return (double)(values_word(trial, property, cell) % 17) - 8;
}

/* ---- q = 0 ------------------------------------------------------------------------------------------------------ */

/* phi(0) = 0, so that every score is 0. */
#define ZERO_AT_ZERO                                                                                                   \
    (1u << ATTEST_FEATURE_IDENTITY | 1u << ATTEST_FEATURE_RELU | 1u << ATTEST_FEATURE_UNIT |                           \
     1u << ATTEST_FEATURE_SILU | 1u << ATTEST_FEATURE_SILU_UNIT | 1u << ATTEST_FEATURE_COSFORMER)

static int applies_zero(const attest_problem *p, const attest_prop_kernel *k)
{
    const attest_setting *clamp = &p->axis[ATTEST_AXIS_CLAMP];
    (void)k;
    return prop_feature_in(p, ZERO_AT_ZERO) && !prop_has_bias(p) && !prop_axis(p, ATTEST_AXIS_DECAY) &&
           !prop_axis(p, ATTEST_AXIS_GATES) && !prop_axis(p, ATTEST_AXIS_UPDATE) && !prop_axis(p, ATTEST_AXIS_STATE) &&
           prop_axis(p, ATTEST_AXIS_NORM) <= ATTEST_NORM_LENGTH && prop_axis(p, ATTEST_AXIS_NORM) != ATTEST_NORM_SINK &&
           !prop_axis(p, ATTEST_AXIS_EPS) && (!clamp->value || clamp->number >= 0);
}

/* q = 0, k small integers of -2..2 (no state overflows), v small integers. */
static uint64_t zero_query(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                           int *inexact)
{
    (void)r;
    (void)inexact;
    if (values_is(cell, ATTEST_Q))
        return 0;
    if (values_is(cell, ATTEST_K))
        return attest_from_f64(cell->dtype, (double)(values_word(trial, &attest_property_zero_query, cell) % 5) - 2);
    if (values_is(cell, ATTEST_V))
        return attest_from_f64(cell->dtype, small_value(trial, &attest_property_zero_query, cell));
    return bits;
}

/* W(0). */
static double weight_of_zero(const attest_problem *p)
{
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    return weight->value == ATTEST_WEIGHT_EXP || weight->value == ATTEST_WEIGHT_TAYLOR || weight->order == 0;
}

static void compare_zero(attest_finding *found, const attest_trial *t, const values_row *row)
{
    const attest_problem *p = &t->c.problem;
    const double weight = weight_of_zero(p), keys = (double)(row->last - row->first), z = weight * keys;
    const int exact = prop_axis(p, ATTEST_AXIS_WEIGHT) != ATTEST_WEIGHT_EXP;
    const double divisor = values_divisor(p, z, keys);
    if (exact && 8 * keys >= values_room(p, &t->kernel.numerics))
        return; /* sums of up to 8 a key need not be exact */
    if (exact && attest_bundle_role(t->outputs, ATTEST_Z))
        values_add(found, ATTEST_Z, row, 0, values_output(t->outputs, ATTEST_Z, row, 0), z, -1);
    for (int64_t c = 0; c < p->e; c++) {
        double u = 0, absolute = 0;
        for (int64_t j = row->first; j < row->last; j++) {
            const double v = values_at(t->inputs, ATTEST_V, row->b, row->g, j, c);
            u += weight * v;
            absolute += weight * fabs(v);
        }
        if (exact && attest_bundle_role(t->outputs, ATTEST_U))
            values_add(found, ATTEST_U, row, c, values_output(t->outputs, ATTEST_U, row, c), u, -1);
        if (divisor == 0)
            continue;
        const double radius = exact ? values_quotient_radius(p, &t->kernel, u, divisor)
                                    : absolute / divisor * equal_weights_error(p, &t->kernel, row->last - row->first);
        values_add_interval(found, t->outputs, ATTEST_O, row, c, u / divisor, radius);
    }
}

static attest_status check_zero(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    values_run run = { .inputs = NULL };
    int usable;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.c.problem.scale = 1;
    r.value = zero_query;
    ATTEST_TRY(values_run_make(&run, &usable, found, trial, &r, err));
    for (int64_t number = 0; usable && number < values_row_count(&r.c.problem); number++) {
        const values_row row = values_row_of(&r.c.problem, run.inputs, number);
        if (row.last > row.first)
            compare_zero(found, &run.trial, &row);
    }
out:
    values_run_clear(&run);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_zero_query = {
    "zero-query",
    "q = 0: o is the mean of v (norm=none: the sum), or 0 where W(0) = 0",
    "features with phi(0) = 0, norms sum, floor, none, length without eps; no gates, alibi, bias, decay, given states, "
    "delta",
    "exact: u, z, and o up to the declared division; exp: e^0 by its declared error, see property_exact.c",
    ATTEST_NEEDS_NOTHING,
    applies_zero,
    check_zero,
    attest_violate_by_row
};

/* ---- one key ---------------------------------------------------------------------------------------------------- */

static int applies_one_key(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return prop_axis(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP && prop_axis(p, ATTEST_AXIS_NORM) == ATTEST_NORM_SUM &&
           !prop_axis(p, ATTEST_AXIS_EPS) && !prop_axis(p, ATTEST_AXIS_GATES) && !prop_axis(p, ATTEST_AXIS_LENS) &&
           prop_axis(p, ATTEST_AXIS_FEATURE) != ATTEST_FEATURE_COSFORMER;
}

/* q and k small integers of -3..3, v of -8..8. */
static uint64_t small_integers(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                               uint64_t bits, int *inexact)
{
    (void)r;
    (void)inexact;
    if (values_is(cell, ATTEST_V))
        return attest_from_f64(cell->dtype, small_value(trial, &attest_property_one_key, cell));
    if (values_is(cell, ATTEST_Q) || values_is(cell, ATTEST_K))
        return attest_from_f64(cell->dtype, (double)(values_word(trial, &attest_property_one_key, cell) % 7) - 3);
    return bits;
}

/* The score is known exactly: integers, and no step after the product. */
static int score_is_known(const attest_problem *p)
{
    const uint32_t features = 1u << ATTEST_FEATURE_IDENTITY | 1u << ATTEST_FEATURE_RELU;
    return prop_feature_in(p, features) && !prop_axis(p, ATTEST_AXIS_ROPE) && !prop_axis(p, ATTEST_AXIS_CAP) &&
           !prop_has_bias(p) && !prop_axis(p, ATTEST_AXIS_CLAMP);
}

static double unit_of(uint32_t declared) { return declared > 0 ? attest_unit_roundoff(declared - 1) : 0; }

/* What a score errs by, relative to its products: sums, and what is stored on the way to it.  The scale is a power of
 * two, but its factor may hold log2(e). */
static double score_units(const attest_problem *p, const attest_numerics *n)
{
    const uint32_t unknown = n->schedule == ATTEST_SCHEDULE_UNKNOWN
                                 ? 1 + (attest_kv_scaled(p) ? p->in : attest_kv_dtype(p))
                                 : 0;
    return attest_unit_roundoff(p->acc) + n->acc_unit + n->score_unit + unit_of(n->score_dtype) +
           unit_of(n->scale_dtype) + 2 * unit_of(n->scaled_dtype > 0 ? n->scaled_dtype : unknown);
}

static void compare_one_key(attest_finding *found, const attest_trial *t, const values_row *row)
{
    const attest_problem *p = &t->c.problem;
    const double factor = equal_weights_error(p, &t->kernel, 1);
    const double base = t->kernel.flags & ATTEST_LSE_BASE2 ? M_LOG2E : 1;
    double error;
    for (int64_t c = 0; c < p->e; c++) {
        const double v = values_at(t->inputs, ATTEST_V, row->b, row->g, row->first, c);
        values_add_interval(found, t->outputs, ATTEST_O, row, c, v, fabs(v) * factor);
    }
    if (!attest_bundle_role(t->outputs, ATTEST_LSE) || !score_is_known(p))
        return;
    const double lse = base * values_score(p, t->inputs, row, row->first, &error);
    const double sums = score_units(p, &t->kernel.numerics);
    const double products = 0x1p52 * error; /* (d+4) sum |q k|: each product and each sum is rounded */
    values_add_interval(found, t->outputs, ATTEST_LSE, row, 0, lse,
                        2 * factor + 8 * sums * (1 + fabs(lse)) + 4 * sums * products);
}

static attest_status check_one_key(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    values_run run = { .inputs = NULL };
    int usable;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.c.problem.m = 1;
    r.c.problem.n = prop_axis(&trial->c.problem, ATTEST_AXIS_DECAY) ? 1 : trial->c.problem.n;
    r.c.problem.scale = 0.5;
    r.value = small_integers;
    ATTEST_TRY(values_run_make(&run, &usable, found, trial, &r, err));
    for (int64_t number = 0; usable && number < values_row_count(&r.c.problem); number++) {
        const values_row row = values_row_of(&r.c.problem, run.inputs, number);
        if (row.last == row.first + 1)
            compare_one_key(found, &run.trial, &row);
    }
out:
    values_run_clear(&run);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_one_key = {
    "one-key",
    "a row that sees one key: o is its value, lse its score",
    "softmax (exp, norm=sum without eps), any mask, window, step of scores; no gates, cosformer, lens",
    "exact but for what exp, the cast and the division are declared to err, see property_exact.c",
    ATTEST_NEEDS_NOTHING,
    applies_one_key,
    check_one_key,
    attest_violate_by_row
};

/* ---- rows that see nothing --------------------------------------------------------------------------------------- */

static int applies_fully_masked(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return (prop_axis(p, ATTEST_AXIS_MASK) || prop_axis(p, ATTEST_AXIS_WINDOW) || prop_axis(p, ATTEST_AXIS_LENS) ||
            prop_axis(p, ATTEST_AXIS_ATTN_MASK)) &&
           !prop_axis(p, ATTEST_AXIS_STATE);
}

/* Does the kernel declare that an empty row may hold this instead of zero? */
static int may_hold(const attest_prop_kernel *k, double got)
{
    const uint32_t holds = k->numerics.empty_row;
    return holds == ATTEST_EMPTY_NAN ? isnan(got) : holds != ATTEST_EMPTY_ZERO;
}

/* o = u = z = 0 and lse = -inf, or as declared. */
static void check_empty_row(attest_finding *found, const attest_trial *trial, const values_row *row)
{
    static const attest_role roles[] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };
    const attest_problem *p = &trial->c.problem;
    const uint32_t flags = trial->kernel.flags;
    const int counts_sink = (flags & ATTEST_LSE_WITH_SINK) && prop_axis(p, ATTEST_AXIS_NORM) == ATTEST_NORM_SINK;
    for (size_t x = 0; x < sizeof roles / sizeof roles[0]; x++) {
        const attest_tensor *t = attest_bundle_role(trial->outputs, roles[x]);
        const attest_tensor_id id = { ATTEST_KIND_ROLE, roles[x] };
        const int64_t width = t && t->rank == 4 ? p->e : 1;
        if (!t || (roles[x] == ATTEST_LSE && counts_sink))
            continue;
        for (int64_t c = 0; c < width; c++) {
            const int64_t at[4] = { row->b, row->h, row->i, c };
            const double got = attest_load(t, attest_offset(t, row->b, row->h, row->i, c));
            const double want = roles[x] == ATTEST_LSE ? -(double)INFINITY : 0;
            attest_finding_add(found, id, at, got, may_hold(&trial->kernel, got) ? got : want, -1);
        }
    }
}

static attest_status check_fully_masked(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const attest_tensor *mask = attest_bundle_role(trial->inputs, ATTEST_MASK);
    (void)err;
    for (int64_t n = 0; n < p->b * p->hq * p->n; n++) {
        const values_row row = values_row_of(p, trial->inputs, n);
        if (attest_masks_all(mask, row.b, row.h, row.i, row.first, row.last))
            check_empty_row(found, trial, &row);
    }
    return ATTEST_OK;
}

static void violate_empty_rows(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    (void)p;
    (void)inputs;
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++) {
        const double x = attest_load(o, at);
        if (x == 0 || isnan(x))
            attest_store_bits(o, at, attest_from_f64(o->dtype, 0.5));
    }
}

const attest_property attest_property_fully_masked = {
    "fully-masked",
    "a row without visible key is o = u = z = 0 and lse = -inf (or NaN, where declared)",
    "all with mask, window, lens or attn_mask, without given state",
    "exact",
    ATTEST_NEEDS_NOTHING,
    applies_fully_masked,
    check_fully_masked,
    violate_empty_rows
};
