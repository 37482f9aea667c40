/* test_console.c - the terminal's view: a colour for every verdict. */
#include "tests/reports/report_cases.h"

Suite *suite_console(void);

START_TEST(a_colour_for_each_verdict)
{
    attest_result given[ATTEST_VERDICT_COUNT];
    for (int v = 0; v < ATTEST_VERDICT_COUNT; v++) {
        attest_result_init(&given[v]);
        given[v].verdict = v;
        snprintf(given[v].kernel, sizeof given[v].kernel, "kernel-%d", v);
        snprintf(given[v].problem, sizeof given[v].problem, "n=%d", v + 1);
    }
    attest_results results = list_of(given, ATTEST_VERDICT_COUNT);
    FILE *out = fopen(path_of("console"), "w");
    for (int v = 0; v < ATTEST_VERDICT_COUNT; v++)
        attest_result_print_line(out, &given[v], 1);
    attest_results_print_console(out, &results, NULL, NULL, 1);
    fclose(out);
    const char *text = text_of("console");
    ck_assert_msg(!strstr(text, "null"), "%s", text);
    for (int v = 0; v < ATTEST_VERDICT_COUNT; v++) {
        char line[80];
        snprintf(line, sizeof line, "m%-11s\033[0m kernel-%d", attest_verdict_names[v], v);
        ck_assert_msg(v == ATTEST_MEASURED || strstr(text, line), "%s has no colour", attest_verdict_names[v]);
    }
    attest_results_clear(&results);
}
END_TEST

Suite *suite_console(void)
{
    Suite *s = suite_create("console");
    TCase *t = tcase_create("console");
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, a_colour_for_each_verdict);
    suite_add_tcase(s, t);
    return s;
}
