/* sim_poly.c - polynomial weights of pairs: Horner with divisions or with rounded reciprocals, powers with
 * coefficients; centers; decays of pairs. */
#include "tests/simulators/sim.h"

static int order_of(const sim *s) { return (int)s->p->axis[ATTEST_AXIS_WEIGHT].order; }

static num horner(sim *s, num x)
{
    const tape_unit *acc = &s->unit.acc;
    const num one = tape_given(&s->tape, 1);
    num w = one;
    for (int n = order_of(s); n > 0; n--) {
        if (s->options->poly == POLY_RECIPROCAL) {
            const num step = n == 1 ? x : sim_mul(s, acc, x, sim_number(s, 1.0L / n));
            w = sim_mul(s, acc, w, step);
        } else {
            w = sim_mul(s, acc, w, x);
            if (n > 1)
                w = sim_div(s, w, tape_given(&s->tape, n));
        }
        w = sim_add(s, acc, w, one);
    }
    return w;
}

static num power(sim *s, num x, int n)
{
    num y = x;
    for (int k = 1; k < n; k++)
        y = sim_mul(s, &s->unit.acc, y, x);
    return n > 0 ? y : tape_given(&s->tape, 1);
}

static long double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

static num powers(sim *s, num x)
{
    const tape_unit *acc = &s->unit.acc;
    num sum = tape_given(&s->tape, 1), y = sum;
    for (int n = 1; n <= order_of(s); n++) {
        y = sim_mul(s, acc, y, x);
        sum = sim_add(s, acc, sum, sim_mul(s, acc, y, sim_number(s, 1 / factorial(n))));
    }
    return sum;
}

static num weight(sim *s, num x)
{
    const uint32_t kind = sim_axis(s, ATTEST_AXIS_WEIGHT);
    const int n = order_of(s);
    if (kind == ATTEST_WEIGHT_TAYLOR)
        return s->options->poly == POLY_POWERS ? powers(s, x) : horner(s, x);
    const num y = power(s, x, n);
    if (kind == ATTEST_WEIGHT_POWER || n < 2)
        return y;
    if (s->options->poly == POLY_RECIPROCAL)
        return sim_mul(s, &s->unit.acc, y, sim_number(s, 1 / factorial(n)));
    return sim_div(s, y, sim_number(s, factorial(n)));
}

static num center(sim *s)
{
    num x[SIM_KEYS];
    sim_seen(s, x, s->score, s->first, s->last);
    const uint32_t kind = sim_axis(s, ATTEST_AXIS_CENTER);
    const num most = sim_largest(s, x, s->keys);
    num least = x[0];
    for (int64_t k = 1; k < s->keys; k++)
        least = tape_do(&s->tape, NULL, TAPE_MIN, least, x[k]);
    if (kind == ATTEST_CENTER_MAX)
        return most;
    if (kind == ATTEST_CENTER_MIN)
        return least;
    return sim_mul(s, &s->unit.acc, sim_add(s, &s->unit.acc, most, least), tape_given(&s->tape, 0.5L));
}

/* A decay inside the product: each channel of q is multiplied by its product of decays. */
static num decayed_score(sim *s, int64_t j)
{
    num q[SIM_DIM];
    for (int64_t c = 0; c < s->dim; c++) {
        const num decay = sim_decay_of(s, j, s->i, c);
        q[c] = decay < 0 ? s->q[c] : sim_mul(s, &s->unit.acc, s->q[c], decay);
    }
    const num x = sim_dot(s, q, s->k[j], s->dim);
    return s->p->scale == 1 ? x : sim_mul(s, &s->unit.acc, x, sim_scale_power(s, 1));
}

static void weights(sim *s, num *w)
{
    const int centered = sim_axis(s, ATTEST_AXIS_CENTER) != ATTEST_CENTER_ZERO;
    const int vector = sim_axis(s, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR;
    const num shift = centered ? center(s) : 0;
    for (int64_t j = s->first; j < s->last; j++) {
        num x = vector ? decayed_score(s, j) : s->score[j];
        if (centered)
            x = sim_sub(s, &s->unit.acc, x, shift);
        w[j] = weight(s, x);
        const num decay = vector || !sim_decays(s) ? -1 : sim_decay_of(s, j, s->i, 0);
        if (decay >= 0)
            w[j] = sim_mul(s, &s->unit.acc, w[j], decay);
    }
}

void sim_polynomial(sim *s)
{
    num all[SIM_KEYS], w[SIM_KEYS], column[SIM_KEYS], left[SIM_KEYS];
    sim_tokens(s);
    sim_scores(s);
    weights(s, all);
    sim_seen(s, w, all, s->first, s->last);
    s->z = sim_total(s, w, s->keys);
    num divisor = s->z;
    if (s->p->axis[ATTEST_AXIS_EPS].value && sim_axis(s, ATTEST_AXIS_NORM) == ATTEST_NORM_SUM)
        divisor = sim_add(s, &s->unit.sum, s->z, sim_number(s, s->p->axis[ATTEST_AXIS_EPS].number));
    for (int64_t n = 0; s->options->divide != DIVIDE_LAST && n < s->keys; n++)
        w[n] = sim_div(s, w[n], divisor);
    for (int64_t n = 0; n < s->keys; n++)
        w[n] = sim_dropped(s, w[n], s->casts ? sim_round(s, &s->unit.cast, w[n]) : w[n]);
    for (int64_t c = 0; c < s->p->e; c++) {
        for (int64_t j = s->first; j < s->last; j++)
            all[j] = s->v[j][c];
        sim_seen(s, column, all, s->first, s->last);
        for (int64_t n = 0; n < s->keys; n++)
            left[n] = w[n];
        const int64_t kept = sim_keep(s, left, column, s->first, s->last);
        s->u[c] = kept > 0 ? sim_dot(s, left, column, kept) : tape_given(&s->tape, 0);
        if (sim_drops(s) && s->options->drop == DROP_SUM)
            s->u[c] = sim_kept(s, s->u[c]);
    }
    s->has_u = s->options->divide == DIVIDE_LAST;
    s->has_z = 1;
    if (s->options->divide == DIVIDE_LAST)
        sim_finish(s, s->u, divisor);
    else
        sim_output(s, s->u);
}
