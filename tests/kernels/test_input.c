/* test_input.c - files from outside: regular ones are opened, also through a link; others are not, and say what they
 * are. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/input.h"

Suite *suite_input(void);

static char folder[] = "/tmp/attest-input-XXXXXX";

static const char *at(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void setup(void)
{
    strcpy(folder, "/tmp/attest-input-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    FILE *out = fopen(at("five"), "w");
    ck_assert(out && fputs("1234\n", out) >= 0 && fclose(out) == 0);
    ck_assert_int_eq(mkfifo(at("fifo"), 0600), 0);
    ck_assert_int_eq(symlink("five", at("link")), 0);
    ck_assert_int_eq(symlink("/dev/zero", at("device")), 0);
    ck_assert_int_eq(symlink("loop", at("loop")), 0);
}

static void teardown(void)
{
    static const char *const names[] = { "five", "fifo", "link", "device", "loop", "" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_int_eq(remove(at(names[i])), 0);
}

START_TEST(regular_files_are_opened)
{
    static const char *const names[] = { "five", "link" };
    char text[8];
    attest_error err;
    for (int i = 0; i < 2; i++) {
        uint64_t size = 0;
        FILE *in;
        ck_assert_int_eq(attest_input_stream(&in, &size, at(names[i]), &err), ATTEST_OK);
        ck_assert_uint_eq(size, 5);
        ck_assert_str_eq(fgets(text, sizeof text, in), "1234\n");
        fclose(in);
        ck_assert_int_eq(attest_input_stream(&in, NULL, at(names[i]), &err), ATTEST_OK);
        fclose(in);
    }
}
END_TEST

START_TEST(others_are_refused)
{
    static const struct {
        const char *name, *why;
        int error;
    } cases[] = { { "fifo", "a FIFO; allowed: a regular file", EINVAL },
                  { "", "a directory; allowed: a regular file", EINVAL },
                  { "device", "a device; allowed: a regular file", EINVAL },
                  { "none", "cannot read it: No such file or directory", ENOENT },
                  { "five/x", "cannot read it: Not a directory", ENOTDIR },
                  { "loop", "cannot read it: Too many levels of symbolic links", ELOOP } };
    char text[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_error err = { "" };
        int fd = 0;
        FILE *in = stdin;
        errno = 0;
        ck_assert_int_eq(attest_input_open(&fd, NULL, at(cases[i].name), &err), ATTEST_BAD_INPUT);
        ck_assert_int_eq(errno, cases[i].error);
        ck_assert_int_eq(fd, -1);
        snprintf(text, sizeof text, "%s: %s", at(cases[i].name), cases[i].why);
        ck_assert_str_eq(err.text, text);
        ck_assert_int_eq(attest_input_stream(&in, NULL, at(cases[i].name), &err), ATTEST_BAD_INPUT);
        ck_assert_ptr_null(in);
    }
}
END_TEST

/* A getline() that found no memory, or no file any more, is not the end of the file. */
START_TEST(the_end_is_told_from_a_failure)
{
    char *text = NULL;
    size_t size = 0;
    attest_error err;
    FILE *in;
    ck_assert_int_eq(attest_input_stream(&in, NULL, at("five"), &err), ATTEST_OK);
    errno = ENOMEM;
    ck_assert_int_eq(attest_input_ended(in, "five", &err), ATTEST_NO_MEMORY);
    ck_assert_str_eq(err.text, "five: cannot read: Cannot allocate memory");
    errno = EIO;
    ck_assert_int_eq(attest_input_ended(in, "five", &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(getline(&text, &size, in), 5);
    ck_assert_int_eq(getline(&text, &size, in), -1);
    errno = ENOMEM; /* of something else */
    ck_assert_int_eq(attest_input_ended(in, "five", &err), ATTEST_OK);
    free(text);
    fclose(in);
}
END_TEST

Suite *suite_input(void)
{
    Suite *suite = suite_create("input");
    TCase *c = tcase_create("input");
    tcase_set_timeout(c, 20);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, regular_files_are_opened);
    tcase_add_test(c, others_are_refused);
    tcase_add_test(c, the_end_is_told_from_a_failure);
    suite_add_tcase(suite, c);
    return suite;
}
