/* property_neutral.c - steps of the formula that, at some value, change nothing.
 *
 * The first run has the axis at its default, the second has the step with its neutral value: gates and decays of 1,
 * slopes of 0, limits beyond every score.  Code for the step is run, so the bits may differ; the truth is the same. */
#include "props/properties/property_list.h"

#include "props/properties/relation.h"
#include "props/properties/values.h"

#include "kernels/attest_float.h"

#include <float.h>
#include <math.h>

/* ---- how large things can be ------------------------------------------------------------------------------------ */

/* Largest |element| of an input; 0 if it is absent, infinite if one is NaN. */
static double largest(const attest_tensor *t)
{
    double most = 0;
    for (int64_t x = 0; t && x < attest_tensor_count(t); x++) {
        const double a = fabs(attest_load(t, x));
        if (!(a <= most)) /* NaN too */
            most = isnan(a) ? (double)INFINITY : a;
    }
    return most;
}

/* 1, or more: of the factors that a holds or whose logarithms it holds; compared with 1, no closer. */
static double largest_decay(const attest_problem *p, const attest_bundle *inputs)
{
    const attest_tensor *a = attest_bundle_role(inputs, ATTEST_DECAY);
    if (!attest_log_decays(p))
        return largest(a);
    for (int64_t x = 0; a && x < attest_tensor_count(a); x++)
        if (!(attest_load(a, x) <= 0))
            return (double)INFINITY;
    return 1;
}

/* An upper bound of |phi(x)| by channel: at most 1 + |x| for these features, and a rotation makes a channel longer by
 * sqrt(2) at most; infinite for any other, which may grow faster. */
static double largest_feature(const attest_problem *p, const attest_bundle *inputs, attest_role role)
{
    static const uint32_t slow[] = { ATTEST_FEATURE_IDENTITY, ATTEST_FEATURE_ELU1, ATTEST_FEATURE_RELU,
                                     ATTEST_FEATURE_UNIT,     ATTEST_FEATURE_SILU, ATTEST_FEATURE_SILU_UNIT,
                                     ATTEST_FEATURE_COSFORMER };
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++)
        if (prop_axis(p, ATTEST_AXIS_FEATURE) == slow[i])
            return 1 + 1.5 * largest(attest_bundle_role(inputs, role));
    return (double)INFINITY;
}

/* 2^-40 more than enough covers the rounding of a handful of double operations. */
#define MORE (1 + 0x1p-40)

/* An upper bound of |score| over all pairs of tokens, before the clamp; infinite if none is known. */
static double largest_score(const attest_problem *p, const attest_bundle *inputs)
{
    const double dot = (double)p->d * largest_feature(p, inputs, ATTEST_Q) * largest_feature(p, inputs, ATTEST_K);
    const double decay = prop_axis(p, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR ? largest_decay(p, inputs) : 0;
    const double bias = values_slope_size(p, inputs) * (double)(p->n + p->m) +
                        largest(attest_bundle_role(inputs, ATTEST_BIAS));
    return decay > 1 || isinf(dot) ? (double)INFINITY : (fabs(p->scale) * dot + bias) * MORE;
}

/* ---- one step switched on --------------------------------------------------------------------------------------- */

typedef uint64_t (*element_value)(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                                  uint64_t bits, int *inexact);
typedef int (*element_related)(const attest_relation *r, const attest_trial *trial, const attest_cell *cell);

/* The case with `axis` at `setting`; r->cut is `cut`. */
static attest_status check_problem(attest_finding *found, attest_trial *trial, const attest_problem *problem,
                                   element_value value, element_related related, int64_t cut, attest_error *err)
{
    attest_relation r;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = 0;
    r.outputs |= ATTEST_GIVES_STATE;
    r.c.problem = *problem;
    r.value = value;
    r.related = related;
    r.cut = cut;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

static attest_status check_step(attest_finding *found, attest_trial *trial, attest_axis axis, attest_setting setting,
                                element_value value, element_related related, int64_t cut, attest_error *err)
{
    attest_problem problem = trial->c.problem;
    problem.axis[axis] = setting;
    return check_problem(found, trial, &problem, value, related, cut, err);
}

void prop_violate_by(const attest_bundle *outputs, double part)
{
    attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_O };
    for (uint32_t n = 0; n <= ATTEST_STATE_SLOTS; n++) {
        const attest_tensor *t = attest_bundle_get(outputs, id);
        for (int64_t at = 0; t && at < attest_tensor_count(t); at++) {
            const double x = attest_load(t, at);
            attest_store_bits(t, at, attest_from_f64(t->dtype, x + part * (1 + fabs(x))));
        }
        id = (attest_tensor_id){ ATTEST_KIND_HT, n };
    }
}

void prop_violate_by_tokens(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    (void)inputs;
    prop_violate_by(outputs, (double)(p->n + p->m));
}

void prop_violate_by_axes(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    double part = 0;
    (void)inputs;
    for (uint32_t a = 0; a < ATTEST_AXIS_COUNT; a++)
        part += prop_axis(p, a) ? a + 1 : 0;
    prop_violate_by(outputs, part);
}

/* Elements of one role (or two) have one value. */
static uint64_t ones(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                     int *inexact)
{
    static const attest_role neutral[] = { ATTEST_GIN, ATTEST_GOUT, ATTEST_DECAY, ATTEST_GAMMA, ATTEST_GAIN };
    (void)inexact;
    const double decay = prop_unit_decay(&r->c.problem);
    for (size_t k = 0; k < sizeof neutral / sizeof neutral[0]; k++)
        if (cell->id.kind == ATTEST_KIND_ROLE && cell->id.index == neutral[k] &&
            !attest_bundle_get(trial->inputs, cell->id))
            return attest_from_f64(cell->dtype, cell->id.index == ATTEST_DECAY ? decay : 1);
    return bits;
}

static int applies_axis(const attest_problem *p, attest_axis axis) { return prop_axis(p, axis) == 0; }

/* ---- gates, decay, affine, slopes: tensors of 1 and 0 ----------------------------------------------------------- */

static int applies_gates(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return applies_axis(p, ATTEST_AXIS_GATES);
}

static attest_status check_gates(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const uint32_t word = attest_trial_word(trial, &attest_property_unit_gates, 0);
    const attest_setting gates = { .value = ATTEST_GATES_IN + word % ATTEST_GATES_PRE_OUT };
    return check_step(found, trial, ATTEST_AXIS_GATES, gates, ones, NULL, 0, err);
}

const attest_property attest_property_unit_gates = { "unit-gates",
                                                     "gates of 1 (in, out, inout or pre-out) change nothing",
                                                     "all with gates=none that can have gates",
                                                     PROP_BOUNDS,
                                                     ATTEST_NEEDS_BOUNDS,
                                                     applies_gates,
                                                     check_gates,
                                                     prop_violate_by_axes };

static int applies_decay(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return applies_axis(p, ATTEST_AXIS_DECAY) && prop_axis(p, ATTEST_AXIS_MASK) && p->n == p->m;
}

static attest_status check_decay(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const uint32_t word = attest_trial_word(trial, &attest_property_unit_decay, 0);
    const uint32_t decay = ATTEST_DECAY_RETNET + word % ATTEST_DECAY_VECTOR;
    attest_problem problem = trial->c.problem;
    problem.axis[ATTEST_AXIS_DECAY].value = decay;
    if (decay != ATTEST_DECAY_RETNET)
        problem.axis[ATTEST_AXIS_DECAY_INPUT].value = word / ATTEST_DECAY_VECTOR % 2;
    if (!trial->host->supports(trial->host->context, &problem))
        problem.axis[ATTEST_AXIS_DECAY_INPUT].value = ATTEST_DECAY_INPUT_FACTOR;
    return check_problem(found, trial, &problem, ones, NULL, 0, err);
}

const attest_property attest_property_unit_decay = {
    "unit-decay",
    "a decay of 1 (retnet, scalar or vector, or its logarithm) changes nothing",
    "decay=none, a causal mask, n = m; vector with power:1 and term:1 only",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_decay,
    check_decay,
    prop_violate_by_axes
};

static int applies_affine(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return applies_axis(p, ATTEST_AXIS_AFFINE) && prop_axis(p, ATTEST_AXIS_NORM) >= ATTEST_NORM_RMS;
}

static attest_status check_affine(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_setting affine = { .value = ATTEST_AFFINE_DRAW };
    return check_step(found, trial, ATTEST_AXIS_AFFINE, affine, ones, NULL, 0, err);
}

const attest_property attest_property_unit_affine = { "unit-affine",
                                                      "a gain of 1 and a shift of 0 change nothing",
                                                      "norms rms, layernorm and their length- forms",
                                                      PROP_BOUNDS,
                                                      ATTEST_NEEDS_BOUNDS,
                                                      applies_affine,
                                                      check_affine,
                                                      prop_violate_by_axes };

static int applies_slope(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return applies_axis(p, ATTEST_AXIS_ALIBI) && !prop_axis(p, ATTEST_AXIS_UPDATE) && !prop_axis(p, ATTEST_AXIS_STATE);
}

static attest_status check_slope(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_setting alibi = { .value = ATTEST_ALIBI_DRAW };
    return check_step(found, trial, ATTEST_AXIS_ALIBI, alibi, NULL, NULL, 0, err);
}

const attest_property attest_property_zero_slope = {
    "zero-slope", "slopes of 0 change nothing", "alibi=none, but delta, efla and given states",
    PROP_BOUNDS,  ATTEST_NEEDS_BOUNDS,          applies_slope,
    check_slope,  prop_violate_by_axes
};

/* ---- limits that no key reaches --------------------------------------------------------------------------------- */

static int applies_length(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return applies_axis(p, ATTEST_AXIS_LENS) && !prop_axis(p, ATTEST_AXIS_UPDATE);
}

static uint64_t all_keys(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                         int *inexact)
{
    (void)trial;
    (void)inexact;
    return cell->id.kind == ATTEST_KIND_ROLE && cell->id.index == ATTEST_KV_LENS ? (uint64_t)r->c.problem.m : bits;
}

static attest_status check_length(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_setting lens = { .value = ATTEST_LENS_DRAW };
    return check_step(found, trial, ATTEST_AXIS_LENS, lens, all_keys, NULL, 0, err);
}

const attest_property attest_property_full_length = {
    "full-length", "lengths of m change nothing", "lens=none, but delta and efla",
    PROP_BOUNDS,   ATTEST_NEEDS_BOUNDS,           applies_length,
    check_length,  prop_violate_by_axes
};

/* 2^100 is a number of every arithmetic but f16, where it is infinite: no limit either. */
#define FAR 0x1p100
#define NEAR_SCORES 0x1p90

static int applies_score_limit(const attest_problem *p, attest_axis axis)
{
    return applies_axis(p, axis) && !prop_axis(p, ATTEST_AXIS_UPDATE) && !prop_axis(p, ATTEST_AXIS_STATE);
}

static int applies_clamp(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return applies_score_limit(p, ATTEST_AXIS_CLAMP);
}

static attest_status check_clamp(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_setting clamp = { .value = ATTEST_CLAMP_SET, .number = FAR };
    if (!(largest_score(&trial->c.problem, trial->inputs) < NEAR_SCORES))
        return ATTEST_OK;
    return check_step(found, trial, ATTEST_AXIS_CLAMP, clamp, NULL, NULL, 0, err);
}

const attest_property attest_property_wide_clamp = { "wide-clamp",
                                                     "a clamp far above every score changes nothing",
                                                     "clamp=none, but delta, efla and given states",
                                                     PROP_BOUNDS,
                                                     ATTEST_NEEDS_BOUNDS,
                                                     applies_clamp,
                                                     check_clamp,
                                                     prop_violate_by_axes };

static int applies_filter(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return applies_score_limit(p, ATTEST_AXIS_FILTER);
}

static attest_status check_filter(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_setting filter = { .value = ATTEST_FILTER_TAU, .number = FAR };
    if (!(largest_score(&trial->c.problem, trial->inputs) < NEAR_SCORES))
        return ATTEST_OK;
    return check_step(found, trial, ATTEST_AXIS_FILTER, filter, NULL, NULL, 0, err);
}

const attest_property attest_property_wide_filter = { "wide-filter",
                                                      "a filter wider than the range of the scores changes nothing",
                                                      "filter=none, but delta, efla and given states",
                                                      PROP_BOUNDS,
                                                      ATTEST_NEEDS_BOUNDS,
                                                      applies_filter,
                                                      check_filter,
                                                      prop_violate_by_axes };

/* ---- sink and floor: what joins z ------------------------------------------------------------------------------- */

static int is_exp(const attest_problem *p) { return prop_axis(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP; }

/* The row's own token, whose decay is 1, is visible. */
static int sees_itself(const attest_problem *p)
{
    return !prop_axis(p, ATTEST_AXIS_DECAY) || !prop_axis(p, ATTEST_AXIS_LENS);
}

static int applies_sink(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return is_exp(p) && applies_axis(p, ATTEST_AXIS_NORM) && sees_itself(p) && !prop_axis(p, ATTEST_AXIS_EPS);
}

static uint64_t far_below(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                          int *inexact)
{
    (void)trial;
    (void)inexact;
    return cell->id.kind == ATTEST_KIND_ROLE && cell->id.index == ATTEST_SINK
               ? attest_from_f64(cell->dtype, -(double)r->cut)
               : bits;
}

/* z >= e^-S for scores in -S..S, as the row's own weight is not decayed; a sink of -S-200 is e^-200 = 2^-288 of z at
 * most, and changes o by that part: far below half the last place of any number, which is in the bounds, unless o is
 * 0. */
static attest_status check_sink(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_setting sink = { .value = ATTEST_NORM_SINK };
    const attest_problem *p = &trial->c.problem;
    const double score = prop_axis(p, ATTEST_AXIS_CLAMP)
                             ? fmax(largest_score(p, trial->inputs), fabs(p->axis[ATTEST_AXIS_CLAMP].number))
                             : largest_score(p, trial->inputs);
    if (!(score < 0x1p20))
        return ATTEST_OK;
    return check_step(found, trial, ATTEST_AXIS_NORM, sink, far_below, NULL, (int64_t)score + 202, err);
}

const attest_property attest_property_far_sink = { "far-sink",
                                                   "a sink far below every score, e^-200 of the sum, changes nothing",
                                                   "weight=exp, norm=sum, eps=0",
                                                   "both runs' bounds (R-JUDGE), which 2^-288 of o does not reach",
                                                   ATTEST_NEEDS_BOUNDS,
                                                   applies_sink,
                                                   check_sink,
                                                   prop_violate_by_axes };

static int applies_floor(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return applies_axis(p, ATTEST_AXIS_NORM) && !prop_axis(p, ATTEST_AXIS_EPS) && !prop_axis(p, ATTEST_AXIS_CENTER) &&
           !prop_axis(p, ATTEST_AXIS_UPDATE) && !prop_axis(p, ATTEST_AXIS_STATE);
}

/* |z| <= m W(S), W(x) <= (P+1) max(1,x)^P for each polynomial weight; z of exp is not negative. */
static int floor_is_far(const attest_trial *trial)
{
    const attest_problem *p = &trial->c.problem;
    const double clamp = prop_axis(p, ATTEST_AXIS_CLAMP) ? fabs(p->axis[ATTEST_AXIS_CLAMP].number) : 0;
    const double score = fmax(fmax(1, clamp), largest_score(p, trial->inputs));
    const double order = p->axis[ATTEST_AXIS_WEIGHT].order;
    const double decay = fmax(largest_decay(p, trial->inputs),
                              largest(attest_bundle_role(trial->inputs, ATTEST_GAMMA)));
    return is_exp(p) || (decay <= 1 && (double)p->m * (order + 1) * pow(score, order) < NEAR_SCORES);
}

static attest_status check_floor(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_setting floor_setting = { .value = ATTEST_NORM_FLOOR, .number = -FAR };
    if (!floor_is_far(trial))
        return ATTEST_OK;
    return check_step(found, trial, ATTEST_AXIS_NORM, floor_setting, NULL, NULL, 0, err);
}

const attest_property attest_property_low_floor = {
    "low-floor",
    "a floor of the denominator below every sum, -2^100, changes nothing, negative sums too",
    "norm=sum, eps=0, center=zero, without given states; sums that surely stay above it",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_floor,
    check_floor,
    prop_violate_by_axes
};
