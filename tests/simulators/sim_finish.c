/* sim_finish.c - from u and z to the outputs: divisor, norm, gain and shift, gate of the row, the output's type. */
#include "tests/simulators/sim.h"

#include <math.h>

static int gates_rows(const sim *s)
{
    const uint32_t gates = sim_axis(s, ATTEST_AXIS_GATES);
    return gates == ATTEST_GATES_OUT || gates == ATTEST_GATES_INOUT || gates == ATTEST_GATES_PRE_OUT;
}

void sim_output(sim *s, const num *o)
{
    const int gated = gates_rows(s) && sim_axis(s, ATTEST_AXIS_GATES) != ATTEST_GATES_PRE_OUT;
    const int narrow = attest_format_of(s->p->out).p < attest_format_of(s->p->acc).p;
    for (int64_t c = 0; c < s->p->e; c++) {
        s->o[c] = o[c];
        if (sim_drops(s) && s->options->drop == DROP_QUOTIENT)
            s->o[c] = sim_kept(s, s->o[c]);
        if (gated)
            s->o[c] = sim_mul(s, &s->unit.acc, s->o[c], sim_input(s, ATTEST_GOUT, 0, 0, s->i, 0));
        if (narrow)
            s->o[c] = sim_round(s, &s->unit.out, s->o[c]);
    }
}

/* x less its mean. */
static void centre(sim *s, num *x)
{
    const int64_t e = s->p->e;
    num sum = x[0];
    for (int64_t c = 1; c < e; c++)
        sum = sim_add(s, &s->unit.sum, sum, x[c]);
    const num mean = sim_div(s, sum, tape_given(&s->tape, e));
    for (int64_t c = 0; c < e; c++)
        x[c] = sim_sub(s, &s->unit.acc, x[c], mean);
}

static num root_of(sim *s, const num *x, int divide)
{
    const tape_unit *acc = &s->unit.acc;
    const double eps = s->p->axis[ATTEST_AXIS_EPS].number;
    const tape_unit *total = &s->unit.sum;
    num sum = sim_mul(s, total, x[0], x[0]);
    for (int64_t c = 1; c < s->p->e; c++)
        sum = sim_add(s, total, sum, sim_mul(s, total, x[c], x[c]));
    if (divide)
        sum = sim_div(s, sum, tape_given(&s->tape, s->p->e));
    if (eps > 0)
        sum = sim_add(s, acc, sum, sim_number(s, eps));
    return sim_call(s, acc, TAPE_SQRT, sum);
}

static void affine(sim *s, num *y)
{
    for (int64_t c = 0; sim_axis(s, ATTEST_AXIS_AFFINE) && c < s->p->e; c++) {
        y[c] = sim_mul(s, &s->unit.acc, y[c], sim_input(s, ATTEST_GAIN, c, 0, 0, 0));
        y[c] = sim_add(s, &s->unit.acc, y[c], sim_input(s, ATTEST_SHIFT, c, 0, 0, 0));
    }
}

static num key_count(sim *s) { return tape_given(&s->tape, s->keys); }

static void root_norm(sim *s, const num *u, uint32_t norm)
{
    const int length = norm >= ATTEST_NORM_LENGTH_L2;
    const uint32_t kind = length ? norm - ATTEST_NORM_LENGTH_L2 + ATTEST_NORM_L2 : norm;
    const tape_unit *acc = &s->unit.acc;
    num x[SIM_VALUES] = { 0 };
    for (int64_t c = 0; c < s->p->e; c++) {
        x[c] = u[c];
        if (sim_axis(s, ATTEST_AXIS_GATES) == ATTEST_GATES_PRE_OUT)
            x[c] = sim_mul(s, acc, x[c], sim_input(s, ATTEST_GOUT, 0, 0, s->i, 0));
        if (length)
            x[c] = sim_div(s, x[c], key_count(s));
    }
    if (kind == ATTEST_NORM_LAYERNORM)
        centre(s, x);
    const num root = root_of(s, x, kind != ATTEST_NORM_L2), one = tape_given(&s->tape, 1);
    const num inverse = s->options->norm == NORM_RECIPROCAL ? sim_div(s, one, root) : root;
    for (int64_t c = 0; c < s->p->e; c++)
        x[c] = s->options->norm == NORM_RECIPROCAL ? sim_mul(s, acc, x[c], inverse) : sim_div(s, x[c], root);
    affine(s, x);
    sim_output(s, x);
}

void sim_finish(sim *s, const num *u, num z)
{
    const uint32_t norm = sim_axis(s, ATTEST_AXIS_NORM);
    num x[SIM_VALUES];
    if (norm >= ATTEST_NORM_L2) {
        root_norm(s, u, norm);
        return;
    }
    num divisor = z;
    if (norm == ATTEST_NORM_FLOOR)
        divisor = sim_max(s, z, sim_number(s, s->p->axis[ATTEST_AXIS_NORM].number));
    if (norm == ATTEST_NORM_LENGTH)
        divisor = key_count(s);
    for (int64_t c = 0; c < s->p->e; c++)
        x[c] = norm == ATTEST_NORM_NONE ? u[c] : sim_div(s, u[c], divisor);
    sim_output(s, x);
}
