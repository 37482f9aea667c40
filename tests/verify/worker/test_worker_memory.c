/* test_worker_memory.c - how much there is, and who takes too much of it. */
#include <check.h>
#include <unistd.h>

#include "verify/worker/worker_memory.h"

Suite *suite_worker_memory(void);

START_TEST(total)
{
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    ck_assert(attest_memory_total() > 0 && attest_memory_total() <= machine);
}
END_TEST

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
    tcase_add_test(t, total);
    tcase_add_test(t, over);
    suite_add_tcase(s, t);
    return s;
}
