/* test_memory.c - how much memory there is, and is left: no more than the machine has, and less where we take some. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

/* Folders of two versions, made up: what a file says. */
static void say(const char *folder, const char *file, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static const char *inside(char path[200], const char *root, const char *folder)
{
    snprintf(path, 200, "%s%s", root, folder);
    ck_assert(mkdir(path, 0700) == 0);
    return path;
}

START_TEST(groups)
{
    enum { UNLIMITED = 0 };
    static const struct {
        const char *list;
        uint64_t limit, left; /* UNLIMITED: there is none */
    } rows[] = {
        { "0::/a/b\n", 1000, 100 }, /* b: 1000, uses 950, 50 of them cache; a above: max */
        { "0::/a\n", UNLIMITED, UNLIMITED },
        { "0::/no\n", UNLIMITED, UNLIMITED },
        { "3:cpu,memory:/c\n1:name=systemd:/x\n0::/\n", 500, 0 }, /* more is used than there is */
        { "1:name=systemd:/a:memory:/c\n", UNLIMITED, UNLIMITED },
        { "2:memory:/d:e\n", 800, 790 }, /* a name with a colon */
        { "2:memory:/c\n0::/a/b\n", 500, 0 },
        { "", UNLIMITED, UNLIMITED },
    };
    char root[] = "/tmp/attest-memory-XXXXXX", path[200], list[200];
    ck_assert_ptr_nonnull(mkdtemp(root));
    say(inside(path, root, "/a"), "memory.max", "max\n");
    say(inside(path, root, "/a/b"), "memory.max", "1000\n");
    say(path, "memory.current", "950\n");
    say(path, "memory.stat", "anon 900\nactive_file 20\ninactive_file 25\nslab_reclaimable 5\nshmem 7\n");
    inside(path, root, "/memory");
    say(inside(path, root, "/memory/c"), "memory.limit_in_bytes", "500\n");
    say(path, "memory.usage_in_bytes", "510\n");
    say(path, "memory.stat", "active_file 510\n"); /* of the group alone; the total counts */
    say(inside(path, root, "/memory/d:e"), "memory.limit_in_bytes", "800\n");
    say(path, "memory.usage_in_bytes", "40\n");
    say(path, "memory.stat", "total_active_file 10\ntotal_inactive_file 20\n");
    snprintf(list, sizeof list, "%s/list", root);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t none = rows[i].limit == UNLIMITED ? UINT64_MAX : 0;
        say(root, "list", rows[i].list);
        ck_assert_msg(attest_memory_of_groups(list, root, 0) == (none ? none : rows[i].limit), "limit: %s",
                      rows[i].list);
        ck_assert_msg(attest_memory_of_groups(list, root, 1) == (none ? none : rows[i].left), "left: %s", rows[i].list);
    }
    snprintf(path, sizeof path, "rm -r %s", root);
    ck_assert_int_eq(system(path), 0);
}
END_TEST

Suite *suite_memory(void)
{
    Suite *s = suite_create("memory");
    TCase *t = tcase_create("memory");
    tcase_add_test(t, total);
    tcase_add_test(t, available);
    tcase_add_test(t, groups);
    suite_add_tcase(s, t);
    return s;
}
