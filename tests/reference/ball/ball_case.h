/* ball_case.h - a problem with its inputs for the tests of the ball engine and of the truth: zero-filled or
 * drawn tensors, and single elements set by hand. */
#ifndef ATTEST_TESTS_BALL_CASE_H
#define ATTEST_TESTS_BALL_CASE_H

#include <check.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "reference/engine/engine.h"

typedef struct ball_case {
    attest_case c;
    const char *line;
    attest_bundle *bundle;
    ref_inputs in;
    ref_row row;
    attest_error err;
} ball_case;

#define MUST(call, x) ck_assert_msg((call) == ATTEST_OK, "%s: %s", (x)->line, (x)->err.text)
#define ROLE(r) ((attest_tensor_id){ ATTEST_KIND_ROLE, (r) })

/* Parses the line; the inputs are drawn, or all zero. */
static inline void ball_case_start(ball_case *x, const char *line, int drawn)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    memset(x, 0, sizeof *x);
    x->line = line;
    MUST(attest_case_parse(&x->c, line, NULL, NULL, &x->err), x);
    MUST(attest_bundle_new(&x->bundle, &x->err), x);
    const size_t count = attest_problem_inputs(&x->c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t t = 0; t < count; t++) {
        if (drawn)
            MUST(attest_draw_tensor(x->bundle, &x->c, ids[t], 0, 0, &x->err), x);
        else
            MUST(attest_bundle_add(x->bundle, &x->c.problem, ids[t], 0, NULL, &x->err), x);
    }
    MUST(ref_inputs_set(&x->in, &x->c.problem, x->bundle, &x->err), x);
    ref_row_init(&x->row);
}

static inline void ball_case_stop(ball_case *x)
{
    ref_row_clear(&x->row);
    ref_inputs_clear(&x->in);
    attest_bundle_free(x->bundle);
}

/* Stores a double that the tensor's dtype holds exactly. */
static inline void ball_case_put_id(ball_case *x, attest_tensor_id id, int64_t i0, int64_t i1, int64_t i2, int64_t i3,
                                    double value)
{
    const attest_tensor *t = attest_bundle_get(x->bundle, id);
    const uint64_t bits = attest_from_f64(t->dtype, value);
    if (value == value)
        ck_assert_msg(attest_to_f64(t->dtype, bits) == value, "%s: %a does not fit the tensor", x->line, value);
    attest_store_bits(t, attest_offset(t, i0, i1, i2, i3), bits);
}

static inline void ball_case_put(ball_case *x, attest_role role, int64_t i0, int64_t i1, int64_t i2, int64_t i3,
                                 double value)
{
    ball_case_put_id(x, ROLE(role), i0, i1, i2, i3, value);
}

static inline double ball_case_get(const ball_case *x, attest_role role, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    const attest_tensor *t = attest_bundle_role(x->bundle, role);
    return attest_load(t, attest_offset(t, i0, i1, i2, i3));
}

static inline void ball_case_row(ball_case *x, int64_t b, int64_t h, int64_t i, slong prec)
{
    MUST(ref_ball_row(&x->row, &x->in, (attest_row){ b, h, i }, prec, &x->err), x);
}

/* Small integers in -3..3 into q, k, v: every score, weight and sum of a polynomial variant is then exact. */
static inline void ball_case_integers(ball_case *x)
{
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    uint32_t state = 12345;
    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++) {
        const attest_tensor *t = attest_bundle_role(x->bundle, roles[r]);
        for (int64_t at = 0; at < attest_tensor_count(t); at++) {
            state = state * 1664525u + 1013904223u;
            attest_store_bits(t, at, attest_from_f64(t->dtype, (double)((int)(state >> 16) % 7 - 3)));
        }
    }
}

/* 1 if the ball holds the number and its relative (absolute at 0) radius is below 2^-bits. */
static inline int ball_is(const arb_t x, const arb_t expected, slong bits)
{
    mag_t size;
    int yes = arb_overlaps(x, expected) && arb_is_finite(x);
    mag_init(size);
    arb_get_mag(size, x);
    mag_mul_2exp_si(size, size, -bits);
    if (arb_contains_zero(x))
        mag_set_ui_2exp_si(size, 1, -bits);
    yes = yes && mag_cmp(arb_radref(x), size) <= 0;
    mag_clear(size);
    return yes;
}

static inline int ball_is_double(const arb_t x, double expected, slong bits)
{
    arb_t y;
    int yes;
    arb_init(y);
    arb_set_d(y, expected);
    yes = ball_is(x, y, bits);
    arb_clear(y);
    return yes;
}

#endif
