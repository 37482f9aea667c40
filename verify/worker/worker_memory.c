/* worker_memory.c - see worker_memory.h. */
#include "verify/worker/worker_memory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "verify/base/base.h"
#include "verify/worker/worker_sandbox.h"

static uint64_t pages_of(const char *path)
{
    uint64_t pages = 0;
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*u %" SCNu64, &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages;
}

/* A first thread that has ended has no memory any more: then another one tells. */
static uint64_t resident(pid_t pid)
{
    char path[320];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    uint64_t pages = pages_of(path);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *folder = pages == 0 ? opendir(path) : NULL;
    for (struct dirent *e = folder ? readdir(folder) : NULL; e && pages == 0; e = readdir(folder)) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/statm", (int)pid, e->d_name);
        pages = pages_of(path);
    }
    if (folder)
        closedir(folder);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The folder that is memory, where the process has one of its own: its file system; 0: it has none. */
static dev_t own_folder(pid_t pid, uint64_t *bytes)
{
    char path[64];
    struct stat ours, its;
    struct statfs system;
    *bytes = 0;
    snprintf(path, sizeof path, "/proc/%d/root" ATTEST_SANDBOX_FOLDER, (int)pid);
    if (stat(path, &its) != 0 || (stat(ATTEST_SANDBOX_FOLDER, &ours) == 0 && ours.st_dev == its.st_dev) ||
        statfs(path, &system) != 0 || system.f_type != TMPFS_MAGIC)
        return 0;
    *bytes = (system.f_blocks - system.f_bfree) * (uint64_t)system.f_bsize;
    return its.st_dev;
}

/* What the process holds in files that are memory: those of its own folder, and others that are open (memfd, /dev/shm);
 * pages that are mapped too count twice.  *unknown: what it has open cannot be read (PR_SET_DUMPABLE). */
static uint64_t in_files(pid_t pid, int *unknown)
{
    uint64_t bytes;
    const dev_t own = own_folder(pid, &bytes);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    *unknown = !folder && (errno == EACCES || errno == EPERM);
    for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
        struct stat file;
        struct statfs system;
        snprintf(path, sizeof path, "/proc/%d/fd/%.20s", (int)pid, e->d_name);
        if (stat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_dev != own && statfs(path, &system) == 0 &&
            system.f_type == TMPFS_MAGIC)
            bytes += 512 * (uint64_t)file.st_blocks;
    }
    if (folder)
        closedir(folder);
    return bytes;
}

attest_memory_use attest_memory_is_over(pid_t pid, uint64_t most)
{
    int unknown;
    const uint64_t used = resident(pid) + in_files(pid, &unknown);
    if (used > most)
        return ATTEST_MEMORY_OVER;
    return (unknown || used > most / 4) && attest_memory_available() < most / 8 ? ATTEST_MEMORY_SHORT
                                                                                : ATTEST_MEMORY_FITS;
}
