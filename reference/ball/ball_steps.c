/* ball_steps.c - what is done to scores, values and rows: their steps, filter, gates, gain and shift.  Every step is an
 * inclusion (R-BALL). */
#include "reference/ball/ball.h"

void ref_ball_score_steps(ref_row *row, const ref_inputs *in, attest_row at, slong prec)
{
    axis_step_set steps[AXIS_STEPS];
    arb_t number[AXIS_STEPS];
    const int count = axis_steps(steps, in, at);
    const int64_t position = ref_position(in, at.b, at.i);
    for (int k = 0; k < count; k++) {
        arb_init(number[k]);
        axis_step_ball(number[k], &steps[k], prec);
        row->no_truth |= row->keys && !arb_is_finite(number[k]);
    }
    for (int64_t j = 0; j < row->keys; j++) {
        const int64_t back = position - row->key[j];
        for (int k = 0; k < count; k++) {
            if (axis_step_at(&steps[k], row->key[j])) {
                arb_set_d(number[k], steps[k].number);
                row->no_truth |= !arb_is_finite(number[k]);
            }
            steps[k].row->ball(row->s + j, number[k], back < 0 ? -back : back, prec);
        }
    }
    for (int k = 0; k < count; k++)
        arb_clear(number[k]);
}

/* ---- the filter -------------------------------------------------------------------------------------------------- */
void ref_ball_filter(ref_row *row, const attest_problem *p, slong prec)
{
    const attest_setting *filter = &p->axis[ATTEST_AXIS_FILTER];
    AUTO_ARB(threshold, tau, nothing);
    if (filter->value != ATTEST_FILTER_TAU || !row->keys)
        return;
    arb_set(threshold, row->s);
    for (int64_t j = 1; j < row->keys; j++)
        arb_max(threshold, threshold, row->s + j, prec);
    arb_set_d(tau, filter->number);
    arb_sub(threshold, threshold, tau, prec);
    for (int64_t j = 0; j < row->keys; j++) {
        arb_get_mag(row->kept + j, row->w + j);
        if (arb_le(row->s + j, threshold))
            arb_zero(row->w + j);
        else if (!arb_gt(row->s + j, threshold)) /* open: either may hold */
            arb_union(row->w + j, row->w + j, nothing, prec);
    }
}

/* ---- gates ------------------------------------------------------------------------------------------------------- */
int ref_ball_value_gate(arb_t gate, const ref_inputs *in, int64_t b, int64_t g, int64_t j, slong prec)
{
    const axis_gates *gates = axis_gates_of(in->p);
    arb_one(gate);
    return !gates->values || gates->ball(gate, in->role[gates->value_role], b, g, j, prec);
}

void ref_ball_drop(ref_row *row, const ref_inputs *in, attest_row at, slong prec)
{
    AUTO_ARB(kept);
    if (!attest_drops(in->p))
        return;
    axis_dropout_ball(kept, in->p, prec);
    for (int64_t j = 0; j < row->keys; j++) {
        if (axis_keeps(in, at, row->key[j]))
            arb_mul(row->pass + j, row->gin + j, kept, prec);
        else
            arb_zero(row->pass + j);
    }
}

void ref_ball_row_gate(ref_row *row, const ref_inputs *in, attest_row at, slong prec)
{
    const axis_gates *gates = axis_gates_of(in->p);
    if (gates->rows)
        row->no_truth |= !gates->ball(row->gout, in->role[gates->row_role], at.b, at.h, at.i, prec);
}

/* ---- the output -------------------------------------------------------------------------------------------------- */
/* One stored number, exactly; a row that reads a non-finite one has no truth. */
static void load(arb_t x, ref_row *row, const attest_tensor *t, int64_t offset)
{
    arb_set_d(x, attest_load(t, offset));
    row->no_truth |= !arb_is_finite(x);
}

/* o = gain o + shift */
static void gain_and_shift(ref_row *row, const ref_inputs *in, slong prec)
{
    const attest_tensor *gain = in->role[ATTEST_GAIN], *shift = in->role[ATTEST_SHIFT];
    AUTO_ARB(x);
    for (int64_t c = 0; c < row->e; c++) {
        load(x, row, gain, attest_offset(gain, c, 0, 0, 0));
        arb_mul(row->o + c, row->o + c, x, prec);
        load(x, row, shift, attest_offset(shift, c, 0, 0, 0));
        arb_add(row->o + c, row->o + c, x, prec);
    }
}

void ref_ball_output(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    const axis_gates *gates = axis_gates_of(in->p);
    const int before = gates->before, after = gates->rows && !before;
    for (int64_t c = 0; c < row->e; c++) {
        if (before)
            arb_mul(row->o + c, row->u + c, row->gout, prec);
        else
            arb_set(row->o + c, row->u + c);
    }
    axis_norm_of(in->p)->ball(row, in, h, prec);
    if (attest_axis_value_of(in->p, ATTEST_AXIS_AFFINE) == ATTEST_AFFINE_DRAW)
        gain_and_shift(row, in, prec);
    for (int64_t c = 0; after && c < row->e; c++)
        arb_mul(row->o + c, row->o + c, row->gout, prec);
}
