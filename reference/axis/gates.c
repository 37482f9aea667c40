/* gates.c - gates on values and rows: stored numbers, or a softmax over the heads (R-GATE, R-HEADS-BALL). */
#include "reference/axis/rows.h"

static int ball_stored(arb_t y, const attest_tensor *t, int64_t b, int64_t head, int64_t at, slong prec)
{
    (void)prec;
    arb_set_d(y, attest_load(t, attest_offset(t, b, head, at, 0)));
    return arb_is_finite(y) != 0;
}

/* y = e^x_head / sum over all heads of e^x_h, x stored at (b,h,at).  The largest x is taken off: no exponential exceeds
 * 1, and the sum is at least 1.  0 if one x is not finite. */
static int ball_heads(arb_t y, const attest_tensor *t, int64_t b, int64_t head, int64_t at, slong prec)
{
    int finite = 1;
    AUTO_ARB(most, sum, x);
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
    return finite;
}

/* R-GATE: exponents of at most twice the largest entry, the exponentials, their sum, the division. */
static void error_heads(mag_t theta, const axis_arithmetic *a, const attest_tensor *t, int64_t b, int64_t first,
                        int64_t last)
{
    const int64_t heads = t->shape[1];
    AUTO_MAG(top, x, e);
    for (int64_t token = first; token < last; token++)
        for (int64_t h = 0; h < heads; h++) {
            mag_set_d(x, attest_load(t, attest_offset(t, b, h, token, 0)));
            mag_max(top, top, x);
        }
    bound_gamma(x, a->log2_domain ? 4 : 1, a->u); /* the exponent is at most 2 top */
    mag_mul(x, x, top);
    mag_mul_2exp_si(x, x, 1);
    mag_expm1(e, x);
    bound_compose(e, e, a->u_exp);
    bound_gamma(x, 1, e); /* e/(1-e) */
    bound_compose(theta, e, x);
    bound_gamma(x, heads + 1, a->u);
    bound_compose(theta, theta, x);
    bound_compose(theta, theta, a->u_div);
}

#define STORED(on_values, on_rows, is_before)                                                                          \
    {                                                                                                                  \
        .lemma = "R-GATE", .serves = AXIS_EXACT | AXIS_STATE | AXIS_FORM, .values = on_values, .rows = on_rows,        \
        .before = is_before, .value_role = ATTEST_GIN, .row_role = ATTEST_GOUT, .ball = ball_stored, .stored = 1       \
    }

static const axis_gates gates[] = {
    [ATTEST_GATES_NONE] = { .serves = AXIS_EVERY, .ball = ball_stored, .stored = 1 },
    [ATTEST_GATES_IN] = STORED(1, 0, 0),
    [ATTEST_GATES_OUT] = STORED(0, 1, 0),
    [ATTEST_GATES_INOUT] = STORED(1, 1, 0),
    [ATTEST_GATES_PRE_OUT] = STORED(0, 1, 1),
    [ATTEST_GATES_HEADS] = { .lemma = "R-GATE",
                             .values = 1,
                             .rows = 1,
                             .value_role = ATTEST_K_HEAD_LOGITS,
                             .row_role = ATTEST_Q_HEAD_LOGITS,
                             .ball = ball_heads,
                             .error = error_heads },
};

axis_entry axis_gates_entry(uint32_t value)
{
    if (value >= AXIS_ROWS(gates))
        return (axis_entry){ 0, NULL };
    return (axis_entry){ gates[value].serves | (gates[value].ball ? AXIS_BALL : 0), gates[value].lemma };
}

const axis_gates *axis_gates_of(const attest_problem *p) { return &gates[p->axis[ATTEST_AXIS_GATES].value]; }
