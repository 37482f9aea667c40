/* test_worker_disguise.c - the first run looks like use: ordinary numbers in outputs, data off 64 bytes, whatever the
 * case; and nothing that the plain run sees is lost.  Many calls in a row, and threads that a kernel leaves behind.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "reports/result.h"
#include "verify/worker/worker_disguise.h"
#include "verify/worker/worker.h"

Suite *suite_worker_disguise(void);

#define PLUGIN(name) ATTEST_TEST_BUILD "/plugins/" name ".so"
#define SEEDS 16 /* enough that both disguises occur, each with and without the other */

/* The inputs of a problem line and an empty o. */
static attest_bundle *make_bundle(attest_case *c, const char *line)
{
    attest_error err = { "" };
    attest_bundle *bundle = NULL;
    const attest_tensor_id o = { ATTEST_KIND_ROLE, ATTEST_O };
    ck_assert_msg(attest_case_parse(c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_bundle_new(&bundle, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_draw_missing(bundle, c, 0, 0, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_bundle_add(bundle, &c->problem, o, 0, NULL, &err) == ATTEST_OK, "%s", err.text);
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

static size_t kernel_of(const attest_worker *worker, const char *name)
{
    size_t k = 0;
    while (k < attest_worker_kernel_count(worker) && strcmp(attest_worker_kernel(worker, k)->name, name) != 0)
        k++;
    ck_assert_msg(k < attest_worker_kernel_count(worker), "no kernel %s", name);
    return k;
}

/* The case of a seed, once (as the gate does), or `calls` times. */
static attest_run_result run_seed(attest_worker *worker, const char *kernel, unsigned seed, uint32_t calls)
{
    attest_error err = { "" };
    attest_run_result result;
    attest_case c;
    char line[96];
    snprintf(line, sizeof line, "variant=softmax n=9 d=4 seed=%u", seed);
    const size_t k = kernel ? kernel_of(worker, kernel) : 0;
    attest_bundle *bundle = make_bundle(&c, line);
    const attest_status status = calls > 1
                                     ? attest_worker_run_often(worker, k, &c.problem, bundle, calls, 30, &result, &err)
                                     : attest_worker_run(worker, k, &c.problem, bundle, 5, &result, &err);
    ck_assert_msg(status == ATTEST_OK, "%s: %s", line, err.text);
    attest_bundle_free(bundle);
    return result;
}

static attest_disguise disguise_of(unsigned seed)
{
    attest_case c;
    char line[96];
    snprintf(line, sizeof line, "variant=softmax n=9 d=4 seed=%u", seed);
    attest_bundle *bundle = make_bundle(&c, line);
    const attest_disguise d = attest_disguise_of(&c.problem, bundle), again = attest_disguise_of(&c.problem, bundle);
    ck_assert(d.seed == again.seed && d.numbers == again.numbers && d.shift == again.shift);
    attest_bundle_free(bundle);
    return d;
}

START_TEST(test_every_kind)
{
    static const uint32_t dtypes[] = { ATTEST_F32, ATTEST_F64, ATTEST_F16, ATTEST_BF16 };
    int seen[2][2] = { { 0 } };
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        const attest_disguise d = disguise_of(seed);
        uint64_t stream = attest_disguise_stream(&d, 3), other = attest_disguise_stream(&d, 4);
        double least = 2, most = -2;
        ck_assert(stream != other);
        seen[d.numbers][d.shift]++;
        for (int i = 0; i < 1000; i++) {
            const uint32_t dtype = dtypes[i % 4];
            const double x = attest_to_f64(dtype, attest_disguise_next(&stream, dtype));
            ck_assert_msg(x >= -2 && x <= 2, "%g", x);
            least = x < least ? x : least;
            most = x > most ? x : most;
        }
        ck_assert(least < -1.9 && most > 1.9);
    }
    ck_assert_msg(seen[0][0] && seen[0][1] && seen[1][0] && seen[1][1], "%d %d %d %d", seen[0][0], seen[0][1],
                  seen[1][0], seen[1][1]);
}
END_TEST

/* What is seen of a plain run is seen in every disguise. */
START_TEST(test_nothing_is_lost)
{
    static const struct {
        const char *plugin;
        unsigned reasons;
        const char *why;
    } cases[] = { { "unwritten", ATTEST_REASON_UNWRITTEN_OUTPUT, "o[0,0,8,0] was never written" },
                  { "outside", ATTEST_REASON_WROTE_OUTSIDE, "byte 1 past the end of o" },
                  { "flaky", ATTEST_REASON_NONDETERMINISTIC, "o[0,0,0,0] differs" } };
    char path[512];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(path, sizeof path, PLUGIN("%s"), cases[i].plugin);
        attest_worker *worker = start(path);
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            const attest_run_result r = run_seed(worker, NULL, seed, 1);
            ck_assert_msg(r.reasons == cases[i].reasons, "%s, seed %u: 0x%x", cases[i].plugin, seed, r.reasons);
            ck_assert_msg(strstr(r.why, cases[i].why) != NULL, "%s, seed %u: %s", cases[i].plugin, seed, r.why);
        }
        attest_worker_free(worker);
    }
}
END_TEST

START_TEST(test_who_notices)
{
    attest_worker *worker = start(PLUGIN("notices"));
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        const attest_disguise d = disguise_of(seed);
        attest_run_result r = run_seed(worker, "notices-poison", seed, 1);
        ck_assert_msg(r.reasons == (d.numbers ? ATTEST_REASON_NONDETERMINISTIC : 0u), "seed %u: %s", seed, r.why);
        r = run_seed(worker, "notices-bases", seed, 1);
        ck_assert_msg(r.reasons == (d.shift ? ATTEST_REASON_NONDETERMINISTIC : 0u), "seed %u: %s", seed, r.why);
        r = run_seed(worker, "aligned", seed, 1);
        ck_assert_msg(r.reasons == 0 && !r.unshifted, "seed %u: %s", seed, r.why);
        r = run_seed(worker, "refuses", seed, 1);
        ck_assert_msg(r.reasons == 0 && r.unshifted == d.shift && !strstr(r.disguise, "64"), "seed %u: %s", seed,
                      r.why);
    }
    ck_assert_uint_eq(attest_worker_kernel(worker, kernel_of(worker, "aligned"))->alignment, 32);
    ck_assert_uint_eq(attest_worker_kernel(worker, kernel_of(worker, "refuses"))->alignment, 0);
    attest_worker_free(worker);
    worker = start(PLUGIN("year-old")); /* its attest.h promised 64 */
    ck_assert_uint_eq(attest_worker_kernel(worker, 0)->alignment, 64);
    attest_worker_free(worker);
}
END_TEST

START_TEST(test_many_calls)
{
    attest_worker *worker = start(PLUGIN("notices"));
    attest_run_result r = run_seed(worker, "notices-calls", 0, 1000);
    ck_assert_msg(r.state == ATTEST_RUN_DONE && r.reasons == 0 && r.differs == 0, "call %u: %s", r.differs, r.why);
    attest_worker_renew(worker, 0);
    r = run_seed(worker, "notices-calls", 0, 1100);
    ck_assert_msg(r.state == ATTEST_RUN_DONE && r.reasons == 0 && r.differs == 1001, "call %u: %s", r.differs, r.why);
    r = run_seed(worker, "late-and-free", 0, 1100); /* promises no bits: none are compared */
    ck_assert_msg(r.state == ATTEST_RUN_DONE && r.reasons == 0 && r.differs == 0, "call %u: %s", r.differs, r.why);
    attest_worker_free(worker);
    worker = start(PLUGIN("worker_device")); /* each call on images of its own */
    r = run_seed(worker, NULL, 0, 50);
    ck_assert_msg(r.state == ATTEST_RUN_DONE && r.reasons == 0 && r.differs == 0, "call %u: %s", r.differs, r.why);
    attest_worker_free(worker);
}
END_TEST

/* The thread of `strays` faults 64 ms later (chunk=64), `beside` runs for 100 ms: it must not be blamed. */
START_TEST(test_strays)
{
    attest_worker *worker = start(PLUGIN("notices"));
    for (int again = 0; again < 3; again++) {
        attest_run_result r = run_seed(worker, "parks", 0, 1);
        ck_assert_msg(r.reasons == 0 && r.strays == 1, "%u threads: %s", r.strays, r.why);
        r = run_seed(worker, "strays", 0, 2);
        ck_assert_msg(r.state == ATTEST_RUN_DONE && r.strays == 2, "%u threads: %s", r.strays, r.why);
        r = run_seed(worker, "beside", 0, 1);
        ck_assert_msg(r.state == ATTEST_RUN_DONE && r.reasons == 0 && r.strays == 0, "%s", r.why);
    }
    attest_run_result r = run_seed(worker, "strays", 0, 1);
    ck_assert_int_eq(r.state, ATTEST_RUN_DONE);
    r = run_seed(worker, "strays", 0, 2);
    ck_assert_msg(r.state == ATTEST_RUN_CRASH && strstr(r.why, "threads that its earlier calls left were there"), "%s",
                  r.why);
    attest_worker_free(worker);
}
END_TEST

Suite *suite_worker_disguise(void)
{
    Suite *s = suite_create("worker_disguise");
    TCase *t = tcase_create("worker_disguise");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_every_kind);
    tcase_add_test(t, test_nothing_is_lost);
    tcase_add_test(t, test_who_notices);
    tcase_add_test(t, test_many_calls);
    tcase_add_test(t, test_strays);
    suite_add_tcase(s, t);
    return s;
}
