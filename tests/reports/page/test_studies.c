/* test_studies.c - studies on the page: how far one came, and what their captions say of them. */
#include "tests/reports/report_cases.h"

Suite *suite_studies(void);

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

static attest_result point_of(const char *kernel, const char *in, int order)
{
    attest_result r;
    attest_result_init(&r);
    r.verdict = ATTEST_MEASURED;
    snprintf(r.kernel, sizeof r.kernel, "%s", kernel);
    snprintf(r.in, sizeof r.in, "%s", in);
    snprintf(r.problem, sizeof r.problem, "variant=taylor:%d", order);
    snprintf(r.series, sizeof r.series, "zero R=4");
    r.abscissa = order;
    r.ordinate = r.truncation = 0.5;
    return r;
}

/* The page of a study of these points. */
static const char *page_of(const attest_result *point, size_t count, const attest_run_info *run)
{
    attest_error err = { "" };
    attest_results results = list_of(point, count);
    MUST(attest_results_write_jsonl(&results, path_of("study-order.jsonl"), &err));
    unlink(path_of("study-order.run.json"));
    if (run)
        MUST(attest_run_info_write(run, path_of("study-order.run.json"), &err));
    MUST(attest_report_write(folder, &err));
    attest_results_clear(&results);
    return text_of("index.html");
}

START_TEST(how_far_it_came)
{
    const attest_result points[] = { point_of("k", "f32", 1), point_of("k", "f32", 2) };
    attest_run_info run = {
        .cases = 180, .planned = 180, .done = 5, .results = 2, .refused = 3, .ended = "--max-time"
    };
    const char *page = page_of(points, 2, &run);
    const char *said = strstr(page, "<p class=\"fail\">unfinished: 5 of 180 points (--max-time); the same command with "
                                    "--resume goes on</p>");
    ck_assert_msg(said && said < strstr(page, "the numbers (2 points)"), "%s", page);
    page = page_of(points, 0, &run); /* not one point is told as well */
    ck_assert_ptr_nonnull(strstr(page, "unfinished: 5 of 180 points"));
    run = (attest_run_info){
        .cases = 5, .planned = 5, .done = 5, .results = 2, .refused = 3, .complete = 1, .finished = 1
    };
    page = page_of(points, 2, &run);
    ck_assert_ptr_null(strstr(page, "unfinished"));
    ck_assert_ptr_nonnull(strstr(page, "<p>All 5 points; 3 of them are not served.</p>"));
    page = page_of(points, 2, NULL); /* of an older study */
    ck_assert_msg(!strstr(page, "unfinished") && !strstr(page, "<p>All"), "%s", page);
}
END_TEST

/* The caption names what ran, and which range R is. */
START_TEST(captions)
{
    static const struct {
        const char *kernel[6], *in[6], *want;
    } row[] = {
        { { "k" }, { "bf16" }, "Dashed: rounding, k on inputs in bf16 against" },
        { { "k", "l.so:<m>" }, { "f32", "bf16" }, "rounding, k and l.so:&lt;m&gt; on inputs in f32 and bf16 against" },
        { { "a", "b", "a", "c" },
          { "f32", "f16", "bf16", "f16" },
          "rounding, a, b and c on inputs in f32, f16 and bf16 " },
        { { "a", "b", "c", "d", "e", "f" }, { "f32" }, "rounding, a, b, c, d and others on inputs in f32 against" },
    };
    FILE *svg = fopen(path_of("study-order.svg"), "w");
    fputs("<svg></svg>", svg);
    fclose(svg);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        attest_result points[6];
        size_t count = 0;
        for (; count < 6 && row[i].kernel[count]; count++)
            points[count] = point_of(row[i].kernel[count], row[i].in[count] ? row[i].in[count] : "f32", (int)count);
        const char *page = page_of(points, count, NULL);
        ck_assert_msg(strstr(page, row[i].want) != NULL, "%s in\n%s", row[i].want, strstr(page, "<figcaption"));
        ck_assert_ptr_nonnull(strstr(page, "in the names of the series the one that was asked for"));
    }
    unlink(path_of("study-order.svg"));
}
END_TEST

Suite *suite_studies(void)
{
    Suite *s = suite_create("studies");
    TCase *t = tcase_create("studies");
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, how_far_it_came);
    tcase_add_test(t, captions);
    suite_add_tcase(s, t);
    return s;
}
