/* test_output.c - a file is whole or not there: after a close with an error, at an end that no writer sees coming,
 * beside other writers of the same path. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reports/files/output.h"

Suite *suite_output(void);

static char folder[] = ATTEST_TEST_BUILD "/output-XXXXXX";
static char path[512];

static void setup(void)
{
    strcpy(folder, ATTEST_TEST_BUILD "/output-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
}

static void teardown(void)
{
    unlink(path);
    rmdir(folder);
}

/* How many names are in the folder. */
static int names(void)
{
    DIR *at = opendir(folder);
    int count = 0;
    ck_assert_ptr_nonnull(at);
    while (readdir(at))
        count++;
    closedir(at);
    return count - 2;
}

/* 1 if the file is of these bytes. */
static int is(const char *text)
{
    char got[64] = "";
    FILE *in = fopen(path, "r");
    if (!in)
        return 0;
    const size_t length = fread(got, 1, sizeof got - 1, in);
    fclose(in);
    return length == strlen(text) && strcmp(got, text) == 0;
}

static attest_status write_file(const char *text, attest_status status)
{
    attest_output out;
    attest_error err;
    const attest_status opened = attest_output_open(&out, path, &err);
    if (opened == ATTEST_OK)
        fputs(text, out.file);
    return attest_output_close(&out, opened == ATTEST_OK ? status : opened, &err);
}

START_TEST(a_file_is_whole_or_the_former_one)
{
    ck_assert_int_eq(write_file("first\n", ATTEST_OK), ATTEST_OK);
    ck_assert(is("first\n") && names() == 1);
    ck_assert_int_eq(write_file("second\n", ATTEST_IO), ATTEST_IO);
    ck_assert(is("first\n") && names() == 1);
    ck_assert_int_eq(write_file("third\n", ATTEST_OK), ATTEST_OK);
    ck_assert(is("third\n") && names() == 1);
}
END_TEST

/* More writers than there are slots; those that were closed are none any more. */
START_TEST(a_process_that_gives_up_leaves_the_former_file)
{
    attest_error err;
    int status;
    for (int n = 0; n < 40; n++) {
        const attest_status given = n % 2 ? ATTEST_OK : ATTEST_IO;
        ck_assert_int_eq(write_file("former\n", given), given);
    }
    const pid_t pid = fork();
    if (pid == 0) {
        static attest_output out[3];
        int opened = 0;
        for (int n = 0; n < 3; n++)
            opened += attest_output_open(&out[n], path, &err) == ATTEST_OK && fputs("half", out[n].file) >= 0;
        if (opened != 3 || names() != 4)
            _exit(1);
        attest_output_abandon();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert(is("former\n") && names() == 1);
}
END_TEST

START_TEST(writers_of_one_path_do_not_meet)
{
    attest_output one, other;
    attest_error err;
    ck_assert_int_eq(attest_output_open(&one, path, &err), ATTEST_OK);
    ck_assert_int_eq(attest_output_open(&other, path, &err), ATTEST_OK);
    fputs("one\n", one.file);
    fputs("other\n", other.file);
    ck_assert_int_eq(attest_output_close(&other, ATTEST_OK, &err), ATTEST_OK);
    ck_assert(is("other\n"));
    ck_assert_int_eq(attest_output_close(&one, ATTEST_OK, &err), ATTEST_OK);
    ck_assert(is("one\n") && names() == 1);
}
END_TEST

START_TEST(what_cannot_be_written_names_the_path)
{
    attest_output out;
    attest_error err = { "" };
    char inside[600];
    snprintf(inside, sizeof inside, "%s/nowhere/file", folder);
    ck_assert_int_eq(attest_output_open(&out, inside, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, inside) && strstr(err.text, strerror(ENOENT)), "%s", err.text);
    ck_assert_int_eq(attest_output_close(&out, ATTEST_BAD_INPUT, &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(mkdir(path, 0777), 0); /* nothing can be renamed onto a folder */
    ck_assert_int_eq(write_file("x", ATTEST_OK), ATTEST_IO);
    ck_assert_int_eq(names(), 1);
    rmdir(path);
}
END_TEST

/* Of a folder that can be written and not read, no run is told that it has it alone. */
START_TEST(no_lock)
{
    attest_error err = { "" };
    int lock, ended = 1;
    ck_assert_int_eq(chmod(folder, 0333), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(2);
        _exit(attest_output_lock(&lock, folder, &err) == ATTEST_BAD_INPUT && strstr(err.text, "cannot be locked") ? 0
                                                                                                                  : 1);
    }
    ck_assert_int_eq(waitpid(child, &ended, 0), child);
    ck_assert_int_eq(chmod(folder, 0700), 0);
    ck_assert_int_eq(ended, 0);
}
END_TEST

Suite *suite_output(void)
{
    Suite *suite = suite_create("output");
    TCase *c = tcase_create("output");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, a_file_is_whole_or_the_former_one);
    tcase_add_test(c, a_process_that_gives_up_leaves_the_former_file);
    tcase_add_test(c, writers_of_one_path_do_not_meet);
    tcase_add_test(c, what_cannot_be_written_names_the_path);
    tcase_add_test(c, no_lock);
    suite_add_tcase(suite, c);
    return suite;
}
