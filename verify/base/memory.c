/* memory.c - how much memory there is, and how much of it is left. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verify/base/base.h"

#define NO_LIMIT UINT64_MAX
#define GROUPS "/proc/self/cgroup"
#define MOUNT "/sys/fs/cgroup"

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

/* The sum of the numbers behind these keys in a file of lines `KEY NUMBER`; *found: how many there were. */
static uint64_t sum_of(const char *path, const char *const *keys, int *found)
{
    uint64_t sum = 0, number;
    char line[256], key[64];
    FILE *f = fopen(path, "r");
    *found = 0;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%63s %" SCNu64, key, &number) != 2)
            continue;
        for (int i = 0; keys[i]; i++)
            if (strcmp(key, keys[i]) == 0) {
                sum += number;
                ++*found;
            }
    }
    if (f)
        fclose(f);
    return sum;
}

/* What a version of control groups calls its files, and in memory.stat what gives way where memory is short. */
typedef struct names {
    const char *folder, *limit, *used, *unused[4];
} names;

static const names second_names = {
    "", "memory.max", "memory.current", { "inactive_file", "active_file", "slab_reclaimable", NULL }
};
static const names first_names = {
    "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", { "total_inactive_file", "total_active_file", NULL }
};

/* The limit of one group, or what is left of it; NO_LIMIT: it has none. */
static uint64_t room_of(const names *n, const char *mount, const char *group, int left)
{
    char path[4096];
    int found;
    snprintf(path, sizeof path, "%.1024s%s%.2048s/%s", mount, n->folder, group, n->limit);
    const uint64_t limit = number_of(path);
    if (!left || limit == NO_LIMIT)
        return limit;
    snprintf(path, sizeof path, "%.1024s%s%.2048s/%s", mount, n->folder, group, n->used);
    const uint64_t used = number_of(path);
    snprintf(path, sizeof path, "%.1024s%s%.2048s/memory.stat", mount, n->folder, group);
    const uint64_t unused = sum_of(path, n->unused, &found);
    if (used == NO_LIMIT)
        return NO_LIMIT;
    const uint64_t needed = unused < used ? used - unused : 0;
    return needed < limit ? limit - needed : 0;
}

/* The least of a group and of those above it; `group` is cut. */
static uint64_t least_room(const names *n, const char *mount, char *group, int left)
{
    uint64_t least = NO_LIMIT;
    for (;;) {
        const uint64_t room = room_of(n, mount, group, left);
        least = room < least ? room : least;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* The names for a line `0::/GROUP` (version 2) or `N:..,memory,..:/GROUP` (version 1), and its group; NULL: it is about
 * other things. */
static const names *read_line(char *line, char **group)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return NULL;
    *path = '\0';
    *group = path + 1;
    (*group)[strcspn(*group, "\n")] = '\0';
    if (!controllers[1])
        return strcmp(line, "0:") == 0 ? &second_names : NULL;
    for (char *word = strtok(controllers + 1, ","); word; word = strtok(NULL, ","))
        if (strcmp(word, "memory") == 0)
            return &first_names;
    return NULL;
}

uint64_t attest_memory_of_groups(const char *list, const char *mount, int left)
{
    uint64_t least = NO_LIMIT;
    char line[2048], *group;
    FILE *f = fopen(list, "r");
    while (f && fgets(line, sizeof line, f)) {
        const names *n = read_line(line, &group);
        if (!n)
            continue;
        const uint64_t room = least_room(n, mount, group, left);
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
    const uint64_t group = attest_memory_of_groups(GROUPS, MOUNT, 0);
    return group < machine ? group : machine;
}

uint64_t attest_memory_available(void)
{
    static const char *const key[] = { "MemAvailable:", NULL };
    int found;
    const uint64_t kib = sum_of("/proc/meminfo", key, &found), group = attest_memory_of_groups(GROUPS, MOUNT, 1);
    const uint64_t machine = found ? kib * 1024 : NO_LIMIT;
    return group < machine ? group : machine;
}
