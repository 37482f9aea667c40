/* test_ball_delta.c - update=delta and efla in balls: overwriting by hand, random problems beside the witness
 * (ball_witness.h), the sizes that bounds are made of, and radii that do not grow with the tokens. */
#include "reference/ball/ball.h"
#include "tests/reference/ball/delta_sizes.h"

#include <stdio.h>

Suite *suite_ball_delta(void);

#define NEAR(got, want) ((got) >= (want) * (1 - 1e-9) && (got) <= (want)*1.001 + 1e-30)

/* ---- by hand ----------------------------------------------------------------------------------------------------- */
/* One token: key (k0, k1), value, write strength, decay. */
typedef struct token {
    double k0, k1, v, b, a;
} token;

static void put_tokens(ball_case *x, const token *list, int count, double q0, double q1)
{
    for (int t = 0; t < count; t++) {
        ball_case_put(x, ATTEST_K, 0, 0, t, 0, list[t].k0);
        ball_case_put(x, ATTEST_K, 0, 0, t, 1, list[t].k1);
        ball_case_put(x, ATTEST_V, 0, 0, t, 0, list[t].v);
        ball_case_put(x, ATTEST_BETA, 0, 0, t, 0, list[t].b);
        ball_case_put(x, ATTEST_Q, 0, 0, t, 0, q0);
        ball_case_put(x, ATTEST_Q, 0, 0, t, 1, q1);
        if (attest_bundle_role(x->bundle, ATTEST_DECAY))
            ball_case_put(x, ATTEST_DECAY, 0, 0, t, 0, list[t].a);
    }
    if (attest_bundle_get(x->bundle, H0)) {
        ball_case_put_id(x, H0, 0, 0, 0, 0, 16);
        ball_case_put_id(x, H0, 0, 0, 1, 0, 32);
    }
}

#define THREE " n=3 d=2 e=1 scale=1"
static const token unit_keys[3] = { { 1, 0, 3, 1, 0.5 }, { 0, 1, 5, 1, 0.5 }, { 1, 0, 7, 1, 0.5 } };
static const token halves[3] = { { 1, 0, 8, 0.5, 0.5 }, { 1, 0, 8, 0.5, 0.5 }, { 2, 1, 1, 0.25, 0.25 } };

/* Everything is a binary fraction of few bits: no radius at all. */
START_TEST(by_hand)
{
    static const struct {
        const char *line;
        const token *list;
        double o[3], h[2];
    } table[] = {
        /* b = 1 and unit keys: a write replaces what its key held */
        { "variant=deltanet" THREE, unit_keys, { 3, 8, 12 }, { 7, 5 } },
        { "variant=deltanet state=draw" THREE, unit_keys, { 35, 8, 12 }, { 7, 5 } },
        { "variant=gdn" THREE, unit_keys, { 3, 6.5, 9.5 }, { 7, 2.5 } },
        { "variant=gdn state=draw" THREE, unit_keys, { 19, 6.5, 9.5 }, { 7, 2.5 } },
        /* 4, then 4 + (8-4)/2 = 6; k S = 12: S += (2,1) (1-12)/4 */
        { "variant=deltanet" THREE, halves, { 4, 6, -2.25 }, { 0.5, -2.75 } },
        /* 4; 2 + (8-2)/2 = 5; 1.25, k S = 2.5: S += (2,1) (1-2.5)/4 */
        { "variant=gdn" THREE, halves, { 4, 5, 0.125 }, { 0.5, -0.375 } },
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        ball_case x;
        arb_ptr h = _arb_vec_init(2);
        ball_case_start(&x, table[t].line, 0);
        put_tokens(&x, table[t].list, 3, 1, 1);
        for (int i = 2; i >= 0; i--) {
            ball_case_row(&x, 0, 0, i, 128);
            ck_assert_msg(arb_is_exact(x.row.o) && ball_is_double(x.row.o, table[t].o[i], 100), "%s %d: o of row %d",
                          x.line, (int)t, i);
            ck_assert_msg(x.row.lse_absent && arb_is_zero(x.row.z) && arb_is_zero(x.row.s) && mag_is_zero(x.row.mass) &&
                              mag_is_zero(x.row.decay) && arb_is_zero(x.row.w),
                          "%s: no scores", x.line);
        }
        MUST(ref_ball_state(h, NULL, &x.in, 0, 0, 1, 0, 128, &x.err), &x);
        for (int r = 0; r < 2; r++)
            ck_assert_msg(arb_is_exact(h + r) && ball_is_double(h + r, table[t].h[r], 100), "%s %d: ht", x.line,
                          (int)t);
        _arb_vec_clear(h, 2);
        ball_case_stop(&x);
    }
}
END_TEST

/* efla: b = 1 and a unit key give the rate 1 - 1/e; a zero key writes nothing, at the rate b. */
START_TEST(efla_by_hand)
{
    static const token list[3] = { { 1, 0, 3, 1, 0 }, { 0, 0, 5, 0.75, 0 }, { 0, 1, 0, 1, 0 } };
    ball_case x;
    arb_t want;
    arb_init(want);
    ball_case_start(&x, "variant=efla" THREE, 0);
    put_tokens(&x, list, 3, 1, 1);
    arb_set_si(want, -1);
    arb_exp(want, want, 256);
    arb_sub_ui(want, want, 1, 256);
    arb_mul_si(want, want, -3, 256);
    for (int i = 0; i < 3; i++) {
        ball_case_row(&x, 0, 0, i, 128);
        ck_assert_msg(ball_is(x.row.o, want, 100), "row %d", i);
    }
    ck_assert(NEAR(ref_mag_upper(x.row.delta.rate), 1 - exp(-1)) && NEAR(ref_mag_upper(x.row.delta.rate + 1), 0.75));
    ck_assert(ref_mag_upper(x.row.delta.write + 1) > 3 && mag_is_zero(x.row.delta.key + 1)); /* 0.75 (5 - 0) */
    arb_clear(want);
    ball_case_stop(&x);
}
END_TEST

/* ---- beside the witness ------------------------------------------------------------------------------------------ */
static void check_sizes(const ball_case *x, const sizes *list, double start)
{
    const ref_delta *d = &x->row.delta;
    for (int64_t t = 0; t < x->row.keys; t++) {
        const double want[] = { list[t].key,  list[t].size,  list[t].value, list[t].write,
                                list[t].rate, list[t].decay, list[t].grow };
        mag_ptr const got[] = { d->key, d->size, d->value, d->write, d->rate, d->decay, d->grow };
        for (int a = 0; a < 7; a++)
            ck_assert_msg(NEAR(ref_mag_upper(got[a] + t), want[a]), "%s: size %d of token %d is %g, not %g", x->line, a,
                          (int)t, ref_mag_upper(got[a] + t), want[a]);
    }
    ck_assert_msg(NEAR(ref_mag_upper(d->start), start), "%s: start %g", x->line, start);
}

/* terms of u, the sum of abs(phi(q)) and the terms of the state, and its share of o. */
static void check_terms(ball_case *x, const recurrence *r, int64_t h, int64_t i, mag_srcptr abs_scale)
{
    const attest_problem *p = r->p;
    wit *q = wit_array(r->dim, WITNESS_BITS, NULL), gout;
    double norm = 0;
    wit_init(&gout, WITNESS_BITS);
    wit_feature(q, &r->w, r->w.q, r->b, h, i, wit_back(&r->w, i, 0));
    wit_gout(&gout, &r->w, r->b, h, i);
    for (int64_t k = 0; k < r->dim; k++)
        norm += pow(mpfr_get_d(q[k].v, MPFR_RNDN), 2);
    for (int64_t c = 0; c < p->e; c++) {
        double sum = 0;
        for (int64_t k = 0; k < r->dim; k++)
            sum += fabs(p->scale * mpfr_get_d(q[k].v, MPFR_RNDN)) * r->terms[k * p->e + c];
        ck_assert_msg(NEAR(ref_mag_upper(x->row.delta.terms + c), sum), "%s: terms of row %d %d", x->line, (int)h,
                      (int)i);
        ck_assert_msg(NEAR(ref_mag_upper(abs_scale + c), sum * fabs(mpfr_get_d(gout.v, MPFR_RNDN))), "%s: abs_scale",
                      x->line);
    }
    ck_assert_msg(NEAR(ref_mag_upper(x->row.delta.query), sqrt(norm)), "%s: query", x->line);
    wit_clear(&gout);
    wit_array_free(q, r->dim);
}

static void check_delta_row(ball_case *x, oracle *want, int64_t b, int64_t h, int64_t i, slong prec)
{
    const attest_problem *p = &x->c.problem;
    const ref_witness *row = oracle_row(want, b, h, i);
    mag_ptr abs_scale = _mag_vec_init((slong)p->e);
    sizes list[TOKENS_MOST];
    recurrence r;
    arb_t value;
    arb_init(value);
    start(&r, x, b, wit_head(p, h));
    const double first = column_norm(&r);
    for (int64_t t = 0; t <= wit_last(&r.w, i); t++)
        list[t] = token_step(&r, t);
    ball_case_row(x, b, h, i, prec);
    ck_assert_msg(x->row.empty == row->empty, "%s: row %d %d reads nothing?", x->line, (int)h, (int)i);
    MUST(ref_abs_scale_row(abs_scale, &x->row, &x->in, ROLE(ATTEST_O), (attest_row){ b, h, i }, &x->err), x);
    for (int64_t c = 0; c < p->e && !row->empty; c++) {
        oracle_value(value, row, ATTEST_U, c);
        ck_assert_msg(ball_meets(x->row.u + c, value, x->row.delta.terms + c, prec - 24), "%s: u of row %d %d", x->line,
                      (int)h, (int)i);
        oracle_value(value, row, ATTEST_O, c);
        ck_assert_msg(ball_meets(x->row.o + c, value, abs_scale + c, prec - 24), "%s: o of row %d %d", x->line, (int)h,
                      (int)i);
    }
    if (!row->empty) {
        check_terms(x, &r, h, i, abs_scale);
        check_sizes(x, list, first);
        ck_assert_msg(NEAR(ref_mag_upper(x->row.delta.last), column_norm(&r)), "%s: last", x->line);
    }
    stop(&r);
    arb_clear(value);
    _mag_vec_clear(abs_scale, (slong)p->e);
}

/* ht, and its abs_scale. */
static void check_delta_state(ball_case *x, oracle *want, int64_t b, int64_t g)
{
    const attest_problem *p = &x->c.problem;
    recurrence r;
    start(&r, x, b, g);
    mag_ptr abs_scale = _mag_vec_init((slong)(r.dim * p->e));
    arb_ptr s = _arb_vec_init((slong)(r.dim * p->e));
    for (int64_t t = 0; t <= wit_last(&r.w, p->n - 1); t++)
        token_step(&r, t);
    check_state(x, want, (attest_tensor_id){ ATTEST_KIND_HT, 1 }, b, g);
    MUST(ref_ball_state(s, abs_scale, &x->in, b, g, 1, 0, 128, &x->err), x);
    for (int64_t at = 0; at < r.dim * p->e; at++)
        ck_assert_msg(NEAR(ref_mag_upper(abs_scale + at), r.terms[at]), "%s: abs_scale of ht entry %d", x->line,
                      (int)at);
    _arb_vec_clear(s, (slong)(r.dim * p->e));
    _mag_vec_clear(abs_scale, (slong)(r.dim * p->e));
    stop(&r);
}

/* Rows forwards and backwards and the states between them, at two precisions, through one cache. */
START_TEST(random_problems)
{
    static const char *const lines[] = {
        "variant=deltanet",
        "variant=deltanet state=draw gates=inout",
        "variant=gdn state=draw",
        "variant=gdn",
        "variant=efla",
        "variant=efla state=draw decay=vector",
        "variant=deltanet decay=retnet state=draw feature=relu",
        "variant=deltanet decay=vector rope=10",
        "variant=sla-deltanet",
        "variant=sla-gdn state=draw",
        "variant=efla feature=cosformer gates=out",
        "variant=deltanet mask=causal-br m=7 rope=3 scale=-1",
        "variant=deltanet mask=causal-br m=2 state=draw",
        "variant=efla m=3 scale=2",
    };
    for (size_t t = 0; t < 2 * sizeof lines / sizeof lines[0]; t++) {
        char line[200];
        ball_case x;
        ref_ball_cache cache;
        oracle want;
        snprintf(line, sizeof line, "%s b=2 hq=4 hkv=2 n=5 d=%d e=3 seed=%d", lines[t / 2], t % 2 ? 2 : 4, (int)t);
        ball_case_start(&x, line, 1);
        const attest_problem *p = &x.c.problem;
        const int64_t rows = p->b * p->hq * p->n;
        oracle_init(&want, p, x.bundle, WITNESS_BITS);
        ref_ball_cache_init(&cache);
        x.in.ball = t % 4 ? &cache : NULL;
        for (int64_t number = 0; number < 2 * rows; number++) {
            const int64_t at = number < rows ? number : 2 * rows - 1 - number;
            check_delta_row(&x, &want, at / p->n / p->hq, at / p->n % p->hq, at % p->n, number % 3 ? 128 : 256);
            if (number % 7 == 0)
                check_delta_state(&x, &want, at % p->b, at % p->hkv);
        }
        ref_ball_cache_clear(&cache);
        oracle_clear(&want);
        ball_case_stop(&x);
    }
}
END_TEST

/* More heads and precisions than a cache keeps: used again, and no trace of what was there. */
START_TEST(kept_runs)
{
    ball_case x;
    ref_ball_cache cache;
    ref_row alone;
    ref_row_init(&alone);
    ref_ball_cache_init(&cache);
    ball_case_start(&x, "variant=gdn state=draw b=2 hq=4 n=3 d=2 e=1", 1);
    uint32_t state = 1;
    for (int number = 0; number < 600; number++) {
        state = state * 1664525u + 1013904223u;
        const int64_t b = state >> 8 & 1, h = state >> 12 & 3, i = (state >> 16) % 3;
        const slong prec = 128 + 64 * (slong)(state >> 20 & 7);
        x.in.ball = &cache;
        ball_case_row(&x, b, h, i, prec);
        x.in.ball = NULL;
        MUST(ref_ball_row(&alone, &x.in, (attest_row){ b, h, i }, prec, &x.err), &x);
        ck_assert_msg(arb_equal(alone.u, x.row.u), "row %d %d %d at %d bits", (int)b, (int)h, (int)i, (int)prec);
    }
    ref_ball_cache_clear(&cache);
    ref_row_clear(&alone);
    ball_case_stop(&x);
}
END_TEST

/* ---- radii ------------------------------------------------------------------------------------------------------- */
/* 400 tokens with b norm2(k)^2 up to 2: every radius within 2^-100 of the abs_scale. */
START_TEST(many_tokens)
{
    static const char *const lines[] = { "variant=deltanet", "variant=efla feature=silu", "variant=gdn rope=10000" };
    for (int t = 0; t < 3; t++) {
        char line[128];
        ball_case x;
        ref_ball_cache cache;
        mag_ptr abs_scale = _mag_vec_init(2);
        snprintf(line, sizeof line, "%s n=400 d=6 e=2", lines[t]);
        ball_case_start(&x, line, 1);
        ref_ball_cache_init(&cache);
        x.in.ball = &cache;
        for (int64_t i = 0; i < 400; i += 21) {
            ball_case_row(&x, 0, 0, i, 128);
            MUST(ref_abs_scale_row(abs_scale, &x.row, &x.in, ROLE(ATTEST_O), (attest_row){ 0, 0, i }, &x.err), &x);
            for (int c = 0; c < 2; c++)
                ck_assert_msg(ball_meets(x.row.o + c, x.row.o + c, abs_scale + c, 100), "%s: row %d", line, (int)i);
        }
        ref_ball_cache_clear(&cache);
        _mag_vec_clear(abs_scale, 2);
        ball_case_stop(&x);
    }
}
END_TEST

/* A dimension that no key reaches holds an exact 0, whatever the radii of the others. */
START_TEST(exact_zeros)
{
    static const token list[3] = { { 1, -1, 3, 1, 0 }, { 0.75, -2, 5, 0.875, 0 }, { 0.3125, -0.5, 7, 1.5, 0 } };
    ball_case x;
    ball_case_start(&x, "variant=efla feature=relu" THREE, 0);
    put_tokens(&x, list, 3, -1, 1);
    ball_case_row(&x, 0, 0, 2, 128);
    ck_assert_msg(arb_is_zero(x.row.o) && arb_is_zero(x.row.u), "relu(q) = (0,1), relu(k) = (x,0)");
    put_tokens(&x, list, 3, 1, -1);
    ball_case_row(&x, 0, 0, 2, 128);
    ck_assert(!arb_is_exact(x.row.o) && !arb_contains_zero(x.row.o));
    ball_case_stop(&x);
}
END_TEST

/* Through the truth: facts without scores, o and ht, no u, z or lse. */
START_TEST(through_the_truth)
{
    ball_case x;
    attest_truth *truth;
    attest_decimals d;
    attest_row_facts facts;
    ball_case_start(&x, "variant=gdn n=4 d=2 e=1", 1);
    MUST(attest_truth_new(&truth, &x.c.problem, x.bundle, ATTEST_ENGINE_AUTO, &x.err), &x);
    MUST(attest_truth_facts(&facts, truth, (attest_row){ 0, 0, 3 }, &x.err), &x);
    ck_assert_msg(facts.visible == 4 && isnan(facts.range_lo) && isnan(facts.range_hi) && isnan(facts.abs_score),
                  "%d keys, scores up to %g", (int)facts.visible, facts.abs_score);
    MUST(attest_truth_decimals(&d, truth, ROLE(ATTEST_O), 20, 0, &x.err), &x);
    ck_assert(d.count == 4 && d.mid[3] && d.undecided == 0);
    attest_decimals_free(&d);
    MUST(attest_truth_decimals(&d, truth, (attest_tensor_id){ ATTEST_KIND_HT, 1 }, 20, 0, &x.err), &x);
    ck_assert(d.count == 2 && d.mid[1] && d.undecided == 0);
    attest_decimals_free(&d);
    for (uint32_t role = ATTEST_U; role <= ATTEST_LSE; role++)
        ck_assert_int_eq(attest_truth_decimals(&d, truth, ROLE(role), 20, 0, &x.err), ATTEST_BAD_INPUT);
    attest_truth_free(truth);
    ball_case_stop(&x);
}
END_TEST

Suite *suite_ball_delta(void)
{
    Suite *s = suite_create("ball_delta");
    TCase *t = tcase_create("ball_delta");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, by_hand);
    tcase_add_test(t, efla_by_hand);
    tcase_add_test(t, random_problems);
    tcase_add_test(t, kept_runs);
    tcase_add_test(t, many_tokens);
    tcase_add_test(t, exact_zeros);
    tcase_add_test(t, through_the_truth);
    suite_add_tcase(s, t);
    return s;
}
