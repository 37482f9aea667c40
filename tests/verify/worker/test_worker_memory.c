/* test_worker_memory.c - who takes too much of it. */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/worker/worker_memory.h"
#include "verify/worker/worker_sandbox.h"

Suite *suite_worker_memory(void);

START_TEST(over)
{
    ck_assert(attest_memory_is_over(getpid(), 4096));
    ck_assert(!attest_memory_is_over(getpid(), (uint64_t)1 << 60));
    ck_assert(!attest_memory_is_over(0, 4096)); /* no such process */
}
END_TEST

/* Memory in a file that has no name is in no resident page of the process. */
START_TEST(in_files)
{
    enum { MIB = 1 << 20, COUNT = 64 };
    const uint64_t most = (uint64_t)COUNT * MIB;
    char *block = calloc(1, MIB);
    ck_assert_ptr_nonnull(block);
    const int fd = memfd_create("m", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert(!attest_memory_is_over(getpid(), most));
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(write(fd, block, MIB), MIB);
    free(block);
    ck_assert(attest_memory_is_over(getpid(), most));
    close(fd);
    ck_assert(!attest_memory_is_over(getpid(), most));
}
END_TEST

/* ---- in another process ------------------------------------------------------------------------------------------ */
enum { TAKEN = 128 << 20, READY = 1 };

static void say_ready(int fd)
{
    ck_assert_int_eq(write(fd, "r", READY), READY);
    for (;;)
        pause();
}

static void *hold(void *at)
{
    volatile char *block = malloc(TAKEN); /* nobody reads it: it would be left out */
    for (int i = 0; block && i < TAKEN; i += 1024)
        block[i] = 1;
    say_ready(*(int *)at);
    return NULL;
}

static void leave_a_thread(int fd)
{
    static int to; /* what is on this stack ends with it */
    pthread_t thread;
    to = fd;
    pthread_create(&thread, NULL, hold, &to);
    pthread_exit(NULL);
}

/* Half of it stays open, so that it would count twice. */
static void fill_own_folder(int fd)
{
    char *block = calloc(1, TAKEN / 2);
    const int gone = open(ATTEST_SANDBOX_FOLDER "/gone", O_RDWR | O_CREAT, 0600);
    const int held = open(ATTEST_SANDBOX_FOLDER "/held", O_RDWR | O_CREAT, 0600);
    if (!block || write(gone, block, TAKEN / 2) != TAKEN / 2 || write(held, block, TAKEN / 2) != TAKEN / 2)
        _exit(1);
    free(block);
    close(gone);
    say_ready(fd);
}

/* A process that does it, in namespaces where `sandbox` says so, is told to have what it takes, within a quarter. */
static void check_other(void (*take)(int fd), const attest_sandbox *sandbox)
{
    const attest_sandbox_ids ids = attest_sandbox_ids_of(sandbox);
    char ready = 0;
    int fd[2];
    ck_assert_int_eq(pipe(fd), 0);
    const pid_t pid = attest_sandbox_fork(sandbox);
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (attest_sandbox_enter(sandbox, &ids))
            take(fd[1]);
        _exit(1);
    }
    close(fd[1]);
    const ssize_t said = read(fd[0], &ready, READY);
    const int enough = attest_memory_is_over(pid, TAKEN / 4 * 3), more = attest_memory_is_over(pid, TAKEN / 4 * 5u);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(fd[0]);
    ck_assert_int_eq(said, READY);
    ck_assert(enough && !more);
}

/* The first thread has ended; its process holds memory all the same. */
START_TEST(first_thread_gone)
{
    const attest_sandbox none = { ATTEST_SANDBOX_OFF, 0, 0 };
    check_other(leave_a_thread, &none);
}
END_TEST

/* Files of a folder that is memory and nobody else's, closed and open. */
START_TEST(own_folder)
{
    attest_error err = { "" };
    attest_sandbox sandbox;
    unsetenv("ATTEST_SANDBOX");
    ck_assert_int_eq(attest_sandbox_choose(&sandbox, NULL, &err), ATTEST_OK);
    if (sandbox.namespaces) /* else no worker has such a folder here */
        check_other(fill_own_folder, &sandbox);
}
END_TEST

Suite *suite_worker_memory(void)
{
    Suite *s = suite_create("worker_memory");
    TCase *t = tcase_create("worker_memory");
    tcase_add_test(t, over);
    tcase_add_test(t, in_files);
    tcase_add_test(t, first_thread_gone);
    tcase_add_test(t, own_folder);
    suite_add_tcase(s, t);
    return s;
}
