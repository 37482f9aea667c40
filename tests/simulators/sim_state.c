/* sim_state.c - states of monomials, updated token by token, or at the end of each chunk. */
#include "tests/simulators/sim.h"

#include <stdlib.h>

/* A state of all degrees of the variant: entries of degree n in row-major Kronecker order, degree after degree. */
typedef struct states {
    int lowest, highest;
    int64_t rows;
    num sum[SIM_MONOMIALS][SIM_VALUES], below[SIM_MONOMIALS];
    int started;
} states;

static void limits(const sim *s, states *x)
{
    const attest_setting *weight = &s->p->axis[ATTEST_AXIS_WEIGHT];
    x->highest = (int)weight->order;
    x->lowest = weight->value == ATTEST_WEIGHT_TAYLOR ? 0 : x->highest;
    x->rows = 0;
    for (int n = x->lowest; n <= x->highest; n++)
        x->rows += attest_state_rows(s->dim, n, 0);
    x->started = 0;
}

/* All monomials of a feature vector: degree after degree. */
static void monomials(sim *s, const states *x, const num *phi, num *out)
{
    num last[SIM_MONOMIALS];
    int64_t count = 1, at = 0;
    last[0] = tape_given(&s->tape, 1);
    for (int n = 0; n <= x->highest; n++) {
        if (n > 0) {
            for (int64_t r = count - 1; r >= 0; r--)
                for (int64_t c = s->dim - 1; c >= 0; c--)
                    last[r * s->dim + c] = sim_mul(s, &s->unit.acc, last[r], phi[c]);
            count *= s->dim;
        }
        for (int64_t r = 0; n >= x->lowest && r < count; r++)
            out[at++] = last[r];
    }
}

static num stored(sim *s, num x) { return s->numerics->state_dtype ? sim_round(s, &s->unit.state, x) : x; }

static num decayed(sim *s, num x, int64_t t, int64_t row)
{
    return sim_decays(s) ? sim_mul(s, &s->unit.acc, x, sim_decay_factor(s, t, row)) : x;
}

static void update(sim *s, states *x, int64_t t)
{
    const tape_unit *sum = &s->unit.sum;
    num m[SIM_MONOMIALS];
    monomials(s, x, s->k[t], m);
    for (int64_t r = 0; r < x->rows; r++) {
        for (int64_t c = 0; c < s->p->e; c++) {
            num term = sim_mul(s, sum, m[r], s->v[t][c]);
            if (x->started)
                term = sim_add(s, sum, decayed(s, x->sum[r][c], t, r), term);
            x->sum[r][c] = stored(s, term);
        }
        x->below[r] = stored(s, x->started ? sim_add(s, sum, decayed(s, x->below[r], t, r), m[r]) : m[r]);
    }
    x->started = 1;
}

/* 1/n! of a Taylor weight or a term. */
static num inverse_factorial(sim *s, int n)
{
    long double product = 1;
    for (int k = 2; k <= n; k++)
        product *= k;
    return sim_number(s, sim_axis(s, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_POWER ? 1 : 1 / product);
}

static num coefficient(sim *s, int n)
{
    const num inverse = inverse_factorial(s, n);
    if (n == 0 || s->p->scale == 1 || s->options->scale != SCALE_SCORE)
        return inverse;
    return sim_mul(s, &s->unit.acc, sim_scale_power(s, n), inverse);
}

/* phi(q)^n S_n, each degree by itself, times its coefficient: on the monomials of q, or on the finished product. */
static num read_column(sim *s, const states *x, const num *m, const num *column)
{
    num term[SIM_MONOMIALS], degree[ATTEST_MAX_ORDER + 1];
    int64_t at = 0;
    for (int n = x->lowest; n <= x->highest; n++) {
        const int64_t count = attest_state_rows(s->dim, n, 0);
        const num factor = coefficient(s, n);
        for (int64_t r = 0; r < count; r++)
            term[r] = s->options->power_late ? m[at + r] : sim_mul(s, &s->unit.acc, factor, m[at + r]);
        degree[n - x->lowest] = sim_dot(s, term, column + at, count);
        if (s->options->power_late)
            degree[n - x->lowest] = sim_mul(s, &s->unit.acc, degree[n - x->lowest], factor);
        at += count;
    }
    return sim_total(s, degree, x->highest - x->lowest + 1);
}

static void scale_query(sim *s)
{
    for (int64_t c = 0; s->options->scale == SCALE_Q && s->p->scale != 1 && c < s->dim; c++)
        s->q[c] = sim_mul(s, &s->unit.acc, s->q[c], sim_scale_power(s, 1));
}

static void read_state(sim *s, const states *x)
{
    num m[SIM_MONOMIALS], column[SIM_MONOMIALS];
    monomials(s, x, s->q, m);
    for (int64_t c = 0; c < s->p->e; c++) {
        for (int64_t r = 0; r < x->rows; r++)
            column[r] = x->sum[r][c];
        s->u[c] = read_column(s, x, m, column);
    }
    s->z = read_column(s, x, m, x->below);
}

static void take_state(sim *s, states *x)
{
    const int sums = sim_axis(s, ATTEST_AXIS_NORM) != ATTEST_NORM_NONE;
    int64_t at = 0;
    for (int n = x->lowest; n <= x->highest; n++)
        for (int64_t r = 0; r < attest_state_rows(s->dim, n, 0); r++, at++) {
            for (int64_t c = 0; c < s->p->e; c++)
                x->sum[at][c] = sim_given_state(s, n, r, c, 0);
            x->below[at] = sums ? sim_given_state(s, n, r, 0, 1) : tape_given(&s->tape, 0);
        }
    x->started = 1;
}

static void keep_state(sim *s, const states *x)
{
    const int64_t last = attest_state_rows(s->dim, x->highest, 0);
    for (int64_t r = 0; r < last; r++)
        for (int64_t c = 0; c < s->p->e; c++)
            s->state[r * s->p->e + c] = x->sum[x->rows - last + r][c];
    s->has_state = 1;
}

void sim_recurrent(sim *s)
{
    states x;
    limits(s, &x);
    sim_tokens(s);
    if (sim_axis(s, ATTEST_AXIS_STATE))
        take_state(s, &x);
    for (int64_t t = 0; t < s->last; t++)
        update(s, &x, t);
    keep_state(s, &x);
    scale_query(s);
    read_state(s, &x);
    s->has_u = s->has_z = 1;
    num divisor = s->z;
    sim_finish(s, s->u, divisor);
}

/* The scalar decay over tokens (from, to]; -1 without. */
static num between(sim *s, int64_t from, int64_t to) { return sim_decays(s) ? sim_decay_of(s, from, to, 0) : -1; }

static num times(sim *s, num x, num factor) { return factor < 0 ? x : sim_mul(s, &s->unit.acc, x, factor); }

/* x := decayed x + part, over tokens with the decay `over`. */
static void join(sim *s, states *x, const states *part, num over)
{
    for (int64_t r = 0; r < x->rows; r++)
        for (int64_t c = 0; c < s->p->e; c++)
            x->sum[r][c] = stored(s, x->started
                                         ? sim_add(s, &s->unit.sum, times(s, x->sum[r][c], over), part->sum[r][c])
                                         : part->sum[r][c]);
    x->started = 1;
}

/* Adds the tokens [first, last), decayed to the last of them. */
static void add_tokens(sim *s, states *x, int64_t first, int64_t last)
{
    const tape_unit *sum = &s->unit.sum;
    num m[SIM_MONOMIALS];
    for (int64_t t = first; t < last; t++) {
        const num decay = between(s, t, last - 1);
        monomials(s, x, s->k[t], m);
        for (int64_t r = 0; r < x->rows; r++)
            for (int64_t c = 0; c < s->p->e; c++) {
                const num term = times(s, sim_mul(s, sum, m[r], s->v[t][c]), decay);
                x->sum[r][c] = x->started ? sim_add(s, sum, x->sum[r][c], term) : term;
            }
        x->started = 1;
    }
}

/* State after the chunk [first, last): the old one, decayed, and the chunk's tokens. */
static void close_chunk(sim *s, states *x, int64_t first, int64_t last)
{
    const num over = between(s, first - 1, last - 1);
    states part = *x;
    if (s->options->chunks == CHUNKS_INTO) {
        for (int64_t r = 0; x->started && r < x->rows; r++)
            for (int64_t c = 0; c < s->p->e; c++)
                x->sum[r][c] = times(s, x->sum[r][c], over);
        add_tokens(s, x, first, last);
        return;
    }
    part.started = 0;
    add_tokens(s, &part, first, last);
    join(s, x, &part, over);
}

/* The chunks [from, to) of `chunk` tokens: halves, added up. */
static void add_chunks(sim *s, states *x, int64_t from, int64_t to, int64_t chunk)
{
    const int64_t middle = (from + to) / 2;
    if (to - from == 1) {
        add_tokens(s, x, from * chunk, to * chunk);
        return;
    }
    states *right = calloc(1, sizeof *right);
    if (!right)
        abort();
    limits(s, right);
    add_chunks(s, x, from, middle, chunk);
    add_chunks(s, right, middle, to, chunk);
    join(s, x, right, between(s, middle * chunk - 1, to * chunk - 1));
    free(right);
}

/* norm=none, weight=power:1: what comes before the chunk through the state, its own pairs directly. */
void sim_chunk(sim *s)
{
    states x;
    num w[SIM_KEYS], column[SIM_KEYS];
    const int64_t chunk = s->p->chunk, start = s->i / chunk * chunk;
    limits(s, &x);
    sim_tokens(s);
    for (int64_t t = 0; s->options->chunks != CHUNKS_TREE && t + chunk <= start; t += chunk)
        close_chunk(s, &x, t, t + chunk);
    if (s->options->chunks == CHUNKS_TREE && start > 0)
        add_chunks(s, &x, 0, start / chunk, chunk);
    scale_query(s);
    for (int64_t j = start; j < s->last; j++) {
        w[j] = sim_dot(s, s->q, s->k[j], s->dim);
        if (s->p->scale != 1 && s->options->scale == SCALE_SCORE)
            w[j] = sim_mul(s, &s->unit.acc, w[j], sim_scale_power(s, 1));
        w[j] = times(s, w[j], between(s, j, s->i));
    }
    const num over = between(s, start - 1, s->i), factor = coefficient(s, 1);
    for (int64_t c = 0; c < s->p->e; c++) {
        num state[SIM_MONOMIALS];
        for (int64_t j = start; j < s->last; j++)
            column[j] = s->v[j][c];
        s->u[c] = sim_dot(s, w + start, column + start, s->last - start);
        if (!x.started)
            continue;
        for (int64_t r = 0; r < x.rows; r++)
            state[r] = x.sum[r][c];
        const num old = sim_mul(s, &s->unit.acc, sim_dot(s, s->q, state, x.rows), factor);
        s->u[c] = sim_add(s, &s->unit.sum, times(s, old, over), s->u[c]);
    }
    s->has_u = 1;
    sim_finish(s, s->u, -1);
}
