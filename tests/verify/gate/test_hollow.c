/* test_hollow.c - kernels with something taken away (plugins/hollow.c): what is wrong fails where it declares what the
 * built-in kernels do, and never passes; what is right never fails, even if it declares nothing. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/files/json_file.h"
#include "verify/gate/gate.h"
#include "verify/gate/diagnosis/noticed.h"

Suite *suite_hollow(void);

#define HOLLOW ATTEST_TEST_BUILD "/plugins/hollow.so"

static void ok(attest_status status, const attest_error *err)
{
    ck_assert_msg(status == ATTEST_OK, "status %d: %s", (int)status, err->text);
}

typedef struct counts {
    int right, wrong; /* kernels that were judged */
} counts;

/* The line on every kernel of the library that serves it. */
static counts run_all(const char *line)
{
    attest_error err = { "" };
    attest_subject subject = { .library = HOLLOW, .program = "attest" };
    attest_prepared prepared;
    attest_case c;
    counts n = { 0, 0 };
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    ok(attest_case_parse(&c, line, NULL, NULL, &err), &err);
    ok(attest_worker_start(&subject.worker, HOLLOW, 120, &err), &err);
    ok(attest_prepare(&prepared, &c, &err), &err);
    for (; subject.index < attest_worker_kernel_count(subject.worker); subject.index++) {
        const char *name = attest_worker_kernel(subject.worker, subject.index)->name;
        const int silent = strncmp(name, "bare-", 5) == 0, bare = silent || strncmp(name, "lostbare-", 9) == 0;
        const int right = silent || strncmp(name, "quiet-", 6) == 0;
        attest_result r;
        int supported;
        ok(attest_run_case(&r, &supported, &prepared, &subject, NULL, 120, &err), &err);
        if (!supported)
            continue;
        n.right += right;
        n.wrong += !right;
        const int narrow = c.problem.in == ATTEST_BF16 || strstr(name, "-state-bf16");
        /* with bf16 and nothing declared, or states of bf16, bounds may be as large as what they are of: partial */
        ck_assert_msg(r.verdict == (right ? ATTEST_PASS : ATTEST_FAIL) ||
                          (r.verdict == ATTEST_PARTIAL && (bare || right) && narrow),
                      "%s %s: %s (%s)", name, line, attest_verdict_names[r.verdict], r.why);
    }
    attest_prepared_clear(&prepared);
    attest_worker_free(subject.worker);
    return n;
}

/* One key of 300, 600, 1024 and 4096 is lost, the last one or (mask=full, places do not matter) an inner one; each
 * kind of weights, norms and updates.  `is_long`: only with ATTEST_TEST_LONG, for these take most of the time. */
static const struct {
    const char *line;
    int is_long;
} lines[] = {
    { "variant=softmax mask=causal n=300 d=8 e=4 splits=4", 0 },
    { "variant=softmax n=300 d=8 e=4 in=bf16 p=bf16", 0 },
    { "variant=gated-softmax mask=causal n=300 d=8 e=4 splits=4", 0 },
    { "variant=l2norm mask=causal n=300 d=8 e=4 splits=4", 0 },
    { "variant=layernorm n=300 d=8 e=4 splits=4 in=bf16", 0 },
    { "variant=taylor:2 mask=causal n=300 d=4 chunk=32 splits=4", 0 },
    { "variant=linear mask=causal n=300 d=8 e=4 chunk=32 splits=4 in=bf16", 0 },
    { "variant=linear-cos mask=causal n=300 d=8 e=4 chunk=32 splits=4", 0 },
    { "variant=sla mask=causal n=300 d=8 e=4 chunk=32 splits=4", 0 },
    { "variant=gla n=300 d=8 e=4 chunk=32", 0 },
    { "variant=deltanet n=300 d=8 e=4 chunk=32", 0 },
    { "variant=gdn n=300 d=8 e=4 chunk=32 in=bf16", 0 },
    { "variant=softmax n=2 m=600 d=64 in=bf16 p=bf16", 0 },
    { "variant=softmax mask=causal n=1024 d=4 e=2 in=bf16 p=bf16", 1 },
    { "variant=softmax n=8 m=4096 d=4 e=2 splits=4", 1 },
    { "variant=linear-elu n=4 m=4096 d=4 e=2 chunk=64", 0 },
    { "variant=linear-elu mask=causal n=1024 d=4 e=2 chunk=64", 1 },
};

START_TEST(never_passes)
{
    for (size_t i = 0; _i == 0 && i < sizeof lines / sizeof lines[0]; i++)
        if (lines[i].is_long && !getenv("ATTEST_TEST_LONG"))
            printf("hollow: %s is left to `make LONG=1 test`\n", lines[i].line);
    const counts n = run_all(lines[_i].line);
    ck_assert_msg(n.right > 0 && n.wrong > n.right, "%d right, %d wrong", n.right, n.wrong);
}
END_TEST

/* An array of entries, whole or not there; what is not known is null. */
static void check_file(attest_noticed *list, size_t count)
{
    char folder[] = "/tmp/attest-noticed-XXXXXX", path[64];
    attest_error err = { "" };
    json_t *file = NULL;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/noticed.json", folder);
    list[1].error[2] = (double)NAN;
    ok(attest_noticed_write(list, count, path, &err), &err);
    ok(attest_json_read(&file, path, &err), &err);
    ck_assert_uint_eq(json_array_size(file), count);
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(file, i);
        ck_assert_str_eq(json_string_value(json_object_get(entry, "kernel")), list[i].kernel);
        ck_assert_str_eq(json_string_value(json_object_get(entry, "class")), list[i].class);
        for (size_t l = 0; l < ATTEST_NOTICED_LENGTHS; l++) {
            const json_t *error = json_array_get(json_object_get(entry, "noticed_at"), l);
            ck_assert(json_integer_value(json_array_get(json_object_get(entry, "lengths"), l)) ==
                      attest_noticed_lengths[l]);
            ck_assert(i == 1 && l == 2 ? json_is_null(error) : json_real_value(error) == list[i].error[l]);
            ck_assert(json_number_value(json_array_get(json_object_get(entry, "keys_seen_at"), l)) == list[i].keys[l]);
        }
    }
    json_decref(file);
    ck_assert(unlink(path) == 0 && rmdir(folder) == 0); /* no temporary file is left */
    ck_assert_int_eq(attest_noticed_write(list, count, path, &err), ATTEST_BAD_INPUT);
}

/* What an audit tells: a kernel that declares less notices less, and more keys hide more. */
START_TEST(test_noticed)
{
    const attest_options options = { .timeout = 60, .program = "attest" };
    const char *libraries[] = { HOLLOW };
    attest_plan plan;
    const attest_gate gate = { .options = &options, .plan = &plan, .kernel_glob = "*-softmax-two-pass-f32" };
    static const char *const kernels[] = { HOLLOW ":bare-softmax-two-pass-f32", HOLLOW ":lost-softmax-two-pass-f32" };
    attest_error err = { "" };
    attest_results results = { 0 };
    attest_result r;
    attest_noticed *list = NULL;
    attest_case c;
    size_t count = 0;
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
    ok(attest_plan_make(&plan, libraries, 1, attest_gate_wants, &gate, 60, &err), &err);
    ok(attest_case_parse(&c, "variant=softmax n=9 d=8", NULL, NULL, &err), &err);
    for (int k = 0; k < 4; k++) {
        attest_result_init(&r);
        attest_result_describe(&r, &c, "variant=softmax n=9 d=8", 0);
        snprintf(r.kernel, sizeof r.kernel, "%s", kernels[k % 2]);
        snprintf(r.class, sizeof r.class, "exp %s f32", k < 2 ? "one" : "other");
        r.verdict = k == 3 ? ATTEST_FAIL : ATTEST_PASS; /* a class in which something is wrong: no entry */
        ok(attest_results_add(&results, &r, &err), &err);
    }
    ok(attest_gate_noticed(&list, &count, &results, &gate, &err), &err);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(list[0].kernel, kernels[0]);
    ck_assert_str_eq(list[1].class, "exp other f32");
    ck_assert_str_eq(list[2].kernel, kernels[1]);
    for (int l = 0; l < ATTEST_NOTICED_LENGTHS; l++) {
        const attest_noticed *bare = &list[0], *declared = &list[2];
        ck_assert_msg(declared->error[l] > 0x1p-26 && 2 * declared->error[l] < bare->error[l], "%d: %g, %g", l,
                      declared->error[l], bare->error[l]);
        ck_assert(l == 0 || bare->error[l] > bare->error[l - 1]);
        ck_assert(bare->keys[l] >= 0 && bare->keys[l] <= declared->keys[l] && declared->keys[l] <= 1);
    }
    ck_assert(list[0].keys[0] == 1);
    check_file(list, count);
    free(list);
    attest_plan_clear(&plan);
    attest_results_clear(&results);
}
END_TEST

Suite *suite_hollow(void)
{
    Suite *suite = suite_create("hollow");
    TCase *t = tcase_create("hollow");
    tcase_set_timeout(t, 300);
    for (int i = 0; i < (int)(sizeof lines / sizeof lines[0]); i++)
        if (!lines[i].is_long || getenv("ATTEST_TEST_LONG"))
            tcase_add_loop_test(t, never_passes, i, i + 1);
    tcase_add_test(t, test_noticed);
    suite_add_tcase(suite, t);
    return suite;
}
