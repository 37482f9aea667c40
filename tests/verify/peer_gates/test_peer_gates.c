/* test_foreign.c - the rules of other suites' gates on arrays with known answers, the reading of --gate, the laws, and
 * the plain low-precision softmax against values rounded by hand. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/peer_gates/peer_gates.h"
#include "verify/peer_gates/peer_gates_plain.h"

Suite *suite_peer_gates(void);

/* ---- rules ----------------------------------------------------------------------------------------------- */

static const attest_peer_gate *gate_of(const char *text)
{
    static attest_peer_gate gates[ATTEST_PEER_COUNT];
    size_t count;
    attest_error err = { "" };
    ck_assert_msg(attest_peer_parse(gates, &count, text, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(count, 1);
    return gates;
}

static int refuses(const char *text, const double got[2], const double want[2], const double other[2], uint32_t dtype,
                   int softmax)
{
    const attest_peer_gate *gate = gate_of(text);
    const attest_peer_sample sample = { .count = 2,
                                        .got = got,
                                        .want = want,
                                        .plain = other,
                                        .magnitude = other,
                                        .dtype = dtype,
                                        .keys = 1,
                                        .softmax = softmax };
    return gate->rule->refuses(&sample, gate->number);
}

/* `passes` and `fails` stand on either side of the tolerance; `other` is pt, or the magnitude. */
START_TEST(tolerances)
{
    static const struct {
        const char *gate;
        uint32_t dtype;
        int softmax;
        double want[2], other[2], passes[2], fails[2];
    } rows[] = {
        { "flash-attn", ATTEST_BF16, 1, { 0, 0 }, { 1, -0.5 }, { -2, 1 }, { 0, 2.001 } },
        { "flash-attn", ATTEST_BF16, 1, { 5, 7 }, { 5, 7 }, { 5, 7 }, { 5, 7.0001 } }, /* no floor */
        { "allclose=0.1,0.25", ATTEST_F32, 1, { 10, -10 }, { 0, 0 }, { 11.2, -8.8 }, { 10, -11.3 } },
        { "allclose=0,0", ATTEST_F32, 1, { 1, 2 }, { 0, 0 }, { 1, 2 }, { 1, 2.001 } },
        { "allclose", ATTEST_BF16, 1, { 1, 0 }, { 0, 0 }, { 1.0168, 0.0009 }, { 1.0172, 0 } },
        { "allclose", ATTEST_F16, 1, { 1, 0 }, { 0, 0 }, { 1.0019, 0.0009 }, { 1.0021, 0 } },
        { "allclose", ATTEST_F32, 1, { 1, 0 }, { 0, 0 }, { 1 + 1.12e-5, 0 }, { 1 + 1.14e-5, 0 } },
        { "nmse", ATTEST_F32, 1, { 1, 1 }, { 0, 0 }, { 1.031, 1 }, { 1.032, 1 } },
        { "nmse=0.005", ATTEST_F32, 1, { 1, 1 }, { 0, 0 }, { 0.901, 1 }, { 0.899, 1 } },
        { "nmse=0.005", ATTEST_F32, 0, { 1, 1 }, { 0, 0 }, { 1.00044, 1 }, { 1.00046, 1 } }, /* gla, gdn: 1e-7 */
        { "fla", ATTEST_F16, 0, { 3, 4 }, { 0, 0 }, { 3.0249, 4 }, { 3.0251, 4 } },
        { "fla", ATTEST_F16, 1, { 1e-6, 0 }, { 0, 0 }, { 1.9e-6, -9e-7 }, { 2.1e-6, 0 } }, /* 1e-6 at once */
        { "benchdnn", ATTEST_BF16, 1, { 1, 2 }, { 1, 1 }, { 1.124, 2 }, { 1.126, 2 } },    /* 8 * 2 * 2^-7 */
        { "benchdnn", ATTEST_F16, 1, { 1, 2 }, { 1, 1 }, { 1.0156, 2 }, { 1.0157, 2 } },   /* 8 * 2 * 2^-10 */
        { "benchdnn", ATTEST_BF16, 1, { 1, 2 }, { 32, 1 }, { 1.249, 2 }, { 1.251, 2 } },   /* 2^-7 * 32 */
        { "benchdnn", ATTEST_BF16, 1, { 1e-5, 2 }, { 1, 1 }, { 0.124, 2 }, { 0.126, 2 } }, /* absolute */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(
            !refuses(rows[i].gate, rows[i].passes, rows[i].want, rows[i].other, rows[i].dtype, rows[i].softmax),
            "row %zu: %s refuses", i, rows[i].gate);
        ck_assert_msg(refuses(rows[i].gate, rows[i].fails, rows[i].want, rows[i].other, rows[i].dtype, rows[i].softmax),
                      "row %zu: %s passes", i, rows[i].gate);
    }
}
END_TEST

/* A NaN or an infinity anywhere, whatever else is right: all five tests fail on it. */
START_TEST(not_finite)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    const double want[2] = { 1, 2 };
    for (size_t r = 0; r < ATTEST_PEER_COUNT; r++)
        for (size_t i = 0; i < 3; i++)
            for (int at = 0; at < 2; at++) {
                double got[2] = { 1, 2 }, wide[2] = { 1e30, 1e30 };
                got[at] = bad[i];
                ck_assert_msg(refuses(attest_peer_rules[r].name, got, want, wide, ATTEST_BF16, 1), "%s: %g at %d",
                              attest_peer_rules[r].name, bad[i], at);
                got[at] = want[at];
                ck_assert(!refuses(attest_peer_rules[r].name, got, want, wide, ATTEST_BF16, 1));
            }
}
END_TEST

START_TEST(parsed)
{
    static const struct {
        const char *text;
        double number[2];
    } good[] = { { "flash-attn", { 0, 0 } },       { "nmse", { 5e-4, 0 } }, { "nmse=1e-6", { 1e-6, 0 } },
                 { "allclose=0.5,0", { 0.5, 0 } }, { "fla", { 0, 0 } },     { "benchdnn", { 0, 0 } } };
    static const char *const bad[] = {
        "",         "=",         "fl",       "flash-attn=2", "nmse=",       "nmse=x",         "nmse=-1",
        "nmse=1,2", "nmse=inf",  "nmse=nan", "allclose=1",   "allclose=1,", "allclose=1,2,3", "allclose=1;2",
        "all=1",    "benchdnn=", "fla,nmse", "nmse =1"
    };
    attest_peer_gate gates[ATTEST_PEER_COUNT];
    size_t count;
    attest_error err = { "" };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const attest_peer_gate *gate = gate_of(good[i].text);
        ck_assert(strncmp(gate->rule->name, good[i].text, strlen(gate->rule->name)) == 0);
        ck_assert(gate->number[0] == good[i].number[0] && gate->number[1] == good[i].number[1]);
        ck_assert_ptr_null(gate->defects);
    }
    ck_assert(isnan(gate_of("allclose")->number[0]) && isnan(gate_of("allclose")->number[1]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(attest_peer_parse(gates, &count, bad[i], &err) == ATTEST_BAD_INPUT, "'%s'", bad[i]);
        ck_assert_msg(strstr(err.text, "allowed: all flash-attn allclose[=R,A] nmse[=X] fla benchdnn"), "%s", err.text);
    }
    ck_assert_int_eq(attest_peer_parse(gates, &count, "all", &err), ATTEST_OK);
    ck_assert_uint_eq(count, ATTEST_PEER_COUNT);
    for (size_t i = 0; i < count; i++)
        ck_assert_ptr_eq(gates[i].rule, &attest_peer_rules[i]);
}
END_TEST

START_TEST(outcomes)
{
    static const struct {
        int64_t run, differs, killed, stopped;
        attest_peer_outcome want;
    } rows[] = { { 4, 2, 1, 0, ATTEST_PEER_CAUGHT },
                 { 4, 2, 0, 1, ATTEST_PEER_PASSED },
                 { 4, 0, 0, 1, ATTEST_PEER_UNSEEN },
                 { 0, 0, 0, 2, ATTEST_PEER_STOPPED },
                 { 0, 0, 0, 0, ATTEST_PEER_UNCOVERED } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const attest_defect_result r = {
            .run = rows[i].run, .differs = rows[i].differs, .killed = rows[i].killed, .stopped = rows[i].stopped
        };
        ck_assert_int_eq(attest_peer_outcome_of(&r), rows[i].want);
    }
    attest_peer_gate gates[2] = { { .defects = calloc(1, sizeof *gates[0].defects) } };
    ck_assert_ptr_nonnull(gates[0].defects);
    attest_peer_clear(gates, 2);
    ck_assert_ptr_null(gates[0].defects);
}
END_TEST

/* ---- laws ------------------------------------------------------------------------------------------------ */

/* The suite is there; its family is the row's; a rule with pt has cases that the plain softmax serves. */
START_TEST(laws)
{
    static const char *const families[] = { "normal", "positive", "uniform", "normal positive", "integers" };
    attest_error err = { "" };
    for (size_t r = 0; r < ATTEST_PEER_COUNT; r++) {
        const attest_peer_rule *rule = &attest_peer_rules[r];
        attest_suite suite = { 0 };
        ck_assert_msg(attest_suite_read(&suite, rule->suite, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_uint_ge(suite.case_count, 30);
        ck_assert(!strpbrk(rule->metric, "\"\\\n") && !strpbrk(rule->source, "\"\\\n"));
        for (size_t i = 0; i < suite.case_count; i++) {
            attest_case c;
            attest_suite_case(&c, &suite, i);
            ck_assert_msg(strstr(families[r], c.family), "%s: %s", rule->suite, c.family);
            ck_assert_msg(c.problem.in != ATTEST_F32 || r == 1 || r == 2 || r == 3, "%s: in=f32", rule->suite);
        }
        attest_suite_clear(&suite);
    }
}
END_TEST

/* ---- the plain softmax ----------------------------------------------------------------------------------- */

static void set(attest_bundle *bundle, const attest_problem *p, attest_role role, const char *numbers)
{
    attest_error err;
    attest_tensor *t;
    const attest_tensor_id id = { ATTEST_KIND_ROLE, role };
    ck_assert_int_eq(attest_bundle_add(bundle, p, id, 0, &t, &err), ATTEST_OK);
    char *at;
    for (int64_t i = 0; i < attest_tensor_count(t); i++, numbers = at) {
        const double x = strtod(numbers, &at);
        ck_assert_msg(at != numbers, "too few numbers");
        attest_store_bits(t, i, t->dtype == ATTEST_I64 ? (uint64_t)(int64_t)x : attest_from_f64(t->dtype, x));
    }
}

/* In bf16 numbers of [1/4,1/2) are multiples of 2^-9, of [1/2,1) of 2^-8, of [16,32) of 1/8. */
START_TEST(plain)
{
    static const struct {
        const char *line, *q, *k, *v, *more;
        double want[4];
    } rows[] = {
        /* weights 1/2: o = 1 + 2^-8, a tie that goes to 1; the first row sees one key */
        { "n=2 mask=causal", "0 0", "1 2", "1 1.0078125", "", { 1, 1 } },
        /* weights T(1/3) = 171/512; 130/128 of that is T(173.7/512), of 1/3 T(173.3/512) */
        { "n=1 m=3", "0", "1 2 3", "1 0 0", "", { 171.0 / 512 } },
        { "n=1 m=3", "0", "1 2 3", "1.015625 0 0", "", { 174.0 / 512 } },
        /* k' = 154/512, 155/512; s = 28.875, T(29.0625) = 29; p_1 = T(0.53121) */
        { "n=1 m=2 scale=0.3", "96", "1 1.0078125", "0 1", "", { 136.0 / 256 } },
        /* the same under cap 50: T(28.875/50) = T(29/50) */
        { "n=1 m=2 scale=0.3 cap=50", "96", "1 1.0078125", "0 1", "", { 0.5 } },
        /* distances 1 and 0, slope 1: T(1/(1+e)) = 138/512; bottom right: the row is the second of two */
        { "n=1 m=2 mask=causal-br alibi=draw", "0", "1 2", "1 0", "slope 1", { 138.0 / 512 } },
        /* slopes 2^-4, 2^-8, 2^-2: T of 1/(1+e^slope) = 248.003/512, 255.5000006/512, 224.2/512 */
        { "n=1 m=2 hq=3 hkv=1 mask=causal-br alibi=usual",
          "0 0 0",
          "1 2",
          "1 0",
          "",
          { 248.0 / 512, 0.5, 224.0 / 512 } },
        /* lengths 0 and 1: a row without a key is 0 */
        { "n=1 m=2 b=2 lens=draw", "1 1", "1 2 3 4", "5 6 7 8", "len 0 1", { 0, 7 } },
        /* two query heads share a KV head; a window of one key; e = 2 */
        { "n=2 m=2 hq=2 hkv=1 e=1 mask=causal window=1", "1 2 3 4", "1 2", "5 6", "", { 5, 6, 5, 6 } },
        { "n=1 m=1 d=2 e=2", "1 1", "3 4", "7 9", "", { 7, 9 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        attest_case c;
        attest_error err = { "" };
        attest_bundle *bundle;
        char line[256];
        double o[4];
        snprintf(line, sizeof line, "variant=softmax in=bf16%s%s %s", strstr(rows[i].line, "scale=") ? "" : " scale=1",
                 strstr(rows[i].line, "d=2") ? "" : " d=1", rows[i].line);
        ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_int_eq(attest_bundle_new(&bundle, &err), ATTEST_OK);
        set(bundle, &c.problem, ATTEST_Q, rows[i].q);
        set(bundle, &c.problem, ATTEST_K, rows[i].k);
        set(bundle, &c.problem, ATTEST_V, rows[i].v);
        if (strncmp(rows[i].more, "slope", 5) == 0)
            set(bundle, &c.problem, ATTEST_SLOPE, rows[i].more + 5);
        if (strncmp(rows[i].more, "len", 3) == 0)
            set(bundle, &c.problem, ATTEST_KV_LENS, rows[i].more + 3);
        ck_assert_msg(attest_peer_plain(o, &c.problem, bundle, &err) == ATTEST_OK, "%s", err.text);
        for (int64_t at = 0; at < c.problem.b * c.problem.hq * c.problem.n * c.problem.e; at++)
            ck_assert_msg(o[at] == rows[i].want[at], "%s: o[%d] = %.17g", line, (int)at, o[at]);
        attest_bundle_free(bundle);
    }
}
END_TEST

START_TEST(plain_refuses)
{
    static const struct {
        const char *line, *words;
    } rows[] = { { "variant=softmax norm=sink in=bf16", "norm" },
                 { "variant=fox n=4 in=bf16", "decay" },
                 { "variant=linear in=bf16", "weight" },
                 { "variant=softmax rope=10000 in=f16", "rope" },
                 { "variant=softmax in=f64", "in=f64" } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        attest_case c;
        attest_error err = { "" };
        attest_bundle *bundle;
        double o[1];
        ck_assert_msg(attest_case_parse(&c, rows[i].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_int_eq(attest_bundle_new(&bundle, &err), ATTEST_OK);
        ck_assert_int_eq(attest_peer_plain(o, &c.problem, bundle, &err), ATTEST_UNSUPPORTED);
        ck_assert_msg(strstr(err.text, rows[i].words), "%s", err.text);
        attest_bundle_free(bundle);
    }
}
END_TEST

Suite *suite_peer_gates(void)
{
    Suite *suite = suite_create("peer_gates");
    TCase *t = tcase_create("peer_gates");
    tcase_add_test(t, tolerances);
    tcase_add_test(t, not_finite);
    tcase_add_test(t, parsed);
    tcase_add_test(t, outcomes);
    tcase_add_test(t, laws);
    tcase_add_test(t, plain);
    tcase_add_test(t, plain_refuses);
    suite_add_tcase(suite, t);
    return suite;
}
