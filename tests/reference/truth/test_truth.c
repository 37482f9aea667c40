/* test_truth.c - the truth object: which engine serves a row, what is printed and how far it may be off, states,
 * distances, and that a wrong engine is found out. */
#include "tests/reference/truth/truth_case.h"

#include <stdlib.h>

#include "tests/memory_use.h"

Suite *suite_truth(void);

/* elu1 is rational where its inputs are >= 0: key 1 is not, so row 0 is exact and row 1 a ball. */
START_TEST(engines)
{
    static const struct {
        const char *line;
        uint32_t asked, got;
    } table[] = {
        { "n=4", ATTEST_ENGINE_AUTO, ATTEST_ENGINE_BALL },
        { "variant=based n=4", ATTEST_ENGINE_AUTO, ATTEST_ENGINE_EXACT },
        { "variant=based n=4", ATTEST_ENGINE_BALL, ATTEST_ENGINE_BALL },
        { "variant=based n=4", ATTEST_ENGINE_EXACT, ATTEST_ENGINE_EXACT },
        { "variant=based n=4 d=2", ATTEST_ENGINE_WITNESS, ATTEST_ENGINE_WITNESS },
    };
    attest_decimals d;
    truth_case t;
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        start(&t, table[k].line, 1, table[k].asked);
        MUST(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_O), 20, 0, &t.x.err), &t.x);
        ck_assert_msg(d.engine == table[k].got, "%s: %s", t.x.line, attest_engine_name(d.engine));
        ck_assert_msg((d.exact != NULL) == (d.engine == ATTEST_ENGINE_EXACT), "%s: exact", t.x.line);
        attest_decimals_free(&d);
        stop(&t);
    }
    start(&t, "variant=linear-elu n=2 d=1 mask=causal", 0, ATTEST_ENGINE_AUTO);
    put(&t, ATTEST_K, 1, 0, -1);
    MUST(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_O), 20, 0, &t.x.err), &t.x);
    ck_assert_msg(d.engine == ATTEST_ENGINE_MIXED && !d.exact, "a ball row beside an exact one");
    attest_decimals_free(&d);
    attest_truth_free(t.truth);
    MUST(attest_truth_new(&t.truth, &t.x.c.problem, t.x.bundle, ATTEST_ENGINE_EXACT, &t.x.err), &t.x);
    ck_assert_int_eq(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_O), 20, 0, &t.x.err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(t.x.err.text, "[0,0,1]") && !d.mid, "%s", t.x.err.text);
    stop(&t);
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *line;
        uint32_t engine;
        const char *why;
    } table[] = {
        { "n=2", ATTEST_ENGINE_EXACT, "irrational" },
        { "n=2", ATTEST_ENGINE_MIXED, "allowed are" },
    };
    truth_case t;
    attest_decimals d;
    attest_truth *none;
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        ball_case_start(&t.x, table[k].line, 0);
        ck_assert_int_eq(attest_truth_new(&t.truth, &t.x.c.problem, t.x.bundle, table[k].engine, &t.x.err),
                         ATTEST_BAD_INPUT);
        ck_assert_msg(!t.truth && strstr(t.x.err.text, table[k].why), "%s: %s", table[k].line, t.x.err.text);
        ball_case_stop(&t.x);
    }
    start(&t, "n=2", 0, ATTEST_ENGINE_AUTO);
    t.x.c.problem.axis[ATTEST_AXIS_DECAY].value = 99; /* a value that no engine knows */
    ck_assert_int_eq(attest_truth_new(&none, &t.x.c.problem, t.x.bundle, 0, &t.x.err), ATTEST_BAD_INPUT);
    t.x.c.problem.axis[ATTEST_AXIS_DECAY].value = ATTEST_DECAY_NONE;
    ck_assert_int_eq(attest_truth_decimals(&d, t.truth, (attest_tensor_id){ ATTEST_KIND_HT, 1 }, 9, 0, &t.x.err),
                     ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_O), 0, 0, &t.x.err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_O), 9, 9000, &t.x.err), ATTEST_BAD_INPUT);
    attest_bundle *empty;
    MUST(attest_bundle_new(&empty, &t.x.err), &t.x);
    ck_assert_int_eq(attest_truth_new(&none, &t.x.c.problem, empty, ATTEST_ENGINE_AUTO, &t.x.err), ATTEST_BAD_INPUT);
    ck_assert_msg(!none && strstr(t.x.err.text, "q:"), "%s", t.x.err.text);
    attest_bundle_free(empty);
    stop(&t);
    static const char *const others[] = { "n=2 in=f64", "n=2 m=3", "n=2 d=5" }; /* the tensors of another problem */
    for (int k = 0; k < 3; k++) {
        attest_case c;
        start(&t, others[k], 0, ATTEST_ENGINE_AUTO);
        MUST(attest_case_parse(&c, "n=2", NULL, NULL, &t.x.err), &t.x);
        ck_assert_int_eq(attest_truth_new(&none, &c.problem, t.x.bundle, ATTEST_ENGINE_AUTO, &t.x.err),
                         ATTEST_BAD_INPUT);
        ck_assert_msg(!none && strstr(t.x.err.text, "differs"), "%s: %s", others[k], t.x.err.text);
        stop(&t);
    }
}
END_TEST

/* ---- decimals ---------------------------------------------------------------------------------------------------- */
/* Mean of v = 1, 0, 0: 1/3.  Row 1 sees nothing but zeros: 0 exactly. */
START_TEST(decimals_by_hand)
{
    truth_case t;
    attest_decimals d;
    start(&t, "variant=taylor:0 n=1 m=3 d=1 e=3", 0, ATTEST_ENGINE_AUTO);
    put(&t, ATTEST_V, 0, 0, 1);
    put(&t, ATTEST_V, 0, 1, -1.5);
    MUST(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_O), 10, 0, &t.x.err), &t.x);
    ck_assert_str_eq(d.mid[0], "0.3333333333");
    ck_assert_str_eq(d.exact[0], "1/3");
    ck_assert_msg(strcmp(d.rad[0], "3.34e-11") == 0, "rad %s", d.rad[0]);
    ck_assert_str_eq(d.mid[1], "-0.5");
    ck_assert_str_eq(d.rad[1], "0");
    ck_assert_str_eq(d.exact[1], "-1/2");
    ck_assert_str_eq(d.mid[2], "0");
    ck_assert_str_eq(d.exact[2], "0");
    ck_assert(d.rank == 4 && d.shape[3] == 3 && d.count == 3 && d.undecided == 0);
    attest_decimals_free(&d);
    MUST(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_U), 10, 0, &t.x.err), &t.x);
    ck_assert_msg(!strcmp(d.exact[0], "1") && !strcmp(d.exact[1], "-3/2"), "u: %s %s", d.exact[0], d.exact[1]);
    attest_decimals_free(&d);
    stop(&t);
}
END_TEST

/* -inf, NULL where there is no value, NULL for `exact` where one element is irrational. */
START_TEST(decimals_without_value)
{
    const double nan = attest_bits_f64(0x7ff8000000000000u);
    truth_case t;
    attest_decimals d;
    start(&t, "variant=linear norm=sum n=5 m=3 d=1 e=1 mask=causal-br scale=1", 0, ATTEST_ENGINE_AUTO);
    for (int64_t i = 0; i < 3; i++)
        put(&t, ATTEST_K, i, 0, i == 1 ? -1 : 1);
    for (int64_t i = 0; i < 5; i++)
        put(&t, ATTEST_Q, i, 0, i == 4 ? nan : 1);
    put(&t, ATTEST_V, 0, 0, 3);
    MUST(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_O), 10, 0, &t.x.err), &t.x);
    ck_assert_msg(d.exact && !strcmp(d.mid[0], "0") && !strcmp(d.exact[1], "0"), "empty rows are 0");
    ck_assert_msg(!strcmp(d.mid[2], "3") && !strcmp(d.rad[2], "0"), "row 2 is v");
    ck_assert_msg(!d.mid[3] && !d.rad[3] && !d.exact[3] && !d.mid[4], "z = 0 and NaN have no o");
    ck_assert_msg(d.engine == ATTEST_ENGINE_EXACT && d.undecided == 0, "%s", attest_engine_name(d.engine));
    attest_decimals_free(&d);
    MUST(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_LSE), 10, 0, &t.x.err), &t.x);
    ck_assert_msg(!strcmp(d.mid[0], "-inf") && !strcmp(d.rad[1], "0") && !d.exact, "lse of empty rows");
    ck_assert_msg(!strcmp(d.mid[2], "0") && !d.mid[3] && !d.mid[4], "lse = ln 1, absent, no truth");
    attest_decimals_free(&d);
    stop(&t);
}
END_TEST

/* Weights 1/6 and -1/6: z is 0, which no ball around 1/6 shows and the exact engine knows. */
START_TEST(absent_for_certain)
{
    truth_case t;
    attest_decimals d;
    start(&t, "variant=term:3 norm=sum n=1 m=2 d=1 e=1 scale=1", 0, ATTEST_ENGINE_AUTO);
    put(&t, ATTEST_Q, 0, 0, 1);
    put(&t, ATTEST_K, 0, 0, 1);
    put(&t, ATTEST_K, 1, 0, -1);
    for (int k = 0; k < 2; k++) {
        MUST(attest_truth_decimals(&d, t.truth, ROLE(k ? ATTEST_O : ATTEST_LSE), 10, 0, &t.x.err), &t.x);
        ck_assert_msg(!d.mid[0] && !d.rad[0] && d.undecided == 0 && d.bits == 128, "z = 0 is left open");
        attest_decimals_free(&d);
    }
    stop(&t);
}
END_TEST

/* |mid - truth| <= rad, and rad is the target with what printing `digits` digits costs at most. */
static void check_decimal(truth_case *t, const attest_decimals *d, attest_role role, int64_t at, int digits, long prec)
{
    arb_t mid, rad, truth, distance;
    arb_init(mid);
    arb_init(rad);
    arb_init(truth);
    arb_init(distance);
    ck_assert_msg(d->mid[at] && d->rad[at], "%s: element %d is missing", t->x.line, (int)at);
    ck_assert(arb_set_str(mid, d->mid[at], 4096) == 0 && arb_set_str(rad, d->rad[at], 4096) == 0);
    sharp(truth, t, role, at);
    arb_sub(distance, mid, truth, 4096);
    arb_abs(distance, distance);
    ck_assert_msg(arb_le(distance, rad) || (arb_is_zero(rad) && arb_contains_zero(distance)),
                  "%s digits=%d prec=%ld: %s +- %s does not hold the truth", t->x.line, digits, prec, d->mid[at],
                  d->rad[at]);
    if (prec == 0) { /* half a unit of the last digit is at most 5 10^-digits |mid|; the abs_scale is below 2^24 here */
        arb_set_ui(distance, 10);
        arb_pow_ui(distance, distance, (ulong)digits, 64);
        arb_div(distance, mid, distance, 64);
        arb_abs(distance, distance);
        arb_mul_ui(distance, distance, 7, 64);
        arb_set_ui(truth, 1);
        arb_mul_2exp_si(truth, truth, -76);
        arb_add(distance, distance, truth, 64);
        ck_assert_msg(arb_le(rad, distance), "%s digits=%d: rad %s of %s", t->x.line, digits, d->rad[at], d->mid[at]);
    }
    arb_clear(mid);
    arb_clear(rad);
    arb_clear(truth);
    arb_clear(distance);
}

START_TEST(decimals_hold)
{
    static const char *const lines[] = { "n=5 d=4 hq=2 b=2 in=bf16", "variant=softmax1 n=3 d=3 in=f64",
                                         "variant=based n=4 d=3", "variant=linear-elu n=4 d=3 mask=causal",
                                         "family=huge n=4 d=4" };
    static const attest_role roles[] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };
    static const long forms[][2] = { { 40, 0 }, { 1, 0 },   { 5, 0 },   { 17, 0 },
                                     { 80, 0 }, { 40, 64 }, { 17, 20 }, { 60, 700 } };
    for (int k = 0; k < 5 * 4 * 8; k++) {
        const attest_role role = roles[k / 5 % 4];
        const int digits = (int)forms[k / 20][0];
        const long prec = forms[k / 20][1];
        attest_decimals d;
        truth_case t;
        if (k % 5 == 4 && role != ATTEST_O)
            continue; /* u and z of e^150: the bound on the abs_scale used here does not hold */
        start(&t, lines[k % 5], 1, k % 2 ? ATTEST_ENGINE_BALL : ATTEST_ENGINE_AUTO);
        MUST(attest_truth_decimals(&d, t.truth, ROLE(role), digits, prec, &t.x.err), &t.x);
        ck_assert_msg(prec == 0 || d.bits == prec, "%s: %ld bits asked, %ld used", t.x.line, prec, d.bits);
        ck_assert_msg(prec != 0 || d.undecided == 0, "%s: undecided", t.x.line);
        for (int64_t at = 0; at < d.count; at++)
            check_decimal(&t, &d, role, at, digits, prec);
        attest_decimals_free(&d);
        stop(&t);
    }
}
END_TEST

/* T_64(-20) is about e^-20 while its Horner steps are about e^20: 128 bits leave some 70, the target is 100 bits of
 * the abs_scale, so the loop goes on to 256.  A fixed precision is kept, and what misses the target is counted. */
START_TEST(precision_loop)
{
    truth_case t;
    attest_decimals d;
    start(&t, "variant=taylor:64 n=1 m=1 d=1 scale=1", 0, ATTEST_ENGINE_BALL);
    put(&t, ATTEST_Q, 0, 0, 1);
    put(&t, ATTEST_K, 0, 0, -20.5);
    put(&t, ATTEST_V, 0, 0, 1.25);
    MUST(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_U), 40, 0, &t.x.err), &t.x);
    ck_assert_msg(d.bits == 256 && d.undecided == 0, "bits %ld undecided %ld", d.bits, (long)d.undecided);
    check_decimal(&t, &d, ATTEST_U, 0, 40, 0);
    attest_decimals_free(&d);
    attest_truth_free(t.truth);
    MUST(attest_truth_new(&t.truth, &t.x.c.problem, t.x.bundle, ATTEST_ENGINE_BALL, &t.x.err), &t.x);
    for (long prec = 128; prec <= 192; prec += 64) {
        MUST(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_U), 10, prec, &t.x.err), &t.x);
        ck_assert_msg(d.bits == prec, "bits %ld", d.bits);
        check_decimal(&t, &d, ATTEST_U, 0, 10, prec);
        attest_decimals_free(&d);
    }
    stop(&t);
}
END_TEST

/* ht of the tutorial kind: S_1 = sum k v. */
START_TEST(decimals_of_states)
{
    for (uint32_t engine = ATTEST_ENGINE_AUTO; engine <= ATTEST_ENGINE_WITNESS; engine++) {
        truth_case t;
        attest_decimals d;
        start(&t, "variant=linear n=2 d=2 e=1 b=2", 0, engine);
        for (int64_t j = 0; j < 2; j++) {
            put(&t, ATTEST_K, j, 0, (double)(j + 1));
            put(&t, ATTEST_K, j, 1, 0.25);
            put(&t, ATTEST_V, j, 0, (double)(3 - 5 * j));
        }
        MUST(attest_truth_decimals(&d, t.truth, (attest_tensor_id){ ATTEST_KIND_HT, 1 }, 12, 0, &t.x.err), &t.x);
        ck_assert_int_eq(d.count, 4);
        ck_assert_msg(strtod(d.mid[0], NULL) == -1.0 && strtod(d.mid[1], NULL) == 0.25 && !strcmp(d.mid[2], "0"),
                      "%s: %s %s %s", attest_engine_name(engine), d.mid[0], d.mid[1], d.mid[2]);
        ck_assert_msg((d.exact != NULL) == (engine == ATTEST_ENGINE_AUTO || engine == ATTEST_ENGINE_EXACT), "exact");
        attest_decimals_free(&d);
        MUST(attest_truth_decimals(&d, t.truth, (attest_tensor_id){ ATTEST_KIND_ZT, 1 }, 12, 0, &t.x.err), &t.x);
        ck_assert_msg(d.count == 4 && strtod(d.mid[0], NULL) == 3.0 && strtod(d.mid[1], NULL) == 0.5, "zt");
        attest_decimals_free(&d);
        stop(&t);
    }
}
END_TEST

/* ---- studies ----------------------------------------------------------------------------------------------------- */
/* Scores 0 and 1: Taylor 1 weighs 1:2, exp 1:e.  v = 0, 1: o = 2/3 and e/(1+e). */
START_TEST(distances)
{
    truth_case a, b;
    double lo, hi;
    arb_t e, want;
    arb_init(e);
    arb_init(want);
    start(&a, "variant=taylor:1 n=1 m=2 d=1 scale=1", 0, ATTEST_ENGINE_AUTO);
    start(&b, "variant=softmax n=1 m=2 d=1 scale=1", 0, ATTEST_ENGINE_AUTO);
    truth_case *both[2] = { &a, &b };
    for (int k = 0; k < 2; k++) {
        put(both[k], ATTEST_Q, 0, 0, 1);
        put(both[k], ATTEST_K, 1, 0, 1);
        put(both[k], ATTEST_V, 1, 0, 1);
    }
    arb_const_e(e, 256);
    arb_add_ui(want, e, 1, 256);
    arb_div(e, e, want, 256); /* e/(1+e) */
    arb_set_ui(want, 2);
    arb_div_ui(want, want, 3, 256);
    arb_sub(want, e, want, 256);
    MUST(attest_truth_distance(&lo, &hi, a.truth, b.truth, (attest_row){ 0, 0, 0 }, &a.x.err), &a.x);
    ck_assert_msg(lo <= ref_lower(want) && ref_upper(want) <= hi && hi - lo < 1e-9 * hi, "distance [%a, %a]", lo, hi);
    arb_sub_ui(e, e, 1, 256); /* the larger relative error is key 0's: (1/3) / (1/(1+e)) - 1 */
    arb_neg(e, e);
    arb_set_ui(want, 1);
    arb_div_ui(want, want, 3, 256);
    arb_div(want, want, e, 256);
    arb_sub_ui(want, want, 1, 256);
    MUST(attest_truth_weight_error(&lo, &hi, a.truth, b.truth, (attest_row){ 0, 0, 0 }, &a.x.err), &a.x);
    ck_assert_msg(lo <= ref_lower(want) && ref_upper(want) <= hi && hi - lo < 1e-9 * hi, "weights [%a, %a]", lo, hi);
    MUST(attest_truth_distance(&lo, &hi, b.truth, b.truth, (attest_row){ 0, 0, 0 }, &a.x.err), &a.x);
    ck_assert_msg(lo == 0 && hi < 1e-300, "distance to itself [%a, %a]", lo, hi);
    stop(&a);
    stop(&b);
    start(&a, "variant=taylor:24 n=1 m=2 d=1 scale=1", 0, ATTEST_ENGINE_BALL); /* 2^-190: needs more than 192 bits */
    start(&b, "variant=softmax n=1 m=2 d=1 scale=1", 0, ATTEST_ENGINE_AUTO);
    for (int k = 0; k < 2; k++) {
        put(both[k], ATTEST_Q, 0, 0, 1);
        put(both[k], ATTEST_K, 1, 0, 0x1p-4);
        put(both[k], ATTEST_V, 1, 0, 1);
    }
    MUST(attest_truth_distance(&lo, &hi, a.truth, b.truth, (attest_row){ 0, 0, 0 }, &a.x.err), &a.x);
    ck_assert_msg(lo > 0x1p-195 && hi < 0x1p-180 && hi - lo < 1e-8 * hi, "small distance [%a, %a]", lo, hi);
    stop(&a);
    stop(&b);
    arb_clear(e);
    arb_clear(want);
}
END_TEST

START_TEST(facts)
{
    truth_case t;
    attest_row_facts f;
    start(&t, "n=2 m=3 d=1 mask=causal scale=0.5", 0, ATTEST_ENGINE_AUTO);
    put(&t, ATTEST_Q, 1, 0, 2);
    put(&t, ATTEST_K, 0, 0, -7);
    put(&t, ATTEST_K, 1, 0, 3);
    put(&t, ATTEST_K, 2, 0, 100); /* not visible */
    MUST(attest_truth_facts(&f, t.truth, (attest_row){ 0, 0, 1 }, &t.x.err), &t.x);
    ck_assert_msg(f.visible == 2 && f.range_lo <= 10 && f.range_hi >= 10 && f.range_hi - f.range_lo < 1e-12,
                  "range [%a, %a] of %d keys", f.range_lo, f.range_hi, (int)f.visible);
    ck_assert_msg(f.abs_score >= 7 && f.abs_score < 7.00001, "largest score %a", f.abs_score);
    ck_assert(f.engine == ATTEST_ENGINE_BALL && f.bits == 128);
    stop(&t);
    start(&t, "n=4 d=1 mask=causal window=2", 0, ATTEST_ENGINE_AUTO);
    MUST(attest_truth_facts(&f, t.truth, (attest_row){ 0, 0, 3 }, &t.x.err), &t.x);
    ck_assert_msg(f.visible == 2 && f.range_hi == 0 && f.abs_score == 0, "%d keys", (int)f.visible);
    stop(&t);
}
END_TEST

/* The witness agrees, and does not when one value of the row is moved by 2^-90 of itself. */
START_TEST(cross_examination)
{
    static const char *const lines[] = { "n=4 d=3 hq=2 hkv=1", "variant=based n=3 d=2 state=draw",
                                         "variant=softmax1 n=4 m=2 d=2 mask=causal-br" };
    for (int k = 0; k < 3 * 5; k++) {
        truth_case t;
        ref_row *row;
        int overlap = 0;
        start(&t, lines[k % 3], 1, ATTEST_ENGINE_AUTO);
        for (int64_t i = 0; i < t.x.c.problem.n; i++) {
            MUST(attest_truth_cross_examine(&overlap, t.truth, (attest_row){ 0, t.x.c.problem.hq - 1, i }, &t.x.err),
                 &t.x);
            ck_assert_msg(overlap, "%s: %s", lines[k % 3], t.x.err.text);
        }
        const int64_t i = k == 14 ? 0 : t.x.c.problem.n - 1; /* k = 14: an empty row */
        MUST(ref_truth_row(&row, t.truth, (attest_row){ 0, 0, i }, 128, &t.x.err), &t.x);
        arb_ptr moved[5] = { row->u, row->o + row->e - 1, row->z, row->lse, NULL };
        if (k / 3 == 4) {
            row->empty = !row->empty;
        } else {
            arb_t factor;
            arb_init(factor);
            arb_one(factor);
            arb_mul_2exp_si(factor, factor, -90);
            arb_add_ui(factor, factor, 1, 128);
            arb_mul(moved[k / 3], moved[k / 3], factor, 128);
            arb_clear(factor);
        }
        MUST(attest_truth_cross_examine(&overlap, t.truth, (attest_row){ 0, 0, i }, &t.x.err), &t.x);
        ck_assert_msg(!overlap && strstr(t.x.err.text, "disagree"), "%s: moved value %d not seen", lines[k % 3], k / 3);
        stop(&t);
    }
}
END_TEST

static void one_truth(void)
{
    attest_decimals d;
    truth_case t;
    start(&t, "variant=linear-elu n=6 d=2 e=2", 1, ATTEST_ENGINE_AUTO);
    MUST(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_O), 900, 3000, &t.x.err), &t.x);
    attest_decimals_free(&d);
    ck_assert(d.count == 0 && !d.mid && !d.rad && !d.exact);
    attest_decimals_free(&d); /* twice does no harm */
    stop(&t);
    attest_reference_thread_end();
}

START_TEST(nothing_is_kept)
{
    attest_truth_free(NULL);
    attest_decimals_free(NULL);
    ck_assert_msg(memory_stays(one_truth), "each truth leaves something behind");
}
END_TEST

/* The constants that the thread keeps (logarithms, pi) at 8192 bits are given back; sanitizers show no heap. */
START_TEST(thread_end)
{
    attest_decimals d;
    truth_case t;
    start(&t, "n=1 m=2 d=1", 1, ATTEST_ENGINE_AUTO);
    MUST(attest_truth_decimals(&d, t.truth, ROLE(ATTEST_LSE), 2000, 8192, &t.x.err), &t.x);
    attest_decimals_free(&d);
    stop(&t);
    const size_t before = memory_use();
    attest_reference_thread_end();
    const size_t after = memory_use();
    ck_assert_msg(before < 1 << 15 || after + 4096 <= before, "%zu bytes in use, then %zu", before, after);
}
END_TEST

START_TEST(names_and_services)
{
    static const char *const names[] = { "auto", "ball", "exact", "witness", "mixed", "dd", "?" };
    static const char *const lines[] = { "variant=softmax n=2", "variant=based n=2", "variant=gla n=2" };
    attest_error err;
    attest_case c;
    char why[160];
    for (uint32_t engine = 0; engine < 7; engine++)
        ck_assert_str_eq(attest_engine_name(engine), names[engine]);
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        ck_assert_int_eq(attest_case_parse(&c, lines[k], NULL, NULL, &err), ATTEST_OK);
        ck_assert_msg(attest_truth_serves(&c.problem, why, sizeof why), "%s: %s", lines[k], why);
        c.problem.axis[ATTEST_AXIS_NORM].value = 99; /* a value that no engine knows */
        ck_assert_msg(!attest_truth_serves(&c.problem, why, sizeof why) && strstr(why, "norm="), "%s", why);
    }
}
END_TEST

START_TEST(versions)
{
    char text[160];
    attest_reference_versions(text, sizeof text);
    ck_assert_msg(strstr(text, "FLINT ") && strstr(text, "MPFR ") && strstr(text, "GMP "), "%s", text);
}
END_TEST

Suite *suite_truth(void)
{
    Suite *s = suite_create("truth");
    TCase *t = tcase_create("truth");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, engines);
    tcase_add_test(t, refusals);
    tcase_add_test(t, decimals_by_hand);
    tcase_add_test(t, decimals_without_value);
    tcase_add_test(t, absent_for_certain);
    tcase_add_test(t, decimals_hold);
    tcase_add_test(t, precision_loop);
    tcase_add_test(t, decimals_of_states);
    tcase_add_test(t, distances);
    tcase_add_test(t, facts);
    tcase_add_test(t, cross_examination);
    tcase_add_test(t, nothing_is_kept);
    tcase_add_test(t, thread_end);
    tcase_add_test(t, names_and_services);
    tcase_add_test(t, versions);
    suite_add_tcase(s, t);
    return s;
}
