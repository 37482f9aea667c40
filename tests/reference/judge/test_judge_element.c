/* test_judge_element.c - one element against a truth that is known to a radius: every end is on its outer side. */
#include "tests/reference/ball/ball_case.h"

#include <math.h>

#include "reference/judge/judge.h"

Suite *suite_judge_element(void);

typedef struct element_case {
    const char *what;
    double mid, radius, bound, got;
    uint32_t dtype, class;
    double error_lo, error_hi, signed_lo, signed_hi;
    uint32_t decided;
} element_case;

#define INF (double)INFINITY

static const element_case cases[] = {
    { "above", 1, 0x1p-20, 0x1p-9, 1 + 0x1p-10, ATTEST_F32, ATTEST_CLASS_NORMAL, 0x1p-10 - 0x1p-20, 0x1p-10 + 0x1p-20,
      0x1p-10 - 0x1p-20, 0x1p-10 + 0x1p-20, 1 },
    { "below", 1, 0x1p-20, 0x1p-9, 1 - 0x1p-10, ATTEST_F32, ATTEST_CLASS_NORMAL, 0x1p-10 - 0x1p-20, 0x1p-10 + 0x1p-20,
      -0x1p-10 - 0x1p-20, -0x1p-10 + 0x1p-20, 1 },
    { "inside", 1, 0x1p-20, 0x1p-9, 1, ATTEST_F32, ATTEST_CLASS_NORMAL, 0, 0x1p-20, -0x1p-20, 0x1p-20, 1 },
    { "across the bound", 1, 0x1p-21, 0x1p-10, 1 + 0x1p-10, ATTEST_F32, ATTEST_CLASS_NORMAL, 0x1p-10 - 0x1p-21,
      0x1p-10 + 0x1p-21, 0x1p-10 - 0x1p-21, 0x1p-10 + 0x1p-21, 0 },
    { "surely outside", 1, 0x1p-21, 0x1p-10, 1 + 0x1p-9, ATTEST_F32, ATTEST_CLASS_NORMAL, 0x1p-9 - 0x1p-21,
      0x1p-9 + 0x1p-21, 0x1p-9 - 0x1p-21, 0x1p-9 + 0x1p-21, 1 },
    { "a radius that is too large to tell", 1, 0x1p-15, 0x1p-10, 1, ATTEST_F32, ATTEST_CLASS_NORMAL, 0, 0x1p-15,
      -0x1p-15, 0x1p-15, 0 },
    { "an infinity that came too early", 40000, 0, 11, INF, ATTEST_F16, ATTEST_CLASS_PREMATURE_OVERFLOW, 25536, 25536,
      25536, 25536, 1 },
    { "a negative one", -65519, 0, 1, -INF, ATTEST_F16, ATTEST_CLASS_PREMATURE_OVERFLOW, 17, 17, -17, -17, 1 },
    { "the right infinity", 65520, 0, 1, INF, ATTEST_F16, ATTEST_CLASS_NORMAL, 0, 0, 0, 0, 1 },
    { "the other infinity", 65520, 0, 1, -INF, ATTEST_F16, ATTEST_CLASS_NORMAL, INF, INF, -131056, -131056, 1 },
    { "an infinity on the threshold", 65520, 1, 0x1p11, INF, ATTEST_F16, ATTEST_CLASS_NORMAL, 0, 17, 15, 17, 1 },
    { "nothing lost, nothing allowed", 3, 0, 0, 3, ATTEST_F32, ATTEST_CLASS_NORMAL, 0, 0, 0, 0, 1 },
};

START_TEST(ends_are_outward)
{
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const element_case *c = &cases[k];
        attest_element y;
        ref_bound bound;
        arb_t truth;
        mag_t abs_scale;
        arb_init(truth);
        mag_init(abs_scale);
        ref_bound_init(&bound);
        arb_set_d(truth, c->mid);
        mag_set_d(arb_radref(truth), c->radius);
        mag_set_d(bound.total, c->bound);
        mag_set_d(bound.term[ATTEST_TERM_CAST], c->bound / 2);
        mag_set_ui(abs_scale, 5);
        judge_element(&y, truth, &bound, abs_scale, attest_from_f64(c->dtype, c->got), c->dtype, 0);
        ck_assert_msg(y.class == c->class && y.decided == c->decided, "%s: class %u, decided %u", c->what, y.class,
                      y.decided);
        const double slack = 1 + 1e-8; /* mag_t has 30 bits */
        ck_assert_msg(y.error_lo <= c->error_lo && y.error_lo * slack >= c->error_lo && y.error_hi >= c->error_hi &&
                          y.error_hi <= c->error_hi * slack,
                      "%s: error [%.12g, %.12g]", c->what, y.error_lo, y.error_hi);
        ck_assert_msg(y.signed_lo <= c->signed_lo && y.signed_hi >= c->signed_hi &&
                          fabs(y.signed_lo - c->signed_lo) <= 1e-8 * fabs(c->signed_lo) &&
                          fabs(y.signed_hi - c->signed_hi) <= 1e-8 * fabs(c->signed_hi),
                      "%s: signed [%.12g, %.12g]", c->what, y.signed_lo, y.signed_hi);
        if (isfinite(c->error_hi) && c->bound > 0)
            ck_assert_msg(y.ratio_lo <= c->error_lo / y.bound && y.ratio_hi >= c->error_hi / y.bound &&
                              y.ratio_lo * slack >= c->error_lo / y.bound &&
                              y.ratio_hi <= c->error_hi / y.bound * slack,
                          "%s: ratio [%.12g, %.12g]", c->what, y.ratio_lo, y.ratio_hi);
        else
            ck_assert_msg(y.ratio_hi == (c->bound > 0 ? INF : 0), "%s: ratio up to %g", c->what, y.ratio_hi);
        if (k == 6) /* 25536/11 is no double: the ends differ */
            ck_assert_msg(y.ratio_lo < y.ratio_hi, "%s: ratio [%a, %a]", c->what, y.ratio_lo, y.ratio_hi);
        ck_assert(y.abs_scale == 5 && y.bound >= c->bound && y.term[ATTEST_TERM_CAST] >= c->bound / 2);
        ck_assert(y.truth_lo <= c->mid - c->radius && y.truth_hi >= c->mid + c->radius);
        ref_bound_clear(&bound);
        mag_clear(abs_scale);
        arb_clear(truth);
    }
}
END_TEST

START_TEST(no_bound_no_ratio)
{
    attest_element y;
    ref_bound bound;
    arb_t truth;
    mag_t abs_scale;
    arb_init(truth);
    mag_init(abs_scale);
    ref_bound_init(&bound);
    bound.unbounded = 1;
    arb_one(truth);
    judge_element(&y, truth, &bound, abs_scale, attest_from_f64(ATTEST_F32, 2), ATTEST_F32, 0);
    ck_assert(y.class == ATTEST_CLASS_UNBOUNDED && isinf(y.bound) && y.decided && y.error_lo == 1 && y.ratio_hi == 0);
    judge_exactly(&y, 0, attest_from_f64(ATTEST_F32, NAN), ATTEST_F32, 0);
    ck_assert(y.class == ATTEST_CLASS_EMPTY && isinf(y.error_lo) && isinf(y.ratio_lo) && isinf(y.ulp_lo));
    judge_exactly(&y, 0, attest_from_f64(ATTEST_F32, NAN), ATTEST_F32, 1);
    ck_assert(y.class == ATTEST_CLASS_EMPTY && y.error_hi == 0 && y.ratio_hi == 0);
    judge_exactly(&y, 0, attest_from_f64(ATTEST_F32, -1), ATTEST_F32, 1);
    ck_assert(y.class == ATTEST_CLASS_EMPTY && isinf(y.ratio_lo) && y.error_lo == 1 && y.signed_hi == -1);
    judge_exactly(&y, -INF, attest_from_f64(ATTEST_F32, 1), ATTEST_F32, 0);
    ck_assert(isinf(y.error_lo) && isinf(y.ratio_lo) && y.signed_lo == INF && y.signed_hi == INF);
    judge_exactly(&y, -INF, attest_from_f64(ATTEST_F32, -INF), ATTEST_F32, 0);
    ck_assert(y.error_hi == 0 && y.ratio_hi == 0);
    judge_nan_pattern(&y, 1, attest_from_f64(ATTEST_F32, NAN), ATTEST_F32);
    ck_assert(y.class == ATTEST_CLASS_NO_TRUTH && y.ratio_lo == 0 && y.ratio_hi == 0);
    judge_nan_pattern(&y, 1, attest_from_f64(ATTEST_F32, 1), ATTEST_F32);
    ck_assert(y.class == ATTEST_CLASS_NO_TRUTH && isinf(y.ratio_lo) && isinf(y.ratio_hi));
    judge_nan_pattern(&y, 0, attest_from_f64(ATTEST_F32, 1), ATTEST_F32);
    ck_assert(isnan(y.ratio_lo) && isnan(y.ratio_hi));
    judge_without_truth(&y, ATTEST_CLASS_ABSENT, 7);
    ck_assert(y.class == ATTEST_CLASS_ABSENT && y.got == 7 && y.decided && isnan(y.truth_lo) && isnan(y.truth_hi));
    ref_bound_clear(&bound);
    mag_clear(abs_scale);
    arb_clear(truth);
}
END_TEST

/* A NaN in channel 1 of key 1 reaches rows 1 and 2, one in channel 1 of value 0 channel 1 of every row. */
START_TEST(where_a_nan_must_stand)
{
    ball_case x;
    ball_case_start(&x, "n=3 d=2 e=2 mask=causal", 0);
    ball_case_put(&x, ATTEST_K, 0, 0, 1, 1, NAN);
    ball_case_put(&x, ATTEST_V, 0, 0, 0, 1, NAN);
    for (int64_t i = 0; i < 3; i++)
        for (int64_t c = 0; c < 2; c++) {
            ck_assert_int_eq(judge_must_be_nan(&x.in, ROLE(ATTEST_O), (attest_row){ 0, 0, i }, c), i >= 1 || c == 1);
            ck_assert_int_eq(judge_must_be_nan(&x.in, ROLE(ATTEST_Z), (attest_row){ 0, 0, i }, 0), i >= 1);
        }
    ball_case_stop(&x);
}
END_TEST

Suite *suite_judge_element(void)
{
    Suite *s = suite_create("judge_element");
    TCase *t = tcase_create("judge_element");
    tcase_add_test(t, ends_are_outward);
    tcase_add_test(t, no_bound_no_ratio);
    tcase_add_test(t, where_a_nan_must_stand);
    suite_add_tcase(s, t);
    return s;
}
