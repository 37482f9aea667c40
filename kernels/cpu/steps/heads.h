/* heads.h - the loop of the kernels with a state, and what a token's decays do to what is read from it.
 *
 * For every KV head: begin (load the state); for every query i in order: take in, one by one, the keys that it sees
 * and its predecessor did not (mask=full: all at once); read the state with all query heads of the KV head; at last
 * end (store the state): it is then that after the last key visible to the last query.
 * A state is kept as of its last token.  Decays between that token and the query (a query may stand beyond the last
 * key that it sees) meet the query's side, which walks back from token i: see heads_back().
 */
#ifndef ATTEST_CPU_HEADS_H
#define ATTEST_CPU_HEADS_H

#include "decay.h"
#include "entries.h"
#include "gates.h"
#include "states.h"
#include "token.h"

typedef struct heads_steps {
    void (*begin)(void *self, const row *r);           /* the states of KV head (r->b, r->g) */
    void (*take)(void *self, const row *r, int64_t t); /* token t enters */
    void (*read)(void *self, const row *r);            /* writes output row (r->b, r->h, r->i) */
    void (*end)(void *self, const row *r);
} heads_steps;

static inline int heads_given(const attest_problem *p) { return p->axis[ATTEST_AXIS_STATE].value == ATTEST_STATE_DRAW; }

/* Is there anything before token t that its decay could meet?  Else a_t is not read. */
static inline int heads_before(const row *r, int64_t t) { return t > 0 || heads_given(r->p); }

static inline void heads_one(row *r, void *self, const heads_steps *steps)
{
    const int64_t group = r->p->hq / r->p->hkv, length = step_length(r->p, r->t, r->b);
    int64_t taken = 0, first, last;
    steps->begin(self, r);
    for (r->i = 0; r->i < r->p->n; r->i++) {
        step_visible(r->p, length, r->i, &r->first, &r->last);
        r->last = step_max(r->last, 0);
        for (; taken < r->last; taken++)
            steps->take(self, r, taken);
        for (r->h = r->g * group; r->h < (r->g + 1) * group; r->h++) {
            if (!step_row_wanted(r))
                continue;
            if (heads_before(r, r->last))
                steps->read(self, r);
            else
                step_empty_row(r);
        }
    }
    step_visible(r->p, length, r->p->n - 1, &first, &last); /* of a sequence without queries, too */
    for (; taken < last; taken++)
        steps->take(self, r, taken);
    steps->end(self, r);
}

static inline attest_status heads_run(const attest_problem *p, const attest_tensors *t, void *self,
                                      const heads_steps *steps)
{
    one_entry entry_alone;
    row r = { .p = p, .t = t, .rows = p->n, .scale = (real)p->scale };
    for (r.b = 0; r.b < p->b; r.b++) {
        if (entries_are(p)) {
            entries_set(&entry_alone, p, t, r.b);
            r.p = &entry_alone.p;
            r.t = &entry_alone.t;
        }
        for (r.g = 0; r.g < p->hkv; r.g++)
            heads_one(&r, self, steps);
    }
    return ATTEST_OK;
}

/* One step from token t to t-1: f *= a_t, or with decay=vector x_c *= a_tc.  f and x, started as 1 and phi(q_i) at
 * token i, then hold the products D_ij = a_(j+1) .. a_i when they reach token j: one rounding a step, no division. */
static inline void heads_back(real *f, real *x, const row *r, int64_t t)
{
    const attest_tensor *a = r->t->role[ATTEST_DECAY];
    *f *= decay_token(r->p, r->t, r->b, r->g, t);
    for (int64_t c = 0; r->p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR && c < r->p->d; c++)
        x[c] *= decay_factor(
            r->p, step_load(a, r->b * a->stride[0] + r->g * a->stride[1] + t * a->stride[2] + c * a->stride[3]));
}

static inline void heads_copy(real *to, const real *from, int64_t count)
{
    for (int64_t c = 0; c < count; c++)
        to[c] = from[c];
}

/* S := a_t S before token t enters, unless there is nothing to decay; x[dim] is a buffer. */
static inline void heads_decay(const state *s, real *x, const row *r, int64_t t)
{
    const uint32_t decay = r->p->axis[ATTEST_AXIS_DECAY].value;
    if (decay == ATTEST_DECAY_NONE || !heads_before(r, t))
        return;
    if (decay == ATTEST_DECAY_VECTOR)
        state_decay_rows(s, decay_vector(x, r->p, r->t, r->b, r->g, t));
    else
        state_decay(s, decay_token(r->p, r->t, r->b, r->g, t));
}

/* x[dim], which is phi(q_i), and f = 1, walked back from token i to the last key that the row sees. */
static inline void heads_walk(real *f, real *x, const row *r)
{
    *f = 1;
    for (int64_t t = r->i; r->p->axis[ATTEST_AXIS_DECAY].value && t >= r->last; t--)
        heads_back(f, x, r, t);
}

/* The same, with x[dim] = phi(q_i). */
static inline void heads_query(real *f, real *x, const row *r)
{
    const attest_tensor *q = r->t->role[ATTEST_Q];
    const int64_t length = step_length(r->p, r->t, r->b);
    heads_copy(x, token_row(x, r->p, q, r->b, r->h, r->i, step_position(r->p, length, r->i)), token_dim(r->p));
    heads_walk(f, x, r);
}

/* phi(k_t), in the buffer [dim] or in place. */
static inline const real *heads_key(real *buffer, const row *r, int64_t t)
{
    const real factor = step_factor(r->p, r->t, ATTEST_K_SCALE, r->b, r->g);
    const attest_tensor *k = r->t->role[ATTEST_K];
    return factor == 1 ? token_row(buffer, r->p, k, r->b, r->g, t, t)
                       : token_scaled(buffer, r->p, k, factor, r->b, r->g, t, t);
}

/* gin_t v_t, likewise. */
static inline const real *heads_value(real *buffer, const row *r, int64_t t)
{
    return gate_value_row(buffer, r->p, r->t, r->b, r->g, t);
}

#endif
