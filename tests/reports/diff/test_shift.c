/* test_shift.c - what counts as one draw, and what is a growth: of a class, of a condition in it, of a kernel, of one
 * case. */
#include "reports/ci/ci.h"
#include "reports/diff/diff.h"
#include "tests/reports/report_cases.h"

Suite *suite_shift(void);

enum { MOST = 64 };

static void make(attest_result *r, int number, const char *class, const char *line)
{
    attest_result_init(r);
    r->verdict = ATTEST_PASS;
    snprintf(r->kernel, sizeof r->kernel, "k");
    snprintf(r->class, sizeof r->class, "%s", class);
    snprintf(r->out, sizeof r->out, "f32");
    snprintf(r->family, sizeof r->family, "normal");
    snprintf(r->problem, sizeof r->problem, "variant=softmax %s seed=%d", line, number);
    snprintf(r->outputs, sizeof r->outputs, "%016x", number);
    r->seed = number;
    r->b = r->hq = r->hkv = 1;
    r->n = r->m = r->d = 9;
    r->abs_score = 5;
    r->norm_error = ldexp(1 + number % 3 * 0.1, -20);
}

/* Regressions by runs and by a baseline, which say the same. */
static attest_diff diff_of(attest_result *then, attest_result *now, size_t count)
{
    attest_error err = { "" };
    attest_results before = list_of(then, count), after = list_of(now, count);
    attest_baseline baseline = { 0 };
    attest_diff diff[2];
    ck_assert_int_eq(attest_baseline_of(&baseline, &before, "because", &err), ATTEST_OK);
    ck_assert_msg(attest_baseline_write(&baseline, path_of("base.jsonl"), &err) == ATTEST_OK, "%s", err.text);
    ck_assert_int_eq(attest_diff_runs(&diff[0], &before, &after, &err), ATTEST_OK);
    ck_assert_msg(attest_diff_against(&diff[1], path_of("base.jsonl"), &after, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(diff[0].count, diff[1].count);
    for (size_t i = 0; i < diff[0].count; i++) {
        ck_assert_str_eq(diff[0].change[i].text, diff[1].change[i].text);
        ck_assert_str_eq(diff[0].change[i].problem, diff[1].change[i].problem);
    }
    attest_diff_clear(&diff[1]);
    attest_baseline_clear(&baseline);
    attest_results_clear(&before);
    attest_results_clear(&after);
    return diff[0];
}

/* Sixteen cases of one draw, by seed or by sizes of one power of two, are one; of sixteen draws they have grown.  The
 * spread is 0: no certainty. */
START_TEST(one_draw)
{
    attest_result then[MOST], now[MOST];
    for (int draws = 0; draws < 2; draws++) {
        for (int i = 0; i < 16; i++) {
            make(&then[i], i, "a", "n=9");
            then[i].seed = draws ? i : 3;
            then[i].n = then[i].m = 16 + i;
            now[i] = then[i];
            now[i].norm_error *= _i ? 8 : 0x1p+7; /* one draw: below 5 sqrt(2) bits */
        }
        attest_diff diff = diff_of(then, now, 16);
        ck_assert_uint_eq(diff.regressions, draws ? 1 : 0);
        if (draws)
            ck_assert_ptr_nonnull(strstr(diff.change[0].text, "16 cases, 16 draws)"));
        attest_diff_clear(&diff);
    }
    for (int i = 0; i < 4; i++) { /* four draws that moved alike: three bits are not beyond their noise */
        make(&then[i], i, "a", "n=9");
        now[i] = then[i];
        now[i].norm_error *= 8;
    }
    attest_diff diff = diff_of(then, now, 4);
    ck_assert_uint_eq(diff.regressions, 0);
    attest_diff_clear(&diff);
}
END_TEST

/* Sixteen of 64 cases grow 8 times in one condition; what moves a condition 4 times is another order of a sum. */
START_TEST(conditions)
{
    static const struct {
        const char *line, *where;
    } rows[] = { { "window=3", "window given" }, { "mask=causal", "mask=causal" },
                 { "", "family=range" },         { "", "d >= 64" },
                 { "", "scores above 32" },      { "", "b > 1" } };
    attest_result then[MOST], now[MOST];
    for (int times = 4; times <= 8; times *= 2) {
        for (int i = 0; i < MOST; i++) {
            make(&then[i], i, "a", i < 16 ? rows[_i].line : "");
            if (i < 16 && _i == 2)
                snprintf(then[i].family, sizeof then->family, "range");
            then[i].d = i < 16 && _i == 3 ? 80 : 9;
            then[i].abs_score = i < 16 && _i == 4 ? 80 : 9;
            then[i].b = i < 16 && _i == 5 ? 2 : 1;
            then[i].family_repeats = i < 16 && _i == 2; /* its seeds differ */
            now[i] = then[i];
            now[i].norm_error *= i < 16 ? times : 1;
        }
        attest_diff diff = diff_of(then, now, MOST);
        ck_assert_uint_eq(diff.regressions, times == 8 ? 1 : 0);
        if (times == 8) {
            ck_assert_str_eq(diff.change[0].where, rows[_i].where);
            ck_assert_str_eq(diff.change[0].class, "a");
            ck_assert_ptr_nonnull(strstr(diff.change[0].text, "grew 8.0 times where "));
        }
        attest_diff_clear(&diff);
    }
}
END_TEST

/* A family whose terms have an order moves by more, as a class and as a condition: 8 times is none, 16 times is. */
START_TEST(an_order)
{
    attest_result then[MOST], now[MOST];
    const int count = _i ? MOST : 16;
    for (int times = 8; times <= 16; times *= 2) {
        for (int i = 0; i < count; i++) {
            make(&then[i], i, "a", "");
            snprintf(then[i].family, sizeof then->family, "%s", i < 16 ? "ramp-down" : "normal");
            now[i] = then[i];
            now[i].norm_error *= i < 16 ? times : 1;
        }
        attest_diff diff = diff_of(then, now, (size_t)count);
        ck_assert_uint_eq(diff.regressions, times == 16 ? 1 : 0);
        attest_diff_clear(&diff);
    }
}
END_TEST

/* Two conditions of one class are two regressions of two names. */
START_TEST(two_conditions)
{
    attest_error err = { "" };
    attest_result then[MOST], now[MOST];
    for (int i = 0; i < MOST; i++) {
        make(&then[i], i, "a", i < 10 ? "rope=10" : i < 20 ? "window=3" : "");
        now[i] = then[i];
        now[i].norm_error *= i < 10 ? 16 : i < 20 ? 8 : 1;
    }
    attest_diff diff = diff_of(then, now, MOST);
    ck_assert_uint_eq(diff.regressions, 2);
    attest_results after = list_of(now, MOST);
    ck_assert_int_eq(attest_diff_note(&after, &diff, "then", &err), ATTEST_OK);
    const attest_result a = result_at(&after, MOST), b = result_at(&after, MOST + 1);
    ck_assert_ptr_nonnull(strstr(a.why, "error a where rope given: the error grew 16.0 times"));
    ck_assert_ptr_nonnull(strstr(b.why, "error a where window given: the error grew 8.0 times"));
    char of_a[20], of_b[20]; /* GitLab shows one finding of one identity */
    attest_ci_fingerprint(of_a, &a);
    attest_ci_fingerprint(of_b, &b);
    ck_assert_str_ne(of_a, of_b);
    attest_results_clear(&after);
    attest_diff_clear(&diff);
}
END_TEST

/* Classes of four cases each, none of which says it alone; of another kernel they stay as they were. */
START_TEST(a_kernel)
{
    attest_result then[MOST], now[MOST];
    char class[16];
    for (int i = 0; i < MOST; i++) {
        snprintf(class, sizeof class, "c%d", i / 4 % 8);
        make(&then[i], i, class, "");
        snprintf(then[i].kernel, sizeof then->kernel, "k%d", i / 32);
        now[i] = then[i];
        now[i].norm_error *= i < 32 ? 8 : 1;
    }
    attest_diff diff = diff_of(then, now, MOST);
    ck_assert_uint_eq(diff.regressions, 1);
    ck_assert_str_eq(diff.change[0].kernel, "k0");
    ck_assert_str_eq(diff.change[0].class, "");
    attest_diff_clear(&diff);
}
END_TEST

/* The case that grew most is named by what it grew, not by where d_i is cut. */
START_TEST(the_largest)
{
    attest_result then[MOST], now[MOST];
    for (int i = 0; i < MOST; i++) {
        make(&then[i], i, "a", "");
        now[i] = then[i];
        now[i].norm_error = ldexp(then[i].norm_error, i == 40 ? 12 : 9);
    }
    attest_diff diff = diff_of(then, now, MOST);
    ck_assert_uint_eq(diff.regressions, 1);
    ck_assert_str_eq(diff.change[0].problem, now[40].problem);
    attest_diff_clear(&diff);
}
END_TEST

/* One case that grew 2^12 times is told, and no regression; 2^9 times not. */
START_TEST(a_jump)
{
    attest_result then[MOST], now[MOST];
    for (int bits = 9; bits <= 12; bits += 3) {
        for (int i = 0; i < MOST; i++) {
            make(&then[i], i, "a", "");
            now[i] = then[i];
        }
        now[7].norm_error = ldexp(now[7].norm_error, bits);
        attest_diff diff = diff_of(then, now, MOST);
        ck_assert_uint_eq(diff.regressions, 0);
        ck_assert_uint_eq(diff.count, bits == 12 ? 1 : 0);
        if (diff.count) {
            ck_assert_int_eq(diff.change[0].kind, ATTEST_CHANGE_JUMP);
            ck_assert_str_eq(diff.change[0].problem, now[7].problem);
            ck_assert_ptr_nonnull(strstr(diff.change[0].text, "the error of 1 of 64 cases grew 1024 times or more"));
        }
        attest_diff_clear(&diff);
    }
}
END_TEST

/* A class of another name is compared, by its cases, and told. */
START_TEST(another_class)
{
    attest_result then[MOST], now[MOST];
    for (int i = 0; i < 16; i++) {
        make(&then[i], i, "exp two-pass f32", "");
        now[i] = then[i];
        snprintf(now[i].class, sizeof now->class, "exp two-pass f32 p=f16");
        now[i].norm_error *= 16;
    }
    attest_diff diff = diff_of(then, now, 16);
    ck_assert_uint_eq(diff.compared, 16);
    ck_assert_uint_eq(diff.regressions, 1);
    ck_assert_uint_eq(diff.count, 2);
    ck_assert_int_eq(diff.change[1].kind, ATTEST_CHANGE_CLASS);
    ck_assert_str_eq(diff.change[1].text, "16 of 16 cases were of class 'exp two-pass f32': another bound judges them");
    attest_diff_clear(&diff);
}
END_TEST

Suite *suite_shift(void)
{
    Suite *suite = suite_create("shift");
    TCase *tests = tcase_create("shift");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, one_draw, 0, 2);
    tcase_add_loop_test(tests, conditions, 0, 6);
    tcase_add_loop_test(tests, an_order, 0, 2);
    tcase_add_test(tests, two_conditions);
    tcase_add_test(tests, a_kernel);
    tcase_add_test(tests, the_largest);
    tcase_add_test(tests, a_jump);
    tcase_add_test(tests, another_class);
    suite_add_tcase(suite, tests);
    return suite;
}
