/* test_output.c - a file is whole or not there: after a close with an error, after the death of its writer, beside
 * other writers of the same path; on file systems that know files without a name and on those that do not. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reports/files/output.h"

Suite *suite_output(void);

static char folder[] = ATTEST_TEST_BUILD "/output-XXXXXX";
static char path[512];

static void setup(void)
{
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

/* From here on this process has a file system on which open() with O_TMPFILE is EOPNOTSUPP; 0: it cannot be. */
static int without_nameless(void)
{
    const unsigned flag = O_TMPFILE & ~O_DIRECTORY;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flag, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof code / sizeof code[0], code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void the_same_everywhere(void)
{
    struct stat facts;
    umask(027);
    ck_assert_int_eq(write_file("first\n", ATTEST_OK), ATTEST_OK);
    ck_assert(is("first\n") && names() == 1);
    ck_assert_int_eq(stat(path, &facts), 0);
    ck_assert_uint_eq(facts.st_mode & 0777, 0640);
    ck_assert_int_eq(write_file("second\n", ATTEST_IO), ATTEST_IO);
    ck_assert(is("first\n") && names() == 1);
    ck_assert_int_eq(write_file("third\n", ATTEST_OK), ATTEST_OK);
    ck_assert(is("third\n") && names() == 1);
}

START_TEST(a_file_is_whole_or_the_former_one) { the_same_everywhere(); }
END_TEST

START_TEST(so_it_is_where_every_file_has_a_name)
{
    attest_output out;
    attest_error err;
    ck_assert_msg(without_nameless(), "no seccomp: %s", strerror(errno));
    the_same_everywhere();
    ck_assert_int_eq(attest_output_open(&out, path, &err), ATTEST_OK);
    ck_assert_int_eq(names(), 2);
    ck_assert(attest_output_is_temporary(strrchr(out.temporary, '/') + 1));
    attest_output_close(&out, ATTEST_IO, &err);
    ck_assert_int_eq(names(), 1);
}
END_TEST

START_TEST(a_writer_that_is_killed_leaves_nothing)
{
    attest_output out;
    attest_error err;
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        if (attest_output_open(&out, path, &err) == ATTEST_OK) {
            fputs("half", out.file);
            fflush(out.file);
        }
        raise(SIGKILL);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(names(), 0);
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

Suite *suite_output(void)
{
    Suite *suite = suite_create("output");
    TCase *c = tcase_create("output");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, a_file_is_whole_or_the_former_one);
    tcase_add_test(c, so_it_is_where_every_file_has_a_name);
    tcase_add_test(c, a_writer_that_is_killed_leaves_nothing);
    tcase_add_test(c, writers_of_one_path_do_not_meet);
    tcase_add_test(c, what_cannot_be_written_names_the_path);
    suite_add_tcase(suite, c);
    return suite;
}
