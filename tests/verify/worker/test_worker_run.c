/* test_worker_run.c - the second run of a case on cuda-host has another order of threads: a missing barrier is seen
 * (racy.cu), unless the caller says one order for all runs. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

Suite *suite_worker_run(void);

START_TEST(order_of_threads)
{
    static const char *const chosen[] = { "-u ATTEST_CUDA_HOST_ORDER", "ATTEST_CUDA_HOST_ORDER=forward" };
    static const char words[] = "differs between two runs, the second with another order of threads (greedy-reverse)";
    char text[8192], command[1024];
    snprintf(command, sizeof command,
             "env %s " ATTEST_TEST_BUILD "/attest replay --kernel " ATTEST_TEST_BUILD
             "/cuda/racy.so 'variant=softmax n=9 d=8' 2>&1",
             chosen[_i]);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
    const int status = pclose(pipe), seen = _i == 0;
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == seen, "status %#x\n%s", (unsigned)status, text);
    ck_assert_msg((strstr(text, "nondeterministic") && strstr(text, words)) == seen, "%s", text);
}
END_TEST

Suite *suite_worker_run(void)
{
    Suite *s = suite_create("worker_run");
    TCase *t = tcase_create("order");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, order_of_threads, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
