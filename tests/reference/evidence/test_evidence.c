/* test_evidence.c - the numbers behind the ledger of claims, against values by hand and against tables of the theory.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/claims/claims_case.h"

Suite *suite_evidence(void);

static attest_error err;

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

static int holds(attest_span x, double value) { return x.lo <= value && value <= x.hi && x.hi - x.lo <= 0x1p-40; }

/* ---- formulas ---------------------------------------------------------------------------------------------------- */
START_TEST(formulas)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        { "1+2*3", 7 },       { "(1+2)*3", 9 },   { "2^3^2", 512 },     { "-2^2", -4 },
        { "7/2/2", 1.75 },    { "10-4-3", 3 },    { "0.1+0.2-0.3", 0 }, { "1e-3*1000", 1 },
        { "2^-1", 0.5 },      { "fact(5)", 120 }, { "binom(6,2)", 15 }, { "exp(0)", 1 },
        { "log(1)", 0 },      { "sqrt(9)", 3 },   { "abs(-4)", 4 },     { "min(2,3)", 2 },
        { "max(2,3)", 3 },    { "T(0,5)", 1 },    { "T(1,-3)", -2 },    { "T(3,2)", 1 + 2 + 2 + 8.0 / 6 },
        { " 1 + ( 2 ) ", 3 },
    };
    static const char *const bad[] = { "",         "1+",       "(1",        "1)",    "foo(1)",
                                       "binom(3)", "fact(-1)", "fact(0.5)", "exp 1", "1..2" };
    attest_span x;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        MUST(attest_evidence_value(&x, &err, "%s", good[i].text));
        ck_assert_msg(holds(x, good[i].value), "%s is in [%.17g, %.17g]", good[i].text, x.lo, x.hi);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(attest_evidence_value(&x, &err, "%s", bad[i]) == ATTEST_BAD_INPUT, "'%s' is read", bad[i]);
    MUST(attest_evidence_value(&x, &err, "1/0"));
    ck_assert(isnan(x.lo) && isnan(x.hi)); /* no such value */
    MUST(attest_evidence_value(&x, &err, "log(0-1)"));
    ck_assert(isnan(x.lo) && isnan(x.hi));
    char deep[300];
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    ck_assert_int_eq(attest_evidence_value(&x, &err, "%s", deep), ATTEST_BAD_INPUT);
    /* outward: 1/3 is no double */
    MUST(attest_evidence_value(&x, &err, "%d/%d", 1, 3));
    ck_assert(x.lo < x.hi && x.lo == nextafter(x.hi, 0));
}
END_TEST

/* ---- rows -------------------------------------------------------------------------------------------------------- */
static const double scores[3] = { 0, 1, -1 };

START_TEST(rows_and_weights)
{
    claim_case x = { 0 };
    attest_span w[3], s[3], o[3], z, lse;
    int64_t keys;
    MUST(claim_case_scores(&x, scores, 3, 1, &err, "softmax"));
    MUST(attest_evidence_weights(w, s, 3, &keys, x.truth, (attest_row){ 0, 0, 0 }, &err));
    MUST(attest_evidence_row(o, x.truth, ATTEST_O, (attest_row){ 0, 0, 0 }, &err));
    MUST(attest_evidence_row(&z, x.truth, ATTEST_Z, (attest_row){ 0, 0, 0 }, &err));
    MUST(attest_evidence_row(&lse, x.truth, ATTEST_LSE, (attest_row){ 0, 0, 0 }, &err));
    const double sum = 1 + exp(1) + exp(-1);
    ck_assert_int_eq(keys, 3);
    for (int j = 0; j < 3; j++) {
        ck_assert(s[j].lo == scores[j] && s[j].hi == scores[j]);
        ck_assert(fabs(w[j].lo - exp(scores[j]) / sum) < 1e-15 && w[j].lo <= w[j].hi);
        ck_assert(w[j].lo == o[j].lo && w[j].hi == o[j].hi); /* v is the unit matrix */
    }
    ck_assert(fabs(z.lo - sum) < 1e-15 && fabs(lse.hi - log(sum)) < 1e-15);
    ck_assert_int_eq(attest_evidence_weights(w, s, 2, &keys, x.truth, (attest_row){ 0, 0, 0 }, &err),
                     ATTEST_INTERNAL); /* no room */
    claim_case_close(&x);
    MUST(claim_case_scores(&x, (const double[]){ 0, -2 }, 2, 0, &err, "shifted:1")); /* z = 1 + (1-2) = 0 */
    MUST(attest_evidence_row(o, x.truth, ATTEST_O, (attest_row){ 0, 0, 0 }, &err));
    MUST(attest_evidence_row(&z, x.truth, ATTEST_Z, (attest_row){ 0, 0, 0 }, &err));
    ck_assert(isnan(o[0].lo) && isnan(o[0].hi) && holds(z, 0));
    claim_case_close(&x);
}
END_TEST

START_TEST(equality_of_rows)
{
    claim_case x = { 0 }, y = { 0 };
    attest_match match = { 0 };
    MUST(claim_case_open(&x, &err, "variant=linear n=4 d=2 e=3"));
    MUST(claim_case_open(&y, &err, "variant=linear n=4 d=2 e=3 mask=causal"));
    MUST(attest_evidence_same(&match, ATTEST_O, x.truth, (attest_row){ 0, 0, 3 }, y.truth, (attest_row){ 0, 0, 3 },
                              &err));
    ck_assert(match.compared == 3 && match.different == 0 && match.rational == 3 && match.distance == 0);
    MUST(attest_evidence_same(&match, ATTEST_O, x.truth, (attest_row){ 0, 0, 0 }, y.truth, (attest_row){ 0, 0, 0 },
                              &err));
    ck_assert(match.compared == 6 && match.different == 3 && match.apart > 0 && match.distance >= match.apart);
    MUST(attest_evidence_same(&match, ATTEST_O, x.truth, (attest_row){ 0, 0, 1 }, x.truth, (attest_row){ 0, 0, 1 },
                              &err)); /* one truth, one row */
    ck_assert(match.compared == 9 && match.different == 3);
    claim_case_close(&x);
    claim_case_close(&y);
    match = (attest_match){ 0 };
    MUST(claim_case_open(&x, &err, "variant=linear norm=sum n=4 d=2 e=3 scale=1")); /* equal, not digit by digit */
    MUST(claim_case_open(&y, &err, "variant=linear norm=sum n=4 d=2 e=3 scale=3"));
    MUST(attest_evidence_same(&match, ATTEST_O, x.truth, (attest_row){ 0, 0, 1 }, y.truth, (attest_row){ 0, 0, 1 },
                              &err));
    ck_assert(match.compared == 3 && match.different == 0 && match.rational == 3);
    claim_case_close(&x);
    claim_case_close(&y);
    match = (attest_match){ 0 };
    MUST(claim_case_open(&x, &err, "variant=softmax n=4 d=2"));
    MUST(claim_case_open(&y, &err, "variant=softmax n=4 d=2 scale=1"));
    MUST(attest_evidence_same(&match, ATTEST_Z, x.truth, (attest_row){ 0, 0, 1 }, y.truth, (attest_row){ 0, 0, 1 },
                              &err));
    ck_assert(match.compared == 1 && match.different == 1 && match.rational == 0);
    attest_span cosine;
    MUST(attest_evidence_cosine(&cosine, x.truth, x.truth, (attest_row){ 0, 0, 1 }, &err));
    ck_assert(holds(cosine, 1));
    claim_case_close(&x);
    claim_case_close(&y);
}
END_TEST

/* o = (3, 4) and (0, 8), one key each: |(3,-4)|/8 = 5/8, |(-3,4)|/5 = 1. */
START_TEST(distances)
{
    static const double one[1] = { 1 }, values[3][2] = { { 3, 4 }, { 0, 8 }, { 0, 0 } };
    static const struct {
        int x, y;
        double distance;
    } pairs[] = { { 0, 1, 0.625 }, { 1, 0, 1 }, { 2, 1, 1 } };
    claim_case x[3] = { { .truth = NULL } };
    attest_span distance;
    for (int n = 0; n < 3; n++) {
        MUST(claim_case_parse(&x[n], &err, "variant=softmax n=1 d=1 e=2"));
        MUST(claim_case_put(&x[n], ATTEST_Q, one, &err));
        MUST(claim_case_put(&x[n], ATTEST_V, values[n], &err));
        MUST(claim_case_ready(&x[n], &err));
    }
    for (size_t n = 0; n < sizeof pairs / sizeof pairs[0]; n++) {
        MUST(attest_evidence_distance(&distance, x[pairs[n].x].truth, x[pairs[n].y].truth, (attest_row){ 0, 0, 0 },
                                      &err));
        ck_assert_msg(holds(distance, pairs[n].distance), "pair %zu: [%a, %a]", n, distance.lo, distance.hi);
    }
    MUST(attest_evidence_distance(&distance, x[0].truth, x[0].truth, (attest_row){ 0, 0, 0 }, &err));
    ck_assert(holds(distance, 0));
    MUST(attest_evidence_distance(&distance, x[0].truth, x[2].truth, (attest_row){ 0, 0, 0 },
                                  &err)); /* over a row of 0 */
    ck_assert(isnan(distance.lo) && isnan(distance.hi));
    for (int n = 0; n < 3; n++)
        claim_case_close(&x[n]);
}
END_TEST

START_TEST(moments_and_filter)
{
    static const double five[5] = { 3, 1, 2.5, 2, 0.5 };
    claim_case x = { 0 };
    attest_span mean, variance, range, dropped;
    int64_t kept;
    MUST(claim_case_scores(&x, five, 5, 0, &err, "softmax"));
    MUST(attest_evidence_moments(&mean, &variance, &range, x.truth, &err));
    ck_assert(holds(mean, 1.8) && fabs(variance.lo - 0.86) < 1e-14 && holds(range, 2.5));
    MUST(attest_evidence_filter(&kept, &range, &dropped, x.truth, 1, (attest_row){ 0, 0, 0 }, &err));
    ck_assert(kept == 2 && holds(range, 0.5)); /* s > 2: a score of exactly max - tau goes */
    const double all = exp(3) + exp(1) + exp(2.5) + exp(2) + exp(0.5);
    ck_assert(fabs(dropped.lo - (exp(1) + exp(2) + exp(0.5)) / all) < 1e-15);
    claim_case_close(&x);
}
END_TEST

/* ---- lists ------------------------------------------------------------------------------------------------------- */
START_TEST(gates_over_a_list)
{
    static const double two[2] = { 0, 1 }, other[2] = { 1, 0 };
    attest_gate_facts facts;
    attest_span flow;
    for (int i = -2; i <= 2; i++) {
        const double lambda = i, p = 1 / (1 + exp(lambda)), q = 1 - p;
        MUST(attest_evidence_gate(&facts, two, 2, lambda, &err));
        ck_assert(fabs(facts.entropy.lo + p * log(p) + q * log(q)) < 1e-14);
        ck_assert(fabs(facts.variance.lo - p * q) < 1e-14);
        ck_assert_msg(fabs(facts.slope.lo + lambda * p * q) < 1e-14, "lambda %g: %g", lambda, facts.slope.lo);
        ck_assert(fabs(facts.largest.hi - fmax(p, q)) < 1e-15);
        MUST(attest_evidence_flow(&flow, two, other, 2, lambda, &err));
        ck_assert(fabs(flow.lo - 2 * p * q) < 1e-15);
    }
    ck_assert_int_eq(attest_evidence_gate(&facts, two, 0, 1, &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_evidence_flow(&flow, two, two, 0, 1, &err), ATTEST_BAD_INPUT);
}
END_TEST

/* ---- the truncated exponential -------------------------------------------------------------- */
START_TEST(roots_reach_and_orders)
{
    static const struct {
        int p;
        const char *center;
        double tolerance, range;
    } reaches[] = {
        { 1, "mid", 0x1p-8, .171 },  { 1, "min", 0x1p-8, .091 },  { 1, "max", 0x1p-8, .086 },
        { 2, "mid", 0x1p-8, .452 },  { 2, "min", 0x1p-8, .309 },  { 2, "max", 0x1p-8, .268 },
        { 4, "mid", 0x1p-11, .971 }, { 4, "max", 0x1p-11, .520 }, { 8, "mid", 0x1p-8, 3.70 },
        { 8, "min", 0x1p-8, 3.01 },  { 8, "max", 0x1p-8, 1.86 },  { 3, "min", 0x1p-11, .353 },
    };
    attest_span x, half;
    int64_t p;
    for (size_t i = 0; i < sizeof reaches / sizeof reaches[0]; i++) {
        MUST(attest_evidence_reach(&x, reaches[i].p, reaches[i].center, reaches[i].tolerance, &err));
        ck_assert_msg(fabs(x.lo - reaches[i].range) < 0.006 && x.lo < x.hi, "p=%d %s: %g", reaches[i].p,
                      reaches[i].center, x.lo);
    }
    MUST(attest_evidence_reach(&x, 6, "mid", 0x1p-8, &err));
    MUST(attest_evidence_reach(&half, 6, "zero", 0x1p-8, &err));
    ck_assert(fabs(x.lo / 2 - half.lo) < 1e-7); /* mid: x in [-R/2,R/2]; zero: [-S,S] */
    ck_assert_int_eq(attest_evidence_reach(&x, 6, "left", 0x1p-8, &err), ATTEST_BAD_INPUT);
    MUST(attest_evidence_order(&p, 8, "mid", 0x1p-11, &err));
    ck_assert_int_eq(p, 17);
    MUST(attest_evidence_order(&p, 8, "max", 0x1p-11, &err));
    ck_assert_int_eq(p, 32);
    ck_assert_int_eq(attest_evidence_order(&p, 1e6, "mid", 0x1p-24, &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(p, -1);
    ck_assert_int_eq(attest_evidence_reach(&x, -1, "mid", 0x1p-8, &err), ATTEST_BAD_INPUT);
    MUST(attest_evidence_root(&x, 3, &err));
    ck_assert(fabs(x.lo + 1.59607163798) < 1e-10 && x.lo <= x.hi && x.hi - x.lo < 1e-14);
    ck_assert_int_eq(attest_evidence_root(&x, 4, &err), ATTEST_BAD_INPUT);
}
END_TEST

START_TEST(error_identities)
{
    claim_case t = { 0 }, s = { 0 };
    attest_match match[4] = { { 0 } };
    MUST(claim_case_open(&t, &err, "variant=taylor:3 center=min n=4 d=3 e=2"));
    MUST(claim_case_open(&s, &err, "variant=softmax n=4 d=3 e=2"));
    MUST(attest_evidence_identities(match, t.truth, s.truth, 3, (attest_row){ 0, 0, 2 }, &err));
    for (int i = 0; i < 4; i++)
        ck_assert_msg(match[i].different == 0 && match[i].distance < 0x1p-180, "I%d", i + 1);
    ck_assert(match[0].compared == 4 && match[1].compared == 2 && match[2].compared == 3 && match[3].compared == 1);
    memset(match, 0, sizeof match);
    MUST(attest_evidence_identities(match, t.truth, s.truth, 2, (attest_row){ 0, 0, 2 },
                                    &err)); /* the tail of another order */
    for (int i = 0; i < 4; i++)
        ck_assert_msg(match[i].different == match[i].compared, "I%d is not seen to fail", i + 1);
    claim_case_close(&t);
    claim_case_close(&s);
}
END_TEST

/* ---- rules ------------------------------------------------------------------------------------------------------- */
/* The rule on a case whose every number is known: two tokens, d = e = 1. */
static attest_match rule(const char *name, int64_t number, const attest_rule_extra *extra, const char *line,
                         const double *tensors[], const attest_role *roles, int count)
{
    claim_case x = { 0 };
    attest_match match = { 0 };
    MUST(claim_case_parse(&x, &err, "%s", line));
    for (int t = 0; t < count; t++)
        MUST(claim_case_put(&x, roles[t], tensors[t], &err));
    MUST(claim_case_ready(&x, &err));
    MUST(attest_evidence_rule(&match, name, number, extra, x.truth, &err));
    claim_case_close(&x);
    return match;
}

START_TEST(rules_by_hand)
{
    static const double q[2] = { 2, 3 }, k[2] = { 5, 7 }, v[2] = { 1, -1 }, gate[2] = { 0.5, 0.25 }, one[2] = { 1, 1 },
                        gamma[1] = { 0.5 };
    static const attest_rule_extra skip = { one, 1 };
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V, ATTEST_GIN, ATTEST_GOUT };
    const double *tensors[] = { q, k, v, gate, one };
    /* linear: o = 2*5, 3*(5-7); the decay of 1/2: o_2 = 3*(2.5-7) */
    attest_match match = rule("linear", 0, NULL, "variant=linear mask=causal n=2 d=1 scale=1", tensors, roles, 3);
    ck_assert(match.compared == 2 && match.different == 0 && match.rational == 2);
    match = rule("value-gate", 0, NULL, "variant=linear mask=causal n=2 d=1 scale=1", tensors, roles, 3);
    ck_assert(match.different == 0); /* no decay: the same */
    match = rule("gates-text", 1, NULL, "variant=linear gates=inout mask=causal n=2 d=1 scale=1", tensors, roles, 5);
    /* w = T_1 = 1+s instead of s: 2.75*... differs from s in both rows by sum gin v */
    ck_assert(match.different == 2 && match.apart == 0.5);
    match = rule("gates-printed", 0, NULL, "variant=linear weight=power:0 gates=inout mask=causal n=2 d=1 scale=1",
                 tensors, roles, 5);
    /* w = 1: gin_t sum gout_s v_s = 1/2, 0 against gout_t sum gin_s v_s = 1/2, 1/4 */
    ck_assert(match.compared == 2 && match.different == 1 && match.apart == 0.25);
    match = rule("ssd", 0, &skip, "variant=linear gates=in mask=causal n=2 d=1 scale=1", tensors, roles, 4);
    ck_assert(match.different == 2 && match.apart == 1); /* D x = v: 1 and -1 */
    const double *with_gamma[] = { q, k, v, gamma };
    static const attest_role retnet[] = { ATTEST_Q, ATTEST_K, ATTEST_V, ATTEST_GAMMA };
    match = rule("linear", 0, NULL, "variant=retnet n=2 d=1 scale=1", with_gamma, retnet, 4);
    ck_assert(match.different == 1 && match.apart == 3 * 2.5);
    match = rule("retention-chunk", 1, NULL, "variant=retnet n=2 d=1 scale=1", with_gamma, retnet, 4);
    ck_assert(match.different == 0);
    claim_case x = { 0 };
    MUST(claim_case_open(&x, &err, "variant=linear n=2 d=1"));
    ck_assert_int_eq(attest_evidence_rule(&match, "nosuch", 0, NULL, x.truth, &err), ATTEST_BAD_INPUT);
    claim_case_close(&x);
    MUST(claim_case_open(&x, &err, "variant=linear-cos n=2 d=2")); /* irrational features */
    ck_assert_int_eq(attest_evidence_rule(&match, "linear", 0, NULL, x.truth, &err), ATTEST_UNSUPPORTED);
    claim_case_close(&x);
}
END_TEST

/* What a rule cannot take is refused before it runs. */
START_TEST(rules_refuse)
{
    static const double numbers[3] = { 1, 2, NAN };
    static const attest_rule_extra none = { numbers, 0 }, one = { numbers, 1 }, two = { numbers, 2 },
                                   nan = { numbers + 1, 2 };
    static const char line[] = "variant=gla n=3 d=2 e=2", narrow[] = "variant=gla n=3 d=2 e=1",
                      long_q[] = "variant=linear n=4 m=2 d=2 e=2", long_k[] = "variant=linear n=2 m=4 d=2 e=2";
    static const struct {
        const char *rule, *line;
        int64_t number;
        const attest_rule_extra *extra;
        attest_status status;
    } cases[] = {
        { "linear", long_q, 0, NULL, ATTEST_BAD_INPUT },
        { "linear", long_k, 0, NULL, ATTEST_BAD_INPUT },
        { "gates-printed", long_q, 1, NULL, ATTEST_BAD_INPUT },
        { "retention-parallel", long_q, 0, NULL, ATTEST_BAD_INPUT },
        { "values-first", long_q, 0, NULL, ATTEST_OK },
        { "kronecker", long_k, 1, NULL, ATTEST_OK },
        { "value-gate", narrow, 0, NULL, ATTEST_BAD_INPUT },
        { "value-gate", line, 0, NULL, ATTEST_OK },
        { "retention-chunk", line, 0, NULL, ATTEST_BAD_INPUT },
        { "kronecker", line, -1, NULL, ATTEST_BAD_INPUT },
        { "kronecker", line, 21, NULL, ATTEST_BAD_INPUT },
        { "taylor-sum", line, 1001, NULL, ATTEST_BAD_INPUT },
        { "rwkv7", line, 0, NULL, ATTEST_BAD_INPUT },
        { "rwkv7", line, 0, &one, ATTEST_BAD_INPUT },
        { "rwkv7", line, 0, &two, ATTEST_OK },
        { "rwkv7", line, 0, &nan, ATTEST_BAD_INPUT },
        { "rwkv-bonus", line, 0, NULL, ATTEST_BAD_INPUT },
        { "rwkv-bonus", line, 2, &none, ATTEST_BAD_INPUT },
        { "rwkv-bonus", line, 0, &two, ATTEST_OK },
        { "rwkv-bonus", line, 1, NULL, ATTEST_OK },
        { "ssd", line, 0, NULL, ATTEST_BAD_INPUT },
        { "ssd", line, 0, &two, ATTEST_BAD_INPUT },
        { "gated", line, 0, &one, ATTEST_BAD_INPUT },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        claim_case x = { 0 };
        attest_match match = { 0 };
        MUST(claim_case_open(&x, &err, "%s", cases[c].line));
        const attest_status status = attest_evidence_rule(&match, cases[c].rule, cases[c].number, cases[c].extra,
                                                          x.truth, &err);
        ck_assert_msg(status == cases[c].status, "case %zu, %s: %d", c, cases[c].rule, (int)status);
        ck_assert((match.compared > 0) == (status == ATTEST_OK));
        claim_case_close(&x);
    }
}
END_TEST

/* A decay of 0 forgets the state; a bonus is told, or would be 1/0; 22! is no unsigned long. */
START_TEST(rules_at_their_edges)
{
    static const double q[3] = { 1, 2, 3 }, k[3] = { 1, 1, 2 }, v[3] = { 1, 3, 5 }, a[3] = { 0.5, 0, 0.5 },
                        half[1] = { 0.5 }, bad[3] = { 1, NAN, 1 };
    static const attest_rule_extra bonus = { half, 1 };
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V, ATTEST_DECAY };
    const double *tensors[] = { q, k, v, a };
    claim_case x = { 0 };
    attest_match match;
    /* truth: 1, 6, 3(3/2 + 10) = 34.5; the rule: 0.5(0 + 0.5), 0 (r = a q = 0), 1.5(3 + 0.5*10): 0.25, 0, 12 */
    match = rule("rwkv-bonus", 0, &bonus, "variant=gla n=3 d=1 e=1 scale=1", tensors, roles, 4);
    ck_assert(match.compared == 3 && match.different == 3 && match.apart == 34.5 - 12);
    MUST(claim_case_parse(&x, &err, "variant=gla n=3 d=1 e=1 scale=1"));
    for (int t = 0; t < 4; t++)
        MUST(claim_case_put(&x, roles[t], tensors[t], &err));
    MUST(claim_case_ready(&x, &err));
    ck_assert_int_eq(attest_evidence_rule(&match, "rwkv-bonus", 1, NULL, x.truth, &err), ATTEST_BAD_INPUT);
    claim_case_close(&x);
    for (int t = 0; t < 3; t++) { /* a tensor that is not finite */
        MUST(claim_case_parse(&x, &err, "variant=linear mask=causal n=3 d=1 e=1 scale=1"));
        attest_tensor *tensor = NULL;
        const attest_tensor_id id = { ATTEST_KIND_ROLE, roles[t] };
        MUST(attest_bundle_add(x.bundle, &x.c.problem, id, 0, &tensor, &err));
        for (int64_t at = 0; at < 3; at++)
            attest_store_bits(tensor, at, attest_from_f64(tensor->dtype, bad[at]));
        MUST(claim_case_ready(&x, &err));
        ck_assert_int_eq(attest_evidence_rule(&match, "linear", 0, NULL, x.truth, &err), ATTEST_BAD_INPUT);
        claim_case_close(&x);
    }
    MUST(claim_case_open(&x, &err, "variant=taylor:24 n=2 d=1 e=1 mask=causal"));
    match = (attest_match){ 0 };
    MUST(attest_evidence_rule(&match, "taylor-states", 24, NULL, x.truth, &err));
    ck_assert(match.compared == 2 && match.different == 0 && match.rational == 2);
    claim_case_close(&x);
}
END_TEST

/* Counts by hand: N=3 queries, M=2 keys, d=2, e=1. */
START_TEST(work_by_hand)
{
    claim_case x = { 0 };
    attest_work w;
    attest_match match = { 0 };
    MUST(claim_case_open(&x, &err, "variant=linear norm=sum n=3 m=2 d=2 e=1"));
    MUST(attest_evidence_work(&w, &match, "pairs", x.truth, &err)); /* 6 scores of 2, 6 by 1 value */
    ck_assert(w.products == 18 && w.of_denominators == 0 && w.additions == 6 && w.divisions == 3 && w.held == 6);
    MUST(attest_evidence_work(&w, &match, "state", x.truth, &err)); /* writes 2*2, reads 3*2 */
    ck_assert(w.products == 10 && w.of_denominators == 6 && w.additions == 4 && w.divisions == 3 && w.held == 4);
    ck_assert(match.compared == 6 && match.different == 0 && match.rational == 6);
    ck_assert_int_eq(attest_evidence_work(&w, &match, "streaming", x.truth, &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_evidence_work(&w, &match, "nosuch", x.truth, &err), ATTEST_BAD_INPUT);
    claim_case_close(&x);
    match = (attest_match){ 0 };
    MUST(claim_case_open(&x, &err, "variant=softmax n=3 d=2 e=1 mask=causal"));
    MUST(attest_evidence_work(&w, &match, "streaming", x.truth, &err)); /* 6 visible pairs */
    ck_assert(w.products == 18 && w.additions == 6 && w.divisions == 3 && w.held == 3);
    ck_assert(match.compared == 3 && match.different == 0 && match.distance < 0x1p-200);
    claim_case_close(&x);
}
END_TEST

START_TEST(domains)
{
    static const double two[2] = { 0, NAN };
    claim_case x = { 0 }, y = { 0 };
    attest_span value[4], other;
    attest_match match[4] = { { 0 } };
    attest_gate_facts facts;
    int64_t kept, p;
    MUST(claim_case_open(&x, &err, "variant=softmax n=2 d=2 e=2"));
    MUST(claim_case_open(&y, &err, "variant=softmax n=2 m=3 d=2 e=1"));
    ck_assert_int_eq(attest_evidence_row(value, x.truth, ATTEST_Q, (attest_row){ 0, 0, 0 }, &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_evidence_cosine(value, x.truth, y.truth, (attest_row){ 0, 0, 0 }, &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_evidence_distance(value, x.truth, y.truth, (attest_row){ 0, 0, 0 }, &err),
                     ATTEST_BAD_INPUT);
    for (int t = 0; t < 3; t++)
        ck_assert_int_eq(attest_evidence_filter(&kept, value, &other, x.truth, (const double[]){ 0, -1, NAN }[t],
                                                (attest_row){ 0, 0, 0 }, &err),
                         ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_evidence_identities(match, x.truth, y.truth, 1, (attest_row){ 0, 0, 0 }, &err),
                     ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_evidence_identities(match, x.truth, x.truth, -1, (attest_row){ 0, 0, 0 }, &err),
                     ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_evidence_reach(value, 2, "mid", 0, &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_evidence_order(&p, NAN, "mid", 0x1p-8, &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_evidence_gate(&facts, two, 2, 1, &err), ATTEST_BAD_INPUT);
    ck_assert(isnan(facts.entropy.lo));
    ck_assert_int_eq(attest_evidence_flow(value, two, two, 2, 1, &err), ATTEST_BAD_INPUT);
    claim_case_close(&x);
    claim_case_close(&y);
    /* max - tau = 1 - 1 and a score of 0, both known as balls around 0 only */
    MUST(claim_case_parse(&x, &err, "variant=softmax feature=unit n=1 m=2 d=2 scale=1"));
    MUST(claim_case_put(&x, ATTEST_Q, (const double[]){ 1, 2 }, &err));
    MUST(claim_case_put(&x, ATTEST_K, (const double[]){ 1, 2, -2, 1 }, &err));
    MUST(claim_case_ready(&x, &err));
    ck_assert_int_eq(attest_evidence_filter(&kept, value, &other, x.truth, 1, (attest_row){ 0, 0, 0 }, &err),
                     ATTEST_INTERNAL);
    claim_case_close(&x);
    MUST(claim_case_scores(&x, (const double[]){ 0, -2 }, 2, 0, &err, "shifted:1")); /* z = 0: o is no value */
    MUST(attest_evidence_cosine(value, x.truth, x.truth, (attest_row){ 0, 0, 0 }, &err));
    ck_assert(isnan(value[0].lo) && isnan(value[0].hi));
    claim_case_close(&x);
    MUST(claim_case_open(&x, &err, "variant=deltanet n=2 d=2 e=2"));
    MUST(attest_evidence_row(value, x.truth, ATTEST_Z, (attest_row){ 0, 0, 0 }, &err)); /* the delta rule has none */
    ck_assert(isnan(value[0].lo) && isnan(value[0].hi));
    claim_case_close(&x);
}
END_TEST

Suite *suite_evidence(void)
{
    Suite *suite = suite_create("evidence");
    TCase *t = tcase_create("evidence");
    tcase_add_checked_fixture(t, NULL, attest_reference_thread_end);
    tcase_add_test(t, formulas);
    tcase_add_test(t, rows_and_weights);
    tcase_add_test(t, equality_of_rows);
    tcase_add_test(t, distances);
    tcase_add_test(t, moments_and_filter);
    tcase_add_test(t, gates_over_a_list);
    tcase_add_test(t, roots_reach_and_orders);
    tcase_add_test(t, error_identities);
    tcase_add_test(t, rules_by_hand);
    tcase_add_test(t, rules_refuse);
    tcase_add_test(t, work_by_hand);
    tcase_add_test(t, domains);
    tcase_add_test(t, rules_at_their_edges);
    suite_add_tcase(suite, t);
    return suite;
}
