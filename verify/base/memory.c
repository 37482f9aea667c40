/* memory.c - how much memory there is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verify/base/base.h"

#define NO_LIMIT UINT64_MAX

/* The number in a file; NO_LIMIT where there is none (`max`). */
static uint64_t number_of(const char *path)
{
    uint64_t number = NO_LIMIT;
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%" SCNu64, &number) != 1)
        number = NO_LIMIT;
    if (f)
        fclose(f);
    return number;
}

/* The least limit of a group and of those above it; `group` is cut. */
static uint64_t least_limit(const char *mount, char *group, const char *file)
{
    uint64_t least = NO_LIMIT;
    char path[4096];
    for (;;) {
        if (snprintf(path, sizeof path, "%s%s/%s", mount, group, file) < (int)sizeof path) {
            const uint64_t limit = number_of(path);
            least = limit < least ? limit : least;
        }
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Lines `0::/GROUP` (version 2) and `N:memory:/GROUP` (version 1) of /proc/self/cgroup. */
static uint64_t group_limit(void)
{
    uint64_t least = NO_LIMIT;
    char line[2048];
    FILE *f = fopen("/proc/self/cgroup", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *group = strchr(line, '/');
        if (!group)
            continue;
        group[strcspn(group, "\n")] = '\0';
        const int second = strncmp(line, "0::", 3) == 0;
        if (!second && !strstr(line, ":memory:"))
            continue;
        const uint64_t limit = second ? least_limit("/sys/fs/cgroup", group, "memory.max")
                                      : least_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
        least = limit < least ? limit : least;
    }
    if (f)
        fclose(f);
    return least;
}

uint64_t attest_memory_total(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : NO_LIMIT;
    const uint64_t group = group_limit();
    return group < machine ? group : machine;
}
