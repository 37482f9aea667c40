/* test_worker.c - the worker: good kernels pass untouched, every misdeed is named, a crash costs one run. */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "reports/report.h"
#include "verify/worker/worker.h"

Suite *suite_worker(void);

#define PLUGIN(name) ATTEST_TEST_BUILD "/plugins/" name ".so"
#define TIMEOUT 0.5

/* The inputs of a problem line and an empty o (and lse where asked). */
static attest_bundle *make_bundle(attest_case *c, const char *line, int lse)
{
    attest_error err = { "" };
    attest_bundle *bundle = NULL;
    const attest_tensor_id o = { ATTEST_KIND_ROLE, ATTEST_O }, l = { ATTEST_KIND_ROLE, ATTEST_LSE };
    ck_assert_msg(attest_case_parse(c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_bundle_new(&bundle, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_draw_missing(bundle, c, 0, 0, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_bundle_add(bundle, &c->problem, o, 0, NULL, &err) == ATTEST_OK, "%s", err.text);
    if (lse)
        ck_assert_msg(attest_bundle_add(bundle, &c->problem, l, 0, NULL, &err) == ATTEST_OK, "%s", err.text);
    return bundle;
}

static attest_worker *start(const char *library)
{
    attest_error err = { "" };
    attest_worker *worker = NULL;
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 0);
    ck_assert_msg(attest_worker_start(&worker, library, 5, &err) == ATTEST_OK, "%s: %s", library, err.text);
    return worker;
}

static attest_run_result run_line(attest_worker *worker, size_t kernel, const char *line, int lse)
{
    attest_error err = { "" };
    attest_run_result result;
    attest_case c;
    attest_bundle *bundle = make_bundle(&c, line, lse);
    const attest_status status = attest_worker_run(worker, kernel, &c.problem, bundle, TIMEOUT, &result, &err);
    ck_assert_msg(status == ATTEST_OK, "%s: %s", line, err.text);
    attest_bundle_free(bundle);
    return result;
}

typedef struct expectation {
    const char *what; /* plugin, or misdeed of worker_edges */
    int chunk;
    uint32_t state;
    unsigned reasons;
    int signal;
    const char *why; /* a part of it */
} expectation;

static void check_result(const expectation *x, const attest_run_result *r)
{
    ck_assert_msg(r->state == x->state, "%s: state %u, not %u (%s)", x->what, r->state, x->state, r->why);
    ck_assert_msg(r->reasons == x->reasons, "%s: reasons 0x%x, not 0x%x (%s)", x->what, r->reasons, x->reasons, r->why);
    ck_assert_msg(r->signal == x->signal, "%s: signal %d, not %d", x->what, r->signal, x->signal);
    ck_assert_msg(strstr(r->why, x->why) != NULL, "%s: `%s` does not say `%s`", x->what, r->why, x->why);
    ck_assert_msg((r->reasons & ATTEST_REASON_FP_STATE) ? strcmp(r->fp_state, "ok") != 0 : !strcmp(r->fp_state, "ok"),
                  "%s: fp state %s", x->what, r->fp_state);
}

START_TEST(test_bad_plugins)
{
    static const expectation cases[] = {
        { "segfault", 0, ATTEST_RUN_CRASH, 0, SIGSEGV, "signal 11" },
        { "loop", 0, ATTEST_RUN_TIMEOUT, 0, 0, "0.5 s" },
        { "nan", 0, ATTEST_RUN_DONE, 0, 0, "" },
        { "outside", 0, ATTEST_RUN_DONE, ATTEST_REASON_WROTE_OUTSIDE, 0, "byte 1 past the end of o" },
        { "unwritten", 0, ATTEST_RUN_DONE, ATTEST_REASON_UNWRITTEN_OUTPUT, 0, "o[0,0,8,0] was never written" },
        { "ftz", 0, ATTEST_RUN_DONE, ATTEST_REASON_FP_STATE, 0, "floating-point state" },
        { "exit", 0, ATTEST_RUN_EXIT, ATTEST_REASON_EXIT, 0, "exit code 0" },
        { "writeinput", 0, ATTEST_RUN_CRASH, ATTEST_REASON_WROTE_INPUT, SIGSEGV, "wrote into q" },
        { "flaky", 0, ATTEST_RUN_DONE, ATTEST_REASON_NONDETERMINISTIC, 0, "o[0,0,0,0] differs" },
    };
    char path[512];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(path, sizeof path, PLUGIN("%s"), cases[i].what);
        attest_worker *worker = start(path);
        for (int again = 0; again < 2; again++) { /* the second run needs a worker that came back */
            const attest_run_result r = run_line(worker, 0, "variant=softmax mask=causal n=9 d=5", 0);
            check_result(&cases[i], &r);
        }
        attest_worker_free(worker);
    }
}
END_TEST

START_TEST(test_edges)
{
    const unsigned outside = ATTEST_REASON_WROTE_OUTSIDE, read = ATTEST_REASON_READ_OUTSIDE;
    const expectation cases[] = {
        { "good", 1, ATTEST_RUN_DONE, 0, 0, "" },
        { "reads past q", 2, ATTEST_RUN_CRASH, read, SIGSEGV, "past the end of q" },
        { "reads before q", 3, ATTEST_RUN_CRASH, read, SIGSEGV, "read 1 bytes before q" },
        { "writes a byte past o", 4, ATTEST_RUN_DONE, outside, 0, "byte 1 past the end of o" },
        { "writes into o's guard", 5, ATTEST_RUN_CRASH, outside, SIGSEGV, "past the end of o" },
        { "writes before o", 6, ATTEST_RUN_CRASH, outside, SIGSEGV, "before o" },
        { "writes past the workspace", 7, ATTEST_RUN_DONE, outside, 0, "past the end of the workspace" },
        { "leaves an element", 8, ATTEST_RUN_DONE, ATTEST_REASON_UNWRITTEN_OUTPUT, 0, "o[0,0,0,3] was never written" },
        { "counts its calls", 9, ATTEST_RUN_DONE, ATTEST_REASON_NONDETERMINISTIC, 0, "o[0,0,1,2] differs" },
        { "gives up", 10, ATTEST_RUN_DONE, ATTEST_REASON_KERNEL_ERROR, 0, "status 6" },
        { "aborts", 12, ATTEST_RUN_CRASH, 0, SIGABRT, "signal 6" },
        { "reads its workspace", 13, ATTEST_RUN_DONE, ATTEST_REASON_NONDETERMINISTIC, 0, "o[0,0,0,2] differs" },
        { "reads address 16", 14, ATTEST_RUN_CRASH, 0, SIGSEGV, "near NULL" },
        { "talks", 15, ATTEST_RUN_DONE, 0, 0, "" },
        { "dives too deep", 16, ATTEST_RUN_CRASH, 0, SIGSEGV, "no tensor" },
        { "gives the very NaN", 17, ATTEST_RUN_DONE, 0, 0, "" },
        { "wants all memory", 18, ATTEST_RUN_DONE, ATTEST_REASON_KERNEL_ERROR, 0, "workspace" },
        { "speaks on descriptor 3", 21, ATTEST_RUN_CRASH, 0, 0, "run() wrote to the worker's descriptor 3" },
        { "writes into q", 19, ATTEST_RUN_CRASH, ATTEST_REASON_WROTE_INPUT, SIGSEGV, "wrote into q" },
        { "refuses", 30, ATTEST_RUN_UNSUPPORTED, 0, 0, "chunk=30 is refused" },
        { "aborts in supports", 31, ATTEST_RUN_CRASH, 0, SIGABRT, "supports()" },
    };
    char line[128];
    attest_worker *worker = start(PLUGIN("worker_edges"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(line, sizeof line, "variant=softmax n=3 d=5 chunk=%d", cases[i].chunk);
        const attest_run_result r = run_line(worker, 0, line, 1);
        check_result(&cases[i], &r);
    }
    attest_worker_free(worker);
}
END_TEST

/* Whichever thread the kernel lets go first: the place is told. */
START_TEST(test_threads_fault_together)
{
    const expectation together = { "four threads write before o", 22,      ATTEST_RUN_CRASH,
                                   ATTEST_REASON_WROTE_OUTSIDE,   SIGSEGV, "before o" };
    attest_worker *worker = start(PLUGIN("worker_edges"));
    for (int again = 0; again < 100; again++) {
        const attest_run_result r = run_line(worker, 0, "variant=softmax n=3 d=5 chunk=22", 1);
        check_result(&together, &r);
    }
    attest_worker_free(worker);
}
END_TEST

START_TEST(test_fp_state)
{
    attest_worker *worker = start(PLUGIN("worker_edges"));
    attest_run_result r = run_line(worker, 0, "variant=softmax n=3 d=5 chunk=1", 0);
    ck_assert_str_eq(r.fp_state, "ok");
#if defined(__x86_64__)
    r = run_line(worker, 0, "variant=softmax n=3 d=5 chunk=11", 0);
    ck_assert_str_eq(r.fp_state, "mxcsr 0x1f80 -> 0x5f80 (round-up)");
    ck_assert_uint_eq(r.reasons, ATTEST_REASON_FP_STATE);
    r = run_line(worker, 0, "variant=softmax n=3 d=5 chunk=20", 0);
    ck_assert_str_eq(r.fp_state, "x87 0x37f -> 0x7f");
    r = run_line(worker, 0, "variant=softmax n=3 d=5 chunk=23", 0);
    ck_assert_str_eq(r.fp_state, "x87 or MMX: 8 of 8 registers left in use");
    r = run_line(worker, 0, "variant=softmax n=3 d=5 chunk=24", 0);
    ck_assert_str_eq(r.fp_state, "x87 or MMX: 1 of 8 registers left in use");
    ck_assert_uint_eq(r.reasons, ATTEST_REASON_FP_STATE);
    r = run_line(worker, 0, "variant=softmax n=3 d=5 chunk=1", 0); /* set back for the next case */
    ck_assert_str_eq(r.fp_state, "ok");
    attest_worker *loaded = NULL;
    setenv("WORKER_LOAD", "ftz", 1);
    loaded = start(PLUGIN("worker_load"));
    for (int again = 0; again < 2; again++) { /* in every run of the library */
        r = run_line(loaded, 0, "variant=softmax n=3 d=5", 0);
        ck_assert_str_eq(r.fp_state, "load: mxcsr 0x1f80 -> 0x9fc0 (FTZ DAZ)");
        ck_assert_uint_eq(r.reasons, ATTEST_REASON_FP_STATE);
    }
    attest_worker_free(loaded);
    unsetenv("WORKER_LOAD");
#endif
    attest_worker_free(worker);
}
END_TEST

START_TEST(test_outputs_and_facts)
{
    attest_error err = { "" };
    attest_run_result result;
    attest_case c;
    char why[128];
    attest_worker *worker = start(PLUGIN("worker_edges"));
    attest_bundle *bundle = make_bundle(&c, "variant=softmax b=2 hq=2 n=3 d=5 e=4 chunk=1", 1);
    ck_assert_int_eq(attest_worker_run(worker, 0, &c.problem, bundle, 5, &result, &err), ATTEST_OK);
    const attest_tensor *o = attest_bundle_role(bundle, ATTEST_O), *lse = attest_bundle_role(bundle, ATTEST_LSE);
    for (int64_t i = 0; i < attest_tensor_count(o); i++)
        ck_assert(attest_load(o, i) == (double)i);
    for (int64_t i = 0; i < attest_tensor_count(lse); i++)
        ck_assert(attest_load(lse, i) == 1.0);
    ck_assert(result.seconds >= 0 && result.seconds < 5);
    ck_assert_uint_eq(attest_worker_kernel_count(worker), 2);
    const attest_kernel_facts *f = attest_worker_kernel(worker, 0);
    ck_assert_str_eq(f->name, "strict");
    ck_assert_str_eq(f->source, "worker_edges.c");
    ck_assert_str_eq(f->claim_domain, "nowhere");
    ck_assert(f->has_claim && f->claim_ulp == 2.5 && f->flags == ATTEST_DETERMINISTIC && f->form == ATTEST_PARALLEL);
    ck_assert_uint_eq(f->outputs, ATTEST_GIVES_O | ATTEST_GIVES_LSE);
    ck_assert(strncmp(f->device, "cpu", 3) == 0 && f->device_type == ATTEST_CPU);
    ck_assert(attest_worker_kernel(worker, 2) == NULL);
    /* strict counts as nondeterministic what loose may do */
    const attest_run_result r = run_line(worker, 1, "variant=softmax n=3 d=5 chunk=9", 0);
    ck_assert_msg(r.state == ATTEST_RUN_DONE && r.reasons == 0, "%s", r.why);
    c.problem.chunk = 30;
    ck_assert(!attest_worker_supports(worker, 0, &c.problem, why, sizeof why));
    ck_assert_str_eq(why, "chunk=30 is refused");
    c.problem.chunk = 31; /* dies when asked; is there again for the next question */
    ck_assert_int_eq(attest_worker_supports(worker, 0, &c.problem, why, sizeof why), -1);
    ck_assert_msg(strstr(why, "signal 6") != NULL, "%s", why);
    c.problem.chunk = 1;
    ck_assert_int_eq(attest_worker_supports(worker, 0, &c.problem, why, sizeof why), 1);
    attest_bundle_free(bundle);
    attest_worker_free(worker);
}
END_TEST

START_TEST(test_device_memory)
{
    static const expectation cases[] = {
        { "good", 1, ATTEST_RUN_DONE, 0, 0, "" },
        { "writes past o", 2, ATTEST_RUN_DONE, ATTEST_REASON_WROTE_OUTSIDE, 0, "past the end of o" },
        { "writes into k", 3, ATTEST_RUN_DONE, ATTEST_REASON_WROTE_INPUT, 0, "wrote into k" },
        { "fails in sync", 4, ATTEST_RUN_DONE, ATTEST_REASON_KERNEL_ERROR, 0, "sync()" },
        { "leaves an element", 5, ATTEST_RUN_DONE, ATTEST_REASON_UNWRITTEN_OUTPUT, 0, "o[0,0,0,1] was never written" },
    };
    attest_error err = { "" };
    attest_run_result result;
    attest_case c;
    char line[128], why[128];
    attest_worker *worker = start(PLUGIN("worker_device"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(line, sizeof line, "variant=softmax n=3 d=5 chunk=%d", cases[i].chunk);
        result = run_line(worker, 0, line, 0);
        check_result(&cases[i], &result);
    }
    ck_assert_str_eq(attest_worker_kernel(worker, 0)->device, "make-believe device");
    attest_bundle *bundle = make_bundle(&c, "variant=softmax n=3 d=5 chunk=1", 0);
    ck_assert_int_eq(attest_worker_run(worker, 0, &c.problem, bundle, 5, &result, &err), ATTEST_OK);
    const attest_tensor *o = attest_bundle_role(bundle, ATTEST_O), *v = attest_bundle_role(bundle, ATTEST_V);
    for (int64_t i = 0; i < attest_tensor_count(o); i++)
        ck_assert(attest_load(o, i) == (double)((float)attest_load(v, 0) + (float)i));
    attest_bundle_free(bundle);
    attest_worker_free(worker);
    setenv("WORKER_DEVICE", "absent", 1);
    worker = start(PLUGIN("worker_device"));
    ck_assert(!attest_worker_supports(worker, 0, &c.problem, why, sizeof why));
    ck_assert_str_eq(why, "no device");
    attest_worker_free(worker);
}
END_TEST

/* Once, by strides.  *same: o has the bits of a run in C order. */
static attest_run_result run_strided(attest_worker *worker, size_t kernel, const char *line, int *same)
{
    attest_error err = { "" };
    attest_run_result result;
    attest_case c;
    attest_bundle *plain = make_bundle(&c, line, 0), *bundle = make_bundle(&c, line, 0);
    ck_assert_int_eq(attest_worker_run(worker, kernel, &c.problem, plain, TIMEOUT, &result, &err), ATTEST_OK);
    ck_assert_msg(result.state == ATTEST_RUN_DONE && result.reasons == 0, "%s: %s", line, result.why);
    const attest_status status = attest_worker_run_strided(worker, kernel, &c.problem, bundle, TIMEOUT, &result, &err);
    ck_assert_msg(status == ATTEST_OK, "%s: %s", line, err.text);
    const attest_tensor *a = attest_bundle_role(plain, ATTEST_O), *b = attest_bundle_role(bundle, ATTEST_O);
    *same = memcmp(a->data, b->data, attest_tensor_bytes(a)) == 0;
    attest_bundle_free(plain);
    attest_bundle_free(bundle);
    return result;
}

START_TEST(test_strides)
{
    const unsigned outside = ATTEST_REASON_WROTE_OUTSIDE, read = ATTEST_REASON_READ_OUTSIDE;
    static const char *const sizes[] = { "b=2 hq=4 hkv=2 n=9 d=5 e=12", "hq=3 hkv=3 n=9 m=7 d=32", "b=16 n=3 d=3",
                                         "b=17 hq=2 n=3 d=5", "n=9 d=16 e=8" };
    const expectation cases[] = {
        { "right", 1, ATTEST_RUN_DONE, 0, 0, "" },
        { "refuses", 2, ATTEST_RUN_DONE, ATTEST_REASON_KERNEL_ERROR, 0, "status 1" },
        { "gives up", 3, ATTEST_RUN_DONE, ATTEST_REASON_KERNEL_ERROR, 0, "status 6" },
        { "writes behind a row", 4, ATTEST_RUN_DONE, outside, 0, "between the elements of o" },
        { "32 bits", 5, ATTEST_RUN_CRASH, read, SIGSEGV, "past the end of v" },
        { "an ulp", 6, ATTEST_RUN_DONE, 0, 0, "" },
        { "reads behind an entry", 7, ATTEST_RUN_CRASH, read, SIGSEGV, "past the end of k" },
        { "reads before an entry", 11, ATTEST_RUN_CRASH, read, SIGSEGV, "bytes before k" },
        { "v by k's strides", 12, ATTEST_RUN_DONE, 0, 0, "" },
        { "writes behind the last row", 10, ATTEST_RUN_DONE, outside, 0, "byte 1 past the end of o" },
    };
    attest_worker *worker = start(PLUGIN("strides"));
    char line[128];
    int same;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(line, sizeof line, "variant=softmax b=2 hq=2 n=9 d=5 e=5 chunk=%d", cases[i].chunk);
        const attest_run_result r = run_strided(worker, 0, line, &same);
        check_result(&cases[i], &r);
        ck_assert_msg(r.state != ATTEST_RUN_DONE || r.status != ATTEST_OK || same == (cases[i].chunk % 6 != 0),
                      "%s: o %d", cases[i].what, same);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const int told = strncmp(sizes[i], "b=17", 4) != 0; /* too many entries to lie far apart */
        snprintf(line, sizeof line, "variant=softmax %s chunk=8", sizes[i]);
        const attest_run_result r = run_strided(worker, 0, line, &same);
        ck_assert_msg(r.state == ATTEST_RUN_DONE && r.status == (told ? ATTEST_OK : ATTEST_INTERNAL) && !r.near &&
                          (same || !told),
                      "%s: %s", line, r.why);
    }
    attest_worker_free(worker);
}
END_TEST

/* Where the address space is too small for the far strides, near ones are used and it is said. */
START_TEST(test_strides_near)
{
    const struct rlimit small = { (rlim_t)8 << 30, (rlim_t)8 << 30 };
    int same;
    attest_worker *worker = NULL;
#if defined(__SANITIZE_ADDRESS__)
    return; /* its shadow alone needs more */
#endif
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &small), 0); /* of this test's process and its worker */
    worker = start(PLUGIN("strides"));
    const attest_run_result r = run_strided(worker, 0, "variant=softmax b=2 n=9 d=5 chunk=1", &same);
    ck_assert_msg(r.state == ATTEST_RUN_DONE && r.reasons == 0 && r.near && same, "%s", r.why);
    attest_worker_free(worker);
}
END_TEST

START_TEST(test_strides_on_a_device)
{
    int same;
    attest_worker *worker = start(PLUGIN("worker_device"));
    const attest_run_result r = run_strided(worker, 0, "variant=softmax b=2 hq=2 n=3 d=5 chunk=1", &same);
    ck_assert_msg(r.state == ATTEST_RUN_DONE && r.reasons == ATTEST_REASON_WROTE_OUTSIDE && !r.near, "%s", r.why);
    ck_assert_msg(strstr(r.why, "between the elements of o") != NULL, "%s", r.why); /* it writes o[i] */
    attest_worker_free(worker);
}
END_TEST

START_TEST(test_bad_libraries)
{
    static const struct {
        const char *path, *load;
        attest_status status;
        const char *text;
    } cases[] = {
        { "/nowhere/at-all.so", "", ATTEST_BAD_INPUT, "/nowhere/at-all.so" },
        { ATTEST_TEST_BUILD, "", ATTEST_BAD_INPUT, ATTEST_TEST_BUILD },
        { ATTEST_TEST_ROOT "/tests/test_worker.c", "", ATTEST_BAD_INPUT, "test_worker.c" },
        { PLUGIN("nosymbol"), "", ATTEST_BAD_INPUT, "nosymbol.so" },
        { PLUGIN("badabi"), "", ATTEST_BAD_INPUT, "badabi.so" },
        { PLUGIN("nulllib"), "", ATTEST_BAD_INPUT, "nulllib.so" },
        { PLUGIN("worker_load"), "crash", ATTEST_IO, "signal 11" },
        { PLUGIN("worker_load"), "exit", ATTEST_IO, "exit code 5" },
        { PLUGIN("worker_load"), "hang", ATTEST_IO, "no answer within 0.5 s" },
    };
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_error err = { "" };
        attest_worker *worker = NULL;
        setenv("WORKER_LOAD", cases[i].load, 1);
        const attest_status status = attest_worker_start(&worker, cases[i].path, TIMEOUT, &err);
        ck_assert_msg(status == cases[i].status && !worker, "%s: status %d: %s", cases[i].path, (int)status, err.text);
        ck_assert_msg(strstr(err.text, cases[i].text) != NULL, "`%s` does not say `%s`", err.text, cases[i].text);
        ck_assert_msg(strchr(err.text, '\n') == NULL, "`%s`", err.text);
    }
}
END_TEST

START_TEST(test_no_worker)
{
    static const char *const paths[] = { "/nowhere/attest-worker", "/bin/true" };
    static const char *const says[] = { "cannot run", "not a working attest-worker" };
    attest_error err = { "" };
    attest_worker *worker = NULL;
    char *path = NULL;
    for (size_t i = 0; i < 2; i++) {
        setenv("ATTEST_WORKER", paths[i], 1);
        ck_assert_int_eq(attest_worker_start(&worker, NULL, 5, &err), ATTEST_IO);
        ck_assert_msg(!worker && strstr(err.text, paths[i]) && strstr(err.text, says[i]), "%s", err.text);
    }
    ck_assert_int_eq(attest_worker_path(&path, &err), ATTEST_OK);
    ck_assert_str_eq(path, "/bin/true");
    free(path);
}
END_TEST

START_TEST(test_builtin_kernels)
{
    attest_worker *worker = start(NULL);
    const char *const lines[] = { "variant=softmax mask=causal hq=2 hkv=1 n=33 m=40 d=5 e=3",
                                  "variant=taylor:2 mask=causal n=33 d=3 e=5",
                                  "variant=linear mask=causal n=33 d=5",
                                  "variant=softmax n=17 d=8 in=bf16 p=bf16",
                                  "variant=softmax n=17 d=8 in=f64",
                                  "variant=gate mask=causal n=33 d=5",
                                  "variant=gdn n=33 d=5" };
    const size_t count = attest_worker_kernel_count(worker);
    ck_assert_uint_gt(count, 0);
    for (size_t k = 0; k < count; k++) {
        size_t served = 0;
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
            const attest_run_result r = run_line(worker, k, lines[i], 0);
            if (r.state == ATTEST_RUN_UNSUPPORTED)
                continue;
            served++;
            ck_assert_msg(r.state == ATTEST_RUN_DONE && r.status == ATTEST_OK && r.reasons == 0, "%s on `%s`: %s",
                          attest_worker_kernel(worker, k)->name, lines[i], r.why);
            int same;
            const attest_run_result strided = run_strided(worker, k, lines[i], &same);
            ck_assert_msg(strided.state == ATTEST_RUN_DONE && strided.reasons == 0 && same, "%s on `%s` by strides: %s",
                          attest_worker_kernel(worker, k)->name, lines[i], strided.why);
        }
        ck_assert_msg(served > 0, "%s serves none of the lines", attest_worker_kernel(worker, k)->name);
    }
    attest_worker_free(worker);
}
END_TEST

/* A worker's end must leave no process and no descriptor behind. */
START_TEST(test_no_leak_of_descriptors)
{
    int before = -1, after = -1;
    for (int round = 0; round < 3; round++) {
        const int probe = fcntl(0, F_DUPFD, 10); /* the worker's descriptors start at 10 */
        before = round == 0 ? probe : before;
        after = probe;
        close(probe);
        attest_worker *worker = start(PLUGIN("segfault"));
        run_line(worker, 0, "variant=softmax n=9 d=5", 0);
        run_line(worker, 0, "variant=softmax n=9 d=5", 0);
        attest_worker_free(worker);
    }
    ck_assert_int_eq(before, after);
}
END_TEST

static void ask_all(attest_worker *worker)
{
    attest_case c;
    attest_error err = { "" };
    char why[256];
    ck_assert(attest_case_parse(&c, "variant=softmax n=9 d=5", NULL, NULL, &err) == ATTEST_OK);
    ck_assert_uint_gt(attest_worker_kernel_count(worker), 20);
    for (size_t k = 0; k < attest_worker_kernel_count(worker); k++)
        ck_assert_msg(attest_worker_supports(worker, k, &c.problem, why, sizeof why) >= 0, "%s: %s",
                      attest_worker_kernel(worker, k)->name, why);
}

/* Where few descriptors are allowed, processes make room for each other, and leave a quarter for the runs. */
START_TEST(test_few_descriptors)
{
    const struct rlimit few = { 48, 48 };
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    attest_worker *worker = start(NULL);
    for (int round = 0; round < 2; round++) {
        ask_all(worker);
        const int left = fcntl(0, F_DUPFD, 36);
        ck_assert_int_eq(left, 36);
        close(left);
    }
    attest_worker_free(worker);
    for (int fd = 24; fd < 48; fd++) /* others have them: a start is refused before the quarter is touched */
        ck_assert_int_eq(dup2(0, fd), fd);
    worker = start(NULL);
    ask_all(worker);
    attest_worker_free(worker);
}
END_TEST

Suite *suite_worker(void)
{
    Suite *s = suite_create("worker");
    TCase *t = tcase_create("worker");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, test_bad_plugins);
    tcase_add_test(t, test_edges);
    tcase_add_test(t, test_threads_fault_together);
    tcase_add_test(t, test_fp_state);
    tcase_add_test(t, test_outputs_and_facts);
    tcase_add_test(t, test_device_memory);
    tcase_add_test(t, test_strides);
    tcase_add_test(t, test_strides_near);
    tcase_add_test(t, test_strides_on_a_device);
    tcase_add_test(t, test_bad_libraries);
    tcase_add_test(t, test_no_worker);
    tcase_add_test(t, test_builtin_kernels);
    tcase_add_test(t, test_no_leak_of_descriptors);
    tcase_add_test(t, test_few_descriptors);
    suite_add_tcase(s, t);
    return s;
}
