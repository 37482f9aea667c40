/* test_memory.c - how much memory there is, and is left: no more than the machine has, and less where we take some. */
#include <check.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verify/base/base.h"

Suite *suite_memory(void);

START_TEST(total)
{
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    ck_assert(attest_memory_total() > 0 && attest_memory_total() <= machine);
}
END_TEST

/* Others take and give back memory meanwhile: 64 MiB of 256. */
START_TEST(available)
{
    const size_t taken = (size_t)256 << 20;
    const uint64_t before = attest_memory_available();
    ck_assert(before > 0 && before <= attest_memory_total());
    if (before < 4 * taken)
        return; /* what others give back may then be as much */
    char *at = mmap(NULL, taken, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    ck_assert(at != MAP_FAILED);
    ck_assert(attest_memory_available() < before - taken / 4);
    munmap(at, taken);
}
END_TEST

Suite *suite_memory(void)
{
    Suite *s = suite_create("memory");
    TCase *t = tcase_create("memory");
    tcase_add_test(t, total);
    tcase_add_test(t, available);
    suite_add_tcase(s, t);
    return s;
}
