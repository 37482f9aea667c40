/* test_cli.c - the command line: .case files (cases.h) of the commands that take no more than seconds, and what
 * commands share.  The other test_cmd_*.c here are of one file each. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "tests/memory_use.h"
#include "tests/verify/commands/cases.h"
#include "verify/commands/cli.h"
#include "verify/gate/gate.h"
#include "verify/gate/runner.h"

Suite *suite_cli(void);

START_TEST(test_compare) { check_file("compare.case"); }
END_TEST

START_TEST(test_badinput) { check_file("badinput.case"); }
END_TEST

START_TEST(test_commands) { check_file("commands.case"); }
END_TEST

START_TEST(test_claims) { check_file("claims.case"); }
END_TEST

START_TEST(test_search) { check_file("search.case"); }
END_TEST

START_TEST(test_repros) { check_file("repro.case"); }
END_TEST

/* ---- what commands share, called directly --------------------------------------------------------------------- */
START_TEST(test_hashes)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } known[] = { /* the published FNV-1a values */
                  { "", 0xcbf29ce484222325ull },
                  { "a", 0xaf63dc4c8601ec8cull },
                  { "foobar", 0x85944171f73967e8ull }
    };
    char path[128], text[20], worker[20];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        ck_assert_uint_eq(attest_fnv(ATTEST_FNV_START, known[i].text, strlen(known[i].text)), known[i].hash);
    ck_assert_uint_eq(attest_fnv(attest_fnv(ATTEST_FNV_START, "foo", 3), "bar", 3), known[2].hash);
    attest_error none;
    snprintf(path, sizeof path, "%s/foobar", folder);
    FILE *out = fopen(path, "w");
    ck_assert(out && fputs("foobar", out) >= 0 && fclose(out) == 0);
    attest_file_hash(text, path);
    ck_assert_str_eq(text, "85944171f73967e8");
    ck_assert_int_eq(attest_library_hash(text, path, &none), ATTEST_OK);
    ck_assert_str_eq(text, "85944171f73967e8");
    attest_file_hash(worker, ATTEST_TEST_BUILD "/attest-worker");
    ck_assert_int_eq(attest_library_hash(text, NULL, &none), ATTEST_OK); /* the built-in kernels are in attest-worker */
    ck_assert_uint_eq(strlen(text), 16);
    ck_assert_str_eq(text, worker);
    attest_file_hash(text, "/nowhere/at-all");
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(test_quoting)
{
    static const struct {
        const char *word, *quoted;
    } cases[] = { { "plain-_+=./:,@%9Z", "plain-_+=./:,@%9Z" },
                  { "", "''" },
                  { "two words", "'two words'" },
                  { "it's", "'it'\\''s'" },
                  { "$HOME", "'$HOME'" },
                  { "a;b", "'a;b'" },
                  { "*", "'*'" } };
    char text[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_shell_quote(text, sizeof text, cases[i].word);
        ck_assert_str_eq(text, cases[i].quoted);
    }
    for (size_t len = 1; len < 20; len++) { /* never past the end */
        memset(text, 'x', sizeof text);
        attest_shell_quote(text, len, "it's a long one, it's");
        ck_assert_msg(strlen(text) < len && text[len] == 'x', "%zu bytes: `%.30s`", len, text);
    }
}
END_TEST

START_TEST(test_targets)
{
    static const struct {
        const char *target, *library, *kernel;
    } cases[] = { { "softmax-two-pass-f32", "", "softmax-two-pass-f32" },
                  { "./my.so", "./my.so", NULL },
                  { "my.so:two", "my.so", "two" },
                  { "/a:b/my.so", "/a:b/my.so", NULL },
                  { "/a:b/my.so:k", "/a:b/my.so", "k" },
                  { "/a:b/plugin", "/a:b/plugin", NULL },
                  { "dir/plugin:k", "dir/plugin", "k" } };
    char library[64];
    const char *kernel;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_split_target(cases[i].target, library, sizeof library, &kernel);
        ck_assert_str_eq(library, cases[i].library);
        ck_assert_msg(kernel && cases[i].kernel ? !strcmp(kernel, cases[i].kernel) : kernel == cases[i].kernel,
                      "%s: kernel %s", cases[i].target, kernel ? kernel : "(none)");
    }
}
END_TEST

START_TEST(test_wanted_kernels)
{
    static const struct {
        const char *glob, *device;
        uint32_t type;
        int wanted;
    } cases[] = { { NULL, NULL, ATTEST_CPU, 1 },         { NULL, "cuda", ATTEST_CPU, 0 },
                  { NULL, "cuda", ATTEST_CUDA, 1 },      { NULL, "cpu", ATTEST_CUDA, 0 },
                  { "soft*", NULL, ATTEST_CPU, 1 },      { "soft", NULL, ATTEST_CPU, 0 },
                  { NULL, "cuda", ATTEST_CUDA_HOST, 0 }, { NULL, "cuda-host", ATTEST_CUDA_HOST, 1 },
                  { NULL, "cuda-host", ATTEST_CUDA, 0 }, { "soft*", "cuda", ATTEST_CPU, 0 },
                  { "line*", "cpu", ATTEST_CPU, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const attest_options options = { .device = cases[i].device };
        const attest_gate gate = { .options = &options, .kernel_glob = cases[i].glob };
        const attest_kernel_facts facts = { .name = "softmax-f32", .device_type = cases[i].type };
        ck_assert_msg(attest_gate_wants(&gate, &facts) == cases[i].wanted, "case %zu", i);
    }
}
END_TEST

START_TEST(test_status_codes)
{
    static const struct {
        attest_status status;
        int code;
    } cases[] = {
        { ATTEST_OK, 0 },        { ATTEST_BAD_INPUT, 2 }, { ATTEST_UNSUPPORTED, 2 },  { ATTEST_IO, 2 },
        { ATTEST_NO_MEMORY, 3 }, { ATTEST_NO_DEVICE, 3 }, { ATTEST_KERNEL_ERROR, 3 }, { ATTEST_INTERNAL, 70 }
    };
    const attest_cli cli = { .command = "test" };
    const attest_error err = { "a message of the test" };
    char path[128], line[128] = "";
    snprintf(path, sizeof path, "%s/messages", folder);
    ck_assert_ptr_nonnull(freopen(path, "w", stderr)); /* of this test's own process */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_int_eq(attest_cli_error(&cli, cases[i].status, &err), cases[i].code);
    fflush(stderr);
    FILE *in = fopen(path, "r");
    ck_assert(in && fgets(line, sizeof line, in));
    fclose(in);
    ck_assert_str_eq(line, "attest test: a message of the test\n");
}
END_TEST

/* What an audit's properties add to results that are none yet, in so many seconds; returns their code. */
static int props_part(attest_results *results, const char *library, double seconds)
{
    const attest_cli cli = { .command = "audit",
                             .options = { .program = "attest", .quiet = 1, .timeout = 10, .jobs = 1 },
                             .out = folder };
    const char *list[1] = { library };
    attest_suite suite = { .name = "none" };
    attest_plan plan;
    attest_run_info info;
    attest_error err = { "" };
    int code = -1;
    const attest_gate gate = { .options = &cli.options, .suite = &suite, .plan = &plan, .traits = 1 };
    *results = (attest_results){ 0 };
    ck_assert_msg(attest_plan_make(&plan, list, 1, attest_gate_wants, &gate, 10, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_gate_describe(&info, &gate, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_props_part(&code, results, &info, &gate, &cli, (attest_props_share){ 200, seconds }, &err) ==
                      ATTEST_OK,
                  "%s", err.text);
    attest_plan_clear(&plan);
    return code;
}

/* No time for a case: nothing was compared, which is no pass.  Time enough: a result of each property that breaks. */
START_TEST(test_props_part)
{
    attest_results results;
    char path[128];
    snprintf(path, sizeof path, "%s/messages", folder);
    ck_assert_ptr_nonnull(freopen(path, "w", stderr)); /* of this test's own process */
    ck_assert_int_eq(props_part(&results, ATTEST_TEST_BUILD "/plugins/constant.so", 1e-9), 4);
    ck_assert_uint_eq(results.count, 0);
    attest_results_clear(&results);
    ck_assert_int_eq(props_part(&results, ATTEST_TEST_BUILD "/plugins/constant.so", 1000), 0);
    int broken = 0;
    for (size_t k = 0; k < results.count; k++) {
        attest_result r;
        attest_error err;
        ck_assert_int_eq(attest_results_get(&r, &results, k, &err), ATTEST_OK);
        broken += r.verdict == ATTEST_FAIL && r.reasons == ATTEST_REASON_PROPERTY &&
                  strstr(r.why, "property constant-value: ") != NULL;
    }
    ck_assert_int_eq(broken, 1);
    attest_results_clear(&results);
}
END_TEST

static void prepare_one(void)
{
    attest_prepared prepared;
    attest_error err = { "" };
    attest_case c;
    ck_assert_int_eq(attest_case_parse(&c, "variant=taylor:2 n=5 d=3", NULL, NULL, &err), ATTEST_OK);
    ck_assert_msg(attest_prepare(&prepared, &c, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_str_eq(prepared.line, "variant=taylor:2 n=5 d=3");
    ck_assert_uint_eq(prepared.hash, attest_case_hash(&c));
    ck_assert(prepared.truth && prepared.exp_truth && prepared.inputs);
    attest_prepared_clear(&prepared);
    ck_assert(!prepared.truth && !prepared.exp_truth && !prepared.inputs);
    attest_prepared_clear(&prepared); /* twice does no harm */
    attest_reference_thread_end();
}

START_TEST(test_prepared_cases)
{
    attest_prepared prepared;
    attest_error err = { "" };
    attest_case c;
    ck_assert_msg(memory_stays(prepare_one), "a prepared case leaves something behind");
    ck_assert_int_eq(attest_case_parse(&c, "variant=softmax n=5 d=3", NULL, NULL, &err), ATTEST_OK);
    ck_assert_int_eq(attest_prepare(&prepared, &c, &err), ATTEST_OK);
    ck_assert_msg(!prepared.exp_truth, "softmax truncates nothing");
    attest_prepared_clear(&prepared);
    c.problem.axis[ATTEST_AXIS_FEATURE].value = 31; /* a feature that no engine has */
    ck_assert_int_eq(attest_prepare(&prepared, &c, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(!prepared.truth && !prepared.inputs && strstr(err.text, "feature"), "%s", err.text);
}
END_TEST

Suite *suite_cli(void)
{
    Suite *s = suite_create("cli");
    TCase *t = tcase_create("cases");
    tcase_set_timeout(t, 300);
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_compare);
    tcase_add_test(t, test_badinput);
    tcase_add_test(t, test_commands);
    tcase_add_test(t, test_claims);
    tcase_add_test(t, test_repros);
    suite_add_tcase(s, t);
    t = tcase_create("search");
    tcase_set_timeout(t, 300);
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_search);
    suite_add_tcase(s, t);
    t = tcase_create("pieces");
    tcase_set_timeout(t, 60);
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_hashes);
    tcase_add_test(t, test_quoting);
    tcase_add_test(t, test_targets);
    tcase_add_test(t, test_wanted_kernels);
    tcase_add_test(t, test_status_codes);
    tcase_add_test(t, test_props_part);
    tcase_add_test(t, test_prepared_cases);
    suite_add_tcase(s, t);
    return s;
}
