/* worker_memory.c - see worker_memory.h. */
#include "verify/worker/worker_memory.h"

#include <dirent.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
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

/* What the process holds in open files that are memory (memfd, /dev/shm); pages that are mapped too count twice. */
static uint64_t in_files(pid_t pid)
{
    uint64_t bytes = 0;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
        struct stat file;
        struct statfs system;
        snprintf(path, sizeof path, "/proc/%d/fd/%.20s", (int)pid, e->d_name);
        if (stat(path, &file) == 0 && S_ISREG(file.st_mode) && statfs(path, &system) == 0 &&
            system.f_type == TMPFS_MAGIC)
            bytes += 512 * (uint64_t)file.st_blocks;
    }
    if (folder)
        closedir(folder);
    return bytes;
}

int attest_memory_is_over(pid_t pid, uint64_t most)
{
    const uint64_t used = resident(pid) + in_files(pid);
    return used > most || (used > most / 4 && available() < most / 8);
}
