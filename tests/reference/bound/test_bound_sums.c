/* test_bound_sums.c - sums over keys that stay upper bounds (R-DSUM), against rationals. */
#include "tests/reference/ball/ball_case.h"

#include <math.h>

#include "reference/bound/bound.h"

Suite *suite_bound_sums(void);

enum { KEYS = 7 };

static const int64_t in_order[KEYS] = { 0, 1, 2, 3, 4, 5, 6 };

/* The bound is not below the sum, nor 2^slack times as large. */
static void holds(const mag_t got, const mpq_t sum, int slack, int kind)
{
    fmpq_t exact;
    arb_t bound, want;
    fmpq_init(exact);
    arb_init(bound);
    arb_init(want);
    arf_set_mag(arb_midref(bound), got);
    fmpq_set_mpq(exact, sum);
    arb_set_fmpq(want, exact, 300);
    ck_assert_msg(!arb_lt(bound, want), "a sum of kind %d below its exact value", kind);
    arb_mul_2exp_si(want, want, slack);
    ck_assert_msg(arb_le(bound, want), "a sum of kind %d far above its exact value", kind);
    fmpq_clear(exact);
    arb_clear(bound);
    arb_clear(want);
}

/* Sums of coefficients 2^exponent[j] with v[j] (f64) against rationals. */
static void check_sums(const long *exponent, const double *v, double o, int slack)
{
    ball_case x;
    bound_sums sums;
    mag_t set[KEYS], got;
    mpq_t sum, term, at;
    arb_t center;
    mag_init(got);
    mpq_inits(sum, term, at, NULL);
    arb_init(center);
    ball_case_start(&x, "n=1 m=7 d=1 e=18 in=f64", 0);
    for (int j = 0; j < KEYS; j++) {
        mag_init(set[j]);
        mag_set_ui_2exp_si(set[j], 1, exponent[j]);
        ball_case_put(&x, ATTEST_V, 0, 0, j, 17, v[j]);
    }
    MUST(bound_sums_init(&sums, KEYS, &x.err), &x);
    mag_srcptr const sets[BOUND_SETS] = { NULL, set[0], NULL, NULL };
    bound_sums_fill(&sums, sets);
    for (int kind = 0; kind < 3; kind++) { /* the coefficients alone, with |v|, with |v - o| */
        arb_set_d(center, o);
        if (kind == 0)
            bound_sums_total(got, &sums, 1);
        if (kind == 1)
            bound_sums_values(&sums, x.in.role[ATTEST_V], 0, 0, in_order, 17);
        if (kind == 2)
            bound_sums_distances(&sums, x.in.role[ATTEST_V], 0, 0, in_order, 17, center);
        if (kind > 0)
            bound_sums_dot(got, &sums, 1);
        mpq_set_ui(sum, 0, 1);
        for (int j = 0; j < KEYS; j++) {
            mpq_set_d(term, kind == 0 ? 1 : v[j]);
            mpq_set_d(at, kind == 2 ? o : 0);
            mpq_sub(term, term, at);
            mpq_abs(term, term);
            if (exponent[j] < 0)
                mpq_div_2exp(term, term, (mp_bitcnt_t)-exponent[j]);
            else
                mpq_mul_2exp(term, term, (mp_bitcnt_t)exponent[j]);
            mpq_add(sum, sum, term);
        }
        holds(got, sum, slack, kind);
    }
    bound_sums_clear(&sums);
    ball_case_stop(&x);
    mpq_clears(sum, term, at, NULL);
    arb_clear(center);
    mag_clear(got);
}

START_TEST(sums_stay_above)
{
    static const long even[KEYS] = { 0, 0, 0, 0, 0, 0, 0 },
                      small[KEYS] = { -1160, -1154, -1155, -1153, -1154, -1154, -1156 };
    static const long large[KEYS] = { 1500, 1499, 1490, 1501, 1502, 1500, 1500 },
                      apart[KEYS] = { -1010, 0, -3, -5, -7, -9, 2 };
    static const double v[KEYS] = { 1, -2, 3.5, -0x1p-30, 0, 5, 7 };
    static const double far[KEYS] = { 0x1p1015, 0, 0, 0, 0, 0, 0 }; /* the smallest coefficient is what counts */
    check_sums(even, v, 1.25, 1);
    check_sums(small, v, -2, 1);
    check_sums(large, v, 3, 1);
    check_sums(apart, v, 0.5, 1);
    check_sums(apart, far, 0x1p-20, 14); /* below 2^-1000 of the largest: rounded up */
}
END_TEST

/* |v - o| for an o that is known to a radius only: the radius counts. */
START_TEST(radius_of_the_output)
{
    ball_case x;
    bound_sums sums;
    mag_t set, got;
    arb_t o;
    arb_init(o);
    mag_init(set);
    mag_init(got);
    mag_one(set);
    ball_case_start(&x, "n=1 m=1 d=1 e=1", 0);
    ball_case_put(&x, ATTEST_V, 0, 0, 0, 0, 1.5);
    MUST(bound_sums_init(&sums, 1, &x.err), &x);
    mag_srcptr const sets[BOUND_SETS] = { set, NULL, NULL, NULL };
    bound_sums_fill(&sums, sets);
    arb_set_d(o, 1.5);
    mag_set_ui_2exp_si(arb_radref(o), 3, -40);
    bound_sums_distances(&sums, x.in.role[ATTEST_V], 0, 0, in_order, 0, o);
    bound_sums_dot(got, &sums, 0);
    const double radius = mag_get_d(got);
    ck_assert_msg(radius >= 3 * 0x1p-40 && radius < 3.0001 * 0x1p-40, "%a", radius);
    bound_sums_clear(&sums);
    ball_case_stop(&x);
    mag_clear(set);
    mag_clear(got);
    arb_clear(o);
}
END_TEST

/* Values in each input format, decoded exactly. */
START_TEST(decoded_values)
{
    static const char *const formats[] = { "f32", "f64", "f16", "bf16" };
    static const double values[] = { 1, -3.5, 0x1p-14, 200 };
    for (int f = 0; f < 4; f++) {
        char line[64];
        ball_case x;
        bound_sums sums;
        snprintf(line, sizeof line, "n=1 m=4 d=1 e=1 in=%s", formats[f]);
        ball_case_start(&x, line, 0);
        for (int j = 0; j < 4; j++)
            ball_case_put(&x, ATTEST_V, 0, 0, j, 0, values[j]);
        MUST(bound_sums_init(&sums, 4, &x.err), &x);
        bound_sums_values(&sums, x.in.role[ATTEST_V], 0, 0, in_order, 0);
        for (int j = 0; j < 4; j++)
            ck_assert_msg(sums.value[j] == fabs(values[j]), "%s: %a", line, sums.value[j]);
        ck_assert(sums.top == 200);
        bound_sums_clear(&sums);
        ball_case_stop(&x);
    }
}
END_TEST

Suite *suite_bound_sums(void)
{
    Suite *s = suite_create("bound_sums");
    TCase *t = tcase_create("bound_sums");
    tcase_add_test(t, sums_stay_above);
    tcase_add_test(t, radius_of_the_output);
    tcase_add_test(t, decoded_values);
    suite_add_tcase(s, t);
    return s;
}
