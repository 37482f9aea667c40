/* test_stream.c - the drawing sources, built by gcc and by clang with -O0 and -O2 (Makefile: STREAM), draw the same
 * lines and tensors.  A compiler that is not there is not compared, which is said; where CI is set, that fails.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "tests/stream/stream.h"

Suite *suite_stream(void);

/* Exit code of a shell command that prints to stderr. */
static int shell(const char *command)
{
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void compare(const char *compiler)
{
    static const char *const levels[] = { "O0", "O2" };
    char command[1024];
    snprintf(command, sizeof command, "command -v %s > /dev/null", compiler);
    if (shell(command) != 0) {
        ck_assert_msg(!getenv("CI"), "%s is not installed: the stream was not compared", compiler);
        fprintf(stderr, "test_stream: %s is not installed: the stream is not compared\n", compiler);
        return;
    }
    for (int k = 0; k < 2; k++) {
        snprintf(command, sizeof command, "\"%s/stream/%s-%s\" > /dev/null", ATTEST_TEST_BUILD, compiler, levels[k]);
        ck_assert_msg(shell(command) == 0, "%s -%s draws other bits than the known answers", compiler, levels[k]);
    }
}

START_TEST(gcc_draws_the_same) { compare("gcc"); }
END_TEST

START_TEST(clang_draws_the_same) { compare("clang"); }
END_TEST

Suite *suite_stream(void)
{
    Suite *suite = suite_create("stream");
    TCase *tcase = tcase_create("compilers");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, gcc_draws_the_same);
    tcase_add_test(tcase, clang_draws_the_same);
    suite_add_tcase(suite, tcase);
    return suite;
}
