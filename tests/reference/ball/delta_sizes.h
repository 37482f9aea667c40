/* delta_sizes.h - the recurrence of update=delta and efla, token by token in Arb, for the sizes that bounds need.
 *
 * The witness gives rows and states, phi, decays and gates, but no sizes on the way; they alone are why the recurrence
 * is written here once more.  What it computes besides, S, is compared with nothing.
 */
#ifndef ATTEST_TESTS_DELTA_SIZES_H
#define ATTEST_TESTS_DELTA_SIZES_H

#include "tests/reference/ball/ball_witness.h"

#include <math.h>

#define H0 ((attest_tensor_id){ ATTEST_KIND_H0, 1 })

enum { TOKENS_MOST = 64, ENTRIES_MOST = 64 };

/* Sizes of one token, as doubles: what ref_delta bounds. */
typedef struct sizes {
    double key, size, value, write, rate, decay, grow;
} sizes;

/* KV head (b,g) and its state S [dim][e]; terms: the sum of absolute terms of each entry. */
typedef struct recurrence {
    const attest_problem *p;
    wit_case w;
    int64_t b, g, dim;
    arb_ptr s, k; /* k: phi(k_t) */
    double terms[ENTRIES_MOST];
} recurrence;

static inline double double_of(const arb_t x) { return arf_get_d(arb_midref(x), ARF_RND_NEAR); }

/* Takes x and gives it back. */
static inline void take(arb_t y, wit *x)
{
    ref_witness_ball(y, x->v, x->e);
    wit_clear(x);
}

static inline void start(recurrence *r, ball_case *x, int64_t b, int64_t g)
{
    const attest_tensor *h0 = attest_bundle_get(x->bundle, H0);
    *r = (recurrence){ .p = &x->c.problem, .b = b, .g = g, .dim = wit_dim(&x->c.problem) };
    MUST(wit_case_set(&r->w, r->p, x->bundle, b, WITNESS_BITS, &x->err), x);
    ck_assert(r->dim * r->p->e <= ENTRIES_MOST && r->p->m <= TOKENS_MOST);
    r->s = _arb_vec_init((slong)(r->dim * r->p->e));
    r->k = _arb_vec_init((slong)r->dim);
    for (int64_t at = 0; h0 && at < r->dim * r->p->e; at++) {
        arb_set_d(r->s + at, attest_load(h0, attest_offset(h0, b, g, at / r->p->e, at % r->p->e)));
        r->terms[at] = fabs(double_of(r->s + at));
    }
}

static inline void stop(recurrence *r)
{
    _arb_vec_clear(r->k, (slong)r->dim);
    _arb_vec_clear(r->s, (slong)(r->dim * r->p->e));
}

/* k = phi(k_t), S = diag(a_t) S. */
static inline void decay_step(recurrence *r, sizes *z, int64_t t)
{
    const int read = t > 0 || r->w.given_state; /* the first token meets a state or nothing */
    wit *phi = wit_array(r->dim, WITNESS_BITS, NULL);
    arb_t y;
    arb_init(y);
    z->decay = read ? 0 : 1;
    wit_feature(phi, &r->w, r->w.k, r->b, r->g, t, t);
    for (int64_t c = 0; c < r->dim; c++) {
        wit a;
        wit_init(&a, WITNESS_BITS);
        wit_decay(&a, &r->w, r->b, r->g, c, read ? t : t + 1, t);
        take(y, &a);
        ref_witness_ball(r->k + c, phi[c].v, phi[c].e);
        z->decay = fmax(z->decay, fabs(double_of(y)));
        for (int64_t at = c * r->p->e; at < (c + 1) * r->p->e; at++) {
            arb_mul(r->s + at, r->s + at, y, WITNESS_BITS);
            r->terms[at] *= fabs(double_of(y));
        }
    }
    wit_array_free(phi, r->dim);
    arb_clear(y);
}

/* b_t, or (1 - e^(-b_t r))/r. */
static inline void rate_of(arb_t rate, sizes *z, const recurrence *r, int64_t t)
{
    arb_t square, y;
    arb_init(square);
    arb_init(y);
    for (int64_t c = 0; c < r->dim; c++)
        arb_addmul(square, r->k + c, r->k + c, WITNESS_BITS);
    arb_set_d(rate, attest_load(r->w.strength, attest_offset(r->w.strength, r->b, r->g, t, 0)));
    if (r->p->axis[ATTEST_AXIS_UPDATE].value == ATTEST_UPDATE_EFLA && !arb_is_zero(square)) {
        arb_mul(y, rate, square, WITNESS_BITS);
        arb_neg(y, y);
        arb_expm1(y, y, WITNESS_BITS);
        arb_div(rate, y, square, WITNESS_BITS);
        arb_neg(rate, rate);
    }
    z->key = sqrt(double_of(square));
    z->rate = fabs(double_of(rate));
    z->grow = fmax(1, fabs(1 - double_of(rate) * double_of(square))) * z->decay;
    arb_clear(y);
    arb_clear(square);
}

/* Column v: S += k^T rate (gate value - k S). */
static inline void write_step(recurrence *r, sizes *z, const arb_t rate, const arb_t gate, int64_t t, int64_t v)
{
    const int64_t e = r->p->e;
    double norm = 0;
    arb_t y;
    arb_init(y);
    arb_set_d(y, attest_load(r->w.v, attest_offset(r->w.v, r->b, r->g, t, v)));
    arb_mul(y, y, gate, WITNESS_BITS);
    z->value = fmax(z->value, fabs(double_of(y)));
    for (int64_t c = 0; c < r->dim; c++) {
        arb_submul(y, r->k + c, r->s + c * e + v, WITNESS_BITS);
        norm += pow(double_of(r->s + c * e + v), 2);
    }
    arb_mul(y, y, rate, WITNESS_BITS);
    z->size = fmax(z->size, sqrt(norm));
    z->write = fmax(z->write, fabs(double_of(y)));
    for (int64_t c = 0; c < r->dim; c++) {
        arb_addmul(r->s + c * e + v, r->k + c, y, WITNESS_BITS);
        r->terms[c * e + v] += fabs(double_of(r->k + c) * double_of(y));
    }
    arb_clear(y);
}

static inline sizes token_step(recurrence *r, int64_t t)
{
    sizes z = { 0 };
    wit gin;
    arb_t rate, gate;
    arb_init(rate);
    arb_init(gate);
    wit_init(&gin, WITNESS_BITS);
    wit_gin(&gin, &r->w, r->b, r->g, t);
    take(gate, &gin);
    decay_step(r, &z, t);
    rate_of(rate, &z, r, t);
    for (int64_t v = 0; v < r->p->e; v++)
        write_step(r, &z, rate, gate, t, v);
    arb_clear(gate);
    arb_clear(rate);
    return z;
}

/* The largest norm of a column of S. */
static inline double column_norm(const recurrence *r)
{
    double most = 0;
    for (int64_t c = 0; c < r->p->e; c++) {
        double norm = 0;
        for (int64_t k = 0; k < r->dim; k++)
            norm += pow(double_of(r->s + k * r->p->e + c), 2);
        most = fmax(most, sqrt(norm));
    }
    return most;
}

#endif
