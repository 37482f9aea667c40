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
        s->q[c] = sim_scaled(s, s->q[c], sim_scale_power(s, 1));
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

/* The state, decayed over the tokens behind the last key. */
static void pass_time(sim *s, states *x)
{
    const int once = s->options->behind == BEHIND_ONCE;
    const int64_t end = once && s->i >= s->last ? s->last + 1 : s->i + 1;
    for (int64_t t = s->last; sim_decays(s) && t < end; t++)
        for (int64_t r = 0; r < x->rows; r++) {
            const int64_t entry = sim_axis(s, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR ? r : 0;
            const num over = once ? sim_decay_of(s, s->last - 1, s->i, entry) : sim_decay_factor(s, t, r);
            for (int64_t c = 0; c < s->p->e; c++)
                x->sum[r][c] = stored(s, sim_mul(s, &s->unit.acc, x->sum[r][c], over));
            x->below[r] = stored(s, sim_mul(s, &s->unit.acc, x->below[r], over));
        }
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
    pass_time(s, &x);
    scale_query(s);
    read_state(s, &x);
    s->has_u = s->has_z = 1;
    num divisor = s->z;
    sim_finish(s, s->u, divisor);
}

static int vector(const sim *s) { return sim_axis(s, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR; }

/* The decay over tokens (from, to], of state row r; -1 without. */
static num between(sim *s, int64_t from, int64_t to, int64_t r)
{
    return sim_decays(s) ? sim_decay_of(s, from, to, vector(s) ? r : 0) : -1;
}

static num times(sim *s, num x, num factor) { return factor < 0 ? x : sim_mul(s, &s->unit.acc, x, factor); }

/* x times the decay over (from, to] of channel c; rounded to `scaled` if `keeps`. */
static num kept(sim *s, num x, int64_t from, int64_t to, int64_t c, int keeps)
{
    const num y = to > from ? times(s, x, between(s, from, to, c)) : x;
    return keeps && to > from ? sim_round(s, &s->unit.scaled, y) : y;
}

/* x := x + part, x decayed over the tokens (from, to]. */
static void join(sim *s, states *x, const states *part, int64_t from, int64_t to)
{
    for (int64_t r = 0; part->started && r < x->rows; r++)
        for (int64_t c = 0; c < s->p->e; c++) {
            num sum = part->sum[r][c];
            if (x->started)
                sum = sim_add(s, &s->unit.sum, times(s, x->sum[r][c], between(s, from, to, r)), sum);
            x->sum[r][c] = stored(s, sum);
        }
    x->started |= part->started;
}

/* Adds those of the tokens [first, end) that are seen, decayed to the last of them all. */
static void add_tokens(sim *s, states *x, int64_t first, int64_t end)
{
    const tape_unit *sum = &s->unit.sum;
    num m[SIM_MONOMIALS];
    for (int64_t t = first; t < end && t < s->last; t++) {
        monomials(s, x, s->k[t], m);
        for (int64_t r = 0; r < x->rows; r++)
            for (int64_t c = 0; c < s->p->e; c++) {
                num term;
                if (s->options->values && !vector(s))
                    term = sim_mul(s, sum, m[r], kept(s, s->v[t][c], t, end - 1, r, 1));
                else if (s->options->decayed && t < end - 1)
                    term = sim_mul(s, sum, sim_round(s, &s->unit.scaled, times(s, m[r], between(s, t, end - 1, r))),
                                   s->v[t][c]);
                else
                    term = times(s, sim_mul(s, sum, m[r], s->v[t][c]), between(s, t, end - 1, r));
                x->sum[r][c] = x->started ? sim_add(s, sum, x->sum[r][c], term) : term;
            }
        x->started = 1;
    }
}

static void store(sim *s, states *x)
{
    for (int64_t r = 0; x->started && r < x->rows; r++)
        for (int64_t c = 0; c < s->p->e; c++)
            x->sum[r][c] = stored(s, x->sum[r][c]);
}

/* State after the chunk [first, last): the old one, decayed, and the chunk's tokens. */
static void close_chunk(sim *s, states *x, int64_t first, int64_t last)
{
    states part = *x;
    if (s->options->chunks == CHUNKS_INTO || first >= s->last) {
        for (int64_t r = 0; x->started && r < x->rows; r++)
            for (int64_t c = 0; c < s->p->e; c++)
                x->sum[r][c] = times(s, x->sum[r][c], between(s, first - 1, last - 1, r));
        add_tokens(s, x, first, last);
        store(s, x);
        return;
    }
    part.started = 0;
    add_tokens(s, &part, first, last);
    join(s, x, &part, first - 1, last - 1);
}

/* The chunks [from, to) of `chunk` tokens: halves, added up; the state of each chunk is stored. */
static void add_chunks(sim *s, states *x, int64_t from, int64_t to, int64_t chunk)
{
    const int64_t middle = (from + to) / 2;
    if (to - from == 1) {
        add_tokens(s, x, from * chunk, to * chunk);
        store(s, x);
        return;
    }
    states *right = calloc(1, sizeof *right);
    if (!right)
        abort();
    limits(s, right);
    add_chunks(s, x, from, middle, chunk);
    add_chunks(s, right, middle, to, chunk);
    if (right->started)
        join(s, x, right, middle * chunk - 1, to * chunk - 1);
    else if (x->started) /* no key is left */
        close_chunk(s, x, middle * chunk, to * chunk);
    free(right);
}

/* <q, k_j>, decayed: the finished product, or the entries of q, or of both. */
static num pair(sim *s, int64_t j)
{
    const int middle = s->options->middle;
    const int64_t at = middle && s->i > j ? (j + s->i + 1) / 2 : j;
    num q[SIM_DIM], k[SIM_DIM];
    for (int64_t c = 0; c < s->dim; c++) {
        q[c] = vector(s) ? kept(s, s->q[c], at, s->i, c, middle || s->options->queries) : s->q[c];
        k[c] = vector(s) ? kept(s, s->k[j][c], j, at, c, middle) : s->k[j][c];
    }
    num w = sim_dot(s, q, k, s->dim);
    if (s->p->scale != 1 && s->options->scale == SCALE_SCORE)
        w = sim_mul(s, &s->unit.acc, w, sim_scale_power(s, 1));
    return vector(s) ? w : times(s, w, between(s, j, s->i, 0));
}

/* What the query reads of column c of the state before its chunk. */
static num read_chunk(sim *s, const states *x, int64_t start, int64_t c)
{
    num state[SIM_MONOMIALS], q[SIM_DIM];
    for (int64_t r = 0; r < x->rows; r++) {
        state[r] = x->sum[r][c];
        q[r] = vector(s) ? kept(s, s->q[r], start - 1, s->i, r, s->options->queries) : s->q[r];
    }
    const num old = sim_mul(s, &s->unit.acc, sim_dot(s, q, state, x->rows), coefficient(s, 1));
    return vector(s) ? old : times(s, old, between(s, start - 1, s->i, 0));
}

/* The state after the last key. */
static void chunk_state(sim *s)
{
    const int64_t chunk = s->p->chunk;
    states *x = calloc(1, sizeof *x);
    if (!x)
        abort();
    limits(s, x);
    if (sim_axis(s, ATTEST_AXIS_STATE))
        take_state(s, x);
    for (int64_t t = 0; t < s->last; t += chunk)
        close_chunk(s, x, t, t + chunk < s->last ? t + chunk : s->last);
    keep_state(s, x);
    free(x);
}

/* norm=none, weight=power:1: what comes before the chunk through the state, its own pairs directly. */
void sim_chunk(sim *s)
{
    states x;
    num w[SIM_KEYS], column[SIM_KEYS];
    const int64_t chunk = s->p->chunk, start = s->i / chunk * chunk;
    limits(s, &x);
    sim_tokens(s);
    if (sim_axis(s, ATTEST_AXIS_STATE))
        take_state(s, &x);
    for (int64_t t = 0; s->options->chunks != CHUNKS_TREE && t + chunk <= start; t += chunk)
        close_chunk(s, &x, t, t + chunk);
    if (s->options->chunks == CHUNKS_TREE && start > 0)
        add_chunks(s, &x, 0, start / chunk, chunk);
    scale_query(s);
    for (int64_t j = start; j < s->last; j++)
        w[j] = pair(s, j);
    for (int64_t c = 0; c < s->p->e; c++) {
        num own = -1, old = x.started ? read_chunk(s, &x, start, c) : -1;
        for (int64_t j = start; j < s->last; j++)
            column[j] = s->v[j][c];
        if (start < s->last)
            own = sim_dot(s, w + start, column + start, s->last - start);
        s->u[c] = own < 0 ? old : old < 0 ? own : sim_add(s, &s->unit.sum, old, own);
    }
    s->has_u = 1;
    chunk_state(s);
    sim_finish(s, s->u, -1);
}
