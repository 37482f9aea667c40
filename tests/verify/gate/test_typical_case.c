/* test_typical_case.c - hits and silence of the second yardstick: kernels that lost digits where they declare none lost
 * (verify/typical/plugins) at n = 4096 are found, on all seeds, and the kernels that they are made of are not. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/gate/gate.h"

Suite *suite_typical_case(void);

#define PLUGIN(name) ATTEST_TEST_BUILD "/plugins/" name ".so"

static attest_result run(const char *library, const char *name, const char *line, int typical)
{
    const attest_options options = { .timeout = 60, .typical = typical };
    attest_error err = { "" };
    attest_prepared prepared;
    attest_subject subject = { .library = library, .program = "attest" };
    attest_result result;
    attest_case c;
    int supported;
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_worker_start(&subject.worker, library, 60, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_find_kernel(&subject, name, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_prepare_inputs(&prepared, &c, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_run_case(&result, &supported, &prepared, &subject, NULL, 60, &err) == ATTEST_OK, "%s",
                  err.text);
    ck_assert(supported);
    ck_assert_msg(attest_typical_case(&result, &prepared, &subject, &options, &err) == ATTEST_OK, "%s", err.text);
    attest_prepared_clear(&prepared);
    attest_worker_free(subject.worker);
    return result;
}

static const struct {
    const char *library, *correct; /* the kernel that it is made of; NULL: `carried` of its folder */
    const char *line;
} regressed[] = {
    { PLUGIN("short-state"), "linear-recurrent-f32", "variant=retnet mask=causal n=4096 d=16" },
    { PLUGIN("short-state"), "linear-recurrent-f32", "variant=linear-elu mask=causal n=4096 d=16" },
    { PLUGIN("short-acc"), "softmax-two-pass-f32", "variant=softmax n=24 m=4096 d=16" },
    { PLUGIN("cast-weights"), "softmax-online-f32", "variant=softmax n=24 m=4096 d=16" },
    { PLUGIN("undeclared"), "softmax-online-f32", "variant=softmax n=24 m=4096 d=16" },
    { PLUGIN("dropped"), NULL, "variant=softmax n=24 m=4096 d=16" },
};

/* Found, in no verdict: a bound may fail it beside. */
START_TEST(hits)
{
    const attest_result r = run(regressed[_i].library, NULL, regressed[_i].line, 1);
    ck_assert((r.reasons & ~ATTEST_REASON_BOUND) == 0 && (r.verdict == ATTEST_FAIL) == (r.reasons != 0));
    ck_assert_msg(strcmp(r.typical, "worse-than-plain") == 0, "%s, factor %g", r.typical, r.typical_factor);
    ck_assert_double_gt(r.typical_factor, 4);
    ck_assert_double_eq_tol(r.typical_factor, r.typical_rms / r.typical_quantile, 1e-9);
}
END_TEST

START_TEST(silence)
{
    const char *correct = regressed[_i].correct;
    const attest_result r = run(correct ? NULL : PLUGIN("carried"), correct, regressed[_i].line, 2);
    ck_assert_int_eq(r.verdict, ATTEST_PASS);
    ck_assert_msg(strcmp(r.typical, "as-plain") == 0, "%s, factor %g", r.typical, r.typical_factor);
    ck_assert_double_lt(r.typical_factor, 2);
}
END_TEST

START_TEST(strict_fails)
{
    const attest_result r = run(PLUGIN("dropped"), NULL, "variant=softmax n=8 m=2000 d=16", 2);
    ck_assert_int_eq(r.verdict, ATTEST_FAIL);
    ck_assert_int_eq(r.reasons, ATTEST_REASON_TYPICAL);
    ck_assert_msg(strncmp(r.why, "worse-than-plain: ", 18) == 0, "%s", r.why);
    ck_assert_int_eq(attest_result_exit(&r, 1), 1);
}
END_TEST

/* Silence that would look like a pass has its reason. */
START_TEST(reasons)
{
    const attest_result r = run(NULL, "softmax-two-pass-f64", "variant=softmax n=20 d=8 in=f64", 1);
    ck_assert_str_eq(r.typical, "not modelled: only acc=f32");
    ck_assert(isnan(r.typical_factor));
}
END_TEST

Suite *suite_typical_case(void)
{
    Suite *suite = suite_create("typical_case");
    TCase *tc = tcase_create("typical_case");
    tcase_set_timeout(tc, 400);
    tcase_add_loop_test(tc, hits, 0, sizeof regressed / sizeof regressed[0]);
    tcase_add_loop_test(tc, silence, 0, sizeof regressed / sizeof regressed[0]);
    tcase_add_test(tc, strict_fails);
    tcase_add_test(tc, reasons);
    suite_add_tcase(suite, tc);
    return suite;
}
