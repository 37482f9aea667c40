/* test_worker_memory.c - who takes too much of it. */
#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verify/worker/worker_memory.h"

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

Suite *suite_worker_memory(void)
{
    Suite *s = suite_create("worker_memory");
    TCase *t = tcase_create("worker_memory");
    tcase_add_test(t, over);
    tcase_add_test(t, in_files);
    suite_add_tcase(s, t);
    return s;
}
