/* test_worker_process.c - when an answer is late: a busy machine makes no kernel late, a kernel that waits is, and one
 * whose own threads or processes leave it no processor. */
#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "props/draw/draw.h"
#include "verify/base/base.h"
#include "verify/worker/worker.h"

Suite *suite_worker_process(void);

#define OTHERS 5  /* processes beside the kernel on one processor: it has a sixth of the time */
#define LIMIT 0.6 /* seconds; the kernel's two runs take 0.3 s of a processor, and here 1.8 s */

static void begin(pid_t other[OTHERS])
{
    cpu_set_t one, now;
    CPU_ZERO(&one);
    ck_assert_int_eq(sched_getaffinity(0, sizeof now, &now), 0);
    size_t first = 0;
    while (!CPU_ISSET(first, &now))
        first++;
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    for (int i = 0; i < OTHERS; i++) {
        other[i] = fork();
        ck_assert_int_ge(other[i], 0);
        if (other[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            setsid(); /* as the worker */
            for (volatile unsigned n = 0;; n++)
                ;
        }
    }
}

static void end(const pid_t other[OTHERS])
{
    for (int i = 0; i < OTHERS; i++) {
        kill(other[i], SIGKILL);
        waitpid(other[i], NULL, 0);
    }
}

/* The result of the kernel `busy` on one line, and the seconds that it took. */
static double run_busy(attest_run_result *result, attest_worker *worker, const char *line)
{
    attest_error err = { "" };
    attest_case c;
    attest_bundle *bundle = NULL;
    const attest_tensor_id o = { ATTEST_KIND_ROLE, ATTEST_O };
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_int_eq(attest_bundle_new(&bundle, &err), ATTEST_OK);
    ck_assert_msg(attest_draw_missing(bundle, &c, 0, 0, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_int_eq(attest_bundle_add(bundle, &c.problem, o, 0, NULL, &err), ATTEST_OK);
    const double since = attest_now_seconds();
    ck_assert_msg(attest_worker_run(worker, 0, &c.problem, bundle, LIMIT, result, &err) == ATTEST_OK, "%s", err.text);
    attest_bundle_free(bundle);
    return attest_now_seconds() - since;
}

/* Both on a processor that five others use: where the system counts who waits for it, only the kernel that waits by
 * itself is late, and that soon. */
START_TEST(busy_machine)
{
    attest_error err = { "" };
    attest_worker *worker = NULL;
    attest_run_result busy, waits, spins, forks;
    pid_t other[OTHERS];
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 0);
    begin(other); /* the worker inherits its one processor */
    const attest_status status = attest_worker_start(&worker, ATTEST_TEST_BUILD "/plugins/busy.so", 20, &err);
    ck_assert_msg(status == ATTEST_OK, "%s", err.text);
    const double took = run_busy(&busy, worker, "variant=softmax n=3 d=4");
    const double waited = run_busy(&waits, worker, "variant=softmax n=3 d=5");
    end(other);
    const double spun = run_busy(&spins, worker, "variant=softmax n=3 d=6");
    const double forked = run_busy(&forks, worker, "variant=softmax n=3 d=7");
    attest_worker_free(worker);
    const uint32_t expected = access("/proc/self/schedstat", R_OK) == 0 ? ATTEST_RUN_DONE : ATTEST_RUN_TIMEOUT;
    ck_assert_msg(busy.state == expected, "state %u: %s", busy.state, busy.why);
    ck_assert_msg(took > LIMIT, "%g s: the machine was not busy", took);
    ck_assert_msg(waits.state == ATTEST_RUN_TIMEOUT && waited < 5 * LIMIT, "%g s, state %u", waited, waits.state);
    ck_assert_msg(spins.state == ATTEST_RUN_TIMEOUT && spun < 5 * LIMIT, "%g s, state %u", spun, spins.state);
    ck_assert_msg(forks.state == ATTEST_RUN_TIMEOUT && forked < 5 * LIMIT, "%g s, state %u", forked, forks.state);
}
END_TEST

Suite *suite_worker_process(void)
{
    Suite *s = suite_create("worker_process");
    TCase *t = tcase_create("worker_process");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, busy_machine);
    suite_add_tcase(s, t);
    return s;
}
