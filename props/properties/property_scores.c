/* property_scores.c - what a change of scores must do.
 *
 * Scores are changed by one more channel: q_d = c in every row, k_d = 1 in some keys and 0 in the others, so that
 * scale c is added to their scores and nothing else changes.  c is a power of two, signed: the sum is exact.
 */
#include "props/properties/property_list.h"

#include "props/properties/values.h"

#include "kernels/attest_float.h"

#include <math.h>

#define ELEMENTWISE (1u << ATTEST_FEATURE_IDENTITY | 1u << ATTEST_FEATURE_RELU)

/* The new channel adds scale q_d k_d to the score, whatever follows. */
static int takes_channel(const attest_problem *p)
{
    return prop_feature_in(p, ELEMENTWISE) && !prop_axis(p, ATTEST_AXIS_ROPE) && !prop_axis(p, ATTEST_AXIS_UPDATE) &&
           prop_axis(p, ATTEST_AXIS_DECAY) != ATTEST_DECAY_VECTOR && !prop_axis(p, ATTEST_AXIS_STATE) &&
           fabs(p->scale) >= 0x1p-20 && fabs(p->scale) <= 0x1p20;
}

static int has_score_steps(const attest_problem *p)
{
    return prop_axis(p, ATTEST_AXIS_CAP) || prop_has_bias(p) || prop_axis(p, ATTEST_AXIS_CLAMP);
}

/* relation.cut: the key whose k_d is 1; these: all of them, raised or lowered; none. */
enum { ALL_RAISED = -1, ALL_LOWERED = -2, NO_KEY = -3 };

/* q_d: +-2^shift, so that scale q_d > 0, but for ALL_LOWERED. */
static double channel_of_query(const attest_relation *r)
{
    return ldexp((r->c.problem.scale < 0) != (r->cut == ALL_LOWERED) ? -1 : 1, r->shift);
}

static uint64_t with_channel(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                             uint64_t bits, int *inexact)
{
    if (cell->index[ATTEST_LETTER_D] != trial->c.problem.d)
        return bits;
    if (values_is(cell, ATTEST_Q))
        return values_exactly(cell->dtype, channel_of_query(r), inexact);
    const int all = r->cut == ALL_RAISED || r->cut == ALL_LOWERED;
    return values_exactly(cell->dtype, all || r->cut == cell->index[ATTEST_LETTER_M], inexact);
}

/* A relation with the new channel that adds 2^raise <= x < 2^(raise+1). */
static attest_status channel_begin(attest_relation *r, const attest_trial *trial, int64_t cut, int raise,
                                   attest_error *err)
{
    const int64_t d = trial->c.problem.d;
    int64_t *from = NULL;
    attest_status status = ATTEST_OK;
    attest_relation_init(r, trial);
    r->bits = 0;
    r->cut = cut;
    r->shift = raise - ilogb(trial->c.problem.scale);
    r->c.problem.d = d + 1;
    r->value = with_channel;
    ATTEST_TRY(attest_relation_map(&from, r, ATTEST_LETTER_D, d + 1, err));
    from[d] = -1;
out:
    return status;
}

/* ---- score shift ------------------------------------------------------------------------------------------------ */

/* Norms under which e^c drops out. */
#define HOMOGENEOUS                                                                                                    \
    (1u << ATTEST_NORM_SUM | 1u << ATTEST_NORM_L2 | 1u << ATTEST_NORM_RMS | 1u << ATTEST_NORM_LAYERNORM |              \
     1u << ATTEST_NORM_LENGTH_L2 | 1u << ATTEST_NORM_LENGTH_RMS | 1u << ATTEST_NORM_LENGTH_LAYERNORM)

static int applies_shift(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    if (!takes_channel(p) || has_score_steps(p))
        return 0;
    if (prop_axis(p, ATTEST_AXIS_CENTER))
        return 1;
    return prop_axis(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP &&
           (HOMOGENEOUS >> prop_axis(p, ATTEST_AXIS_NORM) & 1) && !prop_axis(p, ATTEST_AXIS_EPS);
}

static attest_status check_shift(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const uint32_t word = attest_trial_word(trial, &attest_property_score_shift, 0);
    /* relu(q_d) wants q_d > 0 */
    const int lower = prop_feature_in(p, 1u << ATTEST_FEATURE_RELU) ? p->scale < 0 : (int)(word / 8 & 1);
    const int base2 = (trial->kernel.flags & ATTEST_LSE_BASE2) != 0;
    attest_relation r;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(channel_begin(&r, trial, lower ? ALL_LOWERED : ALL_RAISED, (int)(word % 5), err));
    r.outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE;
    if (prop_axis(p, ATTEST_AXIS_CENTER))
        r.outputs |= ATTEST_GIVES_U | ATTEST_GIVES_Z;
    const double shift = p->scale * channel_of_query(&r);
    r.lse_shift = base2 ? shift * M_LOG2E : shift;
    r.lse_slack = base2 ? fabs(r.lse_shift) * 0x1p-51 : 0;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

/* Every score counts as itself too: e^c does not drop out. */
static void violate_by_width(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    static const attest_role roles[] = { ATTEST_O, ATTEST_LSE };
    (void)inputs;
    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++) {
        const attest_tensor *t = attest_bundle_role(outputs, roles[r]);
        for (int64_t at = 0; t && at < attest_tensor_count(t); at++) {
            const double x = attest_load(t, at);
            attest_store_bits(t, at, attest_from_f64(t->dtype, x + (double)p->d * (1 + fabs(x))));
        }
    }
}

const attest_property attest_property_score_shift = {
    "score-shift",
    "a constant added to all scores of a row: the same o, lse + the constant",
    "exp under norms where e^c drops out, without eps; taylor with a center (u and z too); features identity, relu; "
    "no rope, cap, alibi, bias, clamp, vector decay",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_shift,
    check_shift,
    violate_by_width
};

/* ---- one hot ---------------------------------------------------------------------------------------------------- */

static int applies_one_hot(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return takes_channel(p) && !has_score_steps(p) && prop_axis(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP &&
           prop_axis(p, ATTEST_AXIS_NORM) == ATTEST_NORM_SUM && !prop_axis(p, ATTEST_AXIS_EPS) &&
           !prop_axis(p, ATTEST_AXIS_GATES) && !prop_axis(p, ATTEST_AXIS_DECAY) &&
           (p->scale > 0 || !prop_feature_in(p, 1u << ATTEST_FEATURE_RELU));
}

/* How far the score of `key` is above the row's others, downward; infinite where there is no other. */
static double gap_of(const attest_trial *t, const values_row *row, int64_t key)
{
    double error, most = -INFINITY;
    const double s = values_score(&t->c.problem, t->inputs, row, key, &error) - error;
    for (int64_t j = row->first; j < row->last; j++) {
        const double other = values_score(&t->c.problem, t->inputs, row, j, &error);
        most = j == key ? most : fmax(most, other + error);
    }
    return (s - most) * (1 - 0x1p-50);
}

static attest_status compare_one_hot(attest_finding *found, attest_trial *t, int64_t key, attest_error *err)
{
    const attest_problem *p = &t->c.problem;
    const double *bound = NULL;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_trial_bounds(&bound, t, ATTEST_O, err));
    for (int64_t number = 0; bound && number < values_row_count(p); number++) {
        const values_row row = values_row_of(p, t->inputs, number);
        const double gap = key >= row.first && key < row.last ? gap_of(t, &row, key) : 0;
        for (int64_t c = 0; gap > 0 && c < p->e; c++) {
            const double v = values_at(t->inputs, ATTEST_V, row.b, row.g, key, c);
            double far = 0;
            for (int64_t j = row.first; j < row.last; j++)
                far = fmax(far, fabs(values_at(t->inputs, ATTEST_V, row.b, row.g, j, c) - v));
            const double rest = (double)(row.last - row.first - 1) * exp(-gap) * far * (1 + 0x1p-48);
            values_add(found, ATTEST_O, &row, c, values_output(t->outputs, ATTEST_O, &row, c), v,
                       rest + bound[values_index(p, ATTEST_O, &row, c)]);
        }
    }
out:
    return status;
}

static attest_status check_one_hot(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const int64_t key = attest_trial_word(trial, &attest_property_one_hot, 0) % trial->c.problem.m;
    const int raise = 2 + (int)(attest_trial_word(trial, &attest_property_one_hot, 1) % 6);
    attest_relation r;
    values_run run = { .inputs = NULL };
    int usable = trial->host->bounds != NULL;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(channel_begin(&r, trial, key, raise, err));
    if (usable)
        ATTEST_TRY(values_run_make(&run, &usable, found, trial, &r, err));
    if (usable)
        ATTEST_TRY(compare_one_hot(found, &run.trial, key, err));
out:
    values_run_clear(&run);
    attest_relation_clear(&r);
    return status;
}

/* The mean of all keys has a part in o. */
static void violate_by_mean(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    for (int64_t number = 0; o && number < values_row_count(p); number++) {
        const values_row row = values_row_of(p, inputs, number);
        for (int64_t c = 0; c < p->e; c++) {
            double most = 1;
            for (int64_t j = row.first; j < row.last; j++)
                most = fmax(most, fabs(values_at(inputs, ATTEST_V, row.b, row.g, j, c)));
            const double x = values_output(outputs, ATTEST_O, &row, c);
            attest_store_bits(o, number * p->e + c, attest_from_f64(o->dtype, x + 3 * most));
        }
    }
}

const attest_property attest_property_one_hot = {
    "one-hot",
    "a key whose score is g above the others: |o - v| <= (N-1) e^-g max|v_j - v|",
    "softmax: exp, norm=sum without eps; no gates, decay, cap, alibi, bias, clamp, rope; features identity, relu",
    "A5 row 12: w >= 1 - (N-1) e^-g, and the run's bound (R-JUDGE); g in double, downward",
    ATTEST_NEEDS_BOUNDS,
    applies_one_hot,
    check_one_hot,
    violate_by_mean
};

/* ---- monotone --------------------------------------------------------------------------------------------------- */

static int applies_monotone(const attest_problem *p, const attest_prop_kernel *k)
{
    const attest_setting *clamp = &p->axis[ATTEST_AXIS_CLAMP];
    const int exponential = prop_axis(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP;
    (void)k;
    if (!takes_channel(p) || prop_axis(p, ATTEST_AXIS_NORM) > ATTEST_NORM_LENGTH || prop_axis(p, ATTEST_AXIS_GATES) ||
        prop_axis(p, ATTEST_AXIS_CENTER))
        return 0;
    if (exponential)
        return p->scale > 0 || !prop_feature_in(p, 1u << ATTEST_FEATURE_RELU);
    return p->scale > 0 && !prop_has_bias(p) && (!clamp->value || clamp->number >= 0);
}

static int64_t raised_key(const attest_trial *trial)
{
    return attest_trial_word(trial, &attest_property_monotone, 0) % trial->c.problem.m;
}

/* The new channel; v is 1 for the key and 0 for the others; polynomial weights: |q| and |k|, so that no score is below
 * 0, where their weights rise. */
static uint64_t weight_of_key(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                              uint64_t bits, int *inexact)
{
    const int exponential = prop_axis(&trial->c.problem, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP;
    if (values_is(cell, ATTEST_V))
        return attest_from_f64(cell->dtype, cell->index[ATTEST_LETTER_M] == raised_key(trial));
    const uint64_t with = with_channel(r, trial, cell, bits, inexact);
    if (exponential || !(values_is(cell, ATTEST_Q) || values_is(cell, ATTEST_K)))
        return with;
    return with & ~((uint64_t)1 << (8 * attest_dtype_bytes(cell->dtype) - 1));
}

static attest_status compare_raised(attest_finding *found, attest_trial *low, attest_trial *high, attest_error *err)
{
    const attest_problem *p = &low->c.problem;
    const double *bound[2];
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_trial_bounds(&bound[0], low, ATTEST_O, err));
    ATTEST_TRY(attest_trial_bounds(&bound[1], high, ATTEST_O, err));
    for (int64_t number = 0; bound[0] && bound[1] && number < values_row_count(p); number++) {
        const values_row row = values_row_of(p, low->inputs, number);
        for (int64_t c = 0; c < p->e; c++) {
            const int64_t at = values_index(p, ATTEST_O, &row, c);
            const double before = values_output(low->outputs, ATTEST_O, &row, c);
            const double after = values_output(high->outputs, ATTEST_O, &row, c);
            values_add(found, ATTEST_O, &row, c, after, after >= before ? after : before, bound[0][at] + bound[1][at]);
        }
    }
out:
    return status;
}

static attest_status check_monotone(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const int raise = (int)(attest_trial_word(trial, &attest_property_monotone, 1) % 4) - 1;
    attest_relation r;
    values_run run[2] = { { .inputs = NULL }, { .inputs = NULL } };
    int usable = trial->host->bounds != NULL && values_decay_nonnegative(&trial->c.problem, trial->inputs);
    attest_status status = ATTEST_OK;
    ATTEST_TRY(channel_begin(&r, trial, NO_KEY, raise, err));
    r.value = weight_of_key;
    for (int k = 0; usable && k < 2; k++) {
        ATTEST_TRY(values_run_make(&run[k], &usable, found, trial, &r, err));
        r.cut = raised_key(trial);
    }
    if (usable)
        ATTEST_TRY(compare_raised(found, &run[0].trial, &run[1].trial, err));
out:
    values_run_clear(&run[0]);
    values_run_clear(&run[1]);
    attest_relation_clear(&r);
    return status;
}

/* Larger weights give less. */
static void violate_downward(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    (void)p;
    (void)inputs;
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++)
        attest_store_bits(o, at, attest_from_f64(o->dtype, -4 * attest_load(o, at)));
}

const attest_property attest_property_monotone = {
    "monotone",
    "a key whose score rises does not lose weight (seen through v = 1 there and 0 elsewhere)",
    "norms sum, sink, floor, none, length; polynomial weights where no score is below 0; no gates, rope, center, "
    "vector decay, given states, delta; features identity, relu",
    "the sign, beyond both runs' bounds (R-JUDGE)",
    ATTEST_NEEDS_BOUNDS,
    applies_monotone,
    check_monotone,
    violate_downward
};
