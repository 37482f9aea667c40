/* test_gate.c - memory: a run says beforehand what it takes, and a case that is larger than the machine is a skip,
 * which costs the others nothing.  A drawn case need not be judged. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/gate/gate.h"

Suite *suite_gate(void);

static attest_suite suite;
static attest_plan plan;
static attest_options options;
static attest_gate gate;

static void make_for(const char *kernel, const char *text)
{
    static const char *const built_in[] = { NULL };
    char path[] = ATTEST_TEST_BUILD "/gate-XXXXXX";
    attest_error err = { "" };
    const int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");
    ck_assert(out && fputs(text, out) >= 0 && fclose(out) == 0);
    ck_assert_msg(attest_suite_read(&suite, path, &err) == ATTEST_OK, "%s", err.text);
    unlink(path);
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    options = (attest_options){ .program = "attest", .timeout = 30, .max_time = -1, .quiet = 1, .jobs = 2 };
    gate = (attest_gate){ .options = &options, .suite = &suite, .plan = &plan, .kernel_glob = kernel };
    ck_assert_msg(attest_plan_make(&plan, built_in, 1, attest_gate_wants, &gate, 30, &err) == ATTEST_OK, "%s",
                  err.text);
    ck_assert_uint_eq(plan.kernel_count, 1);
}

static void make(const char *text) { make_for("softmax-two-pass-f32", text); }

static void clear(void)
{
    attest_plan_clear(&plan);
    attest_suite_clear(&suite);
}

/* A line whose inputs take a third of the memory: with all that is made of them it does not fit. */
static void too_large(char *line, size_t len)
{
    const long long d = (long long)(attest_memory_total() / 3 / (2 * 4 << 20));
    snprintf(line, len, "variant=softmax n=1 m=1048576 d=%lld\n", d < 65535 ? d : 65535);
}

START_TEST(a_case_that_is_too_large)
{
    char text[256];
    attest_results results = { 0 };
    attest_run_info info;
    attest_result large, small;
    attest_error err = { "" };
    too_large(text, sizeof text);
    strcat(text, "variant=softmax n=3 d=2\n");
    make(text);
    ck_assert_msg(attest_gate_describe(&info, &gate, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_gate_run(&results, &info, &gate, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(results.count, 2);
    ck_assert_int_eq(attest_results_get(&large, &results, 0, &err), ATTEST_OK);
    ck_assert_int_eq(attest_results_get(&small, &results, 1, &err), ATTEST_OK);
    ck_assert_int_eq(large.verdict, ATTEST_SKIP);
    ck_assert_msg(strncmp(large.why, "takes about ", 12) == 0 && strstr(large.why, "GiB"), "%s", large.why);
    ck_assert_int_eq(small.verdict, ATTEST_PASS);
    attest_results_clear(&results);
    clear();
}
END_TEST

static uint64_t bytes_of(const char *line)
{
    attest_case c;
    attest_error err = { "" };
    uint64_t bytes = 0;
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_case_memory(&bytes, &c.problem, &err) == ATTEST_OK, "%s", err.text);
    return bytes;
}

START_TEST(of_a_case)
{
    const uint64_t mib = 1 << 20;
    /* q, o: 64 numbers; k, v: 65536 x 64; u: 64; z, lse: one */
    ck_assert_uint_eq(bytes_of("variant=softmax n=1 m=65536 d=64"),
                      64 * mib + 12 * 4 * (3 * 64 + 2 * 65536 * 64 + 2) + (2560ull << 16) + 3 * (256ull << 16));
    ck_assert_uint_lt(bytes_of("variant=softmax n=3 d=2"), 65 * mib);
    /* what is kept of rows ends at 512 MiB a truth */
    const uint64_t most = bytes_of("variant=softmax n=65536 d=1") - 12 * 4 * (5 * 65536 + 2 * 65536);
    ck_assert_uint_eq(most, 64 * mib + (2560ull << 16) + 3 * 512 * mib);
}
END_TEST

START_TEST(of_a_run)
{
    const char *const lines[] = { "variant=softmax n=256 d=64", "variant=softmax n=1 m=65536 d=64",
                                  "variant=softmax n=1 m=65536 d=32" };
    char text[512] = "";
    attest_error err = { "" };
    uint64_t bytes;
    size_t largest;
    too_large(text, sizeof text); /* is not run, and takes nothing */
    for (size_t i = 0; i < 3; i++)
        strcat(strcat(text, lines[i]), "\n");
    make(text);
    ck_assert_msg(attest_gate_memory(&bytes, &largest, &gate, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(largest, 2);
    ck_assert_uint_eq(bytes, bytes_of(lines[1]) + bytes_of(lines[2]));
    options.jobs = 1;
    ck_assert_msg(attest_gate_memory(&bytes, &largest, &gate, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(bytes, bytes_of(lines[1]));
    clear();
}
END_TEST

/* What a drawn case may be, and one that was asked for not. */
static const struct {
    const char *kernel, *line, *why;
} beyond[] = {
    /* lse is judged, o is not: scores of that size may overflow */
    { "softmax-two-pass-f32", "variant=no-denominator bias=head n=1 d=2 e=1 scale=0.125 in=bf16 out=f32 family=edges\n",
      "no element of o could be judged" },
    /* the inputs overflow their type */
    { "softmax-two-pass-f32",
      "variant=softmax1 mask=causal-br window=4 hq=2 hkv=1 n=1 m=192 d=1 scale=-0.001 in=f16 out=f32 family=stairs\n",
      "nothing could be judged: 4 elements without truth" },
    /* scores at the filter's threshold */
    { "taylor-direct-f32",
      "variant=filtered:0.5 lens=draw gates=inout eps=1 clamp=0 cap=8 alibi=draw attn_mask=head hq=2 hkv=1 n=128 d=2 "
      "scale=0.0009765625 in=bf16 family=repeat-max\n",
      "undecided at 8192 bits" },
};

START_TEST(a_drawn_case_beyond_the_bounds)
{
    static const int64_t verdicts[] = { ATTEST_UNDECIDED, ATTEST_SKIP };
    for (size_t drawn = 0; drawn < 2; drawn++) {
        attest_results results = { 0 };
        attest_run_info info;
        attest_result result;
        attest_error err = { "" };
        make_for(beyond[_i].kernel, beyond[_i].line);
        suite.drawn = drawn;
        ck_assert_msg(attest_gate_describe(&info, &gate, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_msg(attest_gate_run(&results, &info, &gate, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_int_eq(attest_results_get(&result, &results, 0, &err), ATTEST_OK);
        ck_assert_msg(strstr(result.why, beyond[_i].why) != NULL, "%s", result.why);
        ck_assert_int_eq(result.verdict, verdicts[drawn]);
        attest_results_clear(&results);
        clear();
    }
}
END_TEST

/* Where each element is ill-posed and the suite says why that may be, nothing is asked of the kernel; a case with
 * elements without a bound, or that were judged, is no such case. */
START_TEST(all_is_ill_posed)
{
    static const struct {
        int64_t illposed, unbounded, judged, verdict;
        const char *rule;
    } of[] = { { 4, 0, 0, ATTEST_SKIP, "!allow partial illposed * weight=power:1 : they vanish\n" },
               { 4, 0, 0, ATTEST_UNDECIDED, "!allow partial illposed * weight=power:2 : they vanish\n" },
               { 4, 0, 0, ATTEST_UNDECIDED, "!allow partial unbounded * weight=power:1 : they vanish\n" },
               { 4, 2, 0, ATTEST_UNDECIDED, "!allow partial * weight=power:1 : they vanish\n" },
               { 4, 0, 2, ATTEST_UNDECIDED, "!allow partial illposed * weight=power:1 : they vanish\n" } };
    attest_result result = { .verdict = ATTEST_UNDECIDED, .noticed_median = NAN };
    char text[256];
    snprintf(text, sizeof text, "variant=linear-relu n=1 d=2\n%s", of[_i].rule);
    attest_case c;
    attest_error err = { "" };
    make(text);
    ck_assert_int_eq(attest_case_parse(&c, "variant=linear-relu n=1 d=2", NULL, NULL, &err), ATTEST_OK);
    result.elements_illposed = of[_i].illposed;
    result.elements_unbounded = of[_i].unbounded;
    result.elements_judged = of[_i].judged;
    attest_gate_allow(&result, &suite, "k", &c, 0);
    ck_assert_int_eq(result.verdict, of[_i].verdict);
    ck_assert_int_eq(strstr(result.why, "allowed: they vanish") != NULL, of[_i].verdict == ATTEST_SKIP);
    clear();
}
END_TEST

Suite *suite_gate(void)
{
    Suite *s = suite_create("gate");
    TCase *t = tcase_create("gate");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_case_that_is_too_large);
    tcase_add_test(t, of_a_case);
    tcase_add_test(t, of_a_run);
    tcase_add_loop_test(t, a_drawn_case_beyond_the_bounds, 0, sizeof beyond / sizeof beyond[0]);
    tcase_add_loop_test(t, all_is_ill_posed, 0, 5);
    suite_add_tcase(s, t);
    return s;
}
