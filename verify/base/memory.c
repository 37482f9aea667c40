/* memory.c - how much memory there is, and how much of it is left. */
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

/* The number behind `key ` in a file of such lines; NO_LIMIT where there is none. */
static uint64_t number_behind(const char *path, const char *key)
{
    uint64_t number = NO_LIMIT;
    char line[256];
    const size_t length = strlen(key);
    FILE *f = fopen(path, "r");
    while (f && number == NO_LIMIT && fgets(line, sizeof line, f))
        if (strncmp(line, key, length) == 0 && sscanf(line + length, " %" SCNu64, &number) != 1)
            number = NO_LIMIT;
    if (f)
        fclose(f);
    return number;
}

/* What a version of control groups calls its files. */
typedef struct names {
    const char *mount, *limit, *used, *unused; /* unused: the key in memory.stat of files that give way */
} names;

static const names second_names = { "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file" };
static const names first_names = { "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                   "total_inactive_file" };

/* The limit of one group, or what is left of it; NO_LIMIT: it has none. */
static uint64_t room_of(const names *n, const char *group, int left)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%.2048s/%s", n->mount, group, n->limit);
    const uint64_t limit = number_of(path);
    if (!left || limit == NO_LIMIT)
        return limit;
    snprintf(path, sizeof path, "%s%.2048s/%s", n->mount, group, n->used);
    const uint64_t used = number_of(path);
    snprintf(path, sizeof path, "%s%.2048s/memory.stat", n->mount, group);
    const uint64_t unused = number_behind(path, n->unused);
    if (used == NO_LIMIT)
        return NO_LIMIT;
    const uint64_t needed = unused < used ? used - unused : used;
    return needed < limit ? limit - needed : 0;
}

/* The least of a group and of those above it; `group` is cut. */
static uint64_t least_room(const names *n, char *group, int left)
{
    uint64_t least = NO_LIMIT;
    for (;;) {
        const uint64_t room = room_of(n, group, left);
        least = room < least ? room : least;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Lines `0::/GROUP` (version 2) and `N:memory:/GROUP` (version 1) of /proc/self/cgroup. */
static uint64_t group_room(int left)
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
        const uint64_t room = least_room(second ? &second_names : &first_names, group, left);
        least = room < least ? room : least;
    }
    if (f)
        fclose(f);
    return least;
}

uint64_t attest_memory_total(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : NO_LIMIT;
    const uint64_t group = group_room(0);
    return group < machine ? group : machine;
}

uint64_t attest_memory_available(void)
{
    const uint64_t kib = number_behind("/proc/meminfo", "MemAvailable:"), group = group_room(1);
    const uint64_t machine = kib == NO_LIMIT ? NO_LIMIT : kib * 1024;
    return group < machine ? group : machine;
}
