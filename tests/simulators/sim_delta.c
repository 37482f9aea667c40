/* sim_delta.c - the delta rule and efla: token by token, and chunk by chunk with forward substitution. */
#include "tests/simulators/sim.h"

#include <string.h>

/* b, or (1 - e^(-b r))/r. */
static num rate(sim *s, int64_t t)
{
    const num b = sim_input(s, ATTEST_BETA, 0, 0, t, 0);
    const tape_unit *acc = &s->unit.acc;
    if (sim_axis(s, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_EFLA)
        return b;
    const num r = sim_dot(s, s->k[t], s->k[t], s->dim), zero = tape_given(&s->tape, 0);
    const num x = sim_sub(s, NULL, zero, sim_mul(s, acc, b, r));
    if (tape_value(&s->tape, r) == 0)
        return b;
    if (s->options->rate == RATE_EXPM1)
        return sim_div(s, sim_sub(s, NULL, zero, sim_call(s, &s->unit.expm1, TAPE_EXPM1, x)), r);
    return sim_div(s, sim_sub(s, acc, tape_given(&s->tape, 1), sim_call(s, &s->unit.exp, TAPE_EXP, x)), r);
}

static num stored(sim *s, num x) { return s->numerics->state_dtype ? sim_round(s, &s->unit.state, x) : x; }

static void read_out(sim *s, const num (*state)[SIM_VALUES], num *u)
{
    num column[SIM_DIM];
    for (int64_t c = 0; c < s->p->e; c++) {
        for (int64_t r = 0; r < s->dim; r++)
            column[r] = state[r][c];
        u[c] = sim_dot(s, s->q, column, s->dim);
        if (s->options->scale == SCALE_SCORE && s->p->scale != 1)
            u[c] = sim_mul(s, &s->unit.acc, u[c], sim_scale_power(s, 1));
    }
}

static void scale_query(sim *s)
{
    for (int64_t c = 0; s->options->scale == SCALE_Q && s->p->scale != 1 && c < s->dim; c++)
        s->q[c] = sim_scaled(s, s->q[c], sim_scale_power(s, 1));
}

static void step(sim *s, num (*state)[SIM_VALUES], int64_t t)
{
    const tape_unit *acc = &s->unit.acc;
    const num b = rate(s, t);
    const int old = t > 0 || sim_axis(s, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE;
    num column[SIM_DIM];
    for (int64_t c = 0; c < s->p->e; c++) {
        for (int64_t r = 0; r < s->dim; r++) {
            column[r] = state[r][c];
            if (sim_decays(s) && old)
                column[r] = sim_mul(s, acc, column[r], sim_decay_factor(s, t, r));
        }
        num rest = s->v[t][c], write;
        const num seen = old ? sim_dot(s, s->k[t], column, s->dim) : -1;
        if (old && s->options->apart) {
            write = sim_sub(s, acc, sim_mul(s, acc, b, rest), sim_mul(s, acc, b, seen));
        } else {
            if (old)
                rest = sim_sub(s, acc, rest, seen);
            write = sim_mul(s, acc, b, rest);
        }
        for (int64_t r = 0; r < s->dim; r++) {
            const num term = sim_mul(s, &s->unit.sum, s->k[t][r], write);
            state[r][c] = stored(s, old ? sim_add(s, &s->unit.sum, column[r], term) : term);
        }
    }
}

static void keep_state(sim *s, const num (*state)[SIM_VALUES])
{
    for (int64_t r = 0; r < s->dim; r++)
        for (int64_t c = 0; c < s->p->e; c++)
            s->state[r * s->p->e + c] = state[r][c];
    s->has_state = 1;
}

void sim_delta(sim *s)
{
    num state[SIM_DIM][SIM_VALUES];
    num u[SIM_VALUES];
    sim_tokens(s);
    for (int64_t r = 0; r < s->dim; r++)
        for (int64_t c = 0; sim_axis(s, ATTEST_AXIS_STATE) && c < s->p->e; c++)
            state[r][c] = sim_given_state(s, 1, r, c, 0);
    for (int64_t t = 0; t < s->last; t++)
        step(s, state, t);
    keep_state(s, (const num(*)[SIM_VALUES])state);
    scale_query(s);
    read_out(s, (const num(*)[SIM_VALUES])state, u);
    for (int64_t c = 0; c < s->p->e; c++)
        s->u[c] = u[c];
    sim_output(s, u);
}

static num times(sim *s, num x, num factor) { return factor < 0 ? x : sim_mul(s, &s->unit.acc, x, factor); }
static num between(sim *s, int64_t from, int64_t to) { return sim_decays(s) ? sim_decay_of(s, from, to, 0) : -1; }

typedef struct chunk {
    int64_t first, last;
    num start[SIM_DIM][SIM_VALUES]; /* the state before it */
    int given;                      /* there is one */
    num write[SIM_KEYS][SIM_VALUES];
} chunk;

static int is_vector(const sim *s) { return sim_axis(s, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR; }

static num of_channel(sim *s, int64_t from, int64_t to, int64_t r)
{
    return sim_decays(s) ? sim_decay_of(s, from, to, is_vector(s) ? r : 0) : -1;
}

/* x times the decays of its channels from token j to t. */
static void decay_entries(sim *s, num *y, const num *x, int64_t j, int64_t t)
{
    for (int64_t r = 0; r < s->dim; r++) {
        y[r] = j < t ? sim_mul(s, &s->unit.acc, x[r], sim_decay_of(s, j, t, r)) : x[r];
        if (s->options->decayed && j < t)
            y[r] = sim_round(s, &s->unit.scaled, y[r]);
    }
}

/* sum_r x_r D_r(j..t) y_r */
static num decayed_dot(sim *s, const num *x, const num *y, int64_t j, int64_t t)
{
    num z[SIM_DIM];
    if (!is_vector(s))
        return times(s, sim_dot(s, x, y, s->dim), between(s, j, t));
    decay_entries(s, z, x, j, t);
    return sim_dot(s, z, y, s->dim);
}

/* x S_{before t decayed} of the chunk: through its start, and through the tokens of it before `end`; `reads`: x is the
 * query, whose pairs are cast. */
static num through(sim *s, const chunk *h, const num *x, int64_t c, int64_t t, int64_t end, int reads)
{
    num term[SIM_KEYS], column[SIM_DIM];
    int64_t count = 0;
    if (h->given) {
        for (int64_t r = 0; r < s->dim; r++)
            column[r] = h->start[r][c];
        term[count++] = decayed_dot(s, x, column, h->first - 1, t);
    }
    for (int64_t j = h->first; j < end; j++) {
        num a = decayed_dot(s, x, s->k[j], j, t);
        if (reads && s->casts)
            a = sim_round(s, &s->unit.cast, a);
        term[count++] = sim_mul(s, &s->unit.sum, a, h->write[j][c]);
    }
    return count ? sim_total(s, term, count) : -1;
}

static void substitute(sim *s, chunk *h)
{
    for (int64_t t = h->first; t < h->last; t++) {
        const num b = rate(s, t);
        for (int64_t c = 0; c < s->p->e; c++) {
            const num seen = through(s, h, s->k[t], c, t, t, 0);
            const num rest = seen < 0 ? s->v[t][c] : sim_sub(s, &s->unit.acc, s->v[t][c], seen);
            h->write[t][c] = sim_mul(s, &s->unit.acc, b, rest);
            if (s->options->written)
                h->write[t][c] = sim_round(s, &s->unit.scaled, h->write[t][c]);
        }
    }
}

static void end_chunk(sim *s, chunk *h)
{
    num term[SIM_KEYS];
    for (int64_t r = 0; r < s->dim; r++)
        for (int64_t c = 0; c < s->p->e; c++) {
            int64_t count = 0;
            if (h->given)
                term[count++] = times(s, h->start[r][c], of_channel(s, h->first - 1, h->last - 1, r));
            for (int64_t j = h->first; j < h->last; j++) {
                num k = times(s, s->k[j][r], of_channel(s, j, h->last - 1, r));
                if (s->options->decayed && j < h->last - 1)
                    k = sim_round(s, &s->unit.scaled, k);
                term[count++] = sim_mul(s, &s->unit.sum, k, h->write[j][c]);
            }
            h->start[r][c] = stored(s, sim_total(s, term, count));
        }
    h->given = 1;
}

void sim_delta_chunk(sim *s)
{
    static _Thread_local chunk h;
    num u[SIM_VALUES];
    memset(&h, 0, sizeof h);
    sim_tokens(s);
    h.given = sim_axis(s, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE;
    for (int64_t r = 0; h.given && r < s->dim; r++)
        for (int64_t c = 0; c < s->p->e; c++)
            h.start[r][c] = sim_given_state(s, 1, r, c, 0);
    for (int64_t t = 0; t < s->last; t += s->p->chunk) {
        h.first = t;
        h.last = s->last < t + s->p->chunk ? s->last : t + s->p->chunk;
        substitute(s, &h);
        if (h.last < s->last)
            end_chunk(s, &h);
    }
    scale_query(s);
    for (int64_t c = 0; c < s->p->e; c++) {
        u[c] = through(s, &h, s->q, c, s->i, s->last, 1);
        if (s->options->scale == SCALE_SCORE && s->p->scale != 1)
            u[c] = sim_mul(s, &s->unit.acc, u[c], sim_scale_power(s, 1));
        s->u[c] = u[c];
    }
    end_chunk(s, &h);
    keep_state(s, (const num(*)[SIM_VALUES])h.start);
    sim_output(s, u);
}
