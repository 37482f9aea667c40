/* test_worker_versions.c - libraries of other years in the real worker: made with an older attest.h, with a newer one,
 * with one bit too many; and what only version 2 can declare.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/report.h"
#include "props/draw/draw.h"
#include "verify/gate/runner.h"

Suite *suite_worker_versions(void);

#define PLUGIN(name) ATTEST_TEST_BUILD "/plugins/" name ".so"

static attest_worker *start(const char *library)
{
    attest_error err = { "" };
    attest_worker *worker = NULL;
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 0);
    ck_assert_msg(attest_worker_start(&worker, library, 5, &err) == ATTEST_OK, "%s: %s", library, err.text);
    return worker;
}

static attest_problem problem_of(const char *line)
{
    attest_case c;
    attest_error err;
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    return c.problem;
}

static size_t kernel_of(attest_worker *worker, const char *name)
{
    for (size_t k = 0; k < attest_worker_kernel_count(worker); k++)
        if (strcmp(attest_worker_kernel(worker, k)->name, name) == 0)
            return k;
    ck_abort_msg("no kernel %s", name);
    return 0;
}

/* One case, run and judged as the gate does it. */
static attest_result judged(attest_worker *worker, const char *kernel, const char *line)
{
    attest_error err = { "" };
    attest_prepared prepared = { .index = 0 };
    attest_result result;
    attest_case c;
    int supported = 0;
    const size_t index = kernel_of(worker, kernel);
    const attest_subject subject = { .worker = worker, .index = index, .library = "plugin", .program = "attest" };
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_prepare(&prepared, &c, &err) == ATTEST_OK, "%s", err.text);
    attest_result_init(&result);
    ck_assert_msg(attest_run_case(&result, &supported, &prepared, &subject, NULL, 5, &err) == ATTEST_OK, "%s",
                  err.text);
    attest_prepared_clear(&prepared);
    return result;
}

static void expect(attest_worker *worker, const char *kernel, const char *line, int64_t verdict, const char *why)
{
    const attest_result result = judged(worker, kernel, line);
    ck_assert_msg(result.verdict == verdict, "%s, %s: %s (%s)", kernel, line, attest_verdict_names[result.verdict],
                  result.why);
    ck_assert_msg(strstr(result.why, why) != NULL, "%s, %s: `%s` does not say `%s`", kernel, line, result.why, why);
}

/* ---- other years ------------------------------------------------------------------------------------------------- */

/* Both load, say what they know, compute and pass; what they lack is 0. */
START_TEST(other_years)
{
    static const char *const files[] = { PLUGIN("year-old"), PLUGIN("year-new") };
    attest_worker *worker = start(files[_i]);
    const attest_kernel_facts *facts = attest_worker_kernel(worker, 0);
    ck_assert_uint_eq(attest_worker_kernel_count(worker), 1);
    ck_assert_str_eq(facts->name, "other-year");
    ck_assert_uint_eq(facts->numerics.struct_size, sizeof facts->numerics);
    ck_assert_uint_eq(facts->numerics.schedule, ATTEST_SCHEDULE_TWO_PASS);
    ck_assert(facts->numerics.score_unit == 0 && facts->numerics.sigmoid_error == 0 && !facts->differs);
    ck_assert(facts->has_claim && facts->claim_ulp == 1e9);
    expect(worker, "other-year", "n=9 d=5 mask=causal", ATTEST_PASS, "");
    expect(worker, "other-year", "n=33 hq=4 hkv=2 b=2", ATTEST_PASS, "");
    attest_worker_free(worker);
}
END_TEST

/* An axis that a kernel does not know refuses the problem; at its default it does not. */
START_TEST(axes_of_another_year)
{
    char why[256] = "";
    const attest_problem plain = problem_of("variant=linear n=8 d=4 mask=causal");
    const attest_problem given = problem_of("variant=linear n=8 d=4 mask=causal attn_mask=shared");
    attest_worker *old = start(PLUGIN("year-old")), *new = start(PLUGIN("year-new")), *own = start(NULL);
    ck_assert_int_eq(attest_worker_supports(old, 0, &plain, why, sizeof why), 1);
    ck_assert_int_eq(attest_worker_supports(old, 0, &given, why, sizeof why), 0);
    ck_assert_str_eq(why, "axis number 19 is newer than this kernel");
    ck_assert_int_eq(attest_worker_supports(new, 0, &given, why, sizeof why), 1);
    attest_problem later = plain; /* of a host that has three axes more */
    later.axis_count = ATTEST_AXIS_COUNT + 3;
    ck_assert_int_eq(attest_worker_supports(new, 0, &later, why, sizeof why), 1);
    later.axis[ATTEST_AXIS_COUNT + 2].value = 1;
    ck_assert_int_eq(attest_worker_supports(new, 0, &later, why, sizeof why), 0);
    ck_assert_str_eq(why, "axis number 28 is newer than this kernel");
    for (size_t k = 0; k < attest_worker_kernel_count(own); k++) {
        ck_assert_int_eq(attest_worker_supports(own, k, &later, why, sizeof why), 0);
        ck_assert_msg(strstr(why, "axis number 28"), "%s: %s", attest_worker_kernel(own, k)->name, why);
    }
    attest_worker_free(own);
    attest_worker_free(new);
    attest_worker_free(old);
}
END_TEST

START_TEST(refused_libraries)
{
    static const struct {
        const char *file, *text;
    } cases[] = { { PLUGIN("version1"), "made for version 1 of attest.h" },
                  { PLUGIN("year-odd-flag"), "flags is 0x401; this program does not know bits 0x400" },
                  { PLUGIN("year-odd-output"), "outputs is 0x81; this program does not know bits 0x80" },
                  { PLUGIN("year-odd-need"), "needs is 0x2; this program does not know bits 0x2" } };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        attest_error err = { "" };
        attest_worker *worker = NULL;
        setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 0);
        ck_assert_int_eq(attest_worker_start(&worker, cases[n].file, 5, &err), ATTEST_BAD_INPUT);
        ck_assert_msg(strstr(err.text, cases[n].text) && strstr(err.text, cases[n].file), "%s", err.text);
        ck_assert_msg(!strchr(err.text, '\n'), "one line: %s", err.text);
        ck_assert_ptr_null(worker);
    }
}
END_TEST

/* ---- declarations ------------------------------------------------------------------------------------------------ */

START_TEST(declarations)
{
    attest_worker *worker = start(PLUGIN("declares"));
    expect(worker, "limited", "n=8 d=8", ATTEST_PASS, "");
    expect(worker, "limited", "n=9 d=8", ATTEST_SKIP, "n=9 is no multiple of 4");
    expect(worker, "limited", "n=8 d=9", ATTEST_SKIP, "d=9 is above");
    expect(worker, "limited", "n=8 m=1 d=8", ATTEST_SKIP, "m=1 is below");
    expect(worker, "vague", "n=8", ATTEST_SKIP, "unsupported declaration: no bound covers a log");
    expect(worker, "narrow", "n=8", ATTEST_PASS, "");
    expect(worker, "divided", "n=8", ATTEST_PASS, "");
    expect(worker, "paths", "n=8 m=77", ATTEST_SKIP, "declaration: of this problem, numerics.exp_error is 1");
    expect(worker, "ordered", "n=8", ATTEST_PASS, "refuses tensors that are not in C order");
    expect(worker, "talker", "n=8", ATTEST_FAIL, "the moon is full");
    expect(worker, "anything", "n=5 m=2 mask=causal-br", ATTEST_PARTIAL, "48 elements absent");
    attest_worker_free(worker);
}
END_TEST

/* Numerics of a problem: another bound from 33 keys on. */
START_TEST(numerics_by_problem)
{
    attest_worker *worker = start(PLUGIN("declares"));
    const size_t paths = kernel_of(worker, "paths"), divided = kernel_of(worker, "divided");
    const attest_problem few = problem_of("n=8 m=32"), many = problem_of("n=8 m=33");
    attest_declared d;
    attest_error err;
    ck_assert_int_eq(attest_worker_declared(worker, paths, &few, &d, &err), ATTEST_OK);
    ck_assert_uint_eq(d.numerics.schedule, ATTEST_SCHEDULE_TWO_PASS);
    ck_assert_int_eq(attest_worker_declared(worker, paths, &many, &d, &err), ATTEST_OK);
    ck_assert(d.numerics.schedule == ATTEST_SCHEDULE_ONLINE && d.numerics.acc_unit == 0x1p-20);
    ck_assert_int_eq(attest_worker_declared(worker, divided, &few, &d, &err), ATTEST_OK);
    ck_assert_uint_eq(d.numerics.division, ATTEST_DIVISION_THEN_CAST);
    ck_assert_int_eq(attest_worker_declared(worker, kernel_of(worker, "vague"), &few, &d, &err), ATTEST_UNSUPPORTED);
    ck_assert_msg(strstr(err.text, "unsupported declaration"), "%s", err.text);
    const attest_result near = judged(worker, "paths", "n=8 m=32"), far = judged(worker, "paths", "n=8 m=33");
    ck_assert_int_eq(near.verdict, ATTEST_PASS);
    ck_assert_int_eq(far.verdict, ATTEST_PASS);
    ck_assert_msg(far.bound > 4 * near.bound, "bounds %g and %g", near.bound, far.bound);
    attest_worker_free(worker);
}
END_TEST

/* ---- context ----------------------------------------------------------------------------------------------------- */

/* What open() makes reaches every function (the plugin aborts without it), and close() gets it at the end. */
START_TEST(context)
{
    char mark[] = "/tmp/attest-closed-XXXXXX";
    const int fd = mkstemp(mark);
    ck_assert_int_ge(fd, 0);
    close(fd);
    unlink(mark);
    setenv("WORKER_CLOSED", mark, 1);
    setenv("ATTEST_SANDBOX", "off", 1); /* it makes a file */
    attest_worker *worker = start(PLUGIN("worker_device"));
    expect(worker, "make-believe", "n=4 m=1 d=1 e=1", ATTEST_FAIL, "");
    ck_assert_int_ne(access(mark, F_OK), 0);
    attest_worker_free(worker);
    ck_assert_msg(access(mark, F_OK) == 0, "close() was not called");
    unlink(mark);
    unsetenv("WORKER_CLOSED");
}
END_TEST

/* The second run is on a stream that the library gives (copy_later(), the youngest function of attest_memory).
 * Without it, or where the device has no room or fails, it is on the default one, and no kernel is to blame.  The
 * kernel's numbers are wrong: that is not asked here. */
#define NUMBERS (ATTEST_REASON_BOUND | ATTEST_REASON_BIAS)
START_TEST(on_a_stream_of_its_own)
{
    static const char *const memories[] = { "whole", "old", "full", "refuses" };
    static const char wrong[] = "o[0,0,0,0] is NaN on a stream of its own: not all work is put on attest_call.stream";
    const int whole = _i == 0;
    setenv("WORKER_MEMORY", memories[_i], 1);
    attest_worker *worker = start(PLUGIN("worker_device"));
    const attest_result right = judged(worker, "make-believe", "n=4 m=1 d=1 e=1 chunk=1"),
                        other = judged(worker, "make-believe", "n=4 m=1 d=1 e=1 chunk=6");
    ck_assert_msg(!(right.reasons & ~(int64_t)NUMBERS) && !strstr(right.why, "stream"), "%s", right.why);
    ck_assert_msg(whole == (strcmp(other.why, wrong) == 0), "%s: %s", memories[_i], other.why);
    ck_assert_int_eq(other.reasons & ~(int64_t)NUMBERS, whole ? ATTEST_REASON_NAN_PATTERN : 0);
    attest_worker_free(worker);
    unsetenv("WORKER_MEMORY");
}
END_TEST

/* A kernel of cuda-host has ATTEST_CUDA_HOST_LONGER times the limit. */
START_TEST(longer_on_cuda_host)
{
    static const char *const devices[] = { "cuda", "cuda-host" };
    static const char *const says[] = { " did not return within 0.2 s", " did not return within 2 s" };
    attest_error err = { "" };
    attest_run_result result;
    const attest_problem p = problem_of("n=4 m=1 d=1 e=1 chunk=7");
    attest_bundle *bundle = NULL;
    attest_case c;
    attest_tensor *o;
    ck_assert_int_eq(ATTEST_CUDA_HOST_LONGER, 10);
    ck_assert_int_eq(attest_case_parse(&c, "n=4 m=1 d=1 e=1 chunk=7", NULL, NULL, &err), ATTEST_OK);
    ck_assert_int_eq(attest_bundle_new(&bundle, &err), ATTEST_OK);
    ck_assert_int_eq(attest_draw_missing(bundle, &c, 0, 0, &err), ATTEST_OK);
    ck_assert_int_eq(attest_bundle_add(bundle, &p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0, &o, &err),
                     ATTEST_OK);
    setenv("WORKER_DEVICE", devices[_i], 1);
    attest_worker *worker = start(PLUGIN("worker_device"));
    ck_assert_int_eq(attest_worker_run(worker, 0, &p, bundle, 0.2, &result, &err), ATTEST_OK);
    ck_assert_int_eq(result.state, ATTEST_RUN_TIMEOUT);
    ck_assert_msg(strstr(result.why, says[_i]), "%s", result.why);
    attest_worker_free(worker);
    attest_bundle_free(bundle);
    unsetenv("WORKER_DEVICE");
}
END_TEST

START_TEST(open_fails)
{
    attest_error err = { "" };
    attest_worker *worker = NULL;
    char why[256] = "";
    const attest_problem p = problem_of("n=4");
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 0);
    setenv("WORKER_OPEN", "fails", 1);
    ck_assert_int_eq(attest_worker_start(&worker, PLUGIN("worker_device"), 5, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "its open() failed with status 6: no licence"), "%s", err.text);
    setenv("WORKER_OPEN", "absent", 1);
    worker = start(PLUGIN("worker_device"));
    ck_assert_int_eq(attest_worker_supports(worker, 0, &p, why, sizeof why), 0);
    ck_assert_str_eq(why, "no device");
    attest_worker_free(worker);
    unsetenv("WORKER_OPEN");
}
END_TEST

Suite *suite_worker_versions(void)
{
    Suite *s = suite_create("worker_versions");
    TCase *t = tcase_create("years");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, other_years, 0, 2);
    tcase_add_test(t, axes_of_another_year);
    tcase_add_test(t, refused_libraries);
    suite_add_tcase(s, t);
    t = tcase_create("declarations");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, declarations);
    tcase_add_test(t, numerics_by_problem);
    tcase_add_test(t, context);
    tcase_add_test(t, open_fails);
    tcase_add_loop_test(t, on_a_stream_of_its_own, 0, 4);
    tcase_add_loop_test(t, longer_on_cuda_host, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
