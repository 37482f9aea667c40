/* ball_steps.c - the steps of the formula around scores and sums: cap, alibi and clamp of a score, gates on values and
 * on rows.  Every step is an inclusion (R-BALL). */
#include "reference/ball.h"

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

int ref_gates_values(const attest_problem *p)
{
    const uint32_t gates = attest_axis_value_of(p, ATTEST_AXIS_GATES);
    return gates == ATTEST_GATES_IN || gates == ATTEST_GATES_INOUT;
}

void ref_ball_gate_weights(arb_ptr gated, ref_row *row, const ref_inputs *in, int64_t b, int64_t g, slong prec)
{
    const attest_tensor *gin = in->role[ATTEST_GIN];
    arb_t gate;
    arb_init(gate);
    for (int64_t j = 0; j < row->keys; j++) {
        load(gate, row, gin, attest_offset(gin, b, g, row->first + j, 0));
        arb_mul(gated + j, row->w + j, gate, prec);
    }
    arb_clear(gate);
}

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

void ref_ball_output(ref_row *row, const ref_inputs *in, int64_t b, int64_t h, int64_t i, slong prec)
{
    const uint32_t gates = attest_axis_value_of(in->p, ATTEST_AXIS_GATES);
    const int before = gates == ATTEST_GATES_PRE_OUT;
    const int after = gates == ATTEST_GATES_OUT || gates == ATTEST_GATES_INOUT;
    arb_t gate;
    arb_init(gate);
    if (before || after)
        load(gate, row, in->role[ATTEST_GOUT], attest_offset(in->role[ATTEST_GOUT], b, h, i, 0));
    for (int64_t c = 0; c < row->e; c++) {
        if (before)
            arb_mul(row->o + c, row->u + c, gate, prec);
        else
            arb_set(row->o + c, row->u + c);
    }
    ref_ball_norm_of(in->p)(row, in, h, prec);
    if (attest_axis_value_of(in->p, ATTEST_AXIS_AFFINE) == ATTEST_AFFINE_DRAW)
        gain_and_shift(row, in, prec);
    for (int64_t c = 0; after && c < row->e; c++)
        arb_mul(row->o + c, row->o + c, gate, prec);
    arb_clear(gate);
}
