/* test_gate_finish.c - after the last case: a pair that did not end, or ended twice, is an error of ours; results come
 * in the order of their cases; passes that prove nothing are no evidence; what has no case gets a result of its own. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/gate/gate_private.h"

Suite *suite_gate_finish(void);

enum { CASES = 3, KERNELS = 2 };

static attest_suite suite;
static attest_plan_library library[2];
static attest_plan_kernel kernel[KERNELS];
static attest_plan plan;
static attest_options options;
static attest_gate gate;
static attest_run_info info;
static attest_results results;
static unsigned char ended[CASES * KERNELS];
static attest_gate_state g;

/* Results are told, not made: no kernel is called again for a judge. */
static attest_status never(void *context, attest_result *result, attest_prepared *prepared,
                           const attest_bundle *outputs, attest_error *err)
{
    (void)context, (void)result, (void)prepared, (void)outputs;
    return attest_fail(err, ATTEST_INTERNAL, "nothing is to be judged");
}
static const attest_judge judge = { .judge = never };

static void setup(void)
{
    static char path[] = ATTEST_TEST_BUILD "/finish-XXXXXX";
    attest_error err = { "" };
    strcpy(path + strlen(path) - 6, "XXXXXX");
    const int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");
    ck_assert(out && fputs("variant=softmax n={3,4}\nvariant=linear n=5\n", out) >= 0 && fclose(out) == 0);
    ck_assert_msg(attest_suite_read(&suite, path, &err) == ATTEST_OK, "%s", err.text);
    unlink(path);
    ck_assert_uint_eq(suite.case_count, CASES);
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    library[0] = (attest_plan_library){ .path = NULL, .kernels = KERNELS };
    library[1] = (attest_plan_library){ .path = "/none.so", .kernels = 0 };
    for (size_t k = 0; k < KERNELS; k++) {
        kernel[k] = (attest_plan_kernel){ .library = 0, .index = k };
        snprintf(kernel[k].name, sizeof kernel[k].name, "made-up-%zu", k);
        snprintf(kernel[k].facts.name, sizeof kernel[k].facts.name, "made-up-%zu", k);
    }
    plan = (attest_plan){ library, kernel, 1, KERNELS };
    options = (attest_options){ .program = "attest", .timeout = 10, .max_time = -1, .quiet = 1 };
    gate = (attest_gate){ .options = &options, .suite = &suite, .plan = &plan, .judge = &judge };
    info = (attest_run_info){ .cases = CASES, .planned = CASES * KERNELS };
    results = (attest_results){ 0 };
    memset(ended, 0, sizeof ended);
    g = (attest_gate_state){ .gate = &gate, .info = &info, .results = &results, .ended = ended };
}

static void teardown(void)
{
    attest_results_clear(&results);
    attest_suite_clear(&suite);
    free(g.entry);
    free(g.variant);
}

/* A result of kernel k on case i, a pass unless it says otherwise; `tells`: its truth moves with its inputs. */
static void add(size_t i, size_t k, attest_verdict verdict, int tells)
{
    attest_result r;
    attest_error err = { "" };
    attest_case c;
    attest_suite_case(&c, &suite, i);
    attest_result_init(&r);
    attest_result_describe(&r, &c, attest_suite_line(&suite, i), attest_case_hash(&c));
    snprintf(r.kernel, sizeof r.kernel, "%s", kernel[k].name);
    r.verdict = verdict;
    r.family_constant = !tells;
    r.range = 1;
    ck_assert_msg(attest_gate_add(&g, i, (uint32_t)k, &r, &err) == ATTEST_OK, "%s", err.text);
    *attest_gate_ended(&g, i, k) = 1;
}

static attest_result get(size_t at)
{
    attest_result r;
    attest_error err = { "" };
    ck_assert_msg(attest_results_get(&r, &results, at, &err) == ATTEST_OK, "%s", err.text);
    return r;
}

/* All pairs, last case first. */
static void add_all(int tells)
{
    for (size_t i = CASES; i-- > 0;)
        for (size_t k = KERNELS; k-- > 0;)
            add(i, k, ATTEST_PASS, tells);
    g.done = CASES;
}

START_TEST(by_case_and_kernel)
{
    attest_error err = { "" };
    add_all(1);
    ck_assert_msg(attest_gate_finish(&g, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(results.count, CASES * KERNELS);
    ck_assert_int_eq(info.complete, 1);
    ck_assert_int_eq(info.results, CASES * KERNELS);
    for (size_t at = 0; at < results.count; at++) {
        const attest_result r = get(at);
        ck_assert_str_eq(r.problem, attest_suite_line(&suite, at / KERNELS));
        ck_assert_str_eq(r.kernel, kernel[at % KERNELS].name);
        ck_assert_int_eq(r.verdict, ATTEST_PASS);
    }
}
END_TEST

/* Only one variant of one kernel has a case that can tell. */
START_TEST(no_evidence_by_kernel_and_variant)
{
    attest_error err = { "" };
    for (size_t i = 0; i < CASES; i++)
        for (size_t k = 0; k < KERNELS; k++)
            add(i, k, i == 1 && k == 0 ? ATTEST_FAIL : ATTEST_PASS, i == 1 && k == 0);
    g.done = CASES;
    ck_assert_msg(attest_gate_finish(&g, &err) == ATTEST_OK, "%s", err.text);
    for (size_t at = 0; at < results.count; at++) {
        const attest_result r = get(at);
        const int first = strcmp(r.kernel, kernel[0].name) == 0, softmax = strcmp(r.variant, "softmax") == 0;
        const int64_t want = first && softmax ? at / KERNELS == 1 ? ATTEST_FAIL : ATTEST_PASS : ATTEST_NO_EVIDENCE;
        ck_assert_msg(r.verdict == want, "result %zu: %d", at, (int)r.verdict);
        ck_assert(r.verdict != ATTEST_NO_EVIDENCE || *r.why);
    }
}
END_TEST

static void is_ours(const char *says)
{
    attest_error err = { "" };
    ck_assert_int_eq(attest_gate_finish(&g, &err), ATTEST_INTERNAL);
    ck_assert_msg(strstr(err.text, says) != NULL, "%s", err.text);
    ck_assert_int_eq(info.complete, 0);
}

START_TEST(a_pair_that_never_ended)
{
    add_all(1);
    *attest_gate_ended(&g, 1, 1) = 0;
    is_ours("5 ended as a result and 0 as refused");
}
END_TEST

START_TEST(a_case_that_was_not_counted)
{
    add_all(1);
    g.done = CASES - 1;
    is_ours("6 ended as a result");
}
END_TEST

START_TEST(a_result_that_was_lost)
{
    add_all(1);
    *attest_gate_ended(&g, 1, 1) = 2; /* refused, but its result is there */
    is_ours("6 results have come");
}
END_TEST

START_TEST(a_pair_that_ended_twice)
{
    add_all(1);
    g.twice = 1;
    is_ours("1 twice");
}
END_TEST

/* In the file that a resumed run goes on with it is the file's fault. */
START_TEST(a_file_with_a_result_twice)
{
    attest_error err = { "" };
    add_all(1);
    add(0, 0, ATTEST_PASS, 1);
    memset(ended, 0, sizeof ended);
    ck_assert_int_eq(attest_gate_take_over(&g, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "is the second of its case") != NULL, "%s", err.text);
}
END_TEST

START_TEST(results_of_another_run)
{
    attest_error err = { "" };
    add(0, 0, ATTEST_PASS, 1);
    snprintf(kernel[0].name, sizeof kernel[0].name, "renamed");
    ck_assert_int_eq(attest_gate_take_over(&g, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "made-up-0") != NULL, "%s", err.text);
}
END_TEST

START_TEST(a_run_that_was_ended)
{
    attest_error err = { "" };
    add(0, 0, ATTEST_PASS, 0);
    strcpy(info.ended, "SIGINT");
    g.done = 1;
    ck_assert_msg(attest_gate_finish(&g, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(results.count, 2);
    ck_assert_int_eq(info.complete, 0);
    ck_assert_int_eq(get(0).verdict, ATTEST_PASS); /* what is missing might have been evidence */
    const attest_result last = get(1);
    ck_assert_int_eq(last.verdict, ATTEST_UNDECIDED);
    ck_assert_int_eq(attest_result_unfinished(&last), 1);
    ck_assert_str_eq(last.why, "SIGINT: 2 of 3 cases not run");
}
END_TEST

START_TEST(kernels_and_libraries_without_a_case)
{
    attest_error err = { "" };
    for (size_t i = 0; i < CASES; i++) {
        add(i, 0, ATTEST_PASS, 1);
        *attest_gate_ended(&g, i, 1) = 2;
    }
    g.done = CASES;
    plan.library_count = 2;
    strcpy(library[1].failed, "it is none");
    ck_assert_msg(attest_gate_finish(&g, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_int_eq(info.results, CASES);
    ck_assert_int_eq(info.refused, CASES);
    ck_assert_uint_eq(results.count, CASES + 2);
    const attest_result failed = get(CASES), unserved = get(CASES + 1);
    ck_assert_int_eq(failed.verdict, ATTEST_CRASH);
    ck_assert_str_eq(failed.kernel, "/none.so");
    ck_assert_str_eq(failed.why, "it is none");
    ck_assert_str_eq(failed.reproduction, "attest audit /none.so");
    ck_assert_int_eq(unserved.verdict, ATTEST_SKIP);
    ck_assert_str_eq(unserved.kernel, "made-up-1");
    ck_assert_msg(strstr(unserved.why, "serves no case of suite") != NULL, "%s", unserved.why);
}
END_TEST

Suite *suite_gate_finish(void)
{
    Suite *finish = suite_create("gate_finish");
    TCase *ends = tcase_create("ends");
    tcase_add_checked_fixture(ends, setup, teardown);
    tcase_add_test(ends, by_case_and_kernel);
    tcase_add_test(ends, no_evidence_by_kernel_and_variant);
    tcase_add_test(ends, a_pair_that_never_ended);
    tcase_add_test(ends, a_case_that_was_not_counted);
    tcase_add_test(ends, a_result_that_was_lost);
    tcase_add_test(ends, a_pair_that_ended_twice);
    tcase_add_test(ends, a_file_with_a_result_twice);
    tcase_add_test(ends, results_of_another_run);
    tcase_add_test(ends, a_run_that_was_ended);
    tcase_add_test(ends, kernels_and_libraries_without_a_case);
    suite_add_tcase(finish, ends);
    return finish;
}
