/* test_yardstick.c - the yardsticks of reference/ compute what they are said to, with the calls that they are said to
 * make. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/yardstick/yardstick.h"
#include "tests/reference/ball/ball_case.h"

Suite *suite_yardstick(void);

#define COUNT(array) (sizeof array / sizeof array[0])

static const char *const served[] = {
    "n=7 d=5",
    "mask=causal n=9 d=4 e=6",
    "b=2 hq=4 hkv=2 mask=causal-br n=5 m=8 d=3",
    "mask=causal-br n=8 m=5 d=3 hq=2 hkv=1",
    "mask=causal window=3 n=9 d=4",
    "lens=draw b=3 n=6 m=7 d=4",
    "mask=causal n=9 d=4 in=bf16",
    "mask=causal n=6 d=4 in=f16 scale=0.3",
    "variant=taylor:4 mask=causal n=7 d=4",
    "variant=taylor:1 n=5 d=3 scale=1",
    "variant=taylor:0 mask=causal n=5 d=3",
    "variant=taylor:6 b=2 hq=4 hkv=2 mask=causal-br n=4 m=7 d=3 e=2",
};

/* Every o[] is the nearest double of the truth, or its neighbour; an error of 96-bit sums is far below. */
static void check_outputs(ball_case *x, const double *o, const char *who)
{
    const attest_problem *p = &x->c.problem;
    arb_t off;
    arb_init(off);
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++) {
        ball_case_row(x, row / p->n / p->hq, row / p->n % p->hq, row % p->n, 256);
        for (int64_t c = 0; c < p->e; c++) {
            const double got = o[row * p->e + c];
            if (x->row.illposed) {
                ck_assert_msg(!(got == got) || strcmp(who, "exact") != 0, "%s: %s: row %lld", x->line, who,
                              (long long)row);
                continue;
            }
            arb_set_d(off, got);
            arb_sub(off, off, x->row.o + c, 256);
            const double error = fmax(fabs(ref_lower(off)), fabs(ref_upper(off)));
            ck_assert_msg(error <= 0x1p-52 * fabs(got) + 0x1p-80, "%s: %s: o[%lld,%lld] = %a is off by %g", x->line,
                          who, (long long)row, (long long)c, got, error);
        }
    }
    arb_clear(off);
}

static double *outputs_new(const attest_problem *p)
{
    const int64_t count = p->b * p->hq * p->n * p->e;
    double *o = malloc((size_t)count * sizeof *o);
    for (int64_t at = 0; at < count; at++)
        o[at] = NAN;
    return o;
}

START_TEST(yardsticks_compute_the_formula)
{
    for (size_t l = 0; l < COUNT(served); l++) {
        ball_case x;
        char why[256];
        ball_case_start(&x, served[l], 1);
        const attest_problem *p = &x.c.problem;
        double *o = outputs_new(p);
        ck_assert_msg(attest_yard_serves(p, why, sizeof why), "%s", served[l]);
        MUST(attest_yard_mpfr(o, p, x.bundle, 128, ATTEST_YARD_MUL_ADD, NULL, &x.err), &x);
        check_outputs(&x, o, "mpfr, mul and add");
        MUST(attest_yard_mpfr(o, p, x.bundle, 128, ATTEST_YARD_FUSED, NULL, &x.err), &x);
        check_outputs(&x, o, "mpfr, fma");
        MUST(attest_yard_arb(o, p, x.bundle, 128, &x.err), &x);
        check_outputs(&x, o, "arb");
        const int polynomial = p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_TAYLOR;
        ck_assert_msg(attest_yard_exact_serves(p, x.bundle) == polynomial, "%s", served[l]);
        if (polynomial) {
            MUST(attest_yard_exact(o, p, x.bundle, &x.err), &x);
            check_outputs(&x, o, "exact");
        }
        free(o);
        ball_case_stop(&x);
    }
}
END_TEST

/* taylor:1 with q = -1, k = 1, scale 1: the only weight is 0. */
START_TEST(exact_says_nan_where_the_divisor_vanishes)
{
    ball_case x;
    double o = 0;
    ball_case_start(&x, "variant=taylor:1 n=1 d=1 scale=1", 0);
    ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, -1);
    ball_case_put(&x, ATTEST_K, 0, 0, 0, 0, 1);
    ball_case_put(&x, ATTEST_V, 0, 0, 0, 0, 1);
    MUST(attest_yard_exact(&o, &x.c.problem, x.bundle, &x.err), &x);
    ck_assert(o != o);
    ball_case_stop(&x);
}
END_TEST

/* Scores of +-6.9e8, either side of which e^s is inside MPFR's exponents; beyond 7e8 they are not promised. */
START_TEST(scores_stay_inside_the_exponents)
{
    static const double keys[] = { 26000, -26000, 27000 };
    char why[256] = "";
    for (int swap = 0; swap < 2; swap++) {
        ball_case x;
        double o[2];
        ball_case_start(&x, "n=2 m=2 d=1 e=1 scale=1", 1);
        for (int64_t i = 0; i < 2; i++) {
            ball_case_put(&x, ATTEST_Q, 0, 0, i, 0, i == swap ? 26500 : -26500);
            ball_case_put(&x, ATTEST_K, 0, 0, i, 0, keys[i]);
        }
        ck_assert_msg(attest_yard_in_range(&x.c.problem, x.bundle, why, sizeof why), "%s", why);
        MUST(attest_yard_mpfr(o, &x.c.problem, x.bundle, 128, ATTEST_YARD_FUSED, NULL, &x.err), &x);
        check_outputs(&x, o, "mpfr, far scores");
        MUST(attest_yard_arb(o, &x.c.problem, x.bundle, 96, &x.err), &x);
        check_outputs(&x, o, "arb, far scores");
        ball_case_put(&x, ATTEST_K, 0, 0, 1, 0, keys[2]);
        ck_assert(!attest_yard_in_range(&x.c.problem, x.bundle, why, sizeof why));
        ck_assert_msg(strstr(why, "pass 7e8") && strstr(why, "exponents of MPFR"), "%s", why);
        x.c.problem.axis[ATTEST_AXIS_WEIGHT].value = ATTEST_WEIGHT_TAYLOR;
        ck_assert(attest_yard_in_range(&x.c.problem, x.bundle, why, sizeof why));
        x.c.problem.axis[ATTEST_AXIS_WEIGHT].value = ATTEST_WEIGHT_EXP;
        ball_case_put(&x, ATTEST_K, 0, 0, 1, 0, INFINITY);
        ck_assert(attest_yard_in_range(&x.c.problem, x.bundle, why, sizeof why));
        ball_case_stop(&x);
    }
}
END_TEST

START_TEST(yardsticks_refuse_the_rest)
{
    static const char *const lines[] = { "variant=softmax1 n=3 d=2", "variant=linear n=3 d=2", "cap=5 n=3 d=2",
                                         "variant=elu-taylor:2 n=3 d=2", "variant=taylor:2 center=max n=3 d=2" };
    static const char *const names[] = { "norm=", "weight=", "cap=5: ", "feature=", "center=max: " };
    for (size_t l = 0; l < COUNT(lines); l++) {
        ball_case x;
        char why[256] = "";
        double o[8];
        ball_case_start(&x, lines[l], 1);
        ck_assert_int_eq(attest_yard_serves(&x.c.problem, why, sizeof why), 0);
        ck_assert_msg(strncmp(why, names[l], strlen(names[l])) == 0, "%s: %s", lines[l], why);
        ck_assert_int_eq(attest_yard_mpfr(o, &x.c.problem, x.bundle, 128, ATTEST_YARD_FUSED, NULL, &x.err),
                         ATTEST_UNSUPPORTED);
        ck_assert_int_eq(attest_yard_arb(o, &x.c.problem, x.bundle, 96, &x.err), ATTEST_UNSUPPORTED);
        ball_case_stop(&x);
    }
}
END_TEST

/* Calls by the formula of yardstick.h, summed over rows with L visible keys. */
static void expected_calls(int64_t calls[ATTEST_YARD_CALLS], const ball_case *x, int fused)
{
    const attest_problem *p = &x->c.problem;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const int64_t order = weight->value == ATTEST_WEIGHT_TAYLOR ? (int64_t)weight->order : 0, d = p->d, e = p->e;
    memset(calls, 0, ATTEST_YARD_CALLS * sizeof *calls);
    for (int64_t row = 0; row < p->b * p->hq * p->n; row++) {
        int64_t first, last;
        ref_visible(&x->in, row / p->n / p->hq, row % p->n, &first, &last);
        const int64_t l = last > first ? last - first : 0;
        if (l == 0)
            continue;
        calls[ATTEST_YARD_MUL] += fused ? l + l + e : (d + e + 1) * l + order * l;
        calls[ATTEST_YARD_ADD] += fused ? l - 1 : (d - 1) * l + l - 1 + e * (l - 1) + order * l;
        calls[ATTEST_YARD_FMA] += fused ? (d - 1) * l + e * (l - 1) + order * l : 0;
        calls[ATTEST_YARD_EXP] += weight->value == ATTEST_WEIGHT_EXP ? l : 0;
        calls[ATTEST_YARD_DIV] += e;
    }
}

START_TEST(mpfr_makes_the_calls_it_states)
{
    for (size_t n = 0; n < 2 * COUNT(served); n++) {
        ball_case x;
        int64_t calls[ATTEST_YARD_CALLS], expected[ATTEST_YARD_CALLS];
        const int fused = n % 2;
        ball_case_start(&x, served[n / 2], 1);
        double *o = outputs_new(&x.c.problem);
        MUST(attest_yard_mpfr(o, &x.c.problem, x.bundle, 128, fused ? ATTEST_YARD_FUSED : ATTEST_YARD_MUL_ADD, calls,
                              &x.err),
             &x);
        expected_calls(expected, &x, fused);
        for (int c = 0; c < ATTEST_YARD_CALLS; c++)
            ck_assert_msg(calls[c] == expected[c], "%s: fused %d: %lld %s, expected %lld", x.line, fused,
                          (long long)calls[c], attest_yard_call_name(c), (long long)expected[c]);
        free(o);
        ball_case_stop(&x);
    }
    ck_assert_str_eq(attest_yard_call_name(ATTEST_YARD_FMA), "mpfr_fma");
    ck_assert_ptr_null(attest_yard_call_name(ATTEST_YARD_CALLS));
}
END_TEST

START_TEST(a_call_costs_something)
{
    ball_case x;
    double cost[ATTEST_YARD_CALLS];
    ball_case_start(&x, "mask=causal-br n=9 m=5 d=3 e=2", 1);
    MUST(attest_yard_mpfr_costs(cost, &x.c.problem, x.bundle, 128, &x.err), &x);
    for (int c = 0; c < ATTEST_YARD_CALLS; c++)
        ck_assert_msg(cost[c] > 1e-10 && cost[c] < 1e-3, "%s: %g s", attest_yard_call_name(c), cost[c]);
    ball_case_stop(&x);
}
END_TEST

Suite *suite_yardstick(void)
{
    Suite *suite = suite_create("yardstick");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 30);
    tcase_add_test(all, yardsticks_compute_the_formula);
    tcase_add_test(all, exact_says_nan_where_the_divisor_vanishes);
    tcase_add_test(all, scores_stay_inside_the_exponents);
    tcase_add_test(all, yardsticks_refuse_the_rest);
    tcase_add_test(all, mpfr_makes_the_calls_it_states);
    tcase_add_test(all, a_call_costs_something);
    suite_add_tcase(suite, all);
    return suite;
}
