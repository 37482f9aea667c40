/* test_memory.c - how much memory there is: no more than the machine has. */
#include <check.h>
#include <unistd.h>

#include "verify/base/base.h"

Suite *suite_memory(void);

START_TEST(total)
{
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    ck_assert(attest_memory_total() > 0 && attest_memory_total() <= machine);
}
END_TEST

Suite *suite_memory(void)
{
    Suite *s = suite_create("memory");
    TCase *t = tcase_create("memory");
    tcase_add_test(t, total);
    suite_add_tcase(s, t);
    return s;
}
