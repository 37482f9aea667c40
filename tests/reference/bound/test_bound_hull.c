/* test_bound_hull.c - R-HULL: queries that a kernel flushes, keys that make scores of them: what a mean of the values
 * can be is inside the bound, what it cannot be is not. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/attest_float.h"
#include "kernels/tensor/tensor.h"
#include "props/draw/draw.h"
#include "reference/reference.h"

Suite *suite_bound_hull(void);

enum { KEYS = 4, DIM = 4 };

static const double value[KEYS] = { 5, 7, 6, 5.5 };
static const attest_numerics known = { .struct_size = sizeof(attest_numerics),
                                       .schedule = ATTEST_SCHEDULE_ONLINE,
                                       .tile = 2,
                                       .exp_error = 0x1p-23,
                                       .div_error = 0x1p-24,
                                       .log2_domain = ATTEST_NO,
                                       .p_rounding = ATTEST_ROUNDING_NEAREST,
                                       .acc_truncates = ATTEST_NO,
                                       .division = ATTEST_DIVISION_AFTER_SUM,
                                       .scale_dtype = 1 + ATTEST_F32 };

static void must(attest_status status, const attest_error *err) { ck_assert_msg(status == ATTEST_OK, "%s", err->text); }

static void put(attest_bundle *inputs, attest_role role, int64_t at, double x)
{
    attest_tensor *t = attest_bundle_role(inputs, role);
    attest_store_bits(t, at, attest_from_f64(t->dtype, x));
}

/* Element 0 of an output that holds `got`: all of q is 1.5 2^-127, which counts as 0 under ATTEST_FTZ; scores are 0,
 * 1.5, -1.5, 0.75. */
static attest_element judge(const char *line, const attest_numerics *n, uint32_t flags, uint32_t index, double got)
{
    static const double score[KEYS] = { 0, 1, -1, 0.5 };
    attest_error err = { 0 };
    attest_case x;
    attest_bundle *inputs = NULL, *outputs = NULL;
    attest_truth *truth = NULL;
    attest_tensor *o;
    attest_element element;
    must(attest_case_parse(&x, line, NULL, NULL, &err), &err);
    must(attest_bundle_new(&inputs, &err), &err);
    must(attest_draw_missing(inputs, &x, 0, 0, &err), &err);
    for (int j = 0; j < KEYS; j++)
        put(inputs, ATTEST_V, j, value[j]);
    for (int c = 0; c < DIM; c++) {
        put(inputs, ATTEST_Q, c, 0x1.8p-127);
        for (int j = 0; j < KEYS; j++)
            put(inputs, ATTEST_K, j * DIM + c, score[j] * 0x1p125);
    }
    must(attest_truth_new(&truth, &x.problem, inputs, ATTEST_ENGINE_BALL, &err), &err);
    must(attest_bundle_new(&outputs, &err), &err);
    must(attest_bundle_add(outputs, &x.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, index }, 0, &o, &err), &err);
    attest_store_bits(o, 0, attest_from_f64(o->dtype, got));
    must(attest_judge_row(&element, NULL, truth, n, flags, (attest_tensor_id){ ATTEST_KIND_ROLE, index }, o,
                          (attest_row){ 0, 0, 0 }, &err),
         &err);
    attest_truth_free(truth);
    attest_bundle_free(outputs);
    attest_bundle_free(inputs);
    return element;
}

#define LINE "variant=softmax scale=1 n=1 m=4 d=4 e=1"

/* Each value alone, and their mean, may come out of lost scores; zero, a sum without its division and twice the mean
 * may not. */
START_TEST(means_pass_and_nothing_else)
{
    static const struct {
        double got;
        int inside;
    } table[] = { { 5, 1 }, { 7, 1 }, { 6, 1 }, { 5.875, 1 }, { 0, 0 }, { 23.5, 0 }, { 11.75, 0 }, { -6, 0 } };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        const attest_element e = judge(LINE, &known, ATTEST_FTZ, ATTEST_O, table[k].got);
        ck_assert_msg(e.class == ATTEST_CLASS_NORMAL && isfinite(e.bound), "%g has no bound", table[k].got);
        ck_assert_msg((e.ratio_hi <= 1) == table[k].inside && (e.ratio_lo > 1) == !table[k].inside, "%g: %g of %g",
                      table[k].got, e.ratio_hi, e.bound);
    }
}
END_TEST

/* The furthest value is at most V - o away: the bound is that, and a few roundings. */
START_TEST(no_larger_than_the_hull)
{
    const attest_element e = judge(LINE, &known, ATTEST_FTZ, ATTEST_O, 5);
    const double o = (e.truth_lo + e.truth_hi) / 2, hull = fmax(7 - o, o - 5);
    ck_assert_msg(e.bound >= hull && e.bound <= hull * (1 + 0x1p-16), "%a, the hull has %a", e.bound, hull);
    const attest_element with_sink = judge("variant=softmax1 scale=1 n=1 m=4 d=4 e=1", &known, ATTEST_FTZ, ATTEST_O, 5);
    ck_assert(isfinite(with_sink.bound) && with_sink.bound >= with_sink.truth_lo);
}
END_TEST

/* The same without ATTEST_FTZ: the scores are known, and 5.875, their loss, is far outside. */
START_TEST(known_scores_are_not_widened)
{
    const attest_element e = judge(LINE, &known, 0, ATTEST_O, 5.875);
    ck_assert_msg(e.ratio_lo > 1e3, "%g", e.ratio_lo);
}
END_TEST

/* Hypotheses that are missing leave no bound. */
START_TEST(where_it_does_not_speak)
{
    static const char *const lines[] = { LINE " gates=in",     LINE " eps=0.5",  LINE " filter=1e-6",
                                         LINE " filter=1e-39", LINE " cap=1e39", LINE " norm=floor:1e-7" };
    attest_numerics n = known;
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
        ck_assert_msg(!isfinite(judge(lines[k], &known, ATTEST_FTZ, ATTEST_O, 5).bound), "%s", lines[k]);
    n.schedule = ATTEST_SCHEDULE_SPLIT;
    n.splits = 2;
    ck_assert(!isfinite(judge(LINE " splits=2", &n, ATTEST_FTZ, ATTEST_O, 5).bound));
    n = known;
    n.division = ATTEST_DIVISION_RUNNING;
    ck_assert(!isfinite(judge(LINE, &n, ATTEST_FTZ, ATTEST_O, 5).bound));
    ck_assert(isfinite(judge(LINE " filter=1", &known, ATTEST_FTZ, ATTEST_O, 5).bound));
}
END_TEST

/* lse = ln 4 where all scores are lost; true: ln(1 + e^1.5 + e^-1.5 + e^0.75). */
START_TEST(lse_of_lost_scores)
{
    const attest_element e = judge(LINE, &known, ATTEST_FTZ, ATTEST_LSE, log(4));
    ck_assert_msg(isfinite(e.bound) && e.ratio_hi <= 1, "%g of %g", e.ratio_hi, e.bound);
    ck_assert(judge(LINE, &known, ATTEST_FTZ, ATTEST_LSE, 40).ratio_lo > 1);
}
END_TEST

Suite *suite_bound_hull(void)
{
    Suite *s = suite_create("bound_hull");
    TCase *t = tcase_create("means");
    tcase_add_test(t, means_pass_and_nothing_else);
    tcase_add_test(t, no_larger_than_the_hull);
    tcase_add_test(t, known_scores_are_not_widened);
    tcase_add_test(t, where_it_does_not_speak);
    tcase_add_test(t, lse_of_lost_scores);
    suite_add_tcase(s, t);
    return s;
}
