/* test_drill.c - each kernel from near: its groups, its worst cases in order, its smallest noticed error. */
#include "reports/page/drill.h"
#include "tests/reports/report_cases.h"

Suite *suite_drill(void);

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

static attest_result result_of(const char *kernel, const char *family, int n, int query, double ratio)
{
    attest_result r;
    attest_result_init(&r);
    snprintf(r.kernel, sizeof r.kernel, "%s", kernel);
    snprintf(r.family, sizeof r.family, "%s", family);
    snprintf(r.problem, sizeof r.problem, "variant=softmax n=%d family=%s", n, family);
    snprintf(r.worst, sizeof r.worst, "o[0,0,%d,1]", query);
    snprintf(r.reproduction, sizeof r.reproduction, "attest replay %g", ratio);
    r.n = n;
    r.ratio_hi = r.ratio_lo = ratio;
    r.abs_scale_ratio = 2 * ratio;
    r.noticed = isfinite(ratio) ? 1 - ratio : 1;
    return r;
}

static char *printed(const attest_results *results)
{
    attest_error err = { "" };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    MUST(attest_drill_print(out, results, &err));
    fclose(out);
    return text;
}

START_TEST(groups_and_worst)
{
    attest_error err = { "" };
    attest_results results = { 0 };
    const attest_result all[] = { result_of("one", "normal", 9, 8, 0.25),   result_of("one", "ones", 9, 0, 0.5),
                                  result_of("one", "normal", 15, 14, 0.75), result_of("one", "normal", 1, 0, 0.125),
                                  result_of("two", "flat", 64, 31, 0.0625), result_of("two", "flat", 64, 31, NAN) };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        MUST(attest_results_add(&results, &all[i], &err));
    char *text = printed(&results), *second = strstr(text, "<code>two</code>: 1 case,");
    static const char *const rows[] = {
        "<code>one</code>: 4 cases, worst error/bound 0.75",
        "noticed: 0.25 of the element, in <code>variant=softmax n=15 family=normal</code>",
        "<td>family normal<td class=\"n\">3<td class=\"n\">0.75<td class=\"n\">0.572<td class=\"n\">0\n",
        "<td>family ones<td class=\"n\">1<td class=\"n\">0.5<td class=\"n\">1<td class=\"n\">0\n",
        "<td>n 1<td class=\"n\">1<",
        "<td>n 8 to 15<td class=\"n\">3<",
        "<td>worst query in the first quarter<td class=\"n\">1<",
        "<td>worst query in the last quarter<td class=\"n\">2<",
        "attest replay 0.75",
        "attest replay 0.5",
        "attest replay 0.25",
    };
    ck_assert_ptr_nonnull(second);
    const char *at = text;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        at = strstr(at, rows[i]);
        ck_assert_msg(at && at < second, "%s, in its place, in\n%s", rows[i], text);
    }
    ck_assert_ptr_null(strstr(text, "attest replay 0.125")); /* the fourth */
    ck_assert_ptr_nonnull(strstr(second, "<td>worst query in the second quarter<td class=\"n\">1<"));
    free(text);
    const attest_whole whole = { .results = 100 };
    results.whole = &whole;
    text = printed(&results);
    ck_assert_str_eq(text, "");
    free(text);
    attest_results_clear(&results);
}
END_TEST

static attest_result without_ratio(const char *kernel, attest_verdict verdict)
{
    attest_result r = result_of(kernel, "normal", 9, 8, NAN);
    r.verdict = verdict;
    return r;
}

/* A case that has no finite error is not dropped: those with an infinite one are the worst, the others are counted. */
START_TEST(without_a_finite_error)
{
    attest_result given[] = { result_of("a", "normal", 9, 8, 0.25),
                              result_of("a", "normal", 9, 8, 0.5),
                              result_of("a", "normal", 9, 8, (double)INFINITY),
                              result_of("a", "normal", 9, 8, (double)INFINITY),
                              without_ratio("a", ATTEST_FAIL),
                              without_ratio("a", ATTEST_CRASH),
                              without_ratio("a", ATTEST_TIMEOUT),
                              without_ratio("a", ATTEST_CRASH),
                              without_ratio("a", ATTEST_UNDECIDED),
                              without_ratio("a", ATTEST_SKIP),
                              without_ratio("b", ATTEST_CRASH),
                              without_ratio("c", ATTEST_SKIP) };
    given[2].verdict = given[3].verdict = ATTEST_FAIL;
    attest_results results = list_of(given, sizeof given / sizeof given[0]);
    char *text = printed(&results);
    static const char *const rows[] = {
        "<code>a</code>: 4 cases, worst error/bound inf, 2 without a finite error, 3 more crashed or timed out, "
        "1 more failed without an error, 1 more not judged</summary>",
        "<td>family normal<td class=\"n\">4<td class=\"n\">inf<",
        "attest replay inf",
        "attest replay inf",
        "attest replay 0.5",
        "<code>b</code>: 1 crashed or timed out</summary>\n</details>",
    };
    const char *at = text;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        at = strstr(i > 0 ? at + 1 : at, rows[i]);
        ck_assert_msg(at != NULL, "%s, in its place, in\n%s", rows[i], text);
    }
    ck_assert_ptr_null(strstr(text, "<code>c</code>"));
    free(text);
    attest_results_clear(&results);
}
END_TEST

/* An error that may be 0 has no logarithm: its upper end says how finely it was computed, and nothing of the kernel. */
START_TEST(exact_cases)
{
    attest_result given[] = { result_of("a", "ones", 9, 8, 1), result_of("a", "ones", 9, 8, 4),
                              result_of("a", "ones", 9, 8, 0x1p-100) };
    given[2].ratio_lo = 0;
    attest_results results = list_of(given, 3);
    char *text = printed(&results);
    ck_assert_msg(strstr(text, "<td>family ones<td class=\"n\">3<td class=\"n\">4<td class=\"n\">4<td class=\"n\">1\n"),
                  "%s", text);
    free(text);
    attest_results_clear(&results);
}
END_TEST

Suite *suite_drill(void)
{
    Suite *suite = suite_create("drill");
    TCase *tests = tcase_create("drill");
    tcase_add_test(tests, groups_and_worst);
    tcase_add_test(tests, without_a_finite_error);
    tcase_add_test(tests, exact_cases);
    suite_add_tcase(suite, tests);
    return suite;
}
