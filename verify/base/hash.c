/* hash.c - FNV-1a over files, without memory of its own: a result never lacks its hash because there was none. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "kernels/input.h"
#include "verify/base/base.h"

void attest_file_hash(char text[20], const char *path)
{
    unsigned char buffer[65536];
    uint64_t hash = ATTEST_FNV_START;
    ssize_t got;
    text[0] = '\0';
    attest_error none;
    int in;
    if (attest_input_open(&in, NULL, path, &none) != ATTEST_OK)
        return;
    while ((got = read(in, buffer, sizeof buffer)) > 0)
        hash = attest_fnv(hash, buffer, (size_t)got);
    if (got == 0)
        snprintf(text, 20, "%016llx", (unsigned long long)hash);
    close(in);
}

void attest_file_see(attest_file_seen *seen, const char *path)
{
    *seen = (attest_file_seen){ 0 };
    if (stat(path, &seen->stat) != 0)
        seen->stat.st_ino = 0;
}

int attest_file_is(const attest_file_seen *seen, const char *path)
{
    const struct stat *then = &seen->stat;
    struct stat now;
    char hash[20];
    if (!then->st_ino || (stat(path, &now) == 0 && now.st_ino == then->st_ino && now.st_dev == then->st_dev &&
                          now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
                          now.st_mtim.tv_nsec == then->st_mtim.tv_nsec))
        return 1;
    attest_file_hash(hash, path);
    return *hash && strcmp(hash, seen->hash) == 0;
}
