/* property_bias.c - a bias (axis bias) that is known: of 0, of one number a row, and that of alibi; a mask tensor (axis
 * attn_mask) that is known: of ones, and that of mask, window and lens; dropout that drops nothing.
 *
 * The first run has no such tensor, the second has it with these numbers: the step is run, so the bits may differ. */
#include "props/properties/property_list.h"

#include "props/properties/relation.h"
#include "props/properties/values.h"

#include "kernels/attest_float.h"

#include <stdlib.h>

/* What the second run does beside the bias. */
typedef uint64_t (*bias_value)(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                               uint64_t bits, int *inexact);

static attest_status check_bias(attest_finding *found, attest_trial *trial, bias_value value, uint32_t outputs,
                                attest_error *err)
{
    attest_relation r;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = 0;
    r.outputs = outputs ? outputs : r.outputs;
    r.value = value;
    r.c.problem.axis[ATTEST_AXIS_ALIBI].value = ATTEST_ALIBI_NONE;
    r.c.problem.axis[ATTEST_AXIS_BIAS].value = ATTEST_BIAS_FULL;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

/* ---- zeros ------------------------------------------------------------------------------------------------------- */

static int applies_zero_bias(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return !prop_has_bias(p) && !prop_axis(p, ATTEST_AXIS_UPDATE) && !prop_axis(p, ATTEST_AXIS_STATE);
}

static attest_status check_zero_bias(attest_finding *found, attest_trial *trial, attest_error *err)
{
    return check_bias(found, trial, NULL, 0, err); /* what has no source is 0 */
}

const attest_property attest_property_zero_bias = { "zero-bias",
                                                    "a bias of zeros changes nothing",
                                                    "bias=none, alibi=none, but delta, efla and given states",
                                                    PROP_BOUNDS,
                                                    ATTEST_NEEDS_BOUNDS,
                                                    applies_zero_bias,
                                                    check_zero_bias,
                                                    prop_violate_by_axes };

/* ---- one number a row -------------------------------------------------------------------------------------------- */

static int applies_bias_shift(const attest_problem *p, const attest_prop_kernel *k)
{
    return applies_zero_bias(p, k) && prop_axis(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_EXP &&
           prop_axis(p, ATTEST_AXIS_NORM) == ATTEST_NORM_SUM && !prop_axis(p, ATTEST_AXIS_EPS) &&
           !prop_axis(p, ATTEST_AXIS_CLAMP);
}

/* An integer of -8..8, another one in most rows, heads and batch entries. */
static uint64_t number_of_row(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                              uint64_t bits, int *inexact)
{
    const attest_problem *p = &trial->c.problem;
    (void)r;
    (void)inexact;
    if (!values_is(cell, ATTEST_BIAS))
        return bits;
    const int64_t row = (cell->at[0] * p->hq + cell->at[1]) * p->n + cell->at[2];
    const uint32_t word = attest_trial_word(trial, &attest_property_bias_shift, (uint64_t)row);
    return attest_from_f64(cell->dtype, (double)(word % 17) - 8);
}

static attest_status check_bias_shift(attest_finding *found, attest_trial *trial, attest_error *err)
{
    return check_bias(found, trial, number_of_row, ATTEST_GIVES_O, err);
}

const attest_property attest_property_bias_shift = {
    "bias-shift",
    "a bias of one number for all keys of a row leaves o as it is",
    "exp, norm=sum without eps; bias=none, alibi=none, no clamp, delta, efla and given states",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_bias_shift,
    check_bias_shift,
    prop_violate_by_axes
};

/* ---- alibi ------------------------------------------------------------------------------------------------------- */

static int applies_alibi_bias(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return prop_axis(p, ATTEST_AXIS_ALIBI) != 0;
}

/* -slope_h |i+off-j|, where the type of the inputs holds it, and a double the slope. */
static uint64_t bias_of_alibi(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                              uint64_t bits, int *inexact)
{
    const attest_problem *p = &trial->c.problem;
    (void)r;
    if (!values_is(cell, ATTEST_BIAS))
        return bits;
    const values_row row = values_row_of(p, trial->inputs, (cell->at[0] * p->hq + cell->at[1]) * p->n + cell->at[2]);
    if (cell->at[3] < row.first || cell->at[3] >= row.last)
        return 0; /* read by nobody */
    const int64_t back = attest_position(p, attest_bundle_lengths(p, trial->inputs, row.b), row.i) - cell->at[3];
    return values_exactly(cell->dtype, -values_slope(p, trial->inputs, cell->at[1], inexact) * (double)llabs(back),
                          inexact);
}

static attest_status check_alibi_bias(attest_finding *found, attest_trial *trial, attest_error *err)
{
    return check_bias(found, trial, bias_of_alibi, 0, err);
}

const attest_property attest_property_alibi_bias = { "alibi-bias",
                                                     "the bias -slope_h |i+off-j| is that of alibi",
                                                     "alibi=draw, usual, where in holds the products",
                                                     PROP_BOUNDS,
                                                     ATTEST_NEEDS_BOUNDS,
                                                     applies_alibi_bias,
                                                     check_alibi_bias,
                                                     prop_violate_by_axes };

/* ---- attn_mask --------------------------------------------------------------------------------------------------- */

/* Has the problem a form with the tensor? */
static int takes_mask(const attest_problem *p)
{
    return !prop_axis(p, ATTEST_AXIS_ATTN_MASK) && !prop_axis(p, ATTEST_AXIS_UPDATE) &&
           !prop_axis(p, ATTEST_AXIS_STATE) && !prop_axis(p, ATTEST_AXIS_DECAY);
}

static attest_status check_mask(attest_finding *found, attest_trial *trial, attest_relation *r, attest_error *err)
{
    r->bits = 0;
    r->c.problem.axis[ATTEST_AXIS_ATTN_MASK].value = ATTEST_ATTN_MASK_FULL;
    const attest_status status = attest_relation_check(found, trial, r, err);
    attest_relation_clear(r);
    return status;
}

static int applies_open_mask(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return takes_mask(p);
}

static uint64_t all_shown(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                          int *inexact)
{
    (void)r;
    (void)trial;
    (void)inexact;
    return values_is(cell, ATTEST_MASK) ? 1 : bits;
}

static attest_status check_open_mask(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_relation_init(&r, trial);
    r.value = all_shown;
    return check_mask(found, trial, &r, err);
}

const attest_property attest_property_open_mask = { "open-mask",
                                                    "a mask tensor of ones changes nothing",
                                                    "attn_mask=none, but decays, delta, efla and given states",
                                                    PROP_BOUNDS,
                                                    ATTEST_NEEDS_BOUNDS,
                                                    applies_open_mask,
                                                    check_open_mask,
                                                    prop_violate_by_axes };

/* Positions stay as they are: off = 0 on both sides. */
static int applies_mask_tensor(const attest_problem *p, const attest_prop_kernel *k)
{
    const uint32_t mask = prop_axis(p, ATTEST_AXIS_MASK);
    (void)k;
    return takes_mask(p) && mask != ATTEST_MASK_CAUSAL_BR &&
           (mask || prop_axis(p, ATTEST_AXIS_WINDOW) || prop_axis(p, ATTEST_AXIS_LENS));
}

static uint64_t as_seen(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                        int *inexact)
{
    const attest_problem *p = &trial->c.problem;
    (void)r;
    (void)inexact;
    if (!values_is(cell, ATTEST_MASK))
        return bits;
    const values_row row = values_row_of(p, trial->inputs, (cell->at[0] * p->hq + cell->at[1]) * p->n + cell->at[2]);
    return cell->at[3] >= row.first && cell->at[3] < row.last;
}

static attest_status check_mask_tensor(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_relation_init(&r, trial);
    r.value = as_seen;
    r.c.problem.axis[ATTEST_AXIS_MASK].value = ATTEST_MASK_FULL;
    r.c.problem.axis[ATTEST_AXIS_WINDOW] = (attest_setting){ ATTEST_WINDOW_NONE, 0, 0 };
    r.c.problem.axis[ATTEST_AXIS_LENS].value = ATTEST_LENS_NONE;
    return check_mask(found, trial, &r, err);
}

const attest_property attest_property_mask_tensor = {
    "mask-tensor",
    "a mask tensor that shows the keys that mask, window and lens show stands for them",
    "mask=causal, window or lens, but mask=causal-br; attn_mask=none, no decays, delta, efla and given states",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_mask_tensor,
    check_mask_tensor,
    prop_violate_by_axes
};

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

/* Norms that are linear in u, and by no root. */
static int applies_keep_all(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return !attest_drops(p) && prop_axis(p, ATTEST_AXIS_NORM) <= ATTEST_NORM_LENGTH &&
           !prop_axis(p, ATTEST_AXIS_UPDATE) && !prop_axis(p, ATTEST_AXIS_STATE);
}

static uint64_t all_kept(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                         int *inexact)
{
    (void)r;
    (void)trial;
    (void)inexact;
    return values_is(cell, ATTEST_KEEP) ? 1 : bits;
}

static attest_status check_keep_all(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_relation_init(&r, trial);
    r.c.problem.axis[ATTEST_AXIS_DROPOUT] = (attest_setting){ ATTEST_DROPOUT_R, 0, 0.5 };
    r.value = all_kept;
    r.bits = 0;
    r.exponent[ATTEST_U] = r.exponent[ATTEST_O] = 1;
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_keep_all = { "keep-all",
                                                   "dropout at rate 1/2 that keeps every weight doubles o and u",
                                                   "dropout=none; norms sum, sink, floor, none, length; no given "
                                                   "states, delta, efla",
                                                   PROP_BOUNDS,
                                                   ATTEST_NEEDS_BOUNDS,
                                                   applies_keep_all,
                                                   check_keep_all,
                                                   prop_violate_by_axes };
