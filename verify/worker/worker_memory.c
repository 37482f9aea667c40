/* worker_memory.c - see worker_memory.h. */
#include "verify/worker/worker_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define NO_LIMIT UINT64_MAX

static uint64_t available(void)
{
    uint64_t kib = NO_LIMIT;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %" SCNu64, &kib) != 1)
        ;
    if (f)
        fclose(f);
    return kib == NO_LIMIT ? NO_LIMIT : kib * 1024;
}

static uint64_t resident(pid_t pid)
{
    uint64_t pages = 0;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*u %" SCNu64, &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

int attest_memory_is_over(pid_t pid, uint64_t most)
{
    const uint64_t used = resident(pid);
    return used > most || (used > most / 4 && available() < most / 8);
}
