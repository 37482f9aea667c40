/* test_worker_memory.c - who takes too much of it. */
#include <check.h>
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

Suite *suite_worker_memory(void)
{
    Suite *s = suite_create("worker_memory");
    TCase *t = tcase_create("worker_memory");
    tcase_add_test(t, over);
    suite_add_tcase(s, t);
    return s;
}
