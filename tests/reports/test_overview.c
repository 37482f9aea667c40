/* test_overview.c - what a run came to, in one line: on the console, and first on the page; of what passed the page
 * shows those nearest to their bounds, and counts the others. */
#include "tests/reports/report_cases.h"

Suite *suite_overview(void);

static attest_result of(const char *kernel, int n, attest_verdict verdict, double ratio)
{
    attest_result r;
    attest_result_init(&r);
    r.verdict = verdict;
    r.ratio_hi = ratio;
    snprintf(r.kernel, sizeof r.kernel, "%s", kernel);
    if (n)
        snprintf(r.problem, sizeof r.problem, "n=%d", n);
    return r;
}

static const struct {
    attest_verdict verdict; /* of kernel b on n=2, beside two passes of kernel a */
    int unfinished;
    const char *line, *fail_on;
} rows[] = {
    { ATTEST_PASS, 0, "PASS 2 kernels, 2 cases, 3 results: 0 fail", "" },
    { ATTEST_ILLPOSED, 0, "PASS 2 kernels, 2 cases, 3 results: 0 fail, 1 illposed", "" },
    { ATTEST_SKIP, 0, "PASS 1 kernel, 2 cases, 3 results: 0 fail, 1 skip", "" },
    { ATTEST_FAIL, 0, "FAIL 2 kernels, 2 cases, 3 results: 1 fail", "" },
    { ATTEST_FAIL, 1, "FAIL 2 kernels, 2 cases, 3 results: 1 fail, unfinished", "" },
    { ATTEST_CRASH, 0, "FAIL 2 kernels, 2 cases, 3 results: 0 fail, 1 crash", "" },
    { ATTEST_TIMEOUT, 0, "FAIL 2 kernels, 2 cases, 3 results: 0 fail, 1 timeout", "" },
    { ATTEST_UNDECIDED, 0, "PARTIAL 2 kernels, 2 cases, 3 results: 0 fail, 1 undecided", "" },
    { ATTEST_PARTIAL, 0, "PARTIAL 2 kernels, 2 cases, 3 results: 0 fail, 1 partial", "" },
    { ATTEST_NO_EVIDENCE, 0, "PARTIAL 2 kernels, 2 cases, 3 results: 0 fail, 1 no-evidence", "" },
    { ATTEST_PASS, 1, "PARTIAL 2 kernels, 2 cases, 3 results: 0 fail, unfinished", "" },
    { ATTEST_SKIP, 0, "PARTIAL 1 kernel, 2 cases, 3 results: 0 fail, 1 skip (--fail-on=skip)", "skip" },
    { ATTEST_SKIP, 0, "PASS 1 kernel, 2 cases, 3 results: 0 fail, 1 skip", "undecided" },
    { ATTEST_PASS, 0, "PASS 2 kernels, 2 cases, 3 results: 0 fail", "skip" },
    { ATTEST_FAIL, 0, "FAIL 2 kernels, 2 cases, 3 results: 1 fail", "skip" },
};

START_TEST(one_line)
{
    const attest_result given[] = { of("a", 1, ATTEST_PASS, 0.5), of("a", 2, ATTEST_PASS, 0.25),
                                    of("b", 2, rows[_i].verdict, 0.75) };
    attest_run_info run = { .cases = 2, .complete = !rows[_i].unfinished, .seconds = 12.4 };
    snprintf(run.fail_on, sizeof run.fail_on, "%s", rows[_i].fail_on);
    attest_results results = list_of(given, 3);
    attest_overview o = overview_of(&results);
    char text[512], last[600];
    attest_headline(text, sizeof text, &o, &run);
    ck_assert_str_eq(text, rows[_i].line);
    attest_run_info shard = run;
    snprintf(shard.shard, sizeof shard.shard, "2/3");
    attest_headline(last, sizeof last, &o, &shard);
    ck_assert(strncmp(last, text, strlen(text)) == 0);
    ck_assert_str_eq(last + strlen(text), ", of shard 2/3 alone");
    FILE *out = fopen(path_of("console"), "w");
    attest_results_print_console(out, &results, &run, NULL, 0);
    fclose(out);
    snprintf(last, sizeof last, "\n%s, 12 s\n", rows[_i].line);
    const char *console = text_of("console");
    ck_assert_msg(strlen(console) > strlen(last) && strcmp(console + strlen(console) - strlen(last), last) == 0, "%s",
                  console);
    attest_overview_clear(&o);
    attest_results_clear(&results);
}
END_TEST

/* The result that stands for cases that were not run is none of theirs. */
START_TEST(the_rest_of_a_run)
{
    const attest_result given[] = { of("a", 1, ATTEST_PASS, 0.5), of("a", 2, ATTEST_UNDECIDED, NAN),
                                    of(ATTEST_RESULT_RUN, 0, ATTEST_UNDECIDED, NAN) };
    const attest_run_info run = { .cases = 5, .done = 2, .ended = "--max-time" };
    for (size_t count = 1; count <= 3; count++) {
        attest_results results = list_of(&given[3 - count], count);
        attest_overview o = overview_of(&results);
        char text[512];
        attest_headline(text, sizeof text, &o, &run);
        ck_assert_str_eq(text, count == 1   ? "PARTIAL 0 kernels, 0 cases, 0 results: 0 fail, unfinished"
                               : count == 2 ? "PARTIAL 1 kernel, 1 case, 1 result: 0 fail, 1 undecided, unfinished"
                                            : "PARTIAL 1 kernel, 2 cases, 2 results: 0 fail, 1 undecided, unfinished");
        attest_overview_clear(&o);
        attest_results_clear(&results);
    }
}
END_TEST

/* A regression since a baseline is no case that fails. */
START_TEST(regressions)
{
    attest_result given[] = { of("a", 1, ATTEST_FAIL, 2), of("a", 0, ATTEST_FAIL, NAN), of("a", 0, ATTEST_FAIL, NAN) };
    given[0].reasons = ATTEST_REASON_BOUND;
    given[1].reasons = given[2].reasons = ATTEST_REASON_BASELINE;
    attest_results results = list_of(given, 3);
    attest_overview o = overview_of(&results);
    char text[512];
    attest_headline(text, sizeof text, &o, NULL);
    ck_assert_str_eq(text, "FAIL 1 kernel, 1 case, 3 results: 1 fail, 2 regressions");
    attest_overview_clear(&o);
    attest_results_clear(&results);
}
END_TEST

START_TEST(nothing_judged)
{
    const attest_result given[] = { of("a", 0, ATTEST_SKIP, NAN) };
    attest_results results = list_of(given, 1);
    attest_overview o = overview_of(&results);
    char text[512];
    attest_headline(text, sizeof text, &o, NULL);
    ck_assert_str_eq(text, "NOTHING JUDGED 0 kernels, 0 cases, 1 result: 0 fail, 1 skip");
    attest_overview_clear(&o);
    attest_results_clear(&results);
}
END_TEST

START_TEST(the_page)
{
    attest_results results = { 0 };
    attest_error err = { "" };
    for (int i = 0; i < 350; i++) {
        const attest_result r = of("a", i + 1, ATTEST_PASS, i / 1000.0);
        ck_assert_int_eq(attest_results_add(&results, &r, &err), ATTEST_OK);
    }
    ck_assert_int_eq(attest_results_write_jsonl(&results, path_of("results.jsonl"), &err), ATTEST_OK);
    ck_assert_msg(attest_report_write(folder, &err) == ATTEST_OK, "%s", err.text);
    const char *page = text_of("index.html");
    const char *banner = strstr(page, "<p class=\"banner good\">PASS 1 kernel, 350 cases, 350 results: 0 fail</p>");
    ck_assert_ptr_nonnull(banner);
    ck_assert_ptr_null(strstr(page, "<h2>") < banner ? banner : NULL); /* it is first */
    ck_assert_ptr_nonnull(strstr(page, "passed, largest error/bound first (350)"));
    ck_assert_ptr_nonnull(strstr(page, "and 250 more in results.jsonl and results.csv"));
    ck_assert_ptr_nonnull(strstr(page, "<code>n=350</code>")); /* the largest */
    ck_assert_ptr_null(strstr(page, "<code>n=250</code>"));    /* the 251st of the small ones is shown, this is not */
    ck_assert_ptr_nonnull(strstr(page, "<code>n=251</code>"));
    attest_results_clear(&results);
}
END_TEST

Suite *suite_overview(void)
{
    Suite *s = suite_create("overview");
    TCase *t = tcase_create("overview");
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, one_line, 0, (int)(sizeof rows / sizeof rows[0]));
    tcase_add_test(t, the_rest_of_a_run);
    tcase_add_test(t, regressions);
    tcase_add_test(t, nothing_judged);
    tcase_add_test(t, the_page);
    suite_add_tcase(s, t);
    return s;
}
