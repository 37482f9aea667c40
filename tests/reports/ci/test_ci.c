/* test_ci.c - what CI systems read: every text from outside escaped by the rules of its format, the limits kept, the
 * same identity in every run. */
#include <jansson.h>
#include <sys/stat.h>

#include "reports/ci/ci.h"
#include "tests/reports/report_cases.h"

Suite *suite_ci(void);

static const char nasty[] = "100% a:b,c\nd\r#e\\f\"g<h>";
static const char clean[] = "100% a:b,c\\x0ad\\x0d#e\\f\"g<h>"; /* as a result holds it: no control characters */

static attest_result of(attest_verdict verdict, int64_t reasons, int n)
{
    attest_result r;
    attest_result_init(&r);
    r.verdict = verdict;
    r.reasons = reasons;
    r.ratio_lo = 1.5;
    r.ratio_hi = 2.5;
    snprintf(r.kernel, sizeof r.kernel, "lib.so:k");
    snprintf(r.file, sizeof r.file, "kernels/a b#.c");
    snprintf(r.problem, sizeof r.problem, "n=%d", n);
    snprintf(r.reproduction, sizeof r.reproduction, "attest replay 'n=%d'", n);
    if (verdict != ATTEST_PASS)
        snprintf(r.why, sizeof r.why, "%s", nasty);
    return r;
}

/* Two of each verdict that CI tells apart, the worst last. */
static attest_results mixed(void)
{
    const attest_result given[] = { of(ATTEST_PASS, 0, 1),
                                    of(ATTEST_SKIP, 0, 2),
                                    of(ATTEST_ILLPOSED, 0, 3),
                                    of(ATTEST_PARTIAL, 0, 4),
                                    of(ATTEST_FAIL, ATTEST_REASON_LSE | ATTEST_REASON_STATE, 5),
                                    of(ATTEST_CRASH, ATTEST_REASON_EXIT, 6) };
    return list_of(given, sizeof given / sizeof given[0]);
}

static json_t *read_json(const char *name)
{
    json_error_t why;
    json_t *object = json_load_file(path_of(name), 0, &why);
    ck_assert_msg(object != NULL, "%s: %s", name, why.text);
    return object;
}

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

START_TEST(sarif)
{
    static const char *const want[][3] = { { "attest/crash", "error", "n=6" },
                                           { "attest/lse", "error", "n=5" },
                                           { "attest/partial", "warning", "n=4" } };
    attest_results results = mixed();
    attest_error err = { "" };
    ck_assert_msg(attest_ci_write_sarif(&results, path_of("r.sarif"), &err) == ATTEST_OK, "%s", err.text);
    json_t *document = read_json("r.sarif");
    ck_assert_str_eq(text_at(document, "version"), "2.1.0");
    const json_t *run = json_array_get(json_object_get(document, "runs"), 0);
    const json_t *driver = json_object_get(json_object_get(run, "tool"), "driver");
    const json_t *rules = json_object_get(driver, "rules"), *list = json_object_get(run, "results");
    ck_assert_str_eq(text_at(driver, "name"), "attest");
    ck_assert_uint_eq(json_array_size(list), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *one = json_array_get(list, i);
        const json_t *rule = json_array_get(rules, (size_t)json_integer_value(json_object_get(one, "ruleIndex")));
        const json_t *place = json_array_get(json_object_get(one, "locations"), 0);
        const json_t *file = json_object_get(json_object_get(place, "physicalLocation"), "artifactLocation");
        const char *text = text_at(json_object_get(one, "message"), "text");
        ck_assert_str_eq(text_at(one, "ruleId"), want[i][0]);
        ck_assert_str_eq(text_at(rule, "id"), want[i][0]);
        ck_assert_str_eq(text_at(one, "level"), want[i][1]);
        ck_assert_msg(strstr(text, want[i][2]) && strstr(text, clean) && strstr(text, "attest replay"), "%s", text);
        ck_assert_str_eq(text_at(file, "uri"), "kernels/a%20b%23.c");
        ck_assert_uint_eq(strlen(text_at(json_object_get(one, "partialFingerprints"), "attest/v1")), 16);
    }
    json_decref(document);
    attest_results_clear(&results);
}
END_TEST

/* A reader that wants a file refuses all of the report for one finding without it. */
START_TEST(sarif_places)
{
    static const struct {
        const char *kernel, *file, *uri;
    } row[] = { { "*", "", "my%20own.suite" },
                { "lib.so:k", "a.c", "a.c" },
                { "./a/b c:d.so:k", "", "a/b%20c%3Ad.so" },
                { "/opt/b.so:k", "", "file:///opt/b.so" },
                { "dir/broken.so", "", "dir/broken.so" },
                { "exec:./a.py: x", "", "my%20own.suite" } };
    enum { ROWS = sizeof row / sizeof row[0] };
    attest_result given[ROWS + 1];
    attest_error err = { "" };
    for (size_t i = 0; i < ROWS + 1; i++) {
        given[i] = of(i == 0 ? ATTEST_UNDECIDED : ATTEST_PARTIAL, 0, (int)i);
        snprintf(given[i].kernel, sizeof given[i].kernel, "%s", i < ROWS ? row[i].kernel : "k");
        snprintf(given[i].file, sizeof given[i].file, "%s", i < ROWS ? row[i].file : "");
        snprintf(given[i].suite, sizeof given[i].suite, i < ROWS ? "my own" : "");
    }
    *given[0].problem = '\0';
    attest_results results = list_of(given, ROWS + 1);
    ck_assert_msg(attest_ci_write_sarif(&results, path_of("r.sarif"), &err) == ATTEST_OK, "%s", err.text);
    json_t *document = read_json("r.sarif");
    const json_t *list = json_object_get(json_array_get(json_object_get(document, "runs"), 0), "results");
    for (size_t i = 0; i < ROWS; i++) {
        const json_t *place = json_array_get(json_object_get(json_array_get(list, i), "locations"), 0);
        const json_t *file = json_object_get(json_object_get(place, "physicalLocation"), "artifactLocation");
        const json_t *logical = json_array_get(json_object_get(place, "logicalLocations"), 0);
        ck_assert_msg(file != NULL, "%s has no place", row[i].kernel);
        ck_assert_str_eq(text_at(file, "uri"), row[i].uri);
        ck_assert_str_eq(text_at(logical, "fullyQualifiedName"), row[i].kernel);
    }
    ck_assert_ptr_null(json_object_get(json_array_get(list, ROWS), "locations"));
    json_decref(document);
    attest_results_clear(&results);
}
END_TEST

/* No more than a reader takes; what is left out is counted. */
START_TEST(sarif_limit)
{
    attest_results results = { 0 };
    attest_error err = { "" };
    for (int i = 0; i < ATTEST_SARIF_MOST + 3; i++) {
        const attest_result r = of(i == ATTEST_SARIF_MOST + 2 ? ATTEST_FAIL : ATTEST_PARTIAL, ATTEST_REASON_BOUND, i);
        ck_assert_int_eq(attest_results_add(&results, &r, &err), ATTEST_OK);
    }
    ck_assert_msg(attest_ci_write_sarif(&results, path_of("r.sarif"), &err) == ATTEST_OK, "%s", err.text);
    json_t *document = read_json("r.sarif");
    const json_t *run = json_array_get(json_object_get(document, "runs"), 0);
    const json_t *list = json_object_get(run, "results");
    ck_assert_uint_eq(json_array_size(list), ATTEST_SARIF_MOST);
    ck_assert_str_eq(text_at(json_array_get(list, 0), "ruleId"), "attest/bound"); /* the failure, first */
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(run, "properties"), "resultsLeftOut")), 3);
    json_decref(document);
    attest_results_clear(&results);
}
END_TEST

START_TEST(quality)
{
    attest_results results = mixed();
    attest_error err = { "" };
    ck_assert_msg(attest_ci_write_quality(&results, path_of("q.json"), &err) == ATTEST_OK, "%s", err.text);
    json_t *list = read_json("q.json");
    ck_assert_uint_eq(json_array_size(list), 3);
    const json_t *partial = json_array_get(list, 0), *fail = json_array_get(list, 1), *crash = json_array_get(list, 2);
    ck_assert_str_eq(text_at(partial, "severity"), "minor");
    ck_assert_str_eq(text_at(fail, "severity"), "critical");
    ck_assert_str_eq(text_at(crash, "severity"), "blocker");
    ck_assert_str_eq(text_at(fail, "check_name"), "lse");
    ck_assert_str_eq(text_at(json_object_get(fail, "location"), "path"), "kernels/a b#.c");
    ck_assert_str_ne(text_at(fail, "fingerprint"), text_at(crash, "fingerprint"));
    ck_assert_msg(strstr(text_at(fail, "description"), clean) != NULL, "%s", text_at(fail, "description"));
    json_decref(list);
    attest_results_clear(&results);
}
END_TEST

/* The same in every run, whatever the figures; another for another problem, kernel or rule. */
START_TEST(identity)
{
    attest_result a = of(ATTEST_FAIL, ATTEST_REASON_BOUND, 1), b = a;
    char of_a[20], of_b[20];
    b.ratio_hi = 77;
    strcpy(b.why, "another text");
    attest_ci_fingerprint(of_a, &a);
    attest_ci_fingerprint(of_b, &b);
    ck_assert_str_eq(of_a, of_b);
    b.reasons = ATTEST_REASON_LSE;
    attest_ci_fingerprint(of_b, &b);
    ck_assert_str_ne(of_a, of_b);
    b = a;
    strcpy(b.problem, "n=2");
    attest_ci_fingerprint(of_b, &b);
    ck_assert_str_ne(of_a, of_b);
    b = a;
    strcpy(b.kernel, "other");
    attest_ci_fingerprint(of_b, &b);
    ck_assert_str_ne(of_a, of_b);
}
END_TEST

static const char *print(const attest_results *results,
                         attest_status (*writer)(FILE *, const attest_results *, attest_error *))
{
    attest_error err = { "" };
    FILE *out = fopen(path_of("printed"), "w");
    ck_assert_msg(writer(out, results, &err) == ATTEST_OK, "%s", err.text);
    fclose(out);
    return text_of("printed");
}

START_TEST(tap)
{
    static const char first[] =
        "TAP version 14\n1..6\nok 1 - lib.so:k n=1\nok 2 - lib.so:k n=2 # SKIP 100% a:b,c\\\\x0ad";
    attest_results results = mixed();
    const char *text = print(&results, attest_ci_print_tap);
    ck_assert_msg(strncmp(text, first, strlen(first)) == 0, "%s", text);
    ck_assert_ptr_nonnull(
        strstr(text, "\nok 3 - lib.so:k n=3\nnot ok 4 - lib.so:k n=4\n  ---\n  verdict: \"partial\"\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\nnot ok 5 - lib.so:k n=5\n  ---\n  verdict: \"fail\"\n  reasons: \"lse,state\"\n"));
    ck_assert_ptr_nonnull(strstr(text, "  why: \"100% a:b,c\\\\x0ad\\\\x0d#e\\\\f\\\"g<h>\"\n"));
    ck_assert_ptr_nonnull(strstr(text, "  ratio: 2.5\n  reproduce: \"attest replay 'n=6'\"\n  ...\n"));
    attest_results_clear(&results);
}
END_TEST

START_TEST(annotations)
{
    static const char first[] = "::error file=kernels/a b#.c,line=1,title=lib.so%3Ak%3A crash::n=6: 100%25 a:b,c\\x0ad"
                                "\\x0d#e\\f\"g<h>%0Areproduce: attest replay 'n=6'\n::error ";
    attest_results results = mixed();
    const char *text = print(&results, attest_ci_print_annotations);
    ck_assert_msg(strncmp(text, first, strlen(first)) == 0, "%s", text);
    ck_assert_uint_eq(occurrences(text, "\n"), 3);
    ck_assert_uint_eq(occurrences(text, "::warning "), 1);
    attest_results_clear(&results);
}
END_TEST

/* A run that did not finish is an error for every reader, as its exit code is: never a pass, never a skip. */
START_TEST(unfinished)
{
    attest_error err = { "" };
    attest_result given[] = { of(ATTEST_PASS, 0, 1), of(ATTEST_UNDECIDED, 0, 0) };
    strcpy(given[1].kernel, "*");
    strcpy(given[1].why, "SIGTERM: 2 of 3 cases not run");
    *given[1].problem = *given[1].reproduction = *given[1].file = '\0';
    attest_results results = list_of(given, 2);
    ck_assert_msg(attest_ci_write_junit(&results, path_of("j.xml"), &err) == ATTEST_OK, "%s", err.text);
    const char *text = text_of("j.xml");
    ck_assert_msg(strstr(text, "<testsuite name=\"*\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">"), "%s",
                  text);
    ck_assert_ptr_nonnull(strstr(text, "<testcase classname=\"*\" name=\"(the run)\""));
    ck_assert_ptr_nonnull(strstr(text, "<error message=\"SIGTERM: 2 of 3 cases not run\" type=\"unfinished\">"));
    ck_assert_ptr_null(strstr(text, "<skipped"));
    ck_assert_msg(attest_ci_write_sarif(&results, path_of("r.sarif"), &err) == ATTEST_OK, "%s", err.text);
    json_t *document = read_json("r.sarif");
    const json_t *run = json_array_get(json_object_get(document, "runs"), 0);
    const json_t *one = json_array_get(json_object_get(run, "results"), 0);
    const json_t *rules = json_object_get(json_object_get(json_object_get(run, "tool"), "driver"), "rules");
    const json_t *rule = json_array_get(rules, (size_t)json_integer_value(json_object_get(one, "ruleIndex")));
    ck_assert_str_eq(text_at(one, "ruleId"), "attest/unfinished");
    ck_assert_str_eq(text_at(rule, "id"), "attest/unfinished");
    ck_assert_str_eq(text_at(one, "level"), "error");
    json_decref(document);
    ck_assert_msg(attest_ci_write_quality(&results, path_of("q.json"), &err) == ATTEST_OK, "%s", err.text);
    json_t *list = read_json("q.json");
    ck_assert_str_eq(text_at(json_array_get(list, 0), "severity"), "blocker");
    json_decref(list);
    ck_assert_str_eq(print(&results, attest_ci_print_annotations),
                     "::error title=*%3A undecided::SIGTERM: 2 of 3 cases not run\n");
    ck_assert_ptr_nonnull(strstr(print(&results, attest_ci_print_tap), "\nnot ok 2 - * (the run)\n  ---\n"));
    attest_results_clear(&results);
}
END_TEST

START_TEST(annotations_limit)
{
    for (int count = 9; count <= 25; count += 16) {
        attest_results results = { 0 };
        attest_error err = { "" };
        for (int i = 0; i < count; i++) {
            const attest_result r = of(ATTEST_PARTIAL, 0, i);
            ck_assert_int_eq(attest_results_add(&results, &r, &err), ATTEST_OK);
        }
        const char *text = print(&results, attest_ci_print_annotations);
        ck_assert_uint_eq(occurrences(text, "\n"), count == 9 ? 9 : 10);
        ck_assert_int_eq(strstr(text, "::warning title=attest::and 16 more;") != NULL, count == 25);
        attest_results_clear(&results);
    }
}
END_TEST

/* It is appended, failures before figures, and ends below the limit at the end of a line. */
/* --fail-on=skip: the one skip of them is told by each, as what it is. */
START_TEST(fail_on)
{
    attest_results results = mixed(), told = attest_results_failing_on(&results, "skip");
    attest_error err = { "" };
    const char *text = print(&told, attest_ci_print_tap);
    ck_assert_msg(strstr(text, "\nnot ok 2 - lib.so:k n=2\n  ---\n  verdict: \"skip\"\n"), "%s", text);
    ck_assert_ptr_null(strstr(text, "# SKIP"));
    text = print(&told, attest_ci_print_annotations);
    ck_assert_uint_eq(occurrences(text, "\n"), 4);
    ck_assert_ptr_nonnull(strstr(text, "title=lib.so%3Ak%3A skip::n=2"));
    ck_assert_int_eq(attest_ci_write_quality(&told, path_of("q.json"), &err), ATTEST_OK);
    ck_assert_uint_eq(occurrences(text_of("q.json"), "\"check_name\": \"skip\""), 1);
    ck_assert_int_eq(attest_ci_write_sarif(&told, path_of("r.sarif"), &err), ATTEST_OK);
    ck_assert_uint_eq(occurrences(text_of("r.sarif"), "\"ruleId\": \"attest/skip\""), 1);
    ck_assert_int_eq(attest_ci_write_junit(&told, path_of("j.xml"), &err), ATTEST_OK);
    ck_assert_uint_eq(occurrences(text_of("j.xml"), "<skipped"), 0);
    ck_assert_uint_eq(occurrences(text_of("j.xml"), "type=\"skip\""), 1);
    ck_assert_uint_eq(occurrences(text_of("j.xml"), "failures=\"3\" errors=\"1\" skipped=\"0\""), 1);
    ck_assert_int_eq(attest_ci_write_junit(&results, path_of("j.xml"), &err), ATTEST_OK);
    ck_assert_uint_eq(occurrences(text_of("j.xml"), "failures=\"2\" errors=\"1\" skipped=\"1\""), 1);
    attest_results_clear(&results);
}
END_TEST

START_TEST(step_summary)
{
    attest_results results = mixed();
    attest_error err = { "" };
    FILE *file = fopen(path_of("step.md"), "w");
    fputs("what was there\n", file);
    fclose(file);
    ck_assert_msg(attest_ci_append_summary(path_of("step.md"), &results, NULL, &err) == ATTEST_OK, "%s", err.text);
    const char *text = text_of("step.md");
    const char *headline = strstr(text, "# attest: FAIL 1 kernel, 6 cases, 6 results: 1 fail, 1 crash");
    ck_assert_msg(strncmp(text, "what was there\n", 15) == 0 && headline, "%s", text);
    const char *bad = strstr(text, "| verdict | kernel |"), *kernels = strstr(text, "| kernel | results |");
    ck_assert(bad && kernels && headline < bad && bad < kernels);
    ck_assert_ptr_null(strstr(text, "cut here"));
    attest_results_clear(&results);
}
END_TEST

/* A pipe that nobody reads is refused and not waited for. */
START_TEST(step_summary_pipe)
{
    attest_results results = mixed();
    attest_error err = { "" };
    unlink(path_of("step.md"));
    ck_assert_int_eq(mkfifo(path_of("step.md"), 0600), 0);
    alarm(10);
    ck_assert_int_eq(attest_ci_append_summary(path_of("step.md"), &results, NULL, &err), ATTEST_BAD_INPUT);
    alarm(0);
    ck_assert_ptr_nonnull(strstr(err.text, "step.md: "));
    unlink(path_of("step.md"));
    attest_results_clear(&results);
}
END_TEST

START_TEST(step_summary_limit)
{
    attest_results results = { 0 };
    attest_error err = { "" };
    for (int i = 0; i < 2000; i++) { /* a table has a row a kernel */
        attest_result r = of(ATTEST_PASS, 0, i);
        memset(r.kernel, 'k', sizeof r.kernel - 1);
        snprintf(r.kernel + 500, 12, "%d", i);
        ck_assert_int_eq(attest_results_add(&results, &r, &err), ATTEST_OK);
    }
    unlink(path_of("step.md"));
    ck_assert_msg(attest_ci_append_summary(path_of("step.md"), &results, NULL, &err) == ATTEST_OK, "%s", err.text);
    const char *text = text_of("step.md");
    const char *cut = strstr(text, "\ncut here: no more fits");
    ck_assert_uint_lt(strlen(text), 1 << 20);
    ck_assert(cut && cut[-1] == '\n');
    attest_results_clear(&results);
}
END_TEST

START_TEST(a_file_that_cannot_be_written)
{
    attest_results results = mixed();
    attest_error err = { "" };
    ck_assert_int_ne(attest_ci_write_sarif(&results, "/none/r.sarif", &err), ATTEST_OK);
    ck_assert_msg(strstr(err.text, "/none/r.sarif") != NULL, "%s", err.text);
    ck_assert_int_ne(attest_ci_write_quality(&results, "/none/q.json", &err), ATTEST_OK);
    ck_assert_int_ne(attest_ci_append_summary("/none/s.md", &results, NULL, &err), ATTEST_OK);
    ck_assert_msg(strstr(err.text, "/none/s.md") != NULL, "%s", err.text);
    attest_results_clear(&results);
}
END_TEST

Suite *suite_ci(void)
{
    Suite *s = suite_create("ci");
    TCase *t = tcase_create("ci");
    tcase_set_timeout(t, 60);
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, sarif);
    tcase_add_test(t, sarif_places);
    tcase_add_test(t, sarif_limit);
    tcase_add_test(t, quality);
    tcase_add_test(t, identity);
    tcase_add_test(t, tap);
    tcase_add_test(t, annotations);
    tcase_add_test(t, unfinished);
    tcase_add_test(t, annotations_limit);
    tcase_add_test(t, fail_on);
    tcase_add_test(t, step_summary);
    tcase_add_test(t, step_summary_limit);
    tcase_add_test(t, step_summary_pipe);
    tcase_add_test(t, a_file_that_cannot_be_written);
    suite_add_tcase(s, t);
    return s;
}
