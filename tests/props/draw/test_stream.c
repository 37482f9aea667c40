/* test_stream.c - the drawing sources, built by gcc and by clang with -O0 and -O2 (Makefile: STREAM), draw the same
 * lines and tensors.  A compiler that is not there is not compared, which is said; where CI is set, that fails.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "tests/stream/stream.h"

Suite *suite_stream(void);

static const char *const compilers[] = { "gcc", "clang" };
static const char *const levels[] = { "O0", "O2" };
enum { COMPILERS = 2, LEVELS = 2, TEXT = 512 };

/* Exit code of a shell command; the start of what it prints. */
static int shell(char text[TEXT], const char *command)
{
    FILE *in = popen(command, "r");
    ck_assert_ptr_nonnull(in);
    text[fread(text, 1, TEXT - 1, in)] = '\0';
    const int status = pclose(in);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What the sources draw, built by a compiler at a level, as hashes; 1 if they are the known answers. */
static int drawn(char text[TEXT], const char *compiler, const char *level)
{
    char command[1024];
    snprintf(command, sizeof command, "\"%s/stream/%s-%s\"", ATTEST_TEST_BUILD, compiler, level);
    const int code = shell(text, command);
    ck_assert_msg(code == 0 || code == 1, "%s -%s: exit code %d: %s", compiler, level, code, text);
    ck_assert_msg(text[0] != '\0', "%s -%s prints no hash", compiler, level);
    return code == 0;
}

/* First with each other, then with the frozen answers: another table of draws moves all compilers alike. */
START_TEST(compilers_draw_the_same)
{
    char first[TEXT] = "", other[TEXT], command[1024], by[32] = "";
    int known = 1;
    for (int k = 0; k < COMPILERS; k++) {
        snprintf(command, sizeof command, "command -v %s > /dev/null", compilers[k]);
        if (shell(other, command) != 0) {
            ck_assert_msg(!getenv("CI"), "%s is not installed: the stream was not compared", compilers[k]);
            fprintf(stderr, "test_stream: %s is not installed: the stream is not compared\n", compilers[k]);
            continue;
        }
        for (int l = 0; l < LEVELS; l++) {
            known &= drawn(other, compilers[k], levels[l]);
            if (by[0] == '\0') {
                strcpy(first, other);
                snprintf(by, sizeof by, "%s -%s", compilers[k], levels[l]);
            }
            ck_assert_msg(strcmp(first, other) == 0, "%s draws\n%sand %s -%s\n%s", by, first, compilers[k], levels[l],
                          other);
        }
    }
    ck_assert_msg(known,
                  "all compilers draw\n%sthe frozen stream changed: if a table of draws changed, update "
                  "tests/stream/stream.h",
                  first);
}
END_TEST

Suite *suite_stream(void)
{
    Suite *suite = suite_create("stream");
    TCase *tcase = tcase_create("compilers");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, compilers_draw_the_same);
    suite_add_tcase(suite, tcase);
    return suite;
}
