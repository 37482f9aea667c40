/* ball_steps.c - what is done to scores, values and rows: cap, alibi, clamp, filter, gates, gain and shift.  Every step
 * is an inclusion (R-BALL). */
#include "reference/ball/ball.h"

/* One stored number, exactly; a row that reads a non-finite one has no truth. */
static void load(arb_t x, ref_row *row, const attest_tensor *t, int64_t offset)
{
    arb_set_d(x, attest_load(t, offset));
    row->no_truth |= !arb_is_finite(x);
}

/* s = cap tanh(s/cap) */
static void soft_cap(arb_t s, double cap, slong prec)
{
    arb_t limit;
    arb_init(limit);
    arb_set_d(limit, cap);
    arb_div(s, s, limit, prec);
    arb_tanh(s, s, prec);
    arb_mul(s, s, limit, prec);
    arb_clear(limit);
}

/* s = min(clamp, s) */
static void clamp_score(arb_t s, double clamp, slong prec)
{
    arb_t limit;
    arb_init(limit);
    arb_set_d(limit, clamp);
    arb_min(s, s, limit, prec);
    arb_clear(limit);
}

void ref_ball_score_steps(ref_row *row, const ref_inputs *in, int64_t b, int64_t h, int64_t i, slong prec)
{
    const attest_problem *p = in->p;
    const attest_setting *cap = &p->axis[ATTEST_AXIS_CAP], *clamp = &p->axis[ATTEST_AXIS_CLAMP];
    const int alibi = attest_axis_value_of(p, ATTEST_AXIS_ALIBI) == ATTEST_ALIBI_DRAW;
    const int64_t position = ref_position(in, b, i);
    arb_t slope;
    arb_init(slope);
    if (alibi && row->keys)
        load(slope, row, in->role[ATTEST_SLOPE], attest_offset(in->role[ATTEST_SLOPE], h, 0, 0, 0));
    for (int64_t j = 0; j < row->keys; j++) {
        const int64_t back = position - (row->first + j);
        if (cap->value == ATTEST_CAP_SET)
            soft_cap(row->s + j, cap->number, prec);
        if (alibi)
            arb_submul_si(row->s + j, slope, (slong)(back < 0 ? -back : back), prec);
        if (clamp->value == ATTEST_CLAMP_SET)
            clamp_score(row->s + j, clamp->number, prec);
    }
    arb_clear(slope);
}

/* ---- the filter -------------------------------------------------------------------------------------------------- */
void ref_ball_filter(ref_row *row, const attest_problem *p, slong prec)
{
    const attest_setting *filter = &p->axis[ATTEST_AXIS_FILTER];
    arb_t threshold, tau, nothing;
    if (filter->value != ATTEST_FILTER_TAU || !row->keys)
        return;
    arb_init(threshold);
    arb_init(tau);
    arb_init(nothing);
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
    arb_clear(nothing);
    arb_clear(tau);
    arb_clear(threshold);
}

/* ---- gates ------------------------------------------------------------------------------------------------------- */
static const struct {
    int values, rows; /* multiplied by a gate; with heads a softmax over heads makes it */
    int before;       /* the row's gate comes before Norm */
} gate_kinds[] = {
    [ATTEST_GATES_NONE] = { 0, 0, 0 },  [ATTEST_GATES_IN] = { 1, 0, 0 },      [ATTEST_GATES_OUT] = { 0, 1, 0 },
    [ATTEST_GATES_INOUT] = { 1, 1, 0 }, [ATTEST_GATES_PRE_OUT] = { 0, 1, 1 }, [ATTEST_GATES_HEADS] = { 1, 1, 0 },
};

int ref_gates_values(const attest_problem *p) { return gate_kinds[p->axis[ATTEST_AXIS_GATES].value].values; }

/* y = e^x_head / sum over all heads of e^x_h, x stored at (b,h,at).  The largest x is taken off: no exponential exceeds
 * 1, and the sum is at least 1.  0 if one x is not finite. */
static int softmax_over_heads(arb_t y, const attest_tensor *t, int64_t b, int64_t head, int64_t at, slong prec)
{
    int finite = 1;
    arb_t most, sum, x;
    arb_init(most);
    arb_init(sum);
    arb_init(x);
    for (int64_t h = 0; h < t->shape[1]; h++) {
        arb_set_d(x, attest_load(t, attest_offset(t, b, h, at, 0)));
        finite &= arb_is_finite(x) != 0;
        if (h == 0 || arf_cmp(arb_midref(x), arb_midref(most)) > 0)
            arb_set(most, x);
    }
    for (int64_t h = 0; h < t->shape[1]; h++) {
        arb_set_d(x, attest_load(t, attest_offset(t, b, h, at, 0)));
        arb_sub(x, x, most, prec);
        arb_exp(x, x, prec);
        arb_add(sum, sum, x, prec);
        if (h == head)
            arb_set(y, x);
    }
    arb_div(y, y, sum, prec);
    if (!finite)
        arb_indeterminate(y);
    arb_clear(x);
    arb_clear(sum);
    arb_clear(most);
    return finite;
}

int ref_ball_value_gate(arb_t gate, const ref_inputs *in, int64_t b, int64_t g, int64_t j, slong prec)
{
    const attest_tensor *gin = in->role[ATTEST_GIN];
    arb_one(gate);
    if (!ref_gates_values(in->p))
        return 1;
    if (in->p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_HEADS)
        return softmax_over_heads(gate, in->role[ATTEST_K_HEAD_LOGITS], b, g, j, prec);
    arb_set_d(gate, attest_load(gin, attest_offset(gin, b, g, j, 0)));
    return arb_is_finite(gate) != 0;
}

void ref_ball_row_gate(ref_row *row, const ref_inputs *in, int64_t b, int64_t h, int64_t i, slong prec)
{
    const uint32_t gates = attest_axis_value_of(in->p, ATTEST_AXIS_GATES);
    const attest_tensor *gout = in->role[ATTEST_GOUT];
    if (gates == ATTEST_GATES_HEADS)
        row->no_truth |= !softmax_over_heads(row->gout, in->role[ATTEST_Q_HEAD_LOGITS], b, h, i, prec);
    else if (gate_kinds[gates].rows)
        load(row->gout, row, gout, attest_offset(gout, b, h, i, 0));
}

/* ---- the output -------------------------------------------------------------------------------------------------- */
/* o = gain o + shift */
static void gain_and_shift(ref_row *row, const ref_inputs *in, slong prec)
{
    const attest_tensor *gain = in->role[ATTEST_GAIN], *shift = in->role[ATTEST_SHIFT];
    arb_t x;
    arb_init(x);
    for (int64_t c = 0; c < row->e; c++) {
        load(x, row, gain, attest_offset(gain, c, 0, 0, 0));
        arb_mul(row->o + c, row->o + c, x, prec);
        load(x, row, shift, attest_offset(shift, c, 0, 0, 0));
        arb_add(row->o + c, row->o + c, x, prec);
    }
    arb_clear(x);
}

void ref_ball_output(ref_row *row, const ref_inputs *in, int64_t h, slong prec)
{
    const uint32_t gates = attest_axis_value_of(in->p, ATTEST_AXIS_GATES);
    const int before = gate_kinds[gates].before, after = gate_kinds[gates].rows && !before;
    for (int64_t c = 0; c < row->e; c++) {
        if (before)
            arb_mul(row->o + c, row->u + c, row->gout, prec);
        else
            arb_set(row->o + c, row->u + c);
    }
    ref_ball_norm_of(in->p)(row, in, h, prec);
    if (attest_axis_value_of(in->p, ATTEST_AXIS_AFFINE) == ATTEST_AFFINE_DRAW)
        gain_and_shift(row, in, prec);
    for (int64_t c = 0; after && c < row->e; c++)
        arb_mul(row->o + c, row->o + c, row->gout, prec);
}
