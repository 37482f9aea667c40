/* sim_token.c - phi of a token, with rope before it: sim.h. */
#include "tests/simulators/sim.h"

/* A step of rope or a feature, stored where each of them is. */
static num step(sim *s, num x) { return s->options->features == FEATURES_STEPS ? sim_round(s, &s->unit.scaled, x) : x; }

static num feature(sim *s, num x)
{
    const long double value = tape_value(&s->tape, x);
    switch (sim_axis(s, ATTEST_AXIS_FEATURE)) {
    case ATTEST_FEATURE_COSFORMER:
    case ATTEST_FEATURE_RELU: return value > 0 ? x : tape_given(&s->tape, 0);
    case ATTEST_FEATURE_ELU1:
        if (value >= 0)
            return sim_add(s, &s->unit.acc, x, tape_given(&s->tape, 1));
        if (s->options->elu == ELU_EXP)
            return sim_call(s, &s->unit.exp, TAPE_EXP, x);
        return sim_add(s, &s->unit.acc, step(s, sim_call(s, &s->unit.expm1, TAPE_EXPM1, x)), tape_given(&s->tape, 1));
    case ATTEST_FEATURE_SILU:
    case ATTEST_FEATURE_SILU_UNIT: {
        const num minus = sim_sub(s, NULL, tape_given(&s->tape, 0), x), one = tape_given(&s->tape, 1);
        if (s->options->silu == SILU_CALL) {
            const num y = tape_do(&s->tape, NULL, TAPE_DIV, one,
                                  sim_add(s, NULL, one, sim_call(s, NULL, TAPE_EXP, minus)));
            return sim_mul(s, &s->unit.acc, x, step(s, sim_round(s, &s->unit.sigmoid, y)));
        }
        const num below = sim_add(s, &s->unit.acc, tape_given(&s->tape, 1), sim_call(s, &s->unit.exp, TAPE_EXP, minus));
        if (s->options->silu == SILU_SIGMOID)
            return sim_mul(s, &s->unit.acc, x, step(s, sim_div(s, tape_given(&s->tape, 1), below)));
        return sim_div(s, x, below);
    }
    default: return x;
    }
}

/* x / norm2(x) */
static void divide_by_norm(sim *s, num *x, int64_t d)
{
    const num root = step(s, sim_call(s, &s->unit.acc, TAPE_SQRT, sim_dot(s, x, x, d)));
    if (tape_value(&s->tape, root) == 0)
        return;
    const num inverse = s->options->norm == NORM_RECIPROCAL ? sim_div(s, tape_given(&s->tape, 1), root) : root;
    for (int64_t c = 0; c < d; c++)
        x[c] = s->options->norm == NORM_RECIPROCAL ? sim_mul(s, &s->unit.acc, x[c], inverse) : sim_div(s, x[c], root);
}

/* The frequency of pair c, by an exponential of a product with a logarithm. */
static num angle_of(sim *s, int64_t c, int64_t position)
{
    const long double base = s->p->axis[ATTEST_AXIS_ROPE].number;
    const num place = tape_given(&s->tape, position);
    if (c == 0)
        return place;
    const num exponent = sim_div(s, tape_given(&s->tape, -2 * (long double)c), tape_given(&s->tape, s->p->d));
    const num log = sim_call(s, &s->unit.log, TAPE_LOG, sim_number(s, base));
    const num frequency = sim_call(s, &s->unit.exp, TAPE_EXP, sim_mul(s, &s->unit.acc, exponent, log));
    return sim_mul(s, &s->unit.acc, place, frequency);
}

static void rope(sim *s, num *x, int64_t position)
{
    const int64_t half = s->p->d / 2;
    const tape_unit *acc = &s->unit.acc;
    for (int64_t c = 0; c < half; c++) {
        const num angle = angle_of(s, c, position), a = x[c], b = x[c + half];
        const num sine = step(s, sim_call(s, &s->unit.function, TAPE_SIN, angle));
        const num cosine = step(s, sim_call(s, &s->unit.function, TAPE_COS, angle));
        x[c] = sim_sub(s, acc, step(s, sim_mul(s, acc, a, cosine)), step(s, sim_mul(s, acc, b, sine)));
        x[c + half] = sim_add(s, acc, step(s, sim_mul(s, acc, a, sine)), step(s, sim_mul(s, acc, b, cosine)));
    }
}

/* cosformer: relu(x) cos a and relu(x) sin a, a = pi position / (2 max(N, M)). */
static void turn(sim *s, num *x, int64_t position)
{
    static const long double pi = 3.141592653589793238462643383279502884L;
    const tape_unit *acc = &s->unit.acc;
    const int64_t most = s->p->n > s->p->m ? s->p->n : s->p->m;
    const num place = sim_mul(s, acc, sim_number(s, pi), tape_given(&s->tape, position));
    const num angle = sim_div(s, place, tape_given(&s->tape, 2 * most));
    const num sine = step(s, sim_call(s, &s->unit.function, TAPE_SIN, angle));
    const num cosine = step(s, sim_call(s, &s->unit.function, TAPE_COS, angle));
    for (int64_t c = 0; c < s->p->d; c++) {
        x[s->p->d + c] = sim_mul(s, acc, x[c], sine);
        x[c] = sim_mul(s, acc, x[c], cosine);
    }
}

void sim_token(sim *s, num *x, attest_role role, int64_t t, int64_t position)
{
    const uint32_t kind = sim_axis(s, ATTEST_AXIS_FEATURE);
    for (int64_t c = 0; c < s->p->d; c++)
        x[c] = sim_input(s, role, 0, role == ATTEST_Q ? s->options->head : 0, t, c);
    if (sim_axis(s, ATTEST_AXIS_ROPE))
        rope(s, x, position);
    for (int64_t c = 0; s->options->turned && c < s->p->d; c++)
        x[c] = sim_round(s, &s->unit.scaled, x[c]);
    for (int64_t c = 0; c < s->p->d; c++)
        x[c] = kind == ATTEST_FEATURE_SILU_UNIT ? step(s, feature(s, x[c])) : feature(s, x[c]);
    if (kind == ATTEST_FEATURE_UNIT || kind == ATTEST_FEATURE_SILU_UNIT)
        divide_by_norm(s, x, s->p->d);
    if (kind == ATTEST_FEATURE_COSFORMER)
        turn(s, x, position);
    for (int64_t c = 0; s->options->features && c < s->dim; c++)
        x[c] = sim_round(s, &s->unit.scaled, x[c]);
}
