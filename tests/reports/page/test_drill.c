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
    r.ratio_hi = ratio;
    r.abs_scale_ratio = 2 * ratio;
    r.noticed = 1 - ratio;
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
        "<td>family normal<td class=\"n\">3<td class=\"n\">0.75<td class=\"n\">0.572\n",
        "<td>family ones<td class=\"n\">1<td class=\"n\">0.5<td class=\"n\">1\n",
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

Suite *suite_drill(void)
{
    Suite *suite = suite_create("drill");
    TCase *tests = tcase_create("drill");
    tcase_add_test(tests, groups_and_worst);
    suite_add_tcase(suite, tests);
    return suite;
}
