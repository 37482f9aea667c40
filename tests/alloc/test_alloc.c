/* test_alloc.c - a few commands with every so-many-th allocation failing: the quick part of `make alloc-faults`. */
#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>

Suite *suite_alloc(void);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_MALLOC
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_MALLOC
#endif
#endif

#define COMMAND(options)                                                                                               \
    "python3 " ATTEST_TEST_ROOT "/tests/alloc/alloc.py " options " " ATTEST_TEST_BUILD "/attest " ATTEST_TEST_BUILD    \
    "/alloc/shim.so " ATTEST_TEST_BUILD "/alloc/quick"

#ifndef OWN_MALLOC /* these sanitizers are the program's malloc: nothing can be put before them */
START_TEST(without_memory_a_command_ends_with_one_line)
{
    const int status = system(COMMAND("--quick --runs 8"));
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "alloc.py: status %d", status);
}
END_TEST

/* Without an allocation to fail nothing is checked: the shim must have been there. */
START_TEST(the_shim_counts)
{
    const int status = system(COMMAND("--command list-kernels --step 40") " | grep 'exit codes.* 3: [1-9]'");
    ck_assert_int_eq(status, 0);
}
END_TEST
#endif

Suite *suite_alloc(void)
{
    Suite *suite = suite_create("alloc");
    TCase *c = tcase_create("alloc");
    tcase_set_timeout(c, 300);
#ifndef OWN_MALLOC
    tcase_add_test(c, without_memory_a_command_ends_with_one_line);
    tcase_add_test(c, the_shim_counts);
#endif
    suite_add_tcase(suite, c);
    return suite;
}
